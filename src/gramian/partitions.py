"""Dask inputs: recognise them, check them, and predict partition by partition.

A fit reads two things of such rows: a few of them by number (widths, landmarks), and their features chunk by chunk
(:mod:`gramian.grams.distributed`). Answers for new rows are a map over the partitions. Dask is imported only when an
input is Dask's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from functools import partial, wraps
from types import FunctionType
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import check_array

from gramian.typing import Array

ANSWERS = ("predict", "predict_proba", "decision_function", "score_samples", "transform")
"""Methods that answer for each row by itself, so that partitions may be answered for apart."""

TOGETHER = ("score", "impute", "bic", "aic", "predict_interval", "inverse_transform")
"""Methods of one number for all rows, or of several answers for each; they take rows in memory."""


SAMPLE = 50_000
"""Rows from which a kernel learns its width, landmarks or mixtures; drawn by number, so partitions do not matter."""

CLUSTERED = 10_000
"""Rows that clusters are found in; the others join them."""

_OLDEST = (2024, 12)  # of Dask, as the extra "scale" asks for


def is_distributed(X: Any) -> bool:
    """Whether X is an array or a data frame of Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


_SOME = (
    "pass some of the rows, for instance X[:100_000].compute(), and let the fitted model answer for all: predict and "
    "transform take Dask inputs"
)


def refuse_partitions(owner: Any, X: Any, instead: str = _SOME) -> None:
    """An error for a Dask input, which NumPy would otherwise collect in silence."""
    if is_distributed(X):
        name = owner if isinstance(owner, str) else type(owner).__name__
        raise TypeError(f"{name} takes rows in memory here, not a Dask input; {instead}")


def refuse_frames(model: Any) -> None:
    """An error where features are asked for as a data frame, of which scikit-learn would make one in this process."""
    container = output_container(model)
    if container != "default":
        raise TypeError(
            f"{type(model).__name__} gives the features of a Dask input as a Dask array, not as "
            f"transform={container!r} asks; call set_output(transform='default')"
        )


def output_container(model: Any) -> str:
    """In what scikit-learn is asked to hold what ``transform`` gives."""
    return getattr(model, "_sklearn_output_config", {}).get("transform") or get_config()["transform_output"]


class DistributedRows:
    """Rows of a Dask array or data frame, for which a fit can ask as if they were an array.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame (n, d)
        In partitions of rows of any sizes, also empty or unknown ones.
    dtype : list of numpy dtype, optional
        What the rows may be; others become the first.
    ensure_all_finite : bool or "allow-nan", default True
        What is refused; an error names the partition.
    name : str, default "X"
        What errors call the rows.

    Attributes
    ----------
    shape : (int, int)
    dtype : numpy dtype
    array : dask.array.Array (n, d)
        The rows, checked when they are computed, with partitions of known length and all columns in each.
    names : list or None
        Of the columns of a data frame.
    """

    ndim = 2

    def __init__(
        self, X: Any, *, dtype: Any = None, ensure_all_finite: bool | str = True, name: str = "X", **_: Any
    ) -> None:
        _check_version()
        array = _as_array(X, name)
        allowed = [np.dtype(kind) for kind in (dtype if isinstance(dtype, list | tuple) else [np.float64, np.float32])]
        if array.dtype.kind not in "fiub":
            raise ValueError(
                f"{name} is a Dask array of type {array.dtype}; pass numbers, for instance {name}.astype(float)"
            )
        kind = array.dtype if array.dtype in allowed else allowed[0]
        self.array = array.map_blocks(_checked, kind, ensure_all_finite, name, dtype=kind, meta=np.empty((0, 0), kind))
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = kind
        self.names = _names(X)
        if not self.shape[0]:
            raise ValueError(f"{name} has no rows in any of its partitions; pass at least one row")

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Array:
        """Some rows by number, in memory; as every sample is drawn by number, partitions do not change it."""
        wanted = np.arange(*index.indices(len(self))) if isinstance(index, slice) else np.asarray(index)
        return picked(self.array, np.flatnonzero(wanted) if wanted.dtype.kind == "b" else wanted)

    def drawn(self, most: int) -> Array:
        """At most ``most`` numbers of rows, sorted; partitions do not matter. All where there are no more."""
        n = self.shape[0]
        return np.arange(n) if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))

    def sample(self, most: int = SAMPLE) -> Array:
        """The rows of the numbers :meth:`drawn`."""
        return self[self.drawn(most)]

    def named(self, rows: Array) -> Any:
        """Some rows with the names of their columns, where they have names."""
        return _named(rows, self.names)

    @property
    def numbers(self) -> Any:
        """The number of each row, a Dask array (n,) in the same partitions."""
        import dask.array

        return dask.array.arange(self.shape[0], chunks=(self.array.chunks[0],))

    def reduced(self, function: Callable[..., Any], merge: Callable[[list[Any]], Any], *others: Any) -> Any:
        """What ``function`` gives for each partition that has rows, merged in a tree on the workers.

        ``others`` are Dask arrays in the same partitions, whose parts are passed too.
        """
        return reduced(function, merge, self.array, *others)


