"""The choice among clusterings: what lies apart best wins, unless it is not found again."""

import numpy as np
import pytest

from gramian.clustering.automatic.views import _most_similar, _ranked, _Trial


def trial(name, separation, stability):
    return _Trial(name, 2, np.zeros(3, int), separation, stability=stability)


def test_what_lies_apart_best_wins_unless_it_is_far_less_stable():
    best = _ranked([trial("apart", 0.9, 0.3), trial("both", 0.8, 0.7), trial("stable", 0.5, 0.8)])
    assert [item.name for item in best] == ["both", "stable", "apart"]
    assert [item.score for item in best] == pytest.approx([0.8, 0.5, 0.9 * 0.3 / 0.6])


def test_most_similar_rows_are_kept_if_one_end_names_the_other():
    rng = np.random.default_rng(0)
    F = rng.random((40, 5))
    K = F @ F.T
    expected = np.zeros_like(K)
    for i in range(40):
        others = sorted((j for j in range(40) if j != i), key=lambda j: -K[i, j])[:20]
        for j in others:
            expected[i, j] = expected[j, i] = K[i, j]
    np.testing.assert_allclose(_most_similar(K).toarray(), expected)
