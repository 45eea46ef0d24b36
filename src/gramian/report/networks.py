"""Write the communities of a network: the whole folder or nothing, and the places of new nodes."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gramian.communities import CommunityModel, Division, Edges, Placed
from gramian.persistence import save
from gramian.report.network_page import write_network_report
from gramian.report.outputs import MODEL, NODES, REPORT, SUMMARY, plain, whole_folder, write_csv


def write_network_folder(division: Division, model: CommunityModel, folder: Path, *, force: bool = False) -> None:
    """Write the report, the nodes, the summary and the model."""
    with whole_folder(folder, force=force) as draft:
        import pyarrow as pa

        write_network_report(division, draft / REPORT)
        write_csv(pa.table(_columns(division)), draft / NODES)
        text = json.dumps(network_summary(division), indent=1, ensure_ascii=False) + "\n"
        (draft / SUMMARY).write_text(text, "utf-8")
        save(model, draft / MODEL)


def network_nodes(division: Division) -> Any:
    """Every node with its community, membership, degree and levels, as a DataFrame."""
    import pandas as pd

    return pd.DataFrame(_columns(division))


def _columns(division: Division) -> dict[str, Any]:
    found = {
        "node": list(division.edges.nodes),
        "community": division.labels,
        "membership": np.round(division.membership, 4),
        "degree": division.degree,
    }
    if not division.edges.weighted:
        found["degree"] = np.rint(division.degree).astype(np.int64)
    return found | {f"level_{i}": level.labels for i, level in enumerate(division.levels, start=1)}


def placed_nodes(model: CommunityModel, edges: Edges, *, placed: Placed | None = None) -> Any:
    """New nodes with their community, membership, degree, levels and a note, as a DataFrame.

    ``placed`` is what ``model.place`` says of the edges, if that is known already.
    """
    import pandas as pd

    found = placed or model.place(edges)
    columns: dict[str, Any] = {
        "node": found.nodes,
        "community": found.labels,
        "membership": np.round(found.membership, 4),
        "degree": found.degree if edges.weighted else np.rint(found.degree).astype(np.int64),
    }
    columns |= {f"level_{i}": labels for i, labels in enumerate(found.levels, start=1)}
    return pd.DataFrame(columns | {"note": found.notes})


def network_summary(division: Division) -> dict[str, Any]:
    """The findings without the single nodes, ready for JSON."""
    names, membership = division.edges.nodes, division.membership
    found: dict[str, Any] = {
        "source": division.edges.source,
        "nodes": len(division.labels),
        "edges": division.edges.n_edges,
        "weighted": division.edges.weighted,
        "verdict": division.verdict,
        "overview": division.sentences,
        "modularity": division.own.modularity,
        "modularity_by_chance": division.chance,
        "inside": division.within.sum() / division.degree.sum(),
        "mean_conductance": division.own.conductance,
        "number_of_communities": division.own.communities,
        "communities": [asdict(item) | {"hubs": [names[node] for node in item.hubs]} for item in division.communities],
        "bridges": [
            {
                "node": names[bridge.node],
                "community": division.labels[bridge.node],
                "membership": membership[bridge.node],
                "degree": division.degree[bridge.node],
                "other": bridge.other,
                "share": bridge.share,
            }
            for bridge in division.bridges
        ],
        "levels": [{"communities": level.communities, "modularity": level.modularity} for level in division.levels],
        "other_methods": [asdict(other) for other in division.others],
        "made": division.made,
    }
    told: dict[str, Any] = plain(found)
    return told
