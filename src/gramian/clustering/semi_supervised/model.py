"""The scores of semi-supervised clustering as functions of x, fitted in similarities or in features.

:class:`gramian.SemiSupervisedKSC` makes one of the two and asks it for the scores of rows. What the solution is, a
minimum or a saddle, and how near it is to a resonance, is found and said here.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgWarning

from gramian.clustering.semi_supervised.choice import Choice
from gramian.clustering.semi_supervised.feature_sums import Columns, LabelSums
from gramian.clustering.semi_supervised.labels import Labels
from gramian.clustering.semi_supervised.response import NEAR_SINGULAR, LabelForces, Response, walk_weights
from gramian.grams import Gram
from gramian.kernels import Expansion, Kernel
from gramian.typing import Array, Matrix

_ROUNDING = {8: 1e-10, 4: 1e-5}  # negative eigenvalues of a kernel matrix, as a share of its trace, that are rounding


@dataclass
class ScoreModel:
    """e(x) = Σ_i k(x, x_i) α_i + b, or e(x) = φ(x)·w + b, and what is known of the rows it was fitted to.

    Attributes
    ----------
    kernel : fitted Kernel
    expansion : Expansion or None
        e − b, where it is a sum over rows or landmarks.
    coefficients : ndarray (n, q) or (m, q)
        α, or w where there are features.
    intercept : ndarray (q,)
    scores : ndarray (n, q)
        Of the fitted rows.
    left_out : ndarray (l, q)
        Of the labelled rows, each without its own label.
    is_convex : bool
    reciprocal_condition : float
    sums : LabelSums or None
        Where there are features; a stream goes on from them.
    """

    kernel: Kernel
    expansion: Expansion | None
    coefficients: Array
    intercept: Array
    scores: Array
    left_out: Array
    is_convex: bool
    reciprocal_condition: float
    sums: LabelSums | None = None

    def __call__(self, X: Matrix) -> Array:
        """Scores of checked rows, shape (n, q), in their dtype."""
        if self.expansion is not None:
            values = self.expansion.unchecked(X)
        else:
            values = self.kernel._streamed(X).product(self.coefficients.astype(X.dtype))
        values += self.intercept.astype(values.dtype)
        return values

    # By features -------------------------------------------------------------------------------------------

    @classmethod
    def of_features(
        cls, kernel: Kernel, X: Matrix, labels: Labels, choice: Choice, sums: LabelSums | None = None
    ) -> ScoreModel:
        """From sums over the features of the rows, added to those of rows before."""
        columns = Columns(kernel)
        factor = columns.of(X)
        if sums is None:
            signs = np.ones(kernel._n_features(X)) if kernel.feature_signs is None else kernel.feature_signs
            sums = LabelSums(signs, approximate=kernel.approximate, mapping=columns.mapping)
        sums.count(chunk for _, chunk in factor.chunks())
        for rows, chunk in factor.chunks():
            here = (labels.rows >= rows.start) & (labels.rows < rows.stop)
            places = labels.rows[here] - rows.start
            sums.add(chunk, places, labels.targets[here], smooth=choice.smoothness > 0)
        solution = sums.solve(choice.smoothness, choice.label_weight)
        if solution.reciprocal_condition < NEAR_SINGULAR[X.dtype.itemsize]:
            _warn_resonance(choice, None)
        coef, intercept = solution.coef, solution.intercept
        expansion = None
        if hasattr(kernel, "landmark_coefficients"):  # similarities to landmarks cost less than features
            weights = kernel.landmark_coefficients(coef)
            expansion = Expansion(kernel.kernel_, kernel.landmarks_, weights)
        return cls(
            kernel,
            expansion,
            coef,
            intercept,
            factor.product(solution.column_coef.astype(factor.dtype)) + intercept.astype(factor.dtype),
            solution.left_out(factor.chunk_of(labels.rows), labels.targets),
            solution.is_convex,
            solution.reciprocal_condition,
            sums,
        )

    # By similarities ---------------------------------------------------------------------------------------

    @classmethod
    def of_similarities(cls, kernel: Kernel, gram: Gram, X: Matrix, labels: Labels, choice: Choice) -> ScoreModel:
        """From the Gram of all rows."""
        left_out = np.full(labels.targets.shape, np.nan)
        if choice.smoothness == 0:
            return cls._of_labelled(kernel, gram, X, labels, choice)
        weights = walk_weights(gram.degrees(), approximate=kernel.approximate)
        used = weights[labels.rows] > 0
        if not used.all() or (weights == 0).any():
            _warn_isolated(int((weights == 0).sum()), int((~used).sum()))
        labels = labels.restricted(used)
        if not len(labels.rows):
            raise ValueError("no labelled row of X is similar to another row; widen the kernel or raise n_neighbors")
        response = Response.beside_resonances(gram, weights, choice.smoothness, labels.rows)
        forces = _forces(response.block, response.repulsion, labels, choice)
        condition = min(response.reciprocal_condition, forces.reciprocal_condition)
        if response.smoothness != choice.smoothness:
            _warn_resonance(choice, response)
        elif condition < NEAR_SINGULAR[gram.dtype.itemsize]:
            _warn_balance(choice)
        alpha = response.coefficients(forces).astype(gram.dtype)
        scores = response.scores(forces).astype(gram.dtype)
        share = weights / weights.sum()
        intercept = share @ (scores - gram @ alpha)
        left_out[used] = forces.left_out
        convex = _is_convex(kernel, gram, response, forces, choice)
        expansion = Expansion(kernel, X, alpha, gram=gram)
        return cls(kernel, expansion, alpha, intercept, scores, left_out, convex, condition)

    @classmethod
    def _of_labelled(cls, kernel: Kernel, gram: Gram, X: Matrix, labels: Labels, choice: Choice) -> ScoreModel:
        """Without smoothness: the LS-SVM of the labelled rows, whose other coefficients are zero."""
        forces = _forces(gram.block(labels.rows, labels.rows).astype(np.float64), 0.0, labels, choice)
        condition = forces.reciprocal_condition
        if condition < NEAR_SINGULAR[gram.dtype.itemsize]:
            _warn_balance(choice)
        alpha = np.zeros((labels.n, labels.targets.shape[1]), gram.dtype)
        alpha[labels.rows] = forces.forces
        intercept = forces.level
        if kernel.pairwise:
            expansion = Expansion(kernel, X, alpha)
        else:
            expansion = Expansion(kernel, X[labels.rows], alpha[labels.rows])
        scores = gram @ alpha + intercept.astype(gram.dtype)
        convex = forces.system.method == "cholesky" and (kernel.definite or _is_definite(gram))
        return cls(kernel, expansion, alpha, intercept, scores, forces.left_out, convex, condition)


def _forces(block: Array, repulsion: float, labels: Labels, choice: Choice) -> LabelForces:
    try:
        return LabelForces(block, repulsion, labels.targets, choice.label_weight)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"label_weight={choice.label_weight:g} leaves a singular system at smoothness={choice.smoothness:g}; "
            "change it a little, or raise it"
        ) from error


def _is_convex(kernel: Kernel, gram: Gram, response: Response, forces: LabelForces, choice: Choice) -> bool:
    """Whether the primal Hessian in (w, b) is positive definite, from the signs of eigenvalues.

    Without labels it has as many negative directions as K has negative eigenvalues and S has eigenvalues above 1/γ₁,
    and one more, the intercept. Labels turn as many of them as the labels turn.
    """
    turned = forces.n_negative
    if turned < 1:
        return False
    negative = 1
    if response.is_definite is not True:
        k = min(turned, gram.shape[0])
        negative += int((response.operator.eigenpairs(k)[0] > 1 / choice.smoothness).sum())
    if negative <= turned and not kernel.definite and not _is_definite(gram):
        negative += max(gram.signature().n_negative, 1)
    return negative == turned


def _is_definite(gram: Gram) -> bool:
    """Whether a Cholesky factor of K exists, up to rounding."""
    size = max(abs(gram.trace()), float(np.finfo(gram.dtype).tiny))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)
            gram.factorization(_ROUNDING[gram.dtype.itemsize] * size, "cholesky")
    except np.linalg.LinAlgError:
        return False
    return True


def _warn_resonance(choice: Choice, response: Response | None) -> None:
    near = ""
    if response is not None:
        values = response.operator.eigenpairs(response.operator.shape[0])[0]
        nearest = float(values[np.argmin(np.abs(values - 1 / choice.smoothness))])
        near = f", the clustering operator having the eigenvalue {nearest:.8g}, near 1/smoothness"
    warnings.warn(
        f"smoothness={choice.smoothness:.8g} and label_weight={choice.label_weight:g} are at a resonance{near}: the "
        "scores have few correct digits; pass another smoothness, one below 1 is safe for similarities >= 0",
        LinAlgWarning,
        stacklevel=4,
    )


def _warn_balance(choice: Choice) -> None:
    warnings.warn(
        f"label_weight={choice.label_weight:g} leaves the system near singular at smoothness={choice.smoothness:g}: "
        "the scores may have few correct digits; pass another label_weight",
        LinAlgWarning,
        stacklevel=4,
    )


def _warn_isolated(count: int, labelled: int) -> None:
    warnings.warn(
        f"{count} rows are similar to no other row, so their class is unknown; {labelled} of them have a label, which "
        "helps no other row; widen the kernel or raise n_neighbors",
        UserWarning,
        stacklevel=4,
    )
