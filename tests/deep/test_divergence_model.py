"""Divergence-based clustering after training: runs joined to one model, and its answers."""

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning

import gramian
from deep.tiny import Linear
from gramian.deep import DivergenceClustering, divergence_run, vote_labels
from gramian.deep.cluster_losses import divergence_terms
from gramian.deep.training import TrainingFailure
from gramian.metrics import clustering_accuracy

SMALL = {"hidden_layer_sizes": (20, 30), "max_iter": 80, "learning_rate": 0.01, "random_state": 0}


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


def test_saved_models_answer_alike(images, digits, tmp_path):
    """A loaded model gives the same answers."""
    gramian.save(images, tmp_path / "model.gramian")
    loaded = gramian.load(tmp_path / "model.gramian")
    np.testing.assert_array_equal(loaded.predict_proba(digits[0][:20]), images.predict_proba(digits[0][:20]))


def test_one_cluster(blobs):
    """One cluster has all rows."""
    model = DivergenceClustering(1, **SMALL, pair_normalization="mean").fit(blobs[0])
    assert (model.labels_ == 0).all()
    assert (model.predict_proba(blobs[0]) == 1).all()


def test_a_collapse_is_told():
    """All rows in one cluster at the end come with a warning that says what to do."""
    with pytest.warns(ConvergenceWarning, match="1 of 2 clusters; pass n_init=5"):
        DivergenceClustering(2, hidden_layer_sizes=(10,), max_iter=5, random_state=0).fit(np.ones((30, 2)))


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
