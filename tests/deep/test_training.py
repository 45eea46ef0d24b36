"""The training loop."""

import numpy as np
import pytest
import torch
from torch import nn

from gramian.deep.architecture import SeededDropout, build, linear
from gramian.deep.training import Settings, draw_batches, torch_generator, train


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def regression(rng, n=60):
    """A linear layer, and the mean squared error of a noisy linear target."""
    X = torch.tensor(rng.normal(size=(n, 3)), dtype=torch.float32)
    y = X @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.1 * torch.tensor(rng.normal(size=(n, 1)), dtype=torch.float32)
    module = linear(3, 1, torch.Generator().manual_seed(0))

    def loss(batch):
        error = ((module(X[batch]) - y[batch]) ** 2).mean()
        return {"loss": error, "twice": 2 * error}

    return module, loss, X, y


def test_a_full_batch_finds_the_least_squares_solution(rng):
    module, loss, X, y = regression(rng)
    history = train(module, loss, len(X), Settings(800, batch_size=60, learning_rate=0.05), rng)
    design = np.column_stack([X, np.ones(len(X))])
    expected = np.linalg.lstsq(design, y.numpy(), rcond=None)[0][:, 0]
    found = np.append(module.weight.detach().numpy()[0], module.bias.item())
    np.testing.assert_allclose(found, expected, atol=1e-3)
    assert history.n_iter == len(history.curves["loss"]) == 800
    np.testing.assert_allclose(history.curves["twice"], 2 * history.curves["loss"], rtol=1e-6)


def test_steps_are_those_of_adam_by_hand(rng):
    """The loop adds nothing to torch's own optimiser."""
    module, loss, X, _ = regression(rng)
    start = [p.detach().clone() for p in module.parameters()]
    train(module, loss, len(X), Settings(7, batch_size=10), np.random.default_rng(3))
    found = [p.detach().clone() for p in module.parameters()]
    with torch.no_grad():
        for p, old in zip(module.parameters(), start, strict=True):
            p.copy_(old)
    again = np.random.default_rng(3)
    torch_generator(again)
    adam = torch.optim.Adam(module.parameters(), 1e-3)
    batches = draw_batches(np.arange(len(X)), 10, again)
    for _ in range(7):
        adam.zero_grad()
        loss(torch.from_numpy(next(batches)))["loss"].backward()
        adam.step()
    for p, expected in zip(module.parameters(), found, strict=True):
        assert torch.equal(p, expected)


def test_the_rate_falls_linearly_over_the_last_steps(rng):
    """Of 8 steps half cool down, from 4/4 to 1/4 of the rate; the seventh fails, which halves what is left."""
    module, plain, X, _ = regression(rng)
    rates, calls = [], []

    def optimizer(parameters, rate):
        chosen = torch.optim.SGD(parameters, rate)
        chosen.register_step_pre_hook(lambda chosen, *_: rates.append(chosen.param_groups[0]["lr"]))
        return chosen

    def loss(batch):
        calls.append(len(calls))
        return {"loss": plain(batch)["loss"] * (float("nan") if len(calls) == 7 else 1.0)}

    settings = Settings(8, batch_size=10, learning_rate=0.4, cool_down=0.5)
    train(module, loss, len(X), settings, rng, optimizer=optimizer)
    np.testing.assert_allclose(rates, [0.4] * 5 + [0.3, 0.1, 0.05])


def test_early_stopping_keeps_the_best_weights(rng):
    """The weights kept have the lowest loss on the rows held back, and training ends early."""
    module, loss, X, _ = regression(rng, n=12)
    settings = Settings(
        3000, batch_size=4, learning_rate=0.05, early_stopping=True, validation_fraction=0.3, n_iter_no_change=5
    )
    history = train(module, loss, len(X), settings, np.random.default_rng(1))
    assert history.stopped == "early_stopping"
    assert history.n_iter < 3000
    again = np.random.default_rng(1)
    torch_generator(again)
    held_back = np.sort(again.permutation(12)[:4])
    with torch.no_grad():
        found = float(loss(torch.from_numpy(held_back))["loss"])
    best = history.validation[:, 1].min()
    assert found <= best + 1e-4 * abs(best) + 1e-7


def test_a_loss_that_is_not_finite_goes_back_and_halves_the_rate(rng):
    """After a bad step the last good weights are restored; the rate is halved."""
    module, plain, X, _ = regression(rng)
    rates, calls, good = [], [], []

    def optimizer(parameters, rate):
        rates.append(rate)
        return torch.optim.SGD(parameters, rate)

    def loss(batch):
        calls.append(module.weight.detach().clone())
        terms = plain(batch)
        if len(calls) in (4, 7):
            good.append(calls[-2])
            return {"loss": terms["loss"] * float("nan")}
        return {"loss": terms["loss"]}

    history = train(module, loss, len(X), Settings(10, batch_size=10), rng, optimizer=optimizer)
    assert rates == [1e-3, 5e-4, 2.5e-4]
    assert history.n_failures == 2
    assert history.n_iter == 10
    assert torch.equal(calls[4], good[0])  # the step after the bad one starts from the weights before it
    assert torch.equal(calls[7], good[1])


