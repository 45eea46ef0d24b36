"""The iterative spectral method (ISM) for kernel dimension reduction.

It maximises J(W) = Σ_ij Γ_ij f(β_ij(W)) over W with orthonormal columns. At a stationary point W spans an invariant
subspace of Φ(W) (``_pairs.py``), so the next W are the leading eigenvectors of Φ(W). Taken plainly that can cycle; a
level shift ρ, added when J would fall, makes every step an ascent.
"""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from gramian.checks import check_choice, check_positive, check_whole, n_workers, whole
from gramian.configuration import memory_budget
from gramian.dependence.projection._approximate import FourierPairSum, NystroemPairSum
from gramian.dependence.projection._climb import Climb, ISMResult, sine, warn_of_gap
from gramian.dependence.projection._eigenspace import ConstantPhi
from gramian.dependence.projection._pairs import PairSum, profiles_of
from gramian.dependence.projection.weights import PairWeights
from gramian.grams.eigen import fix_signs
from gramian.grams.tiles import _one_blas_thread
from gramian.kernels import Kernel
from gramian.kernels.profile import WeightedProfiles
from gramian.randomness import generator
from gramian.typing import Array, RandomState

__all__ = ["ISMResult", "ism", "objective", "sine", "suggest_n_components"]

_FEW_COLUMNS = 200  # up to here Φ is formed: its eigenvectors are then exact and cost little
_MOST_SAMPLES = 500_000
_SMALL = 1_000_000  # entries of X up to which BLAS works on one thread


