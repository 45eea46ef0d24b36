"""Divergence-based clustering: what it finds, what it promises, and what it refuses."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

import gramian
from deep.tiny import Linear
from gramian.deep import DivergenceClustering
from gramian.metrics import clustering_accuracy

SMALL = {"hidden_layer_sizes": (20, 30), "max_iter": 80, "learning_rate": 0.01, "random_state": 0}


@pytest.mark.parametrize("width", ["median_sq15", "median15"])
def test_two_blobs_from_random_weights(width):
    """Two blobs far apart are found from random weights, in at least four of five states."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 2)) + 12 * y[:, None]
    settings = {"init": "random", "hidden_layer_sizes": (50, 50, 100), "max_iter": 60, "width": width}
    scores = [
        clustering_accuracy(y, DivergenceClustering(2, **settings, random_state=seed).fit(X).labels_)
        for seed in range(5)
    ]
    assert sum(score == 1.0 for score in scores) >= 4


def test_disc_and_ring():
    """A disc in a ring, which k-means cuts across, is found from random weights."""
    rng = np.random.default_rng(0)
    radius = np.concatenate([0.5 * np.sqrt(rng.random(200)), 2 + 0.1 * rng.normal(size=200)])
    angle = 2 * np.pi * rng.random(400)
    X = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    model = DivergenceClustering(2, init="random", hidden_layer_sizes=(50, 50, 100), max_iter=250, random_state=0)
    assert clustering_accuracy(np.repeat([0, 1], 200), model.fit(X).labels_) >= 0.99


def test_images(images, digits):
    """Digits of three kinds are told apart from their pixels, and labels are what predict says."""
    X, y = digits
    assert clustering_accuracy(y, images.labels_) > 0.97
    np.testing.assert_array_equal(images.predict(X), images.labels_)
    np.testing.assert_array_equal(images.labels_, np.argmax(images.predict_proba(X), axis=1))
    assert images.architecture_["kind"] == "cnn"
    assert images.init_labels_.shape == y.shape
    assert images.n_iter_ == 60
    assert set(images.term_curves_) == {"loss", "separation", "orthogonality", "corners", "consistency"}


def test_the_same_state_gives_the_same_answer(blobs):
    """Two fits with one seed agree in every weight."""
    X = blobs[0]
    model = DivergenceClustering(3, **SMALL, n_init=2, init="random")
    first, second = clone(model).fit(X), clone(model).fit(X)
    for name, array in first.weights_.items():
        np.testing.assert_array_equal(array, second.weights_[name])
    np.testing.assert_array_equal(first.run_losses_, second.run_losses_)
    np.testing.assert_array_equal(first.labels_, second.labels_)


@pytest.mark.parametrize(
    "changes",
    [
        {"divergence": "kl"},
        {"divergence": "kl-cosine"},
        {"orthogonality": "sum", "pair_normalization": "mean"},
        {"consistency": "neighbors"},
        {"consistency": lambda rows, rng: rows + 0.1 * rng.normal(size=rows.shape)},
        {"width": lambda step: "median_sq40" if step < 20 else "median_sq15"},
        {"width": 1.5},
        {"early_stopping": True, "n_iter_no_change": 2},
        {"network": {"kind": "mlp", "sizes": [4, 10, 3], "activation": "tanh"}},
    ],
    ids=["kl", "cosine", "sum", "neighbors", "function", "schedule", "number", "early", "described"],
)
def test_variants_find_blobs(blobs, changes):
    """Every variant of loss, partners, width and network keeps the clusters that the first steps learned."""
    X, y = blobs
    model = DivergenceClustering(3, **(SMALL | changes)).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.95
    K = model.kernel(X[:9])
    np.testing.assert_allclose(np.diag(K), 1, atol=1e-6)


def test_labels_of_the_user_start_the_training(blobs):
    """Labels passed as init take the place of spectral ones; rows with −1 are left out of the first steps."""
    X, y = blobs
    init = np.where(np.arange(120) % 4 == 0, y + 5, -1)
    model = DivergenceClustering(3, **SMALL, init=init).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.95
    assert np.count_nonzero(model.init_labels_ >= 0) == 30


