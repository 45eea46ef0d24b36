"""Kernel component analysis: principal components that a few wild rows do not turn, and that few rows describe."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramian.checks import check_choice, check_count, check_positive, check_whole, real
from gramian.embedding.preimage import RidgePreimage, check_preimage
from gramian.embedding.projection import InvertibleProjection, significant
from gramian.grams import Gram
from gramian.kernels import Expansion, Kernel
from gramian.typing import Array, Matrix

_NORMAL = 1.483  # a normal distribution's deviation over its median absolute deviation
_SOLVED = 30  # weighted problems solved per start before single products take over
_TRIMMED = 0.1  # share of scores left out at either end when starts are compared


class _Component(NamedTuple):
    """One direction w = Σ_i coefficients_i φ(x_i) of unit length, and the weights that it comes from."""

    coefficients: Array
    scores: Array  # w·φ(x_i), not centred
    intercept: float
    weights: Array
    n_iter: int
    converged: bool


class KernelComponentAnalysis(InvertibleProjection):
    """Kernel PCA with a robust and sparse loss.

    Kernel PCA maximises Σ_i e_i² over the scores e_i = w·φ(x_i) + b of unit directions w, so one row far away outweighs
    many. Here Σ_i L(e_i / s) is maximised, with s = 1.483 times the median absolute deviation of the scores and

        L(r) = 0 for |r| <= ε,   (|r| − ε)² / 2 for ε < |r| <= c,   and linear beyond.

    Rows beyond c have a bounded influence; rows within ε have none and drop out of w = Σ_i α_i φ(x_i). The solution is
    a fixed point of weighted kernel PCA with the weights v = L'(r) / r, found by iteration from several principal
    components; the start with the largest trimmed variance wins. Further components come from the features less those
    found. With ε = 0 and a large c this is kernel PCA.

    For denoising expect little: of digits learned with and without outliers, only few components of an RBF kernel, with
    outliers all alike, left clearly less error than kernel PCA (0.044 against 0.048 with four components, level with
    sixteen), and it takes up to some hundred times as long (``reproduce/kca_denoising.py``).

    Parameters
    ----------
    n_components : int, default 2
    kernel : Kernel, str or callable, default "rbf"
        Positive semi-definite. With a bounded one, such as "rbf", kernel PCA is robust already against rows far away,
        though not against many rows in an odd place.
    insensitivity : float, default 0.3
        ε, in deviations of the scores. Large values leave w to a handful of rows.
    cutoff : float, default 2.5
        c, in deviations of the scores; more than ``insensitivity``.
    n_restarts : int, default 3
        Principal components to start from.
    max_iter : int, default 300
        Steps per start: weighted problems up to 30, then single products.
    tol : float, default 1e-6
        Largest change of a weight at which the iteration ends.
    preimage : {None, "ridge", "fixed_point"}, default None
        How ``inverse_transform`` goes back to rows, as in :class:`KernelPCA`.
    ridge : float, default 1e-3
        Regularisation of ``preimage="ridge"``.

    Attributes
    ----------
    embedding_ : ndarray (n, n_components_)
        Scores of the fitted samples.
    weights_ : ndarray (n, n_components_)
        v of each row in each component, between 0 and 1.
    dual_coef_ : ndarray (n, n_components_)
        α with w_j = Σ_i α_ij φ(x_i) of unit length. Beyond the first component it also undoes the components before.
    support_ : ndarray of int
        Rows with any coefficient; scores of new samples need no others.
    intercept_ : ndarray (n_components_,)
        b.
    n_iter_ : int
        The most steps that a component took.
    kernel_ : Kernel
    n_components_ : int

    References
    ----------
    Alzate, Suykens (2008). Kernel component analysis using an epsilon-insensitive robust loss function. IEEE
    Transactions on Neural Networks.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import KernelComponentAnalysis, KernelPCA
    >>> rng = np.random.default_rng(11)
    >>> X = rng.normal(size=(95, 2)) * [2.0, 0.3]
    >>> X = np.vstack([X, [0.0, 25.0] + 0.2 * rng.normal(size=(5, 2))])  # five outliers
    >>> for model in (KernelPCA(1, kernel="linear"), KernelComponentAnalysis(1, kernel="linear")):
    ...     step = model.fit(X).transform([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    ...     print(np.abs(step[:2] - step[2]).ravel().round(2))  # the direction found
    [0.01 1.  ]
    [1. 0.]
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
        insensitivity: float = 0.3,
        cutoff: float = 2.5,
        n_restarts: int = 3,
        max_iter: int = 300,
        tol: float = 1e-6,
        preimage: str | None = None,
        ridge: float = 1e-3,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.insensitivity = insensitivity
        self.cutoff = cutoff
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.preimage = preimage
        self.ridge = ridge

    def fit(self, X: Matrix, y: Any = None) -> KernelComponentAnalysis:
        """Find the components.

        Parameters
        ----------
        X : array-like or sparse (n, d), or (n, n) similarities with ``kernel="precomputed"``
        y : ignored

        Returns
        -------
        self : KernelComponentAnalysis

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the weights of a component still change after ``max_iter`` steps; the calmest ones are then kept.
        """
        least = real(self.insensitivity, "insensitivity", least=0)
        real(self.cutoff, "cutoff", above=least)
        check_whole(self, "n_restarts", "max_iter")
        check_choice(self, "preimage", (None, "ridge", "fixed_point"))
        check_positive(self, "tol", "ridge")
        samples = X
        X, kernel, gram = self._fit_kernel(X, min_samples=2)
        wanted = check_count(self, "n_components", X.shape[0])
        assert wanted is not None
        check_preimage(self.preimage, X, kernel)
        found = self._components(gram, wanted)
        self._keep(kernel, samples)
        self.dual_coef_ = np.column_stack([part.coefficients for part in found])
        self.intercept_ = np.array([part.intercept for part in found], gram.dtype)
        self.weights_ = np.column_stack([part.weights for part in found])
        self.n_iter_ = max(part.n_iter for part in found)
        self.n_components_ = len(found)
        self.support_ = np.flatnonzero(self.dual_coef_.any(axis=1))
        scores = np.column_stack([part.scores for part in found])
        self.embedding_ = scores + self.intercept_
        self.expansion_ = Expansion(kernel, X, self.dual_coef_, gram=gram)
        if self.preimage is not None:
            self.X_fit_ = X
            mean = self.weights_.mean(axis=1)
            self.mean_coef_ = mean / mean.sum()
            self.mean_scores_ = self.mean_coef_ @ self.embedding_
        if self.preimage == "ridge":
            self.preimage_ = RidgePreimage(self.embedding_, X, self.ridge)
        return self

    def _components(self, gram: Gram, wanted: int) -> list[_Component]:
        """One component after the other, each in the features less those found."""
        total = abs(gram.centered().trace())
        found: list[_Component] = []
        while len(found) < wanted:
            left = gram if not found else gram.deflated(np.column_stack([part.scores for part in found]))
            best = self._best(left, total)
            if best is None:
                break
            # w is orthogonal to the directions before: their part in Σ_i α_i φ(x_i) is taken out of the coefficients.
            coefficients = best.coefficients
            for part in found:
                coefficients = coefficients - part.coefficients * (part.scores @ best.coefficients)
            found.append(best._replace(coefficients=coefficients))
        if not found:
            raise ValueError("all samples are alike under the kernel, so X has no variance to analyse; check X")
        if not all(part.converged for part in found):
            warnings.warn(
                f"the weights of a component still change after max_iter={self.max_iter} steps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        return found

    def _best(self, gram: Gram, total: float) -> _Component | None:
        """The component of the start with the largest trimmed variance; None where nothing is left to vary."""
        n = gram.shape[0]
        k = min(int(self.n_restarts), n)
        values, vectors = gram.centered().eigenpairs(k)
        keep = significant(np.append(values, total), n)[:-1] & (values > 0)
        starts = np.ascontiguousarray(vectors[:, keep])
        components = [self._iterated(gram, start) for start in starts.T]
        return max(components, key=lambda part: _trimmed_variance(part.scores), default=None)

    def _iterated(self, gram: Gram, start: Array) -> _Component:
        """The fixed point of weighted kernel PCA that a principal component leads to.

        Weighted problems are solved for the first steps. They come close, but a scale that follows the scores can keep
        two solutions alternating. So the scale is then kept, and a step is one product, the power method: its fixed
        points are the same and it does not leap between them.
        """
        n = gram.shape[0]
        insensitivity = float(self.insensitivity)
        weights, beta, scale = np.ones(n, gram.dtype), start, 1.0
        best, smallest = None, np.inf
        for step in range(1, int(self.max_iter) + 1):
            component = _direction(gram, weights, beta, step)
            if component is None:
                break
            scores = component.scores + component.intercept
            if step <= _SOLVED:
                scale = _scale(scores)
            new = robust_weights(scores / scale, insensitivity, float(self.cutoff)).astype(gram.dtype)
            while not new.any():
                insensitivity /= 2
                new = robust_weights(scores / scale, insensitivity, float(self.cutoff)).astype(gram.dtype)
            change = float(np.abs(new - weights).max())
            if change < smallest:
                best, smallest = component, change
            if change <= self.tol:
                return component._replace(converged=True)
            weights = new
            if step < _SOLVED:
                beta = gram.weighted_centered(weights).eigenpairs(1, tol=1e-9)[1][:, 0]
            else:
                beta = np.sqrt(weights) * (component.scores - (weights @ component.scores) / weights.sum())
        assert best is not None
        return best

    def _scores(self, X: Matrix) -> Array:
        Z = super()._scores(X)
        Z += self.intercept_.astype(Z.dtype, copy=False)
        return Z

    def _image_coefficients(self, Z: Array) -> Array:
        # The mean of the weighted rows, moved along each unit direction to the wanted score.
        return np.asarray(self.mean_coef_ + (Z - self.mean_scores_) @ self.dual_coef_.T)


def robust_weights(r: Array, insensitivity: float, cutoff: float) -> Array:
    """L'(r) / r of the ε-insensitive Huber loss: 0 within ε, (|r| − ε) / |r| up to c, (c − ε) / |r| beyond.

    Examples
    --------
    >>> import numpy as np
    >>> robust_weights(np.array([0.1, 1.0, -5.0]), 0.5, 2.5)
    array([0. , 0.5, 0.4])
    """
    size = np.abs(r)
    rising = np.minimum(size, cutoff) - insensitivity
    # For ε = 0 a row in the middle has the weight 1 of its neighbours.
    inner = 1.0 if insensitivity == 0 else 0.0
    return np.where(size > insensitivity, rising / np.where(size > 0, size, 1), inner)


def _direction(gram: Gram, weights: Array, beta: Array, n_iter: int) -> _Component | None:
    """The unit direction of an eigenvector β of the weighted, centred Gram, with α = √v β; None if it has no length."""
    coefficients = np.sqrt(weights) * beta
    coefficients -= weights * (coefficients.sum() / weights.sum())  # 1ᵀα = 0, which rounding breaks
    image = gram @ coefficients
    length = float(np.sqrt(max(float(coefficients @ image), 0.0)))
    if not length > 0:
        return None
    scores = image / length
    intercept = -float(weights @ scores) / float(weights.sum())
    return _Component(coefficients / length, scores, intercept, weights, n_iter, False)


def _scale(scores: Array) -> float:
    """A robust deviation; the plain one where more than half of the rows are alike."""
    robust = _NORMAL * float(np.median(np.abs(scores - np.median(scores))))
    return robust if robust > 0 else float(np.std(scores))


def _trimmed_variance(scores: Array) -> float:
    """The variance of the scores but for the tenth at either end."""
    cut = int(_TRIMMED * len(scores))
    return float(np.var(np.sort(scores)[cut : len(scores) - cut]))
