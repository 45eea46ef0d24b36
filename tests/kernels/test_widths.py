"""Width rules against formulas written again from the definitions."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from scipy.stats import chi2

from gramian.kernels import RBF, Laplacian, resolve_width

METRICS = {"euclidean": "euclidean", "manhattan": "cityblock"}


def rows(n=60, d=3, seed=0):
    """Reproducible rows."""
    return np.random.default_rng(seed).standard_normal((n, d)) * np.arange(1, d + 1)


def median(D, X):
    return np.median(D)


def silverman(D, X):
    n, d = X.shape
    return np.sqrt(X.var(axis=0).mean()) * (4 / ((d + 2) * n)) ** (1 / (d + 4))


def fifteen_percent_of_the_range(D, X):
    return 0.15 * (D.max() - D.min())


def spectroscopy(D, X):
    near = [np.quantile(row, 0.05) for row in squareform(D)]
    return np.quantile(near, 0.95) / np.sqrt(chi2.ppf(0.95, X.shape[1]))


def mean_knn(D, X):
    return np.mean([np.sort(np.delete(row, i))[:10] for i, row in enumerate(squareform(D))])


RULES = {
    "median": median,
    "mean": lambda D, X: np.mean(D),
    "mean10": lambda D, X: 0.1 * np.mean(D),
    "mean20": lambda D, X: 0.2 * np.mean(D),
    "range10": lambda D, X: 0.1 * (D.max() - D.min()),
    "range20": lambda D, X: 0.2 * (D.max() - D.min()),
    "median20": lambda D, X: 0.2 * np.median(D),
    "median15": lambda D, X: 0.15 * np.median(D),
    "silverman": silverman,
    "range": fifteen_percent_of_the_range,
    "spectroscopy": spectroscopy,
    "mean_knn": mean_knn,
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("rule", RULES)
def test_rules(rule, metric):
    """Each rule is its formula, for both metrics."""
    X = rows()
    expected = RULES[rule](pdist(X, METRICS[metric]), X)
    assert resolve_width(rule, X, metric) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("rule", RULES)
def test_scale_and_shift(rule):
    """A width scales with the data and does not change when they move, also in single precision."""
    X = rows()
    width = resolve_width(rule, X)
    assert resolve_width(rule, 7 * X + 100) == pytest.approx(7 * width, rel=1e-9)
    assert resolve_width(rule, (X + 1000).astype(np.float32)) == pytest.approx(width, rel=1e-3)


@pytest.mark.parametrize("rule", RULES)
def test_sparse_rows(rule):
    """Sparse rows give the width of the dense ones."""
    X = np.maximum(rows(), 0)
    assert resolve_width(rule, csr_array(X)) == pytest.approx(resolve_width(rule, X), rel=1e-6)


WEIGHTS = [np.arange(60) % 3, np.full(60, 2), np.where(np.arange(60) < 50, 1, 7), np.where(np.arange(60) < 3, 30, 1)]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("rule", RULES)
def test_weights_are_repetitions(rule, metric):
    """A row of weight w counts as w copies of it, those of weight zero not at all."""
    X = rows()
    for weights in WEIGHTS:
        repeated = resolve_width(rule, np.repeat(X, weights, axis=0), metric)
        # Copies of a row are not quite at distance zero where distances come from inner products.
        assert resolve_width(rule, X, metric, weights) == pytest.approx(repeated, rel=1e-8)


@pytest.mark.parametrize("rule", RULES)
def test_equal_weights_are_none(rule):
    """Equal weights that are not whole change nothing, nor does a row of weight zero beside them."""
    X = rows()
    width = resolve_width(rule, X)
    assert resolve_width(rule, X, sample_weight=np.full(60, 0.3)) == pytest.approx(width, rel=1e-12)
    more = np.vstack([X, [[1e6, 0, 0]]])
    assert resolve_width(rule, more, sample_weight=np.append(np.full(60, 0.3), 0)) == pytest.approx(width, rel=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_weights_vary_smoothly(rule):
    """Weights close to one give a width close to that without weights, and so do those that sum to one."""
    X = rows()
    weights = 1 + 0.01 * np.random.default_rng(0).standard_normal(60)
    for scale in (1, 1 / 60):
        assert resolve_width(rule, X, sample_weight=scale * weights) == pytest.approx(resolve_width(rule, X), rel=0.03)


@pytest.mark.parametrize("rule", RULES)
def test_weights_of_sparse_rows(rule):
    """Sparse rows are weighted like dense ones."""
    X = np.maximum(rows(), 0)
    expected = resolve_width(rule, X, sample_weight=WEIGHTS[0])
    assert resolve_width(rule, csr_array(X), sample_weight=WEIGHTS[0]) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_weights_of_any_size(rule):
    """Floats beyond 2⁵³ are all whole numbers, but no counts of rows: like others they are scaled to a mean of one."""
    weights = np.random.default_rng(0).uniform(0.5, 2, 60)
    expected = resolve_width(rule, rows(), sample_weight=weights)
    assert resolve_width(rule, rows(), sample_weight=1e300 * weights) == pytest.approx(expected)


def test_weights_of_many_rows():
    """Beyond 2,000 rows the sample keeps its weights: heavy rows close together make the width small."""
    X = rows(5000)
    weights = np.where(np.linalg.norm(X, axis=1) < 1, 50.0, 1.0)
    exact = np.sort(pdist(np.repeat(X[:1500], weights[:1500].astype(int), axis=0)[::5]))
    assert resolve_width("median", X, sample_weight=weights) == pytest.approx(np.median(exact), rel=0.1)
    assert resolve_width("median", X, sample_weight=weights) < 0.8 * resolve_width("median", X)


def test_one_row_of_weight_one():
    """All other weights zero leaves no distance."""
    with pytest.raises(ValueError, match="needs distances but n_samples=1"):
        resolve_width("median", rows(3), sample_weight=np.array([0, 1, 0]))


def test_copies_alone():
    """One row given several times has distances, all of them zero."""
    with pytest.raises(ValueError, match="cannot be found because all rows are equal"):
        resolve_width("median", rows(3), sample_weight=np.array([0, 5, 0]))


@pytest.mark.parametrize("rule", ["median", "median20", "mean"])
def test_many_rows_are_sampled(rule):
    """Beyond 2,000 rows a sample stands for all: the same width every time, within 3 % of the exact one."""
    X = rows(5000)
    width = resolve_width(rule, X)
    assert width == resolve_width(rule, X)
    assert width == pytest.approx(RULES[rule](pdist(X), X), rel=0.03)


def test_two_thousand_rows_are_not_sampled():
    """Up to 2,000 rows the median is exact."""
    X = rows(2000)
    assert resolve_width("median", X) == pytest.approx(np.median(pdist(X)), rel=1e-12)


@pytest.mark.parametrize("copies", [8, 30])
def test_duplicates(copies):
    """When most distances are zero the median is taken of the others."""
    X = np.concatenate([np.repeat(rows(1, 10), 10 * copies, axis=0), rows(15, 10, seed=1)])
    D = pdist(X)
    assert np.median(D) == 0
    assert resolve_width("median", X) == pytest.approx(np.median(D[D > 0]), rel=1e-9)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_equal_rows(rule):
    """All rows equal have no width: an error that names the rule and the way out."""
    with pytest.raises(ValueError, match=rf"width='{rule}' (cannot be found|gives zero) .* pass a number"):
        resolve_width(rule, np.full((30, 3), 0.1))


@pytest.mark.parametrize("rule", RULES)
def test_one_row(rule):
    """One row has no distances: an error that says to pass a number."""
    with pytest.raises(ValueError, match=rf"width='{rule}' needs distances but n_samples=1; pass a number"):
        resolve_width(rule, rows(1))


@pytest.mark.parametrize("width", [1, 2.5, np.float32(0.5), np.int64(3)])
def test_numbers(width):
    """Any positive number is itself, as a float, whatever the data."""
    out = resolve_width(width, rows(1))
    assert type(out) is float
    assert out == float(width)


@pytest.mark.parametrize(
    "width",
    [
        0,
        -1.0,
        np.nan,
        np.inf,
        "means",
        "mean0",
        "range-5",
        "silverman20",
        "median0",
        "median-5",
        "median" + 400 * "9",
        "Median",
        None,
        True,
        [1.0],
    ],
)
def test_bad_widths(width):
    """Anything else is refused by name, with what is allowed."""
    with pytest.raises(ValueError, match=r"width=.*(number > 0 or a rule|the rules are 'median')"):
        resolve_width(width, rows())


def test_kernels_resolve_in_their_own_metric():
    """RBF takes its width from Euclidean distances, Laplacian from L1 distances."""
    X = rows()
    assert RBF().fit(X).width_ == pytest.approx(np.median(pdist(X)))
    assert Laplacian().fit(X).width_ == pytest.approx(np.median(pdist(X, "cityblock")))
    assert RBF(width=2.0).fit(X).width_ == 2.0


@pytest.mark.parametrize(("scale", "size"), [(1e200, "large"), (1e-200, "small")])
@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_values_whose_squares_leave_the_range_of_numbers_are_named(scale, size, container):
    X = scale * np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=f"values of X, up to .* are too {size} for squared distances; scale the col"):
        resolve_width("median", container(X))
    assert resolve_width("median", container(X), metric="manhattan") > 0
