"""Readouts of a reservoir: linear ones learned from sums, block by block, and the others by name.

:class:`StreamedReadout` never sees more than one block of states. It stands on the core's
:class:`gramian.landmarks.NormalEquations`; networks and forecasters stand on it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from gramian.checks import is_real, real
from gramian.landmarks import NormalEquations
from gramian.typing import Array

LINEAR = ("ridge", "ols", "lasso", "elastic_net")
"""Readouts that are learned from sums."""

NAMES = (*LINEAR, "nu_svr", "linear_nu_svr", "ls_svm")

RELATIVE_RIDGES = 10.0 ** (np.arange(-28, 1) / 2)
"""Ridges that are tried, over the trace of SᵀS; below 1e-14 of it rounding hides them."""

_RELATIVE_ALPHAS = 10.0 ** (-np.arange(0, 17) / 4)  # of the smallest that leaves no coefficient
_UNTRIED = 16  # the ridge of a series too short to try any: 1e-6
_TIED = 1e-9  # errors that differ less are equal
_L1_RATIO = {"lasso": 1.0, "elastic_net": 0.5}
_NEGLIGIBLE = 1e-14


def check_regularization(regularization: Any) -> float | None:
    """None for "auto", or a finite number >= 0."""
    if isinstance(regularization, str) and regularization == "auto":
        return None
    return real(regularization, "regularization", least=0, instead="'auto'")


class StreamedReadout:
    """A linear readout y = Wᵀ s + b that is learned from sums over the steps.

    Steps are added block by block. Blocks that are added with ``judge=True`` first judge candidates for the penalty,
    solved from all blocks before, and are learned from as well, so that one pass chooses the penalty by a validation
    block and uses every step in the end. One eigendecomposition of SᵀS solves all ridges.

    Parameters
    ----------
    kind : {"ridge", "ols", "lasso", "elastic_net"}
        Penalty λ‖W‖² added to the squared errors; none; or α (ρ‖w‖₁ + (1 − ρ)/2 ‖w‖²) added to half of their mean,
        as in scikit-learn, with ρ = 1 or 1/2.
    regularization : float, optional
        λ or α; None chooses it, for every output apart.
    projection : callable, optional
        Takes the sums and gives a matrix P (m, r): W is sought among P w, as if the features were S P.

    Attributes
    ----------
    sums : NormalEquations
        Of all steps so far.
    errors : ndarray (c, q) or None
        Squares summed over all judged steps, of each candidate and output.
    n_judged : int
        Judged steps.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.reservoir.readouts import StreamedReadout
    >>> rng = np.random.default_rng(0)
    >>> S = rng.normal(size=(500, 20))
    >>> y = S[:, :1] + 0.1 * rng.normal(size=(500, 1))
    >>> readout = StreamedReadout()
    >>> for block in range(0, 400, 100):
    ...     readout = readout.add(S[block : block + 100], y[block : block + 100])
    >>> coefficients, intercept, ridge = readout.add(S[400:], y[400:], judge=True).solve()
    >>> coefficients.shape, bool(abs(coefficients[0, 0] - 1) < 0.02)
    ((20, 1), True)
    """

    def __init__(
        self,
        kind: str = "ridge",
        regularization: float | None = None,
        projection: Callable[[NormalEquations], Array] | None = None,
    ) -> None:
        self.kind = kind
        self.regularization = 0.0 if kind == "ols" else regularization
        self.projection = projection
        self.sums = NormalEquations()
        self.errors: Array | None = None
        self.n_judged = 0
        self._candidates: tuple[Array, Array] | None = None

    @property
    def chooses(self) -> bool:
        """Whether there is a penalty to choose."""
        return self.regularization is None

    def add(self, S: Array, Y: Array, *, judge: bool = False) -> StreamedReadout:
        """Learn from a block of steps.

        Parameters
        ----------
        S : ndarray (n, m)
            Features, such as states and inputs.
        Y : ndarray (n, q)
            Targets.
        judge : bool
            Whether the block judges the candidates first. They are solved when the first block judges, and kept until
            :meth:`solve`.

        Returns
        -------
        self : StreamedReadout
        """
        if judge and self.chooses and self.sums.n_samples and len(S):
            if self._candidates is None:
                self._candidates = self._solved(None)
            W, b = self._candidates  # (c, m, q), (c, q)
            c, m, q = W.shape
            found = (S @ W.transpose(1, 0, 2).reshape(m, c * q)).reshape(-1, c, q) + b
            squares = ((found - Y[:, None, :]) ** 2).sum(axis=0)
            self.errors = squares if self.errors is None else self.errors + squares
            self.n_judged += len(S)
        self.sums.add(S, Y)
        return self

    def solve(self) -> tuple[Array, Array, Array]:
        """The readout of all steps so far.

        Returns
        -------
        coefficients : ndarray (m, q)
        intercept : ndarray (q,)
        penalties : ndarray (q,)
            λ or α of every output.
        """
        self._candidates = None
        q = self.sums.cross_products.shape[1]
        if not self.chooses:
            W, b = self._solved([self.regularization])
            return W[0], b[0], np.full(q, self.regularization)
        grid = self._grid(self._projected()[0])
        best = np.full(q, min(_UNTRIED, len(grid) - 1)) if self.errors is None else _smoothest(self.errors, grid)
        used, place = np.unique(best, return_inverse=True)
        W, b = self._solved(grid[used])
        outputs = np.arange(q)
        return W[place, :, outputs].T, b[place, outputs], grid[best]

    def tuning(self, scale: Array) -> dict[str, Array] | None:
        """What was tried: penalties (c,), and root mean squares (c, q) of the outputs in units of ``scale`` (q,)."""
        if self.errors is None:
            return None
        roots = np.sqrt(self.errors / self.n_judged) * scale
        return {"regularization": self._grid(self._projected()[0]), "error": roots}

    # Inside ------------------------------------------------------------------------------------------------

    def _projected(self) -> tuple[NormalEquations, Array | None]:
        if self.projection is None:
            return self.sums, None
        P = self.projection(self.sums)
        return self.sums.mapped(P), P

    def _grid(self, sums: NormalEquations) -> Array:
        """The penalties that are tried, in units that follow the sums as they grow."""
        if self.kind == "ridge":
            return RELATIVE_RIDGES * (float(np.trace(sums.feature_products)) or 1.0)
        largest = float(np.abs(sums.cross_products).max(initial=0.0)) / (sums.weight * _L1_RATIO[self.kind])
        return _RELATIVE_ALPHAS * (largest or 1.0)

    def _solved(self, penalties: Any) -> tuple[Array, Array]:
        """Coefficients (c, m, q) and intercepts (c, q) for each penalty; for None those of the grid."""
        sums, P = self._projected()
        trial = penalties is None
        penalties = self._grid(sums) if trial else np.asarray(penalties, np.float64)
        if self.kind in _L1_RATIO:
            # A chosen α is as good as it was judged, settled or not; of a given one the user is told.
            path = penalties if not self.chooses else self._grid(sums)
            W = _sparse_solutions(sums, path, _L1_RATIO[self.kind], quiet=self.chooses)
            W = W if not self.chooses else W[np.isin(path, penalties)]
            b = sums.target_mean - sums.feature_mean @ W
        elif len(penalties) == 1:
            W, b = (part[None] for part in sums.solve(float(penalties[0])))
        else:
            W, b = sums.solve(penalties)
        return (W if P is None else P @ W), b


def _smoothest(errors: Array, penalties: Array) -> Array:
    """The place (q,) of the largest penalty of each output whose error is the least but for rounding."""
    least = errors <= (1 + _TIED) * errors.min(axis=0)
    return np.where(least, penalties[:, None], -np.inf).argmax(axis=0)


def principal_directions(covariance: Array, n_components: int) -> tuple[Array, Array]:
    """The leading eigenvectors (n, d) of a covariance and their eigenvalues (d,), without those of no variance.

    The entry of largest size is positive in each, so that runs repeat.
    """
    n = len(covariance)
    values, vectors = eigh(covariance, subset_by_index=[n - n_components, n - 1], check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    keep = values > _NEGLIGIBLE * max(float(values[0]), 0.0)
    keep[0] = True
    vectors = vectors[:, keep]
    return vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]), values[keep]


def named_regressor(readout: str, regularization: float | None) -> Any:
    """The regressor of a readout that is not learned from sums.

    ``regularization`` becomes 1 / C or 1 / γ, so that larger is smoother. None is C = 10, for targets of deviation 1,
    and leave-one-out for the LS-SVM.
    """
    if readout == "ls_svm":
        from gramian.lssvm import LSSVMRegressor

        return LSSVMRegressor(
            regularization=None if regularization is None else _inverse(regularization), random_state=0
        )
    from sklearn.svm import NuSVR

    C = 10.0 if regularization is None else _inverse(regularization)
    return NuSVR(C=C, kernel="linear" if readout == "linear_nu_svr" else "rbf")


def fitted_regressor(readout: Any, regularization: float | None, S: Array, Y: Array) -> Any:
    """A regressor for all outputs, by name or a clone of the given one, fitted on the rows of S."""
    regressor = named_regressor(readout, regularization) if isinstance(readout, str) else clone(readout)
    if Y.shape[1] == 1:
        return regressor.fit(S, Y[:, 0])
    if not get_tags(regressor).target_tags.multi_output:
        from sklearn.multioutput import MultiOutputRegressor

        regressor = MultiOutputRegressor(regressor)
    return regressor.fit(S, Y)


def check_readout(readout: Any) -> None:
    """Refuse what is neither a name nor a regressor."""
    if isinstance(readout, str) and readout in NAMES:
        return
    if isinstance(readout, (str, type)) or not (hasattr(readout, "fit") and hasattr(readout, "predict")):
        raise ValueError(f"readout={readout!r} is not known; pass a regressor or one of {', '.join(map(repr, NAMES))}")


def _inverse(regularization: float) -> float:
    if not is_real(regularization) or regularization <= 0:
        raise ValueError(f"regularization={regularization!r} must be > 0 for this readout, or 'auto'")
    return 1.0 / regularization


def _sparse_solutions(sums: NormalEquations, alphas: Array, l1_ratio: float, *, quiet: bool) -> Array:
    """Lasso or elastic net for every α, (c, m, q), from the sums.

    With SᵀS = V Λ Vᵀ the m rows Λ^½ Vᵀ and the targets Λ^−½ Vᵀ Sᵀy have the same products as the n steps, and so the
    same solutions.
    """
    from sklearn.linear_model import enet_path

    values, vectors = eigh(sums.feature_products, check_finite=False)
    keep = values > _NEGLIGIBLE * max(float(values[-1]), 0.0)
    if not keep.any():
        return np.zeros((len(alphas), *sums.cross_products.shape))
    roots = np.sqrt(values[keep])
    rows = np.asfortranarray(roots[:, None] * vectors[:, keep].T)
    targets = (vectors[:, keep].T @ sums.cross_products) / roots[:, None]
    # enet_path divides the squares by the number of rows, here the rank instead of the number of steps.
    order = np.argsort(-alphas)
    scaled = alphas[order] * sums.weight / len(rows)
    out = np.empty((len(alphas), *sums.cross_products.shape))
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore", ConvergenceWarning)
        for j, y in enumerate(targets.T):
            path = enet_path(rows, y, l1_ratio=l1_ratio, alphas=np.maximum(scaled, 1e-300), max_iter=5000, tol=1e-8)[1]
            out[order, :, j] = path.T
    return out
