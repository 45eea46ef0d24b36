"""Spectral clustering with nothing set: its kernel, its number of clusters, and what a fit leaves behind."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs, make_moons

from gramian import SpectralClustering
from gramian.kernels import ClusterKernel, NeighborGraph
from gramian.metrics import adjusted_rand, clustering_accuracy
from gramian.mixture import mcar


@pytest.fixture
def X():
    return np.random.default_rng(5).standard_normal((70, 3))


@pytest.fixture
def blobs():
    """Four well separated groups and their labels."""
    return make_blobs(160, centers=4, cluster_std=0.6, center_box=(-15, 15), random_state=3)


class TestNumberOfClusters:
    """``n_clusters=None`` on data whose number of groups is known."""

    @pytest.mark.parametrize("rate", [0.0, 0.2])
    @pytest.mark.parametrize("k", [2, 3, 4, 5, 8])
    @pytest.mark.parametrize("kernel", ["auto", "cluster"])
    def test_blobs_are_counted(self, kernel, k, rate):
        """Gaussian groups in six columns, a fifth of the cells lost or none."""
        X, y = make_blobs(300, centers=k, n_features=6, cluster_std=1.5, random_state=0)
        X = mcar(X, rate, random_state=0)[0] if rate else X
        model = SpectralClustering(None, kernel=kernel, random_state=0).fit(X)
        assert model.n_clusters_ == k
        assert adjusted_rand(y, model.labels_) > 0.9

    def test_moons_are_two(self):
        """Each of two winding groups is one cluster, though its graph has fine structure."""
        X, y = make_moons(400, noise=0.05, random_state=0)
        model = SpectralClustering(None, random_state=0).fit(X)
        assert model.n_clusters_ == 2
        assert adjusted_rand(y, model.labels_) == 1


class TestAuto:
    """The default kernel: nothing to tune, holes welcome, and a cost that stays linear."""

    def test_holes_just_work(self):
        """A table with a third of its cells missing is clustered, and so are new rows with other holes."""
        X, y = make_blobs(300, centers=3, n_features=8, random_state=1)
        model = SpectralClustering(3, random_state=0).fit(mcar(X, 0.3, random_state=0)[0])
        assert adjusted_rand(y, model.labels_) > 0.95
        assert adjusted_rand(y, model.predict(mcar(X, 0.4, random_state=1)[0])) > 0.9

    def test_digits_are_told_as_well_as_by_the_plain_graph(self):
        """Grey values have one scale: the default is the plain neighbour graph, and so are its clusters."""
        X, y = load_digits(return_X_y=True)
        model = SpectralClustering(10, random_state=0).fit(X)
        assert model.kernel_.kind_ == "nearest"
        plain = SpectralClustering(10, kernel="neighbors", random_state=0).fit(X)
        assert clustering_accuracy(y, model.labels_) > clustering_accuracy(y, plain.labels_) - 0.01

    def test_columns_of_several_scales_count_in_standard_deviations(self):
        """A table of measurements: the default is the continuous graph."""
        X, _ = make_blobs(100, centers=3, random_state=1)
        assert SpectralClustering(3, random_state=0).fit(X).kernel_.kind_ == "continuous"

    def test_units_do_not_matter(self):
        """Columns count in standard deviations."""
        X, y = make_blobs(200, centers=3, random_state=1)
        model = SpectralClustering(3, random_state=0).fit(X * [1, 1000])
        np.testing.assert_array_equal(model.labels_, SpectralClustering(3, random_state=0).fit(X).labels_)
        assert adjusted_rand(y, model.labels_) > 0.95

    @pytest.mark.parametrize("kernel", ["auto", "cluster", NeighborGraph(5, kernel="cluster")])
    def test_random_state_reaches_the_kernel(self, kernel):
        """A kernel without a seed follows the estimator's, wherever it is named."""
        X, _ = make_blobs(60, centers=2, random_state=0)
        first, again = (SpectralClustering(2, kernel=kernel, random_state=3).fit(X) for _ in range(2))
        np.testing.assert_array_equal(first.embedding_, again.embedding_)

    def test_a_seeded_kernel_keeps_its_seed(self):
        """The estimator's random_state does not replace one that was given."""
        X, _ = make_blobs(60, centers=2, random_state=0)
        kernel = ClusterKernel(2, 4, random_state=5)
        model = SpectralClustering(2, kernel=kernel, random_state=0).fit(X)
        np.testing.assert_array_equal(model.kernel_.means_, kernel.fit(X).means_)


class TestState:
    """What a fit leaves behind."""

    def test_a_refused_refit_leaves_the_model_as_it_was(self, X):
        """After an error on other data the fitted model still answers."""
        model = SpectralClustering(3, kernel="rbf", random_state=0).fit(X)
        before = model.predict(X)
        with pytest.raises(ValueError, match="n_clusters=3"):
            model.fit(np.random.default_rng(0).random((2, 7)))
        np.testing.assert_array_equal(model.predict(X), before)

    def test_candidates_go_when_the_number_is_given(self, X):
        """Eigenvalues of a choice do not outlive it."""
        model = SpectralClustering(None, kernel="rbf", random_state=0).fit(X)
        assert model.candidate_eigenvalues_ is not None
        assert model.set_params(n_clusters=2).fit(X).candidate_eigenvalues_ is None

    def test_clusters_are_numbered_by_their_first_row(self, blobs):
        """Names of clusters do not depend on rounding or on how memory is laid out."""
        X, _ = blobs
        labels = SpectralClustering(4, kernel="neighbors", random_state=0).fit(X).labels_
        _, first = np.unique(labels, return_index=True)
        assert (np.diff(first) > 0).all()
        other = SpectralClustering(4, kernel="neighbors", random_state=0).fit(np.asfortranarray(X)).labels_
        np.testing.assert_array_equal(labels, other)
