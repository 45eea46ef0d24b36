"""One rule that turns every ``random_state`` into NumPy generators.

Estimators call :func:`generator` once at the start of ``fit``; work that is split over restarts, threads or
batches calls :func:`spawn`, so that the result does not depend on how the work was split.
"""

from __future__ import annotations

import numbers

import numpy as np

from gramian.typing import RandomState

__all__ = ["generator", "spawn"]


def generator(random_state: RandomState = None) -> np.random.Generator:
    """Return the generator that a ``random_state`` stands for.

    Parameters
    ----------
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        An int seeds a new generator, so the same int always gives the same numbers. A Generator is returned
        as it is and advances with use. A RandomState gives a generator seeded with numbers drawn from it, so
        two calls with the same RandomState differ. None takes fresh entropy.

    Returns
    -------
    numpy.random.Generator

    Examples
    --------
    >>> from gramian.randomness import generator
    >>> bool(generator(3).random() == generator(3).random())
    True
    """
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, np.random.RandomState):
        # Four words fill the entropy pool of a SeedSequence.
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, (bool, np.bool_)):
        if random_state < 0:
            raise ValueError(f"random_state={random_state} is negative; pass an int >= 0")
        return np.random.default_rng(int(random_state))
    raise ValueError(
        f"random_state={random_state!r} cannot seed a generator; "
        "pass an int >= 0, a numpy Generator, a numpy RandomState or None"
    )


def spawn(random_state: RandomState, n: int) -> list[np.random.Generator]:
    """Return ``n`` generators that are independent of each other and of the parent.

    The first ``m`` of ``n`` children are the children that ``m`` alone would give, so adding restarts keeps
    the earlier ones.

    Parameters
    ----------
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        As in :func:`generator`. A Generator remembers how often it has spawned: the next call
        gives new children.
    n : int
        How many children, at least 0.

    Returns
    -------
    list of numpy.random.Generator

    References
    ----------
    M. O'Neill, "Developing a seed_seq alternative" (2015), the idea behind ``numpy.random.SeedSequence``.

    Examples
    --------
    >>> from gramian.randomness import spawn
    >>> [round(float(child.random()), 3) for child in spawn(0, 2)] == [
    ...     round(float(child.random()), 3) for child in spawn(0, 3)[:2]
    ... ]
    True
    """
    if n < 0:
        raise ValueError(f"n={n} children cannot be spawned; pass n >= 0")
    return generator(random_state).spawn(n)
