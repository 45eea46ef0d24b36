"""What pictures share: Axes, colours of the paper, and errors that say who has what."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.exceptions import NotFittedError

import gramian
from gramian import plot
from gramian.colours import GROUPS, PAPER, rgb
from gramian.plot.canvas import Colours, asked, axes_for, counted, marker, short


def test_given_axes_are_drawn_on_and_returned(ranked):
    _, ax = pyplot.subplots()
    for draw in (plot.embedding, plot.clusters, plot.eigenvalues, plot.ranking):
        assert draw(ranked, ax=ax) is ax


def test_new_axes_are_known_to_pyplot(ranked):
    ax = plot.embedding(ranked)
    assert pyplot.fignum_exists(ax.figure.number)


@pytest.mark.parametrize(("paper", "theme"), [("white", "light"), ("black", "dark"), ("#15181b", "dark")])
def test_colours_follow_the_paper_under_any_style(paper, theme):
    with pyplot.rc_context({"axes.facecolor": paper, "figure.facecolor": paper}):
        colours = Colours.on(axes_for(None))
    assert colours.theme == theme
    assert colours.group(1) == GROUPS[theme][1]
    assert colours.group(9) == GROUPS[theme][1]


def test_paper_behind_transparent_axes_is_that_of_the_figure():
    _, ax = pyplot.subplots(facecolor=PAPER["dark"])
    ax.set_facecolor("none")
    assert Colours.on(ax).theme == "dark"


def test_a_membership_of_one_has_the_full_colour_and_of_none_that_of_the_paper():
    colours = Colours("light", PAPER["light"])
    full, none = colours.faded(2, np.array([1.0, 0.0]))
    np.testing.assert_allclose(full, rgb(GROUPS["light"][2]))
    np.testing.assert_allclose(none, rgb(PAPER["light"]))


def test_marks_change_when_colours_come_again():
    assert [marker(number) for number in (-1, 0, 7, 8, 16)] == ["o", "o", "o", "s", "^"]


def test_names_are_short_and_no_formulas():
    assert short("a $b$") == r"a \$b\$"
    assert len(short("x" * 99)) == 28


def test_one_row_is_no_plural():
    assert (counted(1), counted(2000), counted(1, "cluster")) == ("1 row", "2,000 rows", "1 cluster")


def test_error_names_the_attribute_and_the_models_that_have_it():
    words = r"needs labels_, which LSSVMRegressor does not have \(it is not fitted: call fit first\); models that have"
    with pytest.raises(NotFittedError, match=words):
        asked(gramian.LSSVMRegressor(), "labels_", question="plot.clusters", models="A")
    fitted = gramian.LSSVMRegressor(regularization=1.0).fit(np.eye(3), np.arange(3.0))
    with pytest.raises(TypeError, match="needs labels_, which LSSVMRegressor does not have; models that have it: A"):
        asked(fitted, "labels_", question="plot.clusters", models="A")


def test_only_one_axes_can_be_drawn_on(ranked):
    figure, several = pyplot.subplots(1, 2)
    for ax, kind in ((several, "ndarray"), (figure, "Figure")):
        with pytest.raises(TypeError, match=f"ax must be one Axes of matplotlib, got {kind}"):
            plot.embedding(ranked, ax=ax)


@pytest.mark.parametrize(
    ("draw", "attribute"),
    [
        (plot.embedding, "embedding_"), (plot.clusters, "labels_"), (plot.eigenvalues, "eigenvalues_"),
        (plot.gram, "kernel_"), (plot.consensus, "coassociation"), (plot.ranking, "scores"),
        (plot.components, "components_"), (plot.selection, "a table of what was tried"),
        (plot.forecast, "predict_interval"), (plot.network, "labels_"), (plot.curve, "term_curves_"),
    ],
)  # fmt: skip
def test_models_that_lack_what_is_needed_are_refused_by_name(draw, attribute):
    model = gramian.IncompleteGaussianMixture()
    with pytest.raises(NotFittedError, match=f"{attribute}.*, which IncompleteGaussianMixture does not have"):
        draw(model)
    with pytest.raises(TypeError, match=f"{attribute}.*, which IncompleteGaussianMixture does not have; models that"):
        draw(model.fit(np.arange(8.0).reshape(4, 2)))


def test_a_missing_matplotlib_names_the_extra():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import gramian\n"
        "try: gramian.plot.eigenvalues(type('Model', (), {'eigenvalues_': [1.0]}))\n"
        "except ImportError as error: print(error)"
    )
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert printed.strip() == "gramian.plot needs matplotlib; install it with: pip install 'gramian[app]'"


def test_importing_the_pictures_does_not_import_matplotlib():
    code = "import gramian, sys; gramian.plot.embedding; print('matplotlib' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert printed.strip() == "False"
