"""Parameters, targets and weights checked alike everywhere: an error names what was passed and what is allowed.

``whole`` and ``real`` take a value and its name; the ``check_…`` functions read them from an estimator.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_array, issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from gramian.configuration import threads
from gramian.partitions import refuse_partitions
from gramian.typing import Array

# Numbers ---------------------------------------------------------------------------------------------------


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether a value is a whole number; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def is_real(value: Any) -> TypeGuard[float]:
    """Whether a value is a real number, which may be infinite or NaN; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def whole(value: Any, name: str, *, least: int = 1, most: int | None = None, instead: str = "") -> int:
    """``value`` as an int, if it is a whole number from ``least`` to ``most``.

    Parameters
    ----------
    value : object
        What the user passed.
    name : str
        Its parameter, for the message.
    least : int
    most : int, optional
    instead : str
        What else the parameter takes, for the message, such as ``"None"``.
    """
    if not is_whole(value) or int(value) < least:
        limit = f">= {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name}={value!r} must be a whole number {limit}" + (f" or {instead}" if instead else ""))
    if most is not None and int(value) > most:
        raise ValueError(f"{name}={value} is more than {most}; pass {name} <= {most}")
    return int(value)


def real(
    value: Any,
    name: str,
    *,
    least: float = -np.inf,
    above: float = -np.inf,
    most: float = np.inf,
    below: float = np.inf,
    instead: str = "",
) -> float:
    """``value`` as a float, if it is a finite number within limits.

    Parameters
    ----------
    value : object
        What the user passed.
    name : str
        Its parameter, for the message.
    least, most : float
        Limits that the number may reach.
    above, below : float
        Limits that it may not reach.
    instead : str
        What else the parameter takes, for the message, such as ``"None"``.

    Examples
    --------
    >>> real(2, "width", above=0)
    2.0
    >>> real(1.5, "subsample", above=0, most=1)
    Traceback (most recent call last):
    ...
    ValueError: subsample=1.5 must be a finite number > 0 and <= 1
    """
    good = is_real(value) and np.isfinite(float(value))
    if not good or not (least <= value <= most and above < value < below):
        bounds = ((">=", least), (">", above), ("<=", most), ("<", below))
        limits = " and".join(f" {sign} {bound:g}" for sign, bound in bounds if np.isfinite(bound))
        raise ValueError(f"{name}={value!r} must be a finite number{limits}" + (f" or {instead}" if instead else ""))
    return float(value)


def reals(value: Any, name: str, shape: tuple[int, ...], *, above: float = -np.inf, instead: str = "") -> Array:
    """``value`` as float64 numbers above a limit: one number, or an array of the given shape.

    Parameters
    ----------
    value : object
        What the user passed.
    name : str
        Its parameter, for the message.
    shape : tuple of int
        That of an array; a number is taken too.
    above : float
        Limit that no number may reach.
    instead : str
        What else the parameter takes, for the message.

    Examples
    --------
    >>> reals([1, 2], "regularization", (2,), above=0)
    array([1., 2.])
    """
    try:
        found = np.asarray(value)
        good = found.dtype.kind in "fiu" and found.shape in ((), shape)
        good = good and bool((np.isfinite(found) & (found > above)).all())
    except (TypeError, ValueError):  # a ragged list
        good = False
    if not good:
        limit = f" > {above:g}" if np.isfinite(above) else ""
        told = f"{name}={value!r} must be a finite number{limit}, or an array of shape {shape} of them"
        raise ValueError(told + (f", or {instead}" if instead else ""))
    return found.astype(np.float64)


# Parameters of an estimator --------------------------------------------------------------------------------


def check_count(owner: Any, name: str, n_samples: int, *, none_allowed: bool = False) -> int | None:
    """A parameter such as ``n_clusters`` that must be a whole number from 1 to the number of samples."""
    value = getattr(owner, name)
    if value is None and none_allowed:
        return None
    count = whole(value, name, instead="None" if none_allowed else "")
    if count > n_samples:
        raise ValueError(f"{name}={count} is more than the n_samples={n_samples}; pass {name} <= {n_samples}")
    return count


def check_positive(owner: Any, *names: str, none_allowed: bool = False) -> None:
    """Parameters such as ``tol`` that must be finite positive numbers."""
    for name in names:
        value = getattr(owner, name)
        if value is None and none_allowed:
            continue
        if not is_real(value) or not 0 < float(value) < np.inf:
            raise ValueError(f"{name}={value!r} must be a positive number" + (" or None" if none_allowed else ""))


def check_whole(owner: Any, *names: str, least: int = 1) -> None:
    """Parameters such as ``n_init`` that must be whole numbers."""
    for name in names:
        whole(getattr(owner, name), name, least=least)