def picked(array: Any, index: Array) -> Array:
    """Some entries of a Dask array by number, along its first axis, in memory."""
    import dask

    ends = np.cumsum(array.chunks[0])
    starts, home = np.concatenate([[0], ends]), np.searchsorted(ends, index, side="right")
    blocks, parts = array.to_delayed().ravel(), np.unique(home)
    found = [dask.delayed(_rows)(blocks[part], index[home == part] - starts[part]) for part in parts]
    out = np.empty((len(index), *array.shape[1:]), array.dtype)
    for part, rows in zip(parts, dask.compute(*found), strict=True):
        out[home == part] = rows
    return out


def reduced(
    function: Callable[..., Any], merge: Callable[[list[Any]], Any], *arrays: Any, name: str | None = None
) -> Any:
    """What ``function`` gives for the parts of arrays in the same partitions, merged in a tree on the workers.

    Errors tell the partition of what ``name`` says, if it is given.
    """
    import dask

    blocks = zip(*(array.to_delayed().ravel() for array in arrays), strict=True)
    work = dask.delayed(function, traverse=False)  # sent once, not with every partition
    parts = [
        dask.delayed(_applied)(work, name and f"partition {place} of {name}", *parts)
        for place, (parts, length) in enumerate(zip(blocks, arrays[0].chunks[0], strict=True))
        if length
    ]
    return in_tree(parts, merge)


def in_tree(parts: list[Any], merge: Callable[[list[Any]], Any]) -> Any:
    """The delayed ``parts`` merged eight at a time on the workers, and then brought here."""
    import dask

    while len(parts) > 1:
        parts = [dask.delayed(merge)(parts[first : first + 8]) for first in range(0, len(parts), 8)]
    return parts[0].compute()


def _applied(function: Callable[..., Any], place: str | None, *parts: Array) -> Any:
    with _saying(place):
        return function(*parts)


def beside(y: Any, rows: DistributedRows) -> Any:
    """Targets as a Dask array in the partitions of the rows.

    Parameters
    ----------
    y : dask array, series or data frame, or array-like (n,) or (n, q)
    rows : DistributedRows
    """
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None; pass fit(X, y)")
    return in_lengths(y, rows.array.chunks[0])


def in_lengths(y: Any, lengths: tuple[int, ...], name: str = "y") -> Any:
    """Something with an entry for each row as a Dask array in partitions of these lengths."""
    import dask.array

    n = sum(lengths)
    if not is_distributed(y):
        given = np.asarray(y)
        if given.shape[:1] != (n,):
            raise ValueError(f"{name} has shape {given.shape} but X has {n} rows; pass one entry for each row")
        return dask.array.from_array(given, chunks=(lengths, *((size,) for size in given.shape[1:])))
    array = with_lengths(y)
    if array.shape[0] != n:
        raise ValueError(f"{name} has {array.shape[0]} entries but X has {n} rows; pass one entry for each row")
    array = array.rechunk({1: -1}) if array.ndim == 2 else array
    return array if array.chunks[0] == lengths else array.rechunk({0: lengths})


