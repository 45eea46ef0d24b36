"""What is kept of an exploration to answer for rows that come later."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import normalize

from gramian.exploration.oddness import Oddness
from gramian.exploration.shown import Cells, cells_of
from gramian.kernels import Kernel
from gramian.persistence import load_whole
from gramian.ranking import KernelPageRank, best_first
from gramian.tables import Preparation
from gramian.typing import Array

_CHUNK = 20_000  # rows answered at once
_COMPONENTS = 16  # of the walk: more make the file large and tell no more of likeness
_PRECISE_ROWS = 2000  # of more rows single precision tells as much


class Placed(NamedTuple):
    """What is known of some rows."""

    groups: Array  # (n,)
    membership: Array  # (n,), in the own group
    score: Array  # (n,), in the own group
    oddness: Array  # (n,)
    embedding: Array  # (n, p), of unit length
    completed: Array  # (n, d'), in units that can be compared, holes filled


class TableModel(BaseEstimator):
    """Groups, memberships and oddness of rows of a table, and lists of the rows most like others.

    Made by :func:`gramian.exploration.explore` and saved as ``model.gramian``. Rows are asked in prepared form, as
    ``preparation.transform(table)`` gives them.

    Parameters
    ----------
    preparation : Preparation
        Fitted on the table.
    clusterer : AutoClustering
        Fitted on some rows.
    restart : float, default 0.5
        Of the walk that ranks rows.

    Attributes
    ----------
    n_clusters_ : int
    number_ : ndarray (n_clusters_,)
        The number of each of the clusterer's groups: 0 is the largest.
    rows_, fitted_groups_ : ndarray (m,)
        Where the rows that were fitted stand in the table, and their groups.
    ranker_ : KernelPageRank
        A walk between the fitted rows, by the similarity that groups them.
    oddness_ : Oddness
    fitted_oddness_ : ndarray (m,)
        Of the fitted rows.
    some_rows_ : ndarray (at most 50, d)
        Fitted rows, by which a model that was read from a file is tried.
    groups_, ranks_ : ndarray (n,)
        Of all rows of the table.
    places_ : ndarray (n, p), float32
        Rows of unit length; the dot product of two says how alike the rows of the table are.
    shown_ : dict
        A few cells of every row, see :mod:`gramian.exploration.shown`.
    numbers_ : ndarray (n,)
        Where these rows stand in the table, rising; only if they are a sample of it.
    """

    def __init__(self, preparation: Any = None, clusterer: Any = None, restart: float = 0.5) -> None:
        self.preparation = preparation
        self.clusterer = clusterer
        self.restart = restart

    def fit(self, X: Array, labels: Array, rows: Array, kernel: Kernel, *, seed: int = 0) -> TableModel:
        """Rank the fitted rows of each group.

        Parameters
        ----------
        X : ndarray (m, d)
            Prepared.
        labels : ndarray (m,)
            As the clusterer has them; −1 for rows of no group.
        rows : ndarray (m,)
            Their numbers in the table.
        kernel : Kernel
            How alike rows are; fitted here unless it is frozen.
        seed : int, default 0
        """
        self.rows_, self.fitted_groups_ = rows, self.number(labels)
        components = min(_COMPONENTS, len(X) - 1)
        self.ranker_ = KernelPageRank(
            kernel=kernel, restart=self.restart, n_components=components, order="eigenvalue", random_state=seed
        )
        compared = self._compared(X) if len(X) <= _PRECISE_ROWS else self._compared(X).astype(np.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # rows that are like no other are told as odd
            self.ranker_.fit(compared)
        self.oddness_ = Oddness(self.preparation.feature_columns_, seed).fit(X, self.fitted_groups_)
        self.fitted_oddness_ = self.oddness_.score(X, self.fitted_groups_)
        self.some_rows_ = X[np.unique(np.linspace(0, len(X) - 1, 50).astype(int))]  # the first and the last among them
        return self

    def number(self, labels: Array) -> Array:
        """Number the groups by falling size, given as the clusterer has them; −1 stays."""
        sizes = np.bincount(labels[labels >= 0])
        order = np.argsort(-sizes, kind="stable")
        self.n_clusters_, self.sizes_, self.number_ = len(sizes), sizes[order], np.argsort(order)
        return self._numbered(labels)

    def renumber(self, order: Array) -> None:
        """Number the groups anew, where the rows that were not fitted change which is larger.

        Parameters
        ----------
        order : ndarray (n_clusters_,)
            The present number of the group that is to be 0, of that which is to be 1, and so on.
        """
        place = np.argsort(order)
        self.number_, self.sizes_ = place[self.number_], self.sizes_[order]
        self.fitted_groups_ = np.where(self.fitted_groups_ >= 0, place[self.fitted_groups_], -1)
        self.oddness_.renumber(order)

    def _compared(self, X: Array) -> Array:
        """The features that rows are grouped by: categories that tell nothing of the other columns are left out."""
        return X[:, self.clusterer.used_]

    def number_rows(self, numbers: Array) -> None:
        """Say where the rows that are remembered stand in the whole table, of which they are a sample."""
        self.numbers_ = np.asarray(numbers, np.int64)

    def _numbers(self, places: Array) -> Array:
        return self.numbers_[places] if hasattr(self, "numbers_") else places

    def _place(self, row: int) -> int:
        """Where a row of the table is remembered."""
        n = len(self.places_)
        if not hasattr(self, "numbers_"):
            if row >= n:
                raise ValueError(f"row {row + 1:,} does not exist: the table has {n:,} rows")
            return row
        place = int(np.searchsorted(self.numbers_, row))
        if place >= n or self.numbers_[place] != row:
            raise ValueError(
                f"row {row + 1:,} is not among the {n:,} rows of the table that the model remembers; "
                f"row {int(self.numbers_[min(place, n - 1)]) + 1:,} is"
            )
        return place

    def remember(self, groups: Array, ranks: Array, places: Array) -> None:
        """Keep what was found of every row of the table, to answer for it later."""
        self.groups_, self.ranks_, self.places_ = groups.astype(np.int32), ranks.astype(np.int32), places

    def show(self, cells: Cells) -> None:
        """Keep a few cells of every row, to show the rows that are listed."""
        self.shown_ = cells

    def cells(self, rows: Array) -> list[dict[str, str]]:
        """A few cells of rows of the table, by the names of their columns."""
        return cells_of(self.shown_, np.array([self._place(int(row)) for row in rows], int))

    def groups(self, rows: Array) -> Array:
        """Groups of rows of the table, by their numbers in it; −1 for rows of no group."""
        return self.groups_[[self._place(int(row)) for row in rows]]

    def _numbered(self, labels: Array) -> Array:
        return np.where(labels >= 0, self.number_[labels], -1)

    @property
    def _seeds(self) -> Array:
        """One column for each group: its members, alike."""
        return (self.fitted_groups_[:, None] == np.arange(self.n_clusters_)) / np.maximum(self.sizes_, 1)

    def fitted(self) -> tuple[Array, Array, Array]:
        """Membership (n, k), score in each group (n, k) and oddness (n,) of the fitted rows, as of any others."""
        # The walk restarts at fitted rows only. Without that share they score as if they came later; with it, all of
        # them would be more typical of their group than the rows that were not fitted.
        walked = self.ranker_.scores(self._seeds, method="exact") - self.restart * self._seeds
        scores = np.maximum(walked, 0.0).astype(np.float64, copy=False)
        return self._memberships(scores), scores, self.fitted_oddness_

    def answer(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Group, membership, score in each group and oddness of new prepared rows.

        The group is −1 for rows like no fitted one, and for rows without any value.
        """
        function = self.ranker_.scorer(self._seeds, method="one_step")
        parts = [self._answers(X[rows], function) for rows in _chunks(len(X))]
        groups, scores, oddness = (np.concatenate([part[j] for part in parts]) for j in range(3))
        return groups, self._memberships(scores), scores, oddness

    def places(self, X: Array, rows: Array) -> Iterator[tuple[Array, Placed]]:
        """What is known of many rows that were not fitted, some at a time: each is compared with the fitted rows once.

        Parameters
        ----------
        X : ndarray (n, d)
            Prepared.
        rows : ndarray (m,)
            Which of these.

        Yields
        ------
        rows : ndarray
        placed : Placed
            As :meth:`answer` and :meth:`embedding` say, in single precision.
        """
        if not len(rows):  # a walk between a few kinds of rows may have no directions for others
            return
        function = self.ranker_.scorer(self._seeds, method="one_step").beside(self.ranker_.embedder())
        for part in _chunks(len(rows)):
            here = rows[part]
            groups, scores, oddness, directions, completed = self._answers(X[here], function, np.float32)
            own = np.arange(len(here)), np.maximum(groups, 0)
            membership = np.where(groups >= 0, self._memberships(scores)[own], 0.0)
            yield here, Placed(groups, membership, scores[own], oddness, _unit_rows(directions), completed)

    def fitted_places(self, X: Array) -> Placed:
        """The same of the fitted rows, given as they were fitted."""
        memberships, scores, oddness = self.fitted()
        own = np.arange(len(scores)), np.maximum(self.fitted_groups_, 0)
        membership = np.where(self.fitted_groups_ >= 0, memberships[own], 0.0)
        completed = self.oddness_.units_.filled(X)
        return Placed(self.fitted_groups_, membership, scores[own], oddness, self.embedding(), completed)

    def _answers(self, X: Array, function: Any, dtype: Any = None) -> tuple[Array, Array, Array, Array, Array]:
        """Groups, scores in each group, oddness, further values of ``function``, and completed rows."""
        compared = X if dtype is None else X.astype(dtype, copy=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # like no fitted row: group −1
            labels = np.asarray(self.clusterer.predict(X))
            values = np.asarray(function(self._compared(compared)))
        groups = np.where(np.isfinite(X).any(axis=1), self._numbered(labels), -1)
        oddness, completed = self.oddness_.score_and_complete(compared, groups)
        # The degree of the row stands between the scores and what else was asked for.
        scores = np.maximum(values[:, : self.n_clusters_].astype(np.float64), 0.0)
        return groups, scores, oddness, values[:, self.n_clusters_ + 1 :], completed

    def _memberships(self, scores: Array) -> Array:
        joint = scores * (self.sizes_ / self.sizes_.sum())
        total = joint.sum(axis=1, keepdims=True)
        return np.divide(joint, total, out=np.full_like(joint, 1 / self.n_clusters_), where=total > 0)

    def embedding(self) -> Array:
        """Fitted rows as rows of unit length, whose dot products say how alike they are."""
        return _unit_rows(self.ranker_.embedding_)

    def like(self, row: int, top: int = 10) -> tuple[Array, Array]:
        """The rows of the table most like one of them, by their numbers in it, and how alike they are, 1 at most."""
        place = self._place(row)
        if self.groups_[place] < 0:
            raise ValueError(f"row {row + 1:,} has no value to compare by")
        likeness = self.places_ @ self.places_[place]
        compared = self.groups_ >= 0
        compared[place] = False
        best = best_first(np.where(compared, likeness, -np.inf), min(top, int(compared.sum())))
        return self._numbers(best), np.minimum(likeness[best], 1.0)

    def typical(self, cluster: int, top: int = 10) -> tuple[Array, Array]:
        """The rows of the table most typical of a group, by their numbers in it, and how typical, from 1 to 0."""
        members = np.flatnonzero(self.groups_ == cluster)
        best = members[best_first(-self.ranks_[members], top)]
        return self._numbers(best), 1 - (self.ranks_[best] - 1) / max(len(members) - 1, 1)

    def facts(self) -> dict[str, Any]:
        """What ``gramian info`` says of it."""
        groups = self.n_clusters_ if self.n_clusters_ > 1 else 0  # one is none, as the report says
        return {"groups": groups, "rows fitted": len(self.rows_), "columns": list(self.preparation.kinds_)}

    def check(self) -> None:
        """Raise an error if a part is missing or does not fit the others: answer for some rows, and look one up."""
        if not isinstance(self.preparation, Preparation) or not isinstance(self.oddness_, Oddness):
            raise TypeError("the preparation or the oddness is of another kind")
        for part in ("kinds_", "forms_", "recipes_", "missing_", "feature_names_", "feature_columns_"):
            getattr(self.preparation, part)
        if len(self.groups_) != len(self.ranks_) or len(self.groups_) != len(self.places_) or not len(self.rows_):
            raise ValueError("its parts disagree on the number of rows")
        if not len(self.number_) == len(self.sizes_) == self.n_clusters_:
            raise ValueError("its parts disagree on the number of groups")
        self.answer(self.some_rows_)
        # A row without any value is like no other.
        first, last = self._numbers(np.array([int(np.argmax(self.groups_ >= 0)), len(self.groups_) - 1]))
        self.like(int(first), 1)
        self.typical(0, 1)
        self.cells(np.array([last]))


def _chunks(n: int) -> list[slice]:
    return [slice(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK)]


def _unit_rows(rows: Array) -> Array:
    return np.asarray(normalize(rows), np.float32)


def load_table_model(path: str | os.PathLike[str]) -> TableModel:
    """Read the model that an exploration has written, and check that it is complete.

    Parameters
    ----------
    path : str or path-like
        A ``model.gramian``.

    Returns
    -------
    model : TableModel

    Raises
    ------
    ModelFileError
        If the file is no model file, holds another model, or a model that lacks one of its parts.
    """
    return load_whole(path, TableModel, writer="explore", again="explore the table again")
