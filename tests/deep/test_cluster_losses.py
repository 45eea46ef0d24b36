"""The terms of divergence-based clustering against double sums, closed forms and finite differences."""

import numpy as np
import pytest
import torch

from gramian.deep import cauchy_schwarz_divergence, simplex_corner_similarity, simplex_orthogonality
from gramian.deep.cluster_losses import (
    cluster_overlap,
    density_overlap,
    divergence_terms,
    hidden_kernel,
    overlaps,
    parse_width,
    squared_distances,
    width_square,
)
from gramian.metrics import cauchy_schwarz_divergence as metric


@pytest.fixture
def rng():
    return np.random.default_rng(0)


NORMALIZATIONS = ("mean", "paper")


@pytest.fixture
def batch(rng):
    """Hidden rows and soft assignments in double precision."""
    H = torch.tensor(rng.normal(size=(12, 5)))
    A = torch.softmax(torch.tensor(2 * rng.normal(size=(12, 3))), dim=1)
    return H, A


def one_hot(labels, k):
    return torch.eye(k, dtype=torch.float64)[torch.tensor(labels)]


@pytest.mark.parametrize("pair_normalization", NORMALIZATIONS)
def test_divergence_is_that_of_the_metrics(batch, pair_normalization):
    """The divergence of soft clusters is the one that gramian.metrics computes."""
    K, A = hidden_kernel(batch[0]).numpy(), batch[1].numpy()
    found = cauchy_schwarz_divergence(K, A, pair_normalization=pair_normalization)
    assert isinstance(found, float)
    assert found == pytest.approx(metric(K, A, kernel="precomputed", pair_normalization=pair_normalization), abs=1e-12)


def test_overlaps_are_cosines(batch):
    """With K = L Lᵀ the overlap of two clusters is the cosine of Lᵀα_i and Lᵀα_j."""
    H, A = batch
    K = hidden_kernel(H, "median_sq50")
    R = overlaps(K, A)
    L = torch.linalg.cholesky(K)
    V = (L.T @ A) / torch.linalg.norm(L.T @ A, dim=0)
    torch.testing.assert_close(R, V.T @ V, atol=1e-12, rtol=0)
    torch.testing.assert_close(R, R.T)
    assert (R >= 0).all()
    assert (R <= 1 + 1e-12).all()


def test_crisp_overlap_is_the_double_sum(rng):
    """With crisp clusters the overlap is made of sums over the members of both."""
    labels = rng.permutation(np.repeat([0, 1, 2], 5))
    K = hidden_kernel(torch.tensor(rng.normal(size=(15, 2))), 0.7).numpy()
    members = [np.flatnonzero(labels == c) for c in range(3)]

    def similarity(i, j):
        return sum(K[q, r] for q in members[i] for r in members[j])

    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = sum(similarity(i, j) / np.sqrt(similarity(i, i) * similarity(j, j)) for i, j in pairs) / 3
    assert cluster_overlap(torch.tensor(K), one_hot(labels, 3)).item() == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("pair_normalization", "most"), [("paper", 1.5), ("mean", 1.0)])
def test_identical_clusters_overlap_most(pair_normalization, most):
    """Clusters of equal memberships have the largest overlap, (k − 1) / 2 or 1."""
    A = torch.full((8, 4), 0.25, dtype=torch.float64)
    K = torch.eye(8, dtype=torch.float64)
    assert cluster_overlap(K, A, pair_normalization=pair_normalization).item() == pytest.approx(most)


@pytest.mark.parametrize("divergence", ["cauchy-schwarz", "kl"])
def test_terms_do_not_change_with_order_scale_or_motion(batch, divergence):
    """The order of rows and clusters, and motions and scale of the hidden rows, change none of the terms."""
    H, A = batch
    expected = divergence_terms(H, A, divergence=divergence)
    rows, clusters = torch.randperm(12, generator=torch.Generator().manual_seed(0)), [2, 0, 1]
    turn = torch.linalg.qr(H[:5])[0]
    for moved, soft in ((H[rows], A[rows]), (H, A[:, clusters]), (7 * (H @ turn) + 3, A)):
        for found, value in zip(divergence_terms(moved, soft, divergence=divergence), expected, strict=True):
            assert found.item() == pytest.approx(value.item(), abs=1e-8)


def test_overlap_ignores_the_scale_of_a_column(batch):
    """Scaling the memberships of a cluster changes nothing."""
    H, A = batch
    K = hidden_kernel(H)
    for overlap in (cluster_overlap, density_overlap):
        scaled = overlap(K, A * torch.tensor([1.0, 1e-9, 40.0], dtype=torch.float64))
        assert scaled.item() == pytest.approx(overlap(K, A).item(), abs=1e-10)


def test_orthogonality_is_the_sum_above_the_diagonal(batch):
    """The quick formula equals the sum of the strictly upper entries of A Aᵀ."""
    A = batch[1]
    total = torch.triu(A @ A.T, 1).sum().item()
    assert simplex_orthogonality(A, reduction="sum").item() == pytest.approx(total, abs=1e-12)
    assert simplex_orthogonality(A.numpy()) == pytest.approx(total / 66, abs=1e-12)


