"""Memberships and selection criteria against the formulas of the papers, written out row by row."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.metrics import (
    average_membership_strength,
    balanced_angular_fit,
    balanced_angular_similarity,
    balanced_line_fit,
)
from gramian.score_criteria import mean_scores, memberships

CRITERIA = (average_membership_strength, balanced_angular_fit, balanced_angular_similarity, balanced_line_fit)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def cosine(a, b):
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def rays(rng, k, n_each=30, noise=0.1):
    """Scores of k clusters near rays with negative inner products, and their labels."""
    A = np.vstack([np.eye(k - 1), -np.ones(k - 1)])
    labels = np.repeat(range(k), n_each)
    return rng.uniform(0.5, 2, (k * n_each, 1)) * A[labels] + noise * rng.standard_normal((k * n_each, k - 1)), labels


def of_definition(scores, prototypes):
    """cm_p = Π_{j≠p} d_j / Σ_q Π_{j≠q} d_j with d_p = 1 − cos."""
    rows = []
    for e in scores:
        d = [1 - cosine(e, s) for s in prototypes]
        products = [prod(d[:p] + d[p + 1 :]) for p in range(len(d))]
        rows.append([part / sum(products) for part in products])
    return np.array(rows)


@pytest.mark.parametrize("k", [3, 4, 6])
def test_memberships_are_the_products_of_the_paper(k, rng):
    """Normalised 1/d equals the products of distances to all other prototypes, to 1e-12."""
    scores, labels = rays(rng, k)
    prototypes = mean_scores(scores, labels, k)
    found = memberships(scores, prototypes)
    np.testing.assert_allclose(found, of_definition(scores, prototypes), atol=1e-12)
    assert (found.argmax(axis=1) == [np.argmax([cosine(e, s) for s in prototypes]) for e in scores]).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 20))
def test_memberships_are_shares_that_follow_a_renaming(seed, k, n):
    """Rows sum to one, lie in [0, 1], and permuting prototypes permutes columns."""
    rng = np.random.default_rng(seed)
    scores, prototypes = rng.standard_normal((n, k - 1)), rng.standard_normal((k, k - 1))
    found = memberships(scores, prototypes)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert found.min() >= 0
    order = rng.permutation(k)
    np.testing.assert_allclose(memberships(scores, prototypes[order]), found[:, order], atol=1e-12)


def test_memberships_on_a_prototype_and_of_nothing(rng):
    """A row on the direction of a prototype is all of its cluster; a row of zeros is of all alike."""
    prototypes = np.vstack([np.eye(3), -np.ones(3)])
    found = memberships(np.vstack([5 * prototypes, np.zeros(3)]), prototypes)
    np.testing.assert_allclose(found[:4], np.eye(4), atol=1e-6)
    np.testing.assert_allclose(found[4], 0.25)


def test_two_clusters_change_sides_at_zero(rng):
    """Of two clusters the larger membership is on the side of the score's sign, however unequal the prototypes."""
    scores = rng.standard_normal((200, 1)) * 3
    found = memberships(scores, np.array([[-0.2], [5.0]]))
    assert (found.argmax(axis=1) == (scores[:, 0] > 0)).all()


def textbook_line_fit(E, labels, k, balance, degrees=None):
    if k == 2:
        E = np.column_stack([E[:, 0] / np.sqrt(np.mean(E**2)), degrees / np.sqrt(np.mean(degrees**2))])
    ratios = []
    for p in range(k):
        z = E[labels == p]
        values = np.linalg.svd(z - z.mean(axis=0), compute_uv=False) ** 2
        ratios.append(values[0] / values.sum())
    fit = sum(ratio - 0.5 for ratio in ratios) if k == 2 else (k - 1) / (k - 2) * (np.mean(ratios) - 1 / (k - 1))
    sizes = np.bincount(labels, minlength=k)
    return (1 - balance) * fit + balance * sizes.min() / sizes.max()


