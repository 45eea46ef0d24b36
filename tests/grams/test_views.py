"""Views whose textbook matrices no inherited case shows: several directions, signed features, memory, refusals.

Every Gram runs the checks of ``gram_case`` on all of its views; here is what is particular to the views themselves.
"""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramian.grams import DenseGram, FeatureGram, LazyGram, SandwichGram, ShiftedGram, SparseGram
from gramian.kernels import RBF


@pytest.fixture
def F():
    return np.random.default_rng(5).standard_normal((30, 4)) + 3


@pytest.mark.parametrize("form", [lambda F: FeatureGram(F), lambda F: DenseGram(F @ F.T)], ids=["features", "dense"])
def test_sandwich_of_several_directions(form, F):
    """Π S K S Π for any diagonal S and any orthonormal U, in products, rows, blocks, diagonal and parts."""
    rng = np.random.default_rng(6)
    s, U = rng.standard_normal(30), np.linalg.qr(rng.standard_normal((30, 3)))[0]
    projection = np.eye(30) - U @ U.T
    expected = projection @ np.diag(s) @ F @ F.T @ np.diag(s) @ projection
    view = SandwichGram(form(F), s, U)
    some = np.array([7, 0, 22])
    np.testing.assert_allclose(view.dense(), expected, atol=1e-11)
    np.testing.assert_allclose(view @ np.eye(30), expected, atol=1e-11)
    np.testing.assert_allclose(view.rows(some), expected[some], atol=1e-11)
    np.testing.assert_allclose(view.block(some, slice(3, 9)), expected[some, 3:9], atol=1e-11)
    np.testing.assert_allclose(view.diagonal(), np.diag(expected), atol=1e-11)
    part = view.restricted(some)
    np.testing.assert_allclose(part.dense(), expected[np.ix_(some, some)], atol=1e-11)
    np.testing.assert_allclose(part @ np.eye(3), expected[np.ix_(some, some)], atol=1e-11)
    np.testing.assert_allclose(part.diagonal(), np.diag(expected)[some], atol=1e-11)
    np.testing.assert_allclose(part.restricted([2, 1]).dense(), expected[np.ix_(some, some)][[2, 1]][:, [2, 1]])


def test_negative_multiples_keep_signed_features(F):
    """A view of −c F Fᵀ still knows its features and their sign, so that systems with it stay m×m."""
    gram = FeatureGram(F)
    for view in (gram.scaled(-2.0), gram.scaled(-2.0).centered(), gram.normalized().scaled(-0.5)):
        factor, w = view._signed_factor
        chunks = np.vstack([chunk for _, chunk in factor.chunks()])
        np.testing.assert_allclose(chunks * w @ chunks.T, view.dense(), atol=1e-11)
        assert view.factorization(1.0).method == "dual"


def test_largest_of_a_negative_multiple_are_the_smallest():
    """−2 K has its largest eigenvalues where K has its smallest, which lie too close together for an iteration."""
    X = np.random.default_rng(0).standard_normal((600, 4))
    K = RBF(1.0).fit(X)(X)
    values, vectors = DenseGram(K).scaled(-2.0).eigenpairs(3)
    np.testing.assert_allclose(values, -2 * np.linalg.eigvalsh(K)[:3], atol=1e-12)
    np.testing.assert_allclose(-2 * K @ vectors, vectors * values, atol=1e-10)


def test_shift_moves_eigenvalues_and_keeps_vectors(F):
    """K + c I has the vectors of K; an uneven shift, and the order by magnitude, are solved anew."""
    gram = FeatureGram(F)
    values, vectors = gram.eigenpairs(3)
    moved, same = gram.shifted(-7.0).eigenpairs(3)
    np.testing.assert_allclose(moved, values - 7)
    np.testing.assert_array_equal(same, vectors)
    shift = np.linspace(-400, 0, 30)
    for view, dense in ((gram.shifted(-900.0), -900 * np.eye(30)), (gram.shifted(shift), np.diag(shift))):
        spectrum = np.linalg.eigvalsh(F @ F.T + dense)
        expected = spectrum[np.argsort(-np.abs(spectrum))][:2]
        np.testing.assert_allclose(view.eigenpairs(2, "magnitude")[0], expected)
    np.testing.assert_allclose(
        gram.shifted(shift).eigenpairs(2)[0], np.linalg.eigvalsh(F @ F.T + np.diag(shift))[::-1][:2]
    )


