"""The cluster kernel: two rows are alike if many different mixtures put them into the same component."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse, vstack
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_choice, check_real, check_whole, n_workers
from gramian.grams import tiles
from gramian.grams.base import Gram
from gramian.grams.dense import DenseGram
from gramian.grams.features import Factor, FeatureGram, KernelFactor, squared_norms
from gramian.kernels.base import FeatureMap
from gramian.mixture.columns import column_grain, column_moments
from gramian.mixture.dense_ensemble import dense_posteriors, fit_dense_mixtures, split_dense, stack_dense
from gramian.mixture.ensemble import (
    Mixtures,
    design,
    fit_mixtures,
    keep_largest,
    natural,
    posteriors,
    stack,
)
from gramian.mixture.levels import Levels, indicators, observed_levels
from gramian.mixture.mixed_columns import categorical_columns, codes_of, learn_levels
from gramian.progress import steps
from gramian.randomness import spawn
from gramian.spreading import run_pieces
from gramian.typing import Array, Matrix, RandomState

_STACK_MIXTURES = 30  # evaluated as one product; their posteriors of a tile stay in cache
_FEW_ROWS = 8
_DENSE_ROWS = 1000  # up to here the n×n block costs less than the eigen-solver's passes over the features
_TILE_ROWS = 512  # of features
_MOST_COPIES = 4  # of a row on average, that its weight makes
_CHUNK_ROWS = 16 * _TILE_ROWS  # of features that are recomputed: enough for all threads
_SMOOTHING = 1.0  # rows with the shares of the table that every component has beside its own, in a categorical column

_HotRows = Callable[[slice], Array | None]


class ClusterKernel(FeatureMap, name="cluster"):
    """Learn the similarity of rows, with missing values or without, from many mixture models (PCK, PCKID).

    For every number of components g from 2 to ``max_components`` and every restart q a Gaussian mixture is fitted,
    briefly and to a random part of the rows. With γ(x) its posterior probabilities for the row x,

        k(x, y) = 1/M Σ_{q,g} γ_{q,g}(x) · γ_{q,g}(y),     M = n_restarts · (max_components − min_components + 1).

    Small mixtures see the large groups, large ones the fine structure; the average needs no width. It is an average
    of probabilities of sharing a component: between 0 and 1, positive semi-definite, with the features
    φ(x) = (γ_{q,g}(x))_{q,g} / √M. EM works on the values that are there, so rows may have holes, in training and
    later, in any pattern. Complete data give the probabilistic cluster kernel (PCK), holes make it PCKID. Columns may
    be categorical: a component has a probability for each of their levels, as in :class:`gramian.IncompleteMixture`.

    Groups that are compact need no more than this. For long, thin or winding ones keep only each row's most similar
    rows: ``NeighborGraph(n_neighbors=20, kernel=ClusterKernel())``.

    Parameters
    ----------
    n_restarts : int, default 30
        Q. More make the kernel smoother; cost grows in proportion.
    max_components, min_components : int, default 30, 2
        The numbers of components g.
    covariance_type : {"diag", "spherical", "full", "tied"}, default "diag"
        "full" and "tied" follow correlations between columns, but their mixtures are fitted one by one: for few
        columns, few patterns of holes, and an ensemble smaller than the default.
    max_iter : int, default 10
        Steps of EM, few on purpose: mixtures that are not finished differ more, and their average is better.
    subsample : float, default 0.5
        Part of the rows that the mixtures of one restart see; drawn anew for each restart. The publication draws
        them for each mixture. That doubles the cost and, on Iris and Wine, lowers the mean difference between
        kernels of two seeds from about 0.011 to 0.007; clusters are found as accurately either way.
    max_samples : int, default 5000
        Most rows that they see, if there are not more components; a mixture of 30 knows no more from a million.
    standardize : bool, default True
        Bring every column to unit variance, over its observed values. False for columns that share a unit, such as
        pixels.
    categorical_features : array-like of indices or booleans, optional
        Columns whose numbers are codes of categories, in any order; scikit-learn's ``OrdinalEncoder`` makes them of
        text. A level that ``fit`` has not seen counts as missing.
    m_step : {"imputed", "observed"}, default "imputed"
        Means and variances of the expected completed rows, as published, or of the observed values alone.
    reg_covar : float, default 1e-3
        For "diag" and "spherical" the least variance of a component in a column, as a part of the column's (by its
        middle half, which a few far values do not change). No component is narrower than half the step between
        neighbouring values either, which matters for counts and ratings. For "full" and "tied" the same amount is
        added to each variance after every step of EM instead: a least variance alone would not keep a covariance
        matrix from being singular.
    hard : bool, default False
        Count only the most probable component: the hard cluster kernel, or co-association matrix.
    normalize : {"count", "cosine"}, default "count"
        "cosine" scales φ(x) to length one, so that every row is fully like itself.
    threshold : float, default 1e-6
        Posteriors below are taken as zero, and φ(x) is kept as a sparse row of mostly zeros. It lowers the mean of
        dot products by less than 2 · threshold. 0 keeps all, and dense rows.
    n_jobs : int, optional
        Threads; by default those of :class:`gramian.config`. The result does not depend on it. With
        ``joblib.parallel_config(backend="dask")`` restarts are fitted by the workers of a cluster instead.
    random_state : int, Generator or None, default None
    verbose : int, default 0
        1 shows a progress bar.

    Attributes
    ----------
    sizes_ : ndarray (M,)
        Components of each mixture.
    weights_, means_ : ndarray (n_components,), (n_components, d')
        Of all mixtures, stacked, in units of the scaled columns.
    covariances_ : ndarray (n_components, d'), (n_components, d', d') or (M, d', d')
        The variances for "diag" and "spherical", the matrices for "full", one for each mixture for "tied".
    n_iter_ : int
        ``max_iter``.
    columns_ : ndarray (d,) of bool
        The columns that are used. Those without two different observed values say nothing and are left out.
    is_categorical_ : ndarray (d,) of bool
        The columns that are used as categories; the other d' used ones are numbers.
    categories_ : list of ndarray
        The levels of each of these columns, sorted; L in all.
    levels_ : ndarray (n_components, L)
        Probabilities of the levels in all components.
    center_, scale_ : ndarray (d',)
        What the used columns of numbers are shifted by and divided by.

    References
    ----------
    Løkse, Bianchi, Salberg, Jenssen (2017). Spectral clustering using PCKID – a probabilistic cluster kernel for
    incomplete data.

    Izquierdo-Verdiguier, Jenssen, Gómez-Chova, Camps-Valls (2015). Spectral clustering with the probabilistic
    cluster kernel. Neurocomputing.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import ClusterKernel
    >>> X = np.array([[0.0, 0.1], [0.1, np.nan], [np.nan, 0.0], [5.0, 5.1], [np.nan, 5.0], [5.2, np.nan]])
    >>> kernel = ClusterKernel(10, 3, random_state=0).fit(X)
    >>> K = kernel(X)
    >>> bool(K[:3, :3].min() > K[:3, 3:].max())
    True
    >>> kernel([[np.nan, 5.2]], X).argmax() >= 3
    np.True_
    """

    accepts_nan: bool = True

    def __init__(
        self,
        n_restarts: int = 30,
        max_components: int = 30,
        *,
        min_components: int = 2,
        covariance_type: str = "diag",
        max_iter: int = 10,
        subsample: float = 0.5,
        max_samples: int = 5000,
        standardize: bool = True,
        categorical_features: Any = None,
        m_step: str = "imputed",
        reg_covar: float = 1e-3,
        hard: bool = False,
        normalize: str = "count",
        threshold: float = 1e-6,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_restarts = n_restarts
        self.max_components = max_components
        self.min_components = min_components
        self.covariance_type = covariance_type
        self.max_iter = max_iter
        self.subsample = subsample
        self.max_samples = max_samples
        self.standardize = standardize
        self.categorical_features = categorical_features
        self.m_step = m_step
        self.reg_covar = reg_covar
        self.hard = hard
        self.normalize = normalize
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        """Fit the mixtures."""
        self._check_parameters()
        if sample_weight is not None:
            X = X[_copies(sample_weight)]
        if X.shape[0] < 2:
            raise ValueError("ClusterKernel compares rows, so X needs at least two but n_samples=1")
        columns, center, deviation = column_moments(X)
        if not columns.any():
            raise ValueError("X has no column with two different observed values, so no row can be told from another")
        _warn_empty_rows(X[:, columns])
        categorical = categorical_columns(X, self.categorical_features) & columns
        numbers = columns & ~categorical
        categories = learn_levels(X, categorical)
        codes = codes_of(X, categorical, categories)
        levels = observed_levels(codes, _sizes(categories), _SMOOTHING) if categories else None
        center, deviation = center[numbers], deviation[numbers]
        common = not self.standardize and numbers.any()
        scale = np.full_like(deviation, _root_mean_square(deviation)) if common else deviation
        floor = self._least_variances(X[:, numbers], deviation) * (deviation / scale) ** 2
        columns_of = partial(_scaled, columns=numbers, center=center, scale=scale)
        fitted = self._fit_mixtures(X, columns_of, floor.astype(X.dtype), codes, levels)
        self.columns_, self.is_categorical_, self.categories_ = columns, categorical, categories
        self.center_, self.scale_ = center, scale
        self.n_iter_ = int(self.max_iter)
        self.sizes_, self.weights_, self.means_, self.covariances_, self.levels_ = fitted

    def _least_variances(self, X: Array, deviation: Array) -> Array:
        """What a component's variance in each column must at least be, as a part of the column's.

        Values on a grid (counts, ratings, answers) repeat, and a component of equal values has no spread at all. It
        would take its own copies for a cluster and the rows one step away for strangers, and eigenvectors would go
        to such copies. So no component is narrower than half a step, up to half the column's variance. And one row
        far away, which makes the variance large, must not blur all others: the middle half of the column counts.
        """
        steps, spreads = column_grain(X)
        spread = np.minimum(np.where(spreads > 0, spreads / deviation, 1), 1)
        return np.maximum(float(self.reg_covar) * spread**2, np.minimum((steps / deviation) ** 2 / 4, 0.5))

    def _fit_mixtures(
        self, X: Array, columns_of: Callable[[Array], Array], floor: Array, codes: Array, levels: Levels | None
    ) -> tuple[Array, Array, Array, Array, Array]:
        """Sizes, weights, means, covariances and levels; every restart has rows and a generator of its own."""
        n, most = X.shape[0], int(self.max_components)
        # Two rows per component where there are so many: one alone says nothing about a spread.
        length = max(int(np.ceil(float(self.subsample) * n)), 2 * most)
        length = min(n, max(most, min(length, int(self.max_samples))))
        if most > length:
            warnings.warn(
                f"max_components={most} is more than the {length} rows of X; mixtures have up to {length} components",
                UserWarning,
                stacklevel=3,
            )
        sizes = np.minimum(np.arange(int(self.min_components), most + 1), length)
        dense = self.covariance_type in ("full", "tied") and len(floor) > 0
        generators = spawn(self.random_state, int(self.n_restarts))
        options: dict[str, Any] = {"max_iter": int(self.max_iter), "floor": floor, "levels": levels}
        if dense:
            options["tied"] = self.covariance_type == "tied"
        else:
            options["spherical"] = self.covariance_type == "spherical"
            options["observed_step"] = self.m_step == "observed"
        learn = partial(fit_dense_mixtures if dense else fit_mixtures, **options)

        def restart(q: int) -> tuple[Any, ...]:
            rng = generators[q]
            drawn = np.sort(rng.choice(n, length, replace=False))
            hot = None if levels is None else _hot(codes[drawn], levels.sizes, X.dtype)
            return learn, columns_of(X[drawn]), sizes, rng, hot

        parts: dict[int, Any] = {}

        def take(q: int, part: Any) -> None:
            parts[q] = part
            advance()

        entries = float(length) * sizes.sum() * len(generators)
        with steps("Fitting mixtures", total=len(generators), verbose=self.verbose) as advance:
            run_pieces(_restarted, len(generators), restart, take, entries=entries, n_workers=n_workers(self))
        ordered = [parts[q] for q in range(len(generators))]
        if dense:
            stacked = stack_dense([model for part in ordered for model in part])
            weights, means, covariances, shares = (part.astype(X.dtype, copy=False) for part in stacked)
            return np.tile(sizes, len(generators)), weights, means, covariances, shares
        whole = stack(ordered)
        return whole.sizes, whole.weights, whole.means, whole.variances, whole.levels

    # The kernel protocol -----------------------------------------------------------------------------------

    def _gram(self, X: Matrix) -> Gram:
        """K as a dense matrix for few rows, by its features for many."""
        return DenseGram(self._block(X, None)) if X.shape[0] <= _DENSE_ROWS else FeatureGram(self._factor(X))

    @property
    def _n_features_out(self) -> int:
        return int(self.sizes_.sum())

    def _features(self, X: Matrix) -> Matrix:
        memberships = self._memberships(X)
        tasks = list(tiles.slices(X.shape[0], _TILE_ROWS))
        parts: dict[int, Matrix] = {}

        def fill(rows: slice) -> None:
            blocks = memberships(rows)
            F = np.vstack(list(blocks)).T if self._dense() else _sparse_rows(blocks, self._least())
            parts[rows.start] = self._normalized(F)

        self._run(fill, tasks, float(X.shape[0]) * self._n_features_out)
        ordered = [parts.pop(rows.start) for rows in tasks]
        return np.concatenate(ordered) if self._dense() else vstack(ordered, "csr")

    def _normalized(self, F: Matrix) -> Matrix:
        """Memberships divided by √M, or by their length, in place."""
        if self.normalize == "cosine":
            factors = 1 / np.sqrt(squared_norms(F))
        else:
            factors = np.full(F.shape[0], self._total() ** -0.5, F.dtype)
        if isinstance(F, csr_array):
            F.data *= np.repeat(factors, np.diff(F.indptr))
        else:
            F *= factors[:, None]
        return F

    def _feature_bytes(self, X: Matrix) -> float:
        if self._dense():
            return super()._feature_bytes(X)
        few = X[np.linspace(0, X.shape[0] - 1, min(64, X.shape[0])).astype(np.intp)]
        per_row = self._features(few).nnz / few.shape[0] * (X.dtype.itemsize + 4)
        return 2 * per_row * X.shape[0]  # twice, while the parts are put together

    def _streamed(self, X: Matrix) -> Factor:
        return _MembershipFactor(self, X, self._n_features_out, _CHUNK_ROWS)

    def _weighted_memberships(self, X: Matrix, W: Array) -> Array:
        """φ(x) W for every row, (n, b), without sorting the memberships into sparse rows first."""
        memberships = self._memberships(X)
        out = np.empty((X.shape[0], W.shape[1]), X.dtype)
        W = np.ascontiguousarray(W.T, X.dtype)

        def fill(rows: slice) -> None:
            total = np.zeros((W.shape[0], rows.stop - rows.start), X.dtype)
            squares = np.zeros(total.shape[1], X.dtype)
            start = 0
            for block in memberships(rows):
                block *= self._least() <= block
                total += W[:, start : start + len(block)] @ block
                start += len(block)
                if self.normalize == "cosine":
                    squares += np.einsum("ij,ij->j", block, block)
            out[rows] = (total / np.sqrt(squares if self.normalize == "cosine" else self._total())).T

        tasks = list(tiles.slices(X.shape[0], _TILE_ROWS))
        self._run(fill, tasks, float(X.shape[0]) * self._n_features_out)
        return out

    def _tile(self, left: Any, right: Any) -> Array:
        """A tenth or fifth of the features is not zero: too many for sparse products to beat dense ones."""
        if issparse(right) and left.shape[0] <= _FEW_ROWS:  # not worth writing the others out
            return np.ascontiguousarray((right @ (left.toarray() if issparse(left) else left).T).T)
        parts = [part.toarray() if issparse(part) else part for part in (left, right)]
        return np.asarray(parts[0] @ parts[1].T)

    def _block(self, X: Matrix, Y: Matrix | None) -> Array:
        """Σ Γᵀ Γ, one stack of mixtures after another, so that the features are never held."""
        left = self._memberships(X)
        K = np.zeros((len(X), len(X if Y is None else Y)), X.dtype)
        if Y is None:
            for A in left(slice(None)):
                A *= self._least() <= A
                K += A.T @ A
            own = other = np.diagonal(K).copy()
        else:
            right = self._memberships(Y)
            own, other = (np.zeros(size, X.dtype) for size in K.shape)
            for A, B in zip(left(slice(None)), right(slice(None)), strict=True):
                A *= self._least() <= A
                B *= self._least() <= B
                K += A.T @ B
                own += np.einsum("ij,ij->j", A, A)
                other += np.einsum("ij,ij->j", B, B)
        if self.normalize == "count":
            return K / X.dtype.type(self._total())
        return K / np.sqrt(np.outer(own, other))

    def _memberships(self, X: Array) -> Callable[[slice], Iterator[Array]]:
        """A function of some rows of X that gives their memberships, (components, rows), one stack after another."""
        check_is_fitted(self)
        Z = _scaled(X, self.columns_ & ~self.is_categorical_, self.center_, self.scale_)
        hot_of = self._hot_rows(X)
        stacks = self._diagonal_stacks if self.covariances_.ndim == 2 else self._dense_stacks
        posteriors_of = stacks(Z, hot_of)

        def memberships(rows: slice) -> Iterator[Array]:
            for sizes, gamma in posteriors_of(rows):
                if self.hard:
                    keep_largest(gamma, sizes)
                yield gamma

        return memberships

    def _hot_rows(self, X: Array) -> Callable[[slice], Array | None]:
        """A function of some rows of X that gives their levels as zeros and ones, or None without categories."""
        if not self.categories_:
            return lambda rows: None
        codes, sizes = codes_of(X, self.is_categorical_, self.categories_), _sizes(self.categories_)
        return lambda rows: _hot(codes[rows], sizes, X.dtype)

    def _diagonal_stacks(self, Z: Array, hot_of: _HotRows) -> Callable[[slice], Iterator[tuple[Array, Array]]]:
        """Sizes and posteriors of a few dozen mixtures at a time."""
        complete = bool(np.isfinite(Z).all())
        fitted = Mixtures(self.sizes_, self.weights_, self.means_, self.covariances_, self.levels_)
        mixtures = fitted.astype(Z.dtype)
        stacks = [(part.sizes, natural(part, complete=complete)) for part in mixtures.split(_STACK_MIXTURES)]

        def posteriors_of(rows: slice) -> Iterator[tuple[Array, Array]]:
            D = design(Z[rows], complete=complete, hot=hot_of(rows))
            for sizes, theta in stacks:
                yield sizes, posteriors(theta, sizes, D)

        return posteriors_of

    def _dense_stacks(self, Z: Array, hot_of: _HotRows) -> Callable[[slice], Iterator[tuple[Array, Array]]]:
        """Size and posteriors of one mixture at a time."""
        models = split_dense(self.sizes_, self.weights_, self.means_, self.covariances_, self.levels_)

        def posteriors_of(rows: slice) -> Iterator[tuple[Array, Array]]:
            return zip(self.sizes_[:, None], dense_posteriors(models, Z[rows], hot_of(rows)), strict=True)

        return posteriors_of

    def _least(self) -> float:
        """Memberships below are taken as zero."""
        return 0.5 if self.hard else float(self.threshold)

    def _dense(self) -> bool:
        return self.threshold == 0 and not self.hard

    def _total(self) -> int:
        return len(self.sizes_)

    def _run(self, work: Callable[[Any], None], tasks: Iterable[Any], entries: float) -> None:
        tiles.run_threaded(work, tasks, entries=entries, n_workers=n_workers(self))

    def _check_parameters(self) -> None:
        for name, least in (("n_restarts", 1), ("min_components", 1), ("max_components", 1), ("max_iter", 0)):
            check_whole(self, name, least=least)
        check_whole(self, "max_samples", least=2)
        check_whole(self, "verbose", least=0)
        n_workers(self)
        if self.min_components > self.max_components:
            raise ValueError(
                f"min_components={self.min_components} is more than max_components={self.max_components}; "
                "pass min_components <= max_components"
            )
        if isinstance(self.categorical_features, str):
            raise ValueError(
                f"categorical_features={self.categorical_features!r} is not a list of columns; pass indices or "
                "booleans, of columns that hold codes"
            )
        check_choice(self, "covariance_type", ("diag", "spherical", "full", "tied"))
        check_choice(self, "m_step", ("imputed", "observed"))
        if self.m_step == "observed" and self.covariance_type in ("full", "tied"):
            raise ValueError(
                f"m_step='observed' is for covariance_type='diag' or 'spherical' but it is {self.covariance_type!r}; "
                "use m_step='imputed'"
            )
        check_choice(self, "normalize", ("count", "cosine"))
        check_choice(self, "standardize", (True, False))
        check_choice(self, "hard", (True, False))
        check_real(self, "reg_covar", above=0)
        if not check_real(self, "subsample", above=0) <= 1:
            raise ValueError(f"subsample={self.subsample!r} must be a part of the rows, above 0 and at most 1")
        if not check_real(self, "threshold", least=0) <= 0.01:
            raise ValueError(f"threshold={self.threshold!r} must be from 0 to 0.01, or the kernel would change")


class _MembershipFactor(KernelFactor):
    """Memberships recomputed whenever they are needed; products take them as they come, mixture by mixture."""

    def product(self, W: Array) -> Array:
        """F W, shape (n, b)."""
        product: Array = self.kernel._weighted_memberships(self.X, W)
        return product


def _restarted(learn: Callable[..., Any], rows: Array, sizes: Array, rng: np.random.Generator, hot: Any) -> Any:
    """The mixtures of one restart."""
    return learn(rows, sizes, rng, hot=hot)


def _sizes(categories: list[Array]) -> Array:
    return np.array([len(known) for known in categories], np.intp)


def _hot(codes: Array, sizes: Array, dtype: Any) -> Array:
    """Zeros and ones of shape (n, L)."""
    return np.ascontiguousarray(indicators(codes, sizes).T, dtype)


def _scaled(X: Array, columns: Array, center: Array, scale: Array) -> Array:
    """The columns that count, in units of their deviation."""
    with np.errstate(over="ignore"):
        Z = (X[:, columns] - center.astype(X.dtype)) / scale.astype(X.dtype)
    # Beyond this many deviations squares lose their digits; it is infinitely far for any mixture.
    limit = 1e6 if X.dtype == np.float64 else 1e3
    return np.clip(Z, -limit, limit, out=Z)


def _root_mean_square(values: Array) -> float:
    largest = values.max()  # whose square may overflow
    return float(largest * np.sqrt(np.mean((values / largest) ** 2)))


def _sparse_rows(blocks: Iterable[Array], threshold: float) -> csr_array:
    """Blocks of shape (columns, rows), side by side, as the rows of a CSR matrix of what reaches the threshold."""
    values, rows, ends, n, found = [], [], [np.zeros(1, np.intp)], 0, 0
    for block in blocks:
        n = block.shape[1]
        places = np.flatnonzero(block >= threshold)
        values.append(block.ravel()[places])
        ends.append(found + np.searchsorted(places, n * np.arange(1, len(block) + 1)))
        rows.append((places % n).astype(np.int32))
        found += len(places)
    indptr = np.concatenate(ends).astype(np.int32)
    return csc_array((np.concatenate(values), np.concatenate(rows), indptr), shape=(n, len(indptr) - 1)).tocsr()


def _copies(weights: Array) -> Array:
    """Row numbers, each as often as its weight says; in the proportions of the weights where that cannot be."""
    n, total = len(weights), float(weights.sum())
    if total <= _MOST_COPIES * n and np.array_equal(weights, np.floor(weights)):
        return np.repeat(np.arange(n), weights.astype(np.intp))
    size = _MOST_COPIES * n
    return np.searchsorted(np.cumsum(weights), (np.arange(size) + 0.5) * (total / size), side="right").clip(max=n - 1)


def _warn_empty_rows(X: Array) -> None:
    empty = int(np.isnan(X).all(axis=1).sum())
    if empty:
        who = "1 row has" if empty == 1 else f"{empty} rows have"
        warnings.warn(
            f"{who} no observed value in X, so nothing says which rows they are similar to; drop them",
            UserWarning,
            stacklevel=3,
        )