def check_real(owner: Any, name: str, *, least: float = -np.inf, above: float = -np.inf) -> float:
    """A parameter that must be a finite number, at least ``least`` or more than ``above``."""
    return real(getattr(owner, name), name, least=least, above=above)


def check_choice(owner: Any, name: str, choices: tuple[Any, ...]) -> Any:
    """A parameter that must be one of a few values."""
    return one_of(getattr(owner, name), name, choices)


def one_of(value: Any, name: str, choices: tuple[Any, ...]) -> Any:
    """``value``, if it is one of ``choices``."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise ValueError(f"{name}={value!r} is not known; pass one of {', '.join(map(repr, choices))}")
    return value


def n_workers(owner: Any) -> int:
    """The threads that ``n_jobs`` asks for; None is the library's setting."""
    jobs = owner.n_jobs
    if jobs is None:
        return threads()
    if not is_whole(jobs) or jobs == 0:
        raise ValueError(f"n_jobs={jobs!r} must be a whole number other than 0, or None")
    return int(effective_n_jobs(int(jobs)))


# Data ------------------------------------------------------------------------------------------------------


def check_samples(owner: Any, X: Any, **checks: Any) -> Any:
    """X checked as scikit-learn does, without counting its columns: see :func:`remember_columns`."""
    refuse_partitions(owner, X)
    return check_array(X, input_name="X", estimator=owner, **checks)


def remember_columns(owner: Any, X: Any) -> None:
    """Count and name the columns of X, as the last step of a fit: a refused one leaves the estimator as it was."""
    if type(X) is np.ndarray and X.ndim == 2:  # has no names; looking for them costs more than many a kernel's fit
        owner.n_features_in_ = X.shape[1]
        vars(owner).pop("feature_names_in_", None)
        return
    validate_data(owner, X, reset=True, skip_check_array=True)


def canonical_csr(matrix: Any, dtype: Any = None) -> Any:
    """A sparse matrix as CSR with sorted columns, without duplicates and stored zeros; the caller's is not changed."""
    found = csr_array(matrix, dtype=dtype)
    if not found.has_canonical_format:
        found = found.copy()  # the caller's entries stay in their order
        found.sum_duplicates()
    if found.nnz and not found.data.all():  # SciPy takes a zero that is stored for an edge
        found = found.copy()
        found.eliminate_zeros()
    return found


def check_weights(sample_weight: Any, n_samples: int, dtype: Any) -> Array:
    """Sample weights as an array: finite, not negative, not all zero."""
    weights = _numbers(np.asarray(sample_weight), "sample_weight", "pass a number for each sample").astype(dtype)
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weights.shape}; pass one weight per sample, {n_samples}")
    if not np.all(np.isfinite(weights)) or weights.min() < 0 or not weights.any():
        raise ValueError("sample_weight must be finite, not negative and not all zero; clip or drop the offending rows")
    return weights


def check_targets(y: Any, n_samples: int) -> Array:
    """Numbers to regress on, in floating point: one per sample, or several outputs side by side.

    Parameters
    ----------
    y : array-like (n,) or (n, q)
    n_samples : int

    Returns
    -------
    y : ndarray (n,) or (n, q)
    """
    given = _entries(y, n_samples)
    if given.ndim > 2 or not given.size:
        raise ValueError(f"y has shape {given.shape}; pass ({n_samples},), or ({n_samples}, q) for q outputs")
    if given.dtype.kind in "mM":
        raise ValueError("y holds dates or times; pass numbers, such as the days since some date")
    given = _numbers(given, "y", "pass numbers, or use a classifier for classes")
    dtypes = [np.float64, np.float32]
    targets = check_array(given, ensure_2d=False, dtype=dtypes, ensure_all_finite=False, input_name="y")
    bad = ~np.isfinite(targets.reshape(n_samples, -1)).all(axis=1)
    if bad.any():
        raise ValueError(
            f"y contains NaN or infinity in {int(bad.sum())} of {n_samples} entries, the first at {int(bad.argmax())}; "
            "drop those rows"
        )
    return np.asarray(targets)


