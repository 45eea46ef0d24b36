"""KernelNetClustering: labels, learned kernel, subsets, bad input."""

from copy import copy

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score

import gramian
from gramian import SpectralClustering
from gramian.datasets import make_parabolas, make_spirals
from gramian.deep import KernelNetClustering
from gramian.deep.kernel_net_objective import walk
from gramian.deep.scaling import standard_scaling
from gramian.kernels import RBF

QUICK = {"pretrain_iter": 100, "steps_per_iter": 50, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return make_parabolas(200, random_state=0)


@pytest.fixture(scope="module")
def model(moons):
    return KernelNetClustering(2, width="median10", init="identity", **QUICK).fit(moons[0])


def test_identity_network_without_rounds_is_the_spectral_embedding(moons):
    X, _ = moons
    model = KernelNetClustering(2, width="median10", init="identity", max_iter=0, n_refine=0).fit(X)
    Z = standard_scaling(X).apply(X)
    np.testing.assert_allclose(model.embedding_, Z, atol=1e-6)
    _, U = walk(Z, model.width_).leading(1)
    assert abs(model.spectral_embedding_[:, 0] @ U[:, 0]) > 1 - 1e-8
    centers = np.array([Z[model.labels_ == label].mean(axis=0) for label in (0, 1)])
    nearest = ((Z[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)  # a fixed point of k-means on X
    assert (nearest != model.labels_).mean() < 0.02


def test_new_rows_get_the_labels_of_the_fit(moons, model):
    X, _ = moons
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12)
    assert set(model.cluster_all(X)) == {0, 1}
    assert (model.cluster_all(X) == model.labels_).mean() > 0.9
    np.testing.assert_allclose(model.spectral_embedding_.T @ model.spectral_embedding_, [[1]], atol=1e-8)


def test_clusters_found_afresh_take_the_number_of_the_nearest_centre(moons, model):
    """With the centres of the fit in the other order all numbers change."""
    X, _ = moons
    turned = copy(model)
    turned.cluster_centers_ = model.cluster_centers_[::-1]
    np.testing.assert_array_equal(turned.cluster_all(X), 1 - model.cluster_all(X))


def test_spirals_are_learned_and_new_points_placed():
    X, y = make_spirals(3000, random_state=0)
    model = KernelNetClustering(3, width="median10", random_state=0, pretrain_iter=800, steps_per_iter=800).fit(X[::10])
    assert normalized_mutual_info_score(y, model.predict(X)) > 0.9


def test_learned_kernel_goes_into_other_estimators_and_files(moons, model, tmp_path):
    X, _ = moons
    kernel = model.kernel_
    Z = model.transform(X)
    np.testing.assert_allclose(kernel(X[:5], X), RBF(model.width_)(Z[:5], Z), atol=1e-10)
    found = SpectralClustering(2, kernel=kernel, random_state=0).fit(X)
    assert found.predict(X[:3]).shape == (3,)
    gramian.save(kernel, tmp_path / "kernel.gramian")
    np.testing.assert_array_equal(gramian.load(tmp_path / "kernel.gramian")(X[:4]), kernel(X[:4]))
    gramian.save(found, tmp_path / "model.gramian")
    np.testing.assert_array_equal(gramian.load(tmp_path / "model.gramian").predict(X), found.predict(X))


def test_normalized_kernel_divides_by_the_degrees(moons, model):
    X, _ = moons
    K = model.kernel(X)
    degrees = K.sum(axis=1)
    np.testing.assert_allclose(model.kernel(X, normalized=True), K / np.sqrt(np.outer(degrees, degrees)), rtol=1e-6)
    np.testing.assert_allclose(model.kernel(X[:3], X, normalized=True), model.kernel(X, normalized=True)[:3], rtol=1e-6)


@pytest.mark.parametrize("size", [50, 0.25, "spectrum"])
def test_a_subset_is_trained_on_and_all_rows_are_labelled(moons, size):
    X, _ = moons
    model = KernelNetClustering(2, width="median10", init="identity", train_size=size, **QUICK).fit(X)
    assert len(model.labels_) == 200
    assert len(model.spectral_labels_) == len(model.trained_rows_) <= 200
    if size != "spectrum":
        assert len(model.trained_rows_) == 50


@pytest.mark.parametrize(
    "setting", [{"update": "sma", "max_iter": 1}, {"update": "none", "max_iter": 1}, {"labels_from": "spectral"}]
)
def test_variants_run_and_repeat(moons, setting):
    X, _ = moons
    fits = [KernelNetClustering(2, width="median10", init="identity", **QUICK, **setting).fit(X) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)
    assert fits[0].n_iter_ == setting.get("max_iter", 0) + 2


def test_order_of_rows_does_not_matter_in_full_batches(moons):
    X, _ = moons
    order = np.random.default_rng(0).permutation(200)
    fits = [
        KernelNetClustering(
            2, width="median10", init="identity", batch_size=200, jitter=0, max_iter=1, n_refine=0, **QUICK
        ).fit(part)
        for part in (X, X[order])
    ]
    assert normalized_mutual_info_score(fits[0].labels_[order], fits[1].labels_) > 0.95


def test_without_a_number_of_alternations_the_objective_chooses_the_first_round():
    """Its first round is no worse than that of one alternation, from the same start and with as many steps."""
    X = np.random.default_rng(0).normal(size=(40, 4)) + 3 * (np.arange(40) % 2)[:, None]
    fits = {rounds: KernelNetClustering(2, max_iter=rounds, **QUICK).fit(X) for rounds in ("auto", 1)}
    assert fits["auto"].objective_curve_[0] == fits[1].objective_curve_[0]
    assert fits["auto"].objective_curve_[1] >= fits[1].objective_curve_[1]
    assert fits["auto"].n_iter_ == fits[1].n_iter_ == 3
    alone = KernelNetClustering(2, n_refine=0, **QUICK).fit(X)  # without refinement no indicators take part
    assert (alone.n_iter_, len(alone.change_curve_)) == (1, 1)
    weighted = KernelNetClustering(2, reconstruction_weight=0.1, **QUICK).fit(X)
    assert len(weighted.change_curve_) == 1


def test_published_settings():
    model = KernelNetClustering.published(3, width=0.5)
    assert (model.batch_size, model.n_components, model.init, model.width) == (5, 3, "pretrain", 0.5)


def test_callbacks_see_an_estimator_that_transforms(moons):
    X, _ = moons
    seen = []

    def watch(step, terms, estimator):
        seen.append((step, sorted(terms), estimator.transform(X[:2]).shape))

    KernelNetClustering(2, init="identity", callbacks=watch, n_refine=1, steps_per_iter=2, random_state=0).fit(X)
    assert seen == [(1, ["dependence", "loss"], (2, 2)), (2, ["dependence", "loss"], (2, 2))]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_clusters": 300}, "n_clusters=300"),
        ({"train_size": 1.5}, "train_size=1.5"),
        ({"train_size": 0.001, "n_clusters": 5}, "fewer than n_clusters=5"),
        ({"update": "gd"}, "update='gd'"),
        ({"width": -1.0}, "width=-1.0"),
        ({"init": "identity", "hidden_layer_sizes": (3,)}, r"hidden_layer_sizes=\(3,\) has a layer below 2 × 2"),
        ({"jitter": -1}, "jitter=-1"),
        ({"max_iter": "many"}, "max_iter='many'"),
    ],
)
def test_bad_parameters_are_named(moons, setting, message):
    with pytest.raises(ValueError, match=message):
        KernelNetClustering(**({"n_clusters": 2} | setting)).fit(moons[0])


def test_odd_data():
    rows = np.repeat(np.eye(4), 10, axis=0)
    model = KernelNetClustering(4, width=0.5, max_iter=0, n_refine=1, **QUICK).fit(rows)
    assert len(set(model.labels_)) == 4
    assert set(KernelNetClustering(1, max_iter=0, n_refine=0, init="identity").fit(rows).labels_) == {0}
    with pytest.raises(ValueError, match="all rows are equal"):
        KernelNetClustering(2).fit(np.ones((10, 2)))


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_groups_that_vanish_and_rows_that_stand_alone_are_told():
    """Two distinct rows make no three groups, and rows far from all others have no similarity to learn from."""
    rows = np.repeat(np.eye(2), 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="only 2 of n_clusters=3 groups are left"):
        labels = KernelNetClustering(3, width=0.5, max_iter=0, n_refine=0, init="identity").fit(rows).labels_
    assert set(labels) == {0, 1}
    alone = np.vstack([rows, [[50.0, 50.0]]])
    with pytest.warns(UserWarning, match="1 rows are similar to no other in the embedding"):
        KernelNetClustering(2, width=0.01, max_iter=0, n_refine=0, init="identity", standardize=False).fit(alone)
