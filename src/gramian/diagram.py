"""What a notebook shows of an estimator: scikit-learn's diagram, and below it what was found and chosen.

Every estimator and kernel of the library derives from :class:`Estimator`; nothing but their display depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from html import escape
from numbers import Integral, Number
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

_FOUND = {
    "n_clusters_": "{} clusters",
    "classes_": "{} classes",
    "n_components_": "{} components",
    "n_layers_": "{} layers",
    "n_prototypes_": "{} prototypes",
    "verdict_": "verdict: {}",
    "stability_": "stability {}",
    "modularity_": "modularity {}",
    "n_steps_": "{} steps seen",
    "best_score_": "best objective {}",
}
_CHOSEN = {
    "candidates_": "way: {}",
    "kernel_": "{}",
    "width_": "width {}",
    "regularization_": "regularization {}",
    "smoothness_": "smoothness {}",
    "label_weight_": "label weight {}",
    "nu_x_": "penalty of x {}",
    "nu_y_": "penalty of y {}",
    "restart_": "restart {}",
    "chosen_": "rule: {}",
    "chosen_by_": "number of clusters by {}",
    "periods_": "seasons: {}",
    "lags_": "{} lags",
    "solver_": "solver: {}",
    "best_params_": "{}",
}
_ONE = {"classes_": "1 class", "n_steps_": "1 step seen"}  # others lose their s
_STYLE = "font-size:90%;line-height:1.5;margin:.3em 0 .6em;overflow-wrap:anywhere"


class Estimator(BaseEstimator):
    """scikit-learn's base of estimators, whose diagram says, once fitted, what was found and what was chosen."""

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + chosen_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += chosen_html(self)
        return bundle


def chosen_html(estimator: Any) -> str:
    """Two lines of HTML: what was found, and what was chosen; none of an estimator that is not fitted."""
    lines = [f"{title}: {'; '.join(parts)}" for title, parts in told(estimator).items() if parts]
    if not lines:
        return ""
    return f'<div class="gramian-chosen" style="{_STYLE}">' + "<br>".join(map(escape, lines)) + "</div>"


def told(estimator: Any) -> dict[str, list[str]]:
    """What was found and what was chosen, in words; empty lists where an estimator is not fitted.

    Examples
    --------
    >>> from gramian import SpectralClustering
    >>> from gramian.datasets import make_rings
    >>> from gramian.diagram import told
    >>> told(SpectralClustering(None, random_state=0).fit(make_rings(random_state=0)[0]))
    {'Found': ['2 clusters (chosen)'], 'Chosen': ['kernel CompletedGraph']}
    """
    return {"Found": _said(estimator, _FOUND), "Chosen": _said(estimator, _CHOSEN)}


def _said(estimator: Any, table: Mapping[str, str]) -> list[str]:
    said = []
    for name, words in table.items():
        try:
            value = getattr(estimator, name, None)
        except NotFittedError:  # from a property
            continue
        text = _text(value, name)
        if text:
            phrase = words.format(text)
            said.append(
                (_ONE.get(name, phrase.removesuffix("s")) if text == "1" else phrase) + _by_whom(estimator, name)
            )
    return said


def _text(value: Any, name: str) -> str:
    """A value on few characters; nothing of what is absent or too long to show."""
    if value is None:
        return ""
    if name == "kernel_":
        width = getattr(value, "width_", getattr(value, "width", None))
        known = isinstance(width, Number) and not isinstance(width, bool)
        return f"kernel {type(value).__name__}" + (f", width {_number(width)}" if known else "")
    if name == "candidates_":  # of AutoClustering: what was tried
        return next((item["name"].replace("_", " ") for item in value if item["chosen"]), "")
    if name == "classes_":
        return str(len(value)) if isinstance(value, Sized) else ""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(item, '')}" for key, item in value.items())
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    if name == "chosen_by_" and value in ("given", "nothing"):
        return ""
    if isinstance(value, str):
        return value.replace("_", " ")
    if getattr(value, "ndim", 0) or not isinstance(value, Number):
        return ""
    return _number(value)


def _number(value: Any) -> str:
    return str(int(value)) if isinstance(value, Integral) else f"{float(value):.4g}"


def _by_whom(estimator: Any, name: str) -> str:
    """Whether the caller left a number open; the parameter has the attribute's name without the underscore."""
    absent = object()
    given = getattr(estimator, name.removesuffix("_"), absent)
    return " (chosen)" if name.startswith("n_") and (given is None or isinstance(given, str)) else ""
