"""KernelSpectralClustering: a model that labels new rows, in every form and with bad input."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import SpectralClustering as PeerSpectralClustering

import gramian
from gramian import KernelSpectralClustering, Nystroem
from gramian.clustering.ksc import Eigenproblem
from gramian.kernels import RBF, TL1, ClusterKernel, Laplacian, NeighborGraph
from gramian.metrics import adjusted_rand, average_membership_strength, balanced_line_fit


@pytest.fixture
def rng():
    return np.random.default_rng(2)


@pytest.fixture
def blobs(rng):
    y = np.repeat(range(4), (30, 50, 40, 30))
    X = np.array([(0.0, 0.0), (5.0, 0.0), (0.0, 5.0), (6.0, 6.0)])[y] + 0.7 * rng.normal(size=(len(y), 2))
    return X, y


def test_attributes_are_those_of_the_eigenproblem(blobs):
    """α, b, λ and d as the definition has them, and e = λ d α."""
    X, _ = blobs
    model = KernelSpectralClustering(4, kernel=RBF(1.5)).fit(X)
    K = RBF(1.5)(X)
    exact = Eigenproblem.of(RBF(1.5).gram(X), 3)
    np.testing.assert_allclose(model.eigenvalues_, exact.values)
    np.testing.assert_allclose(model.degrees_, K.sum(axis=1))
    np.testing.assert_allclose(model.embedding_, K @ model.dual_coef_ + model.intercept_, atol=1e-12)
    expected = model.eigenvalues_ * model.degrees_[:, None] * model.dual_coef_
    np.testing.assert_allclose(model.embedding_, expected, atol=1e-10)
    assert model.dual_coef_.shape == model.decision_function(X).shape == (150, 3)
    assert model.prototypes_.shape == model.code_book_.shape == (4, 3)
    assert (np.diff(model.eigenvalues_) <= 0).all()
    for cluster in range(4):
        mean = model.embedding_[model.labels_ == cluster].mean(axis=0)
        np.testing.assert_allclose(model.prototypes_[cluster], mean, atol=1e-10)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": RBF(1.5)},
        {"kernel": "rbf"},
        {"kernel": TL1(6.0)},
        {"kernel": NeighborGraph(8)},
        {"kernel": ClusterKernel(5, 5)},
        {"kernel": Nystroem(40, kernel=RBF(1.5))},
        {"kernel": RBF(1.5), "decoding": "hamming"},
        {"kernel": RBF(1.5), "reduction": "cholesky", "n_prototypes": 30},
        {"kernel": TL1(6.0), "reduction": "cholesky", "n_prototypes": 60},
        {"kernel": RBF(1.5), "reduction": "reduced_set"},
        {"kernel": RBF(1.5), "reduction": "group_lasso"},
    ],
    ids=lambda options: "-".join(str(value) for value in options.values()),
)
def test_predict_gives_the_fitted_rows_their_labels(options, blobs):
    X, y = blobs
    model = KernelSpectralClustering(4, random_state=0, **options).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert adjusted_rand(y, model.labels_) > 0.9
    memberships = model.predict_proba(X)
    np.testing.assert_allclose(memberships.sum(axis=1), 1)
    assert (memberships.argmax(axis=1) == model.labels_).mean() > 0.99
    np.testing.assert_array_equal(model.predict(X[:7]), model.labels_[:7])


def test_block_similarities_are_the_clusters():
    """Of similarities in blocks, the clusters are the blocks, as scikit-learn finds them."""
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(range(3), (12, 20, 9)))
    F = rng.uniform(0.5, 1.5, (41, 2))
    K = (F @ F.T) * (labels[:, None] == labels)
    for decoding in ("hamming", "cosine"):
        model = KernelSpectralClustering(3, kernel="precomputed", decoding=decoding).fit(K)
        assert adjusted_rand(labels, model.labels_) == 1
        np.testing.assert_allclose(model.intercept_, 0, atol=1e-10)
    peer = PeerSpectralClustering(3, affinity="precomputed", random_state=0).fit(K + 1e-9)  # else it warns
    assert adjusted_rand(peer.labels_, model.labels_) == 1


@pytest.mark.parametrize("kernel", [RBF(1.5), TL1(6.0)], ids=["rbf", "tl1"])
@pytest.mark.parametrize("reduction", ["cholesky", "reduced_set"])
def test_reduced_to_all_rows_is_the_full_model(kernel, reduction, blobs):
    X, _ = blobs
    full = KernelSpectralClustering(4, kernel=kernel).fit(X)
    model = KernelSpectralClustering(4, kernel=kernel, reduction=reduction, n_prototypes=150, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, full.labels_)
    np.testing.assert_allclose(np.abs(model.decision_function(X)), np.abs(full.decision_function(X)), atol=1e-5)


def test_reduced_models_stand_on_few_rows(blobs):
    X, _ = blobs
    for reduction in ("cholesky", "reduced_set", "group_lasso"):
        model = KernelSpectralClustering(4, kernel=RBF(1.5), reduction=reduction, n_prototypes=20, random_state=0)
        model.fit(X)
        assert 16 <= len(model.reduced_set_indices_) <= 24
        K = RBF(1.5)(X[:9], X[model.reduced_set_indices_])
        expected = K @ model.reduced_coef_ + model.intercept_
        np.testing.assert_allclose(model.decision_function(X[:9]), expected, atol=1e-8)


def test_a_name_sweeps_widths_and_an_object_is_kept(blobs):
    X, y = blobs
    swept = KernelSpectralClustering(4, random_state=0).fit(X)
    assert len(set(swept.selection_["width"])) == 10
    assert set(swept.selection_["n_clusters"]) == {4}
    kept = KernelSpectralClustering(4, kernel=RBF(1.5)).fit(X)
    assert (kept.selection_, kept.chosen_by_, kept.kernel_.width_) == (None, "given", 1.5)
    among = KernelSpectralClustering(kernel=[RBF(1.5), Laplacian(3.0)], random_state=0).fit(X)
    assert set(among.selection_["kernel"]) == {0, 1}
    assert (among.n_clusters_, adjusted_rand(y, among.labels_) > 0.95) == (4, True)


@pytest.mark.filterwarnings("ignore:n_clusters_")
@pytest.mark.filterwarnings("ignore:.* similar to no other")
@pytest.mark.parametrize("criterion", ["gap", "blf", "bas"])
def test_criteria_choose(criterion, blobs):
    """Each criterion takes the best row of its own column, among clusters that are not too small."""
    X, _ = blobs
    model = KernelSpectralClustering(criterion=criterion, max_clusters=6, random_state=0).fit(X)
    table = model.selection_
    allowed = (table["smallest"] >= 0.01) & (table["outside"] <= 0.05)
    best = np.nanmax(np.where(allowed, table[criterion], np.nan))
    chosen = allowed & (table["n_clusters"] == model.n_clusters_) & (table[criterion] >= best - 1e-9)
    assert chosen.any()


def test_score_is_the_criterion(blobs, rng):
    X, _ = blobs
    new = X + 0.1 * rng.normal(size=X.shape)
    model = KernelSpectralClustering(4, kernel=RBF(1.5)).fit(X)
    E, labels = model.decision_function(new), model.predict(new)
    expected = average_membership_strength(E, labels, prototypes=model.prototypes_)
    assert model.score(new) == pytest.approx(expected)
    two = KernelSpectralClustering(2, kernel=RBF(1.5), criterion="blf", balance=0.5).fit(X)
    degrees = RBF(1.5)(new, X).sum(axis=1)
    expected = balanced_line_fit(two.decision_function(new), two.predict(new), balance=0.5, degrees=degrees)
    assert two.score(new) == pytest.approx(expected)


def test_overlapping_clusters_have_weaker_memberships(rng):
    means = []
    for apart in (3.0, 8.0):
        X = np.repeat([[0.0], [apart]], 100, axis=0) + rng.normal(size=(200, 1))
        model = KernelSpectralClustering(2, kernel=RBF(2.0)).fit(X)
        means.append(model.predict_proba(X).max(axis=1).mean())
    assert means[0] < means[1]


# Isolated rows, holes, indefinite kernels ------------------------------------------------------------------


def test_rows_like_nothing_have_no_cluster(blobs):
    X = np.vstack([blobs[0], [[500.0, 0.0], [900.0, 0.0]]])
    with pytest.warns(UserWarning, match="2 rows are similar to no other") as told:
        model = KernelSpectralClustering(4, kernel=RBF(1.5)).fit(X)
    assert len(told) == 1
    assert model.labels_[-2:].tolist() == [-1, -1]
    assert model.labels_[:-2].min() == 0
    with pytest.warns(UserWarning, match="3 rows are similar to no fitted row"):
        labels = model.predict(np.vstack([X, [[-700.0, 0.0]]]))
    np.testing.assert_array_equal(labels, [*model.labels_, -1])
    np.testing.assert_allclose(model.predict_proba([[-700.0, 0.0]]), 0.25)
    with pytest.raises(ValueError, match="no row of X is similar"):
        model.score([[-700.0, 0.0]])


@pytest.mark.filterwarnings("ignore:.* similar to no")
@pytest.mark.parametrize("reduction", [None, "cholesky", "reduced_set", "group_lasso"])
def test_outliers_take_no_cluster(reduction, blobs):
    """Pivots are first of all outliers, and still the clusters are those without them; rows beyond all have none."""
    X, y = blobs
    k = len(np.unique(y))
    outliers = np.array([[80.0] * X.shape[1], [-80.0] * X.shape[1], [-80.1] * X.shape[1]])
    Z = np.vstack([X, outliers])
    model = KernelSpectralClustering(k, kernel=RBF(1.0), reduction=reduction, n_prototypes=60, random_state=0).fit(Z)
    assert adjusted_rand(y, model.labels_[:-3]) > 0.95
    assert (model.labels_[-3:] == -1).all()
    np.testing.assert_array_equal(model.predict(Z), model.labels_)
    away = X.max(axis=0) + np.array([[12.0], [20.0], [300.0]]) * np.ones(X.shape[1])
    np.testing.assert_array_equal(model.predict(away), [-1, -1, -1])
    np.testing.assert_allclose(model.predict_proba(away), 1 / k)


def test_holes(blobs, rng):
    X, y = blobs
    X = np.hstack([X, X + 0.3 * rng.normal(size=X.shape)])
    X[rng.random(X.shape) < 0.1] = np.nan
    model = KernelSpectralClustering(4, kernel=ClusterKernel(10, 8), random_state=0).fit(X)
    assert adjusted_rand(y, model.labels_) > 0.8
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_indefinite_kernels(blobs):
    """Largest algebraic eigenvalues, counted signs, and one warning about negative degrees."""
    X, y = blobs
    model = KernelSpectralClustering(4, kernel=TL1(6.0)).fit(X)
    values = np.linalg.eigvalsh(TL1(6.0)(X))
    assert model.signature_[1] == (values < -1e-8).sum() > 0
    assert adjusted_rand(y, model.labels_) > 0.95
    K = np.tanh(0.1 * (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T - 0.2)
    with pytest.warns(UserWarning, match="negative sum of similarities") as told:
        KernelSpectralClustering(2, kernel="precomputed").fit(K)
    assert len(told) == 1
    with pytest.warns(UserWarning, match="degrees='shift'"):
        KernelSpectralClustering(2, kernel="precomputed", degrees="shift").fit(K)
    with pytest.raises(ValueError, match="degrees='strict'"):
        KernelSpectralClustering(2, kernel="precomputed", degrees="strict").fit(K)


def test_selection_on_precomputed_similarities(blobs):
    X, y = blobs
    model = KernelSpectralClustering(kernel="precomputed", random_state=0).fit(RBF(1.5)(X))
    assert model.n_clusters_ == 4
    assert adjusted_rand(y, model.predict(RBF(1.5)(X))) > 0.95


def test_copies_have_one_label_in_a_graph(blobs):
    X = np.vstack([blobs[0], blobs[0][:20]])
    model = KernelSpectralClustering(4, kernel=NeighborGraph(8)).fit(X)
    np.testing.assert_array_equal(model.labels_[-20:], model.labels_[:20])
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_single_precision_and_repetition(blobs):
    X = blobs[0].astype(np.float32)
    models = [KernelSpectralClustering(4, random_state=3).fit(X) for _ in range(2)]
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    for values in (models[0].embedding_, models[0].dual_coef_, models[0].decision_function(X), models[0].degrees_):
        assert values.dtype == np.float32


def test_saves_and_loads(blobs, tmp_path):
    X, _ = blobs
    model = KernelSpectralClustering(random_state=0, reduction="cholesky", n_prototypes=40).fit(X)
    gramian.save(model, tmp_path / "model.gramian")
    loaded = gramian.load(tmp_path / "model.gramian")
    np.testing.assert_array_equal(loaded.predict(X), model.labels_)
    np.testing.assert_array_equal(loaded.selection_["gap"], model.selection_["gap"])


def test_streams_features_above_the_limit(blobs, monkeypatch):
    """Features of which all, or those of the later rows, are computed again give the model of features held."""
    X, _ = blobs
    model = KernelSpectralClustering(4, kernel=RBF(1.5), reduction="cholesky", n_prototypes=40, random_state=0)
    held = clone(model).fit(X)
    for limit, chunk in ((30_000, 64 * 2**20), (30_000, 10_000)):
        monkeypatch.setattr("gramian.clustering.ksc.estimator._HELD_BYTES", limit)
        monkeypatch.setattr("gramian.grams.features._CHUNK_BYTES", chunk)
        streamed = clone(model).fit(X)
        np.testing.assert_allclose(streamed.decision_function(X), held.decision_function(X), atol=1e-9)


# Bad input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 200}, "n_clusters=200 is more than"),
        ({"n_clusters": 0}, "n_clusters=0"),
        ({"n_clusters": 2.5}, "n_clusters=2.5"),
        ({"kernel": "gauss"}, "kernel='gauss'"),
        ({"kernel": []}, "kernel="),
        ({"kernel": ["rbf", "precomputed"]}, "precomputed"),
        ({"criterion": "silhouette"}, "criterion='silhouette'"),
        ({"n_clusters": 2, "criterion": "baf"}, "criterion='baf'"),
        ({"decoding": "nearest"}, "decoding='nearest'"),
        ({"balance": 2}, "balance=2"),
        ({"max_clusters": 1}, "max_clusters=1"),
        ({"reduction": "nystroem"}, "reduction='nystroem'"),
        ({"n_prototypes": 0}, "n_prototypes=0"),
        ({"degrees": "positive"}, "degrees='positive'"),
        ({"validation": 1.0}, "validation=1.0"),
        ({"n_clusters": 3, "kernel": RBF(1e-4)}, "widen the kernel"),
    ],
)
def test_bad_parameters(options, message, blobs):
    with pytest.raises(ValueError, match=message):
        KernelSpectralClustering(**options).fit(blobs[0])


def test_bad_rows(blobs):
    X, _ = blobs
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        KernelSpectralClustering(2).fit(X[:1])
    with pytest.raises(ValueError, match="equal"):
        KernelSpectralClustering(2).fit(np.ones((20, 2)))
    with pytest.raises(ValueError, match="alike"):
        KernelSpectralClustering(2, kernel=RBF(1.0)).fit(np.ones((20, 2)))
    with pytest.raises(ValueError, match="NaN"):
        KernelSpectralClustering(2).fit(np.where(X > 4, np.nan, X))
    K = RBF(1.5)(X)
    K[0, 1] += 0.5
    with pytest.raises(ValueError, match="symmetric"):
        KernelSpectralClustering(2, kernel="precomputed").fit(K)


def test_fewer_clusters_than_asked_for():
    X = np.repeat([[0.0], [1.0], [2.0]], 10, axis=0)
    with pytest.warns(UserWarning, match="only 3 of 5 clusters"):
        model = KernelSpectralClustering(5, kernel=RBF(0.5)).fit(X)
    assert model.n_clusters_ == 3
    np.testing.assert_array_equal(model.predict(X), np.repeat(range(3), 10))


def test_one_cluster_and_few_rows(blobs):
    X, _ = blobs
    one = KernelSpectralClustering(1).fit(X)
    assert not one.labels_.any()
    np.testing.assert_allclose(one.predict_proba(X), 1)
    with pytest.raises(ValueError, match="n_clusters=1"):
        one.score(X)
    assert len(clone(KernelSpectralClustering(3, kernel=RBF(2.0))).fit(X[::30]).labels_) == 5


@pytest.mark.parametrize("reduction", ["cholesky", "reduced_set", "group_lasso"])
def test_fewer_prototypes_than_clusters_are_refused(reduction):
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(ValueError, match=r"n_prototypes=2 rows cannot tell n_clusters=5 clusters apart; pass n_protot"):
        KernelSpectralClustering(5, reduction=reduction, n_prototypes=2).fit(X)


def test_two_rows_are_too_few_to_choose_from():
    with pytest.raises(ValueError, match="needs at least three rows but n_samples=2; pass more rows"):
        KernelSpectralClustering().fit([[0.0], [1.0]])
