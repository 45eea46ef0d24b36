"""Clustering with networks, beside the kernel method that takes a fraction of the time.

Every figure is a mean over random states, with its range. Processor time is told, because the clock of a busy machine
tells little. MNIST, USPS, Fashion-MNIST and COIL-20 lie in the folder named by GRAMIAN_DATA, by default that beside the
project.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from benchmarks.case import Case, Scores, as_it_is, over_states
from gramian import SpectralClustering
from gramian.deep import DEC, DivergenceClustering
from gramian.metrics import clustering_accuracy, normalized_mutual_info

IMAGES = Path(os.environ.get("GRAMIAN_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "images"
Data = tuple[np.ndarray, np.ndarray, tuple[int, ...] | None]


def _digits() -> Data:
    X, y = load_digits(return_X_y=True)
    return X / 16, y, (1, 8, 8)


def _stored(name: str, n: int | None = None) -> Data:
    """Images and their classes from a file of arrays X (n, height, width) or (n, d), and y."""
    with np.load(IMAGES / name) as file:
        X, y = file["X"][:n], file["y"][:n]
    side = round(np.prod(X.shape[1:]) ** 0.5)
    X = X.reshape(len(X), -1).astype(np.float32)
    X -= X.min()
    return X / X.max(), y, (1, side, side)


def _disc_and_ring() -> Data:
    """A disc of radius 0.5 in a ring of radius 2 with noise 0.1, a thousand points each."""
    rng = np.random.default_rng(0)
    radius = np.concatenate([0.5 * np.sqrt(rng.random(1000)), 2 + 0.1 * rng.normal(size=1000)])
    angle = 2 * np.pi * rng.random(2000)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1), np.repeat([0, 1], 1000), None


def _network(data: Data, state: int, **settings: Any) -> Any:
    return DivergenceClustering(len(np.unique(data[1])), image_shape=data[2], random_state=state, **settings)


def _spectral(data: Data, state: int) -> Any:
    return SpectralClustering(len(np.unique(data[1])), random_state=state)


def _kmeans(data: Data, state: int) -> Any:
    return KMeans(len(np.unique(data[1])), n_init=10, random_state=state)


def _dec(data: Data, state: int) -> Any:
    return DEC(len(np.unique(data[1])), pretrain_iter=500, random_state=state)


def _over_states(make: Callable[[Data, int], Any], states: int, data: Data) -> Scores:
    """Mean and range of accuracy, mutual information and processor time over random states."""

    def answer(state: int) -> dict[str, float]:
        start = time.process_time()
        labels = make(data, state).fit(data[0]).labels_
        seconds = time.process_time() - start
        return {
            "accuracy": clustering_accuracy(data[1], labels),
            "mutual_information": normalized_mutual_info(data[1], labels),
            "processor_seconds": seconds,
        }

    return over_states(answer, range(states), digits=3)


def _step_seconds(data: Data) -> dict[str, float]:
    """Median processor time of a step of the divergence loss, and of cross-entropy in a bare loop, in turns."""
    ours, bare = [], []
    for state in range(3):
        clock: list[float] = []
        watch = lambda *told, clock=clock: clock.append(time.process_time())  # noqa: E731
        _network(data, state, init="random", consistency=None, max_iter=40, callbacks=watch).fit(data[0])
        ours += np.diff(clock).tolist()
        bare += _bare_steps(data, 40)
    found = {"seconds": float(np.median(ours)), "bare_seconds": float(np.median(bare))}
    return found | {"ratio": found["seconds"] / found["bare_seconds"]}


def _bare_steps(data: Data, n_steps: int) -> list[float]:
    """Processor time of each step."""
    import torch

    from gramian.deep.architecture import build

    X, y, shape = data
    torch.set_num_threads(1)
    network = build({"kind": "cnn", "image_shape": shape, "outputs": 10}, torch.Generator().manual_seed(0))
    adam = torch.optim.Adam(network.parameters(), 1e-3)
    rows, classes = torch.tensor(X), torch.tensor(y.astype(np.int64))
    rng, clock = np.random.default_rng(0), [time.process_time()]
    for _ in range(n_steps):
        batch = torch.from_numpy(rng.choice(len(X), 100, replace=False))
        adam.zero_grad()
        torch.nn.functional.cross_entropy(network(rows[batch]), classes[batch]).backward()
        adam.step()
        clock.append(time.process_time())
    return np.diff(clock).tolist()


def _sides(states: int, dec_states: int = 0) -> dict[str, Callable[[Any], Any]]:
    """Ours and the methods beside it over some random states; DEC, which takes longest, over fewer."""
    makers = {"DivergenceClustering": _network, "SpectralClustering": _spectral, "k-means": _kmeans}
    found = {name: partial(_over_states, make, states) for name, make in makers.items()}
    return found | ({"DEC": partial(_over_states, _dec, dec_states)} if dec_states else {})


CASES = [
    Case(
        name="deep_digits",
        question="Digits 8×8, ten clusters from pixels: how many are right? Mean of 5 states, DEC of one",
        target="mutual information >= .895 (worst .88), accuracy >= .90 (worst .89), <= 15 processor seconds",
        data=_digits,
        sides=_sides(5, dec_states=1),
        score=as_it_is,
        repeats=1,
    ),
    Case(
        name="deep_ring",
        question="A disc in a ring, from random weights, best of 3 runs by loss: how many are right? 5 states",
        target="accuracy >= .99 in all states, <= 15 processor seconds",
        data=_disc_and_ring,
        sides={
            "DivergenceClustering": partial(_over_states, partial(_network, init="random", n_init=3, max_iter=600), 5),
            "k-means": partial(_over_states, _kmeans, 5),
        },
        score=as_it_is,
        repeats=1,
    ),
    Case(
        name="deep_mnist",
        question="MNIST, first 10,000 images: how many are right? Mean of 3 states",
        target="accuracy >= .79, mutual information >= .84, <= 200 processor seconds",
        data=partial(_stored, "mnist.npz", 10_000),
        sides=_sides(3),
        score=as_it_is,
        repeats=1,
    ),
    Case(
        name="deep_usps",
        question="USPS, 16×16 digits: how many are right? Mean of 2 states, DEC of one",
        target="above spectral clustering",
        data=partial(_stored, "usps.npz"),
        sides=_sides(2, dec_states=1),
        score=as_it_is,
        repeats=1,
    ),
    Case(
        name="deep_fashion",
        question="Fashion-MNIST, 20,000 images: how many are right? Mean of 2 states, DEC of one",
        target="above spectral clustering",
        data=partial(_stored, "fashion_mnist_20k.npz"),
        sides=_sides(2, dec_states=1),
        score=as_it_is,
        repeats=1,
    ),
    Case(
        name="deep_coil",
        question="COIL-20, 1,440 views of 20 objects: how many are right? Mean of 2 states, DEC of one",
        target="none, reported as it is",
        data=partial(_stored, "coil20.npz"),
        sides=_sides(2, dec_states=1),
        score=as_it_is,
        repeats=1,
    ),
    Case(
        name="deep_step",
        question="28×28 images, batches of 100: what does a step cost beside cross-entropy in a bare loop?",
        target="ratio <= 1.3",
        data=partial(_stored, "mnist.npz", 2000),
        sides={"DivergenceClustering": _step_seconds},
        score=as_it_is,
        repeats=1,
    ),
]
