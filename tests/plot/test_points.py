"""Maps draw the rows where the model puts them, in the colours of their groups."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

import gramian
from gramian import plot
from gramian.colours import GROUPS
from gramian.plot import points


def drawn(ax):
    return np.vstack([dots.get_offsets() for dots in ax.collections])


def test_embedding_draws_embedding_(wine):
    model = gramian.KernelPCA(3).fit(wine.X)
    np.testing.assert_allclose(drawn(plot.embedding(model)), model.embedding_[:, :2])
    ax = plot.embedding(model, components=(2, 0))
    np.testing.assert_allclose(drawn(ax), model.embedding_[:, [2, 0]])
    share = 100 * model.explained_variance_ratio_[2]
    assert ax.get_xlabel() == f"component 3 ({share:.0f} % of the variance)"


def test_new_rows_are_placed_by_transform(wine):
    model = gramian.KernelPCA(2).fit(wine.X[:100])
    np.testing.assert_allclose(drawn(plot.embedding(model, wine.X[100:])), model.transform(wine.X[100:]))


def test_each_class_has_its_dots_its_colour_and_its_name(wine):
    model = gramian.KernelPCA(2).fit(wine.X)
    ax = plot.embedding(model, labels=wine.y, names=["Barolo", "Grignolino", "Barbera"])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Barolo", "Grignolino", "Barbera"]
    for group, dots in enumerate(ax.collections):
        np.testing.assert_allclose(dots.get_offsets(), model.embedding_[wine.y == group])
        np.testing.assert_allclose(dots.get_facecolors()[0, :3], to_rgb(GROUPS["light"][group]))


def test_amounts_have_a_colour_bar(wine):
    ax = plot.embedding(gramian.KernelPCA(2).fit(wine.X), labels=wine.X[:, 0])
    np.testing.assert_array_equal(ax.collections[0].get_array(), wine.X[:, 0])
    assert len(ax.figure.axes) == 2


def test_rows_without_a_label_are_grey(wine):
    model = gramian.KernelPCA(2).fit(wine.X)
    labels = np.where(wine.y == 0, np.nan, wine.y)
    ax = plot.embedding(model, labels=labels)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), model.embedding_[wine.y == 0])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["no label", "1", "2"]
    amounts = np.where(wine.y == 0, np.nan, wine.X[:, 0])
    ax = plot.embedding(model, labels=amounts)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), model.embedding_[wine.y == 0])


def test_text_is_no_place_on_a_map(split_rings):
    with pytest.raises(ValueError, match="values that are not numbers"):
        plot.clusters(split_rings, pd.DataFrame({"a": ["x"] * len(split_rings.labels_)}))


def test_mappings_name_labels_of_any_kind(wine):
    labels = np.array(["a", "b", "c"])[wine.y]
    ax = plot.embedding(gramian.KernelPCA(2).fit(wine.X), labels=labels, names={"a": "first"})
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["first", "b", "c"]


def test_clusters_are_drawn_on_two_columns_as_they_are(rings, split_rings):
    frame = pd.DataFrame(rings, columns=["east", "north"])
    ax = plot.clusters(split_rings, frame)
    for group, dots in enumerate(ax.collections):
        np.testing.assert_allclose(dots.get_offsets(), rings[split_rings.labels_ == group])
    sizes = np.bincount(split_rings.labels_)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [f"{i} ({n})" for i, n in enumerate(sizes)]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("east", "north")


def test_rows_that_belong_less_are_paler(ranked):
    ax = plot.clusters(ranked)
    np.testing.assert_allclose(drawn(ax), np.vstack([ranked.embedding_[ranked.labels_ == i, :2] for i in range(3)]))
    for group, dots in enumerate(ax.collections):
        own = ranked.memberships_[ranked.labels_ == group, group]
        distance = np.abs(dots.get_facecolors()[:, :3] - to_rgb(GROUPS["light"][group])).sum(axis=1)
        assert (np.diff(distance[np.argsort(own)]) <= 1e-12).all()


def test_many_columns_are_drawn_by_their_main_directions(blobs):
    X, _ = blobs
    model = gramian.AutoClustering(random_state=0).fit(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    values, vectors = np.linalg.eigh(Z.T @ Z)
    expected = Z @ vectors[:, ::-1][:, :2]
    ax = plot.clusters(model, X)
    order = np.concatenate([np.flatnonzero(model.labels_ == group) for group in range(model.n_clusters_)])
    np.testing.assert_allclose(np.abs(drawn(ax)), np.abs(expected[order]), atol=1e-9)
    assert f"({100 * values[-1] / values.sum():.0f} % of the variance)" in ax.get_xlabel()


def test_tables_with_holes_have_a_map_too(blobs):
    X = blobs[0].copy()
    X[::5, 1] = np.nan
    ax = plot.clusters(gramian.AutoClustering(random_state=0).fit(X), X)
    assert np.isfinite(drawn(ax)).all()
    assert len(drawn(ax)) == len(X)


def test_one_component_is_spread_upwards(blobs):
    model = gramian.KernelPCA(1).fit(blobs[0])
    places = drawn(plot.embedding(model))
    np.testing.assert_allclose(places[:, 0], model.embedding_[:, 0])
    assert len(np.unique(places[:, 1])) == len(places)


def test_rows_in_no_cluster_are_said_to_be(ranked, blobs, monkeypatch):
    labels = ranked.labels_.copy()
    labels[:4] = -1
    monkeypatch.setattr(ranked, "labels_", labels)
    ax = plot.clusters(ranked)
    assert ax.get_legend().get_texts()[0].get_text() == "in no cluster (4)"
    assert ax.get_title() == "75 rows in 3 clusters"


def test_numbers_stand_on_the_map_where_colours_come_again():
    labels = np.repeat(np.arange(30), 4)
    model = type("Model", (), {"labels_": labels, "embedding_": np.random.default_rng(0).normal(size=(120, 2))})
    ax = plot.clusters(model)
    assert [text.get_text() for text in ax.texts] == [str(i) for i in range(30)]
    assert ax.get_legend() is None


def test_large_maps_are_samples(monkeypatch, ranked):
    monkeypatch.setattr(points, "MOST_DOTS", 20)
    assert len(drawn(plot.clusters(ranked))) == 20


def test_what_explore_returns_has_its_map():
    rng = np.random.default_rng(0)
    found = gramian.explore(pd.DataFrame(rng.normal(size=(60, 3)) + 8 * np.repeat([[0], [1]], 30, axis=0)))
    ax = plot.embedding(found)
    order = np.argsort(found.found.labels, kind="stable")
    np.testing.assert_allclose(drawn(ax), found.found.coordinates[order])
    assert plot.clusters(found).get_title() == "60 rows in 2 clusters"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labels": [0, 1]}, "labels has 2 entries for 75 rows; pass one for each row"),
        ({"names": ["one"]}, "names has 1 entries for 3 groups; pass one for each, or a mapping"),
        ({"components": (0, 9)}, r"components=\(0, 9\) must be two whole numbers from 0 to 1"),
    ],
)
def test_bad_arguments_are_told(ranked, arguments, words):
    with pytest.raises(ValueError, match=words):
        plot.embedding(ranked, **arguments)


def test_clusters_without_an_embedding_ask_for_the_rows(blobs):
    model = gramian.AutoClustering(random_state=0).fit(blobs[0])
    with pytest.raises(TypeError, match=r"pass the rows as well: plot.clusters\(model, X\)"):
        plot.clusters(model)


class Given:
    """A model that has what it is given."""

    def __init__(self, **found):
        vars(self).update(found)


def test_clusters_may_have_names():
    X = np.random.default_rng(0).normal(size=(30, 2))
    labels = np.repeat(["high", "low"], [20, 10])
    ax = plot.clusters(Given(labels_=labels, predict_proba=lambda rows: np.full((len(rows), 2), 0.5)), X)
    assert ax.get_title() == "30 rows in 2 clusters"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["high (20)", "low (10)"]


@pytest.mark.parametrize(
    ("places", "asked", "told"),
    [
        (np.ones((4, 3)), {"components": (0, 3)}, "from 0 to 2"),
        (np.ones((4, 3)), {"components": (0, 1.5)}, "two whole numbers"),
        (np.ones((4, 3)), {"components": 1}, "two whole numbers"),
        (np.ones((4, 3)), {"components": (0, 1, 2)}, "two whole numbers"),
        (np.ones((4, 3)), {"labels": ["a", None, "a", "b"]}, "labels mixes"),
        (np.ones(4), {}, "one component at least"),
        (np.ones((4, 0)), {}, "one component at least"),
    ],
)
def test_maps_that_cannot_be_drawn_are_refused_in_words(places, asked, told):
    with pytest.raises(ValueError, match=told):
        plot.embedding(Given(embedding_=places), **asked)


def test_infinite_values_are_refused():
    X = np.ones((5, 3))
    X[2, 1] = np.inf
    with pytest.raises(ValueError, match="infinite values"):
        plot.clusters(Given(labels_=np.zeros(5, int)), X)
