"""Classes of a classifier that may see them in pieces: codes, ±1 targets, weights and decisions.

Used by all classifiers of this folder.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from gramian.checks import check_classes, is_real
from gramian.typing import Array, Matrix


class Decided:
    """A classifier that decides by signs or largest values; its last base, for the others may have ``_values``."""

    classes_: Array

    @abstractmethod
    def _values(self, X: Matrix) -> Array:
        """f of new rows, shape (n, q)."""

    def decision_function(self, X: Matrix) -> Array:
        """f of new rows: above zero is the second of two classes, the largest the class of several.

        Parameters
        ----------
        X : array-like or sparse (n, d)

        Returns
        -------
        values : ndarray (n,) for two classes, else (n, k)
        """
        values = self._values(X)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Matrix) -> Array:
        """The class of new rows.

        Parameters
        ----------
        X : array-like or sparse (n, d)

        Returns
        -------
        y : ndarray (n,)
        """
        return decoded(self.decision_function(X), self.classes_)


def counted_classes(y: Any, n: int, weights: Array | None) -> tuple[Array, Array]:
    """Sorted classes of the rows whose weight is not zero, and the number of each row's; the other rows have 0.

    Parameters
    ----------
    y : array-like (n,)
    n : int
    weights : ndarray (n,), optional
    """
    classes, codes = check_classes(y, n)
    if weights is None or (weights > 0).all():
        return classes, codes
    used = weights > 0
    classes, kept = check_classes(np.asarray(y)[used], int(used.sum()))
    codes = np.zeros(n, np.intp)
    codes[used] = kept
    return classes, codes


def class_codes(
    owner: Any, y: Any, n: int, classes: Any, weights: Array | None = None, *, stream: bool
) -> tuple[Array, Array]:
    """The number of each row's class, and all classes, sorted.

    Parameters
    ----------
    owner : estimator
        Whose ``classes_`` count where a stream has begun.
    y : array-like (n,)
    n : int
    classes : array-like (k,), optional
        What the user says the classes are, at the first call of ``partial_fit``.
    weights : ndarray (n,), optional
        Rows of weight zero name no class, but in a stream, which says what its classes are.
    stream : bool
        Whether the call is one of ``partial_fit``.
    """
    if not stream:
        known, codes = counted_classes(y, n, weights)
        return codes, known
    begun: Array | None = getattr(owner, "classes_", None)
    if classes is None:
        if begun is None:
            raise ValueError("classes must be passed on the first call to partial_fit: all that will ever come in y")
    else:
        named = np.unique(np.asarray(classes))
        if begun is not None and not np.array_equal(named, begun):
            raise ValueError(
                f"classes={named.tolist()} is not the same as on the first call to partial_fit: {begun.tolist()}"
            )
        if len(named) < 2:
            raise ValueError(f"classes={named.tolist()} is one class only; a classifier needs at least two")
        begun = named
    assert begun is not None
    here, codes = check_classes(y, n, least=1)
    strange = here[~np.isin(here, begun)]
    if len(strange):
        raise ValueError(
            f"y has the class {strange.tolist()[0]!r}, which is not among the classes of the first call to "
            f"partial_fit, {begun.tolist()}; name all classes there"
        )
    return np.searchsorted(begun, here)[codes], begun


def plus_minus(codes: Array, k: int) -> Array:
    """±1 targets: one column for two classes, else a column for each class against the others."""
    if k == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(k), 1.0, -1.0)


def class_weighted(owner: Any, codes: Array, classes: Array, weights: Array | None, *, stream: bool) -> Array | None:
    """The weights of the rows times those of their classes."""
    asked = owner.class_weight
    if asked is None:
        return weights
    if not isinstance(asked, dict) and not (isinstance(asked, str) and asked == "balanced"):
        raise ValueError(f"class_weight={asked!r} must be a dict of classes and weights, 'balanced' or None")
    if isinstance(asked, str):
        if stream:
            raise ValueError(
                "class_weight='balanced' needs all rows at once, which partial_fit never has; pass a dict of weights"
            )
        counts = np.bincount(codes, weights, minlength=len(classes))
        factors = counts.sum() / (len(classes) * np.where(counts > 0, counts, 1.0))
    else:
        unknown = [name for name in asked if name not in classes]
        if unknown:
            raise ValueError(
                f"class_weight names {unknown[0]!r}, which is not a class of y; the classes are {classes.tolist()}"
            )
        for name, value in asked.items():
            if not is_real(value) or not 0 <= float(value) < np.inf:
                raise ValueError(f"class_weight of class {name!r} is {value!r}; pass a finite number >= 0")
        factors = np.array([float(asked.get(label, 1.0)) for label in classes.tolist()])
        if (factors > 0).sum() < 2:
            raise ValueError(f"class_weight={asked!r} leaves fewer than two classes with a weight; pass positive ones")
    rows = factors[codes]
    out = rows if weights is None else rows * weights
    if not out.any():
        raise ValueError("class_weight and sample_weight leave no row with a weight; pass a positive one")
    return np.asarray(out)


def decoded(values: Array, classes: Array) -> Array:
    """The class of decision values (n,) or (n, k); zero is the second of two classes."""
    return np.asarray(classes[(values >= 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)])
