"""Small real series that come with the package, for forecasting without a network.

The files lie in ``data/series/`` beside this module; ``data/README.md`` gives origin and terms of each.
"""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Any

import numpy as np

from gramian.typing import Array

__all__ = ["Series", "list_series", "load_series"]

_SOURCES = {
    "beijing_pm25": "Fine dust at the US embassy in Beijing, every hour of 2013 and 2014, with holes, and the weather. "
    "Source: S. Chen (2015), Beijing PM2.5, UCI Machine Learning Repository, doi:10.24432/C5JS49. Licence: CC BY 4.0.",
    "melbourne_temperature": "Least and highest temperature of each day in Melbourne, 1981 to 1990. "
    "Source: Australian Bureau of Meteorology. Licence: free with attribution.",
    "santafe_laser": "Intensity of a chaotic far-infrared laser, set A of the Santa Fe competition, continued. "
    "Source: U. Hübner, N. B. Abraham, C. O. Weiss (1989). Licence: public; this copy MIT.",
    "seattle_weather": "Precipitation, temperatures and wind of each day in Seattle, 2012 to 2015. "
    "Source: NOAA. Licence: public domain.",
    "sunspots_yearly": "Mean number of sunspots of each year, 1700 to 2008. Source: NOAA. Licence: public domain.",
}


@dataclass(frozen=True, eq=False, repr=False)
class Series:
    """One or more columns of numbers, in the order of time.

    Attributes
    ----------
    values : array of shape (n, d)
        NaN where a value is missing.
    time : array of shape (n,)
        datetime64 in minutes, or numbers.
    names : tuple of str
        Of the columns of ``values``.
    name, description : str
        What the series is called, where it comes from and under which licence.

    Examples
    --------
    >>> from gramian.datasets import load_series
    >>> load_series("sunspots_yearly")
    Series 'sunspots_yearly': 309 steps of sunspots, 0 missing, from 1700 to 2008
    """

    values: Array
    time: Array
    names: tuple[str, ...]
    name: str
    description: str

    def __repr__(self) -> str:
        missing = int(np.isnan(self.values).sum())
        steps = f"{len(self.values)} steps of {', '.join(self.names)}, {missing} missing"
        return f"Series {self.name!r}: {steps}, from {self.time[0]} to {self.time[-1]}"

    @cached_property
    def frame(self) -> Any:
        """The series as a pandas DataFrame, the time in its first column. Needs pandas.

        Examples
        --------
        >>> from gramian.datasets import load_series
        >>> load_series("sunspots_yearly").frame.head(2)
           time  sunspots
        0  1700       5.0
        1  1701      11.0
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("Series.frame needs pandas; install it with: pip install 'gramian[app]'") from error
        columns = zip(self.names, self.values.T, strict=True)
        return pd.DataFrame({"time": self.time, **dict(columns)})


def list_series() -> list[str]:
    """Names that :func:`load_series` takes.

    Examples
    --------
    >>> from gramian.datasets import list_series
    >>> "santafe_laser" in list_series()
    True
    """
    return sorted(_SOURCES)


def load_series(name: str) -> Series:
    """Load a real series that comes with the package.

    Parameters
    ----------
    name : str
        One of :func:`list_series`.

    Returns
    -------
    Series

    Examples
    --------
    >>> from gramian.datasets import load_series
    >>> load_series("beijing_pm25")
    Series 'beijing_pm25': 17520 steps of pm25, temperature, dew_point, pressure, 181 missing, from 2013-01-01T00:00 ...
    >>> load_series("santafe_laser").values[:3, 0]
    array([ 86., 141.,  95.])
    """
    if not isinstance(name, str) or name not in _SOURCES:
        raise ValueError(f"name={name!r} is not a bundled series; pass one of {', '.join(list_series())}")
    file = resources.files("gramian.datasets") / "data" / "series" / f"{name}.csv.gz"
    text = gzip.decompress(file.read_bytes()).decode()
    header, *rows = csv.reader(io.StringIO(text))
    times, *columns = zip(*rows, strict=True)
    dated = "-" in times[0]
    return Series(
        values=np.array([[float(cell or "nan") for cell in column] for column in columns]).T,
        time=np.array(times, "datetime64[m]") if dated else np.array(times, float).astype(np.int64),
        names=tuple(header[1:]),
        name=name,
        description=_SOURCES[name],
    )
