"""The solver against closed forms, published optima and its own promise never to go down."""

import warnings
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

import gramian
from dependence.projection.textbook_ism import (
    KERNELS,
    blobs,
    orthonormal,
    pair_weights,
    projector,
    rows,
    standardised,
)
from dependence.projection.textbook_ism import objective as slow_objective
from gramian.dependence.projection._pairs import PairSum, profiles_of
from gramian.dependence.projection.ism import ism, objective, sine, suggest_n_components
from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import (
    RBF,
    InverseMultiquadric,
    Laplacian,
    Linear,
    Multiquadric,
    Polynomial,
    RelativeRBF,
    SquaredDistance,
)

ism_module = import_module("gramian.dependence.projection.ism")  # the package's attribute of this name is the function


# Special cases that have a name ----------------------------------------------------------------------------


def test_linear_kernel_on_all_samples_is_pca():
    """Γ = H and the linear kernel give the principal subspace; J is the sum of the eigenvalues, in one step."""
    X, _, _ = standardised(load_wine)
    weights = PairWeights(np.eye(len(X)) - 1 / len(X))
    result = ism(X, weights, Linear(), 3)
    expected = PCA(3).fit(X).components_
    np.testing.assert_allclose(projector(result.components.T), projector(expected.T), atol=1e-10)
    assert result.objective == pytest.approx(np.sort(np.linalg.eigvalsh(X.T @ X))[-3:].sum(), rel=1e-10)
    assert result.objective == pytest.approx(objective(X, weights, Linear(), result.components.T), rel=1e-10)
    assert (result.n_iter, result.status, result.converged) == (1, "closed form", True)


def test_linear_kernel_is_supervised_pca():
    """The linear kernel with labels gives the leading eigenvectors of Xᵀ H Y Yᵀ H X."""
    X, y, _ = standardised(load_wine)
    Y = (y[:, None] == np.unique(y)).astype(float)
    Y -= Y.mean(axis=0)
    expected = eigh(X.T @ Y @ Y.T @ X)[1][:, -2:]
    result = ism(X, PairWeights.of_labels(y), Linear(), 2)
    np.testing.assert_allclose(projector(result.components.T), projector(expected), atol=1e-10)


def test_squared_distance_has_the_subspace_of_linear():
    """With centred weights the negated squared distance and the linear kernel choose the same subspace."""
    X, y, _ = standardised(load_wine)
    weights = PairWeights.of_labels(y)
    linear, squared = (ism(X, weights, kernel, 2) for kernel in (Linear(), SquaredDistance()))
    assert sine(linear.components.T, squared.components.T) < 1e-8
    assert squared.objective == pytest.approx(2 * linear.objective, rel=1e-10)


def test_wide_gaussian_tends_to_linear():
    """The Gaussian's subspace tends to the linear one like width^-2."""
    X, y, _ = standardised(load_wine)
    weights = PairWeights.of_labels(y)
    linear = projector(ism(X, weights, Linear(), 2).components.T)
    distances = [
        np.linalg.norm(projector(ism(X, weights, RBF(width), 2, tol=1e-9).components.T) - linear)
        for width in (10.0, 100.0, 1000.0)
    ]
    assert distances[2] < 1e-5
    assert distances[0] / distances[1] == pytest.approx(100, rel=0.1)
    assert distances[1] / distances[2] == pytest.approx(100, rel=0.1)


@pytest.mark.parametrize("kernel", [Linear(), SquaredDistance()], ids=repr)
@pytest.mark.parametrize("kind", ["labels", "general", "difference"])
@pytest.mark.parametrize("zero_diagonal", [False, True])
def test_constant_slopes(kernel, kind, zero_diagonal):
    """Where Φ does not depend on W, the leading eigenvectors of the Φ of all pairs are found, for any weights."""
    X, weights = rows(40, 7), pair_weights(kind, 40)
    result = ism(X, weights, kernel, 2, zero_diagonal=zero_diagonal)
    phi = PairSum(X, weights, profiles_of(kernel), zero_diagonal=zero_diagonal).evaluate(orthonormal(7)).matrix
    values, vectors = np.linalg.eigh(phi)
    np.testing.assert_allclose(result.eigenvalues, values[::-1][:2], rtol=1e-7, atol=1e-8)
    assert sine(vectors[:, -2:], result.components.T) < 1e-6
    assert result.objective == pytest.approx(objective(X, weights, kernel, result.components.T, zero_diagonal))