def check_classes(y: Any, n_samples: int, *, least: int = 2) -> tuple[Array, Array]:
    """Labels as the sorted classes and the number of each sample's class.

    Parameters
    ----------
    y : array-like (n,)
        Labels of any type that can be sorted.
    n_samples : int
    least : int
        Number of classes that y must have: 2, or 1 where other rows are still to come.

    Returns
    -------
    classes : ndarray (k,)
    codes : ndarray of int (n,)
        ``classes[codes]`` is y.
    """
    labels = column_or_1d(_entries(y, n_samples), warn=True)
    if labels.dtype == object:
        same = [label == label for label in labels]  # of NaN False, of pandas.NA neither True nor False
        missing = np.array([label is None for label in labels]) | [s is not True and s is not np.True_ for s in same]
    else:
        missing = ~np.isfinite(labels) if labels.dtype.kind == "f" else np.zeros(n_samples, bool)
    if missing.any():
        raise ValueError(
            f"y contains NaN, infinity or None in {int(missing.sum())} of {n_samples} labels, the first at "
            f"{int(missing.argmax())}; drop those rows"
        )
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < least:
        only = classes.tolist()[0]
        raise ValueError(f"y has one class only, {only!r}; a classifier needs rows of at least two classes")
    return classes, codes


def check_partial_classes(y: Any, n_samples: int) -> tuple[Array, Array]:
    """Labels of some samples: which samples have one, and their labels.

    Parameters
    ----------
    y : array-like (n,) or (n, q)
        −1 is an unlabelled sample, as in scikit-learn; so are NaN, None and pandas.NA and, among texts, "-1". Of
        several columns of 0 and 1 a row of −1 throughout is unlabelled.
    n_samples : int

    Returns
    -------
    labelled : ndarray of bool (n,)
    labels : ndarray (n_labelled,) or (n_labelled, q)
        Of the labelled samples; whole numbers 0 and 1 where there are several columns.

    Examples
    --------
    >>> check_partial_classes(["cat", None, "-1", "dog"], 4)
    (array([ True, False, False,  True]), array(['cat', 'dog'], dtype=object))
    """
    given = _entries(y, n_samples)
    if given.ndim == 2 and given.shape[1] > 1:
        return _partial_columns(given)
    labels = column_or_1d(given, warn=True)
    if labels.dtype == object:
        known = np.array([_is_label(label) for label in labels], bool)
    elif labels.dtype.kind in "US":
        known = labels != labels.dtype.type("-1")
    else:
        known = ~(np.isnan(labels) | (labels == -1)) if labels.dtype.kind == "f" else labels != -1
    if not known.any():
        raise ValueError(
            f"y has no label: all {n_samples} entries are -1 or missing; label rows of at least two classes"
        )
    labels = labels[known]
    if labels.dtype == object and not all(isinstance(label, str) for label in labels):
        if any(isinstance(label, str | bytes) for label in labels):
            raise ValueError("y mixes texts and other labels, which cannot be sorted; pass labels of one type")
        labels = np.array(labels.tolist())  # numbers beside None
    return known, labels


def _is_label(entry: Any) -> bool:
    """Whether an entry of y is a label; NaN and pandas.NA do not equal themselves."""
    same = entry == entry
    return entry is not None and (same is True or same is np.True_) and not (entry == -1 or entry in ("-1", b"-1"))


def _partial_columns(given: Array) -> tuple[Array, Array]:
    """The same for columns of 0 and 1."""
    columns = check_array(given, dtype=np.float64, ensure_all_finite="allow-nan", input_name="y")
    missing = np.isnan(columns) | (columns == -1)
    known = ~missing.any(axis=1)
    if (mixed := missing.any(axis=1) & ~missing.all(axis=1)).any():
        raise ValueError(
            f"y has rows with some labels and some -1, the first is {int(mixed.argmax())}; give such a row all its "
            "labels, or -1 throughout"
        )
    if not known.any():
        raise ValueError(f"y has no label: all {len(given)} rows are -1; label some rows")
    labels = columns[known]
    if not np.isin(labels, (0, 1)).all():
        raise ValueError(
            "y with several columns must hold 0 and 1, and -1 for unlabelled rows; pass one column of classes"
        )
    return known, labels.astype(np.intp)


def _numbers(given: Array, name: str, remedy: str) -> Array:
    """Entries that are numbers, or say one; those of other types as float64."""
    if given.dtype.kind in "fiub":
        return given
    if given.dtype.kind == "c":
        raise ValueError(f"{name} holds complex numbers; {remedy}, such as the real parts")
    try:
        return given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} holds what is no number: {error}; {remedy}") from error


def _entries(y: Any, n_samples: int) -> Array:
    """y as an array, if it has an entry for each sample."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None; pass fit(X, y)")
    if np.ma.is_masked(y):
        raise ValueError("y has masked entries; drop those rows of X and y")
    given = np.asarray(y)
    if issparse(y) or given.ndim == 0:
        raise ValueError(f"y must be a dense array with an entry for each of the {n_samples} rows of X")
    if len(given) != n_samples:
        raise ValueError(f"y has {len(given)} entries but X has {n_samples} rows; pass one for each row")
    return given
