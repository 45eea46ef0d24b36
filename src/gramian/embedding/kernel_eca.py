"""Kernel entropy component analysis: the axes that carry the sample's Rényi entropy, not its variance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.checks import check_count, check_positive
from gramian.embedding.projection import KernelProjection, significant
from gramian.grams import Gram
from gramian.kernels import Expansion, Kernel
from gramian.partitions import answered, is_distributed
from gramian.typing import Array, Matrix


class KernelECA(KernelProjection):
    """Uncentred kernel PCA that keeps the axes with the largest entropy contributions.

    The quadratic Rényi information potential of the sample is V = (1/n²) 1ᵀK1 = (1/n²) Σ_j λ_j (e_jᵀ1)². Axis j
    contributes λ_j (e_jᵀ1)²; the ``n_components`` largest contributions are kept. Samples of different clusters
    then lie in different directions from the origin, which :func:`gramian.angular_kmeans` separates.

    Parameters
    ----------
    n_components : int, default 2
    kernel : Kernel, str or callable, default "rbf"
        Positive semi-definite.
    tol : float, optional
        Accuracy of the eigenvectors, see :func:`gramian.grams.eigen.eigenpairs`.

    Attributes
    ----------
    embedding_ : ndarray (n, n_components_)
    eigenvalues_ : ndarray (n_components_,)
    entropies_ : ndarray (n_components_,)
        Contributions λ_j (e_jᵀ1)², decreasing; over all n axes they would sum to 1ᵀK1.
    component_indices_ : ndarray (n_components_,)
        Place of each axis in the order of eigenvalues.

    Notes
    -----
    Axes are examined in the order of their eigenvalues until no further one can contribute more than those kept:
    with c axes seen, another contributes at most λ_c (n − Σ_j (e_jᵀ1)²) and at most what is left of 1ᵀK1.
    Centring would make every contribution zero, so there is no option for it.

    References
    ----------
    Jenssen (2010). Kernel entropy component analysis. IEEE TPAMI.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import KernelECA
    >>> KernelECA(2).fit_transform(load_iris().data).shape
    (150, 2)
    """

    _fits_partitions = True

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
        tol: float | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.tol = tol

    def fit(self, X: Matrix, y: Any = None) -> KernelECA:
        """Find the axes.

        Parameters
        ----------
        X : array-like or sparse (n, d), or (n, n) similarities with ``kernel="precomputed"``
            A Dask array or data frame with a kernel of finite features, such as ``Nystroem(300)``, is analysed where
            it lies; ``embedding_`` is then a Dask array, computed when asked for.
        y : ignored

        Returns
        -------
        self : KernelECA
        """
        check_positive(self, "tol", none_allowed=True)
        samples = X
        X, kernel, gram = self._fit_kernel(X)
        wanted = check_count(self, "n_components", X.shape[0])
        assert wanted is not None
        if is_distributed(samples):
            return self._finish_distributed(samples, X, kernel, gram, wanted)
        values, vectors, self.entropies_, self.component_indices_ = entropy_axes(gram, wanted, kernel, self.tol)
        self._keep(kernel, samples)
        self.eigenvalues_ = values
        self.n_components_ = len(values)
        self.embedding_ = vectors * np.sqrt(values)
        self.expansion_ = Expansion(kernel, X, vectors / np.sqrt(values), gram=gram)
        return self

    def _finish_distributed(self, X: Any, rows: Any, kernel: Kernel, gram: Any, wanted: int) -> KernelECA:
        """All axes are known from the features' sums, so the leading ones are found without a bound."""
        n, m = gram.factor.shape
        values, axes = gram.eigenaxes(min(n, m))
        contributions = _contributions(values, gram.factor.column_sums @ axes, n)
        best = _leading(values, contributions, n, wanted)
        self._keep(kernel, X)
        self.entropies_, self.component_indices_ = contributions[best], best
        self.eigenvalues_, self.n_components_ = values[best], len(best)
        self.expansion_ = Expansion.of_weights(kernel, axes[:, best] * np.sqrt(values[best]))
        self.embedding_ = answered(self, "transform", rows)
        return self


def entropy_axes(gram: Gram, wanted: int, kernel: Kernel, tol: float | None) -> tuple[Array, Array, Array, Array]:
    """Eigenvalues, eigenvectors, entropy contributions and places in the spectrum of the axes that lead in entropy."""
    n = gram.shape[0]
    if not kernel.definite:
        _refuse_indefinite(gram, kernel)
    total = float(gram.degrees().sum(dtype=np.float64))
    seen = min(n, 4 * wanted + 10)
    while True:
        values, vectors = gram.eigenpairs(seen, tol=tol)
        sums = vectors.sum(axis=0, dtype=np.float64)
        contributions = _contributions(values, sums, n)
        worst_kept = np.sort(contributions)[-min(wanted, seen)]
        at_most = min(total - contributions.sum(), float(values[-1]) * (n - float(sums @ sums)))
        if seen == n or at_most <= worst_kept + 1e-10 * total:
            break
        # Once a twentieth of all axes does not settle it, all of them are found faster at once.
        seen = n if 2 * seen > n // 20 else 2 * seen
    best = _leading(values, contributions, n, wanted)
    return values[best], np.ascontiguousarray(vectors[:, best]), contributions[best], best


def _contributions(values: Array, sums: Array, n: int) -> Array:
    """λ_j (e_jᵀ1)² of eigenvalues that are more than rounding."""
    return np.where(significant(values, n) & (values > 0), values * sums**2, 0.0)


def _leading(values: Array, contributions: Array, n: int, wanted: int) -> Array:
    """The places of the largest contributions."""
    # λ_1 n bounds every contribution; what is below its rounding is none. Ties go to the larger eigenvalue.
    rounding = 10 * float(np.finfo(values.dtype).eps) * float(values[:1].max(initial=0.0)) * n
    best = np.argsort(-contributions, kind="stable")[:wanted]
    best = best[contributions[best] > rounding]
    if not len(best):
        raise ValueError("no axis carries entropy: the features of X are centred or zero; use another kernel")
    return best


def _refuse_indefinite(gram: Gram, kernel: Kernel) -> None:
    largest = gram.eigenpairs(1, tol=1e-3)[0][0]
    lowest = gram.eigenpairs(1, "smallest", tol=1e-3)[0][0]
    if lowest < -2e-3 * max(float(largest), 0.0):
        raise ValueError(
            f"kernel={kernel!r} is indefinite here (smallest eigenvalue {lowest:.2g}); entropy needs a positive "
            "semi-definite kernel such as 'rbf'"
        )
