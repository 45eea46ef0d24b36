"""What an exploration of a table found: plain data, from which reports, files and answers are made.

Rows are counted from 0 in the order of the input, clusters from 0 by size. Arrays have one entry per row of the table
unless said otherwise. Of a table that lies in many files the rows are a sample, which know their numbers in the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.exploration.association import Associations
from gramian.exploration.glance import Glance
from gramian.tables import Column
from gramian.typing import Array


@dataclass(frozen=True)
class View:
    """A way to say how alike rows are, and how it was judged.

    Attributes
    ----------
    name : str
        For files, such as ``"cluster_kernel"``.
    title : str
        For people.
    n_clusters : int
        The number it was tried with.
    agreement : float
        Mean adjusted Rand index with the three views that agree most with it.
    cut : float
        Share of the edges between near rows that lead out of a group, by what chance would give: 0 to about 1.
    score : float
        What views are compared by.
    chosen : bool
    """

    name: str
    title: str
    n_clusters: int
    agreement: float
    cut: float
    score: float
    chosen: bool = False


@dataclass(frozen=True)
class Difference:
    """How a column of a cluster differs from the other rows.

    Attributes
    ----------
    column : str
    effect : float
        Numbers and dates: difference of means in pooled standard deviations (positive: larger here). Categories:
        difference of shares of the level or interval.
    here, elsewhere : str
        Typical values, for people: a median, "3.2 on average" where the medians are equal, or a share.
    level : str
        The level, for categories and booleans; "missing" where the absence of a value is what differs; an interval of
        numbers or dates ("from 3 to 7") where the group lies between others.
    """

    column: str
    effect: float
    here: str
    elsewhere: str
    level: str = ""


@dataclass(frozen=True)
class Cluster:
    """One group of rows.

    Attributes
    ----------
    label : int
    size : int
    stability : float
        How well the group is found again in resampled rows (mean largest Jaccard index), from 0 to 1; NaN where
        there are no groups to be found, and for groups of the alternative.
    typical : list of int
        Rows, most typical first.
    differences : list of Difference
        Largest first.
    sentence : str
        The group in plain words.
    """

    label: int
    size: int
    stability: float
    typical: list[int]
    differences: list[Difference]
    sentence: str


@dataclass(frozen=True)
class Importance:
    """How much a column has to do with the clusters.

    Attributes
    ----------
    column, kind : str
    dependence : float
        Normalised HSIC of the column with the clusters, from 0 to 1.
    weights : list of float
        Of the column in each component that separates the clusters, with signs.
    missing : float
    """

    column: str
    kind: str
    dependence: float
    weights: list[float]
    missing: float


@dataclass(frozen=True)
class Oddity:
    """A row that is similar to few others.

    Attributes
    ----------
    row : int
    score : float
        From 0 to 1; larger is odder.
    reason : str
        In plain words.
    """

    row: int
    score: float
    reason: str


@dataclass(frozen=True)
class Missingness:
    """Where values are missing, and whether that is informative.

    Attributes
    ----------
    share : float
        Of all cells of used columns.
    complete_rows : int
    patterns : list of (list of str, int)
        Sets of columns that miss together and their numbers of rows, most frequent first.
    informative : list of (str, float, str)
        Columns whose gaps go with other things: the name, the p-value after correction, and a sentence.
    """

    share: float
    complete_rows: int
    patterns: list[tuple[list[str], int]]
    informative: list[tuple[str, float, str]]


@dataclass(frozen=True)
class Alternative:
    """Another way to group the same rows.

    Attributes
    ----------
    labels : ndarray (n,)
    overlap : float
        Normalised mutual information with the clusters, near 0 for a new view.
    stability : float
        Adjusted Rand index of what two halves of the rows say.
    clusters : list of Cluster
    sentence : str
    answer : callable, optional
        From other prepared rows (m, d) to their groups (m,).
    """

    labels: Array
    overlap: float
    stability: float
    clusters: list[Cluster]
    sentence: str
    answer: Callable[[Array], Array] | None = field(default=None, repr=False, compare=False)

    @property
    def column(self) -> str:
        """Its column in the output."""
        return "other_group"


@dataclass(frozen=True)
class Level:
    """The same rows in fewer or more groups, which are found again as well when rows are left out.

    Attributes
    ----------
    labels : ndarray (n,)
    stability : float
        Of the least stable group.
    clusters : list of Cluster
    sentence : str
    answer : callable, optional
        From other prepared rows (m, d) to their groups (m,).
    """

    labels: Array
    stability: float
    clusters: list[Cluster]
    sentence: str
    answer: Callable[[Array], Array] | None = field(default=None, repr=False, compare=False)

    @property
    def column(self) -> str:
        """Its column in the output."""
        return f"group_of_{len(self.clusters)}"


@dataclass(frozen=True)
class Exploration:
    """Everything that was found in a table: groups, what makes them different, odd rows and other groupings.

    Attributes
    ----------
    source : str
        Name of the file, without its folders.
    columns : list of Column
    frame : pandas.DataFrame (n, n_columns)
        The table as read, typed, with missing values missing.
    verdict : {"clear", "weak", "none"}
        How much structure there is.
    stability : float
        Of the least stable group, from 0 to 1: how well it is found again in resampled rows. NaN without groups.
    sentences : list of str
        The overview in plain words, most important first.
    views : list of View
    evidence : list of (int, float)
        Numbers of clusters and how well each is found again in resampled rows.
    labels : ndarray (n,)
    membership : ndarray (n,)
        In the own cluster, from 0 to 1.
    rank : ndarray (n,)
        In the own cluster; 1 is the most typical row.
    oddness : ndarray (n,)
        From 0 to 1.
    coordinates : ndarray (n, 2)
        For a map.
    embedding : ndarray (n, m), float32
        Rows of unit length; the dot product of two says how alike the rows are.
    clusters : list of Cluster
    importances : list of Importance
        Largest dependence first.
    oddities : list of Oddity
        The oddest of the odd rows.
    missingness : Missingness
    alternative : Alternative or None
    made : dict
        Parameters, versions, seconds of each stage.
    glances : list of Glance
        Every column in figures.
    associations : Associations or None
        Which columns have to do with each other.
    repeated : int
        Rows that are copies of an earlier row.
    levels : list of Level
        Coarser and finer groupings that hold too.
    cells : dict of str to pyarrow.ChunkedArray
        The columns as they were read, see :class:`gramian.tables.Table`.
    numbers : ndarray (n,), optional
        Where the rows stand in the whole table, from 0, if they are a sample of it.
    n_rows : int
        Of the whole table. Sizes of groups, and how much is missing, count all of them.
    n_odd : int
        Odd rows of the whole table: like few others, and not among the typical ones of their group. Copies count once,
        unless the table lies in many files.
    """

    source: str
    columns: list[Column]
    frame: Any
    verdict: str
    stability: float
    sentences: list[str]
    views: list[View]
    evidence: list[tuple[int, float]]
    labels: Array
    membership: Array
    rank: Array
    oddness: Array
    coordinates: Array
    embedding: Array
    clusters: list[Cluster]
    importances: list[Importance]
    oddities: list[Oddity]
    missingness: Missingness
    alternative: Alternative | None
    made: dict[str, Any] = field(default_factory=dict)
    glances: list[Glance] = field(default_factory=list)
    associations: Associations | None = None
    repeated: int = 0
    levels: list[Level] = field(default_factory=list)
    cells: dict[str, Any] = field(default_factory=dict)
    numbers: Array | None = None
    n_rows: int = -1
    n_odd: int = -1

    def __post_init__(self) -> None:
        if self.n_rows < 0:
            object.__setattr__(self, "n_rows", len(self.labels))
        if self.n_odd < 0:
            object.__setattr__(self, "n_odd", len(self.oddities))

    def number(self, row: int) -> int:
        """Where a row stands in the whole table."""
        return row if self.numbers is None else int(self.numbers[row])

    @property
    def n_clusters(self) -> int:
        return len(self.clusters)

    def other_groupings(self) -> dict[str, Level | Alternative]:
        """Groupings beside the chosen one, by the names of their columns in the output."""
        beside: list[Level | Alternative] = [*self.levels]
        if self.alternative is not None:
            beside.append(self.alternative)
        return {grouping.column: grouping for grouping in beside}

    def row_columns(self) -> dict[str, Array]:
        """What was found of every row, by the names of its columns in the output; groups are counted from 1."""
        found = {
            "group": self.labels + 1,
            "membership": np.round(self.membership, 4),
            "rank_in_group": self.rank,
            "oddness": np.round(self.oddness, 4),
        }
        return found | {name: grouping.labels + 1 for name, grouping in self.other_groupings().items()}
