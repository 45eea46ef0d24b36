"""Tables with categories: levels are read back from features, idle categories left out, classes answer for new rows."""

import numpy as np
import pytest

from gramian import AutoClustering, load, save
from gramian.clustering.automatic.mixed import FeatureLevels, _CategoryKernel, choose_mixed
from gramian.kernels import ClusterKernel
from gramian.metrics import adjusted_rand


def planted(rng, n=240, holes=0.03):
    """Three groups in two numbers and two categories beside a category that says nothing; features and columns."""
    labels = rng.integers(0, 3, n)
    numbers = rng.normal(size=(n, 2)) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[labels]
    codes = np.where(rng.random((n, 2)) < 0.9, labels[:, None], rng.integers(3, size=(n, 2)))
    idle = rng.integers(5, size=n)
    numbers[rng.random(numbers.shape) < holes] = np.nan
    blocks = [np.eye(3)[codes[:, 0]], np.eye(3)[codes[:, 1]], np.eye(5)[idle]]
    blocks[0][rng.random(n) < holes] = np.nan
    columns = ["a", "b", *["first"] * 3, *["second"] * 3, *["idle"] * 5]
    return np.column_stack([numbers, *blocks]), columns, labels


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def test_levels_are_read_back_from_features(rng):
    codes = rng.integers(0, 4, 50)
    X = np.column_stack([rng.normal(size=50), np.eye(4)[codes] - 0.25])
    X[7, 2] = np.nan
    levels = FeatureLevels.of(X, ["x", *["c"] * 4], {"c"})
    numbers, found = levels.columns(X)
    np.testing.assert_array_equal(numbers[:, 0], X[:, 0])
    assert found[7, 0] == -1
    known = np.arange(50) != 7
    assert len(np.unique(np.column_stack([found[known, 0], codes[known]]), axis=0)) == len(np.unique(codes))
    unseen = X[:1].copy()
    unseen[0, 1:] = 0.5
    assert levels.columns(unseen)[1][0, 0] == -1


def test_a_category_that_tells_nothing_is_left_out_and_classes_are_found(rng):
    X, columns, labels = planted(rng)
    found = choose_mixed(X, columns, {"first", "second", "idle"}, rng, n_clusters=None, max_clusters=20)
    assert found.left_out == ["idle"]
    assert adjusted_rand(found.found.labels, labels) > 0.9
    np.testing.assert_allclose(found.model.posteriors(X), found.found.posteriors, atol=1e-8)


def test_independent_categories_have_nothing_to_group_by(rng):
    X = np.column_stack([np.eye(3)[rng.integers(3, size=200)], np.eye(4)[rng.integers(4, size=200)]])
    columns = ["a"] * 3 + ["b"] * 4
    found = choose_mixed(X, columns, {"a", "b"}, rng, n_clusters=None, max_clusters=20)
    assert found.nothing
    model = AutoClustering(random_state=0).fit(X, feature_columns=columns, categorical_columns=["a", "b"])
    assert (model.verdict_, model.n_clusters_) == ("none", 1)
    assert not model.predict(X).any()


