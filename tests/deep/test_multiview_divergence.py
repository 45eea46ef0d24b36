"""MultiViewDivergenceClustering: views that each show half of the clusters, fusion weights, and the contrast."""

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from gramian.deep import MultiViewDivergenceClustering
from gramian.deep.architecture import build
from gramian.deep.cluster_losses import divergence_terms
from gramian.deep.multiview_divergence import contrast, fused, fused_terms

VIEWS = [[0, 1], [2, 3]]


@pytest.fixture
def data():
    """Four clusters, of which each view can tell only two pairs apart."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 4
    X = 0.3 * rng.normal(size=(120, 4))
    X[:, 0] += 3 * (y % 2)
    X[:, 2] += 3 * (y // 2)
    return X, y


@pytest.mark.parametrize("alignment_weight", [0.0, 0.1])
def test_views_together_find_what_none_shows_alone(data, alignment_weight):
    X, y = data
    model = MultiViewDivergenceClustering(
        4, views=VIEWS, max_iter=150, learning_rate=0.005, alignment_weight=alignment_weight, random_state=0
    ).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.fusion_weights_.min() > 0
    assert model.fusion_weights_.sum() == pytest.approx(1)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.n_iter_ == 150


def test_contrast_is_the_textbook_sum():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 5, 3))
    unit = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in (a, b)]
    E = np.exp(unit[0] @ unit[1].T / 0.5)
    expected = -0.5 * np.mean(np.log(np.diag(E) / E.sum(axis=1)) + np.log(np.diag(E) / E.sum(axis=0)))
    assert contrast([torch.tensor(a), torch.tensor(b)], 0.5).item() == pytest.approx(expected)


def test_the_loss_is_that_of_the_weighted_mean_of_the_codes():
    model = MultiViewDivergenceClustering(3, views=VIEWS, hidden_layer_sizes=(4,), n_components=3)
    network = build(model._description([2, 2], 3), torch.Generator().manual_seed(0)).double()
    with torch.no_grad():
        network["fusion"].scores.copy_(torch.tensor([0.0, np.log(3.0)]))
    x = torch.tensor(np.random.default_rng(0).normal(size=(12, 4)))
    codes, mean, scores = fused(network, x, VIEWS)
    torch.testing.assert_close(mean, 0.25 * codes[0] + 0.75 * codes[1])
    settings = {"width": 1.0, "term_weights": (1, 2, 3), "alignment_weight": 0.4, "temperature": 0.1}
    parts = divergence_terms(mean, torch.softmax(scores, dim=1), width=1.0)
    expected = sum((i + 1) * part for i, part in enumerate(parts)) + 0.4 * 0.25 * contrast(codes, 0.1)
    torch.testing.assert_close(fused_terms(network, x, VIEWS, **settings)["loss"], expected, rtol=1e-4, atol=0)
    x.requires_grad_()
    assert torch.autograd.gradcheck(lambda rows: fused_terms(network, rows, VIEWS, **settings)["loss"], (x,))


def test_a_cluster_without_rows_has_a_finite_gradient():
    model = MultiViewDivergenceClustering(3, views=VIEWS, hidden_layer_sizes=(), n_components=3)
    network = build(model._description([2, 2], 3), torch.Generator().manual_seed(0))
    with torch.no_grad():
        network["output"][-1][0].bias.copy_(torch.tensor([0.0, 0.0, -1000.0]))
    x = torch.tensor(np.random.default_rng(0).normal(size=(12, 4)), dtype=torch.float32)
    settings = {"width": 1.0, "term_weights": (1, 1, 1), "alignment_weight": 0.0, "temperature": 0.1}
    fused_terms(network, x, VIEWS, **settings)["loss"].backward()
    used = [p.grad for name, p in network.named_parameters() if p.grad is not None]
    assert used
    assert all(torch.isfinite(grad).all() for grad in used)


@pytest.mark.parametrize(("rows", "k", "used"), [(2, 2, 1), (5, 5, 1)])
def test_empty_clusters_are_told(data, rows, k, used):
    with pytest.warns(ConvergenceWarning, match=f"put all rows into {used} of {k} clusters"):
        MultiViewDivergenceClustering(k, init="random", max_iter=0, random_state=0).fit(data[0][:rows])


def test_rows_that_are_all_the_same_cannot_make_two_clusters():
    with pytest.warns(ConvergenceWarning, match="put all rows into 1 of 2 clusters"):
        MultiViewDivergenceClustering(2, max_iter=2, random_state=0).fit(np.ones((20, 3)))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_clusters": 500}, "n_clusters=500"),
        ({"views": [[0, 9]]}, "column 9"),
        ({"init": "zero"}, "init='zero'"),
        ({"alignment_weight": -1}, "alignment_weight=-1"),
        ({"temperature": 0}, "temperature=0"),
        ({"term_weights": (1, 1)}, "term_weights"),
        ({"width": "wide"}, "width='wide'"),
        ({"batch_size": 3}, "batch_size=3 is too small for n_clusters=2"),
    ],
)
def test_bad_parameters_are_named(data, setting, message):
    with pytest.raises(ValueError, match=message):
        MultiViewDivergenceClustering(**{"n_clusters": 2, "max_iter": 1} | setting).fit(data[0])
