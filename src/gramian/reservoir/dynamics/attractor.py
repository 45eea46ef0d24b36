"""An attractor seen through one of its coordinates: by delays, or by the states of a reservoir that it drives."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA

from gramian.checks import one_of, whole
from gramian.embedding import KernelPCA
from gramian.kernels import RBF
from gramian.reservoir.dynamics.delay import check_series, check_varying, delay_embedding, mutual_information_minimum
from gramian.reservoir.reservoir import Reservoir
from gramian.typing import Array, RandomState

METHODS = ("esn-pca", "esn-kpca", "delay", "esn-small")
_UNITS, _RADIUS, _INPUT = 300, 0.9, 0.1  # of twelve settings tried on Lorenz, the truest with the least spread
_KERNEL_STATES = 3000  # that a kernel PCA is fitted on, evenly spread over time


def reconstruct_attractor(
    x: Array,
    method: str = "esn-pca",
    *,
    n_components: int = 3,
    delay: int | None = None,
    reservoir: Any = None,
    washout: int = 100,
    random_state: RandomState = None,
) -> Array:
    """Rebuild a trajectory in several coordinates from a series of one coordinate.

    ============  ====================================================================================
    method        coordinates
    ============  ====================================================================================
    "delay"       the series at several delays, :func:`delay_embedding`
    "esn-pca"     principal components of the states of a reservoir that the series drives
    "esn-kpca"    their kernel principal components, with an RBF of median width
    "esn-small"   the states of a reservoir that has no more units than that
    ============  ====================================================================================

    Parameters
    ----------
    x : array-like (n,)
        Evenly spaced in time.
    method : str, default "esn-pca"
    n_components : int, default 3
    delay : int, optional
        For "delay"; by default :func:`mutual_information_minimum`.
    reservoir : Reservoir, optional
        For "esn-pca" and "esn-kpca"; by default of 300 units, spectral radius 0.9 and input scaling 0.1. What is seen
        depends on the radius: 4,000 steps of Lorenz (dimension 2.05) had 1.66, 1.87, 1.99 and 2.28 with radii of 0.6,
        0.8, 0.9 and 1.0 (mean of four reservoirs).
    washout : int, default 100
        First steps of a reservoir to leave out.
    random_state : int, Generator, RandomState or None, default None
        For the default reservoirs.

    Returns
    -------
    points : ndarray (n', n_components)
        In the order of time, for :func:`correlation_dimension` and :func:`lyapunov_from_data`.

    References
    ----------
    Løkse, Bianchi, Jenssen (2017). Training echo state networks with regularization through dimensionality reduction.
    Cognitive Computation 9. Section "Dynamical systems".

    Examples
    --------
    >>> from gramian.datasets import make_lorenz
    >>> from gramian.reservoir.dynamics import reconstruct_attractor
    >>> x = make_lorenz(2000)[:, 0]
    >>> reconstruct_attractor(x, random_state=0).shape
    (1900, 3)
    """
    x = check_varying(check_series(x))
    one_of(method, "method", METHODS)
    k = whole(n_components, "n_components")
    if method == "delay":
        return delay_embedding(x, k, mutual_information_minimum(x) if delay is None else delay)
    washout = whole(washout, "washout", least=0)
    if len(x) <= washout + k:
        raise ValueError(f"washout={washout} leaves {max(len(x) - washout, 0)} of {len(x)} steps; pass a longer series")
    driven = ((x - x.mean()) / float(x.std()))[:, None]
    if method == "esn-small":
        small = Reservoir(k, spectral_radius=0.9, connectivity=k, input_scaling=0.3, random_state=random_state)
        return np.asarray(small.fit_transform(driven))[washout:]
    network = clone(reservoir) if reservoir is not None else _usual(random_state)
    states = np.asarray(network.fit_transform(driven))[washout:]
    if method == "esn-pca":
        return np.asarray(PCA(k, svd_solver="covariance_eigh").fit_transform(states))
    some = states[:: -(-len(states) // _KERNEL_STATES)]
    return np.asarray(KernelPCA(k, kernel=RBF("median")).fit(some).transform(states))


def _usual(random_state: RandomState) -> Reservoir:
    return Reservoir(_UNITS, spectral_radius=_RADIUS, input_scaling=_INPUT, random_state=random_state)
