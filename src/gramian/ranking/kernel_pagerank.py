"""Personalised PageRank as a linear function in a kernel's space: fast queries, new samples, known errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import diags_array
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_choice, one_of
from gramian.configuration import require_memory
from gramian.kernels import Expansion, Kernel
from gramian.partitions import fit_to_sample, is_distributed
from gramian.ranking._queries import (
    check_components,
    check_eigenvalue_tol,
    degree_divisor,
    ranked_lists,
    restart_columns,
)
from gramian.ranking.graphs import check_restart, check_top
from gramian.ranking.kernel_walk.components import decompose
from gramian.ranking.kernel_walk.estimator import WalkEstimator
from gramian.ranking.kernel_walk.extension import Extension, refuse_division_by_zero, warn_alone
from gramian.ranking.kernel_walk.low_rank import LowRank, RankingError
from gramian.ranking.kernel_walk.walk import exact_scores
from gramian.typing import Array, Matrix, RandomState

_METHODS = ("low_rank", "exact", "one_step")


class KernelPageRank(WalkEstimator):
    """Rank samples by a random walk over their similarities that keeps returning to the query.

    A walk goes from sample i to j with probability K_ij / d_i and, with probability α at every step, restarts at the
    seeds s. The share of time it spends at each sample is personalised PageRank, π = (1 − α) K D^-1 π + α s. With
    the eigenpairs (λ_j, e_j) of D^-½ K D^-½ it is a base score plus inner products in an embedding z,

        π_i(s) = d_i / vol + β √d_i · z_i·m_s,   z_ij = e_ij / √(1 + β − λ_j),   m_s = Σ_i s_i z_i / √d_i,

    with β = α / (1 − α), degrees d = K 1, vol = Σ_i d_i, and j over all eigenvectors but the trivial one. Keeping
    few of them gives low-rank scores: they still sum to 1, may be slightly negative, and cost one thin product for
    any number of queries. A new x has d(x) = Σ_i k(x, x_i), z_j(x) = Σ_i k(x, x_i) e_ij / √d_i / (λ_j √d(x)
    √(1 + β − λ_j)) and the score d(x) / vol + β √d(x) · z(x)·m_s. It may also be the query.

    Parameters
    ----------
    kernel : Kernel, str or callable, default "cluster"
        Its values must be >= 0. The cluster kernel takes missing values and has nothing to tune.
    restart : float, default 0.1
        α. Larger keeps the walk closer to the seeds.
    n_components : int, float or None, default None
        Eigenvectors kept; a float in (0, 1] is a part of all n − 1. None keeps all whose eigenvalue exceeds
        ``eigenvalue_tol``, of more than 1000 samples at most 200.
    order : {"query", "eigenvalue", "restart"}, default "query"
        Which are kept: those that minimise the expected error of a random query, those of largest eigenvalue, or,
        chosen anew in every call, those that minimise the error for the seeds given.
    eigenvalue_tol : float or None, default 0.01
        Eigenvectors of smaller |λ| are not used: for new samples they are divided by λ. None uses all, for scores
        of the fitted samples alone.
    random_state : int, Generator or None, default None
        For kernels that draw random numbers.

    Attributes
    ----------
    base_scores_ : ndarray (n,)
        d / vol, the score without seeds: how typical each sample is. For the RBF kernel, a density estimate.
    degrees_ : ndarray (n,)
    volume_ : float
    eigenvalues_, eigenvectors_ : ndarray (n_components_,), (n, n_components_)
        The λ_j and e_j that are kept, by falling eigenvalue; with ``order="restart"`` all there are to choose from.
    embedding_ : ndarray (n, n_components_)
        z.
    n_components_ : int
    expected_error_ : float
        Expected ‖D^-½ (π − π̂)‖² / β² of a random query.
    expected_error_is_bound_ : bool
        Whether that is an upper bound, some eigenvectors not having been computed.
    choice_is_certain_ : bool
        Whether no uncomputed eigenvector can have been worth more than one that was kept. With ``order="restart"``
        it depends on the seeds, and is True only if all usable eigenvectors were computed, as of up to 1000 samples;
        :meth:`error_bound` gives the error for given seeds either way.
    kernel_ : Kernel

    Notes
    -----
    Low ranks do not only approximate: they leave out detail. Where a kernel is too wide, exact scores approach the
    base scores and low-rank ones rank better by class; where it is narrow, exact ones do. Part of that gain is had by
    ``normalize="sqrt_degree"`` too, which takes the samples' own degree out.

    References
    ----------
    Løkse, Jenssen. Kernel Personalized PageRank. In: Løkse, doctoral thesis, UiT The Arctic University of Norway.

    Chung, Zhao (2010). PageRank and random walks on graphs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import KernelPageRank
    >>> from gramian.kernels import RBF
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelPageRank(kernel=RBF("median20")).fit(X[::2])
    >>> model.rank(3, top=4)  # like sample 3, which comes first
    array([ 3,  1, 21, 13])
    >>> model.score_samples(X[[1, 101]], seeds=3).round(4)  # of two flowers that were not there
    array([0.0315, 0.    ])
    """

    def __init__(
        self,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "cluster",
        restart: float = 0.1,
        n_components: int | float | None = None,
        order: str = "query",
        eigenvalue_tol: float | None = 0.01,
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.restart = restart
        self.n_components = n_components
        self.order = order
        self.eigenvalue_tol = eigenvalue_tol
        self.random_state = random_state

    def fit(self, X: Matrix, y: Any = None) -> KernelPageRank:
        """Fit the kernel and compute the eigenvectors of the random walk on X.

        Parameters
        ----------
        X : array-like or sparse (n, d), or (n, n) similarities with ``kernel="precomputed"``
            Of a Dask array or data frame 10,000 rows, drawn by number (``sample_indices_``), are walked on and are the
            fitted samples; ``score_samples(X, seeds)`` and ``transform(X)`` answer for all rows as Dask arrays, also
            with a ``query`` that is none of them.
        y : ignored

        Returns
        -------
        self : KernelPageRank
        """
        check_restart(self.restart)
        check_choice(self, "order", ("query", "eigenvalue", "restart"))
        least = check_eigenvalue_tol(self)
        if is_distributed(X):
            return fit_to_sample(self, X, answers={})
        samples = X
        X, kernel, gram = self._fit_kernel(X, min_samples=2)
        count = check_components(self, X.shape[0])
        walk = self._walk_on(kernel, gram)
        spectrum = decompose(walk, count, least, definite=kernel.definite)
        # An indefinite kernel has components of negative eigenvalue, which count as well.
        size = spectrum.values if kernel.definite else np.abs(spectrum.values)
        usable = np.ones(len(size), bool) if least is None else size > least
        extension = Extension(kernel, X, walk, spectrum, usable)
        self._keep(kernel, samples)
        self.X_fit_ = X
        self.degrees_, self.volume_, self.base_scores_ = walk.degrees, walk.volume, walk.base_scores
        self.spectrum_, self.extension_ = spectrum, extension
        self._walk = walk
        self._select()
        return self

    def set_restart(self, restart: float) -> KernelPageRank:
        """Change the restart probability of a fitted model; the eigenvectors serve any.

        Parameters
        ----------
        restart : float

        Returns
        -------
        self : KernelPageRank
            As if fitted with it.
        """
        check_is_fitted(self, "low_rank_")
        check_restart(restart)
        self.restart = restart
        self._select()
        return self

    # Which eigenvectors ------------------------------------------------------------------------------------

    def _select(self) -> None:
        """Choose among the computed eigenvectors: all that depends on ``restart`` but not on seeds."""
        spectrum, usable, least = self.spectrum_, self.extension_.usable, check_eigenvalue_tol(self)
        count = check_components(self, len(spectrum.vectors))
        # Eigenvectors that were not computed are none to choose from if all their eigenvalues are too small.
        complete = least is not None and -least <= spectrum.floor and spectrum.ceiling <= least
        self.low_rank_ = LowRank(
            spectrum, self.degrees_, float(self.restart), self.order, count, usable, complete=complete
        )
        self.n_components_ = self.low_rank_.count
        self.eigenvalues_, self.eigenvectors_ = self.low_rank_.values, self.low_rank_.vectors
        self.expected_error_ = self.low_rank_.expected
        self.expected_error_is_bound_ = not spectrum.exact
        self.choice_is_certain_ = self.low_rank_.is_certain

    @property
    def embedding_(self) -> Array:
        check_is_fitted(self, "low_rank_")
        embedding: Array = self.eigenvectors_ * np.sqrt(self.low_rank_.gains).astype(self.eigenvectors_.dtype)
        return embedding

    # Scores of the fitted samples --------------------------------------------------------------------------

    def scores(
        self, seeds: Any = None, *, query: Any = None, method: str = "low_rank", normalize: str = "none"
    ) -> Array:
        """Scores of the fitted samples for given seeds.

        Parameters
        ----------
        seeds : int, list, dict, array or None
            Where the walk restarts, among the fitted samples: an index; a list of indices or a boolean mask (all
            alike); ``{index: weight}``; weights of shape (n,); or (n, q), dense or sparse, for q queries at once.
            None is all alike.
        query : array-like (d,) or (q, d), optional
            Instead of seeds, new rows to restart at, each a query of its own; scores are linear, so for several rows
            together take the mean of the columns.
        method : {"low_rank", "exact", "one_step"}
            By the embedding; by solving for all eigenvectors at once; or, for a ``query``, solving with the restart
            that is its first step to the fitted samples, which divides by no eigenvalue.
        normalize : {"none", "sqrt_degree", "degree"}
            Divide by √d_i or d_i, for lists that do not favour samples that are like many others.

        Returns
        -------
        scores : ndarray (n,), or (n, q) for q queries
            They sum to 1, or to 1 − restart by "one_step": the rest is the query's own.
        """
        blocks, count, _, single = self._asked(seeds, query, method)
        n = len(self.degrees_)
        require_memory(16.0 * n * count, f"the scores of {n} samples for {count} queries", "use rank with top=")
        values = blocks(slice(0, count))
        if (divisor := degree_divisor(normalize, self.degrees_)) is not None:
            values /= divisor
        return values[:, 0] if single else values

    def rank(
        self,
        seeds: Any = None,
        *,
        query: Any = None,
        top: int | None = None,
        exclude_seeds: bool = False,
        method: str = "low_rank",
        normalize: str = "none",
    ) -> Array:
        """Indices of the fitted samples, best first; ties go to the lower index.

        Parameters
        ----------
        seeds, query, method, normalize
            As in :meth:`scores`.
        top : int, optional
            Only so many, without holding the scores of all queries at once.
        exclude_seeds : bool, default False
            Leave the seeds out of the list. Lists of several queries are then as short as the shortest of them. A
            ``query`` is no fitted sample, so nothing is left out.

        Returns
        -------
        index : ndarray (top,), or (top, q) for q queries
        """
        top = check_top(top)
        blocks, count, S, single = self._asked(seeds, query, method)
        divisor = degree_divisor(normalize, self.degrees_)
        found = ranked_lists(blocks, len(self.degrees_), count, top, divisor, exclude=S if exclude_seeds else None)
        return found[:, 0] if single else found

    def _asked(self, seeds: Any, query: Any, method: str) -> tuple[Callable[[slice], Array], int, Any, bool]:
        """Scores as a function of some queries, the number of queries, their seeds, and whether one was meant."""
        check_is_fitted(self, "low_rank_")
        one_of(method, "method", _METHODS)
        if method == "exact" and query is not None:
            raise ValueError("method='exact' is for fitted seeds; for a query use method='one_step' or 'low_rank'")
        S, rows, single = self._restarts(seeds, query)
        if method == "low_rank":
            weights = self.low_rank_.weights(self._coordinates(S, rows))
            return lambda columns: self.low_rank_.scores(weights[:, columns]), weights.shape[1], S, single
        walk = self._the_walk()
        start = S if rows is None else self._first_step(rows)
        share = 1.0 if rows is None else 1 - self.low_rank_.restart

        def solved(columns: slice) -> Array:
            return share * exact_scores(walk, start[:, columns], self.low_rank_.restart, spectrum=self.spectrum_)

        return solved, start.shape[1], S, single

    def _coordinates(self, S: Any, rows: Matrix | None) -> Array:
        """e_jᵀ D^-½ s of the selected eigenvectors, (k, q); a new row x has e_j(x) / √d(x)."""
        if rows is None:
            return self.low_rank_.coordinates(S)
        return self.extension_.coordinates(self.low_rank_, rows)

    def error_bound(self, seeds: Any = "random") -> RankingError:
        """How far low-rank scores may be from exact ones.

        Parameters
        ----------
        seeds : "random" or as in :meth:`scores`
            "random" is one sample drawn at random: what to expect of queries to come.

        Returns
        -------
        error : RankingError
        """
        check_is_fitted(self, "low_rank_")
        if isinstance(seeds, str) and seeds == "random":
            return self.low_rank_.random_error(self.spectrum_)
        S, single = restart_columns(seeds, self.degrees_)
        n, q = S.shape
        require_memory(24.0 * n * q, f"the error bounds of {n} samples for {q} queries", "pass fewer columns of seeds")
        moment = np.zeros(q)
        if not self.spectrum_.exact:
            steps = (diags_array(1 / self.degrees_) @ S).toarray()
            moment = np.einsum("ij,ij->j", steps, self._the_walk().gram @ steps)
        error = self.low_rank_.error(self.spectrum_, S, moment)
        return error.first() if single else error

    # New samples -------------------------------------------------------------------------------------------

    def score_samples(self, X: Matrix, seeds: Any = None, *, query: Any = None, method: str = "low_rank") -> Array:
        """Scores of new samples, on the scale of the fitted ones' scores.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)
        seeds, query
            As in :meth:`scores`.
        method : {"low_rank", "one_step"}
            By the embedding of x, which for a fitted sample gives its low-rank score again (but not with
            ``NeighborGraph``, where a row that comes later has other neighbours); or by one step of the exact walk,
            π(x) = (1 − α) Σ_j k(x, x_j) π_j / d_j, which needs no eigenvectors and is never negative.

        Returns
        -------
        scores : ndarray (n_new,), or (n_new, q) for q queries
            Zero, with a warning, for a sample that is similar to no fitted one.
        """
        check_is_fitted(self, "low_rank_")
        scorer, single = self._scorer(seeds, query, method)
        values = scorer(self._check_new(X)).astype(np.float64, copy=False)
        warn_alone(int((values[:, -1] <= 0).sum()), "score 0")
        return values[:, 0] if single else values[:, :-1]

    def scorer(self, seeds: Any = None, *, query: Any = None, method: str = "low_rank") -> Expansion:
        """A function that gives the scores of new samples for fixed seeds, for many calls.

        It is the representer form π(x) = Σ_i a_i(s) k(x, x_i); where the kernel has finite features the sum is
        folded into one weight per feature, so that the cost of a new row does not depend on n.

        Parameters
        ----------
        seeds, query, method
            As in :meth:`score_samples`.

        Returns
        -------
        function : Expansion
            Call it with rows; it returns (n_new, q + 1): the scores, and the degree d(x) in the last column.
        """
        check_is_fitted(self, "low_rank_")
        return self._scorer(seeds, query, method)[0]

    def embedder(self, n_components: int | None = None) -> Expansion:
        """A function that gives the directions of the embedding of new samples, for many calls.

        Beside :meth:`scorer` (``scorer.beside(embedder)``) it costs one evaluation of the kernel for both.

        Parameters
        ----------
        n_components : int, optional
            Only the first so many.

        Returns
        -------
        function : Expansion
            Call it with rows; it returns √d(x) z(x): rows of :meth:`transform` but for their length.
        """
        check_is_fitted(self, "low_rank_")
        count = self.low_rank_.count if n_components is None else n_components
        return self.extension_.embedder(self.low_rank_, count)

    def coefficients(self, seeds: Any = None, *, query: Any = None) -> Array:
        """The a(s) of π(x) = Σ_i a_i(s) k(x, x_i), shape (n,), or (n, q) for q queries."""
        check_is_fitted(self, "low_rank_")
        S, rows, single = self._restarts(seeds, query)
        refuse_division_by_zero(self.eigenvalues_)
        weights = self.low_rank_.weights(self._coordinates(S, rows)) / self.eigenvalues_[:, None]
        a = self.eigenvectors_ @ weights / np.sqrt(self.degrees_)[:, None] + 1 / self.volume_
        return a[:, 0] if single else a

    def _scorer(self, seeds: Any, query: Any, method: str) -> tuple[Expansion, bool]:
        if one_of(method, "method", _METHODS) == "exact":
            raise ValueError("method='exact' is for fitted samples; for new ones use method='one_step' or 'low_rank'")
        if method == "one_step":
            blocks, count, _, single = self._asked(seeds, query, method)
            a = (1 - self.low_rank_.restart) * blocks(slice(0, count)) / self.degrees_[:, None]
            a = np.hstack([a, np.ones((len(a), 1))]).astype(self.eigenvectors_.dtype)
            return Expansion(self.kernel_, self.X_fit_, a, gram=self._the_walk().gram), single
        S, rows, single = self._restarts(seeds, query)
        return self.extension_.scorer(self.low_rank_, self._coordinates(S, rows)), single

    def transform(self, X: Matrix) -> Array:
        """The embedding z(x) of new samples.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        Z : ndarray (n_new, n_components)
            Zero, with a warning, for a sample that is similar to no fitted one.
        """
        check_is_fitted(self, "low_rank_")
        return self.extension_.embed(self.low_rank_, self._check_new(X))
