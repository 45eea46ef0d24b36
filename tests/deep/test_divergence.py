"""Divergence-based clustering: what it finds, what it promises, and what it refuses."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from torch import nn

import gramian
from gramian.deep import DivergenceClustering, divergence_run, vote_labels
from gramian.deep.cluster_losses import divergence_terms
from gramian.deep.training import TrainingFailure
from gramian.metrics import clustering_accuracy

SMALL = {"hidden_layer_sizes": (20, 30), "max_iter": 80, "learning_rate": 0.01, "random_state": 0}


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    return rng.normal(size=(120, 4)) + 8 * np.eye(4)[y], y


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=3, return_X_y=True)
    return X[:240], y[:240]


@pytest.fixture(scope="module")
def images(digits):
    """A model of three kinds of digits, trained for a moment."""
    return DivergenceClustering(3, image_shape=(1, 8, 8), max_iter=60, random_state=0).fit(digits[0])


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


def test_answers_for_images(images, digits):
    """Hidden rows, their kernel, the clearest rows and the saliency have the shapes and ranges they must have."""
    X = digits[0].astype(np.float32)
    Z, K = images.transform(X[:30]), images.kernel(X[:30], X[:20])
    assert Z.shape == (30, 100)
    assert Z.dtype == K.dtype == np.float32
    squares = ((Z[:, None].astype(float) - Z[None, :20]) ** 2).sum(-1)
    np.testing.assert_allclose(K, np.exp(-squares / (2 * images.width_**2)), atol=1e-4)
    top = images.top_ranked(X, 5)
    P = images.predict_proba(X)
    assert top.shape == (3, 5)
    for cluster, rows in enumerate(top):
        assert (P[rows, cluster] >= np.sort(P[:, cluster])[-5]).all()
    S = images.saliency(X[:6])
    assert S.shape == (6, 64)
    assert np.abs(S).max() > 0
    np.testing.assert_allclose(images.saliency(X[:6], images.predict(X[:6])), S)
    assert not np.allclose(images.saliency(X[:6], 0), images.saliency(X[:6], 1))


def test_saliency_is_in_the_units_of_the_input(blobs):
    """Without negative signals to hold back it is the gradient of the score by the columns as they were given."""
    X = blobs[0] * 100
    model = DivergenceClustering(3, network=Linear(), max_iter=20, random_state=0).fit(X)
    step, rows = np.zeros(4), X[:5]
    step[1] = 1e-3

    def score(values):
        scores = torch.tensor(model._scaled(values)) @ torch.tensor(model.weights_["scores.weight"].astype(float)).T
        return scores.numpy()[:, 2]

    slope = (score(rows + step) - score(rows - step)) / 2e-3
    np.testing.assert_allclose(model.saliency(rows, 2)[:, 1], slope, rtol=1e-6)


def test_term_values_are_those_of_training(blobs):
    """The three terms are those of the batches, normalised as in training, and the score is minus their sum."""
    X = blobs[0]
    model = DivergenceClustering(3, **SMALL, term_weights=(1, 0.5, 2), batch_size=50).fit(X)
    found = model.term_values(X)
    network = model._build(model.architecture_).double().train()
    network.load_state_dict({name: torch.tensor(array) for name, array in model.weights_.items()})
    terms = []
    for start in (0, 50):
        with torch.no_grad():
            hidden = network[:-1](torch.tensor(model._scaled(X[start : start + 50])))
            A = torch.softmax(network[-1](hidden), dim=1)
            terms.append([value.item() for value in divergence_terms(hidden, A)])
    means = np.mean(terms, axis=0)
    np.testing.assert_allclose([found[name] for name in ("separation", "orthogonality", "corners")], means)
    assert model.score(X) == pytest.approx(-means @ [1, 0.5, 2])
    np.testing.assert_array_equal(model.predict(X), model.labels_)  # the statistics of the layers are as they were


class Linear(nn.Module):
    """A user's module without hidden units of its own."""

    def __init__(self):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.scores = nn.Linear(4, 3)

    def forward(self, rows):
        return rows, self.scores(rows)


def test_the_same_state_gives_the_same_answer(blobs):
    """Two fits with one seed agree in every weight."""
    X = blobs[0]
    model = DivergenceClustering(3, **SMALL, n_init=2, init="random")
    first, second = clone(model).fit(X), clone(model).fit(X)
    for name, array in first.weights_.items():
        np.testing.assert_array_equal(array, second.weights_[name])
    np.testing.assert_array_equal(first.run_losses_, second.run_losses_)
    np.testing.assert_array_equal(first.labels_, second.labels_)


@pytest.mark.parametrize("combine", ["best", "vote", "consensus"])
def test_runs_are_combined(blobs, combine):
    """The best run, the vote of three or the consensus of all are the labels, and new rows are asked the same way."""
    X, y = blobs
    model = DivergenceClustering(3, **SMALL, n_init=4, combine=combine, init="random").fit(X)
    order = np.argsort(model.run_losses_)
    assert model.loss_ == model.run_losses_.min()
    assert model.run_labels_.shape == (4, 120)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    if combine == "best":
        np.testing.assert_array_equal(model.labels_, model.run_labels_[order[0]])
    if combine == "vote":
        np.testing.assert_array_equal(model.labels_, vote_labels(model.run_labels_[order[:3]]))
    assert len(model.tables_) == {"best": 1, "vote": 3, "consensus": 4}[combine]
    scores = [clustering_accuracy(y, labels) for labels in model.run_labels_]
    assert clustering_accuracy(y, model.labels_) >= min(scores)


