"""Pegasos: the support vector machine by sub-gradient steps on small batches, linear or on a few prototypes.

For streams and for the hinge loss; :mod:`gramian.lssvm.fixed_size` is exact for the squared one. Prototypes and
their features come from :mod:`gramian.lssvm.basis`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_choice, check_positive, check_real, check_whole, remember_columns
from gramian.estimator import KernelEstimator
from gramian.grams.tiles import slices
from gramian.kernels import Kernel, Linear
from gramian.landmarks import Nystroem
from gramian.lssvm.basis import Basis
from gramian.lssvm.classes import Decided, class_codes, class_weighted, plus_minus
from gramian.randomness import spawn
from gramian.typing import Array, Matrix, RandomState

_ROWS = 8192  # drawn, and turned into features, at a time
_SOONEST = 10  # steps before the iterates may stand still: the first ones can by accident
_INTERCEPTS = ("augment", "optimal", "batch_mean", "lecture", False)


@dataclass
class _State:
    """Where the descent stands.

    Attributes
    ----------
    W : ndarray (m, q)
        The weights; with "augment" the last row is that of the constant feature.
    step : int
        Steps taken.
    mean : ndarray (m, q)
        Of the iterates since ``since``.
    since : int
    still : bool
        Whether the last step moved W by less than ``tol``.
    """

    W: Array
    step: int
    mean: Array
    since: int
    still: bool = False


class PegasosClassifier(ClassifierMixin, KernelEstimator, Decided):
    """Support vector classification by stochastic sub-gradient descent (Pegasos).

    Minimises penalty/2 ‖w‖² + mean_i max(0, 1 − y_i (w·φ(x_i) + b)) by steps on random batches A of a few rows:

        w ← (1 − 1/t) w + 1/(penalty · t · |A|) Σ_{i in A, y_i f(x_i) < 1} y_i φ(x_i),

    and back into the ball ‖w‖ ≤ 1/√penalty, which holds the solution. φ(x) is x itself or, with prototypes, the
    features of :class:`gramian.Nystroem`. Several classes are one against the others, all in one descent.

    The error falls as 1/(penalty · max_iter): small penalties need many steps. On rows that fit in memory
    ``FixedSizeLSSVMClassifier`` is exact and needs no steps; this one is for streams and for the hinge loss. With 200
    prototypes of the same kernel it took 35 to 46 times as long: on pima .752 of held-out rows were right and .779 by
    the exact machine, on spambase .930 and .925, on 6,000 rows of magic .865 and .861 (three splits).

    Parameters
    ----------
    n_prototypes : int, optional
        None is the linear machine; a number the one with a kernel on that many prototypes.
    kernel : Kernel, str or callable, default "rbf"
        With prototypes; sees the columns as they are.
    penalty : float, default 1e-4
        λ; C = 1/(λ n) is scikit-learn's ``SVC``.
    fit_intercept : {"augment", "optimal", "batch_mean", "lecture", False}, default "augment"
        Where b comes from. "augment" is a constant feature, penalised with the others. "optimal" takes no b while it
        descends, then the b of least hinge loss. "batch_mean" takes the mean of y − w·φ(x) over each batch and at last
        over all rows, which is the b of least squares and a bad one here: on 2,000 rows with a true b of 0.8 it has an
        objective twice the optimum. "lecture" is the same with the sum over a batch divided by the number of all rows,
        as a lecture of Suykens prints it; kept to compare.
    max_iter : int, default 20000
        Steps of ``fit``.
    batch_size : int, default 20
        Rows of a step, drawn with replacement, by weight.
    tol : float, default 0.0
        ``fit`` ends when a step moves w by no more, after at least ten steps.
    project : bool, default True
        Whether w is put back into the ball.
    average : {"tail", None}, default "tail"
        The mean of the iterates of the last half of the steps, or the last iterate.
    selection : {"renyi", "uniform", "kmeans", "leverage"}, default "renyi"
        How prototypes are chosen; see :class:`gramian.Nystroem`.
    class_weight : dict or "balanced", optional
        Weight of each class's rows; "balanced" for ``fit`` alone.
    random_state : int, Generator, RandomState or None, default None
        For prototypes and batches.

    Attributes
    ----------
    classes_ : ndarray (k,)
    coef_ : ndarray (q, m)
        w, one row for two classes, else one per class.
    intercept_ : ndarray (q,)
    n_iter_ : int
        Steps taken.
    prototypes_ : ndarray or CSR (r, d) or None
    kernel_ : Kernel
        The fitted kernel; the linear one where there are no prototypes.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro (2007). Pegasos: primal estimated sub-gradient solver for SVM. ICML.

    Jumutc, Huang, Suykens (2013). Fixed-size Pegasos for hinge and pinball loss SVM. IJCNN.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = X[:, 0] + X[:, 1] > 0.5
    >>> bool(PegasosClassifier(random_state=0).fit(X, y).score(X, y) > 0.98)
    True
    >>> circle = (X**2).sum(axis=1) > 1
    >>> bool(PegasosClassifier(50, random_state=0).fit(X, circle).score(X, circle) > 0.97)
    True
    """

    def __init__(
        self,
        n_prototypes: int | None = None,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
        penalty: float = 1e-4,
        fit_intercept: str | bool = "augment",
        max_iter: int = 20000,
        batch_size: int = 20,
        tol: float = 0.0,
        project: bool = True,
        average: str | None = "tail",
        selection: str = "renyi",
        class_weight: dict[Any, float] | str | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.kernel = kernel
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.tol = tol
        self.project = project
        self.average = average
        self.selection = selection
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(self, X: Matrix, y: Any, sample_weight: Any = None) -> PegasosClassifier:
        """Descend on random batches of the rows.

        Parameters
        ----------
        X : array-like or sparse (n, d)
        y : array-like (n,)
            Classes, of any type.
        sample_weight : array-like (n,), optional
            How often each row is drawn, relative to the others.

        Returns
        -------
        self : PegasosClassifier
        """
        self._check_parameters()
        rows = self._check_rows(X)
        given = self._check_weights(sample_weight, rows)
        codes, classes = class_codes(self, y, rows.shape[0], None, given, stream=False)
        weights = class_weighted(self, codes, classes, given, stream=False)
        Y = plus_minus(codes, len(classes))
        prototype_rng, rng = spawn(self.random_state, 2)
        basis = self._basis(rows, weights, prototype_rng)
        state = self._begun(basis, rows, Y.shape[1])
        share = None if weights is None else weights / weights.sum(dtype=np.float64)
        max_iter, k = int(self.max_iter), int(self.batch_size)
        while state.step < max_iter and not state.still:
            n_steps = min(max_iter - state.step, max(1, _ROWS // k))
            drawn = rng.integers(rows.shape[0], size=n_steps * k)
            if share is not None:
                drawn = rng.choice(rows.shape[0], size=n_steps * k, p=share)
            F = self._features(basis, rows[drawn])
            self._descend(state, F, Y[drawn], rows.shape[0], tail_from=max_iter // 2)
        self._hold(basis, state, rows, Y, weights, classes)
        remember_columns(self, X)
        return self

    def partial_fit(self, X: Matrix, y: Any, classes: Any = None, sample_weight: Any = None) -> PegasosClassifier:
        """Go once through some more rows of a stream, in random order.

        The first call chooses the prototypes from its rows. An intercept that is not "augment" is computed from the
        rows of the last call. The mean of "tail" is over the steps of the last half so far, about.

        Parameters
        ----------
        X : array-like or sparse (n, d)
        y : array-like (n,)
        classes : array-like (k,)
            All classes that will ever come; at the first call.
        sample_weight : array-like (n,), optional
            How large a row's share of its batch is.

        Returns
        -------
        self : PegasosClassifier
        """
        first = not hasattr(self, "basis_")
        self._check_parameters()
        rows = self._check_rows(X) if first else self._check_new(X)
        codes, known = class_codes(self, y, rows.shape[0], classes, stream=True)
        given = self._check_weights(sample_weight, rows)
        weights = class_weighted(self, codes, known, given, stream=True)
        Y = plus_minus(codes, len(known))
        prototype_rng, rng = spawn(self.random_state, 2)
        basis = self._basis(rows, weights, prototype_rng) if first else self.basis_
        state = self._begun(basis, rows, Y.shape[1]) if first else self._state
        state = _State(state.W.copy(), state.step, state.mean.copy(), state.since)
        order = np.random.default_rng((int(rng.integers(2**31)), state.step)).permutation(rows.shape[0])
        k = int(self.batch_size)
        for some in slices(len(order), max(1, _ROWS // k) * k):
            drawn = order[some]
            F = self._features(basis, rows[drawn])
            shares = None if weights is None else weights[drawn] * (rows.shape[0] / weights.sum())
            self._descend(state, F, Y[drawn], rows.shape[0], shares=shares)
        self._hold(basis, state, rows, Y, weights, known)
        if first:
            remember_columns(self, X)
        return self

    # The steps of fit --------------------------------------------------------------------------------------

    def _basis(self, X: Matrix, weights: Array | None, rng: np.random.Generator) -> Basis:
        if self.n_prototypes is None:
            return Basis(Linear()._fitted(X))
        kernel = self._seeded_kernel(X.shape[0])
        m = int(self.n_prototypes)
        basis = Basis.of_prototypes(kernel, X, m, selection=self.selection, weights=weights, rng=rng)
        basis.kernel._check_overflow(X)
        return basis

    def _begun(self, basis: Basis, X: Matrix, q: int) -> _State:
        m = basis.size(X) + (self.fit_intercept == "augment")
        return _State(np.zeros((m, q)), 0, np.zeros((m, q)), 0)

    def _features(self, basis: Basis, X: Matrix) -> Array:
        F = basis.features(X)
        F = np.asarray(F.toarray() if issparse(F) else F, np.float64)
        return np.hstack([F, np.ones((len(F), 1))]) if self.fit_intercept == "augment" else F

    def _descend(
        self,
        state: _State,
        F: Array,
        Y: Array,
        n: int,
        *,
        tail_from: int | None = None,
        shares: Array | None = None,
    ) -> None:
        """A step for each batch of consecutive rows; ``tail_from`` is where the mean of the iterates begins."""
        penalty, k = float(self.penalty), int(self.batch_size)
        radius = 1 / np.sqrt(penalty) if self.project else np.inf
        W = state.W
        for batch in slices(len(F), k):
            state.step += 1
            x, y = F[batch], Y[batch]
            values = x @ W
            if self.fit_intercept in ("batch_mean", "lecture"):
                values += (y - values).sum(axis=0) / (len(x) if self.fit_intercept == "batch_mean" else n)
            pull = np.where(y * values < 1, y, 0.0)
            if shares is not None:
                pull *= shares[batch, None]
            before = W.copy() if self.tol else None
            W *= 1 - 1 / state.step
            W += (x.T @ pull) / (penalty * state.step * len(x))
            norms = np.sqrt(np.einsum("ij,ij->j", W, W))
            if (norms > radius).any():
                W *= np.minimum(1, radius / np.maximum(norms, radius))
            # A stream does not know its end: its mean begins anew at every power of two, so that it covers between a
            # half and all of the steps since the last but one.
            if state.step == tail_from or (tail_from is None and state.step & (state.step - 1) == 0):
                state.since, state.mean = state.step - 1, np.zeros_like(W)
            state.mean += (W - state.mean) / (state.step - state.since)
            if before is not None and state.step >= _SOONEST and np.abs(W - before).max() <= self.tol:
                state.still = True
                return

    def _hold(self, basis: Basis, state: _State, X: Matrix, Y: Array, weights: Array | None, classes: Array) -> None:
        """Weights and intercept from the iterates, and all that answers need."""
        W = state.mean if self.average == "tail" else state.W
        if self.fit_intercept == "augment":
            w, b = W[:-1], W[-1]
        elif self.fit_intercept:
            w = W
            values = np.empty(Y.shape)
            for rows in slices(X.shape[0], _ROWS):
                values[rows] = self._features(basis, X[rows]) @ W
            find = best_intercept if self.fit_intercept == "optimal" else mean_intercept
            b = np.array([find(values[:, j], Y[:, j], weights) for j in range(Y.shape[1])])
        else:
            w, b = W, np.zeros(Y.shape[1])
        self.classes_, self.basis_, self._state = classes, basis, state
        self.kernel_ = basis.kernel if basis.landmarks is None else basis.landmarks.kernel_
        self.prototypes_ = None if basis.landmarks is None else basis.landmarks.landmarks_
        self.coef_, self.intercept_ = np.ascontiguousarray(w.T), b.copy()
        self._expansion_coef = basis.expansion(w)
        self.n_iter_ = state.step

    # Answers -----------------------------------------------------------------------------------------------

    def _values(self, X: Matrix) -> Array:
        """f of new rows, shape (n, q)."""
        check_is_fitted(self)
        values = self.basis_.values(self._check_new(X), self._expansion_coef)
        return values + self.intercept_.astype(values.dtype)

    # Checks ------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if self.n_prototypes is not None:
            check_whole(self, "n_prototypes")
        check_positive(self, "penalty")
        check_choice(self, "fit_intercept", _INTERCEPTS)
        check_whole(self, "max_iter", "batch_size")
        check_real(self, "tol", least=0)
        check_choice(self, "project", (True, False))
        check_choice(self, "average", ("tail", None))
        Nystroem(1, selection=self.selection)._check_parameters(self._unfitted_kernel())
        if self.n_prototypes is None and not (isinstance(self.kernel, str) and self.kernel == "rbf"):
            raise ValueError(
                f"kernel={self.kernel!r} would be ignored, because n_prototypes=None is the linear machine; pass "
                "n_prototypes, such as 500, or leave out kernel"
            )

    def _unfitted_kernel(self, n_samples: int = 0) -> Kernel:
        return Linear() if self.n_prototypes is None else super()._unfitted_kernel(n_samples)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = False  # similarities are refused
        return tags


def best_intercept(values: Array, y: Array, weights: Array | None = None) -> float:
    """The b of least Σ_i v_i max(0, 1 − y_i (f_i + b)), for y = ±1.

    The slope of the sum rises from −Σ v over y = 1 by v_i at every b = y_i − f_i: b is where it reaches zero.

    Parameters
    ----------
    values : ndarray (n,)
        f.
    y : ndarray (n,)
    weights : ndarray (n,), optional

    Examples
    --------
    >>> import numpy as np
    >>> best_intercept(np.array([-1.0, 0.0, 3.0]), np.array([-1.0, 1.0, 1.0]))
    0.5
    """
    v = np.ones(len(y)) if weights is None else weights
    turns = y - values
    order = np.argsort(turns, kind="stable")
    slope = np.cumsum(v[order]) - v[y > 0].sum()
    at = int(np.searchsorted(slope, 0))
    if at >= len(order):
        return float(turns[order[-1]])
    # Between two turns the sum may be flat; the middle is the fairest.
    after = turns[order[min(at + 1, len(order) - 1)]] if slope[at] == 0 else turns[order[at]]
    return float((turns[order[at]] + after) / 2)


def mean_intercept(values: Array, y: Array, weights: Array | None = None) -> float:
    """The b of least squares: the mean of y − f."""
    return float(np.average(y - values, weights=weights))