def test_orthogonality_of_known_assignments():
    """Collapsed, uniform and balanced assignments of 100 rows to 10 clusters have the values of the formula."""
    collapsed, uniform = one_hot([0] * 100, 10), torch.full((100, 10), 0.1, dtype=torch.float64)
    balanced = one_hot(list(range(10)) * 10, 10)
    values = [simplex_orthogonality(A, reduction="sum").item() for A in (collapsed, uniform, balanced)]
    assert values == pytest.approx([4950, 495, 450])


@pytest.mark.parametrize(("k", "printed"), [(2, 0.1329), (10, 1.6117)])
def test_corner_term_of_separated_clusters(k, printed):
    """For perfectly separated balanced clusters the corner term has its closed form."""
    labels = np.repeat(np.arange(k), 4)
    K = torch.tensor(np.equal.outer(labels, labels).astype(float))
    M = simplex_corner_similarity(one_hot(labels, k))
    small = np.exp(-2)
    closed = (k - 1) / 2 * (2 * small + (k - 2) * small**2) / (1 + (k - 1) * small**2)
    found = cluster_overlap(K, M).item()
    assert found == pytest.approx(closed, abs=1e-12)
    assert found == pytest.approx(printed, abs=1e-4)


def test_density_overlap_is_its_formula(batch):
    """The Kullback–Leibler variant equals the sums written out."""
    A = batch[1].numpy()
    K = hidden_kernel(batch[0]).numpy()
    P = K @ A
    P = P / P.sum(axis=0)
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = sum(np.exp(-np.sum((P[:, i] - P[:, j]) * np.log(P[:, i] / P[:, j]))) for i, j in pairs) / 3
    assert density_overlap(torch.tensor(K), torch.tensor(A)).item() == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("divergence", ["cauchy-schwarz", "kl", "kl-cosine"])
@pytest.mark.parametrize("term", [0, 1, 2])
def test_gradients_are_right(batch, divergence, term):
    """Each term's gradient agrees with finite differences, the width being a constant."""
    H, scores = batch[0].clone().requires_grad_(True), torch.log(batch[1]).requires_grad_(True)

    def value(hidden, given):
        return divergence_terms(hidden, torch.softmax(given, dim=1), width=1.3, divergence=divergence)[term]

    assert torch.autograd.gradcheck(value, (H, scores))


def test_gradient_of_the_divergence(batch):
    """The public divergence, a logarithm more, has right gradients too."""
    K = hidden_kernel(batch[0])
    assert torch.autograd.gradcheck(lambda A: cauchy_schwarz_divergence(K, A), batch[1].clone().requires_grad_(True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("divergence", ["cauchy-schwarz", "kl", "kl-cosine"])
def test_degenerate_batches_stay_finite(dtype, divergence):
    """An all but empty cluster, and hidden rows that are all the same, give finite losses and gradients."""
    A = torch.tensor([[1.0, 1e-30]] * 6, dtype=dtype, requires_grad=True)
    H = torch.zeros((6, 3), dtype=dtype, requires_grad=True)
    loss = sum(divergence_terms(H, A, divergence=divergence))
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(A.grad).all()
    assert torch.isfinite(H.grad).all()


def test_width_rules_are_medians_of_pairs(rng):
    """Both rules take the median over pairs of different rows, and the wider one is that of squared distances."""
    H = rng.normal(size=(9, 3))
    squares = squared_distances(torch.tensor(H))
    above = np.sort(((H[:, None] - H[None]) ** 2).sum(-1)[np.triu_indices(9, 1)])
    median = above[(len(above) - 1) // 2]
    assert width_square(squares, "median_sq15").item() == pytest.approx(0.15 * median)
    assert width_square(squares, "median15").item() == pytest.approx(0.15**2 * median)
    assert width_square(squares, 2.0) == 4.0
    assert (torch.diagonal(squares) == 0).all()


@pytest.mark.parametrize("width", ["median", "median0", "mean15", "median_sq", None])
def test_bad_width_rules(width):
    """A rule that is none is refused with the rules there are."""
    with pytest.raises(ValueError, match=r"width=.*median_sq15"):
        parse_width(width)


def test_bad_arguments():
    """Wrong shapes and choices are refused by name."""
    K, A = np.eye(3), np.full((3, 2), 0.5)
    with pytest.raises(ValueError, match="K has shape"):
        cauchy_schwarz_divergence(K[:2], A)
    with pytest.raises(ValueError, match="A has shape"):
        cauchy_schwarz_divergence(K, A[:, :1])
    with pytest.raises(ValueError, match="pair_normalization='none'"):
        cauchy_schwarz_divergence(K, A, pair_normalization="none")
    with pytest.raises(ValueError, match="A has shape"):
        simplex_orthogonality(A[:1])
    with pytest.raises(ValueError, match="reduction='max'"):
        simplex_orthogonality(A, reduction="max")
