"""The choice of a view: what it finds, what it refuses, and that its model and kernel work on."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons

from gramian import AutoClustering, SpectralClustering, load, save
from gramian.clustering.automatic.mixed import MixedChoice
from gramian.clustering.automatic.views import WAYS
from gramian.datasets import make_rings
from gramian.metrics import adjusted_rand


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(120, centers=[[0, 0, 0], [8, 0, 4], [0, 9, 0]], random_state=0)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.0
    X[:, 1] *= 1000  # units must not matter
    return X, y


@pytest.fixture(scope="module")
def choice(blobs):
    return AutoClustering(max_clusters=6, random_state=0).fit(blobs[0])


def test_blobs_are_found_and_counted(blobs, choice):
    assert choice.n_clusters_ == 3
    assert choice.verdict_ == "clear"
    assert adjusted_rand(blobs[1], choice.labels_) > 0.8
    assert choice.stability_ > 0.8
    assert choice.cluster_stability_.shape == (3,)
    assert ((choice.cluster_stability_ > 0.5) & (choice.cluster_stability_ <= 1)).all()


def test_every_way_is_listed_best_first(choice):
    assert {way["name"] for way in choice.candidates_} == set(WAYS)
    assert [way["chosen"] for way in choice.candidates_] == [True] + [False] * 8
    scores = [way["score"] for way in choice.candidates_]
    assert scores == sorted(scores, reverse=True)
    assert 0.8 < choice.agreement_ <= 1


def test_the_evidence_holds_the_chosen_number(choice):
    counts = dict(choice.evidence_)
    assert counts[3] > 0.9 > counts[4]
    assert {2, 3, 4} <= set(counts)


def test_new_rows_join_the_clusters(blobs, choice, rng):
    X, _ = blobs
    rows = X + rng.normal(scale=1e-3, size=X.shape) * np.nanstd(X, axis=0)
    assert np.mean(choice.predict(rows) == choice.labels_) > 0.9


def test_the_same_seed_gives_the_same_choice(blobs, choice):
    again = AutoClustering(max_clusters=6, random_state=0).fit(blobs[0])
    np.testing.assert_array_equal(again.labels_, choice.labels_)
    assert again.candidates_ == choice.candidates_
    assert again.evidence_ == choice.evidence_


@pytest.mark.parametrize("shape", ["blobs", "rings"])
def test_order_and_copies_of_rows_do_not_change_the_clusters(shape, rng):
    if shape == "blobs":
        X, y = make_blobs(150, centers=5, n_features=3, cluster_std=0.5, random_state=2)
    else:
        X, y = make_rings(random_state=0)
    order = rng.permutation(len(X))
    for rows in (np.arange(len(X)), order, np.repeat(order, 3)):
        found = AutoClustering(random_state=0).fit(X[rows])
        assert found.n_clusters_ == len(np.unique(y))
        assert adjusted_rand(y[rows], found.labels_) == 1


@pytest.mark.parametrize("way", ["genie", "gaussian_mixture"])
def test_clusters_are_numbered_by_all_of_their_rows(way, monkeypatch):
    """Copies, which are not clustered, make the smallest cluster the largest; everything follows."""
    monkeypatch.setattr("gramian.clustering.automatic.estimator.fitting_ways", lambda rows: [way])
    X, _ = make_blobs([30, 40, 50], centers=[[0, 0], [4, 0], [0, 9]], shuffle=False, random_state=0)
    once = AutoClustering(3, random_state=0).fit(X)
    assert np.bincount(once.labels_).tolist() == sorted(np.bincount(once.labels_), reverse=True)
    rows = np.concatenate([np.arange(120), np.repeat(np.arange(30), 2)])
    model = AutoClustering(3, random_state=0).fit(X[rows])
    sizes = np.bincount(model.labels_).tolist()
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 80
    place = np.array([2, 0, 1])  # of the clusters of the rows without their copies
    np.testing.assert_array_equal(place[model.labels_[:120]], once.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_[:120])
    np.testing.assert_allclose(model.predict_proba(X), once.predict_proba(X)[:, place], atol=1e-9)
    np.testing.assert_allclose(model.cluster_stability_, once.cluster_stability_[place])
    for k, stability in model.level_stability_.items():
        assert len(stability) == k


def test_a_given_number_of_clusters_is_kept(blobs):
    choice = AutoClustering(4, random_state=0).fit(blobs[0])
    assert choice.n_clusters_ == 4
    assert [k for k, _ in choice.evidence_] == [4]
    assert all(way["n_clusters"] == 4 for way in choice.candidates_)


def test_only_levels_whose_clusters_are_found_again_are_kept(choice):
    """The other numbers that were tried stand in the evidence only."""
    tried = {k: least for k, least in choice.evidence_ if k != choice.n_clusters_}
    assert min(tried.values()) < 0.6
    assert set(choice.row_levels_) == {k for k, least in tried.items() if least >= 0.6}
    for k, least in tried.items():
        if k in choice.row_levels_:
            assert choice.level_stability_[k].min() == pytest.approx(least)
            sizes = np.bincount(choice.row_levels_[k], minlength=k)
            assert (np.diff(sizes) <= 0).all()


def test_winding_clusters_get_a_graph():
    X, y = make_moons(200, noise=0.05, random_state=0)
    choice = AutoClustering(2, random_state=0).fit(X)
    assert adjusted_rand(y, choice.labels_) > 0.9


@pytest.mark.parametrize("data", [load_iris, load_wine])
def test_iris_and_wine_have_clusters(data):
    table = data()
    choice = AutoClustering(3, random_state=0).fit(table.data)
    assert choice.verdict_ != "none"
    assert adjusted_rand(table.target, choice.labels_) > 0.6


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_noise_is_called_noise(holes, rng):
    X = rng.standard_normal((100, 4))
    X[rng.random(X.shape) < holes] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.0
    assert AutoClustering(max_clusters=5, random_state=0).fit(X).verdict_ == "none"


@pytest.mark.parametrize(("groupless", "verdict"), [(False, "clear"), (True, "none")])
def test_what_classes_say_of_groups_holds_for_the_views_too(groupless, verdict, monkeypatch):
    """References of the views shuffle categories as if nothing depended on them; those of classes do not."""
    X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    X = np.column_stack([X, np.arange(90) % 2])
    said = MixedChoice(["c"], False, groupless, np.arange(90), None, None)
    monkeypatch.setattr("gramian.clustering.automatic.estimator.choose_mixed", lambda *columns, **asked: said)
    model = AutoClustering(random_state=0).fit(X, feature_columns=["a", "b", "c"], categorical_columns=["c"])
    assert (model.verdict_, model.n_clusters_, model.left_out_) == (verdict, 3, ["c"])


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_a_handful_of_rows_is_one_group(n, rng):
    choice = AutoClustering(random_state=0).fit(rng.normal(size=(n, 2)))
    assert choice.n_clusters_ == 1
    assert choice.verdict_ == "none"
    np.testing.assert_array_equal(choice.labels_, 0)
    np.testing.assert_array_equal(choice.cluster_stability_, 1.0)


def test_a_handful_of_rows_can_be_split_on_request():
    choice = AutoClustering(2, random_state=0).fit([[0.0], [0.1], [5.0], [5.1]])
    assert choice.labels_[0] == choice.labels_[1] != choice.labels_[2] == choice.labels_[3]


def test_copies_constant_and_empty_columns_are_harmless(blobs):
    X, y = blobs
    more = np.column_stack([X, np.full(len(X), 7.0), np.full(len(X), np.nan)])
    more = np.vstack([more, np.repeat(more[:1], 60, axis=0)])  # a row that occurs more often than it has neighbours
    choice = AutoClustering(3, random_state=0).fit(more)
    assert adjusted_rand(np.concatenate([y, np.repeat(y[:1], 60)]), choice.labels_) > 0.8


def test_a_row_without_values_gets_a_label_and_a_warning(blobs):
    X, y = blobs
    X = np.vstack([X, np.full(3, np.nan)])
    with pytest.warns(UserWarning, match="no observed value"):
        choice = AutoClustering(3, random_state=0).fit(X)
    assert len(choice.labels_) == len(X)
    assert adjusted_rand(y, choice.labels_[:-1]) > 0.8


def test_rows_without_values_do_not_hide_groups(rng):
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(10, 1, (20, 2)), np.full((4, 2), np.nan)])
    with pytest.warns(UserWarning, match="no observed value"):
        choice = AutoClustering(random_state=0).fit(X)
    assert choice.verdict_ == "clear"
    assert adjusted_rand(np.repeat([0, 1], 20), choice.labels_[:40]) == 1


@pytest.mark.parametrize("kinds", [[[0.0, 1.0], [2.0, 0.0]], [[0.0], [1.0], [3.0]]])
def test_rows_of_few_kinds_are_grouped_by_kind(kinds):
    truth = np.repeat(np.arange(len(kinds)), np.arange(len(kinds)) * 10 + 5)
    choice = AutoClustering(random_state=0).fit(np.array(kinds)[truth])
    assert choice.verdict_ == "clear"
    assert adjusted_rand(truth, choice.labels_) == 1
    assert choice.stability_ == pytest.approx(1)


def test_all_combinations_of_two_answers_are_no_groups(rng):
    choice = AutoClustering(random_state=0).fit(rng.integers(2, size=(100, 2)).astype(float))
    assert choice.verdict_ == "none"
    category = np.eye(3)[rng.integers(3, size=200)]
    X = np.column_stack([category, rng.integers(2, size=200)])
    assert AutoClustering(random_state=0).fit(X, feature_columns=["c", "c", "c", "d"]).verdict_ == "none"


def test_a_kind_of_one_or_two_rows_is_no_group():
    X = np.repeat([[0.0, 1.0], [2.0, 0.0], [2.1, 0.1]], [20, 10, 2], axis=0)
    choice = AutoClustering(random_state=0).fit(X)
    assert choice.labels_.tolist() == np.repeat([choice.labels_[0], choice.labels_[-1]], [20, 12]).tolist()
    assert choice.n_clusters_ == 2


def test_many_rows_are_judged_and_fitted_by_a_part(monkeypatch, blobs):
    monkeypatch.setattr("gramian.clustering.automatic.choice._JUDGED_ROWS", 60)
    choice = AutoClustering(3, random_state=0).fit(blobs[0])
    assert adjusted_rand(blobs[1], choice.labels_) > 0.7


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.eye(3), {"n_clusters": 4}, "n_clusters=4 is more than the n_samples=3; pass n_clusters <= 3"),
        (np.ones((5, 1)) * [[1], [1], [2], [2], [2]], {"n_clusters": 3}, "more than the 2 different rows"),
        (np.eye(9), {"n_clusters": 0}, "n_clusters=0 must be a whole number >= 1 or None"),
        (np.eye(9), {"max_clusters": 1}, "max_clusters=1 must be a whole number >= 2"),
        (np.ones((9, 2)), {}, "no column with two different observed values"),
        (np.ones((1, 2)), {}, "minimum of 2 is required"),
    ],
)
def test_bad_input_is_named(X, options, message):
    with pytest.raises(ValueError, match=message):
        AutoClustering(random_state=0, **options).fit(X)


def test_a_chosen_model_can_be_saved(blobs, choice, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(choice, tmp_path / "model.gramian")
    again = load(tmp_path / "model.gramian")
    np.testing.assert_array_equal(again.predict(blobs[0]), choice.predict(blobs[0]))


def test_probabilities_are_votes_or_posteriors(blobs, choice, monkeypatch):
    X, _ = blobs
    shares = choice.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), choice.predict(X))
    np.testing.assert_array_equal(choice.predict(X), choice.labels_)
    monkeypatch.setattr("gramian.clustering.automatic.estimator.fitting_ways", lambda rows: ["gaussian_mixture"])
    normal = AutoClustering(3, random_state=0).fit(X)
    np.testing.assert_array_equal(normal.predict(X), normal.labels_)
    Z = normal.completion_.transform(X)
    expected = normal.mixture_.predict_proba(Z)
    np.testing.assert_allclose(np.sort(normal.predict_proba(X), axis=1), np.sort(expected, axis=1), atol=1e-9)


def test_a_row_of_a_component_without_clustered_rows_joins_the_nearest(monkeypatch):
    """Its posterior in all clusters is zero to the last digit: the nearest rows vote."""
    monkeypatch.setattr("gramian.clustering.automatic.estimator.fitting_ways", lambda rows: ["gaussian_mixture"])
    X, _ = make_blobs([50, 40, 30], centers=[[0, 0], [50, 0], [0, 500]], shuffle=False, random_state=0)
    model = AutoClustering(3, random_state=0).fit(X)
    model.n_clusters_, model.components_ = 2, model.components_[:2]
    near = model.row_labels_ < 2
    model.rows_, model.row_labels_ = model.rows_[near], model.row_labels_[near]
    np.testing.assert_array_equal(model.predict_proba([[40.0, 500.0], [0.0, 0.0]]).round(6), [[0, 1], [1, 0]])


@pytest.mark.filterwarnings("ignore:.*label -1:UserWarning")  # the tree that connects a graph is no similarity
@pytest.mark.parametrize("name", WAYS)
def test_the_kernel_is_the_similarity_of_the_chosen_way(name, blobs, monkeypatch):
    X, y = blobs
    monkeypatch.setattr("gramian.clustering.automatic.estimator.fitting_ways", lambda rows: [name])
    model = AutoClustering(3, random_state=0).fit(X)
    kernels = {"sharpened_kernel": "NeighborGraph", "nearest": "CompletedGraph", "mutual": "CompletedGraph"}
    kernels |= {"continuous": "CompletedGraph", "self_tuning": "CompletedGraph"}
    assert type(model.kernel_).__name__ == kernels.get(name, "ClusterKernel")
    assert adjusted_rand(y, SpectralClustering(3, kernel=model.kernel_, random_state=0).fit(X).labels_) > 0.8
