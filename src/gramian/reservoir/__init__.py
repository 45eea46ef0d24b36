"""Reservoirs and echo state networks: learn from series and forecast them, in one pass over the steps."""

from gramian.reservoir.forecasting import Backtest, EchoStateForecaster, TooShort
from gramian.reservoir.network import EchoStateNetwork
from gramian.reservoir.next_generation import NextGenerationReservoir
from gramian.reservoir.readouts import StreamedReadout
from gramian.reservoir.reservoir import Reservoir
from gramian.reservoir.search import Box, GeneticSearch, search_space

__all__ = [
    "Backtest",
    "Box",
    "EchoStateForecaster",
    "EchoStateNetwork",
    "GeneticSearch",
    "NextGenerationReservoir",
    "Reservoir",
    "StreamedReadout",
    "TooShort",
    "search_space",
]