def test_scaling_a_shift_keeps_the_features_within_reach(F):
    """c (K + s I) is c K + c s I: a shifted Gram of features."""
    view = FeatureGram(F).shifted(2.0).scaled(3.0)
    assert isinstance(view, ShiftedGram)
    assert view.base.factor is not None
    np.testing.assert_allclose(view.dense(), 3 * (F @ F.T + 2 * np.eye(30)))


def test_normalized_walk_of_components():
    """D^-½ K D^-½ of a graph has one eigenvector √(d/volume) per component with an edge, largest volume first."""
    A = np.zeros((6, 6))
    A[0, 1] = A[1, 0] = 2.0
    A[2, 3] = A[3, 2] = A[3, 4] = A[4, 3] = 3.0
    walk = SparseGram(csr_array(A)).normalized()
    top = walk._known_top(5)
    d = A.sum(axis=1)
    expected = np.column_stack([np.sqrt(d * [0, 0, 1, 1, 1, 0] / 12), np.sqrt(d * [1, 1, 0, 0, 0, 0] / 4)])
    np.testing.assert_allclose(top, expected)
    np.testing.assert_allclose(walk @ top, top, atol=1e-15)
    assert walk._known_top(1).shape == (6, 1)
    np.testing.assert_array_equal(walk.inverse_roots == 0, d == 0)
    assert DenseGram(A).normalized()._known_top(5) is None


def test_negative_degrees_beyond_rounding_are_refused():
    """A degree a little below zero is rounding and counts as zero; one clearly below is no walk."""
    almost = np.diag([1.0, -1e-15])
    np.testing.assert_array_equal(DenseGram(almost).normalized().inverse_roots, [1, 0])
    with pytest.raises(ValueError, match="negative similarities"):
        DenseGram(np.diag([1.0, -1e-3])).normalized()


def test_features_far_from_the_origin_keep_their_digits():
    """Centring the features before a product keeps what centring the product would lose."""
    X = np.random.default_rng(0).standard_normal((40, 3)) + 1e7
    Z = X - X.mean(axis=0)
    np.testing.assert_allclose(FeatureGram(X).centered() @ np.eye(40), Z @ Z.T, atol=1e-6)


@pytest.mark.parametrize("view", ["centered", "normalized"])
def test_dense_views_need_one_matrix(view):
    """dense() of a view allocates little more than the one matrix the budget was asked for."""
    X = np.random.default_rng(0).standard_normal((1500, 2))
    gram = getattr(LazyGram(RBF(1.0), X), view)()
    gram.degrees()
    tracemalloc.start()
    gram.dense()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.6 * 1500 * 1500 * 8


def test_weights_must_be_finite():
    """An infinite weight is refused, not turned into NaN."""
    with pytest.raises(ValueError, match="weights"):
        DenseGram(np.eye(3)).weighted_centered([1.0, np.inf, 1.0])


@pytest.mark.parametrize("shift", [np.nan, np.inf, "1", 1j, None])
def test_shifts_that_are_no_numbers(shift):
    """They are refused where they are given, not by the first product."""
    with pytest.raises(ValueError, match=r"shift (has type|holds NaN)"):
        DenseGram(np.eye(3)).shifted(shift)


def test_centring_nothing():
    """A Gram of no samples is centred already."""
    assert DenseGram(np.eye(3)).restricted([]).centered().dense().shape == (0, 0)


@pytest.mark.parametrize("bad", [np.ones(6), np.ones((5, 1)), np.full((6, 1), np.nan)])
def test_deflated_takes_finite_columns_of_scores(bad):
    """Scores of another shape, or not finite, are refused with what is allowed."""
    with pytest.raises(ValueError, match=r"scores has shape .*; pass finite numbers of shape \(6, q\)"):
        DenseGram(np.eye(6)).deflated(bad)


def test_deflated_features_lose_the_direction():
    """K − s sᵀ with s = F w for a unit w is the Gram of the features less their part along w."""
    rng = np.random.default_rng(0)
    F, w = rng.standard_normal((20, 4)), rng.standard_normal(4)
    w /= np.linalg.norm(w)
    rest = F - np.outer(F @ w, w)
    np.testing.assert_allclose(FeatureGram(F).deflated((F @ w)[:, None]).dense(), rest @ rest.T, atol=1e-12)