def test_a_gradient_that_is_not_finite_is_never_taken(rng):
    module, plain, X, _ = regression(rng)

    def loss(batch):
        return {"loss": plain(batch)["loss"] * 0 + torch.sqrt((module.weight * 0).sum())}  # 0, with slope NaN

    before = module.weight.detach().clone()
    with pytest.raises(ValueError, match=r"gave up at step 1: .* not finite 5 times.*learning_rate below 0.001"):
        train(module, loss, len(X), Settings(10), rng)
    assert torch.equal(module.weight, before)


def test_batches_of_passes_cover_every_row_once():
    batches = draw_batches(np.arange(20), 5, np.random.default_rng(0), "passes")
    for _ in range(3):
        assert sorted(np.concatenate([next(batches) for _ in range(4)])) == list(range(20))


def test_batches_of_draws_have_no_row_twice():
    batches = draw_batches(np.arange(100, 120), 7, np.random.default_rng(0))
    for _ in range(20):
        batch = next(batches)
        assert len(set(batch)) == 7
        assert set(batch) <= set(range(100, 120))


def test_dropout_follows_the_seed_and_leaves_torch_alone(rng):
    """Layers that draw while training repeat with the seed, and scale what they keep."""
    before = torch.get_rng_state()
    curves, X = [], torch.ones(30, 4)
    for _ in range(2):
        module = build({"kind": "mlp", "sizes": [4, 20, 1], "dropout": 0.5}, torch.Generator().manual_seed(0))
        loss = lambda batch, module=module: {"loss": (module(X[batch]) ** 2).mean()}  # noqa: E731
        curves.append(train(module, loss, 30, Settings(5, batch_size=8), np.random.default_rng(2)).curves["loss"])
    np.testing.assert_array_equal(*curves)
    assert torch.equal(torch.get_rng_state(), before)
    layer = SeededDropout(0.25)
    layer.generator = torch.Generator().manual_seed(0)
    dropped = layer(torch.ones(20000))
    assert set(np.round(dropped.unique().numpy(), 5)) == {0, np.float32(1.33333)}
    assert abs(float(dropped.mean()) - 1) < 0.02
    assert torch.equal(layer.eval()(torch.ones(3)), torch.ones(3))


def test_gradients_are_clipped(rng):
    module, plain, X, _ = regression(rng)
    seen = []

    def optimizer(parameters, rate):
        chosen = torch.optim.SGD(parameters, rate)
        chosen.register_step_pre_hook(
            lambda *_: seen.append(float(nn.utils.get_total_norm([p.grad for p in parameters])))
        )
        return chosen

    train(module, plain, len(X), Settings(3, gradient_clip=1e-3), rng, optimizer=optimizer)
    np.testing.assert_allclose(seen, 1e-3, rtol=1e-3)


@pytest.mark.parametrize("n", [4, 5, 43])
def test_no_part_of_the_rows_held_back_is_a_single_row(rng, n):
    """A loss of pairs of rows needs two of them; of 43 rows 21 are held back, in batches of 20."""
    module, loss, _, _ = regression(rng, n)
    sizes = []

    def noted(batch):
        sizes.append(len(batch))
        return loss(batch)

    train(module, noted, n, Settings(3, batch_size=20, early_stopping=True, validation_fraction=0.49), rng)
    assert min(sizes) >= 2
    with pytest.raises(ValueError, match="only 3 samples"):
        train(module, loss, 3, Settings(3, early_stopping=True), rng)


def test_dropout_of_the_user_follows_the_seed_and_leaves_torch_alone(rng):
    """torch's own layers draw from its global generator, which is as before afterwards."""
    X, curves = torch.ones(30, 4), []
    for _ in range(2):
        module = nn.Sequential(linear(4, 20, torch.Generator().manual_seed(0)), nn.Dropout(0.5))
        before = torch.get_rng_state()
        loss = lambda batch, module=module: {"loss": (module(X[batch]) ** 2).mean()}  # noqa: E731
        curves.append(train(module, loss, 30, Settings(5, batch_size=8), np.random.default_rng(2)).curves["loss"])
        assert torch.equal(torch.get_rng_state(), before)
        torch.rand(1)
    np.testing.assert_array_equal(*curves)
