"""When communities fade
=====================

How clear must communities be to be found?

Networks of 600 nodes in six communities, in which fewer and fewer edges stay inside. ``NetworkKSC`` is told nothing,
not even how many there are. Printed: the number that it finds, the agreement with the planted communities, and the
modularity of both. Where the communities are gone, it still divides, with a modularity above that of the planted ones:
high modularity alone does not prove communities. Drawn: a clear and a blurred network, and the agreement.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import NetworkKSC, plot
from gramian.datasets import make_planted_graph
from gramian.metrics import adjusted_rand, modularity

INK, FAINT = "#222222", "#8A8A8A"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--nodes", type=int, default=600)
    parser.add_argument("--inside", type=float, nargs="+", default=[0.9, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1])
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    print("edges inside  communities  agreement  modularity  of the planted ones")
    found, agreement = [], []
    for share in options.inside:
        graph, y = make_planted_graph(options.nodes, 6, degree=16, inside=share, random_state=0)
        model = NetworkKSC().fit(graph)
        found.append((graph, model))
        agreement.append(adjusted_rand(y, model.labels_))
        print(
            f"{share:12.1f}  {model.n_clusters_:11d}  {agreement[-1]:9.2f}  {model.modularity_:10.2f}"
            f"  {modularity(graph, y):19.2f}"
        )
    print(f"Picture: {draw(found, options.inside, agreement, Path(options.out))}")


def draw(found: list[tuple], inside: list[float], agreement: list[float], folder: Path) -> Path:
    """The clearest network, one in the middle, and the agreement of all."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained", dpi=130)
    for panel, i in zip(panels, (0, len(found) // 2), strict=False):
        graph, model = found[i]
        plot.network(model, graph, ax=panel)
        panel.set_title(f"{inside[i]:.0%} of the edges inside: {model.n_clusters_} communities", color=INK, fontsize=10)
    panels[2].plot(np.asarray(inside), agreement, "o-", color="#4477AA")
    panels[2].set_xlabel("share of edges that stay inside", color=INK)
    panels[2].set_title("agreement with the planted communities", loc="left", color=INK, fontsize=10)
    panels[2].grid(color="#EDEDED")
    panels[2].tick_params(colors=FAINT, length=0)
    panels[2].spines[:].set_visible(False)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "when_communities_fade.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
