"""Arguments and answers of the kernel rankings: numbers of components, seeds as columns, and lists."""

import numpy as np
import pytest

from gramian.ranking import best_first


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("top", [None, 1, 7, 50, 99])
def test_best_first_is_a_stable_sort(top, rng):
    """Lists with many ties equal a stable sort's, whatever their length."""
    scores = rng.integers(0, 5, (50, 3)).astype(float)
    expected = np.argsort(-scores, axis=0, kind="stable")[:top]
    np.testing.assert_array_equal(best_first(scores, top), expected)
    np.testing.assert_array_equal(best_first(scores[:, 1], top), expected[:, 1])
