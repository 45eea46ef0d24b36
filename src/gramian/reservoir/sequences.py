"""Time-ordered rows: one array, a list of arrays, or one array whose ``groups`` say which rows belong together.

:func:`check_sequences` reads any of the three for the estimators of this folder; :class:`Sequences` gives answers back
in the form that the rows came in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_array, validate_data

from gramian.checks import check_targets
from gramian.partitions import refuse_partitions
from gramian.typing import Array

_DTYPES = [np.float64, np.float32]


@dataclass(frozen=True)
class Sequences:
    """Checked sequences.

    Attributes
    ----------
    parts : list of ndarray (T_i, d)
        float64.
    listed : bool
        Whether they came as a list.
    grouped : bool
        Whether they came as one array with groups.
    dtype : dtype
        What answers are given in: float32 if all rows came so.
    """

    parts: list[Array]
    listed: bool
    grouped: bool
    dtype: Any

    @property
    def n_rows(self) -> int:
        """Rows of all sequences together."""
        return sum(len(part) for part in self.parts)

    @property
    def single(self) -> bool:
        """Whether it is one sequence that may go on where another one ended."""
        return not (self.listed or self.grouped)

    def answer(self, parts: list[Array]) -> Any:
        """Rows for each sequence, in the form that the sequences came in."""
        typed = [part.astype(self.dtype, copy=False) for part in parts]
        return typed if self.listed else typed[0] if len(typed) == 1 else np.concatenate(typed)

    def split(self, Y: Array) -> list[Array]:
        """The rows of Y, one for each row of the sequences, sequence by sequence."""
        return np.split(Y, np.cumsum([len(part) for part in self.parts])[:-1])


def is_list(U: Any) -> bool:
    """Whether U is a list of two-dimensional arrays or frames, and not the rows of one."""
    return isinstance(U, (list, tuple)) and len(U) > 0 and all(len(getattr(u, "shape", ())) == 2 for u in U)


def check_sequences(owner: Any, U: Any, groups: Any = None, *, reset: bool, min_rows: int = 1) -> Sequences:
    """Read sequences; the columns are compared with those of ``fit`` unless ``reset``.

    Parameters
    ----------
    owner : estimator
        For messages and columns; not changed.
    U : array-like (T, d) or list of them
    groups : array-like (T,), optional
        Label of the sequence that each row belongs to; rows of one sequence stand together.
    reset : bool
        Whether this is a fit.
    min_rows : int
        Rows that must be there at least, in all.
    """
    listed = is_list(U)
    if not listed and isinstance(U, (list, tuple)) and len({np.shape(u) for u in U if hasattr(u, "shape")}) > 1:
        shapes = ", ".join(str(np.shape(u)) for u in U[:3])
        raise ValueError(f"X is a list of arrays of shape {shapes}; pass each sequence as rows (T, d), as x[:, None]")
    if listed and groups is not None:
        raise ValueError("groups cannot be given with a list of sequences; pass one of the two")
    checks: dict[str, Any] = {"dtype": _DTYPES, "ensure_min_samples": 1 if listed else min_rows}
    parts: list[Array] = []
    for number, part in enumerate(U if listed else [U]):
        refuse_partitions(owner, part)
        if reset:
            rows = check_array(part, input_name="X", estimator=owner, **checks)
        else:
            rows = validate_data(owner, part, reset=False, **checks)
        if parts and rows.shape[1] != parts[0].shape[1]:
            raise ValueError(
                f"X: sequence {number} has {rows.shape[1]} columns but sequence 0 has {parts[0].shape[1]}; "
                "pass sequences of the same columns"
            )
        parts.append(rows)
    dtype = np.result_type(*{part.dtype for part in parts})
    parts = [part.astype(np.float64, copy=False) for part in parts]
    if groups is not None:
        parts = np.split(parts[0], _starts(groups, len(parts[0])))
    found = Sequences(parts, listed, groups is not None, dtype)
    if found.n_rows < min_rows:
        raise ValueError(f"X has {found.n_rows} rows in all sequences; pass at least {min_rows}")
    return found


def check_series(Y: Any, sequences: Sequences) -> list[Array]:
    """Targets, or values fed back, for each sequence: (T_i, q), float64 and finite.

    Parameters
    ----------
    Y : array-like (T,) or (T, q), or a list of these
        In the form of the sequences.
    sequences : Sequences
    """
    if not sequences.listed:
        checked = check_targets(Y, sequences.n_rows)
        return sequences.split(checked.reshape(len(checked), -1).astype(np.float64, copy=False))
    if not isinstance(Y, (list, tuple)) or len(Y) != len(sequences.parts):
        raise ValueError(f"y must be a list of {len(sequences.parts)} arrays, one for each sequence of X")
    parts = []
    for number, (y, part) in enumerate(zip(Y, sequences.parts, strict=True)):
        if np.ndim(y) and len(y) != len(part):
            raise ValueError(f"y: sequence {number} has {len(y)} entries but X has {len(part)} rows; pass one for each")
        checked = check_targets(y, len(part))
        parts.append(checked.reshape(len(checked), -1).astype(np.float64, copy=False))
        if parts[-1].shape[1] != parts[0].shape[1]:
            raise ValueError(
                f"y: sequence {number} has {parts[-1].shape[1]} columns but sequence 0 has {parts[0].shape[1]}; "
                "pass as many for each"
            )
    return parts


def first_rows(U: Any) -> Any:
    """The array or frame whose columns are remembered: the first sequence of a list."""
    return U[0] if is_list(U) else U


def refuse_frames_of(owner: Any, U: Any) -> None:
    """Refuse a list where ``set_output`` asks for a frame: it makes one frame of one array."""
    if is_list(U) and _get_output_config("transform", owner)["dense"] != "default":
        raise ValueError("set_output makes one frame, but X is a list of sequences; pass one table and its groups")


def _starts(groups: Any, n: int) -> Array:
    """Where a new group begins, but for the first row."""
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise ValueError(f"groups has shape {labels.shape}; pass one label for each of the {n} rows")
    starts = np.flatnonzero(labels[1:] != labels[:-1]) + 1
    heads = labels[np.concatenate([[0], starts]).astype(int)]
    if len(np.unique(heads)) != len(heads):
        raise ValueError("groups has a label that comes back after another one; sort the rows by group")
    return starts
