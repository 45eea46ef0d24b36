"""The MLPs of Table 6.1 run in small, and the table is quoted right."""

import numpy as np
import pytest

from reproduce import kdn_mlp
from reproduce.table import Options


def test_quotes_the_rows_of_mlps():
    assert kdn_mlp.PUBLISHED["wine", kdn_mlp.MSE] == (1.00, 0.89, 77.45)
    assert kdn_mlp.PUBLISHED["adversarial", kdn_mlp.CE] == (0.59, 0.29, 69.54)
    assert len(kdn_mlp.PUBLISHED) == 8


def test_runs_in_small(tmp_path, capsys):
    """The network and three nets of its depth on a fold; what needs a file is left out with a note."""
    records, report = kdn_mlp.EXPERIMENT.run(Options(runs=1, samples=1, datasets=("random", "divorce"), data=tmp_path))
    assert "divorce left out: uci/divorce.csv.gz" in capsys.readouterr().err
    assert [one["method"] for one in records] == ["network", "CE", "MSE, number of the class", "MSE, one-hot"]
    assert len({one["layers"] for one in records}) == 1
    assert "| random, CE | " in report


@pytest.mark.parametrize("method", [kdn_mlp.CE, kdn_mlp.MSE, kdn_mlp.ONE_HOT])
def test_nets_name_classes(method):
    """Two far groups are told apart by number."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 30)
    X = rng.standard_normal((60, 2)) + 6.0 * codes[:, None]
    answer = kdn_mlp._mlp(method, X, codes, 1, 100)
    assert np.mean(answer(X) == codes) > 0.95
