"""Conjugate gradients against dense solutions, and the preconditioner: what it is, what it saves, when it is built."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import gramian
from gramian.grams import DenseGram
from gramian.grams.conjugate_gradients import conjugate_gradients, landmark_features


def gaussian(n, d, width, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * width**2))


def spread(condition, n=60):
    """Eigenvalues from 1 to the condition number, evenly on a log scale."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((n, n)))[0]
    return (Q * np.logspace(0, np.log10(condition), n)) @ Q.T


def test_columns_leave_the_block_when_done():
    """Columns that need different numbers of steps are all solved, zero columns included, in ever narrower products."""
    A = np.diag(np.r_[1.0, 1.0, np.linspace(1, 50, 18)])
    B = np.random.default_rng(0).standard_normal((20, 4))
    B[:, 1] = 0
    B[2:, 2] = 0
    widths = []

    def apply(V):
        widths.append(V.shape[1])
        return A @ V

    X, n_products = conjugate_gradients(apply, B, tol=1e-12)
    np.testing.assert_allclose(X, np.linalg.solve(A, B), atol=1e-9)
    assert len(widths) == n_products
    assert widths[0] == 3  # the zero column needs none
    assert widths[1] == 2  # and the one in the eigenspace of 1 one


def test_the_residual_is_what_was_asked_for():
    """Every column stops as soon as ‖B − A X‖ <= tol ‖B‖."""
    A, B = spread(1e3), np.random.default_rng(1).standard_normal((60, 3)) * [1, 1e6, 1e-6]
    for tol in (1e-2, 1e-6, 1e-10):
        X, n_products = conjugate_gradients(lambda V: A @ V, B, tol=tol)
        residual = np.linalg.norm(B - A @ X, axis=0) / np.linalg.norm(B, axis=0)
        assert (residual <= 1.01 * tol).all()
        assert n_products <= np.sqrt(1e3) / 2 * np.log(2 / tol) + 30


def test_a_good_start_saves_products_and_is_left_alone():
    """From the solution one product suffices to see that nothing is left to do."""
    A, b = spread(100), np.ones((60, 1))
    start = np.linalg.solve(A, b)
    before = start.copy()
    X, n_products = conjugate_gradients(lambda V: A @ V, b, tol=1e-10, start=start)
    assert n_products == 1
    X[:] = 7
    np.testing.assert_array_equal(start, before)


def test_the_inverse_as_preconditioner_needs_one_product():
    """With M = A the first step is the solution; with another M it is still the solution of A that is found."""
    A, B = spread(1e4), np.random.default_rng(2).standard_normal((60, 2))
    expected = np.linalg.solve(A, B)
    X, n_products = conjugate_gradients(lambda V: A @ V, B, tol=1e-8, precondition=lambda R: np.linalg.solve(A, R))
    assert n_products == 1
    np.testing.assert_allclose(X, expected, atol=1e-6)
    scale = np.linspace(1, 3, 60)[:, None]
    X = conjugate_gradients(lambda V: A @ V, B, tol=1e-12, precondition=lambda R: R / scale)[0]
    np.testing.assert_allclose(X, expected, atol=1e-7)


def test_giving_up_is_said(monkeypatch):
    """Out of products, the iteration warns by how much it missed and returns what it has."""
    monkeypatch.setattr("gramian.grams.conjugate_gradients.MAX_PRODUCTS", 2)
    A = np.diag(np.linspace(1, 100, 20))
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 products .*raise tol"):
        X, n_products = conjugate_gradients(lambda V: A @ V, np.ones((20, 1)), tol=1e-12)
    assert n_products == 2
    assert 0 < np.linalg.norm(1 - A @ X) < np.linalg.norm(np.ones(20))


@pytest.mark.parametrize("least", [-1.0, 0.0, np.nan])
def test_matrices_that_are_not_definite_are_refused(least):
    """A direction of no or negative curvature is an error that names the way out."""
    with pytest.raises(np.linalg.LinAlgError, match=r"not positive definite.*method='ldl'"):
        conjugate_gradients(lambda V: np.diag([1.0, least]) @ V, np.array([[0.0], [1.0]]), tol=1e-8)


# The preconditioner