def ism(
    X: Any,
    weights: PairWeights,
    kernel: Kernel,
    n_components: int,
    *,
    init: Any = "spectral",
    convergence: str = "subspace",
    tol: float = 1e-6,
    max_iter: int = 200,
    safeguard: bool = True,
    zero_diagonal: bool = False,
    approximation: str | None = None,
    n_features: int = 512,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> ISMResult:
    """Maximise Σ_ij Γ_ij k(Wᵀx_i, Wᵀx_j) over W (d, q) with WᵀW = I.

    Parameters
    ----------
    X : array-like (n, d)
        Samples, centred and scaled as wanted.
    weights : PairWeights
        Γ.
    kernel : Kernel
        A smooth function of inner products or squared distances, as in :class:`gramian.DependenceReduction`; fitted if
        it has rules.
    n_components : int
        q, from 1 to d. With d every W has the same J, and the result is the rotation to the eigenvectors of Φ.
    init : {"spectral", "random"} or array (d, q), default "spectral"
        "spectral" solves the problem with the kernel's slope at zero; its eigenvectors of eigenvalue zero are replaced
        by principal directions.
    convergence : {"subspace", "eigenvalues", "stationarity", "objective"}, default "subspace"
        What has to become small: the sine of the largest angle between successive subspaces (and the residual), the
        relative change of the eigenvalues (the published rule, which stops early), the residual, or the relative
        change of J.
    tol : float, default 1e-6
    max_iter : int, default 200
    safeguard : bool, default True
        Never let J fall. False is the plain method, which may cycle; it returns its last step.
    zero_diagonal : bool, default False
        Leave the pairs of a sample with itself out of the sum.
    approximation : {None, "fourier", "nystroem"}, default None
        None sums over all pairs. The others approximate the kernel, cost O(n) and maximise the approximated sum.
    n_features : int, default 512
        Of the approximation: waves, or landmarks.
    random_state : int, Generator, RandomState or None
        For the approximation and for ``init="random"``.
    n_jobs : int, optional
        Threads.
    verbose : int, default 0

    Returns
    -------
    result : ISMResult

    Warns
    -----
    ConvergenceWarning
        After ``max_iter`` steps; where no step raises J; and where the kernel is flat, as a narrow one is on X of large
        numbers.
    UserWarning
        Where the subspace is not determined: more components than the weights support, or no gap after the last.

    References
    ----------
    Wu, Miller, Chang, Sznaier, Dy (2019). Solving interpretable kernel dimension reduction. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> y = X[:, 2] > 0
    >>> result = ism(X, PairWeights.of_labels(y), RBF(width=2.0), n_components=1)
    >>> int(np.argmax(np.abs(result.components[0])))
    2
    """
    options = SimpleNamespace(
        n_components=n_components, convergence=convergence, tol=tol, max_iter=max_iter, n_features=n_features,
        approximation=approximation, n_jobs=n_jobs, safeguard=safeguard, zero_diagonal=zero_diagonal,
    )  # fmt: skip
    X, profiles = _checked(X, weights, kernel, options)
    rng = generator(random_state)
    basis, X = _row_space(X, n_components)
    if all(profile.constant_slope for _, profile in profiles):
        return _closed_form(X, basis, weights, profiles, int(n_components), zero_diagonal)
    with np.errstate(over="ignore", invalid="ignore"):  # a kernel that overflows is refused when it is summed
        for _, profile in profiles:
            profile.check_derivative(X)
    W = _start(init, X, basis, weights, profiles, int(n_components), rng)
    total: Any
    if approximation is None:
        if len(X) > _MOST_SAMPLES:
            raise ValueError(
                f"n_samples={len(X)}: all pairs of more than {_MOST_SAMPLES} samples would take too long; pass "
                "approximation='nystroem' or 'fourier', or part of the rows"
            )
        total = PairSum(
            X, weights, profiles,
            zero_diagonal=zero_diagonal, hold=_holds(X, int(n_components)), n_workers=n_workers(options),
        )  # fmt: skip
    else:
        _check_approximation(kernel, approximation)
        total = (FourierPairSum if approximation == "fourier" else NystroemPairSum)(
            X,
            weights,
            profiles,
            int(n_components),
            int(n_features),
            rng,
            zero_diagonal=zero_diagonal,
            n_workers=n_workers(options),
        )
    climb = Climb(total, convergence, float(tol), int(max_iter), safeguard, rng)
    if X.size > _SMALL:
        return climb.run(W, basis, verbose)
    # Threads of BLAS that wait for each other would cost more than these small products.
    with _one_blas_thread:
        return climb.run(W, basis, verbose)


def objective(X: Any, weights: PairWeights, kernel: Kernel, W: Any, zero_diagonal: bool = False) -> float:
    """J(W) = Σ_ij Γ_ij k(Wᵀx_i, Wᵀx_j), summed over all pairs.

    Parameters
    ----------
    X : array-like (n, d)
    weights : PairWeights
    kernel : Kernel
    W : array-like (d, q)
    zero_diagonal : bool, default False

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import Linear
    >>> objective([[1.0], [-1.0]], PairWeights.of_labels([0, 1]), Linear(), [[1.0]])
    2.0
    """
    X = check_array(X, dtype=np.float64, input_name="X")
    W = check_array(W, dtype=np.float64, input_name="W")
    _check_sizes(X, weights, profiles := profiles_of(kernel))
    if W.shape[0] != X.shape[1]:
        raise ValueError(f"W has shape {W.shape} but X has {X.shape[1]} columns; pass one row per column")
    return PairSum(X, weights, profiles, zero_diagonal=zero_diagonal).objective(W)


def suggest_n_components(result: ISMResult) -> int:
    """The number of components before the largest gap in the spectrum of Φ.

    Parameters
    ----------
    result : ISMResult

    Returns
    -------
    n_components : int
        From 1 to d − 1; fit again with it.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import Linear
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> result = ism(X, PairWeights.of_targets(X[:, :2]), Linear(), n_components=1)
    >>> suggest_n_components(result)
    2
    """
    gaps = -np.diff(result.spectrum)
    return int(np.argmax(gaps)) + 1 if len(gaps) else 1


# The steps of ism ------------------------------------------------------------------------------------------


def _closed_form(
    X: Array, basis: Array | None, weights: PairWeights, profiles: WeightedProfiles, q: int, zero_diagonal: bool
) -> ISMResult:
    """Constant slopes: Φ does not depend on W, so its leading eigenvectors are the global maximum."""
    phi = ConstantPhi(X, weights, profiles, zero_diagonal=zero_diagonal)
    eigenvalues, W = phi.leading(q)
    spectrum = phi.spectrum(2 * q + 1)
    if (rank := np.count_nonzero(eigenvalues)) < q:
        warnings.warn(
            f"n_components={q} is more than the {rank} directions that the weights determine with this kernel; the "
            "others are principal directions of X",
            UserWarning,
            stacklevel=3,
        )
    else:
        warn_of_gap(spectrum, q, stacklevel=4)
    # What the kernel is at zero, summed over all pairs; of weights that are centred nothing is left but the diagonal.
    at_zero = sum(weight * float(profile.value(np.zeros(1))[0]) for weight, profile in profiles)
    pairs = weights.row_sums().sum() - (weights.diagonal().sum() if zero_diagonal else 0.0)
    total = float(eigenvalues.sum() + at_zero * pairs)
    return ISMResult(
        components=fix_signs(W if basis is None else basis @ W).T,
        eigenvalues=eigenvalues,
        spectrum=spectrum,
        objective=total,
        objective_path=np.array([total]),
        n_iter=1,
        n_evaluations=1,
        converged=True,
        status="closed form",
        residual=0.0,
        top_eigenspace=True,
        level_shift=0.0,
    )


def _row_space(X: Array, q: int) -> tuple[Array | None, Array]:
    """Where d > n, an orthonormal basis of the rows of X, and X in its coordinates.

    The basis has q more directions, orthogonal to all rows: Φ vanishes there, which beats a negative eigenvalue.
    """
    n, d = X.shape
    if d <= n + q:
        return None, X
    more = np.random.default_rng(0).standard_normal((d, q))
    Q = np.linalg.qr(np.hstack([X.T, more]))[0]
    return Q, X @ Q


def _start(
    init: Any, X: Array, basis: Array | None, weights: PairWeights, profiles: WeightedProfiles, q: int,
    rng: np.random.Generator,
) -> Array:  # fmt: skip
    d = X.shape[1]
    if init is None or isinstance(init, str):
        if init == "random":
            return np.linalg.qr(rng.standard_normal((d, q)))[0]
        if init == "spectral":
            return ConstantPhi(X, weights, profiles).leading(q)[1]
        raise ValueError(f"init={init!r} is not known; pass 'spectral', 'random' or an array (d, q)")
    W = check_array(init, dtype=np.float64, input_name="init")
    n_columns = d if basis is None else basis.shape[0]
    if W.shape != (n_columns, q):
        raise ValueError(f"init has shape {W.shape}; pass an array of shape ({n_columns}, {q}), 'spectral' or 'random'")
    W, triangle = np.linalg.qr(W if basis is None else basis.T @ W)
    sizes = np.abs(np.diag(triangle))
    if not sizes.min() > 1e-10 * sizes.max():
        raise ValueError("the columns of init are linearly dependent; pass an array of full column rank")
    return W


def _holds(X: Array, q: int) -> bool:
    """Whether products with Φ through an n×n matrix are cheaper than forming Φ, and the matrix fits."""
    n, d = X.shape
    return d > max(_FEW_COLUMNS, 16 * q) and 16.0 * n * n <= memory_budget()


def _checked(X: Any, weights: PairWeights, kernel: Kernel, options: Any) -> tuple[Array, WeightedProfiles]:
    check_whole(options, "max_iter", "n_features")
    check_positive(options, "tol")
    check_choice(options, "convergence", ("subspace", "eigenvalues", "stationarity", "objective"))
    check_choice(options, "approximation", (None, "fourier", "nystroem"))
    for name in ("safeguard", "zero_diagonal"):
        if not isinstance(getattr(options, name), (bool, np.bool_)):
            raise ValueError(f"{name}={getattr(options, name)!r} must be True or False")
    X = check_array(X, dtype=np.float64, input_name="X", ensure_min_samples=2)
    whole(options.n_components, "n_components", most=X.shape[1])
    _check_sizes(X, weights, profiles := profiles_of(kernel))
    if weights.norm() == 0:
        raise ValueError("all weights of pairs are zero, as labels of one class give; pass weights that differ")
    return X, profiles


def _check_sizes(X: Array, weights: PairWeights, profiles: WeightedProfiles) -> None:
    if not isinstance(weights, PairWeights):
        raise ValueError(
            f"weights must be PairWeights but is of type {type(weights).__name__}; use PairWeights.of_labels(y), "
            "of_targets(Y) or PairWeights(factor, scale)"
        )
    if weights.n_samples != len(X):
        raise ValueError(f"weights are for {weights.n_samples} samples but X has {len(X)} rows")
    for _, profile in profiles:
        if profile.row_scales is not None and len(profile.row_scales) != len(X):
            raise ValueError(
                f"RelativeRBF was fitted on {len(profile.row_scales)} rows but X has {len(X)}; fit it on this X"
            )


def _check_approximation(kernel: Kernel, approximation: str) -> None:
    if approximation == "nystroem" and not kernel.definite:
        raise ValueError(
            f"approximation='nystroem' needs a positive semi-definite kernel but kernel={kernel!r} is not; "
            "use approximation=None"
        )
