"""How sure it is that a table has clusters."""

from __future__ import annotations

import numpy as np

from gramian.typing import Array

_AGREEMENT = 0.8  # of other ways to cluster, at the median
_STABILITY = 0.6  # of the least stable cluster


def verdict(excess: float, agreement: float, cluster_stability: Array) -> str:
    """ "none", "weak" or "clear".

    There are no clusters where a table without any would look alike, whatever agrees: an elongated normal distribution
    is cut in the middle by most ways to cluster. Clusters are clear if other ways find them as well, and if every one
    is found again in resampled rows.

    Parameters
    ----------
    excess : float
        By :func:`~gramian.clustering.automatic.chance.beyond_chance`; more than 1 is structure.
    agreement : float
        Median adjusted Rand index with the other ways.
    cluster_stability : ndarray (k,)

    Examples
    --------
    >>> import numpy as np
    >>> verdict(3.0, 0.9, np.array([0.9, 0.8])), verdict(3.0, 0.9, np.array([0.9, 0.5])), verdict(0.9, 1.0, np.ones(2))
    ('clear', 'weak', 'none')
    """
    if not excess > 1:
        return "none"
    return "clear" if agreement >= _AGREEMENT and np.min(cluster_stability) >= _STABILITY else "weak"