def with_lengths(y: Any) -> Any:
    """A Dask array, series or data frame as a Dask array in partitions of known length."""
    if hasattr(y, "to_dask_array"):
        if y.ndim == 1 and not isinstance(y.dtype, np.dtype):
            # Arrays lack the types of pandas: words become objects, and numbers that may be NA plain ones.
            y = y.cat.as_known() if hasattr(y.dtype, "categories") else y
            given = y.dtype.categories.dtype if hasattr(y.dtype, "categories") else y.dtype
            kind = given if isinstance(given, np.dtype) else getattr(given, "numpy_dtype", np.dtype(object))
            y = y.astype(np.float64 if kind.kind in "biu" and y.isna().any().compute() else kind)
        y = _plain(y) if y.ndim == 2 else y
        return y.to_dask_array(lengths=True)
    return y.compute_chunk_sizes() if any(np.isnan(length) for length in y.chunks[0]) else y


def columns_of(X: Any) -> Any:
    """Something in memory with the columns of X, for counting and naming them: X itself, or a row for a Dask input."""
    return _named(np.zeros((1, X.shape[1])), _names(X)) if is_distributed(X) else X


def in_memory(X: Any) -> Any:
    """X itself, or of rows on workers the sample from which a kernel learns."""
    return X.sample() if isinstance(X, DistributedRows) else X


def fit_to_sample(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    most: int | None = None,
    answers: dict[str, str] | None = None,
    **options: Any,
) -> Any:
    """Fit a model to at most ``most`` rows of a Dask input, drawn by number; answers for all stay with the partitions.

    Parameters
    ----------
    model : estimator
        Not fitted.
    X : dask.array.Array or dask.dataframe.DataFrame (n, d)
    y : optional
        An entry for each row, wherever it is.
    most : int, optional
        By default ``CLUSTERED``.
    answers : dict of str, optional
        Attributes of all rows, where the model has them, and the method that gives each. By default ``labels_`` by
        ``predict`` and ``embedding_`` by ``transform``. Others stay those of the sample, whose rows
        ``sample_indices_`` tells.
    options
        Of the model's ``fit``.
    """
    kernel = getattr(model, "_unfitted_kernel", None)
    checks = {"ensure_all_finite": "allow-nan"} if kernel is None else kernel()._checks()
    if kernel is not None and kernel().pairwise:
        raise TypeError(
            f"{type(model).__name__} with kernel='precomputed' takes similarities in memory here, not a Dask input; "
            "pass rows and a kernel"
        )
    rows = DistributedRows(X, **checks)
    index = rows.drawn(CLUSTERED if most is None else most)
    targets = () if y is None else (picked(beside(y, rows), index),)
    model.fit(rows.named(rows[index]), *targets, **options)
    model.sample_indices_ = index
    answers = {"labels_": "predict", "embedding_": "transform"} if answers is None else answers
    for name, method in answers.items():
        if hasattr(model, name):
            setattr(model, name, answered(model, method, rows))
    return model


def on_workers(value: Array) -> Any:
    """An array that every worker needs: sent to each once, where there is a cluster."""
    try:
        from distributed import get_client

        return get_client().scatter(value, broadcast=True)
    except (ImportError, ValueError):  # Dask's own threads need no copy
        return value


def _check_version() -> None:
    import dask

    numbers = [int("".join(filter(str.isdigit, part)) or 0) for part in dask.__version__.split(".")[:2]]
    if tuple(numbers) < _OLDEST:
        raise ImportError(
            f"dask {dask.__version__} is older than {'.'.join(map(str, _OLDEST))}; run pip install 'gramian[scale]'"
        )


