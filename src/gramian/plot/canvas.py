"""What all pictures share: matplotlib, loaded when something is drawn, the Axes, the paper's colours, and errors.

Everything here is asked for by the functions of :mod:`gramian.plot`, which know what a picture shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from gramian.colours import AMOUNTS, GROUPS, INK, PAPER, group_colour, group_shape, luminance, mixed, rgb
from gramian.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D"}
_LONGEST = 28


def matplotlib() -> Any:
    """The library; an error that names the extra where it is missing."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("gramian.plot needs matplotlib; install it with: pip install 'gramian[app]'") from error
    return matplotlib


def axes_for(ax: Axes | None, size: tuple[float, float] = (6.4, 4.4)) -> Axes:
    """The given Axes, or those of a new figure that notebooks show."""
    matplotlib()
    from matplotlib import axes, pyplot

    if ax is not None:
        if not isinstance(ax, axes.Axes):
            raise TypeError(
                f"ax must be one Axes of matplotlib, got {type(ax).__name__}; leave it out for a new figure"
            )
        return ax

    found: Axes = pyplot.subplots(figsize=size, layout="constrained")[1]
    found.spines[["top", "right"]].set_visible(False)
    return found


@dataclass(frozen=True)
class Colours:
    """The colours for the paper that Axes stand on.

    Attributes
    ----------
    theme : {"light", "dark"}
    paper : str
        Of the Axes themselves, so that halos and pale colours fit under any style.
    """

    theme: str
    paper: str

    @classmethod
    def on(cls, ax: Axes) -> Colours:
        from matplotlib.colors import to_hex, to_rgba

        for facecolor in (ax.get_facecolor(), ax.figure.get_facecolor()):
            if to_rgba(facecolor)[3] > 0.5:
                paper = to_hex(facecolor)
                return cls("dark" if luminance(paper) < 0.2 else "light", paper)
        return cls("light", PAPER["light"])

    @property
    def ink(self) -> str:
        return INK[self.theme]

    @property
    def quiet(self) -> str:
        return mixed(self.ink, self.paper, 0.62)

    @property
    def pale(self) -> str:
        return mixed(self.ink, self.paper, 0.16)

    def group(self, number: int) -> str:
        """Of a group counted from 0; what is in no group, below 0, is grey."""
        return group_colour(number, self.theme) if number >= 0 else mixed(self.ink, self.paper, 0.4)

    @property
    def groups(self) -> tuple[str, ...]:
        return GROUPS[self.theme]

    def amounts(self, *, from_paper: bool = False) -> Any:
        """A colour map of amounts, from small to large; ``from_paper`` shows nothing where there is nothing."""
        from matplotlib.colors import LinearSegmentedColormap

        steps = AMOUNTS[self.theme]
        return LinearSegmentedColormap.from_list("amounts", [self.paper, *steps] if from_paper else list(steps))

    def signed(self) -> Any:
        """A colour map from negative (second group's colour) over the paper to positive (first group's)."""
        from matplotlib.colors import LinearSegmentedColormap

        return LinearSegmentedColormap.from_list("signed", [self.groups[1], self.paper, self.groups[0]])

    def faded(self, number: int, shares: Array) -> Array:
        """The colour of a group for each membership, from the paper's at 0 to its own at 1, (n, 3)."""
        own, paper = rgb(self.group(number)), rgb(self.paper)
        return paper + np.clip(shares, 0, 1)[:, None] * (own - paper)


def marker(number: int) -> str:
    """The mark of a group: another one for each round through the colours."""
    return _MARKERS[group_shape(max(number, 0))]


def halo(colours: Colours, width: float = 3) -> list[Any]:
    """An outline in the colour of the paper, for words over marks."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=width, foreground=colours.paper)]


def short(name: object) -> str:
    """A name that fits beside a picture and is not read as a formula."""
    text = " ".join(str(name).split())
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
    return text.replace("$", r"\$")


def counted(n: int, word: str = "row") -> str:
    """A number with its noun, as titles have it: 1 row, 2,000 rows."""
    return f"{n:,} {word}{'s' * (n != 1)}"


def dot_size(n: int) -> float:
    """Points² of a mark, so that n of them show both single ones and where they are many."""
    return float(np.clip(540 / np.sqrt(max(n, 1)), 2.5, 34))


def name_of(model: Any) -> str:
    """What a model is called in a message."""
    return type(model).__name__


def asked(model: Any, *attributes: str, question: str, models: str, instead: str = "") -> Any:
    """The first of the attributes that the model has; an error that says who has one.

    Parameters
    ----------
    model : estimator
    attributes : str
        Best first.
    question : str
        What is to be drawn, as ``plot.eigenvalues``.
    models : str
        Which models have it.
    instead : str
        What else the caller may do.
    """
    found = next((value for name in attributes if (value := _attribute(model, name)) is not None), None)
    if found is None:
        raise lacking(model, f"{question} needs {' or '.join(attributes)}", models, instead)
    return found


def lacking(model: Any, needs: str, models: str, instead: str = "") -> Exception:
    """The error about a model without what a picture needs: not fitted yet, or of another kind."""
    unfitted = _unfitted(model)
    words = (
        f"{needs}, which {name_of(model)} does not have{' (it is not fitted: call fit first)' if unfitted else ''}; "
        f"models that have it: {models}{instead and '; ' + instead}"
    )
    return NotFittedError(words) if unfitted else TypeError(words)


def _attribute(model: Any, name: str) -> Any:
    try:
        return getattr(model, name, None)
    except NotFittedError:  # from a property
        return None


def _unfitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return True
    except TypeError:  # no estimator
        return False
    return False
