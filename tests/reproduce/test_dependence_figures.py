"""The figures of chapters 3 and 5 are drawn in small, and the power method finds what LAPACK finds."""

import numpy as np
import pytest

from reproduce import dependence_figures
from reproduce.table import Options


def test_drawn_in_small(tmp_path, capsys):
    """All that needs no file, and a note for what does."""
    options = Options(runs=1, samples=32, data=tmp_path, pictures=tmp_path / "drawn", datasets=("3.2", "3.4", "5.1"))
    records, report = dependence_figures.EXPERIMENT.run(options)
    assert "figure 5.1 left out" in capsys.readouterr().err
    drawn = sorted(path.stem for path in (tmp_path / "drawn").glob("*.png"))
    assert drawn == ["dependence_figure_3_2", "dependence_figure_3_4"]
    assert {one["columns"] for one in records if one["figure"] == "3.4"} == {8, 16, 32}
    assert "Slopes over the last four" in report
    assert "What the figures do not say" in report


def test_hsic_sees_what_correlation_does_not(tmp_path):
    """A parabola is uncorrelated and dependent; noise is neither."""
    found = {one["dataset"]: one for one in dependence_figures.dependences(200, tmp_path)}
    assert abs(found["circle"]["correlation"]) < 0.15
    assert found["parabola"]["p"] == found["circle"]["p"] == pytest.approx(1 / 200)
    assert found["independent"]["p"] > 0.05


def test_power_method_finds_the_leading_vectors():
    """Of a matrix with negative eigenvalues, largest algebraically."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    A = (Q * np.r_[9.0, 5.0, np.linspace(2, -8, 28)]) @ Q.T
    values, vectors, steps = dependence_figures.power_method(A, 2, tol=1e-8)
    np.testing.assert_allclose(values, [9, 5], rtol=1e-6)
    np.testing.assert_allclose(np.abs(vectors.T @ Q[:, :2]), np.eye(2), atol=1e-5)
    assert steps > 30


def test_three_ways_to_a_projection():
    """On a few images they end within some per cent of each other, and the table names the best."""
    records = [{**one, "folder": ""} for one in dependence_figures.one_size(64, 0, None)]
    J = [one["objective"] for one in records]
    assert [one["method"] for one in records] == ["ISM", "SM", "GM"]
    assert min(J) > 0.5 * max(J)


def test_faces_are_padded_to_squares():
    """Ink where the image is dark, nothing beside it."""
    square = dependence_figures._squared(np.array([[0.0, 1.0, 0.25, 0.5, 1.0, 0.0]]), (3, 2)).reshape(3, 3)
    assert sorted(square.ravel()) == [0, 0, 0, 0, 0, 0.5, 0.75, 1, 1]


def test_partners_share_most_rows():
    """Clusters in another order are put into that of the poses."""
    sought = np.repeat([0, 1, 2], 5)
    np.testing.assert_array_equal(dependence_figures._partners(sought, np.array([2, 0, 1])[sought]), [2, 0, 1])


def test_slope_of_a_square_is_two():
    assert dependence_figures.slope({n: 3e-6 * n**2 for n in (8, 16, 32, 64)}) == pytest.approx(2)
