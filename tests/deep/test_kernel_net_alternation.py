"""The alternation of KernelNet step by step."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gramian.deep.architecture import build
from gramian.deep.kernel_net_alternation import Alternation, Plan, embed
from gramian.deep.training import Settings


def alternation(**changes):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 2)) + 4 * (np.arange(30) % 2)[:, None]
    sizes = {"encoder": [2, 8, 2], "decoder": [2, 8, 2]}
    described = {name: {"kind": "mlp", "sizes": size} for name, size in sizes.items()}
    module = build({"kind": "parts", "modules": described}, torch.Generator().manual_seed(0))
    plan = {
        "n_clusters": 2,
        "n_components": 1,
        "width": "median",
        "update": "eig",
        "init": "identity",
        "max_iter": 2,
        "n_refine": 1,
        "pretrain_iter": 200,
        "n_init": 2,
        "or_indicators": False,
        "tol": 0.0,
        "reconstruction_weight": 0.0,
        "by_ratio": False,
        "zero_diagonal": True,
        "jitter": 0.0,
        "refine_width": 1.0,
        "settings": Settings(20, 10, 1e-3, batches="passes"),
    }
    return Alternation(module, rows, torch.tensor(rows).float(), Plan(**(plan | changes)), rng)


def test_start_is_the_identity_and_the_leading_eigenvectors():
    run = alternation()
    run.start()
    np.testing.assert_allclose(run.embedded(), run.rows, atol=1e-6)
    assert run.objectives == [pytest.approx(run.walk.value(run.U))]


@pytest.mark.parametrize("update", ["eig", "sma", "none"])
def test_the_step_of_u_never_lowers_the_objective(update):
    run = alternation(update=update)
    run.start()
    run.fit_network(run.U)
    old = run.U
    run.update()
    assert run.objectives[-1] >= run.walk.value(old) - 1e-9
    np.testing.assert_allclose(run.U.T @ run.U, np.eye(1), atol=1e-8)
    if update == "none":
        np.testing.assert_array_equal(run.U, old)


def test_a_run_finds_the_groups_and_counts_its_rounds():
    run = alternation(refine_width=2.0, jitter=0.1)
    run.run()
    assert len(run.objectives) == 4
    assert len(run.changes) == 2
    assert len(set(zip(run.labels.tolist(), (np.arange(30) % 2).tolist(), strict=True))) == 2


def test_of_first_rounds_with_u_and_with_indicators_the_larger_objective_is_kept():
    """Both start from the same weights; a spoiled alternation is left, a spoiled round of indicators too."""
    settings = {"or_indicators": True, "max_iter": 1}
    alternated, both, spoiled, idle = (
        alternation(**given) for given in ({"max_iter": 1}, settings, settings, settings)
    )
    alternated.run()
    both.run()
    assert both.objectives[0] == alternated.objectives[0]
    assert both.objectives[1] >= alternated.objectives[1]
    assert len(both.objectives) == len(alternated.objectives) == 3

    def nothing_better(labels):
        idle.objectives.append(-1.0)

    idle.follow_clusters = nothing_better
    idle.plan = replace(idle.plan, n_refine=0)
    idle.run()
    assert idle.objectives == alternated.objectives[:2]
    assert len(idle.changes) == 1

    def collapse():
        with torch.no_grad():
            for weight in spoiled.module.parameters():
                weight.zero_()

    spoiled.alternate = collapse
    spoiled.run()
    assert len(spoiled.objectives) == 3  # of the start and two rounds with indicators
    assert spoiled.objectives[1] > 0.5
    assert spoiled.objectives[2] == pytest.approx(spoiled.walk_now().value(spoiled.U))
    assert len(set(spoiled.labels[::2])) == len(set(spoiled.labels[1::2])) == 1


def test_pretraining_lowers_the_error_and_the_ratio_scales_the_weight():
    run = alternation(init="pretrain", reconstruction_weight=2.0, by_ratio=True)
    before = run.reconstruction_error()
    run.start()
    assert run.reconstruction_error() < before
    assert run.weight == pytest.approx(2 * run.objectives[0] / run.reconstruction_error())
    exact = alternation(reconstruction_weight=1.0, by_ratio=True)
    exact.reconstruction_error = lambda: 0.0
    with pytest.raises(ValueError, match="reconstruction_scale='ratio'"):
        exact.start()


def test_a_heavy_reconstruction_keeps_the_network_near_the_identity():
    moved = []
    for weight in (0.0, 1000.0):
        run = alternation(reconstruction_weight=weight, n_refine=0)
        run.run()
        moved.append(run.reconstruction_error())
    assert moved[1] < moved[0]


def test_a_callback_ends_the_run():
    run = alternation()
    run.watch = lambda step, terms: step == 7
    run.run()
    assert run.n_steps == 7


def test_embed_is_exact_and_leaves_the_network_alone():
    network = build({"kind": "mlp", "sizes": [2, 3]}, torch.Generator().manual_seed(0))
    found = embed(network, np.ones((1, 2)))
    assert found.dtype == np.float64
    assert network[0][0].weight.dtype == torch.float32
