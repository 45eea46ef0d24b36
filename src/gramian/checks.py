"""Parameters checked alike everywhere: an error names the parameter, its value and what is allowed."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_array, validate_data

from gramian.configuration import threads
from gramian.typing import Array


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
    if not isinstance(value, Integral) or isinstance(value, (bool, np.bool_)) or int(value) < least:
        limit = f">= {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name}={value!r} must be a whole number {limit}" + (f" or {instead}" if instead else ""))
    if most is not None and int(value) > most:
        raise ValueError(f"{name}={value} is more than {most}; pass {name} <= {most}")
    return int(value)


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
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
            raise ValueError(f"{name}={value!r} must be a positive number" + (" or None" if none_allowed else ""))


def check_whole(owner: Any, *names: str, least: int = 1) -> None:
    """Parameters such as ``n_init`` that must be whole numbers."""
    for name in names:
        whole(getattr(owner, name), name, least=least)


def check_choice(owner: Any, name: str, choices: tuple[Any, ...]) -> Any:
    """A parameter that must be one of a few values."""
    return one_of(getattr(owner, name), name, choices)


def one_of(value: Any, name: str, choices: tuple[Any, ...]) -> Any:
    """``value``, if it is one of ``choices``."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise ValueError(f"{name}={value!r} is not known; pass one of {', '.join(map(repr, choices))}")
    return value


def check_weights(sample_weight: Any, n_samples: int, dtype: Any) -> Array:
    """Sample weights as an array: finite, not negative, not all zero."""
    weights = np.asarray(sample_weight, dtype)
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weights.shape}; pass one weight per sample, {n_samples}")
    if not np.all(np.isfinite(weights)) or weights.min() < 0 or not weights.any():
        raise ValueError("sample_weight must be finite, not negative and not all zero; clip or drop the offending rows")
    return weights


def check_real(owner: Any, name: str, *, least: float | None = None, above: float | None = None) -> float:
    """A parameter that must be a finite number, at least ``least`` or more than ``above``."""
    value = getattr(owner, name)
    good = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not good or (least is not None and value < least) or (above is not None and value <= above):
        limit = f" >= {least:g}" if least is not None else f" > {above:g}" if above is not None else ""
        raise ValueError(f"{name}={value!r} must be a finite number{limit}")
    return float(value)


def check_samples(owner: Any, X: Any, **checks: Any) -> Any:
    """X checked as scikit-learn does, without counting its columns: see :func:`remember_columns`."""
    return check_array(X, input_name="X", estimator=owner, **checks)


def remember_columns(owner: Any, X: Any) -> None:
    """Count and name the columns of X, as the last step of a fit: a refused one leaves the estimator as it was."""
    validate_data(owner, X, reset=True, skip_check_array=True)


def n_workers(owner: Any) -> int:
    """The threads that ``n_jobs`` asks for; None is the library's setting."""
    jobs = owner.n_jobs
    if jobs is None:
        return threads()
    if not isinstance(jobs, Integral) or isinstance(jobs, bool) or jobs == 0:
        raise ValueError(f"n_jobs={jobs!r} must be a whole number other than 0, or None")
    return int(effective_n_jobs(int(jobs)))
