"""Reductions of states: principal components from sums, and how many."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import FeatureUnion

from gramian import KernelPCA
from gramian.landmarks import NormalEquations
from gramian.reservoir.reductions import (
    PrincipalStates,
    StateProjection,
    check_reduction,
    count_components,
    new_reduction,
)


@pytest.fixture
def H():
    rng = np.random.default_rng(0)
    return np.tanh(rng.normal(size=(200, 4)) @ rng.normal(size=(4, 10)) + 0.3)


def test_components_from_sums_are_those_of_the_rows(H):
    found = PrincipalStates(NormalEquations().add(H, H[:, :1]), 10, 3)
    pca = PCA(3).fit(H)
    expected = pca.transform(H)
    signs = np.sign((found.transform(H) * expected).sum(axis=0))
    np.testing.assert_allclose(found.transform(H), expected * signs, atol=1e-10)
    np.testing.assert_allclose(found.explained_variance_ratio, pca.explained_variance_ratio_, rtol=1e-10)


def test_the_projection_leaves_the_inputs_alone(H):
    S = np.hstack([H, np.arange(200.0)[:, None]])
    P = StateProjection(10, 3)(NormalEquations().add(S, H[:, :1]))
    assert P.shape == (11, 4)
    np.testing.assert_array_equal(P[10], [0, 0, 0, 1])
    np.testing.assert_allclose(P[:10, :3].T @ P[:10, :3], np.eye(3), atol=1e-12)


@pytest.mark.parametrize(
    ("reduction", "n_components", "count"),
    [("pca", None, 13), ("pca", 7, 7), ("pca", 0.1, 5), ("pca", 1.0, 50), ("kpca", None, 13), ("kpca", 180, 180)],
)
def test_the_number_of_components(reduction, n_components, count):
    assert count_components(reduction, n_components, 50, 200) == count


def test_impossible_numbers_of_components_are_refused():
    with pytest.raises(ValueError, match="n_components=51 is more than the 50 units"):
        count_components("pca", 51, 50, 200)
    with pytest.raises(ValueError, match="n_components=201 is more than the 200 steps"):
        count_components("kpca", 201, 50, 200)
    for wrong in (0, -1, 1.5, "all", True):
        with pytest.raises(ValueError, match="n_components="):
            check_reduction("pca", wrong)


def test_what_is_no_reduction_is_refused():
    for fine in (None, "pca", "kpca", PCA(2), FeatureUnion([("a", PCA(2)), ("b", KernelPCA(2))])):
        check_reduction(fine, None)
    for wrong in ("ica", 3, PCA):
        with pytest.raises(ValueError, match="reduction="):
            check_reduction(wrong, None)
    assert new_reduction("kpca", 4).kernel.width == "median"
    given = PCA(2)
    assert new_reduction(given, None) is not given
