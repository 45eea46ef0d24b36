"""Kernel component analysis: its special case, outliers, sparsity, stationarity, pre-images, bad input."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from gramian import KernelComponentAnalysis, KernelPCA, Nystroem
from gramian.embedding.kernel_component_analysis import robust_weights
from gramian.kernels import RBF, Linear


@pytest.fixture
def outliers():
    """95 rows along the first axis, and 5 far out on the second."""
    rng = np.random.default_rng(11)
    X = rng.standard_normal((95, 2)) * [2.0, 0.3]
    return np.vstack([X, [0.0, 25.0] + 0.2 * rng.standard_normal((5, 2))])


def loss(r, epsilon, c):
    """The ε-insensitive Huber loss of one number."""
    a = abs(r)
    if a <= epsilon:
        return 0.0
    return (a - epsilon) ** 2 / 2 if a <= c else (c - epsilon) ** 2 / 2 + (c - epsilon) * (a - c)


@pytest.mark.parametrize("kernel", [RBF(), Linear(), Nystroem(40, kernel=RBF(), random_state=0)], ids=repr)
def test_without_dead_zone_and_cutoff_it_is_kernel_pca(kernel):
    """With ε = 0 and a large cutoff all weights are 1 and the scores are kernel PCA's, for new samples too."""
    X = load_iris().data
    plain = KernelPCA(3, kernel=kernel).fit(X[::2])
    model = KernelComponentAnalysis(3, kernel=kernel, insensitivity=0.0, cutoff=1e9, n_restarts=1).fit(X[::2])
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(plain.embedding_), atol=1e-7)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(plain.transform(X)), atol=1e-7)
    np.testing.assert_array_equal(model.weights_, 1)
    assert model.n_iter_ == 1


def test_outliers_do_not_turn_the_direction(outliers):
    """Kernel PCA follows five outliers, kernel component analysis the ninety-five, with fewer coefficients."""
    plain = KernelPCA(1, kernel="linear").fit(outliers)
    model = KernelComponentAnalysis(1, kernel="linear").fit(outliers)
    w = outliers.T @ model.dual_coef_[:, 0]
    np.testing.assert_allclose(np.abs(w), [1, 0], atol=0.01)
    assert np.abs(np.corrcoef(plain.embedding_[:, 0], outliers[:, 1])[0, 1]) > 0.999
    assert 60 < (model.dual_coef_[:, 0] != 0).sum() < 90


@pytest.mark.parametrize("component", [0, 1])
def test_stationarity(component):
    """α = γ V e: the coefficients are the weighted scores, and weights belong to the scores; Σ α = 0, ‖w‖ = 1."""
    X = load_iris().data
    K = RBF(width=1.5)(X)
    model = KernelComponentAnalysis(2, kernel=RBF(width=1.5)).fit(X)
    e, v = model.embedding_[:, component], model.weights_[:, component]
    a = model.dual_coef_[:, component]
    np.testing.assert_allclose(a @ K @ a, 1, rtol=1e-9)
    np.testing.assert_allclose(e, K @ a + model.intercept_[component], atol=1e-9)
    assert v @ e == pytest.approx(0, abs=1e-9)
    # In the second component the direction is compared, after the first is projected off the weighted scores.
    first = model.dual_coef_[:, 0]
    b = v * e
    b = b - first * (first @ K @ b) if component else b
    b /= np.sqrt(b @ K @ b)
    np.testing.assert_allclose(K @ b, K @ a, atol=1e-4)
    # The weights are those of the scores in units of some scale s: ε s and c s separate the three cases.
    inside = np.abs(e)[v == 0].max()
    s = inside / 0.3
    expected = np.array([robust_weights(np.array([r]), 0.3, 2.5)[0] for r in e / s])
    assert np.abs(expected - v).max() < 0.1


def test_direction_is_a_stationary_point_of_the_loss(outliers):
    """With the scale frozen, no small turn of w changes Σ L(e / s) to first order (b moves along)."""
    model = KernelComponentAnalysis(1, kernel="linear").fit(outliers)
    w = outliers.T @ model.dual_coef_[:, 0]
    v, e = model.weights_[:, 0], model.embedding_[:, 0]
    active = (v > 0) & (v < 0.8)
    s = np.median(np.abs(e[active]) * (1 - v[active])) / 0.3  # (|r| − ε) / |r| = v

    def objective(angle):
        turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ w
        scores = outliers @ turned
        offsets = np.linspace(-1, 1, 4001) + model.intercept_[0]
        # b is where Σ L' = 0, a minimum over b.
        return min(sum(loss(r, 0.3, 2.5) for r in (scores + b) / s) for b in offsets[1900:2101:20])

    step = 1e-3
    slope = (objective(step) - objective(-step)) / (2 * step)
    assert abs(slope) < 0.02 * objective(0.0)


def test_directions_are_orthonormal():
    """wᵀw = αᵀ K α is the identity over all components."""
    X = load_iris().data
    model = KernelComponentAnalysis(4, kernel=RBF(width=1.5)).fit(X)
    np.testing.assert_allclose(model.dual_coef_.T @ RBF(width=1.5)(X) @ model.dual_coef_, np.eye(4), atol=1e-8)


