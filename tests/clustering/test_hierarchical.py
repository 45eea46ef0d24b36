"""Clusters within clusters: which numbers are levels, strict nesting, new rows on every level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage

import gramian
from gramian import HierarchicalKSC, KernelSpectralClustering
from gramian.clustering.hierarchical import Level, standing_out
from gramian.kernels import RBF
from gramian.metrics import adjusted_rand


def rows(positions, seed, n=30, spread=0.35):
    """Gaussian clusters on a line, and their numbers."""
    y = np.repeat(np.arange(len(positions)), n)
    X = np.column_stack([np.asarray(positions, float)[y], np.zeros(len(y))])
    return X + np.random.default_rng(seed).normal(scale=spread, size=X.shape), y


NESTED = (0, 2.5, 14, 16.5)


@pytest.mark.parametrize("seed", [0, 1])
def test_two_groups_of_two_are_two_levels(seed):
    X, y = rows(NESTED, seed)
    model = HierarchicalKSC(random_state=0).fit(X)
    assert [level.n_clusters for level in model.levels_] == [2, 4]
    assert adjusted_rand(y // 2, model.labels_at(0)) == 1
    assert adjusted_rand(y, model.labels_at(1)) == 1
    assert np.array_equal(model.labels_, model.labels_at(-1))
    assert model.n_clusters_ == 4
    assert model.levels_[1].parents.tolist() == [0, 0, 1, 1]
    assert model.levels_[0].model.kernel_.width_ > model.levels_[1].model.kernel_.width_


def test_three_scales_are_three_levels():
    X, y = rows([a + b + c for a in (0, 40) for b in (0, 10) for c in (0, 2.5)], 0, 20)
    model = HierarchicalKSC(random_state=0).fit(X)
    assert [level.n_clusters for level in model.levels_] == [2, 4, 8]
    for level, scale in enumerate((4, 2, 1)):
        assert adjusted_rand(y // scale, model.labels_at(level)) == 1


def test_clusters_without_a_scale_above_them_are_one_level():
    angle = 2 * np.pi * np.arange(5) / 5
    centers = 4 * np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.repeat(centers, 30, axis=0) + np.random.default_rng(0).normal(scale=0.5, size=(150, 2))
    model = HierarchicalKSC(random_state=0).fit(X)
    assert [level.n_clusters for level in model.levels_] == [5]
    assert model.levels_[0].parents.tolist() == [0] * 5


def test_noise_has_no_level_that_stands_out():
    X = np.random.default_rng(0).normal(size=(120, 2))
    with pytest.warns(UserWarning, match=r"no number of clusters reaches threshold=0\.6"):
        model = HierarchicalKSC(random_state=0).fit(X)
    assert len(model.levels_) == 1


def test_the_linkage_is_the_tree():
    X, _ = rows(NESTED, 0)
    model = HierarchicalKSC(random_state=0).fit(X)
    assert is_valid_linkage(model.linkage_)
    assert model.linkage_[:, 2].tolist() == [1, 1, 2]
    cut = fcluster(model.linkage_, 1.5, "distance")  # leaves are the finest clusters
    assert adjusted_rand(cut[model.labels_], model.labels_at(0)) == 1


def test_new_rows_have_a_cluster_on_every_level_and_fitted_ones_find_theirs():
    X, _ = rows(NESTED, 0)
    model = HierarchicalKSC(random_state=0).fit(X)
    new, y = rows(NESTED, 9)
    levels = model.predict_levels(new)
    assert adjusted_rand(y // 2, levels[:, 0]) == 1
    assert adjusted_rand(y, levels[:, 1]) == 1
    for level in (0, 1, -1):
        assert np.array_equal(model.predict(X, level=level), model.labels_at(level))
        assert np.array_equal(model.predict(new, level=level), levels[:, level])
    with pytest.warns(UserWarning, match="1 sample has no similarity"):
        assert model.predict([[1e4, 0.0]]).tolist() == [-1]


def test_strict_levels_are_refinements_and_move_only_rows_that_contradict_the_tree():
    X = np.random.default_rng(7).normal(size=(150, 2)) * [3, 1]
    options = {"threshold": 0.05, "random_state": 0, "max_clusters": 6}
    strict, loose = (HierarchicalKSC(strict=strict, **options).fit(X) for strict in (True, False))
    assert len(strict.levels_) > 1
    moved = [level.inconsistent for level in strict.levels_]
    assert max(moved) > 0  # so that there is something to move
    for above, level in zip(strict.levels_[:-1], strict.levels_[1:], strict=True):
        for cluster in range(level.n_clusters):
            assert np.unique(above.labels[level.labels == cluster]).tolist() == [level.parents[cluster]]
        assert np.mean(level.labels != level.model.labels_) == pytest.approx(level.inconsistent)
    for level in loose.levels_:
        assert np.array_equal(level.labels, level.model.labels_)
    new = np.random.default_rng(8).normal(size=(80, 2)) * [3, 1]
    found = strict.predict_levels(new)
    for place in range(1, len(strict.levels_)):
        inside = found[:, place] >= 0
        assert np.array_equal(strict.levels_[place].parents[found[inside, place]], found[inside, place - 1])
    assert np.array_equal(strict.predict(X), strict.labels_)


def test_of_levels_that_disagree_the_weaker_one_is_left_out():
    def level(labels, criterion):
        model = KernelSpectralClustering(2, kernel=RBF(1.0)).fit(rows((0, 5), 0, len(labels) // 2)[0])
        k = max(labels) + 1
        return Level(k, criterion, model, np.array(labels), np.zeros(k, int), 0.0)

    coarse = level([0] * 6 + [1] * 6, 0.9)
    across = level([0, 1, 2] * 4, 0.7)
    fine = level([0] * 3 + [1] * 3 + [2] * 3 + [3] * 3, 0.8)
    tree = HierarchicalKSC(strict=False)._tree
    assert [found.n_clusters for found in tree([fine, across, coarse])] == [2, 4]
    strong = level([0, 1, 2] * 4, 0.95)
    assert [found.n_clusters for found in tree([coarse, strong, fine])] == [3]


def test_levels_are_the_numbers_that_reach_the_threshold_under_some_kernel():
    table = {
        "kernel": np.array([0, 0, 0, 1, 1, 1]),
        "n_clusters": np.array([2, 3, 4, 2, 3, 4]),
        "gap": np.array([0.2, 0.5, 0.9, 0.8, 0.1, 0.3]),
        "smallest": np.full(6, 0.1),
        "outside": np.zeros(6),
    }
    assert standing_out(table, "gap", 0.6) == [(1, 2, 0.8), (0, 4, 0.9)]
    more = {name: np.append(values, values[2]) for name, values in table.items()}
    more["gap"][-1], more["kernel"][-1] = 1.0, 2  # more parts than were counted, under a narrow kernel
    assert standing_out(more, "gap", 0.6) == [(1, 2, 0.8), (0, 4, 0.9)]
    with pytest.warns(UserWarning, match="threshold=0.95"):
        assert standing_out(table, "gap", 0.95) == [(0, 4, 0.9)]


def test_similarities_that_are_given_have_levels_too():
    X, y = rows(NESTED, 0)
    K = (RBF(0.5).fit(X)(X) + RBF(5.0).fit(X)(X)) / 2
    model = HierarchicalKSC(kernel="precomputed", random_state=0, threshold=0.3).fit(K)
    assert adjusted_rand(y // 2, model.labels_at(0)) == 1
    assert np.array_equal(model.predict(K), model.labels_)


def test_a_saved_model_answers_the_same(tmp_path):
    X, _ = rows(NESTED, 0)
    model = HierarchicalKSC(random_state=0).fit(X)
    gramian.save(model, tmp_path / "tree.gramian")
    again = gramian.load(tmp_path / "tree.gramian")
    assert np.array_equal(again.predict_levels(X), model.predict_levels(X))
    assert np.array_equal(again.linkage_, model.linkage_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"criterion": "baf"}, "criterion='baf'"),
        ({"threshold": "high"}, "threshold='high'"),
        ({"strict": 2}, "strict=2"),
        ({"max_clusters": 1}, "max_clusters=1"),
        ({"kernel": []}, r"kernel=\[\]"),
    ],
)
def test_bad_parameters_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        HierarchicalKSC(**change).fit(rows(NESTED, 0)[0])


def test_bad_levels_are_refused():
    model = HierarchicalKSC(random_state=0).fit(rows(NESTED, 0)[0])
    with pytest.raises(ValueError, match="level=2"):
        model.labels_at(2)
    with pytest.raises(ValueError, match="level=-3"):
        model.predict([[0.0, 0.0]], level=-3)
