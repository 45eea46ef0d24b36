"""``import gramian`` is as light as the part of scikit-learn it stands on."""

import subprocess
import sys

HEAVY = {"dask", "matplotlib", "numba", "pandas", "plotly", "polars", "pyarrow", "rich", "skops", "torch"}


def test_import_brings_nothing_heavy():
    """What scikit-learn has not imported itself, of the heavy libraries, gramian does not import either."""
    code = (
        "import sys, sklearn.cluster; before = set(sys.modules); import gramian;"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "gramian" in output.split()
    assert HEAVY.isdisjoint(output.split())
