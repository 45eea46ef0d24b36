"""Matrices show the similarities themselves, clusters as blocks."""

import numpy as np
import pytest

import gramian
from gramian import plot
from gramian.kernels import RBF
from gramian.plot import matrices


def test_rows_of_a_cluster_stand_together(blobs, ranked):
    X, _ = blobs
    ax = plot.gram(ranked, X)
    found = np.asarray(ax.images[0].get_array())
    K = ranked.kernel_(X)
    np.testing.assert_allclose(np.sort(found.ravel()), np.sort(K.ravel()), atol=1e-12)
    edges = np.concatenate([[0], np.cumsum(np.bincount(ranked.labels_))])
    for group in range(3):
        block = found[edges[group] : edges[group + 1], edges[group] : edges[group + 1]]
        own = K[np.ix_(ranked.labels_ == group, ranked.labels_ == group)]
        assert block.sum() == pytest.approx(own.sum())
    lines = {line.get_ydata()[0] + 0.5 for line in ax.lines if line.get_ydata()[0] == line.get_ydata()[1]}
    assert lines == set(edges[1:-1])


def test_rows_need_not_be_given_where_the_model_keeps_them(blobs, ranked):
    kept, given = (np.asarray(ax.images[0].get_array()) for ax in (plot.gram(ranked), plot.gram(ranked, blobs[0])))
    np.testing.assert_array_equal(kept, given)


def test_a_kernel_alone_is_drawn_in_the_order_of_rows(blobs):
    X, _ = blobs
    np.testing.assert_allclose(plot.gram(RBF(2.0), X).images[0].get_array(), RBF(2.0).fit(X)(X))


def test_large_tables_are_sampled_each_cluster_by_its_share(monkeypatch):
    monkeypatch.setattr(matrices, "MOST_ROWS", 40)
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat([0, 1], [300, 100]))
    rows = matrices.sampled(400, labels)
    assert len(np.unique(rows)) == 40
    assert (labels[rows] == 0).sum() == 30
    ax = plot.gram(RBF(1.0), rng.normal(size=(400, 2)), labels=labels)
    assert ax.images[0].get_array().shape == (40, 40)
    assert ax.get_title() == "40 of 400 rows"


def test_negative_similarities_have_both_signs_of_colour(blobs):
    X = blobs[0] - blobs[0].mean(axis=0)
    image = plot.gram(gramian.kernels.Linear(), X).images[0]
    assert image.norm.vmin == -image.norm.vmax < 0


@pytest.mark.parametrize("subsample", [None, 0.7])
def test_consensus_is_the_coassociation(blobs, subsample):
    model = gramian.ConsensusClustering(3, n_partitions=30, subsample=subsample, random_state=0).fit(blobs[0])
    found = np.asarray(plot.consensus(model).images[0].get_array())
    expected = model.coassociation()
    np.testing.assert_allclose(np.sort(found.ravel()), np.sort(expected.ravel()), atol=1e-12)
    k = np.bincount(model.labels_)[0]
    own = expected[np.ix_(model.labels_ == 0, model.labels_ == 0)]
    assert found[:k, :k].sum() == pytest.approx(own.sum())


def test_repeated_runs_vote(blobs):
    runs = np.array([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1]])
    model = type("Model", (), {"labels_": np.array([0, 0, 1, 1]), "run_labels_": runs})
    found = np.asarray(plot.consensus(model).images[0].get_array())
    assert found[0, 1] == pytest.approx(2 / 3)
    assert found[2, 3] == 1


def test_labels_of_another_length_are_refused(blobs):
    with pytest.raises(ValueError, match="labels has 2 entries for 75 rows"):
        plot.gram(RBF(1.0), blobs[0], labels=[0, 1])


def test_rows_may_be_ordered_by_names(blobs):
    X, y = blobs
    kernel = RBF(1.0).fit(X)
    by_number, by_name = plot.gram(kernel, X, labels=y), plot.gram(kernel, X, labels=np.array(["a", "b", "c"])[y])
    np.testing.assert_array_equal(by_name.images[0].get_array(), by_number.images[0].get_array())
    assert [text.get_text() for text in by_name.get_yticklabels()] == ["a", "b", "c"]


def test_new_rows_stand_by_the_clusters_they_are_placed_in(blobs, ranked):
    X, _ = blobs
    new = X[::3] + 0.01
    found = np.asarray(plot.gram(ranked, new).images[0].get_array())
    given = np.asarray(plot.gram(ranked, new, labels=ranked.predict(new)).images[0].get_array())
    np.testing.assert_array_equal(found, given)