def _as_array(X: Any, name: str) -> Any:
    """A Dask array (n, d) with known partitions of rows, each with all columns."""
    # Whatever a Delayed is asked for, it seems to have.
    if type(X).__name__ == "Delayed" or not hasattr(X, "ndim"):
        raise TypeError(
            f"{name} is a Dask {type(X).__name__}, which tells no rows and columns; pass a Dask array or data frame, "
            "for instance by dask.array.from_delayed"
        )
    if X.ndim != 2:
        mend = f"{name}.to_frame()" if hasattr(X, "to_frame") else f"{name}.reshape(-1, 1)"
        raise ValueError(f"{name} has {X.ndim} dimensions; pass rows and columns, for instance {mend}")
    array = _of_numbers(X, name).to_dask_array(lengths=True) if hasattr(X, "to_dask_array") else X
    if type(array._meta).__module__.partition(".")[0] in ("scipy", "sparse"):
        raise TypeError("sparse Dask arrays are not supported; densify with X.map_blocks(lambda part: part.toarray())")
    if any(np.isnan(length) for lengths in array.chunks for length in lengths):
        array = array.compute_chunk_sizes()
    return array.rechunk({1: -1}) if len(array.chunks[1]) > 1 else array


def _of_numbers(frame: Any, name: str) -> Any:
    """A data frame with columns of NumPy's numbers only, of which Dask makes an array of numbers."""
    from pandas.api.types import is_numeric_dtype

    kinds = dict(frame.dtypes.items())
    if others := [column for column, kind in kinds.items() if not is_numeric_dtype(kind)]:
        raise ValueError(
            f"{name} has a column {others[0]!r} of type {kinds[others[0]]}; pass columns of numbers, for instance "
            f"{name}.drop(columns={others!r})"
        )
    return _plain(frame)


def _plain(frame: Any) -> Any:
    """A data frame whose columns of numbers are NumPy's: Dask makes an array of objects of those of pandas."""
    from pandas.api.types import is_numeric_dtype

    kinds = {column: kind for column, kind in frame.dtypes.items() if is_numeric_dtype(kind)}
    # Next to floats a truth value counts as a small number, and what may be NA as a float: as in memory.
    changed: dict[Any, Any] = {column: np.int8 for column, kind in kinds.items() if kind == np.dtype(bool)}
    changed |= {column: np.float64 for column, kind in kinds.items() if not isinstance(kind, np.dtype)}
    return frame.astype(changed) if changed else frame


def _checked(part: Array, dtype: Any, finite: bool | str, name: str, block_info: Any = None) -> Array:
    """One partition as numbers; an error says which it is."""
    announced = tuple(end - start for start, end in block_info[0]["array-location"]) if block_info else part.shape
    if not len(part) and not announced[0]:
        return np.empty(announced, dtype)
    with _in_partition(block_info, name):
        if part.shape != announced:
            raise ValueError(f"it has shape {part.shape} instead of {announced}; give all partitions the same columns")
        return np.asarray(check_array(part, dtype=dtype, order="C", ensure_all_finite=finite, input_name=name))


def _in_partition(block_info: Any, name: str) -> AbstractContextManager[None]:
    """Errors about rows that say in which partition they are."""
    return _saying(f"partition {block_info[0]['chunk-location'][0] if block_info else '?'} of {name}")


@contextmanager
def _saying(place: str | None) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        if place is None:
            raise
        raise ValueError(f"{place}: {error}") from error


def _rows(part: Array, index: Array) -> Array:
    return part[index]


# Answers for rows ---------------------------------------------------------------------------------------------------


