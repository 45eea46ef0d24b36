"""How the scores of all rows answer to the labels of some: the linear systems of semi-supervised clustering.

With d the degrees and v = 1/d, the scores e = K α + b of MSS-KSC have α = γ₁ v e + a, where a = γ₂ (c − e) is the force
of the labels c and zero elsewhere. For a given smoothness γ₁ the scores are linear in the forces,

    e = G₀ a + b₀,    G₀ = V^-½ (I − γ₁ S)⁻¹ S V^-½,    b₀ = −1ᵀa / (γ₁ 1ᵀv),    S = Π V^½ K V^½ Π,

S being the operator of kernel spectral clustering. The labelled rows obey a = γ₂ (c − e) themselves: an LS-SVM with the
kernel G₀, so that every label weight and every label left out comes from a small system. The n×n one, I/γ₁ − S, is
symmetric, and definite as long as 1/γ₁ is above the largest eigenvalue of S, which is below 1 for similarities >= 0.
:class:`gramian.SemiSupervisedKSC` and its choice of parameters stand on this.
"""

from __future__ import annotations

import warnings
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgWarning

from gramian.grams import DenseGram, Gram
from gramian.typing import Array

NEAR_SINGULAR = {8: 1e-8, 4: 1e-4}
"""Reciprocal condition, by the bytes of a number, below which a resonance is named."""

_LEAST_DEGREE = 1e-3  # of the median degree, for rows that no landmark is near
_ROUNDING = 1e-10


def walk_weights(degrees: Array, *, approximate: bool = False) -> Array:
    """v = 1/d, with 0 for rows that are like no row.

    Parameters
    ----------
    degrees : ndarray (n,)
        d, sums of similarities.
    approximate : bool
        Whether these approximate others >= 0, as those by landmarks do: a row far from all landmarks then has a degree
        near zero, or below, and is given a thousandth of the median one.

    Returns
    -------
    weights : ndarray (n,), float64

    Examples
    --------
    >>> import numpy as np
    >>> walk_weights(np.array([2.0, 0.0, 4.0]))
    array([0.5 , 0.  , 0.25])
    """
    degrees = degrees.astype(np.float64)
    if approximate and (middle := float(np.median(degrees))) > 0:
        degrees = np.maximum(degrees, _LEAST_DEGREE * middle)
    tolerance = _ROUNDING * float(np.abs(degrees).max(initial=0.0))
    if (negative := degrees < -tolerance).any():
        raise ValueError(
            f"the kernel gives {int(negative.sum())} of {len(degrees)} rows a negative sum of similarities, but the "
            "random walk divides by these sums; use a kernel with values >= 0, such as 'rbf', or pass smoothness=0"
        )
    alone = degrees <= tolerance
    if alone.all():
        raise ValueError("no row of X is similar to another row; widen the kernel or raise n_neighbors")
    return np.asarray(np.where(alone, 0.0, 1.0) / np.where(alone, 1.0, degrees))


class LabelForces:
    """The forces a of the labels for one label weight γ₂, and the scores with each label left out.

    With T = G₀ + I/γ₂, η = T⁻¹ 1 and s = 1ᵀη they are a = T⁻¹ c − η b₀ with the level b₀ = ηᵀ c / (s − ρ): an LS-SVM
    with the kernel G₀ whose intercept is pushed away from zero by ρ. Without smoothness ρ is 0.

    Parameters
    ----------
    block : ndarray (l, l)
        G₀ between the labelled rows.
    repulsion : float
        ρ = γ₁ 1ᵀv.
    targets : ndarray (l, q)
        c.
    label_weight : float
        γ₂.

    Attributes
    ----------
    forces : ndarray (l, q)
        a.
    level : ndarray (q,)
        b₀.
    """

    def __init__(self, block: Array, repulsion: float, targets: Array, label_weight: float) -> None:
        self.targets = targets.astype(np.float64)
        self.repulsion, self.label_weight = repulsion, label_weight
        self.gram = DenseGram((block + block.T) / 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)  # the caller says it in the user's words
            self.system = self.gram.factorization(1 / label_weight)
        solved = self.system.solve(np.column_stack([np.ones(len(block)), self.targets]))
        self.eta = solved[:, 0]
        self.hold = float(self.eta.sum()) - repulsion
        if self.hold == 0:
            raise np.linalg.LinAlgError("the labels balance the repulsion of the intercept exactly")
        self.level = np.asarray(self.eta @ self.targets / self.hold)
        self.forces = np.asarray(solved[:, 1:] - self.eta[:, None] * self.level)

    @cached_property
    def inverse_diagonal(self) -> Array:
        """The diagonal of the inverse of the system of a: (T⁻¹)_ii − η_i² / (s − ρ)."""
        return np.asarray(self.system.inverse_diagonal() - self.eta**2 / self.hold)

    @property
    def left_out(self) -> Array:
        """Scores of the labelled rows with each label taken away in turn, shape (l, q).

        The row stays where it is, without its label: c_i − a_i / (inverse)_ii.
        """
        diagonal = self.inverse_diagonal[:, None]
        return self.targets - self.forces / np.where(diagonal == 0, np.nan, diagonal)

    @property
    def is_safe(self) -> bool:
        """Whether the solution is a minimum, if K is definite and γ₁ small, and stays one when a label is taken away.

        Labels of too little weight, s < ρ, do not hold the intercept, and scores turn against the labels. A label taken
        away may cross that border while all together do not; its row is then predicted right for this reason alone.
        """
        return self.system.method == "cholesky" and self.hold > 0 and bool((self.inverse_diagonal > 0).all())

    @property
    def n_negative(self) -> int:
        """How many negative directions the labels turn: negative eigenvalues of T − 1 1ᵀ/ρ, or of T where ρ is 0."""
        values = self.gram.eigenpairs(len(self.eta))[0] if self.system.method != "cholesky" else np.zeros(0)
        negative = int((values + 1 / self.label_weight < 0).sum())
        if self.repulsion == 0:
            return negative
        # A rank-one term −1 1ᵀ/ρ adds one negative eigenvalue where 1 − 1ᵀT⁻¹1/ρ is negative.
        return negative + (1 if self.hold > 0 else 0)

    @property
    def reciprocal_condition(self) -> float:
        """Of T, and how far s and ρ are apart."""
        apart = abs(self.hold) / (abs(self.hold + self.repulsion) + self.repulsion)
        return min(float(self.system.reciprocal_condition), apart)


