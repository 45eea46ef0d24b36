"""Deep embedded clustering: its formulas, what it finds and what it refuses."""

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning

from gramian.deep import DEC, IDEC
from gramian.deep.architecture import build
from gramian.deep.embedded import _encoder_parameters, _loss, sharpened
from gramian.metrics import clustering_accuracy

SMALL = {"n_components": 2, "hidden_layer_sizes": (10,), "pretrain_iter": 60, "max_iter": 30, "random_state": 0}
AUTOENCODER = {
    "kind": "autoencoder",
    "sizes": [3, 5, 2],
    "code_activation": "identity",
    "output_activation": "identity",
}


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    return rng.normal(size=(90, 4)) + 9 * np.eye(4)[y], y


@pytest.fixture
def module():
    made = build({"kind": "embedded_clusters", "autoencoder": AUTOENCODER, "n_clusters": 2}, torch.Generator())
    with torch.no_grad():
        made.centers.copy_(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    return made.double()


def test_memberships_and_targets_are_their_formulas(module):
    """q falls with the distance from the centre, and p is q² over the size of the cluster, both written out."""
    codes = torch.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 0.0]], dtype=torch.float64)
    Q = module.memberships(codes).detach().numpy()
    near = np.array([[1 / 2, 1 / 2], [1 / 3, 1 / 5], [1 / 11, 1 / 5]])
    np.testing.assert_allclose(Q, near / near.sum(axis=1, keepdims=True))
    P = Q**2 / Q.sum(axis=0)
    np.testing.assert_allclose(sharpened(torch.tensor(Q)).numpy(), P / P.sum(axis=1, keepdims=True))


def test_loss_is_the_divergence_and_its_gradient_is_right(module):
    """The loss is KL(P‖Q) with P as a constant, plus the error of the reconstruction for IDEC."""
    X = torch.tensor(np.random.default_rng(1).normal(size=(6, 3)))
    batch = torch.arange(6)
    Q = module.memberships(module.autoencoder.encode(X))
    P = sharpened(Q.detach())
    expected = (P * torch.log(P / Q)).sum(dim=1).mean().item()
    assert _loss(module, X, np.inf, 5)(batch)["loss"].item() == pytest.approx(expected)
    both = _loss(module, X, 0.3, 5)(batch)
    error = (module.autoencoder.decode(module.autoencoder.encode(X)) - X).square().mean().item()
    assert both["loss"].item() == pytest.approx(error + 0.3 * expected)
    assert torch.autograd.gradcheck(lambda centers: _kl(P, centers, module, X), module.centers)


def test_targets_are_found_anew_every_few_steps(module):
    """With an interval of two steps the second step keeps the targets of the first, the third has its own."""
    X = torch.tensor(np.random.default_rng(1).normal(size=(6, 3)))
    batch, loss = torch.arange(6), _loss(module, X, np.inf, 2)
    memberships = lambda: module.memberships(module.autoencoder.encode(X)).detach()  # noqa: E731
    targets = sharpened(memberships())
    for own in (False, False, True):
        P, Q = sharpened(memberships()) if own else targets, memberships()
        assert loss(batch)["loss"].item() == pytest.approx((P * torch.log(P / Q)).sum(dim=1).mean().item())
        with torch.no_grad():
            module.centers.mul_(1.5)


def _kl(P, centers, module, X):
    nearness = 1 / (1 + (module.autoencoder.encode(X).detach()[:, None] - centers[None]).square().sum(dim=2))
    Q = nearness / nearness.sum(dim=1, keepdim=True)
    return (P * torch.log(P / Q)).sum(dim=1).mean()


def test_only_what_codes_depend_on_is_trained(module):
    """Biases of the decoder are not among the parameters of DEC."""
    named = dict(module.autoencoder.named_parameters())
    found = _encoder_parameters(module, torch.ones((2, 3), dtype=torch.float64))
    assert 0 < len(found) < len(named)


@pytest.mark.parametrize("kind", [DEC, IDEC])
def test_blobs(blobs, kind):
    """Clear clusters are found; labels are what predict says; memberships sum to one."""
    X, y = blobs
    model = kind(3, **SMALL).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.9
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    Z = model.transform(X)
    near = 1 / (1 + ((Z[:, None] - model.cluster_centers_[None]) ** 2).sum(-1))
    np.testing.assert_allclose(P, near / near.sum(axis=1, keepdims=True), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("kind", [DEC, IDEC])
def test_a_collapse_is_told(kind):
    """Rows that are all alike are in one cluster, with a warning, and have finite memberships."""
    X = np.ones((30, 4))
    with pytest.warns(ConvergenceWarning, match="put all rows into 1 of 3 clusters"):
        model = kind(3, **SMALL).fit(X)
    assert len(set(model.labels_)) == 1
    assert np.isfinite(model.predict_proba(X)).all()
    assert set(kind(1, **SMALL).fit(X + np.arange(30)[:, None]).labels_) == {0}


def test_training_makes_memberships_clearer(blobs):
    """After the divergence steps the memberships are clearer than those that k-means on the codes starts from."""
    X = blobs[0]
    before = DEC(3, **(SMALL | {"max_iter": 0})).fit(X).predict_proba(X).max(axis=1).mean()
    assert DEC(3, **SMALL).fit(X).predict_proba(X).max(axis=1).mean() > before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_clusters": 91}, "n_clusters=91 is more than the n_samples=90"),
        ({"pretrain_iter": -1}, "pretrain_iter=-1"),
        ({"update_interval": 0}, "update_interval=0"),
        ({"divergence_weight": 0}, "divergence_weight=0"),
    ],
)
def test_bad_parameters(blobs, changes, message):
    """A parameter that cannot be is refused by name."""
    with pytest.raises(ValueError, match=message):
        IDEC(**({"n_clusters": 3} | SMALL | changes)).fit(blobs[0])


def test_an_error_after_training_leaves_nothing_behind(blobs, monkeypatch):
    """Labels are found before anything is kept, so an interrupt there leaves the estimator unfitted."""

    def interrupted(self, X):
        raise KeyboardInterrupt

    monkeypatch.setattr(DEC, "predict", interrupted)
    model = DEC(3, **SMALL)
    before = set(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(blobs[0])
    assert set(vars(model)) == before


def test_rows_far_away_have_memberships(blobs):
    """Squares that overflow leave finite memberships of sum one."""
    found = DEC(3, **SMALL).fit(blobs[0]).predict_proba(1e300 * blobs[0][:4])
    np.testing.assert_allclose(found.sum(axis=1), 1)
