"""New samples under the eigenvectors of a walk, against sums over the fitted samples written out."""

import numpy as np
import pytest

from gramian.kernels import RBF, Polynomial
from gramian.ranking.kernel_walk.components import decompose
from gramian.ranking.kernel_walk.extension import Extension, combined, refuse_division_by_zero, warn_alone
from gramian.ranking.kernel_walk.low_rank import LowRank
from gramian.ranking.kernel_walk.walk import Walk

ALPHA = 0.1
BETA = ALPHA / (1 - ALPHA)


@pytest.fixture(params=[RBF(0.9), Polynomial(2, 1.0)], ids=["rbf", "features"])
def setting(request):
    """A kernel without and one with finite features, the walk on 30 samples, and five components of it."""
    X = np.random.default_rng(1).standard_normal((30, 2))
    kernel = request.param.fit(X)
    walk = Walk(kernel.gram(X))
    spectrum = decompose(walk, None, None, definite=True)
    usable = spectrum.values > 1e-3
    usable[1] = False
    model = LowRank(spectrum, walk.degrees, ALPHA, "eigenvalue", 3, usable, complete=False)
    return kernel, X, walk, model, Extension(kernel, X, walk, spectrum, usable)


def written_out(kernel, X, walk, model, new):
    """e_j(x) = Σ_i k(x, x_i) e_ij / √d_i / (λ_j √d(x)) and d(x)."""
    block = kernel(new, X)
    degrees = block.sum(axis=1, keepdims=True)
    return block @ (model.vectors / np.sqrt(walk.degrees)[:, None]) / model.values / np.sqrt(degrees), degrees


def test_places_coordinates_and_scores(setting):
    """All by their formulas, for new rows."""
    kernel, X, walk, model, extension = setting
    new = np.array([[0.3, -0.2], [1.0, 0.4], [-0.5, 2.0]])
    images, degrees = written_out(kernel, X, walk, model, new)
    np.testing.assert_allclose(extension.embed(model, new), images / np.sqrt(1 + BETA - model.values), rtol=1e-8)
    coordinates = (images / np.sqrt(degrees)).T
    np.testing.assert_allclose(extension.coordinates(model, new), coordinates, rtol=1e-8)
    seeds = np.random.default_rng(2).standard_normal((3, 2))
    values = extension.scorer(model, seeds)(new)
    expected = degrees / walk.volume + BETA * np.sqrt(degrees) * images @ (seeds / (1 + BETA - model.values)[:, None])
    np.testing.assert_allclose(values[:, :-1], expected, rtol=1e-8)
    np.testing.assert_allclose(values[:, -1:], degrees)


def test_fitted_rows_are_themselves(setting):
    """The eigenvector equation holds for fitted rows, so they have their own entries again."""
    _, X, walk, model, extension = setting
    np.testing.assert_allclose(extension.embed(model, X), model.vectors * np.sqrt(model.gains), atol=1e-8)
    roots = np.sqrt(walk.degrees)[:, None]
    np.testing.assert_allclose(extension.coordinates(model, X).T, model.vectors / roots, atol=1e-8)


def test_rows_like_nothing():
    """Where d(x) is zero everything is, with a warning."""
    X = np.random.default_rng(1).standard_normal((20, 2))
    kernel = RBF(0.5).fit(X)
    walk = Walk(kernel.gram(X))
    spectrum = decompose(walk, None, None, definite=True)
    usable = spectrum.values > 1e-3
    model = LowRank(spectrum, walk.degrees, ALPHA, "eigenvalue", 3, usable, complete=False)
    extension = Extension(kernel, X, walk, spectrum, usable)
    far = np.full((2, 2), 1e4)
    with pytest.warns(UserWarning, match="2 new samples are similar to none and placed at the origin"):
        assert not extension.embed(model, far).any()
    with pytest.warns(UserWarning, match="placed at the origin"):
        assert not extension.coordinates(model, far).any()
    assert not extension.scorer(model, np.ones((3, 1)))(far).any()


def test_combined(setting):
    """Mixing functions first is mixing their values later."""
    _, X, _, _, extension = setting
    mix = np.random.default_rng(3).standard_normal((extension.usable.sum() + 1, 4))
    np.testing.assert_allclose(combined(extension.expansion, mix)(X), extension.expansion(X) @ mix, atol=1e-9)


def test_refusals_and_warnings(recwarn):
    """Eigenvalues of zero, of either sign, are refused; nobody alone is no warning."""
    for values in (np.array([0.5, 1e-9]), np.array([0.5, -1e-9])):
        with pytest.raises(ValueError, match="eigenvalue zero"):
            refuse_division_by_zero(values)
    refuse_division_by_zero(np.array([0.5, -0.2]))
    refuse_division_by_zero(np.empty(0))
    warn_alone(0, "score 0")
    assert not recwarn.list
    with pytest.warns(UserWarning, match="1 new sample is similar to no fitted one and score 0"):
        warn_alone(1, "score 0")
