"""One training run: its networks, its losses and what it counts."""

import numpy as np
import pytest
import torch
from torch import nn

from gramian.deep import divergence_run
from gramian.deep.base import load_weights
from gramian.deep.cluster_losses import divergence_terms
from gramian.deep.divergence_run import (
    Task,
    _Losses,
    _shares,
    check_network,
    check_term_weights,
    check_width,
    hidden_and_scores,
    run,
    unevenness,
    width_at,
)
from gramian.deep.divergence_run import start_network as start
from gramian.deep.partners import Partners
from gramian.deep.training import Settings, torch_generator

MLP = {"kind": "mlp", "sizes": [3, 6, 2], "batch_norm": [0], "init": "he"}


class Pair(nn.Module):
    """A user's module: hidden rows and scores."""

    def __init__(self, n_scores=2):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.first, self.second = nn.Linear(3, 5), nn.Linear(5, n_scores)

    def forward(self, rows):
        hidden = torch.relu(self.first(rows))
        return hidden, self.second(hidden)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    return torch.tensor(rng.normal(size=(24, 3)), dtype=torch.float32)


def task(**changes):
    given = {
        "description": MLP,
        "network": None,
        "settings": Settings(max_iter=12, batch_size=8, batches="passes"),
        "n_warm_up": 0,
        "labels": np.full(24, -1),
        "partners": Partners(),
        "width": "median_sq15",
        "term_weights": (1.0, 2.0, 0.5),
    }
    return Task(**(given | changes))


def test_hidden_and_scores_split_a_sequence(X, rng):
    """The scores are the last layer of the hidden rows, and the whole network's answer."""
    network = start(task(), rng).eval()
    hidden, scores = hidden_and_scores(network, X)
    assert hidden.shape == (24, 6)
    torch.testing.assert_close(scores, network(X))


def test_loss_is_the_weighted_sum(X, rng):
    """The loss is the sum of the weighted terms of the batch."""
    module = start(task(), rng)
    batch = torch.arange(10)
    found = _Losses(task(), X, module, rng).divergence(batch)
    hidden, scores = hidden_and_scores(module, X[batch])
    terms = divergence_terms(hidden, torch.softmax(scores, dim=1))
    assert found["loss"].item() == pytest.approx(sum(w * t.item() for w, t in zip((1, 2, 0.5), terms, strict=True)))
    assert found["orthogonality"].item() == pytest.approx(terms[1].item())


def test_partners_that_are_the_row_itself(X, rng):
    """With each row as its own partner the terms stay and the consistency is −log Σ a²."""
    alone, module = task(), start(task(), rng).eval()
    paired = task(partners=Partners("given", function=lambda rows, rng: rows))
    batch = torch.arange(10)
    first = _Losses(alone, X, module, rng).divergence(batch)
    second = _Losses(paired, X, module, rng).divergence(batch)
    A = torch.softmax(module(X[batch]), dim=1)
    expected = -torch.log(A.square().sum(dim=1)).mean().item()
    assert second["consistency"].item() == pytest.approx(expected, rel=1e-5)
    assert second["loss"].item() == pytest.approx(first["loss"].item() + expected, rel=1e-5)


def test_a_run_counts_the_warm_up(X, rng):
    """All steps together are max_iter; the curves are those after the warm-up."""
    found = run(rng, task(n_warm_up=4, labels=np.arange(24) % 2), X)
    assert found.n_iter == 12
    assert len(found.curves["loss"]) == 8
    assert found.loss == pytest.approx(found.curves["loss"][-3:].mean())


def test_callbacks_see_every_step(X, rng):
    """Steps are numbered on from the warm-up, and a true answer in it ends the run."""
    seen = []
    run(rng, task(n_warm_up=4, labels=np.arange(24) % 2), X, lambda module: lambda step, terms: seen.append(step))
    assert seen == list(range(1, 13))
    ended = run(rng, task(n_warm_up=4, labels=np.arange(24) % 2), X, lambda module: lambda step, terms: step == 2)
    assert ended.n_iter == 2
    assert ended.loss == np.inf


def test_a_module_of_the_user(rng):
    """One run starts from the module's weights; fresh ones do not, and the global generator stays as it is."""
    given, state = Pair(), torch.get_rng_state()
    kept = start(task(network=given), rng)
    torch.testing.assert_close(kept.first.weight, given.first.weight)
    assert kept is not given
    fresh = start(task(network=given, fresh=True), rng)
    assert not torch.equal(fresh.first.weight, given.first.weight)
    assert torch.equal(torch.get_rng_state(), state)