def test_landmark_features_are_the_nystroem_approximation():
    """F Fᵀ is K_nm K_mm⁺ K_mn of the landmarks drawn, and ρ the mean of the diagonal it leaves."""
    K = gaussian(90, 2, 1.0)
    F, left = landmark_features(DenseGram(K), np.full(90, 0.1), 12, random_state=3)
    index = np.random.default_rng(3).permutation(90)[:12]
    expected = K[:, index] @ np.linalg.pinv(K[np.ix_(index, index)], rcond=1e-10, hermitian=True) @ K[index]
    np.testing.assert_allclose(F @ F.T, expected, atol=1e-6)
    assert left == pytest.approx(np.mean(1 - np.diag(expected)), abs=1e-6)


@pytest.mark.parametrize(
    ("width", "diagonal", "n_landmarks"),
    [
        (3.0, 0.1, 200),  # smooth: the pilot says it all
        (1.0, 0.01, 200),  # 600 samples allow no more than 200
        (0.1, 0.01, None),  # nearly the identity: nothing to explain
        (3.0, 100.0, None),  # so regular that plain iterations are few
    ],
)
def test_built_only_where_it_saves_products(width, diagonal, n_landmarks):
    """The landmarks' spectrum decides, and where it decides for them products are saved."""
    gram = DenseGram(gaussian(600, 3, width))
    features = landmark_features(gram, np.full(600, diagonal))
    assert (features is None) == (n_landmarks is None)
    if features is not None:
        assert features[0].shape[1] <= n_landmarks
    b = np.random.default_rng(0).standard_normal(600)
    counts = []
    for preconditioner in ("auto", 0):
        system = gram.factorization(diagonal, "cg", preconditioner=preconditioner)
        np.testing.assert_allclose(
            system.solve(b), np.linalg.solve(gram.matrix + diagonal * np.eye(600), b), atol=1e-7 / diagonal
        )
        counts.append(system.n_iter)
    assert counts[0] < 0.7 * counts[1] if n_landmarks else counts[0] == counts[1]


def test_more_landmarks_where_the_pilot_is_exhausted():
    """An effective dimension of more than half the pilot asks for up to n/3 landmarks."""
    gram = DenseGram(gaussian(900, 3, 0.8))
    few, _ = landmark_features(gram, np.full(900, 10.0))
    many, _ = landmark_features(gram, np.full(900, 1e-4))
    assert few.shape[1] <= 200
    assert 250 < many.shape[1] <= 300


def test_none_is_harmful():
    """With ρ on the diagonal, landmarks that explain little of a narrow kernel cost few products more than none."""
    gram = DenseGram(gaussian(700, 5, 0.3))
    b = np.ones(700)
    counts = []
    for preconditioner in (0, 100):
        system = gram.factorization(1e-4, "cg", preconditioner=preconditioner)
        system.solve(b)
        counts.append(system.n_iter)
    assert counts[1] <= 1.1 * counts[0] + 1


def test_not_built_without_room_or_for_indefinite_grams():
    """Without room for the features, and for an indefinite kernel, there is no preconditioner."""
    smooth = DenseGram(gaussian(600, 3, 3.0))
    with gramian.config(memory_budget=4 * 600 * 8 - 1):
        assert landmark_features(smooth, np.full(600, 0.1)) is None
    assert landmark_features(smooth.shifted(-2.0), np.full(600, 0.1)) is None
    assert landmark_features(DenseGram(np.eye(2)), np.ones(2)) is None  # n/3 is no landmark
    assert landmark_features(smooth, np.full(600, -1.0), 50) is None  # not definite


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_squares_that_over_or_underflow(scale):
    """The solution scales with B, also where ‖B‖² is no float64; beside it columns of ordinary size are solved too."""
    A, B = spread(100), np.random.default_rng(0).standard_normal((60, 2))
    X, _ = conjugate_gradients(lambda V: A @ V, B * [scale, 1.0], tol=1e-10, start=np.zeros((60, 2)))
    np.testing.assert_allclose(X / [scale, 1.0], np.linalg.solve(A, B), atol=1e-8)


def test_a_zero_column_is_zero_whatever_the_start():
    """No iteration can come nearer to ‖B‖ = 0 than its start: the answer is known."""
    A = spread(1e3)
    X, n_products = conjugate_gradients(lambda V: A @ V, np.zeros((60, 1)), tol=1e-10, start=np.ones((60, 1)))
    assert not X.any()
    assert n_products == 1


def test_no_landmarks_of_a_zero_gram():
    """With nothing to approximate there is no preconditioner, and no division by zero, for any diagonal."""
    for level in (-1.0, 0.0, 1.0):
        assert landmark_features(DenseGram(np.zeros((30, 30))), np.full(30, level)) is None