# Published optima ------------------------------------------------------------------------------------------

REFERENCE = {
    "linear": (57381.128448, 21673.074202),
    "rbf": (1745.318807, 2035.772253),
    "scaled polynomial": (148874.837033, 118166.106785),
    "polynomial": (5125168.873498, 657446.443834),
    "squared distance": (114762.256896, 43346.148405),
    "multiquadric": (17096.060803, 8699.948173),
    "inverse multiquadric": (2479.842672, 2425.628585),
}
ZERO_DIAGONAL = {
    "rbf": (1628.139031, 1935.772253),
    "polynomial": (4864345.62, 633547.352120),
    "multiquadric": (17213.240578, 8799.948173),
    "inverse multiquadric": (2362.662897, 2325.628585),
}


def reference_kernel(name, q, width):
    """The kernel as in the table of reference objectives; gamma0 = 1/q of the polynomial is a factor and an offset."""
    return {
        "linear": Linear(),
        "rbf": RBF(width),
        "scaled polynomial": q**-3.0 * Polynomial(3, float(q)),
        "polynomial": Polynomial(3, 1.0),
        "squared distance": SquaredDistance(),
        "multiquadric": Multiquadric(1.0),
        "inverse multiquadric": InverseMultiquadric(1.0),
    }[name]


@pytest.mark.parametrize("zero_diagonal", [False, True])
@pytest.mark.parametrize(("data", "q"), [("wine", 4), ("iris", 2)])
@pytest.mark.parametrize("name", REFERENCE)
def test_reference_objectives(name, data, q, zero_diagonal):
    """On wine and iris the known local maxima are reached to 1e-6, or better ones."""
    if zero_diagonal and name not in ZERO_DIAGONAL:
        name = "rbf"
    table = ZERO_DIAGONAL if zero_diagonal else REFERENCE
    X, y, width = standardised({"wine": load_wine, "iris": load_iris}[data])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_components=4 is more than the 2 directions")
        result = ism(
            X,
            PairWeights.of_labels(y),
            reference_kernel(name, q, width),
            q,
            max_iter=1000,
            zero_diagonal=zero_diagonal,
        )
    expected = table[name][data == "iris"]
    assert result.objective >= expected * (1 - 1e-6)
    assert result.converged


def test_breast_cancer_does_not_cycle():
    """Where the plain method cycles for ever the safeguarded one reaches the maximum."""
    X, y, width = standardised(load_breast_cancer)
    weights = PairWeights.of_labels(y)
    result = ism(X, weights, RBF(width), 2, zero_diagonal=True)
    assert -result.objective <= -18918.5
    assert result.converged
    assert result.residual < 1e-6
    with pytest.warns(ConvergenceWarning, match="max_iter=60"):
        plain = ism(X, weights, RBF(width), 2, zero_diagonal=True, safeguard=False, max_iter=60)
    assert plain.objective < result.objective
    assert np.diff(plain.objective_path).min() < -1.0