class Wrong(nn.Module):
    """Returns whatever it is told to."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def forward(self, rows):
        return self.answer(rows)


@pytest.mark.parametrize(
    "network",
    [Pair(4), Wrong(lambda rows: rows), Wrong(lambda rows: (rows, None)), Wrong(lambda rows: (rows[:1], rows[:, :2]))],
    ids=["scores", "one", "none", "rows"],
)
def test_wrong_answers_of_a_module(network, X):
    """A module that does not return hidden rows and one score per cluster is refused with the shapes."""
    with pytest.raises(ValueError, match=r"network returned .*\(hidden, scores\)"):
        check_network(network, X, 2)


def test_right_answers_of_a_module(X):
    """A pair of the right shapes passes, and so does a sequence whose last layer gives the scores."""
    check_network(Pair(), X, 2)
    check_network(nn.Sequential(nn.Flatten(), Pair().first), X, 5)


def test_widths():
    """A schedule is asked at each step, and its answers are checked."""
    assert width_at(lambda step: 10 / step, 5) == 2.0
    assert width_at("median15", 5) == "median15"
    with pytest.raises(ValueError, match=r"width\(3\)=0 must be above 0"):
        width_at(lambda step: 0, 3)
    with pytest.raises(ValueError, match=r"width=-1 must be above 0"):
        check_width(-1)


def test_with_early_stopping_the_loss_is_that_of_the_weights_that_are_kept(rng, X):
    """It is the loss of the rows held back, whose numbers come from the same draws, with the weights kept."""
    settings = Settings(max_iter=40, batch_size=8, batches="passes", learning_rate=0.05, early_stopping=True)
    given = task(settings=settings)
    found = run(np.random.default_rng(3), given, X)
    again = np.random.default_rng(3)
    module = start(given, again)
    losses = _Losses(given, X, module, again)
    torch_generator(again)
    held_back = np.sort(again.permutation(24)[:4])
    load_weights(module.eval(), found.weights)
    with torch.no_grad():
        assert losses.divergence(torch.from_numpy(held_back))["loss"].item() == pytest.approx(found.loss, rel=1e-3)


# Looking again at the labels -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_steps", "n_looks", "shares"),
    [(250, 3, [100, 50, 50, 50]), (20, 3, [8, 4, 4, 4]), (150, 0, [150]), (3, 3, [1, 1, 1]), (1, 3, [1]), (0, 3, [])],
)
def test_shares_of_the_warm_up(n_steps, n_looks, shares):
    """They make up the warm-up, the first twice as long as the others; none of them is empty."""
    assert _shares(n_steps, n_looks) == shares
    assert sum(shares) == n_steps


def test_unevenness_is_least_for_equal_clusters():
    """Σ of the squared shares, rows without a label left out."""
    assert unevenness(torch.tensor([0, 1, 2, 3, -1])) == pytest.approx(1 / 4)
    assert unevenness(torch.tensor([0, 0, 0, 2, -1, -1])) == pytest.approx((3 / 4) ** 2 + (1 / 4) ** 2)


@pytest.mark.parametrize(("again", "kept"), [([0] * 12 + [1] * 12, True), ([0] * 21 + [1] * 3, False)])
def test_labels_that_make_clusters_less_even_are_given_up(X, rng, monkeypatch, again, kept):
    """At the last look the first labels and the weights learned from them come back, if clusters are less even."""
    first = np.arange(24) % 2
    module = start(task(), rng)
    losses = _Losses(task(labels=first), X, module, rng)
    monkeypatch.setattr(divergence_run, "spectral_labels", lambda hidden, k, rng: np.array(again))
    losses.look_again(rng)
    weight = next(module.parameters())
    before = weight.detach().clone()
    with torch.no_grad():
        weight.add_(0.01)
    assert set(map(int, losses.targets)) == {0, 1}
    losses.look_again(rng, last=True)
    found = losses.targets.numpy()
    if kept:
        assert len({*zip(found.tolist(), again, strict=True)}) == 2  # the new clusters, whatever their names
        torch.testing.assert_close(weight, before + 0.01)
    else:
        np.testing.assert_array_equal(found, first)
        torch.testing.assert_close(weight, before)


def test_new_labels_keep_their_outputs(X, rng, monkeypatch):
    """Clusters found anew take the output that most of their rows have; rows without a label stay without."""
    module = start(task(), rng).eval()
    answers = np.argmax(module(X).detach().numpy(), axis=1)
    labels = np.where(np.arange(24) < 20, 0, -1)
    losses = _Losses(task(labels=labels), X, module, rng)
    monkeypatch.setattr(divergence_run, "spectral_labels", lambda hidden, k, rng: 1 - answers[: len(hidden)])
    losses.look_again(rng)
    np.testing.assert_array_equal(losses.targets.numpy(), np.where(labels < 0, -1, answers))


@pytest.mark.parametrize(("n_warm_up", "looks"), [(10, [False, False, True]), (3, [False, True]), (1, [])])
def test_a_run_looks_again(X, rng, monkeypatch, n_warm_up, looks):
    """The last look of a run is told that it is, however short the warm-up."""
    seen = []
    monkeypatch.setattr(_Losses, "look_again", lambda self, rng, *, last=False: seen.append(last))
    found = run(rng, task(n_warm_up=n_warm_up, labels=np.arange(24) % 2, n_looks=3), X)
    assert seen == looks
    assert found.n_iter == 12


@pytest.mark.parametrize("weights", [(1, 1), (0, 0, 0), (1, -1, 1), (1, np.inf, 1), ("a", 1, 1), 1])
def test_weights_of_terms(weights):
    """Three numbers from 0 on, not all 0."""
    assert check_term_weights((1, 0, 2)) == [1.0, 0.0, 2.0]
    with pytest.raises(ValueError, match="term_weights="):
        check_term_weights(weights)
