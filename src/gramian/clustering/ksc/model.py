"""The model of kernel spectral clustering: weighted kernel PCA and its scores e(x) = Σ_i α_i k(x, x_i) + b.

:class:`Eigenproblem` holds α, b and the eigenvalues of a Gram of any kind; :class:`ScoreModel` gives the scores of new
rows by kernel evaluations. Both know nothing of clusters; the estimators of the family stand on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramian.clustering.ksc.degrees import Degrees
from gramian.grams import Gram
from gramian.kernels import Expansion, Kernel
from gramian.typing import Array, Matrix

_RANK = {8: 1e-9, 4: 1e-5}  # of the largest eigenvalue, by itemsize: smaller ones are rounding


@dataclass(frozen=True)
class Eigenproblem:
    """The leading solutions of D⁻¹ M_D K α = λ α, M_D = I − 1 1ᵀ D⁻¹ / (1ᵀ D⁻¹ 1), with D = diag(d) the degrees.

    Solved as the symmetric Π D^-½ K D^-½ Π β = λ β with Π orthogonal to d^-½, and α = d^-½ β: ``weighted_centered`` of
    a Gram. The facts that others may rely on: 1ᵀα = 0, αᵀ D α = I, and the scores of the fitted samples are
    e = K α + b = λ d α. Of an indefinite K these are the eigenvalues that are largest, not largest in magnitude.

    Attributes
    ----------
    values : ndarray (q,)
        λ, falling; at most 1 for a positive semi-definite kernel with values >= 0. Only positive ones.
    coefficients : ndarray (n, q)
        α; zero for samples that are left out.
    intercept : ndarray (q,)
        b = −(1ᵀ D⁻¹ K α) / (1ᵀ D⁻¹ 1).
    degrees : Degrees
    """

    values: Array
    coefficients: Array
    intercept: Array
    degrees: Degrees

    @classmethod
    def of(cls, gram: Gram, q: int, degrees: Degrees | None = None, *, tol: float | None = 1e-8) -> Eigenproblem:
        """Solve for the q largest eigenvalues; fewer are returned where fewer are positive.

        Parameters
        ----------
        gram : Gram
            Of any kind: dense, features, lazy, sparse or with features that count negative.
        q : int
            One less than the clusters.
        degrees : Degrees, optional
            By default ``Degrees.of(gram)``.
        tol : float, optional
            Accuracy of an iterative solution, see :func:`gramian.grams.eigen.eigenpairs`.

        Raises
        ------
        ValueError
            Where no sample is similar to another, or all are alike.
        """
        degrees = Degrees.of(gram) if degrees is None else degrees
        inside = degrees.inside
        if inside.sum() < 2:
            raise ValueError(
                "no sample is similar to another under this kernel: samples are similar to themselves, or to too few "
                "others, and to nothing else; widen the kernel or raise n_neighbors"
            )
        weights = degrees.weights.astype(gram.dtype)
        view = gram.weighted_centered(weights)
        if tol is not None and gram.dtype == np.float32:
            tol = max(tol, 1e-5)
        values, vectors = view.eigenpairs(min(q, int(inside.sum()) - 1), tol=tol)
        solid = values > _RANK[gram.dtype.itemsize] * max(float(values.max(initial=0.0)), 1e-3)
        if not solid.any():
            raise ValueError(
                "all rows of X are alike under this kernel, so there is nothing to cluster; check X or use another "
                "kernel"
            )
        values = values[solid]
        coefficients = np.sqrt(weights)[:, None] * vectors[:, solid]
        # 1ᵀα = 0 to the last digit: otherwise a constant added to the kernel would move the scores.
        coefficients -= weights[:, None] * (coefficients.sum(axis=0) / weights.sum())
        intercept = -gram.form(coefficients, weights[:, None])[:, 0] / weights.sum()
        return cls(values, coefficients, intercept, degrees)

    def first(self, q: int) -> Eigenproblem:
        """The first q solutions: those of fewer clusters."""
        return replace(
            self,
            values=self.values[:q],
            coefficients=np.ascontiguousarray(self.coefficients[:, :q]),
            intercept=self.intercept[:q],
        )

    def scores(self) -> Array:
        """e = λ d α of the fitted samples, (n, q), without a product; of a sample that is left out b."""
        scores = self.coefficients * (self.values * self.degrees.values[:, None]).astype(self.values.dtype)
        scores[~self.degrees.inside] = self.intercept
        return scores

    def model(self, kernel: Kernel, X: Matrix, gram: Gram | None = None) -> ScoreModel:
        """What gives the scores of new rows.

        Parameters
        ----------
        kernel : fitted Kernel
        X : array or CSR (n, d)
            The fitted samples.
        gram : Gram, optional
            Of X under the kernel; saves computing its features again.
        """
        inside = self.degrees.inside
        columns = np.hstack([self.coefficients, inside[:, None].astype(self.coefficients.dtype)])
        model = ScoreModel(Expansion(kernel, X, columns, gram=gram), self.intercept)
        if self.degrees.rule == "sums":
            # What is left of a row that lies beyond all others is rounding, or less than the rows left out have.
            least = 100 * float(np.finfo(columns.dtype).eps) * float(self.degrees.values.max())
            if gram is not None and not inside.all():
                least = max(least, float((gram @ inside.astype(gram.dtype))[~inside].max()))
            model = replace(model, least_degree=least)
        return model


@dataclass(frozen=True)
class ScoreModel:
    """Scores e(x) = Σ_i α_i k(x, x_i) + b of new rows, and their degrees d(x) = Σ_i k(x, x_i).

    Attributes
    ----------
    expansion : Expansion
        Σ_i α_i k(x, x_i), and d(x) in the last column.
    intercept : ndarray (q,)
        b.
    least_degree : float or None
        A row of at most this degree is similar to no fitted one. None where similarities may be negative: such a row
        has nothing but zeros.
    of_either_sign : bool
        Whether degrees are approximated so that they may be negative; their size counts then.
    """

    expansion: Expansion
    intercept: Array
    least_degree: float | None = None
    of_either_sign: bool = False

    def __call__(self, X: Matrix) -> tuple[Array, Array, Array]:
        """Scores (n_new, q), degrees (n_new,) and a mask of the rows that are similar to no fitted one.

        Parameters
        ----------
        X : array or CSR (n_new, d)
            Checked before.
        """
        values = self.expansion.unchecked(X)
        sums, degrees = values[:, :-1], values[:, -1]
        if self.least_degree is None:
            alone = np.asarray(~values.any(axis=1))
        else:
            alone = np.asarray((np.abs(degrees) if self.of_either_sign else degrees) <= self.least_degree)
        return sums + self.intercept.astype(sums.dtype, copy=False), degrees, alone

    def first(self, q: int) -> ScoreModel:
        """The first q scores."""
        return replace(self, expansion=self.expansion.columns([*range(q), -1]), intercept=self.intercept[:q])
