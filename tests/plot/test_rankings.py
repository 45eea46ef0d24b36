"""Rankings list the rows that the model ranks first, with its scores."""

import numpy as np
import pytest

import gramian
from gramian import plot


def listed(ax):
    return [text.get_text() for text in ax.get_yticklabels()], [bar.get_width() for bar in ax.patches]


def test_a_fitted_row_lists_those_most_like_it(ranked):
    names, widths = listed(plot.ranking(ranked, 4, top=6))
    assert [int(name) for name in names] == ranked.query(4, top=6).tolist()
    np.testing.assert_allclose(widths, ranked.scores(4)[ranked.query(4, top=6)])


def test_a_new_row_is_a_query_too(ranked, blobs):
    row = blobs[0][0] + 0.1
    names, _ = listed(plot.ranking(ranked, row, top=3))
    assert [int(name) for name in names] == ranked.query(row, top=3).tolist()


def test_without_a_query_the_most_central_rows_are_listed(blobs):
    model = gramian.KernelPageRank(kernel="rbf").fit(blobs[0])
    ax = plot.ranking(model, top=4)
    np.testing.assert_allclose(listed(ax)[1], np.sort(model.scores())[::-1][:4])
    assert ax.get_title() == "Most central rows"


def test_rows_have_their_names(ranked):
    names = [f"row {i}" for i in range(75)]
    ax = plot.ranking(ranked, 2, top=1, names=names)
    assert listed(ax)[0] == [f"row {ranked.query(2, top=1)[0]}"]
    assert ax.get_title() == "Most like row 2"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"top": 0}, "top=0 must be a whole number >= 1"), ({"names": ["a"]}, "names has 1 entries")],
)
def test_bad_arguments_are_told(ranked, arguments, words):
    with pytest.raises(ValueError, match=words):
        plot.ranking(ranked, 0, **arguments)


def test_the_clusters_are_named_beside_the_bars_and_not_on_their_scores(ranked):
    ax = plot.ranking(ranked, top=30)
    ax.figure.canvas.draw()
    assert len(ax.get_legend().get_texts()) > 1
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1
