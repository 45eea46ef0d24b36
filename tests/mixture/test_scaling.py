"""From the user's units to standardised ones and back."""

import numpy as np
import pytest

from gramian.mixture.em import Parameters
from gramian.mixture.scaling import Scaling, merged, shape_of

KINDS = ["full", "tied", "diag", "spherical"]


@pytest.fixture
def rng():
    return np.random.default_rng(45)


def mixture(rng, kind, K=2, d=3):
    A = rng.normal(size=(K, d, d))
    S = A @ A.transpose(0, 2, 1) + np.eye(d)
    covariances = {"full": S, "tied": S[0], "diag": np.einsum("kii->ki", S), "spherical": S[:, 0, 0]}[kind]
    return Parameters(np.array([0.3, 0.7]), rng.normal(size=(K, d)), covariances)


def scaling(kind):
    scale = np.full(3, 20.0) if kind == "spherical" else np.array([1e-5, 2.0, 1e7])
    return Scaling(np.array([True, False, True, True]), np.array([5.0, -1e8, 0.0]), scale, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back(rng, kind):
    """Parameters survive the way to the user's units and back; an unknown column has mean 0 and variance 1 there."""
    inner = mixture(rng, kind)
    user = scaling(kind).to_user(inner, np.float64)
    assert user.covariances.shape == shape_of(kind, 2, 4)
    np.testing.assert_array_equal(user.means[:, 1], 0)
    if kind in ("full", "tied"):
        np.testing.assert_array_equal(
            user.covariances[..., 1, :], np.broadcast_to(np.eye(4)[1], user.covariances[..., 1, :].shape)
        )
    for a, b in zip(scaling(kind).from_user(user)[:3], inner[:3], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_scale_of_a_mixture(rng, kind):
    """Center and scale are the mean and deviation of the mixture, also where their squares would overflow."""
    p = mixture(rng, kind)
    known = np.ones(3, bool)
    full = {"full": p.covariances, "tied": [p.covariances] * 2, "diag": map(np.diag, p.covariances)}
    full = list(full.get(kind, (v * np.eye(3) for v in p.covariances)))
    center = p.weights @ p.means
    variances = sum(w * (np.diag(S) + (m - center) ** 2) for w, m, S in zip(p.weights, p.means, full, strict=True))
    variances = np.full(3, variances.mean()) if kind == "spherical" else variances
    for size in (1.0, 1e150):
        found = Scaling.of_mixture(Parameters(p.weights, p.means * size, p.covariances * size**2), known, kind)
        np.testing.assert_allclose(found.center / size, center)
        np.testing.assert_allclose(found.scale / size, np.sqrt(variances))


@pytest.mark.parametrize("kind", KINDS)
def test_merged_keeps_what_was_given(rng, kind):
    """Parts that the user gave replace those of the start; the others stay."""
    units, start = scaling(kind), mixture(rng, kind)
    other = mixture(rng, kind)
    given = units.to_user(other, np.float64)
    for part in range(3):
        chosen = [value if i == part else None for i, value in enumerate(given[:3])]
        for i, found in enumerate(merged(start, chosen, units)[:3]):
            np.testing.assert_allclose(found, other[i] if i == part else start[i], rtol=1e-6)
    assert merged(start, (None, None, None), units) is start
