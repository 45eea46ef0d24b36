"""The labels of some rows as ±1 targets, and the names of classes that rows are given.

:class:`gramian.SemiSupervisedKSC` and its choice of parameters use them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from gramian.checks import check_classes, check_partial_classes
from gramian.typing import Array


@dataclass(frozen=True)
class Labels:
    """Which rows are labelled, and how.

    Attributes
    ----------
    n : int
        Number of rows.
    rows : ndarray of int (l,)
        The labelled ones.
    classes : ndarray (k,)
        Sorted; the numbers of the columns for labels in several columns.
    codes : ndarray of int (l,) or (l, q)
        The number of each labelled row's class, or its labels 0 and 1 in several columns.
    targets : ndarray (l, q)
        c: ±1, one column for two classes, one for each class against the others, or one for each column.
    """

    n: int
    rows: Array
    classes: Array
    codes: Array
    targets: Array

    @classmethod
    def of(cls, y: Any, n: int, classes: Array | None = None, *, several: bool | None = None) -> Labels:
        """Labels as the user gave them.

        With ``classes`` they are a part of a stream, which may lack some of them, or all; ``several`` says whether the
        stream began with several columns.
        """
        if classes is not None and not _any_label(y, n):
            k = len(classes)
            codes = np.empty((0, k) if several else 0, np.intp)
            return cls(n, np.empty(0, np.intp), classes, codes, np.empty((0, k if several else _columns(k))))
        known, labels = check_partial_classes(y, n)
        rows = np.flatnonzero(known)
        columns = labels.shape[1] if labels.ndim == 2 else 1
        if several is not None and columns != (begun := len(classes) if several and classes is not None else 1):
            raise ValueError(f"y has {columns} columns, but {begun} on the first call to partial_fit; pass as many")
        if labels.ndim == 2:
            return cls(n, rows, np.arange(columns), labels, 2.0 * labels - 1)
        found, codes = check_classes(labels, len(labels), least=1)
        if classes is None and len(found) < 2:
            raise ValueError(
                f"y has one labelled class only, {found.tolist()[0]!r}; label rows of at least two classes, or cluster "
                "without labels by gramian.SpectralClustering"
            )
        if classes is None:
            classes = found
        elif len(strange := found[~np.isin(found, classes)]):
            raise ValueError(
                f"y has the class {strange.tolist()[0]!r}, which is not among the classes of the first call to "
                f"partial_fit, {classes.tolist()}; name all classes there"
            )
        else:
            codes = np.searchsorted(classes, found)[codes]
        return cls(n, rows, classes, codes, targets_of(codes, len(classes)))

    @property
    def several(self) -> bool:
        """Whether a row may have several labels."""
        return self.codes.ndim == 2

    def restricted(self, kept: Array) -> Labels:
        """With some of the labelled rows only, given as a mask or as places among them."""
        return replace(self, rows=self.rows[kept], codes=self.codes[kept], targets=self.targets[kept])


def targets_of(codes: Array, k: int) -> Array:
    """±1 of class numbers: one column for two classes, else one for each class against the others."""
    if k == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(k), 1.0, -1.0)


def hidden_names(classes: Array, count: int) -> Array:
    """Classes followed by names for clusters that no label belongs to."""
    if not count:
        return classes
    if classes.dtype.kind in "iuf":
        first = classes.max() if classes.dtype.kind == "f" else int(classes.max())  # 255 + 1 in 8 bits would be 0
        return np.concatenate([classes, first + 1 + np.arange(count)])
    taken = set(classes.tolist())
    names = (name for i in range(1, count + len(taken) + 1) if (name := f"hidden {i}") not in taken)
    return np.concatenate([classes, np.array(list(islice(names, count)), dtype=object)])


def _columns(k: int) -> int:
    return 1 if k == 2 else k


def _any_label(y: Any, n: int) -> bool:
    try:
        check_partial_classes(y, n)
    except ValueError as error:
        if "y has no label" in str(error):
            return False
        raise
    return True