class Response:
    """G₀ of a Gram for one smoothness γ₁ > 0, from one factorization.

    Parameters
    ----------
    gram : Gram
        K of all rows.
    weights : ndarray (n,)
        v = 1/d; a row of weight 0 is like no other, and must not be labelled.
    smoothness : float
        γ₁.
    labelled : ndarray of int (l,)
        L.

    Attributes
    ----------
    block : ndarray (l, l)
        G₀ between the labelled rows.
    repulsion : float
        γ₁ 1ᵀv.
    is_definite : bool or None
        Whether I/γ₁ − S is known to be positive definite; None where the method does not tell.
    reciprocal_condition : float
        Of I/γ₁ − S: near zero, 1/γ₁ is an eigenvalue of S.
    """

    def __init__(self, gram: Gram, weights: Array, smoothness: float, labelled: Array) -> None:
        self.smoothness, self.labelled = smoothness, labelled
        self.weights = weights
        self.operator = gram.weighted_centered(self.weights)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)  # the caller says it in the user's words
            self.system = self.operator.scaled(-1.0).factorization(1 / smoothness)
        # The n×l columns of S: features where the view has them, entries of K otherwise.
        columns = self.operator.block(slice(0, gram.shape[0]), labelled)
        solved = self.system.solve(columns).astype(np.float64, copy=False) / smoothness
        roots = np.where(weights > 0, 1.0, 0.0) / np.sqrt(np.where(weights > 0, weights, 1.0))
        solved *= roots[:, None]
        solved *= roots[labelled]
        self._answers = solved
        self.block = solved[labelled]
        self.repulsion = smoothness * float(weights.sum())

    @classmethod
    def beside_resonances(cls, gram: Gram, weights: Array, smoothness: float, labelled: Array) -> Response:
        """The same, with γ₁ moved a little where 1/γ₁ is an eigenvalue of S; ``smoothness`` is then another.

        The scores pass smoothly through such a place as long as labels hold them, but digits are lost on the way there.
        """
        least = NEAR_SINGULAR[gram.dtype.itemsize]
        try:
            response = cls(gram, weights, smoothness, labelled)
            if response.reciprocal_condition >= least:
                return response
        except np.linalg.LinAlgError:
            pass
        moved = (cls(gram, weights, smoothness * (1 + step), labelled) for step in (-least, least))
        return max(moved, key=lambda response: response.reciprocal_condition)

    @property
    def is_definite(self) -> bool | None:
        return {"cholesky": True, "ldl": False}.get(self.system.method)

    @property
    def reciprocal_condition(self) -> float:
        return float(self.system.reciprocal_condition)

    def scores(self, labels: LabelForces) -> Array:
        """e = G₀ a + b₀ of all rows."""
        return np.asarray(self._answers @ labels.forces + labels.level)

    def coefficients(self, labels: LabelForces) -> Array:
        """α = γ₁ v e + a, shape (n, q), whose columns sum to zero."""
        alpha = self.smoothness * self.weights[:, None] * self.scores(labels)
        alpha[self.labelled] += labels.forces
        return alpha
