"""Fixed-size LS-SVM against the dual solved by hand, refits, repetition and streams."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.linear_model import Ridge

import gramian
from gramian import FixedSizeLSSVMClassifier, FixedSizeLSSVMRegressor, FourierFeatures
from gramian.kernels import RBF, Linear
from gramian.landmarks import renyi_entropy
from gramian.lssvm.basis import FoldSums, cross_validated

WIDTH, GAMMA = 1.5, 10.0


def rows(n=80, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n) + 3.0


def dual(X, y, new, gamma=GAMMA, weights=None):
    """f of new rows from the bordered system of the dual, [0 1ᵀ; 1 K + I/(γ v)] [b; α] = [0; y]."""

    def kernel(A, B):
        return np.exp(-((A[:, None] - B) ** 2).sum(axis=2) / (2 * WIDTH**2))

    n = len(X)
    v = np.ones(n) if weights is None else weights
    A = np.ones((n + 1, n + 1))
    A[0, 0] = 0
    A[1:, 1:] = kernel(X, X) + np.diag(1 / (gamma * v))
    b, *alpha = np.linalg.solve(A, np.append(0, y))
    return kernel(new, X) @ alpha + b


def model(m=500, **changes):
    settings = {"kernel": RBF(WIDTH), "regularization": GAMMA, "random_state": 0}
    return FixedSizeLSSVMRegressor(m, **(settings | changes))


def test_all_rows_as_prototypes_are_the_dual_machine():
    X, y = rows()
    new, _ = rows(30, seed=1)
    fitted = model().fit(X, y)
    np.testing.assert_allclose(fitted.predict(new), dual(X, y, new), atol=1e-6)
    assert sorted(fitted.prototype_indices_) == list(range(80))
    np.testing.assert_array_equal(fitted.prototypes_, X[fitted.prototype_indices_])


def test_classifier_with_all_rows_is_the_dual_machine_on_plus_and_minus_one():
    X, y = rows()
    new, _ = rows(30, seed=1)
    labels = np.where(y > 3, "high", "low")
    fitted = FixedSizeLSSVMClassifier(kernel=RBF(WIDTH), regularization=GAMMA).fit(X, labels)
    expected = dual(X, np.where(labels == "low", 1.0, -1.0), new)
    np.testing.assert_allclose(fitted.decision_function(new), expected, atol=1e-6)
    np.testing.assert_array_equal(fitted.predict(new), np.where(expected >= 0, "low", "high"))


@pytest.mark.parametrize("width", [0.5, 6.0], ids=["summed before whitening", "whitened before summing"])
def test_some_prototypes_are_ridge_regression_on_their_features(width):
    """With K_PP = U Λ Uᵀ and F = K_nP U Λ^-½, as in the textbook, both ways of summing give Ridge(1/γ)."""
    X, y = rows(300)
    new, _ = rows(40, seed=1)
    fitted = model(20, kernel=RBF(width)).fit(X, y)
    assert fitted.basis_.summed_first == (width == 0.5)
    P = fitted.prototypes_
    K = fitted.kernel_(P)
    values, vectors = np.linalg.eigh(K)
    whiten = vectors / np.sqrt(values)
    ridge = Ridge(1 / GAMMA, solver="svd").fit(fitted.kernel_(X, P) @ whiten, y)
    np.testing.assert_allclose(fitted.predict(new), ridge.predict(fitted.kernel_(new, P) @ whiten), atol=1e-5)


def test_the_order_of_rows_that_are_all_prototypes_does_not_matter():
    X, y = rows()
    new, _ = rows(30, seed=1)
    order = np.random.default_rng(3).permutation(80)
    np.testing.assert_allclose(model().fit(X[order], y[order]).predict(new), model().fit(X, y).predict(new), atol=1e-7)


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_weights_are_repetitions(seed):
    """A row of weight 2 is the row twice, one of weight 0 none, in all that does not draw."""
    X, y = rows(40, seed=seed)
    times = np.random.default_rng(seed).integers(0, 4, size=40)
    times[:2] = 1
    new, _ = rows(20, seed=1)
    weighted = model().fit(X, y, sample_weight=times)
    np.testing.assert_allclose(
        weighted.predict(new), model().fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict(new), atol=1e-7
    )
    used = times > 0
    np.testing.assert_allclose(weighted.predict(new), dual(X[used], y[used], new, weights=times[used]), atol=1e-6)


def test_class_weights_are_weights_of_rows():
    X, y = rows(100)
    labels = (y > 3.5).astype(int)
    by_class = FixedSizeLSSVMClassifier(kernel=RBF(WIDTH), regularization=1.0, class_weight={0: 1.0, 1: 3.0})
    by_row = FixedSizeLSSVMClassifier(kernel=RBF(WIDTH), regularization=1.0)
    expected = by_row.fit(X, labels, sample_weight=1.0 + 2 * labels).decision_function(X)
    np.testing.assert_allclose(by_class.fit(X, labels).decision_function(X), expected, atol=1e-9)
    balanced = by_class.set_params(class_weight="balanced").fit(X, labels).decision_function(X)
    factors = 100 / (2 * np.bincount(labels))
    expected = by_row.fit(X, labels, sample_weight=factors[labels]).decision_function(X)
    np.testing.assert_allclose(balanced, expected, atol=1e-9)


def test_sums_of_folds_are_refits():
    """The error from sums is that of k models, each fitted without its fold and asked about it."""
    X, y = rows(200)
    fitted = model(25).fit(X, y)
    sums = FoldSums(4, seed=7).add(fitted.basis_, X, (y - y.mean())[:, None])
    ridges = np.array([0.01, 1.0, 100.0])
    found = cross_validated(sums.whitened(fitted.basis_), ridges)
    F = fitted.basis_.features(X)
    order = np.random.default_rng((7, 0)).permutation(200)
    expected = np.zeros(3)
    for place in range(4):
        out = order[place::4]
        rest = np.setdiff1d(np.arange(200), out)
        for i, ridge in enumerate(ridges):
            expected[i] += ((Ridge(ridge).fit(F[rest], y[rest]).predict(F[out]) - y[out]) ** 2).sum()
    np.testing.assert_allclose(found, expected / (200 * y.var()), rtol=1e-7)


def test_chosen_regularization_has_the_least_error_of_those_tried():
    X, y = rows(300)
    fitted = model(30, regularization=None).fit(X, y)
    tuning = fitted.tuning_
    assert fitted.regularization_ == tuning["regularizations"][np.argmin(tuning["errors"])]
    again = model(30, regularization=fitted.regularization_).fit(X, y)
    np.testing.assert_allclose(fitted.predict(X), again.predict(X), atol=1e-8)


@pytest.mark.parametrize("n_folds", [1, 5])
def test_a_stream_gives_what_one_fit_gives(n_folds):
    """Rows in four pieces, prototypes from the first, are a ridge regression on all rows with these prototypes."""
    X, y = rows(2000)
    chosen = {"regularization": GAMMA if n_folds == 1 else None}
    stream = model(30, **chosen)
    for piece in np.split(np.arange(2000), 4):
        stream.partial_fit(X[piece], y[piece])
    assert len(stream.sums_.folds) == n_folds
    F = stream.basis_.features(X)
    ridge = Ridge(1 / stream.regularization_).fit(F, y)
    np.testing.assert_allclose(stream.predict(X), ridge.predict(F), atol=1e-6)


def test_pieces_of_a_stream_may_be_cut_anywhere():
    X, y = rows(1500)
    streams = [model(30), model(30)]
    for stream, cuts in zip(streams, ([500, 501, 900], [500]), strict=True):
        for piece in np.split(np.arange(1500), cuts):
            stream.partial_fit(X[piece], y[piece])
    np.testing.assert_allclose(streams[0].predict(X), streams[1].predict(X), atol=1e-9)


def test_partial_fit_goes_on_after_fit():
    X, y = rows(400)
    fitted = model(20, regularization=None).fit(X[:300], y[:300])
    chosen = fitted.regularization_
    fitted.partial_fit(X[300:], y[300:])
    assert fitted.regularization_ == chosen
    F = fitted.basis_.features(X)
    np.testing.assert_allclose(fitted.predict(X), Ridge(1 / chosen).fit(F, y).predict(F), atol=1e-6)


def test_a_refused_piece_of_a_stream_changes_nothing():
    X, y = rows(200)
    stream = model(20).partial_fit(X[:100], y[:100])
    before = stream.predict(X)
    with pytest.raises(ValueError, match="y has shape"):
        stream.partial_fit(X[100:], np.c_[y, y][100:])
    with pytest.raises(ValueError, match="y contains NaN"):
        stream.partial_fit(X[100:], np.full(100, np.nan))
    np.testing.assert_array_equal(stream.predict(X), before)


def test_a_stream_of_classes_names_them_first():
    X, y = rows(300)
    labels = np.digitize(y, [2.5, 3.5])
    stream = FixedSizeLSSVMClassifier(20, random_state=0)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        stream.partial_fit(X, labels)
    stream.partial_fit(X[:100], np.minimum(labels, 1)[:100], classes=[0, 1, 2])
    stream.partial_fit(X[100:], labels[100:])
    assert stream.decision_function(X).shape == (300, 3)
    assert stream.score(X, labels) > 0.7
    with pytest.raises(ValueError, match="y has the class 7"):
        stream.partial_fit(X[:2], [7, 1])
    with pytest.raises(ValueError, match="not the same as on the first call"):
        stream.partial_fit(X, labels, classes=[0, 1])
    with pytest.raises(ValueError, match="class_weight='balanced'"):
        FixedSizeLSSVMClassifier(20, class_weight="balanced").partial_fit(X, labels, classes=[0, 1, 2])


def test_several_targets_are_several_models():
    X, y = rows(200)
    Y = np.c_[y, X[:, 0] ** 2]
    both = model(20).fit(X, Y).predict(X)
    apart = [model(20).fit(X, column).predict(X) for column in Y.T]
    np.testing.assert_allclose(both, np.column_stack(apart), atol=1e-9)


def test_several_classes_are_one_against_the_others():
    X, y = rows(200)
    labels = np.digitize(y, [2.5, 3.5])
    setting = {"kernel": RBF(WIDTH), "regularization": GAMMA, "random_state": 0}
    found = FixedSizeLSSVMClassifier(20, **setting).fit(X, labels)
    columns = [model(20).fit(X, np.where(labels == k, 1.0, -1.0)).predict(X) for k in range(3)]
    np.testing.assert_allclose(found.decision_function(X), np.column_stack(columns), atol=1e-9)
    np.testing.assert_array_equal(found.predict(X), np.argmax(columns, axis=0))


def test_linear_kernel_is_ridge_regression_on_the_columns():
    X, y = rows(100)
    for given_rows in (X, sparse.csr_array(X)):
        fitted = model(kernel=Linear()).fit(given_rows, y)
        assert fitted.prototypes_ is None
        expected = Ridge(1 / GAMMA).fit(X, y)
        np.testing.assert_allclose(fitted.predict(given_rows), expected.predict(X), atol=1e-8)
        np.testing.assert_allclose(fitted.coef_[:, 0], expected.coef_, atol=1e-8)


def test_random_waves_come_near_the_kernel_they_stand_for():
    X, y = rows(300)
    new, _ = rows(50, seed=1)
    waves = model(kernel=FourierFeatures(2000, kernel=RBF(WIDTH)), regularization=1.0).fit(X, y)
    assert np.abs(waves.predict(new) - dual(X, y, new, gamma=1.0)).mean() < 0.05


def test_standardised_columns_make_units_irrelevant():
    X, y = rows(300)
    scaled = X * [1e-6, 1.0, 1e7] + [0.0, 1e3, -5e6]
    plain, other = (FixedSizeLSSVMRegressor(30, random_state=0).fit(Z, y) for Z in (X, scaled))
    np.testing.assert_allclose(other.predict(scaled), plain.predict(X), atol=1e-5)
    np.testing.assert_allclose(other.prototypes_, scaled[other.prototype_indices_], rtol=1e-9)


def test_a_column_that_never_varied_says_nothing_about_new_rows():
    X, y = rows(200)
    with_constant = np.c_[X, np.full(200, 7.0)]
    fitted = FixedSizeLSSVMRegressor(30, random_state=0).fit(with_constant, y)
    other = with_constant.copy()
    other[:, 3] = -1e6
    np.testing.assert_array_equal(fitted.predict(other), fitted.predict(with_constant))


def test_automatic_width_is_near_the_best_of_many():
    X, y = make_classification(1500, 8, n_informative=6, n_clusters_per_class=3, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    chosen = FixedSizeLSSVMClassifier(100, random_state=0).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
    widths = np.sqrt(16) * 2.0 ** np.arange(-3, 3)
    by_width = [
        FixedSizeLSSVMClassifier(100, kernel=RBF(w), random_state=0).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
        for w in widths
    ]
    assert chosen > max(by_width) - 0.03


def test_prototypes_of_the_papers_lie_at_the_rim():
    """Rényi's are rows of larger entropy, further out than the random ones that are the default."""
    X, y = np.random.default_rng(0).normal(size=(2000, 10)), np.arange(2000) % 2
    kernel = RBF(3.0)
    random, spread = (
        FixedSizeLSSVMClassifier(50, kernel=kernel, random_state=0, **chosen).fit(X, y).prototypes_
        for chosen in ({}, {"selection": "renyi"})
    )
    assert renyi_entropy(kernel, spread) > renyi_entropy(kernel, random)
    assert np.linalg.norm(spread, axis=1).mean() > 1.1 * np.linalg.norm(random, axis=1).mean()


