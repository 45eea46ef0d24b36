"""Clusters over time: memory, events, labels that stay, rows one at a time, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import gramian
from gramian import ClusterKernel
from gramian.clustering import EvolvingKSC
from gramian.clustering.ksc import Eigenproblem, decoder_of
from gramian.kernels import RBF, NeighborGraph
from gramian.metrics import adjusted_rand

CENTERS = np.array([(0.0, 0.0), (4.0, 0.0), (0.0, 4.0), (5.0, 5.0)])


def draw(which, seed, n=30, spread=0.4):
    """Rows of the named clusters and their numbers."""
    y = np.repeat(list(which), n)
    return CENTERS[y] + np.random.default_rng(seed).normal(scale=spread, size=(len(y), 2)), y


def told(model):
    return [(event.snapshot, event.kind, event.before, event.after) for event in model.events_]


def test_without_memory_every_snapshot_is_plain_kernel_spectral_clustering():
    model = EvolvingKSC(3, kernel=RBF(0.7), memory=0.0)
    for seed in range(3):
        X, _ = draw((0, 1, 2), seed, spread=0.9)
        model.partial_fit(X)
        problem = Eigenproblem.of(model.kernel_.gram(X), 2)
        plain = decoder_of(problem.scores(), 3).labels(problem.scores())
        assert adjusted_rand(plain, model.labels_) == 1
        np.testing.assert_allclose(model.decision_function(X), problem.scores(), atol=1e-10)
        np.testing.assert_allclose(model.eigenvalues_, problem.values)


def test_two_clusters_that_meet_and_part_are_reported_once_each():
    """Two clusters move together and apart again beside a third: one merge, one split, the third keeps its label."""
    rng, model = np.random.default_rng(0), EvolvingKSC(kernel=RBF(0.7))
    steps = np.concatenate([np.linspace(4, 0, 15), np.linspace(0, 4, 15)])
    third = []
    for apart in steps:
        centers = np.repeat([(-apart / 2, 0), (apart / 2, 0), (0, 6)], 50, axis=0)
        model.partial_fit(centers + rng.normal(scale=0.5, size=(150, 2)))
        third.append(set(model.labels_[100:].tolist()))
    assert [event.kind for event in model.events_] == ["merge", "split"]
    merge, split = model.events_
    assert merge.before == (0, 1)
    assert merge.after == split.before
    assert len(split.after) == 2
    assert set(split.after) & set(split.before)  # one part goes on, the other has a fresh label
    assert 4 < merge.snapshot < 15 < split.snapshot < 26
    assert third == [{2}] * 30
    assert model.n_clusters_ == 3
    assert adjusted_rand(np.repeat([0, 1, 2], 50), model.labels_) > 0.99
    assert len(model.sizes_) == model.n_snapshots_ == 30
    assert sum(model.sizes_[12].values()) == 150


def test_two_clusters_may_become_a_single_one():
    rng, model = np.random.default_rng(1), EvolvingKSC(kernel=RBF(0.7))
    for apart in [4, 3, 2, 1, 0, 0, 0, 1, 2, 3, 4, 4]:
        centers = np.repeat([(-apart / 2, 0), (apart / 2, 0)], 50, axis=0)
        X = centers + rng.normal(scale=0.5, size=(100, 2))
        model.partial_fit(X)
        assert model.predict_proba(X).shape == (100, model.n_clusters_)
    assert [event.kind for event in model.events_] == ["merge", "split"]


@pytest.mark.parametrize("memory", [0.0, 0.3])
def test_births_and_deaths_are_reported_and_the_others_keep_their_labels(memory):
    model, there = EvolvingKSC(kernel=RBF(0.7), memory=memory), [(0, 1), (0, 1, 2), (0, 1, 2, 3), (1, 2, 3), (1, 2)]
    for seed, which in enumerate(there):
        X, y = draw(which, seed)
        model.partial_fit(X)
        assert np.array_equal(model.labels_, y)
        assert sorted(model.cluster_labels_.tolist()) == list(which)
    assert told(model) == [
        (1, "birth", (), (2,)),
        (2, "birth", (), (3,)),
        (3, "death", (0,), ()),
        (4, "death", (3,), ()),
    ]


def test_a_label_is_not_given_to_another_cluster_later():
    model = EvolvingKSC(kernel=RBF(0.7))
    for seed, which in enumerate([(0, 1, 2), (1, 2), (1, 2, 3), (1, 2, 3, 0)]):
        model.partial_fit(draw(which, seed)[0])
    assert sorted(model.cluster_labels_.tolist()) == [1, 2, 3, 4]


def test_memory_steadies_small_noisy_snapshots():
    """Of eight rows a cluster, few clusterings go astray with memory; the labels over all snapshots agree better."""

    def agreement(memory):
        rng, labels, model = np.random.default_rng(5), [], EvolvingKSC(3, kernel=RBF(1.0), memory=memory)
        angle = 2 * np.pi * np.arange(3) / 3
        for step in range(20):
            turned = 2.4 * np.column_stack([np.cos(angle + 0.05 * step), np.sin(angle + 0.05 * step)])
            model.partial_fit(np.repeat(turned, 8, axis=0) + rng.normal(scale=1.0, size=(24, 2)))
            labels.append(model.labels_)
        return adjusted_rand(np.tile(np.repeat([0, 1, 2], 8), 20), np.concatenate(labels))

    assert agreement(0.3) > agreement(0.0) + 0.02


def test_fitted_rows_find_their_labels_again_and_strangers_none():
    model = EvolvingKSC(kernel=RBF(0.7))
    for seed in range(3):
        X, _ = draw((0, 1, 2), seed, spread=0.8)
        model.partial_fit(X)
    assert model.n_remembered_ == 2
    assert np.array_equal(model.predict(X), model.labels_)
    with pytest.warns(UserWarning, match="1 sample has no similarity"):
        assert model.predict([[1e3, 1e3]]).tolist() == [-1]
    memberships = model.predict_proba(X)
    np.testing.assert_allclose(memberships.sum(axis=1), 1)
    assert np.array_equal(model.cluster_labels_[memberships.argmax(axis=1)], model.labels_)


# Rows one at a time ------------------------------------------------------------------------------------------


def test_single_rows_agree_with_the_batch_on_data_that_stay():
    X, _ = draw((0, 1, 2), 0, 50)
    later, y = draw((0, 1, 2), 1, 60)
    order = np.random.default_rng(2).permutation(len(y))
    batch = EvolvingKSC(kernel=RBF(0.7)).fit(X)
    model = EvolvingKSC(kernel=RBF(0.7), incremental=True).fit(X)
    labels = [model.partial_fit(row[None]).labels_[0] for row in later[order]]
    assert np.array_equal(labels, batch.predict(later[order]))
    assert adjusted_rand(y[order], labels) == 1
    assert model.events_ == []
    assert model.n_snapshots_ == 3  # half of the 150 rows of the window were new twice


def test_single_rows_of_a_new_cluster_are_born_when_they_are_enough():
    X, _ = draw((0, 1, 2), 0, 50)
    model = EvolvingKSC(kernel=RBF(0.7), incremental=True).fit(X)
    later, y = draw((0, 3), 3, 20)
    order = np.random.default_rng(2).permutation(len(y))
    labels = np.array([model.partial_fit(row[None]).labels_[0] for row in later[order]])
    fourth = labels[y[order] == 3]
    assert told(model) == [(1, "birth", (), (3,))]
    assert fourth[:7].tolist() == [-1] * 7  # √(150 / 3) rows are not enough
    assert set(fourth[8:].tolist()) == {3}
    assert set(labels[y[order] == 0].tolist()) == {0}


def test_single_rows_of_clusters_that_meet_are_merged():
    rng = np.random.default_rng(0)
    model = EvolvingKSC(kernel=RBF(0.7), incremental=True).fit(draw((0, 1, 2), 0, 30)[0])
    for step in range(80):
        apart = max(0.0, 4 - 0.08 * step)
        centers = np.repeat([(0, 0), (apart, 0), (0, 4)], 3, axis=0)
        model.partial_fit(centers + rng.normal(scale=0.4, size=(9, 2)))
        assert len(model.labels_) == 9
    assert [event.kind for event in model.events_] == ["merge"]


# Data of other kinds -----------------------------------------------------------------------------------------


def test_holes_are_taken_by_the_cluster_kernel():
    model = EvolvingKSC(3, kernel=ClusterKernel(8, 5), random_state=0)
    for seed in range(3):
        X, y = draw((0, 1, 2), seed)
        X = np.hstack([X, X + 0.1])
        X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
        model.partial_fit(X)
        assert adjusted_rand(y, model.labels_) > 0.9
    assert model.events_ == []


def test_sparse_and_single_precision_rows_give_the_same_clusters():
    models = {kind: EvolvingKSC(kernel=RBF(0.7)) for kind in (csr_array, np.float32, np.asarray)}
    for seed in range(2):
        X, _ = draw((0, 1, 2), seed)
        for kind, model in models.items():
            model.partial_fit(kind(X))
    first, single, dense = models.values()
    assert np.array_equal(first.labels_, dense.labels_)
    assert np.array_equal(single.labels_, dense.labels_)
    assert single.decision_function(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("incremental", [False, True])
def test_a_saved_model_goes_on_where_it_was(tmp_path, incremental):
    model = EvolvingKSC(kernel=RBF(0.7), incremental=incremental)
    for seed, which in enumerate([(0, 1), (0, 1, 2), (0, 1, 2)]):
        model.partial_fit(draw(which, seed)[0])
    if incremental:
        model.partial_fit([[0.1, 0.1]])
    gramian.save(model, tmp_path / "model.gramian")
    again = gramian.load(tmp_path / "model.gramian")
    assert again.events_ == model.events_
    assert again.sizes_ == model.sizes_
    X = draw((1, 2, 3), 9)[0]
    for each in (model, again):
        each.partial_fit(X)
    assert np.array_equal(again.labels_, model.labels_)
    assert again.events_ == model.events_


# Refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ones((5, 3)), "X has 3 features, but EvolvingKSC is expecting 2"),
        (np.ones((0, 2)), "0 sample"),
        (np.ones((1, 2)), "minimum of 2 is required"),
        (np.full((5, 2), np.nan), "NaN"),
    ],
)
def test_bad_snapshots_are_refused_and_leave_the_model_as_it_was(rows, message):
    X, _ = draw((0, 1, 2), 0)
    model = EvolvingKSC(kernel=RBF(0.7)).fit(X)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(rows)
    assert model.n_snapshots_ == 1
    assert np.array_equal(model.predict(X), model.labels_)


def test_a_snapshot_of_fewer_rows_than_clusters_is_refused():
    model = EvolvingKSC(3, kernel=RBF(0.7)).fit(draw((0, 1, 2), 0)[0])
    with pytest.raises(ValueError, match="n_clusters=3 is more than the n_samples=2"):
        model.partial_fit([[0.0, 0.0], [4.0, 0.0]])


@pytest.mark.parametrize("kernel", ["precomputed", NeighborGraph(5)])
def test_kernels_that_compare_no_snapshots_are_refused(kernel):
    with pytest.raises(ValueError, match="compares no rows of different snapshots"):
        EvolvingKSC(kernel=kernel).fit(np.eye(10))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"memory": 1.0}, "memory=1.0 must be a finite number >= 0 and < 1"),
        ({"share": 0.0}, "share=0.0"),
        ({"max_clusters": 1}, "max_clusters=1"),
        ({"incremental": "yes"}, "incremental='yes'"),
        ({"decoding": "code"}, "decoding='code'"),
        ({"n_clusters": 0}, "n_clusters=0"),
    ],
)
def test_bad_parameters_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        EvolvingKSC(**change).fit(draw((0, 1), 0)[0])
