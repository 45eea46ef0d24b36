"""Co-association and its dendrograms against loops over pairs and SciPy."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, fcluster, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform

import gramian
from gramian.clustering.ensemble import evidence
from gramian.clustering.ensemble.evidence import coassociation, condensed_distances, cut, require_pairs, single_linkage


def votes(n=30, n_partitions=8, k=4, seed=0):
    """Random labels (n, M) and their one-hot memberships."""
    labels = np.random.default_rng(seed).integers(0, k, (n, n_partitions))
    columns = (labels + k * np.arange(n_partitions)).ravel()
    pointers = np.arange(0, n * n_partitions + 1, n_partitions)
    return labels, csr_array((np.ones(columns.size), columns, pointers), shape=(n, k * n_partitions))


def masked(labels, seen, k=4):
    """Memberships without those of partitions that did not see the row."""
    columns = labels + k * np.arange(labels.shape[1])
    H = np.zeros((len(labels), k * labels.shape[1]))
    for i, m in zip(*np.nonzero(seen), strict=True):
        H[i, columns[i, m]] = 1
    return csr_array(H)


def test_coassociation_by_pairs():
    """S is the share of partitions that agree, in strips too."""
    labels, H = votes()
    S = (labels[:, None] == labels[None]).mean(axis=2)
    np.testing.assert_allclose(coassociation(H, None, slice(0, 30)), S)
    np.testing.assert_allclose(coassociation(H, None, slice(4, 9), 7), S[4:9, 7:])


def test_coassociation_where_both_were_seen():
    """Partitions that did not see one of the rows do not count, and pairs that never met are not together."""
    labels, _ = votes()
    seen = np.random.default_rng(1).random(labels.shape) < 0.3
    seen[~seen.any(axis=1), 0] = True
    both = seen[:, None] & seen[None]
    together = ((labels[:, None] == labels[None]) & both).sum(axis=2)
    expected = together / np.maximum(both.sum(axis=2), 1)
    np.testing.assert_allclose(coassociation(masked(labels, seen), seen, slice(0, 30)), expected)


def test_condensed_distances(monkeypatch):
    """1 − S as SciPy writes it, strip by strip."""
    labels, H = votes()
    monkeypatch.setattr(evidence, "strip_rows", lambda n: 7)
    S = (labels[:, None] == labels[None]).mean(axis=2)
    np.testing.assert_allclose(condensed_distances(H, None), squareform(1 - S, checks=False))


@pytest.mark.parametrize("seed", range(3))
def test_single_linkage_is_scipys(seed):
    """The dendrogram of the spanning tree has SciPy's heights, sizes and cophenetic distances."""
    _, H = votes(seed=seed)
    tree, theirs = single_linkage(H), linkage(condensed_distances(H, None), "single")
    np.testing.assert_allclose(tree[:, 2], theirs[:, 2], atol=1e-12)
    assert tree[-1, 3] == 30
    np.testing.assert_allclose(cophenet(tree), cophenet(theirs), atol=1e-12)


def test_cut_has_exactly_so_many_clusters():
    """Labels of a cut are SciPy's where heights differ, and k of them where all are equal."""
    tree = linkage(np.random.default_rng(0).random((20, 3)), "average")
    for k in (1, 4, 20):
        ours, theirs = cut(tree, k), fcluster(tree, k, "maxclust")
        np.testing.assert_array_equal(ours[:, None] == ours, theirs[:, None] == theirs)
    equal = linkage(np.zeros((6, 1)), "single")
    assert [len(set(cut(equal, k))) for k in range(1, 7)] == [1, 2, 3, 4, 5, 6]


def test_all_pairs_need_memory():
    """The distances of all pairs and the copy that the linkage makes are asked for before they are made."""
    with gramian.config(memory_budget="1MB"):
        require_pairs(300)
        with pytest.raises(MemoryError, match="linkage='spectral'"):
            require_pairs(1000)
