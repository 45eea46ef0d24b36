"""Measures of dependence between two sets of columns: HSIC, centred kernel alignment, tests."""