def test_a_module_of_the_user(blobs, tmp_path):
    """A module of the user's is trained on a copy; only a description can be saved."""
    X, y = blobs
    network = Linear()
    before = network.scores.weight.detach().clone()
    model = DivergenceClustering(3, network=network, max_iter=80, learning_rate=0.05, random_state=0).fit(X)
    assert torch.equal(network.scores.weight, before)
    assert clustering_accuracy(y, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    with pytest.raises(TypeError):
        gramian.save(model, tmp_path / "model.gramian")


def test_callbacks_get_a_model_that_answers(blobs):
    """Callbacks see every step, warm-up included, with a copy that predicts; a true answer ends the run."""
    X, seen = blobs[0], []

    def watch(step, terms, model):
        seen.append((step, terms["loss"], model.predict(X[:3]), set(model.term_values(X))))
        return step == 25

    model = DivergenceClustering(3, **SMALL, callbacks=watch).fit(X)
    assert [entry[0] for entry in seen] == list(range(1, 26))
    assert model.n_iter_ == 25
    assert seen[0][3] == {"loss", "separation", "orthogonality", "corners"}


def test_the_copy_of_a_callback_names_its_columns_and_has_no_width(blobs):
    seen = []
    DivergenceClustering(3, **SMALL, callbacks=lambda *told: seen.append(told[2])).fit(blobs[0])
    assert len(seen[0].get_feature_names_out()) == 30
    with pytest.raises(ValueError, match="no width while the network is trained"):
        seen[0].kernel(blobs[0])


def test_published_settings():
    """The paper's settings are one call, and can be changed."""
    model = DivergenceClustering.published(4, n_init=2)
    assert (model.n_clusters, model.n_init, model.max_iter, model.init) == (4, 2, 70_000, "random")
    assert model.consistency is None
    assert model.width == "median15"
    assert model._checked_settings()[0].learning_rate == 1e-5
    assert model.set_params(image_shape=(1, 8, 8))._checked_settings()[0].learning_rate == 1e-3


# Bad input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_clusters": 200}, "n_clusters=200 is more than the 120 samples"),
        ({"n_clusters": 0}, "n_clusters=0"),
        ({"n_parts": 2}, "n_parts=2"),
        ({"n_parts": 121}, "n_parts=121 is more than"),
        ({"batch_size": 5}, "batch_size=5 is too small for n_clusters=3"),
        ({"image_shape": (1, 8, 8)}, "64 pixels but X has 4 columns"),
        ({"image_shape": 8}, "image_shape=8"),
        ({"consistency": "augment"}, "image_shape"),
        ({"consistency": "twins"}, "consistency='twins'"),
        ({"init": "kmeans"}, "init='kmeans'"),
        ({"init": [0, 1]}, "120"),
        ({"init": [-1] * 120}, "init: has no label"),
        ({"term_weights": (1, 1)}, r"term_weights=\(1, 1\)"),
        ({"term_weights": (0, 0, 0)}, "not all of them 0"),
        ({"width": "wide"}, "width='wide'"),
        ({"combine": "mean"}, "combine='mean'"),
        ({"divergence": "js"}, "divergence='js'"),
        ({"network": "resnet"}, "network='resnet'"),
        ({"network": Linear(), "n_clusters": 4}, "network returned"),
        ({"network": Linear}, "pass 'auto', a description as a dict, or a torch module"),
        ({"network": nn.Sequential()}, "network has no layers"),
        ({"network": nn.Sequential(nn.ReLU()), "n_clusters": 4}, "network has no weights that its scores depend on"),
        ({"network": Linear().requires_grad_(False)}, "network has no weights that its scores depend on"),
        ({"network": nn.Linear(7, 3)}, "network does not take rows of X, of 4 columns"),
        ({"network": {"kind": "mlp", "sizes": [4, 5, 2]}}, "network returned"),
        ({"network": {"kind": "mlp", "sizes": [7, 5, 3]}}, "network does not take rows of X, of 4 columns"),
        ({"network": {"kind": "mlp", "size": 3}}, "is not the description of a network"),
        ({"network": {"sizes": [4, 5, 3]}}, "is not the description of a network"),
        ({"device": "cuda:99"}, "device='cuda:99'"),
        ({"learning_rate": "fast"}, "learning_rate='fast'"),
        ({"n_init": 0}, "n_init=0"),
        ({"hidden_layer_sizes": ()}, "hidden_layer_sizes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_parameters(blobs, changes, message):
    """A parameter that cannot be is refused by name, and nothing is learned."""
    model = DivergenceClustering(**({"n_clusters": 3} | SMALL | changes))
    with pytest.raises(ValueError, match=message):
        model.fit(blobs[0])
    assert not hasattr(model, "weights_")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "X",
    [np.ones((40, 3)), np.repeat(np.eye(3), 9, axis=0), np.eye(4), np.c_[np.arange(40.0), np.zeros(40)] * 1e6],
    ids=["constant", "duplicates", "few", "far"],
)
def test_degenerate_rows(X):
    """Constant and duplicate rows, fewer rows than a batch and large values give labels and finite probabilities."""
    model = DivergenceClustering(2, hidden_layer_sizes=(10,), max_iter=20, random_state=0).fit(X)
    assert set(model.labels_) <= {0, 1}
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.loss_)


def test_strange_pixels_are_told(digits):
    """Pixels beyond grey values are scaled with a word; 0 to 255 without."""
    model = DivergenceClustering(3, image_shape=(1, 8, 8), max_iter=16, random_state=0)
    with pytest.warns(UserWarning, match=r"from -50 to 1550.*scaled to \[0, 1\]"):
        model.fit(digits[0] * 100 - 50)
    scaled = model._scaled(digits[0] * 100 - 50)
    assert scaled.min() == 0
    assert scaled.max() == 1


def test_an_interrupt_leaves_nothing(blobs):
    """A keyboard interrupt leaves the estimator as it was."""

    def interrupt(step, terms, model):
        raise KeyboardInterrupt

    model = DivergenceClustering(3, **SMALL, callbacks=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(blobs[0])
    assert not hasattr(model, "weights_")


def test_a_schedule_of_the_width_counts_all_steps(blobs):
    """After a warm-up of 3 steps the first step of the divergence is the fourth."""
    steps = []

    def width(step):
        steps.append(step)
        return "median_sq15"

    DivergenceClustering(3, **(SMALL | {"max_iter": 12, "width": width})).fit(blobs[0])
    assert steps[0] == 4
    assert max(steps) == 12