# Promises of every run -------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from(["rbf", "multiquadric", "polynomial"]))
@settings(max_examples=15, deadline=None)
def test_rotation_of_the_columns(seed, name):
    """Turning the columns of X turns the components with them."""
    X, y = blobs(60, 4, seed)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 4)))[0]
    weights, kernel = PairWeights.of_labels(y), clone(KERNELS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain, turned = (ism(A, weights, kernel, 2, max_iter=500) for A in (X, X @ turn))
    assert turned.objective == pytest.approx(plain.objective, rel=1e-6)


def test_repeats():
    """The same arguments give the same bits; so does the same seed where numbers are drawn."""
    X, y = blobs(200)
    weights = PairWeights.of_labels(y)
    for options in (
        {},
        {"init": "random", "random_state": 3},
        {"approximation": "fourier", "random_state": 3},
        {"approximation": "nystroem", "n_features": 50, "random_state": 3},
    ):
        first, second = (ism(X, weights, RBF(2.0), 2, **options) for _ in range(2))
        np.testing.assert_array_equal(first.components, second.components)
        assert first.objective == second.objective


def test_start():
    """A given start is used; at the maximum nothing is left to do."""
    X, y = blobs()
    weights = PairWeights.of_labels(y)
    first = ism(X, weights, RBF(2.0), 2)
    for factor in (3.0, 1e-12):
        again = ism(X, weights, RBF(2.0), 2, init=factor * first.components.T)
        assert again.n_iter <= 2
    assert again.objective == pytest.approx(first.objective, rel=1e-10)
    random = ism(X, weights, RBF(2.0), 2, init="random", random_state=0)
    assert random.objective == pytest.approx(first.objective, rel=1e-8)


# The spectral start ----------------------------------------------------------------------------------------


def test_too_many_components_warn():
    """With a kernel of constant slope, components beyond the rank are announced; so is a vanishing gap."""
    X, y, _ = standardised(load_wine)
    with pytest.warns(UserWarning, match="n_components=4 is more than the 2 directions"):
        ism(X, PairWeights.of_labels(y), Linear(), 4)
    square = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 0.5], [0, 0, -0.5]])
    with pytest.warns(UserWarning, match="components 1 and 2 are equal"):
        ism(square, PairWeights(np.eye(6) - 1 / 6), Linear(), 1)


# Other ways to the same end --------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [RBF(12.0), Linear(), Polynomial(2, 20.0)], ids=repr)
def test_more_columns_than_rows(kernel, monkeypatch):
    """In the space of the rows the same maximum is found as in the space of all columns."""
    X, y = blobs(30, 80)
    weights = PairWeights.of_labels(y)
    short = ism(X, weights, kernel, 2, max_iter=500)
    assert short.components.shape == (2, 80)
    monkeypatch.setattr(ism_module, "_row_space", lambda X, q: (None, X))
    whole = ism(X, weights, kernel, 2, max_iter=500)
    assert short.objective == pytest.approx(whole.objective, rel=1e-8)
    assert sine(short.components.T, whole.components.T) < 1e-4


def test_negative_weights_prefer_to_see_nothing():
    """Where every direction of the rows lowers J, directions orthogonal to all rows are taken."""
    X, y = blobs(20, 60)
    with pytest.warns(UserWarning, match="n_components=2 is more than the 0 directions"):
        result = ism(X, -PairWeights.of_labels(y), SquaredDistance(), 2)
    assert result.objective == 0
    assert objective(X, -PairWeights.of_labels(y), SquaredDistance(), result.components.T) == pytest.approx(0, abs=1e-9)


def test_number_of_components():
    """The largest gap of the spectrum tells how many directions the weights are about."""
    X = rows(300, 8)
    weights = PairWeights.of_targets(X[:, :3])
    for kernel in (Linear(), RBF(20.0)):
        assert suggest_n_components(ism(X, weights, kernel, 2)) == 3


