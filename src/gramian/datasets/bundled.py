"""Small real tables that come with the package, for examples and tests without a network.

The files lie in ``data/`` beside this module, as published by the UCI Machine Learning Repository under CC BY 4.0;
``data/README.md`` gives origin and citation of each.
"""

from __future__ import annotations

from importlib import resources
from typing import NamedTuple

from gramian.datasets.local import read_csv
from gramian.datasets.table import Table

__all__ = ["list_tables", "load_table"]


class _Source(NamedTuple):
    title: str
    cite: str


_SOURCES = {
    "breast_w": _Source(
        "Breast tumours (Wisconsin, original): 9 gradings of cell samples, 16 of them missing; benign or malignant",
        "W. Wolberg (1990), Breast Cancer Wisconsin (Original), doi:10.24432/C5HP4Z",
    ),
    "dermatology": _Source(
        "Skin diseases: 33 graded findings and the age (8 missing); six erythemato-squamous diseases",
        "N. Ilter, H. Guvenir (1998), Dermatology, doi:10.24432/C5FK5P",
    ),
    "ecoli": _Source(
        "Protein localisation in E. coli: 7 signal scores; eight sites of very unequal size",
        "K. Nakai (1996), Ecoli, doi:10.24432/C5388M",
    ),
    "hepatitis": _Source(
        "Hepatitis patients: 6 laboratory values and 13 yes/no findings, 167 cells missing; survived or not",
        "G. Gong (1983), Hepatitis, doi:10.24432/C5Q59J",
    ),
    "horse_colic": _Source(
        "Horses with colic: 7 measurements and 15 categorical findings, a quarter of the cells missing; "
        "whether the lesion was surgical",
        "M. McLeish, M. Cecile (1989), Horse Colic, doi:10.24432/C58W23",
    ),
    "iris": _Source(
        "Iris flowers: 4 lengths in cm; three species. The repository's copy, which differs from Fisher's paper "
        "(and from scikit-learn) in three cells",
        "R. A. Fisher (1936), Iris, doi:10.24432/C56C76",
    ),
    "seeds": _Source(
        "Wheat kernels: 7 geometric measurements from X-ray images; three varieties",
        "M. Charytanowicz et al. (2010), Seeds, doi:10.24432/C5H30K",
    ),
    "vote": _Source(
        "Votes of the US House of Representatives, 1984: 16 yes/no votes, 392 missing; two parties",
        "J. Schlimmer (1987), Congressional Voting Records, doi:10.24432/C5C01P",
    ),
    "wdbc": _Source(
        "Breast tumours (Wisconsin, diagnostic): 30 shape measurements of cell nuclei; benign (B) or malignant (M)",
        "W. Wolberg, O. Mangasarian, N. Street, W. Street (1993), Breast Cancer Wisconsin (Diagnostic), "
        "doi:10.24432/C5DW2B",
    ),
    "wine": _Source(
        "Italian wines: 13 chemical measurements; three cultivars",
        "S. Aeberhard, M. Forina (1992), Wine, doi:10.24432/C5PC7J",
    ),
    "zoo": _Source(
        "Animals: 15 yes/no traits and the number of legs; seven kinds",
        "R. Forsyth (1990), Zoo, doi:10.24432/C5R59V",
    ),
}


def list_tables() -> list[str]:
    """Names that :func:`load_table` takes.

    Examples
    --------
    >>> from gramian.datasets import list_tables
    >>> "wine" in list_tables()
    True
    """
    return sorted(_SOURCES)


def load_table(name: str) -> Table:
    """Load a real table that comes with the package.

    Parameters
    ----------
    name : str
        One of :func:`list_tables`.

    Returns
    -------
    Table
        With the classes as target.

    References
    ----------
    M. Kelly, R. Longjohn, K. Nottingham, The UCI Machine Learning Repository, https://archive.ics.uci.edu

    Examples
    --------
    >>> from gramian.datasets import load_table
    >>> table = load_table("hepatitis")
    >>> table
    Table 'hepatitis': 155 rows, 19 features (13 categorical), 167 missing cells, target 'label' with 2 classes
    >>> table.target_names, table.categories["SEX"]
    (('DIE', 'LIVE'), ('female', 'male'))
    """
    if name not in _SOURCES:
        raise ValueError(f"name={name!r} is not a bundled table; pass one of {', '.join(list_tables())}")
    source = _SOURCES[name]
    with resources.as_file(resources.files("gramian.datasets") / "data" / f"{name}.csv.gz") as path:
        table = read_csv(path, target="label", categorical=["label"])
    return Table(
        X=table.X,
        y=table.y,
        feature_names=table.feature_names,
        target_names=table.target_names,
        categories=table.categories,
        target=table.target,
        name=name,
        description=f"{source.title}. Source: {source.cite}, UCI Machine Learning Repository. Licence: CC BY 4.0.",
    )
