"""Rows with holes brought to one scale and completed from other rows, for what needs complete rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.checks import check_choice
from gramian.clustering.automatic.graphs import KINDS, neighbor_edges
from gramian.diagram import Estimator
from gramian.grams import SparseGram
from gramian.grams.tiles import slices
from gramian.kernels import Kernel, NeighborGraph
from gramian.partitions import refuse_partitions
from gramian.typing import Array, Matrix

__all__ = ["CompletedGraph", "Completion", "shared_distances"]

_DISTANCES_AT_ONCE = 8_000_000
_PRODUCT_ROWS = 20_000
_LEAST_NEIGHBORS = 3
_MOST_DONORS = 5000  # of a graph: the cost of filling holes stays linear in the number of rows
_LOOKED_AT = 48  # nearest rows among which donors are looked for first
_DONORS, _WELL_KNOWN = 5, 3  # on 48 labelled sets with 20 % holes, see benchmarks/no_knobs.md


class Completion(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Put columns in standard deviations, and fill each hole from the nearest rows that have the value.

    Rows are compared by what both have, as scikit-learn's ``KNNImputer`` does; here all distances come from three
    products. A hole is filled with the mean of the 5 nearest rows or, in a row with fewer than three values, with the
    value of the nearest one: so few values may be shared by rows of several clusters, and a mean of those would lie
    between the clusters and tie them together. Features without two different values say nothing and are left out.

    Parameters
    ----------
    columns : sequence (d,), optional
        The column that each feature comes from; features of one column count together as much as any other column. By
        default each is its own.
    keep_scale : bool, default False
        Leave columns in their own units where they have one scale: where most of them reach the lowest and the
        highest value of the table, as grey values of pixels or answers from 1 to 5 do. In standard deviations a pixel
        that is hardly ever used would count as much as any other. Truth values have no scale.

    Attributes
    ----------
    used_ : ndarray (d,) of bool
        Features that are not left out.
    columns_ : ndarray (d',) of int
        Their columns.
    center_, scale_ : ndarray (d',)
    one_scale_ : bool
        Whether the columns were left in their own units.
    donors_ : ndarray (n, d')
        The fitted rows in standard deviations, NaN where missing.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.clustering import Completion
    >>> Completion().fit_transform([[0.0, 1.0], [2.0, 5.0], [1.9, np.nan], [0.1, 1.0]]).round(1)
    array([[-1.1, -0.7],
           [ 1.1,  1.4],
           [ 0.9,  1.4],
           [-0.9, -0.7]])
    """

    def __init__(self, columns: Sequence[Any] | Array | None = None, *, keep_scale: bool = False) -> None:
        self.columns = columns
        self.keep_scale = keep_scale

    def fit(self, X: Matrix, y: Any = None) -> Completion:
        """Learn the units of the columns, and keep the rows to fill holes from.

        Parameters
        ----------
        X : array-like (n, d)
            NaN where missing.
        y : ignored

        Returns
        -------
        self : Completion
        """
        check_choice(self, "keep_scale", (False, True))
        X = self._checked(X, reset=True)
        self.used_ = np.array([len(np.unique(feature[~np.isnan(feature)])) > 1 for feature in X.T])
        columns = self._columns(X.shape[1])
        self.columns_ = np.unique(columns[self.used_], return_inverse=True)[1]
        self.center_ = np.nanmean(X[:, self.used_], axis=0)
        variances = np.bincount(self.columns_, np.nanvar(X[:, self.used_], axis=0))
        self.one_scale_ = bool(self.keep_scale) and _have_one_scale(X[:, self.used_])
        if self.one_scale_:
            variances[:] = variances.mean()  # the unit of all columns, so that features are comparable with others
        deviations = np.sqrt(variances)
        self.scale_ = deviations[self.columns_].astype(X.dtype)
        self.donors_ = self._scaled(X)
        return self

    def transform(self, X: Matrix) -> Array:
        """Rows in standard deviations without holes, (n, d'); a hole that no row can fill is the mean, 0."""
        return self.filled(X)

    def filled(self, X: Matrix) -> Array:
        """``transform`` as an array, whatever ``set_output`` says."""
        rows = self.scaled(X)
        holed = np.flatnonzero(np.isnan(rows).any(axis=1))
        for part in slices(len(holed), max(1, _DISTANCES_AT_ONCE // len(self.donors_))):
            rows[holed[part]] = _compared(rows[holed[part]], self.donors_.astype(rows.dtype, copy=False), _LOOKED_AT)[0]
        return rows

    def compare(self, X: Matrix, count: int) -> tuple[Array, Array]:
        """Rows without holes, as :meth:`transform` gives them, and how far the rows to fill from are.

        Parameters
        ----------
        X : array-like (n, d)
            NaN where missing.
        count : int
            How many of the nearest distances.

        Returns
        -------
        completed : ndarray (n, d')
        distances : ndarray (n, min(count, m))
            Mean squared difference, in the features that both have, to the nearest of the m rows that holes are filled
            from, the nearest first; infinite where too few share a feature.
        """
        rows = self.scaled(X)
        donors = self.donors_.astype(rows.dtype, copy=False)
        distances = np.empty((len(rows), min(count, len(donors))), rows.dtype)
        for part in slices(len(rows), max(1, _DISTANCES_AT_ONCE // len(donors))):
            rows[part], nearest = _compared(rows[part], donors, max(count, _LOOKED_AT))
            distances[part] = nearest[:, : distances.shape[1]]
        return rows, distances

    def scaled(self, X: Matrix) -> Array:
        """Rows in standard deviations, holes left as they are."""
        check_is_fitted(self, "donors_")
        return self._scaled(self._checked(X))

    def _scaled(self, X: Array) -> Array:
        center, scale = (part.astype(X.dtype, copy=False) for part in (self.center_, self.scale_))
        scaled: Array = (X[:, self.used_] - center) / scale
        return scaled

    def _columns(self, d: int) -> Array:
        if self.columns is None:
            return np.arange(d)
        columns = np.asarray(self.columns)
        if columns.shape != (d,):
            raise ValueError(f"columns={self.columns!r} must name the column of each of the {d} features, or be None")
        return columns

    def _checked(self, X: Matrix, *, reset: bool = False) -> Array:
        refuse_partitions(self, X)
        checked: Array = validate_data(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
        )
        return checked

    @property
    def _n_features_out(self) -> int:
        return int(self.used_.sum())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _have_one_scale(X: Array) -> bool:
    """Whether most columns reach the lowest and the highest of all values, and are no truth values."""
    if X.size == 0:
        return False
    lowest, highest = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    between = np.array([len(np.unique(column[~np.isnan(column)])) > 2 for column in X.T])
    reaching = (lowest == lowest.min()) & (highest == highest.max()) & between
    return bool(2 * np.count_nonzero(reaching) > X.shape[1] > 1)


def shared_distances(rows: Array, others: Array) -> Array:
    """Mean squared difference in the features that both rows have, (n, m); infinite where they share none."""
    seen, given = ~np.isnan(rows), ~np.isnan(others)
    R, S = np.where(seen, rows, 0.0), np.where(given, others, 0.0)
    V, W = seen.astype(R.dtype), given.astype(R.dtype)
    # One product gives R² Wᵀ + V S²ᵀ − 2 R Sᵀ.
    distances: Array = np.hstack([R**2, V, -2 * R]) @ np.hstack([W, S**2, S]).T
    common = V @ W.T
    with np.errstate(divide="ignore", invalid="ignore"):
        distances /= common
    if not common.all():
        distances[common == 0] = np.inf
    return np.maximum(distances, 0.0, out=distances)


def _compared(rows: Array, donors: Array, count: int) -> tuple[Array, Array]:
    """Rows with holes filled, and their distances to so many of the nearest donors."""
    distances = shared_distances(rows, donors)
    nearest = _nearest_first(distances, count)
    return _filled(rows, donors, distances, nearest), nearest[1]


def _nearest_first(distances: Array, count: int) -> tuple[Array, Array]:
    """Numbers of the nearest of m rows and their distances, (n, min(count, m)) each, the nearest first."""
    count = min(count, distances.shape[1])
    index = np.argpartition(distances, count - 1, axis=1)[:, :count]
    lengths = np.take_along_axis(distances, index, axis=1)
    order = np.argsort(lengths, axis=1, kind="stable")
    return np.take_along_axis(index, order, axis=1), np.take_along_axis(lengths, order, axis=1)


def _filled(rows: Array, donors: Array, distances: Array, nearest: tuple[Array, Array]) -> Array:
    """Rows with each hole filled from the nearest donors that have the value; zero, the mean, without any.

    Parameters
    ----------
    rows : ndarray (n, d)
    donors : ndarray (m, d)
    distances : ndarray (n, m)
    nearest : (ndarray (n, c), ndarray (n, c))
        The donors that are looked at first: to sort all of them for every column takes most of the time.
    """
    seen, given = ~np.isnan(rows), ~np.isnan(donors)
    R, S = np.where(seen, rows, 0.0), np.where(given, donors, 0.0)
    counts = np.where(seen.sum(axis=1) >= _WELL_KNOWN, _DONORS, 1)
    # The features of one column are missing together, so their donors are found once.
    both = np.vstack([seen, given])
    alike = np.unique(np.packbits(both, axis=0), axis=1, return_inverse=True)[1].ravel()
    for first in np.unique(alike, return_index=True)[1]:
        holes = np.flatnonzero(~seen[:, first])
        if not len(holes) or not given[:, first].any():
            continue
        features = np.flatnonzero(alike == alike[first])
        index, lengths = nearest[0][holes], nearest[1][holes]
        having = given[index, first] & np.isfinite(lengths)
        taken = having & (np.cumsum(having, axis=1) <= counts[holes, None])
        found = taken.sum(axis=1)
        for j in features:
            R[holes, j] = np.where(taken, S[index, j], 0.0).sum(axis=1) / np.maximum(found, 1)
        for count in (1, _DONORS) if index.shape[1] < len(donors) else ():
            short = holes[(found < counts[holes]) & (counts[holes] == count)]
            among = np.flatnonzero(given[:, first])
            if len(short):
                R[np.ix_(short, features)] = _means_of_nearest(
                    distances[np.ix_(short, among)], S[np.ix_(among, features)], count
                )
    return R


def _means_of_nearest(distances: Array, values: Array, count: int) -> Array:
    """Mean values (n, p) of the nearest donors at a finite distance; 0 where there is none."""
    index, lengths = _nearest_first(distances, count)
    reached = np.isfinite(lengths)
    total = np.where(reached[:, :, None], values[index], 0.0).sum(axis=1)
    return total / np.maximum(reached.sum(axis=1), 1)[:, None]


class CompletedGraph(Kernel):
    """Similarity of rows with missing values and in any units: 1 between neighbours, 0 otherwise.

    Columns count in standard deviations, and holes are filled from other rows, by :class:`Completion`.

    Parameters
    ----------
    kind : {"nearest", "mutual", "continuous", "self_tuning", "auto"}, default "nearest"
        Which rows are neighbours. "nearest": one is among the 10 nearest of the other; "mutual": both are;
        "continuous": they are near, compared with the 10th neighbours of both; "self_tuning": one is among the 20
        nearest of the other, and the similarity falls with the distance. In any case a row is tied to its three nearest
        rows. "auto": "nearest" where the columns have one scale, which they then keep (see :class:`Completion`),
        "continuous" otherwise.
    columns : sequence (d,), optional
        The column that each feature comes from; by default each is its own.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.clustering import CompletedGraph
    >>> X = np.array([[0.0, 1.0], [0.1, np.nan], [5.0, 900.0], [np.nan, 901.0]] + [[9.0, 0.0]] * 8)
    >>> CompletedGraph().fit(X)(X[:1], X).toarray().astype(int)
    array([[0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]])
    """

    definite: bool = False
    accepts_nan: bool = True
    sparse_blocks: bool = True

    def __init__(self, kind: str = "nearest", columns: Sequence[Any] | None = None) -> None:
        self.kind = kind
        self.columns = columns

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        """Learn the units of the columns and keep rows to fill holes from; a row of weight zero is left out."""
        check_choice(self, "kind", (*KINDS, "auto"))
        rows = X if sample_weight is None else X[sample_weight > 0]
        completion = Completion(self.columns, keep_scale=self.kind == "auto")
        self.completion_ = completion.fit(rows[:: -(-len(rows) // _MOST_DONORS)])
        self.kind_ = self.kind
        if self.kind == "auto":
            self.kind_ = "nearest" if self.completion_.one_scale_ else "continuous"

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> csr_array:
        """The sparse block of edges, CSR of shape (n_X, n_Y)."""
        return self._edges(self._completed(X), None if Y is None else self._completed(Y))

    def diagonal(self, X: Matrix) -> Array:
        """All zero: no row is its own neighbour."""
        X = self._checked(X)
        return np.zeros(len(X), X.dtype)

    def gram(self, X: Matrix) -> SparseGram:
        """The graph of X as a SparseGram."""
        return SparseGram(self._edges(self._completed(X)))

    def product(self, X: Matrix, Y: Matrix, V: Array) -> Array:
        """Edges from X to Y, times V."""
        rows, others = self._completed(X), self._completed(Y)
        V = np.asarray(V, rows.dtype)
        parts = [self._edges(rows[part], others) @ V for part in slices(len(rows), _PRODUCT_ROWS)]
        return np.concatenate(parts)

    def _met_again(self, X: Matrix) -> Array | None:
        return NeighborGraph()._met_again(self._completed(X))

    def _edges(self, rows: Array, others: Array | None = None) -> csr_array:
        return neighbor_edges(self.kind_, rows, others, least=_LEAST_NEIGHBORS)

    def _completed(self, X: Matrix) -> Array:
        completed: Array = self.completion_.filled(self._checked(X))
        return completed
