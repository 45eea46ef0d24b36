"""Repeatable runs: with the profile "ci" of hypothesis, ``random_state=None`` draws the same numbers every time.

Whether a change lands must not hang on the luck of a draw; without that profile every run draws anew, and so keeps
looking.
"""

import itertools
import os
import sys
import zlib

import numpy as np
import pytest

os.environ.setdefault("MPLBACKEND", "agg")  # no window opens


@pytest.fixture(autouse=True)
def entropy_of_the_test(request, monkeypatch):
    """Take the seeds of unseeded generators from the name of the test."""
    if request.config.getoption("hypothesis_profile", None) != "ci":
        return
    seeded, calls = np.random.default_rng, itertools.count()
    name = zlib.crc32(request.node.nodeid.encode())
    monkeypatch.setattr(
        np.random, "default_rng", lambda seed=None: seeded([name, next(calls)] if seed is None else seed)
    )


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    """Close what a test or an example drew: matplotlib warns of many open figures, and warnings are errors."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
