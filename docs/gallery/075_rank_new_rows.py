"""Images like this one
====================

Which images of a collection are most like a new one?

``KernelPageRank`` learns a random walk on 900 handwritten digits, without their labels. Images that come later are
queries, each answered by one thin product. How many eigenvectors of the walk that product has decides how good the
lists are: by default all of up to 1,000 rows, and here that is worse than plain distance; 30 or 100 are better.
Printed: the share of each list of ten that shows the digit of the query, as a mean over several draws, beside the ten
nearest by distance. The labels tell which number is best, so take it as a hint, not as a result. Drawn: lists
with the most mistakes, for 100 eigenvectors; a red frame marks another digit.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from gramian import KernelPageRank
from gramian.kernels import NeighborGraph

INK, WRONG = "#222222", "#EE6677"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--rows", type=int, default=900, help="images of the collection, of 1,797")
    parser.add_argument("--queries", type=int, default=250, help="images that come later")
    parser.add_argument("--draws", type=int, default=3, help="of the collection")
    parser.add_argument("--top", type=int, default=10, help="length of a list")
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    X, y = load_digits(return_X_y=True)
    shares: dict[str, list[float]] = {}
    for draw_number in range(options.draws):
        order = np.random.default_rng(draw_number).permutation(len(y))
        old, new = order[: options.rows], order[options.rows :][: options.queries]
        lists = {}
        for count in (10, 30, 100, None):
            model = KernelPageRank(kernel=NeighborGraph(10), n_components=count, random_state=0).fit(X[old])
            name = f"{count} eigenvectors" if count else "default"
            lists[name] = model.rank(query=X[new], top=options.top).T
        nearest = NearestNeighbors(n_neighbors=options.top).fit(X[old])
        lists["distance"] = nearest.kneighbors(X[new], return_distance=False)
        for name, found in lists.items():
            shares.setdefault(name, []).append(np.mean(y[old][found] == y[new][:, None]))
    for name, values in shares.items():
        print(f"{name:16} {np.mean(values):.3f} of each list show the digit of the query")
    print(f"Picture: {draw(X, y, old, new, lists['100 eigenvectors'], Path(options.out))}")


def draw(X: np.ndarray, y: np.ndarray, old: np.ndarray, new: np.ndarray, lists: np.ndarray, folder: Path) -> Path:
    """For every other digit, the query whose list has the most mistakes: these teach most."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    mistakes = (y[old][lists] != y[new][:, None]).sum(axis=1)
    rows = [max(np.flatnonzero(y[new] == digit), key=lambda i: mistakes[i]) for digit in range(0, 10, 2)]
    figure, panels = plt.subplots(len(rows), lists.shape[1] + 1, figsize=(9, 4.6), layout="constrained", dpi=130)
    for panel_row, i in zip(panels, rows, strict=True):
        for panel, row in zip(panel_row, (new[i], *old[lists[i]]), strict=True):
            panel.imshow(X[row].reshape(8, 8), cmap="Greys")
            panel.set_xticks([])
            panel.set_yticks([])
            panel.spines[:].set(color=INK if y[row] == y[new[i]] else WRONG, linewidth=1 if y[row] == y[new[i]] else 3)
    panels[0, 0].set_title("query", color=INK, fontsize=10)
    panels[0, 1].set_title("its list, at its worst", color=INK, fontsize=10, loc="left")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "images_like_this_one.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
