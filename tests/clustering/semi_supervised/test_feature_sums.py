"""Semi-supervised clustering in features: the small system, its sums and labels left out."""

import numpy as np
import pytest

from clustering.semi_supervised.textbook import clouds, dual, few_labels, hessian, left_out
from gramian import Nystroem
from gramian.clustering.semi_supervised.feature_sums import Columns, LabelSums
from gramian.kernels import RBF, TL1

SMOOTHNESS, LABEL_WEIGHT = 0.9, 5.0


def problem(seed=0):
    rng = np.random.default_rng(seed)
    X, y = clouds(rng)
    labelled = np.flatnonzero(few_labels(rng, y) >= 0)
    return X, labelled, np.where(y[labelled, None] == np.arange(3), 1.0, -1.0)


def features(kernel, X, m):
    """F and J of landmarks, whitened row by row."""
    landmarks = Nystroem(m, kernel=kernel, random_state=0).fit(X)
    return landmarks, landmarks.transform(X), landmarks.signature_


@pytest.mark.parametrize("kernel", [RBF(width=1.0), TL1(radius=4.0)], ids=["rbf", "tl1"])
def test_the_small_system_is_the_dual_of_its_kernel(kernel):
    """w = J Fᵀ α and b for K = F J Fᵀ, with some landmarks and with all rows."""
    X, labelled, C = problem()
    for m in (60, len(X)):
        _, F, J = features(kernel, X, m)
        K = (F * J) @ F.T
        solution = LabelSums(J).count([F]).add(F, labelled, C).solve(SMOOTHNESS, LABEL_WEIGHT)
        alpha, b = dual(K, labelled, C, SMOOTHNESS, LABEL_WEIGHT)
        assert np.allclose(F @ solution.coef + solution.intercept, K @ alpha + b, atol=1e-7)
        expected = left_out(K, labelled, C, SMOOTHNESS, LABEL_WEIGHT)
        assert np.allclose(solution.left_out(F[labelled], C), expected, atol=1e-6)


@pytest.mark.parametrize("label_weight", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("smoothness", [0.5, 1.5])
def test_convex_means_that_the_hessian_has_a_cholesky_factor(smoothness, label_weight):
    X, labelled, C = problem()
    _, F, J = features(RBF(width=1.0), X, 25)
    solution = LabelSums(J).count([F]).add(F, labelled, C).solve(smoothness, label_weight)
    smallest = np.linalg.eigvalsh(hessian(F @ F.T, labelled, smoothness, label_weight)).min()
    assert solution.is_convex == (smallest > 0)


def test_chunks_add_up_to_the_whole():
    """Counted first and added after, pieces give the sums of all rows."""
    X, labelled, C = problem()
    _, F, J = features(RBF(width=1.0), X, 20)
    whole = LabelSums(J).count([F]).add(F, labelled, C)
    parts = LabelSums(J).count([F[:30], F[30:]])
    for rows in (slice(0, 30), slice(30, 90)):
        here = (labelled >= rows.start) & (labelled < rows.stop)
        parts.add(F[rows], labelled[here] - rows.start, C[here])
    one, other = (sums.solve(SMOOTHNESS, LABEL_WEIGHT) for sums in (whole, parts))
    assert np.allclose(one.coef, other.coef, atol=1e-10)
    assert np.allclose(one.intercept, other.intercept, atol=1e-10)


def test_similarities_summed_before_they_are_features_give_the_same():
    X, labelled, C = problem()
    landmarks, F, J = features(RBF(width=0.5), X, 12)
    columns = Columns(landmarks)
    assert columns.mapping is not None
    raw = columns.of(X).chunk_of(slice(0, len(X)))
    assert np.allclose(raw @ columns.mapping, F, atol=1e-10)
    late = LabelSums(J, mapping=columns.mapping).count([raw]).add(raw, labelled, C)
    late = late.copy().solve(SMOOTHNESS, LABEL_WEIGHT)
    early = LabelSums(J).count([F]).add(F, labelled, C).solve(SMOOTHNESS, LABEL_WEIGHT)
    assert np.allclose(late.coef, early.coef, atol=1e-8)
    assert np.allclose(raw @ late.column_coef, F @ early.coef, atol=1e-8)
    assert np.allclose(late.left_out(raw[labelled], C), early.left_out(F[labelled], C), atol=1e-8)


def test_a_wide_kernel_keeps_its_features():
    """Where K(landmarks, landmarks) is close to singular, sums of similarities would lose the digits."""
    X, _, _ = problem()
    assert Columns(Nystroem(20, kernel=RBF(width=30.0), random_state=0).fit(X)).mapping is None


def test_copies_go_on_by_themselves():
    X, labelled, C = problem()
    _, F, J = features(RBF(width=1.0), X, 10)
    sums = LabelSums(J).count([F]).add(F, labelled, C)
    before = sums.solve(SMOOTHNESS, LABEL_WEIGHT).coef
    sums.copy().count([F[:10]]).add(F[:10], np.empty(0, int), np.empty((0, 3)))
    assert np.array_equal(sums.solve(SMOOTHNESS, LABEL_WEIGHT).coef, before)


def test_columns_beyond_the_budget_are_computed_chunk_by_chunk():
    from gramian import config

    X, _, _ = problem()
    columns = Columns(Nystroem(12, kernel=RBF(width=0.5), random_state=0).fit(X))
    held = columns.of(X)
    with config(memory_budget=3000):
        streamed = columns.of(X)
    assert held.held
    assert not streamed.held
    W = np.ones((12, 1))
    assert np.allclose(streamed.product(W), held.product(W))
