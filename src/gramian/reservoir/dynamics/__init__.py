"""Is it chaos? Delay coordinates, correlation dimension and Lyapunov exponents of series and trajectories."""

from gramian.reservoir.dynamics.attractor import reconstruct_attractor
from gramian.reservoir.dynamics.delay import (
    FalseNeighbors,
    autocorrelation_zero,
    delay_embedding,
    false_neighbors,
    mutual_information_minimum,
)
from gramian.reservoir.dynamics.dimension import CorrelationDimension, correlation_dimension, correlation_sum
from gramian.reservoir.dynamics.lyapunov import LyapunovExponent, lyapunov_from_data, lyapunov_spectrum

__all__ = [
    "CorrelationDimension",
    "FalseNeighbors",
    "LyapunovExponent",
    "autocorrelation_zero",
    "correlation_dimension",
    "correlation_sum",
    "delay_embedding",
    "false_neighbors",
    "lyapunov_from_data",
    "lyapunov_spectrum",
    "mutual_information_minimum",
    "reconstruct_attractor",
]
