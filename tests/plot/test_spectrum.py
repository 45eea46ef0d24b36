"""Eigenvalues are drawn as they are, and the gap behind the chosen number is marked."""

import numpy as np

import gramian
from gramian import plot


def test_gap_is_marked_behind_the_chosen_number(split_rings):
    ax = plot.eigenvalues(split_rings)
    k = split_rings.n_clusters_
    marked = ax.lines[-1]
    np.testing.assert_array_equal(marked.get_xdata(), [k, k + 1])
    heights = np.maximum(1 - split_rings.candidate_eigenvalues_, 1e-6)
    np.testing.assert_allclose(marked.get_ydata(), heights[k - 1 : k + 1])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), heights)
    inside, outside = ax.collections[:2]
    assert len(inside.get_offsets()) == k
    assert len(outside.get_offsets()) == len(heights) - k


def test_all_eigenvalues_of_components_are_drawn(wine):
    model = gramian.KernelPCA(5).fit(wine.X)
    ax = plot.eigenvalues(model)
    np.testing.assert_allclose(ax.collections[-1].get_offsets()[:, 1], model.eigenvalues_)
    assert ax.get_title() == "5 eigenvalues"


def test_number_by_the_walk_is_the_models(blobs):
    model = gramian.RankedClustering(kernel=gramian.kernels.RBF("median20"), random_state=0).fit(blobs[0])
    assert plot.eigenvalues(model).get_title().startswith(f"{model.n_clusters_} clusters")