def test_number_of_prototypes_grows_as_long_as_it_helps():
    rng = np.random.default_rng(0)
    X = rng.uniform(-6, 6, size=(1500, 1))
    automatic = {"n_prototypes": "auto", "selection": "uniform", "random_state": 0}
    line = FixedSizeLSSVMRegressor(kernel=RBF(2.0), **automatic).fit(X, X[:, 0] + rng.normal(size=1500))
    waves = FixedSizeLSSVMRegressor(kernel=RBF(0.1), **automatic).fit(X, np.sin(9 * X[:, 0]))
    assert len(line.tuning_["sizes"]) == 2  # twice 25 prototypes are not worth it
    assert waves.n_prototypes_ >= 100
    assert waves.score(X, np.sin(9 * X[:, 0])) > 0.99


def test_single_precision_is_close_to_double():
    X, y = rows(500)
    double = model(50).fit(X, y).predict(X)
    single = model(50).fit(X.astype(np.float32), y).predict(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=2e-3)


def test_a_target_far_from_zero_keeps_its_digits_in_single_precision():
    X, y = rows(300)
    X = X.astype(np.float32)
    far = model(30).fit(X, y + 1e8)
    near = model(30).fit(X, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-3, atol=1e-3)


def test_sparse_rows_answer_as_dense_ones():
    X, y = rows(300)
    X[np.abs(X) < 0.7] = 0
    for kernel in ("auto", RBF(WIDTH)):
        dense = model(30, kernel=kernel).fit(X, y).predict(X)
        found = model(30, kernel=kernel).fit(sparse.csr_array(X), y).predict(sparse.csr_array(X))
        np.testing.assert_allclose(found, dense, atol=1e-6)