class DistributedAnswers:
    """Base of estimators that answer for the rows of a Dask input partition by partition, on its workers.

    The answer is a Dask array aligned with the input; nothing is computed before it is asked for, but the lengths of
    the partitions where they are not known, as those of a data frame. The methods of a subclass named in ``ANSWERS``
    get this when the class is made, so an estimator writes nothing for it. Those named in ``TOGETHER`` refuse such an
    input.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ANSWERS:
            # Also what comes from a mixin that is no subclass of this one.
            method = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
            if isinstance(method, FunctionType) and not hasattr(method, "takes_partitions"):
                setattr(cls, name, in_parts(method))
        for name in TOGETHER:
            method = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
            if isinstance(method, FunctionType) and not hasattr(method, "refuses_partitions"):
                setattr(cls, name, in_one_place(method))


def in_one_place(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that takes rows in memory as one that says so of a Dask input."""

    @wraps(method)
    def answer(self: Any, *given: Any, **options: Any) -> Any:
        for one in (*given, *options.values()):
            refuse_partitions(f"{type(self).__name__}.{method.__name__}", one)
        return method(self, *given, **options)

    answer.refuses_partitions = True  # type: ignore[attr-defined]
    return answer


def in_parts(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that answers for each row by itself as one that answers for a Dask input partition by partition."""

    @wraps(method)
    def answer(self: Any, X: Any, *others: Any, **options: Any) -> Any:
        if not is_distributed(X):
            return method(self, X, *others, **options)
        for one in (*others, *options.values()):
            refuse_partitions(f"{type(self).__name__}.{method.__name__} beside X", one)
        if method.__name__ == "transform":
            refuse_frames(self)
        return answered(self, method.__name__, DistributedRows(X, ensure_all_finite=False), *others, **options)

    answer.takes_partitions = True  # type: ignore[attr-defined]
    return answer


def answered(model: Any, method: str, rows: DistributedRows, /, *others: Any, **options: Any) -> Any:
    """What a method of a fitted model answers for rows on workers, a Dask array in their partitions.

    Nothing of it refers to what is not importable, so that it is pickled with the model that holds it.
    """
    width = check_width(model, rows.shape[1])
    ask = partial(_asked, _without_answers(model), method, rows.names, others, options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is odd about a row of zeros is not the user's
        example = ask(np.zeros((1, width), rows.dtype))  # one row tells type and width of an answer
    empty = example[:0]
    of_part = partial(_of_part, ask, empty)
    if example.ndim == 1:
        return rows.array.map_blocks(of_part, drop_axis=1, dtype=example.dtype, meta=empty)
    chunks = (rows.array.chunks[0], (example.shape[1],))
    return rows.array.map_blocks(of_part, chunks=chunks, dtype=example.dtype, meta=empty)


def _asked(model: Any, method: str, names: list[Any] | None, others: Any, options: Any, part: Array) -> Array:
    return np.asarray(getattr(model, method)(_named(part, names), *others, **options))


def _of_part(ask: Callable[[Array], Array], empty: Array, part: Array, block_info: Any = None) -> Array:
    if not len(part):
        return empty
    with _in_partition(block_info, "X"):
        return ask(part)


def check_width(model: Any, width: int) -> int:
    """The number of columns, if it is that of the rows a model was fitted to."""
    known = getattr(model, "n_features_in_", width)
    if width != known:
        name = type(model).__name__
        raise ValueError(f"X has {width} features, but {name} is expecting {known} features as input")
    return width


def _names(X: Any) -> list[Any] | None:
    """The names of the columns of a data frame; None of an array."""
    return list(X.columns) if hasattr(X, "columns") else None


def _named(rows: Array, names: list[Any] | None) -> Any:
    """Rows as an estimator expects them that was fitted to a data frame."""
    if names is None:
        return rows
    import pandas

    return pandas.DataFrame(rows, columns=names)


def _without_answers(model: Any) -> Any:
    """The model without what it says of the fitted rows, which workers do not need and which refers to itself."""
    alone = copy(model)
    for name, value in vars(model).items():
        if is_distributed(value):
            setattr(alone, name, np.empty((0, *value.shape[1:]), value.dtype))
    return alone