def test_support_says_which_rows_count():
    """Rows without coefficient have no influence on scores of new samples."""
    X = load_iris().data
    model = KernelComponentAnalysis(1, kernel=RBF(width=1.5), insensitivity=0.8).fit(X[::2])
    assert 5 < len(model.support_) < 75
    few = RBF(width=1.5)(X, X[::2][model.support_]) @ model.dual_coef_[model.support_] + model.intercept_
    np.testing.assert_allclose(model.transform(X), few, atol=1e-10)


def test_weights_are_the_slope_of_the_loss_over_r():
    """v(r) = L'(r) / r, by differences of the loss."""
    r = np.array([-4.0, -2.0, -0.5, 0.1, 0.31, 1.0, 2.4, 2.6, 10.0])
    slopes = [(loss(x + 1e-6, 0.3, 2.5) - loss(x - 1e-6, 0.3, 2.5)) / 2e-6 for x in r]
    np.testing.assert_allclose(robust_weights(r, 0.3, 2.5), slopes / r, atol=1e-6)


def test_restarts_find_what_one_start_misses(outliers):
    """From the first principal component alone the outliers may win; the trimmed variance chooses between starts."""
    X = outliers.copy()
    model = KernelComponentAnalysis(1, kernel="linear", n_restarts=2).fit(X)
    alone = KernelComponentAnalysis(1, kernel="linear", n_restarts=1).fit(X)
    spread = [np.var(np.sort(m.embedding_[:, 0])[10:90]) for m in (model, alone)]
    assert spread[0] >= spread[1] - 1e-6


@pytest.mark.parametrize("preimage", ["ridge", "fixed_point"])
def test_denoising_a_circle(preimage):
    """Going to the scores and back brings rows nearer to the circle that they come from."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    clean = np.column_stack([np.cos(angle), np.sin(angle)])
    X = clean + 0.12 * rng.standard_normal((300, 2))
    model = KernelComponentAnalysis(4, kernel=RBF(width=0.8), insensitivity=0.1, preimage=preimage, tol=1e-4).fit(X)
    back = model.inverse_transform(model.transform(X))
    assert np.abs(np.linalg.norm(back, axis=1) - 1).mean() < 0.8 * np.abs(np.linalg.norm(X, axis=1) - 1).mean()


def test_full_projection_returns_to_the_row():
    """With all components kept, the fixed point of a fitted sample is the sample."""
    X = np.random.default_rng(0).standard_normal((12, 2))
    model = KernelComponentAnalysis(
        12, kernel=RBF(width=1.0), insensitivity=0.0, cutoff=1e9, n_restarts=1, preimage="fixed_point"
    ).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-4)


def test_float32():
    """Single precision stays and is close."""
    X = load_iris().data
    single = KernelComponentAnalysis(2, kernel=RBF(width=1.5), tol=1e-3).fit(X.astype(np.float32))
    double = KernelComponentAnalysis(2, kernel=RBF(width=1.5)).fit(X)
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(np.abs(single.embedding_), np.abs(double.embedding_), atol=0.02)


def test_too_few_steps_warn():
    """Weights that still change say so."""
    with pytest.warns(ConvergenceWarning, match=r"after max_iter=2 steps; raise max_iter or tol"):
        KernelComponentAnalysis(1, max_iter=2).fit(load_iris().data)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_components": 0}, "n_components=0 must be a whole number >= 1"),
        ({"insensitivity": -0.1}, "insensitivity=-0.1 must be a finite number >= 0"),
        ({"cutoff": 0.2}, "cutoff=0.2 must be a finite number > 0.3"),
        ({"n_restarts": 0}, "n_restarts=0 must be a whole number >= 1"),
        ({"max_iter": 1.5}, "max_iter=1.5 must be a whole number >= 1"),
        ({"tol": 0.0}, "tol=0.0 must be a positive number"),
        ({"preimage": "newton"}, "preimage='newton' is not known"),
        ({"preimage": "fixed_point", "kernel": "linear"}, "preimage='fixed_point' needs a definite kernel"),
    ],
)
def test_bad_parameters_are_named(changes, message):
    """Each bad parameter raises a ValueError that names it and what is allowed."""
    with pytest.raises(ValueError, match=message):
        KernelComponentAnalysis().set_params(**changes).fit(load_iris().data)


def test_bad_data_are_refused():
    """Rows that are all alike, one row, scores of another width, and asking too early."""
    X = load_iris().data
    with pytest.raises(ValueError, match="no variance to analyse"):
        KernelComponentAnalysis(kernel="linear").fit(np.ones((10, 2)))
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        KernelComponentAnalysis().fit(X[:1])
    with pytest.raises(NotFittedError):
        KernelComponentAnalysis().transform(X)
    with pytest.raises(ValueError, match="inverse_transform needs preimage='ridge'"):
        KernelComponentAnalysis(1).fit(X).inverse_transform(np.zeros((2, 1)))
    model = KernelComponentAnalysis(1, preimage="ridge").fit(X)
    with pytest.raises(ValueError, match="Z has 3 columns but the model has n_components_=1"):
        model.inverse_transform(np.zeros((2, 3)))
