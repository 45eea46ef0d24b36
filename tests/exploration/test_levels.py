"""Coarser and finer groupings: found where both hold, and what divides one into the other is named."""

from types import SimpleNamespace

import numpy as np

from gramian.exploration.levels import other_levels
from gramian.tables import NUMBER, Column

NAMES = ["kind", "size", "noise"]


def nested(rng, n=240):
    """Two kinds far apart, each of two sizes."""
    coarse, part = rng.integers(0, 2, n), rng.integers(0, 2, n)
    X = np.column_stack([10.0 * coarse, 6.0 * part, np.zeros(n)]) + 0.3 * rng.normal(size=(n, 3))
    return X, coarse, 2 * coarse + part


def chosen(labels, evidence, levels, each=None):
    """What other_levels asks of a fitted AutoClustering."""
    return SimpleNamespace(
        level_stability_=each or {k: np.full(k, dict(evidence)[k]) for k in levels},
        n_clusters_=int(labels.max()) + 1,
        evidence_=evidence,
        row_levels_=dict.fromkeys(levels),
        labels_at=lambda k, X: levels[k],
    )


def levels_of(choice, X, labels):
    columns = [Column(name, NUMBER, 0.0) for name in NAMES]
    return other_levels(choice, X, labels, np.arange(len(X)), (NAMES, columns), lambda groups, least: [], seed=0)


def test_a_coarser_level_is_named_with_what_divides_it():
    X, coarse, fine = nested(np.random.default_rng(0))
    (level,) = levels_of(chosen(fine, [(2, 0.97), (4, 0.95)], {2: coarse}), X, fine)
    assert level.sentence == "The rows also form 2 larger groups; they divide further by size."
    assert level.stability == 0.97
    sizes = np.bincount(level.labels)
    assert sizes[0] >= sizes[1]
    assert len(np.unique(np.column_stack([level.labels, coarse]), axis=0)) == 2


def test_a_finer_level_is_named_too_and_the_surest_of_each_side_wins():
    X, coarse, fine = nested(np.random.default_rng(1))
    three = np.where(fine == 3, 2, coarse)
    found = levels_of(chosen(coarse, [(2, 0.99), (3, 0.8), (4, 0.9)], {3: three, 4: fine}), X, coarse)
    assert [level.sentence for level in found] == ["The rows also form 4 smaller groups, which divide these by size."]


def test_each_group_of_a_level_keeps_its_own_stability():
    """Groups are numbered by size, and a figure goes with its group; one that has no rows takes none away."""
    X, coarse, fine = nested(np.random.default_rng(5))
    smaller = int(np.bincount(coarse).argmin())
    each = {2: np.where(np.arange(2) == smaller, 0.8, 0.97)}
    told = []

    def describe(groups, stability):
        told.append(stability)
        return []

    columns = [Column(name, NUMBER, 0.0) for name in NAMES]
    choice = chosen(fine, [(2, 0.8), (4, 0.95)], {2: coarse}, each)
    other_levels(choice, X, fine, np.arange(len(X)), (NAMES, columns), describe, seed=0)
    assert [stability.tolist() for stability in told] == [[0.97, 0.8]]


def test_levels_that_are_not_sure_are_not_told():
    X, coarse, fine = nested(np.random.default_rng(2))
    assert levels_of(chosen(fine, [(2, 0.7), (4, 0.95)], {2: coarse}), X, fine) == []


def test_groups_that_cut_across_the_chosen_ones_are_not_said_to_divide_them():
    X, coarse, _ = nested(np.random.default_rng(3))
    across = np.arange(len(X)) % 3
    (level,) = levels_of(chosen(coarse, [(2, 0.97), (3, 0.95)], {3: across}), X, coarse)
    assert level.sentence == "The rows also form 3 other groups, which cut across these."


def test_rows_of_no_group_have_none_at_other_levels():
    X, coarse, fine = nested(np.random.default_rng(4))
    fine = np.where(np.arange(len(X)) < 3, -1, fine)
    (level,) = levels_of(chosen(fine, [(2, 0.97), (4, 0.95)], {2: coarse}), X, fine)
    assert (level.labels[:3] == -1).all()
    assert (level.labels[3:] >= 0).all()


def test_a_group_without_rows_is_not_counted():
    """Of 4 classes one lost its last row: a level of 3; one that is left with the chosen number is none."""
    X, coarse, fine = nested(np.random.default_rng(4))
    three = np.where(fine == 3, 2, fine)
    (level,) = levels_of(chosen(coarse, [(2, 0.97), (4, 0.95)], {4: three}), X, coarse)
    assert level.sentence.startswith("The rows also form 3 smaller groups")
    assert levels_of(chosen(coarse, [(2, 0.97), (4, 0.95)], {4: coarse}), X, coarse) == []
