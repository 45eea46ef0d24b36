"""The pictures of the page "Draw what a model found": one of each function of ``gramian.plot``, by day and by night.

They are drawn while the pages are built, from small models of the bundled data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.preprocessing import StandardScaler

import gramian
from gramian import plot
from gramian.datasets import load_series, load_table, make_crescents, make_planted_graph, make_rings

FOLDER = Path(__file__).parent / "generated"
SIZE = (5.2, 3.6)


def write_pictures(app: Any = None) -> None:
    """Draw what ``docs/guide/pictures.md`` shows, and write the figures that it includes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    FOLDER.mkdir(exist_ok=True)
    for name, fitted in DRAWINGS.items():
        draw = fitted()
        for theme in ("light", "dark"):
            with plot.style(theme):
                figure, ax = pyplot.subplots(figsize=SIZE, layout="constrained")
                draw(ax=ax)
                figure.savefig(FOLDER / f"plot_{name}_{theme}.png", dpi=130)
                pyplot.close(figure)
    (FOLDER / "pictures.inc").write_text("".join(map(figures, DRAWINGS)), encoding="utf-8")


def figures(name: str) -> str:
    """The two pictures of a function as MyST; the page shows the one for its paper."""
    return "".join(
        f":::{{figure}} ../generated/plot_{name}_{theme}.png\n:figclass: only-{theme}\n"
        f":alt: what plot.{name} draws\n\n`plot.{name}`\n:::\n\n"
        for theme in ("light", "dark")
    )


def wine() -> Any:
    """The table of most pictures."""
    return load_table("wine")


def forecast() -> Any:
    """The last eleven years of the sunspots, held back."""
    values = load_series("sunspots_yearly").values[:, 0]
    model = gramian.EchoStateForecaster(horizon=11, random_state=0).fit(values[:-11])
    return partial(plot.forecast, model, values[:-11], actual=values[-11:])


def network() -> Any:
    """Planted communities."""
    graph, _ = make_planted_graph(150, 4, degree=12, inside=0.85, random_state=0)
    return partial(plot.network, gramian.NetworkKSC().fit(graph), graph)


def decision() -> Any:
    """Two classes that no line separates."""
    X, y = make_crescents(random_state=0)
    return partial(plot.decision, gramian.LSSVMClassifier().fit(X, y), X, y)


DRAWINGS: dict[str, Callable[[], Any]] = {
    "clusters": lambda: partial(plot.clusters, gramian.AutoClustering(random_state=0).fit(wine().X), wine().X),
    "embedding": lambda: partial(
        plot.embedding, gramian.KernelPCA(2).fit(StandardScaler().fit_transform(wine().X)), labels=wine().y
    ),
    "eigenvalues": lambda: partial(
        plot.eigenvalues, gramian.SpectralClustering(None, random_state=0).fit(make_rings(random_state=0)[0])
    ),
    "gram": lambda: partial(plot.gram, gramian.RankedClustering(3, random_state=0).fit(wine().X)),
    "consensus": lambda: partial(
        plot.consensus, gramian.ConsensusClustering(3, random_state=0).fit(load_table("seeds").X)
    ),
    "ranking": lambda: partial(plot.ranking, gramian.RankedClustering(3, random_state=0).fit(wine().X), 7),
    "components": lambda: partial(
        plot.components, gramian.DependenceReduction(2).fit(wine().X, wine().y), names=wine().feature_names, top=10
    ),
    "selection": lambda: partial(plot.selection, gramian.AutoClustering(random_state=0).fit(wine().X)),
    "forecast": forecast,
    "network": network,
    "decision": decision,
    "curve": lambda: partial(plot.curve, gramian.DependenceReduction(2).fit(wine().X, wine().y)),
}
"""What fits the model of each function, and returns the function with all but its Axes."""