@pytest.mark.parametrize("k", [2, 3, 5])
def test_line_fit(k, rng):
    scores, labels = rays(rng, k)
    keep = rng.random(len(labels)) < 0.7
    scores, labels, degrees = scores[keep], labels[keep], rng.uniform(1, 300, keep.sum())
    for balance in (0.0, 0.25, 1.0):
        expected = textbook_line_fit(scores, labels, k, balance, degrees)
        found = balanced_line_fit(scores, labels, balance=balance, degrees=degrees)
        assert found == pytest.approx(expected, abs=1e-12)


def test_line_fit_of_two_clusters_does_not_depend_on_the_unit_of_degrees(rng):
    """The degree is a thousand times the score, and would make every cluster a line."""
    scores, labels = rng.standard_normal((200, 1)), np.repeat([0, 1], 100)
    degrees = rng.uniform(1, 2, 200)
    small, large = (balanced_line_fit(scores, labels, degrees=unit * degrees) for unit in (1, 1e4))
    assert small == pytest.approx(large)
    spread = balanced_line_fit(scores, labels, degrees=np.abs(rng.standard_normal(200)))
    assert spread < small < 1


def test_angular_criteria_of_the_definition(rng):
    k = 4
    scores, labels = rays(rng, k, noise=0.3)
    means = mean_scores(scores, labels, k)
    cosines = np.array([[cosine(e, m) for m in means] for e in scores])
    nearest = cosines.argmax(axis=1)
    fit = np.mean([cosines[nearest == p].max(axis=1).mean() for p in range(k)])
    assert balanced_angular_fit(scores, labels, balance=0) == pytest.approx(fit)
    distances = np.sort(np.sqrt(2 - 2 * cosines), axis=1)
    strength = 1 - distances[:, 0] / distances[:, 1]
    expected = np.mean([strength[nearest == p].mean() for p in range(k)])
    assert balanced_angular_similarity(scores, labels, balance=0) == pytest.approx(expected)
    strongest = of_definition(scores, means).max(axis=1)
    expected = 0.75 * np.mean([strongest[nearest == p].mean() for p in range(k)]) + 0.25
    assert average_membership_strength(scores, labels) == pytest.approx(expected)


def test_separated_clusters_score_higher(rng):
    for measure in CRITERIA:
        tight, loose = (measure(*rays(rng, 4, noise=noise)) for noise in (0.02, 0.8))
        assert tight > loose, measure.__name__


@pytest.mark.parametrize("measure", CRITERIA)
def test_empty_and_single_rows_give_no_nan(measure, rng):
    """Criteria stay finite with empty clusters, clusters of one row, and rows of zeros."""
    scores = rng.standard_normal((12, 3))
    scores[3] = 0
    for labels in (np.zeros(12, int), np.r_[np.zeros(11, int), 1], np.r_[np.zeros(9, int), 1, 2, 3]):
        assert np.isfinite(measure(scores, labels))


def test_labels_are_names(rng):
    scores, labels = rays(rng, 3)
    names = np.array(["b", "a", "c"])[labels]
    for measure in CRITERIA:
        assert measure(scores, labels) == pytest.approx(measure(scores, names))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[1.0], [2.0]], [0, 1, 1]), {}, "labels has shape"),
        (([[1.0, np.nan]], [0]), {}, "scores has shape"),
        (([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], ["a", "b", "c", "d"]), {}, "4 clusters"),
        (([[1.0, 0.0], [0.0, 1.0]], [0, 1]), {"balance": 1.5}, "balance=1.5"),
        (([[1.0, 0.0], [0.0, 1.0]], [0, 1]), {"prototypes": [[1.0, 0.0]]}, "prototypes has shape"),
    ],
)
def test_bad_input(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        average_membership_strength(*arguments, **options)


def test_two_clusters_have_no_angle():
    for measure in (balanced_angular_fit, balanced_angular_similarity):
        with pytest.raises(ValueError, match="two clusters"):
            measure([[1.0], [-1.0]], [0, 1])
    with pytest.raises(ValueError, match="degrees"):
        balanced_line_fit([[1.0], [-1.0]], [0, 1])