def test_the_estimator_answers_for_new_rows_and_can_be_saved(rng, tmp_path):
    X, columns, labels = planted(rng)
    categories = ["first", "second", "idle"]
    model = AutoClustering(random_state=0).fit(X[:200], feature_columns=columns, categorical_columns=categories)
    assert model.verdict_ == "clear"
    assert model.left_out_ == ["idle"]
    assert adjusted_rand(model.predict(X[200:]), labels[200:]) > 0.85
    np.testing.assert_array_equal(model.predict(X[:200]), model.labels_)
    shares = model.predict_proba(X[200:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    save(model, tmp_path / "model.gramian")
    np.testing.assert_array_equal(load(tmp_path / "model.gramian").predict_proba(X[200:]), shares)


def test_the_number_of_clusters_may_be_given(rng):
    X, columns, _ = planted(rng)
    model = AutoClustering(2, random_state=0).fit(X, feature_columns=columns, categorical_columns=["first", "second"])
    assert model.n_clusters_ == 2
    with pytest.raises(ValueError, match="n_clusters=9 is not a level"):
        model.labels_at(9, X)


def test_as_many_clusters_as_asked_for_are_found_where_classes_would_run_empty(rng):
    kind = np.repeat([0, 1], 15)
    X = np.column_stack([5.0 * kind + 0.2 * rng.normal(size=30), kind, 1 - kind])
    model = AutoClustering(3, random_state=0).fit(X, feature_columns=["a", "b", "b"], categorical_columns=["b"])
    assert len(np.unique(model.labels_)) == 3


def test_numbers_alone_are_grouped_by_views(rng):
    X, _, labels = planted(rng)
    numbers = np.column_stack([X[:, :2], X[:, :2] + 0.1 * rng.normal(size=(240, 2)), X[:, -5:]])
    names = ["a", "b", "c", "d", *["idle"] * 5]
    found = choose_mixed(numbers, names, {"idle"}, rng, n_clusters=None, max_clusters=20)
    assert (found.left_out, found.found) == (["idle"], None)
    model = AutoClustering(3, random_state=0).fit(numbers, feature_columns=names, categorical_columns=["idle"])
    assert adjusted_rand(model.labels_, labels) > 0.7
    assert model.used_.tolist() == [True] * 4 + [False] * 5


def test_certain_classes_group_a_table_of_one_told_category_among_many_numbers(rng):
    labels = rng.integers(0, 3, 300)
    numbers = rng.normal(size=(300, 9)) + 2.5 * rng.normal(size=(3, 9))[labels]
    codes = np.where(rng.random(300) < 0.8, labels, rng.integers(3, size=300))
    X, columns = np.column_stack([numbers, np.eye(3)[codes]]), [*range(9), *["c"] * 3]
    found = choose_mixed(X, columns, {"c"}, rng, n_clusters=None, max_clusters=20)
    assert found.found is not None
    assert adjusted_rand(found.found.labels, labels) > 0.95
    # Where many numbers have few values, which classes take for levels without an order, views know more.
    X[:, :3] = np.clip(np.round(X[:, :3] / 2), -4, 4)
    assert choose_mixed(X, columns, {"c"}, rng, n_clusters=None, max_clusters=20).found is None


def test_classes_that_gain_nothing_say_that_there_are_no_groups(rng):
    """A gradient with one category among five numbers: views group it, classes know that they should not."""
    t = rng.normal(size=200)
    numbers = t[:, None] + 0.6 * rng.normal(size=(200, 5))
    X = np.column_stack([numbers, (t + 0.5 * rng.normal(size=200) > 0).astype(float)])
    said = choose_mixed(X, list("abcdef"), {"f"}, rng, n_clusters=None, max_clusters=8)
    assert (said.groupless, said.found, said.left_out) == (True, None, [])
    X[:100, :5] += 9.0
    assert not choose_mixed(X, list("abcdef"), {"f"}, rng, n_clusters=None, max_clusters=8).groupless


def test_a_category_that_crosses_the_groups_is_named_and_divides_them_further(rng, tmp_path):
    """As sex among species: it is no reason for twice as many groups, which are told as a finer level."""
    labels, side = rng.integers(3, size=330), rng.integers(2, size=330)
    numbers = rng.normal(size=(330, 3)) + 5 * np.array([[0, 0, 0], [1, 0, 1], [0, 1, -1]])[labels] + 3 * side[:, None]
    place = np.where(rng.random(330) < 0.85, labels, rng.integers(3, size=330))
    numbers[rng.random(numbers.shape) < 0.02] = np.nan
    X, columns = np.column_stack([numbers, np.eye(3)[place], np.eye(2)[side]]), ["a", "b", "c", *["place"] * 3]
    columns += ["side"] * 2
    model = AutoClustering(random_state=0)
    model.fit(X[:300], feature_columns=columns, categorical_columns=["place", "side"])
    assert (model.n_clusters_, model.verdict_, model.crossing_) == (3, "clear", ["side"])
    assert adjusted_rand(model.labels_, labels[:300]) > 0.95
    assert adjusted_rand(model.predict(X[300:]), labels[300:]) > 0.9
    finer = model.labels_at(6, X)
    assert adjusted_rand(finer, 2 * labels + side) > 0.9
    assert dict(model.evidence_)[6] > 0.75
    save(model, tmp_path / "model.gramian")
    loaded = load(tmp_path / "model.gramian")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.labels_at(6, X), finer)


def test_in_a_gradient_nothing_crosses(rng):
    slope = rng.normal(size=(260, 1))
    numbers = slope + 0.5 * rng.normal(size=(260, 4))
    codes = [np.searchsorted([-0.5, 0.5], slope[:, 0] + 0.3 * rng.normal(size=260)) for _ in range(2)]
    X, columns = np.column_stack([numbers, np.eye(3)[codes[0]], np.eye(3)[codes[1]]]), [*range(4), *[4] * 3, *[5] * 3]
    found = choose_mixed(X, columns, {4, 5}, rng, n_clusters=None, max_clusters=8)
    assert not found.crossing
    assert found.found.verdict == "none"


def test_a_category_beside_classes_needs_classes(rng, monkeypatch):
    """Where classes gain no more than in tables without groups, the category stays among their columns."""
    labels, side = rng.integers(3, size=200), rng.integers(2, size=200)
    numbers = rng.normal(size=(200, 3)) + 5 * np.array([[0, 0, 0], [1, 0, 1], [0, 1, -1]])[labels] + 3 * side[:, None]
    place = np.where(rng.random(200) < 0.85, labels, rng.integers(3, size=200))
    X, columns = np.column_stack([numbers, np.eye(3)[place], np.eye(2)[side]]), [0, 1, 2, *["place"] * 3, *["side"] * 2]
    for has_classes, crossing in ((True, ["side"]), (False, [])):
        monkeypatch.setattr("gramian.clustering.automatic.mixed._has_classes", lambda *asked, it=has_classes: it)
        seed = np.random.default_rng(0)
        found = choose_mixed(X, columns, {"place", "side"}, seed, n_clusters=None, max_clusters=8)
        assert list(found.crossing) == crossing


def test_levels_are_placed_as_comparing_each_would(rng):
    levels = np.unique(rng.integers(0, 3, (12, 4)).astype(float), axis=0)
    rows = rng.integers(0, 4, (300, 4)).astype(float)
    rows[rng.random(300) < 0.1, 2] = np.nan
    found = FeatureLevels(["c"], np.empty(0, int), [np.arange(4)], [levels]).columns(rows)[1][:, 0]
    equal = (rows[:, None] == levels).all(axis=2)
    np.testing.assert_array_equal(found, np.where(equal.any(axis=1), equal.argmax(axis=1), -1))
    assert (found >= 0).any()
    none = FeatureLevels(["c"], np.empty(0, int), [np.arange(4)], [levels[:0]]).columns(rows)[1]
    assert (none == -1).all()


def test_the_kernel_is_the_cluster_kernel_of_numbers_and_codes(rng):
    X, columns, _ = planted(rng, 80)
    inner = ClusterKernel(3, 5, random_state=0)
    kernel = _CategoryKernel(inner, columns, ["first", "second", "idle"]).fit(X)
    numbers, codes = FeatureLevels.of(X, columns, {"first", "second", "idle"}).columns(X)
    table = np.hstack([numbers, np.where(codes < 0, np.nan, codes)])
    expected = ClusterKernel(3, 5, random_state=0, categorical_features=[2, 3, 4]).fit(table)
    np.testing.assert_allclose(kernel(X[:9], X), expected(table[:9], table))
    np.testing.assert_allclose(kernel.gram(X).degrees(), expected.gram(table).degrees())
    np.testing.assert_allclose(kernel.diagonal(X), expected.diagonal(table))
    assert kernel.frequencies(2, 4, rng) is None


def test_latent_classes_have_a_kernel_that_knows_categories(rng):
    X, columns, labels = planted(rng)
    model = AutoClustering(random_state=0).fit(
        X, feature_columns=columns, categorical_columns=["first", "second", "idle"]
    )
    kept = X[:, model.used_]
    K = model.kernel_(kept)
    same = labels[:, None] == labels
    assert K[same].mean() > 3 * K[~same].mean()
    for k in model.row_levels_:
        assert adjusted_rand(model.labels_at(k, X), model.row_levels_[k]) == 1