def test_parts_are_merged(blobs):
    """Six parts are merged to three clusters, each output to one, and the clusters are those of the data."""
    X, y = blobs
    model = DivergenceClustering(3, **SMALL, n_parts=6).fit(X)
    assert model.tables_.shape == (1, 6, 3)
    np.testing.assert_array_equal(model.tables_.sum(axis=2), 1)
    assert clustering_accuracy(y, model.labels_) > 0.95
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_array_equal(np.unique(model.labels_), [0, 1, 2])


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


def test_saved_models_answer_alike(images, digits, tmp_path):
    """A loaded model gives the same answers."""
    gramian.save(images, tmp_path / "model.gramian")
    loaded = gramian.load(tmp_path / "model.gramian")
    np.testing.assert_array_equal(loaded.predict_proba(digits[0][:20]), images.predict_proba(digits[0][:20]))


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
        ({"term_weights": (1, 1)}, r"term_weights=\(1, 1\)"),
        ({"term_weights": (0, 0, 0)}, "not all of them 0"),
        ({"width": "wide"}, "width='wide'"),
        ({"combine": "mean"}, "combine='mean'"),
        ({"divergence": "js"}, "divergence='js'"),
        ({"network": "resnet"}, "network='resnet'"),
        ({"network": Linear(), "n_clusters": 4}, "network returned"),
        ({"network": nn.Sequential(nn.ReLU()), "n_clusters": 4}, "network has no parameters"),
        ({"network": nn.Linear(7, 3)}, "network does not take rows of X, of 4 columns"),
        ({"network": {"kind": "mlp", "sizes": [4, 5, 2]}}, "network returned"),
        ({"network": {"kind": "mlp", "sizes": [7, 5, 3]}}, "network does not take rows of X, of 4 columns"),
        ({"network": {"kind": "mlp", "size": 3}}, "describes no network"),
        ({"network": {"sizes": [4, 5, 3]}}, "describes no network"),
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


def test_one_cluster(blobs):
    """One cluster has all rows."""
    model = DivergenceClustering(1, **SMALL, pair_normalization="mean").fit(blobs[0])
    assert (model.labels_ == 0).all()
    assert (model.predict_proba(blobs[0]) == 1).all()


def test_a_collapse_is_told():
    """All rows in one cluster at the end come with a warning that says what to do."""
    with pytest.warns(ConvergenceWarning, match="1 of 2 clusters; pass n_init=5"):
        DivergenceClustering(2, hidden_layer_sizes=(10,), max_iter=5, random_state=0).fit(np.ones((30, 2)))


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


@pytest.mark.parametrize("target", [3, -1, 0.5, [0, 1]])
def test_bad_targets(images, digits, target):
    """The saliency is that of a cluster there is."""
    with pytest.raises(ValueError, match="target="):
        images.saliency(digits[0][:3], target)


@pytest.mark.parametrize("combine", ["best", "vote", "consensus"])
def test_a_run_that_gives_up_does_not_count(blobs, combine, monkeypatch):
    """One failing run of three leaves a model of the other two; an error comes only if all of them fail."""
    whole, calls = divergence_run.run, []

    def run(rng, *arguments):
        calls.append(rng)
        if len(calls) == 2:
            raise TrainingFailure("training gave up at step 3")
        return whole(rng, *arguments)

    monkeypatch.setattr(divergence_run, "run", run)
    model = DivergenceClustering(3, n_init=3, combine=combine, **SMALL)
    with pytest.warns(ConvergenceWarning, match="1 of 3 runs do not count.*step 3"):
        model.fit(blobs[0])
    assert np.isinf(model.run_losses_[1])
    assert np.isfinite(model.run_losses_[[0, 2]]).all()
    assert (model.run_labels_[1] == -1).all()
    assert clustering_accuracy(blobs[1], model.labels_) > 0.9
    assert (model.predict(blobs[0]) == model.labels_).all()
    calls[:] = [None]
    with pytest.raises(ValueError, match="gave up"):
        DivergenceClustering(3, **SMALL).fit(blobs[0])


def test_the_terms_of_one_row_are_refused(images, digits):
    with pytest.raises(ValueError, match="X has one row"):
        images.term_values(digits[0][:1])


def test_a_schedule_of_the_width_counts_all_steps(blobs):
    """After a warm-up of 3 steps the first step of the divergence is the fourth."""
    steps = []

    def width(step):
        steps.append(step)
        return "median_sq15"

    DivergenceClustering(3, **(SMALL | {"max_iter": 12, "width": width})).fit(blobs[0])
    assert steps[0] == 4
    assert max(steps) == 12
