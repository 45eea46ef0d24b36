"""Communities of a network
========================

Communities of a network as a model: found once, and used for nodes that come later.

A network of nested communities: 16 groups of 60 nodes in 4 larger ones. A tenth of the nodes is hidden. ``NetworkKSC``
finds communities of the others, the hidden nodes are placed by their edges alone, and ``MultilevelKSC`` shows all
levels. Printed: how many communities, agreement with the planted ones, and the levels. Drawn: the adjacency matrix in
the order of the finest level, with the borders of the level that is the larger groups.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import MultilevelKSC, NetworkKSC
from gramian.datasets import make_block_graph
from gramian.metrics import adjusted_rand

INK = "#222222"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--nodes", type=int, default=60, help="of each of the 16 groups")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    adjacency, y = make_block_graph([options.nodes] * 16, 0.4, 0.005, nested=(4, 0.08), random_state=0)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    adjacency, y = adjacency[order][:, order], y[order]
    hidden = rng.random(len(y)) < 0.1

    model = NetworkKSC(16).fit(adjacency[~hidden][:, ~hidden])
    placed = model.predict(adjacency[hidden][:, ~hidden])
    print(f"16 communities asked for: agreement with the groups {adjusted_rand(y[~hidden], model.labels_):.2f}")
    print(f"{hidden.sum()} hidden nodes placed by their edges: agreement {adjusted_rand(y[hidden], placed):.2f}")
    chosen = NetworkKSC().fit(adjacency)
    print(f"nothing asked for: {chosen.n_clusters_} communities, modularity {chosen.modularity_:.2f}")

    levels = MultilevelKSC().fit(adjacency)
    for number, labels in enumerate(levels.levels_):
        fine, coarse = adjusted_rand(y, labels), adjusted_rand(y // 4, labels)
        count = levels.n_clusters_per_level_[number]
        print(f"level {number}: {count} communities, agreement with 16 groups {fine:.2f}, with 4 {coarse:.2f}")
    print(f"Picture: {draw(adjacency, levels, Path(options.out))}")


def draw(adjacency: object, levels: MultilevelKSC, folder: Path) -> Path:
    """The edges between nodes that are sorted by all levels."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    order = np.lexsort(levels.levels_)  # the coarsest leads
    coarse = levels.labels_[order]
    figure, panel = plt.subplots(figsize=(6, 6.2), layout="constrained", dpi=130)
    panel.spy(adjacency[order][:, order], markersize=0.4, color="#3A6EA5")  # type: ignore[index]
    for border in np.flatnonzero(np.diff(coarse)) + 0.5:
        panel.axhline(border, color=INK, linewidth=0.8)
        panel.axvline(border, color=INK, linewidth=0.8)
    panel.set_title(f"{levels.n_clusters_per_level_[0]} communities within {levels.n_clusters_}", loc="left", color=INK)
    panel.set_xlabel("node, sorted by level")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "communities.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
