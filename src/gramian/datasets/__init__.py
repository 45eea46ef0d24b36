"""Data sets: generators, small real tables and series, simulators of missing values, readers of files and OpenML."""

from typing import TYPE_CHECKING

from gramian.deferred import deferred

if TYPE_CHECKING:
    from gramian.datasets.bundled import list_tables, load_table
    from gramian.datasets.bundled_series import Series, list_series, load_series
    from gramian.datasets.graphs import make_block_graph, make_planted_graph
    from gramian.datasets.labels import make_adversarial, make_random_labels
    from gramian.datasets.local import Graph, read_csv, read_edgelist, read_npz
    from gramian.datasets.missingness import ampute, block, mar_columns, mar_logistic, mcar, nmar_saturation, quadrant
    from gramian.datasets.openml import fetch_openml
    from gramian.datasets.series import make_lorenz, make_mackey_glass, make_moore_spiegel, make_mso, make_narma
    from gramian.datasets.synthetic import (
        make_clouds,
        make_crescents,
        make_diamond_gauss,
        make_land_cover,
        make_large_gauss,
        make_moon_views,
        make_parabolas,
        make_rings,
        make_small_gauss,
        make_spirals,
    )
    from gramian.datasets.table import Table

__all__ = [
    "Graph",
    "Series",
    "Table",
    "ampute",
    "block",
    "fetch_openml",
    "list_series",
    "list_tables",
    "load_series",
    "load_table",
    "make_adversarial",
    "make_block_graph",
    "make_clouds",
    "make_crescents",
    "make_diamond_gauss",
    "make_land_cover",
    "make_large_gauss",
    "make_lorenz",
    "make_mackey_glass",
    "make_moon_views",
    "make_moore_spiegel",
    "make_mso",
    "make_narma",
    "make_parabolas",
    "make_planted_graph",
    "make_random_labels",
    "make_rings",
    "make_small_gauss",
    "make_spirals",
    "mar_columns",
    "mar_logistic",
    "mcar",
    "nmar_saturation",
    "quadrant",
    "read_csv",
    "read_edgelist",
    "read_npz",
]

_HOMES = {
    ".bundled": (
        "list_tables",
        "load_table",
    ),
    ".bundled_series": (
        "Series",
        "list_series",
        "load_series",
    ),
    ".graphs": (
        "make_block_graph",
        "make_planted_graph",
    ),
    ".labels": (
        "make_adversarial",
        "make_random_labels",
    ),
    ".local": (
        "Graph",
        "read_csv",
        "read_edgelist",
        "read_npz",
    ),
    ".missingness": (
        "ampute",
        "block",
        "mar_columns",
        "mar_logistic",
        "mcar",
        "nmar_saturation",
        "quadrant",
    ),
    ".openml": ("fetch_openml",),
    ".series": (
        "make_lorenz",
        "make_mackey_glass",
        "make_moore_spiegel",
        "make_mso",
        "make_narma",
    ),
    ".synthetic": (
        "make_clouds",
        "make_crescents",
        "make_diamond_gauss",
        "make_land_cover",
        "make_large_gauss",
        "make_moon_views",
        "make_parabolas",
        "make_rings",
        "make_small_gauss",
        "make_spirals",
    ),
    ".table": ("Table",),
}

__getattr__, __dir__ = deferred(__name__, _HOMES)
