"""Projections that maximise dependence: the iterative spectral method and the estimators on it."""
