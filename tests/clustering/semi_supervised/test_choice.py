"""The choice of width, smoothness and label weight."""

import numpy as np
import pytest

from clustering.semi_supervised.textbook import clouds, few_labels, left_out
from gramian.clustering.semi_supervised import choice as rule
from gramian.clustering.semi_supervised.choice import choose, has_width
from gramian.clustering.semi_supervised.labels import Labels
from gramian.kernels import RBF, TL1, ClusterKernel, NeighborGraph, as_kernel


def chosen(kernel, X, few, *, open_width=True, smoothness=None, label_weight=None, seed=0):
    labels = Labels.of(few, len(X))
    return choose(
        kernel, X, labels, open_width=open_width, smoothness=smoothness, label_weight=label_weight,
        rng=np.random.default_rng(seed),
    )  # fmt: skip


def textbook_error(K, few, smoothness, label_weight):
    labelled = np.flatnonzero(few >= 0)
    C = np.where(few[labelled, None] == np.arange(3), 1.0, -1.0)
    scores = left_out(K, labelled, C, smoothness, label_weight)
    factor = max((scores * C).sum() / (scores**2).sum(), 0)
    return np.mean((factor * scores - C) ** 2)


def test_errors_are_those_of_refits_without_each_label():
    """Every row of the table, of three widths and with and without smoothness."""
    rng = np.random.default_rng(0)
    X, y = clouds(rng, n=60)
    few = few_labels(rng, y)
    table = chosen(RBF(), X, few).table
    K = {scale: RBF(width=scale).fit(X)(X) for scale in np.unique(table["scale"])[[0, 2, 4]]}
    for scale, smoothness, weight, error in zip(
        *(table[name] for name in ("scale", "smoothness", "label_weight", "error")), strict=True
    ):
        if scale in K:
            assert error == pytest.approx(textbook_error(K[scale], few, smoothness, weight), rel=1e-6)


def test_ties_go_to_the_smooth_side_then_to_the_wide_one():
    """Of all errors within five per cent of the least safe one the choice is the largest in (smoothness, width)."""
    rng = np.random.default_rng(1)
    X, y = clouds(rng, distance=5)
    choice = chosen(RBF(), X, few_labels(rng, y))
    table = choice.table
    safe = table["safe"]
    tied = safe & (table["error"] <= 1.05 * table["error"][safe].min())
    assert choice.smoothness == table["smoothness"][tied].max()
    smooth = tied & (table["smoothness"] == choice.smoothness)
    assert choice.kernel.width == table["scale"][smooth].max()


def test_given_parameters_are_kept():
    rng = np.random.default_rng(2)
    X, y = clouds(rng)
    few = few_labels(rng, y)
    assert chosen(RBF(), X, few, smoothness=0.3).smoothness == 0.3
    assert chosen(RBF(), X, few, label_weight=7.0).label_weight == 7.0
    kept = chosen(RBF(width=2.0), X, few, open_width=False)
    assert kept.kernel.width == 2.0
    assert np.isnan(kept.table["scale"]).all()


def test_label_weights_are_in_the_unit_of_the_kernel():
    """A kernel times ten has label weights over ten, and the same choice."""
    rng = np.random.default_rng(3)
    X, y = clouds(rng)
    few = few_labels(rng, y)
    plain, scaled = (chosen(k, X, few, open_width=False) for k in (RBF(width=1.0), 10.0 * RBF(width=1.0)))
    assert scaled.label_weight == pytest.approx(plain.label_weight / 10)
    assert np.allclose(plain.table["error"], scaled.table["error"])


def test_many_rows_are_chosen_on_some(monkeypatch):
    """At most 500 rows, all labelled ones among them up to 200, and of these every class."""
    rng = np.random.default_rng(4)
    X, y = clouds(rng, n=900)
    few = np.where(rng.random(900) < 0.4, y, -1)
    few[y == 2] = -1
    few[np.flatnonzero(y == 2)[:3]] = 2
    seen = []
    original = rule._tried

    def watched(kernel, scale, gram, labels, *rest, **options):
        seen.append((gram.shape[0], len(labels.rows), np.bincount(labels.codes).tolist()))
        return original(kernel, scale, gram, labels, *rest, **options)

    monkeypatch.setattr(rule, "_tried", watched)
    choice = chosen(RBF(), X, few)
    assert {s[:2] for s in seen} == {(500, 200)}
    assert seen[0][2][2] == 3
    assert choice.kernel.width == chosen(RBF(), X, few).kernel.width


def test_which_kernels_have_a_width():
    assert has_width(RBF())
    assert has_width(TL1())
    assert not has_width(NeighborGraph())
    assert not has_width(ClusterKernel())
    assert not has_width(as_kernel("precomputed"))


def test_a_radius_is_chosen_in_units_of_the_manhattan_distance():
    rng = np.random.default_rng(5)
    X, y = clouds(rng)
    few = few_labels(rng, y)
    near, far = (chosen(TL1(), s * X, few).kernel.radius for s in (1.0, 100.0))
    assert far == pytest.approx(100 * near)
