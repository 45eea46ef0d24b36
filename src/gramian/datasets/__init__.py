"""Data to try things on: generators, small real tables, and readers for files and OpenML."""

from gramian.datasets.bundled import list_tables, load_table
from gramian.datasets.labels import make_adversarial, make_random_labels
from gramian.datasets.local import Graph, read_csv, read_edgelist, read_npz
from gramian.datasets.openml import fetch_openml
from gramian.datasets.synthetic import (
    make_clouds,
    make_crescents,
    make_diamond_gauss,
    make_land_cover,
    make_large_gauss,
    make_moon_views,
    make_rings,
    make_small_gauss,
    make_spirals,
)
from gramian.datasets.table import Table

__all__ = [
    "Graph",
    "Table",
    "fetch_openml",
    "list_tables",
    "load_table",
    "make_adversarial",
    "make_clouds",
    "make_crescents",
    "make_diamond_gauss",
    "make_land_cover",
    "make_large_gauss",
    "make_moon_views",
    "make_random_labels",
    "make_rings",
    "make_small_gauss",
    "make_spirals",
    "read_csv",
    "read_edgelist",
    "read_npz",
]
