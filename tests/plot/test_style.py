"""The style sheets hold the colours of the report."""

from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot, style

from gramian import plot
from gramian.colours import GROUPS, INK, PAPER
from gramian.plot.style import settings


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_block_has_the_colours_and_leaves_no_trace(theme):
    before = dict(matplotlib.rcParams)
    with plot.style(theme):
        assert matplotlib.rcParams["axes.facecolor"] == PAPER[theme]
        assert matplotlib.rcParams["text.color"] == INK[theme]
        assert matplotlib.rcParams["axes.prop_cycle"].by_key()["color"] == list(GROUPS[theme])
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_style_files_hold_the_same_settings(theme):
    with plot.style(theme):
        expected = {name: matplotlib.rcParams[name] for name in settings(theme)}
    with style.context(f"gramian.plot.{theme}"):
        for name, value in expected.items():
            found = matplotlib.rcParams[name]
            if name == "axes.prop_cycle":
                assert found == value
            else:
                assert str(found).lstrip("#") == str(value).lstrip("#"), name
    file = Path(plot.__file__).parent / f"{theme}.mplstyle"
    assert {line.split(":")[0] for line in file.read_text().splitlines()[1:]} == set(settings(theme))


def test_pictures_are_drawn_on_the_papers_colour(ranked):
    with plot.style("dark"):
        ax = plot.clusters(ranked)
    assert matplotlib.colors.to_hex(ax.get_facecolor()) == PAPER["dark"]
    assert pyplot.rcParams["axes.facecolor"] != PAPER["dark"]


def test_unknown_themes_are_refused():
    with pytest.raises(ValueError, match="theme='night' is unknown; pass 'light' or 'dark'"), plot.style("night"):
        pass
