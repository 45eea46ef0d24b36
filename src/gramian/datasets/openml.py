"""Tables from OpenML, through scikit-learn's downloader and cache, as the same object as all other loaders give."""

from __future__ import annotations

import os
from urllib.error import URLError

import numpy as np

from gramian.datasets.table import Table, code_column
from gramian.typing import Array

__all__ = ["fetch_openml"]


def fetch_openml(
    name_or_id: str | int, *, version: int | str = "active", data_home: str | os.PathLike[str] | None = None
) -> Table:
    """Download a table from OpenML, or read it from the local cache.

    Parameters
    ----------
    name_or_id : str or int
        Name or number of the data set.
    version : int or "active", default "active"
        Version of a named set; a number alone says which version, so leave this out with an int.
    data_home : str or path, optional
        Where to keep the downloads; ``~/scikit_learn_data`` if not given.

    Returns
    -------
    Table
        With the set's own default target, if it has one.

    References
    ----------
    J. Vanschoren, J. van Rijn, B. Bischl, L. Torgo, "OpenML: networked science in machine learning", SIGKDD
    Explorations 15 (2013).

    Examples
    --------
    ``fetch_openml("iris", version=1)`` and ``fetch_openml(61)`` are the same set; the first call needs a network,
    later ones read the cache. The two ways are not mixed:

    >>> from gramian.datasets import fetch_openml
    >>> fetch_openml(61, version=1)
    Traceback (most recent call last):
        ...
    ValueError: version=1 is for names; the number 61 stands for one version already; leave it out
    """
    import sklearn.datasets  # slow to import, and only this function needs it

    if isinstance(name_or_id, int) and version != "active":
        raise ValueError(
            f"version={version!r} is for names; the number {name_or_id} stands for one version already; leave it out"
        )
    which = {"data_id": name_or_id} if isinstance(name_or_id, int) else {"name": name_or_id, "version": version}
    home = None if data_home is None else os.fspath(data_home)
    try:
        # This parser codes categories as numbers and needs no pandas.
        bunch = sklearn.datasets.fetch_openml(**which, data_home=home, as_frame=False, parser="liac-arff")
    except URLError as error:
        raise ConnectionError(
            f"OpenML did not deliver {name_or_id!r} ({error.reason}); check the network and the name, or use read_csv"
        ) from error
    if not isinstance(bunch.data, np.ndarray) or bunch.data.dtype.kind not in "fiu":
        raise ValueError(
            f"OpenML's {name_or_id!r} is sparse or text, not a table of numbers; use scikit-learn's loader"
        )
    columns = list(bunch.target_names or [])
    y: Array | None = None
    names: tuple[str, ...] = ()
    if len(columns) == 1:
        y = np.asarray(bunch.target)
        if y.dtype.kind not in "fiu":
            labels = ["" if label is None else str(label) for label in y.tolist()]
            codes, names = code_column(labels, columns[0], missing={"", "nan"}, categorical=True)
            y = np.where(np.isnan(codes), -1, codes).astype(np.int64)
    features = tuple(bunch.feature_names)
    return Table(
        X=np.asarray(bunch.data, dtype=np.float64),
        y=y,
        feature_names=features,
        target_names=names,
        categories={key: tuple(map(str, bunch.categories[key])) for key in features if key in bunch.categories},
        target=columns[0] if len(columns) == 1 else None,
        name=str(bunch.details.get("name", name_or_id)),
        description=bunch.DESCR or "",
    )
