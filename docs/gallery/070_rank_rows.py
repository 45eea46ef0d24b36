"""Typical, odd and similar rows
=============================

Who is typical, who stands between, and who votes like this one?

The votes of the United States House of Representatives in 1984, with holes where a member did not vote. The members are
clustered and ranked from one walk over their similarities, without being told the parties or their number. Printed: how
pure the top of each cluster's list is beside the whole cluster, the members between two clusters, and the list of those
most like one member. Drawn: every member by cluster membership and by how typical it is.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramian import ClusterKernel, RankedClustering
from gramian.datasets import load_table

COLOURS = {"democrat": "#4477AA", "republican": "#EE6677"}
INK, FAINT = "#222222", "#8A8A8A"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the example; ``argv`` as on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--like", type=int, default=0, help="rank the others by likeness to this member")
    parser.add_argument("--top", type=int, default=40, help="length of the lists")
    parser.add_argument("--restarts", type=int, default=30, help="of the cluster kernel")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="demo", help="folder for the picture")
    options = parser.parse_args(argv)

    table = load_table("vote")
    voted = ~np.isnan(table.X).all(axis=1)
    X, party = table.X[voted], np.array(table.target_names)[table.y[voted]]
    model = RankedClustering(kernel=ClusterKernel(options.restarts), random_state=options.seed).fit(X)

    print(f"{len(X)} members, {np.isnan(X).mean():.1%} of their votes missing: {model.n_clusters_} clusters")
    for c in range(model.n_clusters_):
        members, top = party[model.labels_ == c], party[model.rank(c, top=options.top)]
        who = top[0]
        print(
            f"cluster {c}: {len(members)} members, {np.mean(members == who):.2f} {who}; "
            f"first {len(top)} of its list {np.mean(top == who):.2f}"
        )
    unsure = int((model.memberships_.max(axis=1) < 0.75).sum())
    print(f"between the clusters (no membership above 0.75): {unsure} members")
    friends = model.query(options.like, top=options.top)
    same = np.mean(party[friends] == party[options.like])
    print(f"most like member {options.like}, a {party[options.like]}: {friends[:8]}, {same:.2f} of the same party")
    print(f"Picture: {draw(model, party, friends, options.like, Path(options.out))}")


def draw(model: RankedClustering, party: np.ndarray, friends: np.ndarray, like: int, folder: Path) -> Path:
    """Members by their membership in the last cluster and how typical they are; a query and its list marked."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    across, typical = model.memberships_[:, -1], model.base_scores_ * len(party)
    figure, panel = plt.subplots(figsize=(8.6, 5.2), layout="constrained", dpi=130)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
    figure.suptitle(
        f"{len(party)} members of Congress by their votes of 1984: parties were not told",
        x=0.02,
        ha="left",
        fontweight="bold",
        color=INK,
    )
    for name, colour in COLOURS.items():
        these = party == name
        panel.scatter(across[these], typical[these], s=22, color=colour, alpha=0.55, lw=0, label=name)
    panel.scatter(across[friends], typical[friends], s=60, facecolor="none", edgecolor=INK, lw=0.8, label="its list")
    panel.scatter(across[like], typical[like], s=170, marker="*", color=INK, label=f"member {like}, the query")
    panel.set_xlabel(f"membership in cluster {model.n_clusters_ - 1}", color=INK)
    panel.set_ylabel("how typical (1 is average)", color=INK)
    panel.tick_params(colors=FAINT, length=0)
    panel.grid(color="#EDEDED", lw=0.8)
    panel.set_axisbelow(True)
    panel.spines[:].set_visible(False)
    panel.legend(frameon=False, loc="lower center", ncols=4, bbox_to_anchor=(0.5, -0.24))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ranked_votes.png"
    figure.savefig(path)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
