"""Numbers bent so that they are normal within classes.

Incomes and durations are skewed within every group. A mixture of normals takes two classes for each of them, and so
counts too many. Whether a column is skewed because of its groups or within them is seen only once there are classes:
so mixtures are fitted, columns are bent as suits them, and mixtures are fitted again. Used for tables with categories.
"""

from __future__ import annotations

import numpy as np

from gramian.clustering.automatic.class_tables import Classes, ClassTable, completed, fit_all
from gramian.clustering.automatic.variables import Variables, bent
from gramian.typing import Array

_BENDS = np.concatenate([-np.geomspace(0.1, 1.6, 13)[::-1], [0.0], np.geomspace(0.1, 1.6, 13)])
_ROUNDS = 3
_PILE = 0.05  # of the rows


def bends_within_classes(variables: Variables, rows: float, rng: np.random.Generator, *, max_classes: int) -> Array:
    """The bend α of each column of numbers, 0 where it is normal within classes as it is.

    Of y = log(1 + α z) / α, the α of largest likelihood −½ n log(within-class variance of y) + Σᵢ log(dy/dz)ᵢ is taken
    if that exceeds the likelihood of α = 0 by log e, for e effective rows. A column with a twentieth of its rows at its
    lowest or highest value, as where most pay nothing, is not bent: that would move the pile away from the others, and
    make classes of rows in it and rows out of it.

    Parameters
    ----------
    variables : Variables
    rows : float
        Effective number of rows.
    rng : Generator
    max_classes : int

    Returns
    -------
    bends : ndarray (d,)
    """
    bends = np.zeros(variables.numbers.shape[1])
    for _ in range(_ROUNDS):
        if not len(bends):
            break
        columns = [_standard(bent(column, bend)) for column, bend in zip(variables.numbers.T, bends, strict=True)]
        current = Variables(np.column_stack(columns), variables.codes, variables.sizes, variables.categories)
        fits, gains = fit_all(ClassTable(completed(current)), rows, max_classes, rng, back=False)
        found = fits[int(gains.argmax()) + 1]
        new = np.array([_best(column, found, j, rows) for j, column in enumerate(variables.numbers.T)])
        if (new == bends).all():
            break
        bends = new
    return bends


def _best(column: Array, found: Classes, j: int, rows: float) -> float:
    known = ~np.isnan(column)
    z, gamma = column[known], found.posteriors[known]
    if max(np.mean(z == z.min()), np.mean(z == z.max())) > _PILE:
        return 0.0
    spread = found.parameters.covariances[:, j, j]
    sizes = spread / np.exp(np.log(spread) @ found.parameters.weights)
    likelihoods = np.array([_likelihood(z, gamma, sizes, float(bend)) for bend in _BENDS]) * rows / len(column)
    best = int(likelihoods.argmax())
    return float(_BENDS[best]) if likelihoods[best] > likelihoods[_BENDS == 0][0] + np.log(rows) else 0.0


def _likelihood(z: Array, gamma: Array, sizes: Array, bend: float) -> float:
    """Profile log-likelihood of a bend, given the classes and their sizes."""
    y = bent(z, bend)
    means = gamma.T @ y / np.maximum(gamma.sum(axis=0), 1e-9)
    variance = float(((y[:, None] - means) ** 2 / sizes * gamma).sum() / len(y))
    slopes = bent(z, bend, slope=True)
    return -0.5 * len(y) * float(np.log(max(variance, 1e-12))) + float(np.log(slopes).sum())


def _standard(column: Array) -> Array:
    scaled: Array = (column - np.nanmean(column)) / np.nanstd(column)
    return scaled