def test_bad_input():
    """What cannot be solved is refused by name, with a remedy."""
    X, y = blobs(30, 4)
    weights, kernel = PairWeights.of_labels(y), RBF(1.0)
    for arguments, options, message in (
        ((X, weights, kernel, 5), {}, "pass n_components <= 4"),
        ((X, weights, kernel, 0), {}, "n_components=0"),
        ((X, weights.dense(), kernel, 2), {}, "weights must be PairWeights but is of type ndarray"),
        ((X, PairWeights.of_targets(np.full(30, 0.1)), kernel, 2), {}, "all weights of pairs are zero"),
        ((X, weights, kernel, 2), {"init": None}, "init=None"),
        ((X, weights, kernel, 2), {"safeguard": "no"}, "safeguard='no' must be True or False"),
        ((X, weights, kernel, 2), {"zero_diagonal": "no"}, "zero_diagonal='no' must be True or False"),
        ((X, PairWeights.of_labels(np.zeros(30)), kernel, 2), {}, "all weights of pairs are zero"),
        ((X[:-1], weights, kernel, 2), {}, "30 samples but X has 29 rows"),
        ((X, weights, Laplacian(1.0), 2), {}, "is not a smooth function"),
        ((np.full((30, 4), np.nan), weights, kernel, 2), {}, "contains NaN"),
        ((X, weights, kernel, 2), {"init": "pca"}, "init='pca'"),
        ((X, weights, kernel, 2), {"init": np.ones((3, 2))}, r"shape \(4, 2\)"),
        ((X, weights, kernel, 2), {"init": np.ones((4, 2))}, "linearly dependent"),
        ((X, weights, kernel, 2), {"convergence": "never"}, "convergence='never'"),
        ((X, weights, kernel, 2), {"tol": 0.0}, "tol=0.0"),
        ((X, weights, kernel, 2), {"max_iter": 0}, "max_iter=0"),
        ((X, weights, kernel, 2), {"n_jobs": 0}, "n_jobs=0"),
        ((X, weights, kernel, 2), {"approximation": "rff"}, "approximation='rff'"),
        ((X, weights, Multiquadric(1.0), 2), {"approximation": "nystroem"}, "positive semi-definite"),
        ((X, weights, Polynomial(2), 2), {"approximation": "fourier"}, "use 'nystroem' or None"),
        ((X, weights, RelativeRBF(5).fit(X[:20]), 2), {}, "fitted on 20 rows"),
    ):
        with pytest.raises(ValueError, match=message):
            ism(*arguments, **options)
    with pytest.raises(ValueError, match="pass one row per column"):
        objective(X, weights, kernel, np.ones((3, 1)))
    with pytest.raises(ValueError, match="sums over X overflow"):
        ism(1e200 * X, weights, Polynomial(3), 2)
    with pytest.raises(ValueError, match="overflows"):
        ism(1e60 * X, weights, Polynomial(6), 2)


@pytest.mark.parametrize("zero_diagonal", [False, True])
@pytest.mark.parametrize("kind", ["labels", "general"])
def test_closed_form_with_offset(kind, zero_diagonal):
    """What the kernel is at zero counts in J, where the weights do not cancel it."""
    X, weights = rows(40, 7), pair_weights(kind, 40)
    result = ism(X, weights, Polynomial(1, 5.0), 2, zero_diagonal=zero_diagonal)
    expected = slow_objective(X, weights.dense(), Polynomial(1, 5.0), result.components.T, zero_diagonal)
    assert result.objective == pytest.approx(expected, rel=1e-9)


def test_memory():
    """What would not fit is refused before it is made, with the alternative."""
    X = rows(300, 150)
    classes = PairWeights.of_labels(np.arange(300) % 100)
    with gramian.config(memory_budget="100kB"), pytest.raises(gramian.MemoryBudgetError, match="use fewer columns"):
        ism(X, classes, RBF(9.0), 2)
    refused = pytest.raises(gramian.MemoryBudgetError, match="use approximation='nystroem'")
    with gramian.config(memory_budget="10MB"), refused:
        ism(X, classes, RBF(9.0), 2, approximation="fourier")


def test_too_many_pairs(monkeypatch):
    """All pairs of very many rows are refused, and the message names what is faster."""
    monkeypatch.setattr(ism_module, "_MOST_SAMPLES", 100)
    X, y = blobs()
    with pytest.raises(ValueError, match="pass approximation='nystroem' or 'fourier'"):
        ism(X, PairWeights.of_labels(y), RBF(2.0), 2)
    assert ism(X, PairWeights.of_labels(y), Linear(), 2).converged
