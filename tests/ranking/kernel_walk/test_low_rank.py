"""Low-rank scores and their errors against dense decompositions and solves."""

import numpy as np
import pytest
from scipy.sparse import csc_array

from gramian.grams import DenseGram
from gramian.kernels import RBF
from gramian.ranking.kernel_walk.components import Spectrum, decompose
from gramian.ranking.kernel_walk.low_rank import LowRank, choice_is_certain, expected_error, importance
from gramian.ranking.kernel_walk.walk import Walk

ALPHA = 0.1
BETA = ALPHA / (1 - ALPHA)
N = 35


@pytest.fixture
def K():
    return RBF(0.7)(np.random.default_rng(2).standard_normal((N, 2)))


@pytest.fixture
def walk(K):
    return Walk(DenseGram(K))


@pytest.fixture
def spectrum(walk):
    return decompose(walk, None, None, definite=True)


def partial(spectrum, walk, count):
    """The first components alone, as if no others had been computed; what the others have is known in sum."""
    rest = slice(count, None)
    moment = float(spectrum.sizes[rest] @ spectrum.values[rest])
    floor, ceiling = float(spectrum.values[-1]), float(spectrum.values[count])
    values, vectors, sizes = spectrum.values[:count], spectrum.vectors[:, :count], spectrum.sizes[:count]
    return Spectrum(values, vectors, sizes, float(spectrum.sizes[rest].sum()), moment, floor, ceiling, False)


def low_rank(spectrum, walk, order="query", count=8, **options):
    allowed = options.pop("allowed", np.ones(len(spectrum.values), bool))
    return LowRank(spectrum, walk.degrees, ALPHA, order, count, allowed, complete=options.pop("complete", False))


def shares(K):
    """c_i(s)² for every component and single seed, from a dense decomposition, and the scores themselves."""
    d = K.sum(axis=1)
    values, vectors = np.linalg.eigh(K / np.sqrt(np.outer(d, d)))
    values, vectors = values[-2::-1], vectors[:, -2::-1]
    return (vectors.T / np.sqrt(d) / (1 + BETA - values)[:, None]) ** 2


def exact(K, S):
    P = K / K.sum(axis=1, keepdims=True)
    return ALPHA * np.linalg.solve(np.eye(len(K)) - (1 - ALPHA) * P.T, S)


@pytest.mark.parametrize("order", ["query", "eigenvalue", "restart"])
@pytest.mark.parametrize("count", [1, 8, N - 1])
def test_scores_and_errors(order, count, K, walk, spectrum):
    """What is kept is the best by each rule, and the stated errors are the distances to a dense solve."""
    model = low_rank(spectrum, walk, order, count)
    S, d, each = np.eye(N), K.sum(axis=1), shares(K)
    found = model.scores(model.weights(model.coordinates(csc_array(S))))
    scaled = ((found - exact(K, S)) ** 2 / d[:, None]).sum(axis=0) / BETA**2
    best = {
        "eigenvalue": each[count:].sum(axis=0),
        "query": np.delete(each, np.argsort(-each.sum(axis=1))[:count], axis=0).sum(axis=0),
        "restart": each.sum(axis=0) - np.sort(each, axis=0)[-count:].sum(axis=0),
    }[order]
    np.testing.assert_allclose(scaled, best, atol=1e-9)
    error = model.error(spectrum, csc_array(S), np.zeros(N))
    np.testing.assert_allclose(error.scaled, best, atol=1e-9)
    np.testing.assert_allclose(error.share, best / each.sum(axis=0), atol=1e-9)
    np.testing.assert_allclose(error.per_sample, BETA * np.sqrt(np.outer(d, error.scaled)))
    assert not error.is_bound
    np.testing.assert_allclose(model.expected, best.mean(), atol=1e-9)
    np.testing.assert_allclose(model.expected_share, best.sum() / each.sum(), atol=1e-9)
    random = model.random_error(spectrum)
    assert (random.scaled, random.share) == (model.expected, model.expected_share)
    np.testing.assert_allclose(random.per_sample, BETA * np.sqrt(d * model.expected))
    one = error.first()
    assert one.scaled == error.scaled[0]
    assert one.share == error.share[0]
    np.testing.assert_array_equal(one.per_sample, error.per_sample[:, 0])
    assert model.is_certain


@pytest.mark.parametrize("order", ["query", "eigenvalue", "restart"])
def test_bounds_where_components_are_missing(order, K, walk, spectrum):
    """Errors are never understated: their mass and moment are known, the eigenvalues within limits."""
    some = partial(spectrum, walk, 12)
    model = low_rank(some, walk, order, 5)
    S, d = np.eye(N), K.sum(axis=1)
    found = model.scores(model.weights(model.coordinates(csc_array(S))))
    scaled = ((found - exact(K, S)) ** 2 / d[:, None]).sum(axis=0) / BETA**2
    error = model.error(some, csc_array(S), np.diag(K) / d**2)
    assert error.is_bound
    assert np.all(scaled <= error.scaled * (1 + 1e-9))
    assert np.all(error.scaled <= 1.5 * scaled)
    assert scaled.mean() <= model.expected * (1 + 1e-9)
    assert model.expected <= 1.5 * scaled.mean()
    assert np.all(error.share <= 1 + 1e-12)


def test_only_allowed_components_are_kept(walk, spectrum):
    allowed = np.arange(N - 1) % 2 == 1
    for order in ("query", "eigenvalue", "restart"):
        model = low_rank(spectrum, walk, order, None, allowed=allowed)
        np.testing.assert_array_equal(model.selected, np.flatnonzero(allowed))
        np.testing.assert_array_equal(model.values, spectrum.values[allowed])
        np.testing.assert_array_equal(model.vectors, spectrum.vectors[:, allowed])
        assert model.count == allowed.sum()


def test_certainty(K, walk, spectrum):
    """Certain is what no missing component can change; for seeds not yet known, only if none is missing."""
    some = partial(spectrum, walk, 20)
    wanted = importance(some, "query", ALPHA)
    bound = min(1 / walk.degrees.min(), some.missing) / (1 + BETA - some.ceiling) ** 2
    order = np.argsort(-wanted)
    for count in range(1, 21):
        chosen = order[:count]
        expected = wanted[chosen].min() >= bound
        assert choice_is_certain(some, "query", ALPHA, chosen, walk.degrees) == expected
        assert choice_is_certain(some, "eigenvalue", ALPHA, chosen, walk.degrees)
        assert not choice_is_certain(some, "restart", ALPHA, chosen, walk.degrees)
        assert choice_is_certain(spectrum, "restart", ALPHA, chosen, walk.degrees)
        if expected:  # no component of all of them is worth more
            best = np.sort(importance(spectrum, "query", ALPHA))[::-1][:count]
            np.testing.assert_allclose(np.sort(wanted[chosen])[::-1], best)
    assert wanted[order[0]] >= bound > wanted[order[-1]]
    assert low_rank(some, walk, "restart", complete=True).is_certain
    assert not low_rank(some, walk, "restart").is_certain


def test_expected_error_of_nothing_kept(K, walk, spectrum):
    """With nothing kept the error is all that depends on the query, on average."""
    lost, everything = expected_error(spectrum, ALPHA, np.empty(0, np.intp))
    base = K.sum(axis=1) / K.sum()
    true = ((exact(K, np.eye(N)) - base[:, None]) ** 2 / K.sum(axis=1)[:, None]).sum() / BETA**2 / N
    np.testing.assert_allclose([lost, everything], true, rtol=1e-9)