def test_strips_of_rows_change_nothing(monkeypatch):
    """More rows than a strip holds, and more than prototypes are chosen among.

    Folds are drawn strip by strip, so a regularization that is chosen may be another one near it.
    """
    X, y = rows(700)
    given, chosen = (model(20, regularization=value).fit(X, y).predict(X) for value in (10.0, None))
    monkeypatch.setattr("gramian.lssvm.basis.STRIP", 64)
    np.testing.assert_allclose(model(20, regularization=10.0).fit(X, y).predict(X), given, atol=1e-9)
    np.testing.assert_allclose(model(20, regularization=None).fit(X, y).predict(X), chosen, atol=0.1)
    monkeypatch.setattr("gramian.lssvm.basis._CANDIDATES", 100)
    fitted = model(20).fit(X, y)
    np.testing.assert_array_equal(fitted.prototypes_, X[fitted.prototype_indices_])


def test_constant_targets_are_predicted_and_one_row_is_enough():
    X, _ = rows(50)
    for kernel in ("auto", RBF(WIDTH), Linear()):
        np.testing.assert_allclose(
            FixedSizeLSSVMRegressor(10, kernel=kernel, random_state=0).fit(X, np.full(50, 4.0)).predict(X), 4.0
        )
        one = FixedSizeLSSVMRegressor(10, kernel=kernel, random_state=0).fit(X[:1], [2.0])
        np.testing.assert_allclose(one.predict(X[:1]), 2.0)
        two = FixedSizeLSSVMRegressor(10, kernel=kernel, random_state=0).fit(X[:2], [2.0, 3.0])
        assert np.isfinite(two.predict(X)).all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_prototypes": 0}, "n_prototypes=0 must be a whole number >= 1 or 'auto'"),
        ({"n_prototypes": "many"}, "n_prototypes='many' must be"),
        ({"regularization": 0.0}, "regularization=0.0 must be a positive number or None"),
        ({"regularization": -1.0}, "regularization=-1.0 must be"),
        ({"selection": "best"}, "selection='best' must be one of"),
        ({"sparsity": "l7"}, "sparsity='l7' is not known"),
        ({"sparsity": "lq", "sparsity_options": {"exponent": 2}}, "exponent=2 must be"),
        ({"sparsity_options": {"gamma": 2}}, "sparsity_options has the unknown 'gamma'"),
        ({"kernel": "precomputed"}, "holds all similarities already"),
        ({"kernel": "tanh"}, "is indefinite"),
        ({"n_jobs": 0}, "n_jobs=0 must be"),
    ],
)
def test_bad_parameters_are_refused_by_name(changes, words):
    X, y = rows(30)
    with pytest.raises(ValueError, match=words):
        FixedSizeLSSVMRegressor(**changes).fit(X, y)


def test_too_many_features_for_the_memory_are_refused():
    X, y = rows(50)
    with gramian.config(memory_budget=10_000), pytest.raises(MemoryError, match="use fewer prototypes"):
        model(40).fit(X, y)


def test_threads_do_not_change_the_answer():
    X, y = rows(300)
    np.testing.assert_allclose(model(20, n_jobs=2).fit(X, y).predict(X), model(20).fit(X, y).predict(X), atol=1e-9)
