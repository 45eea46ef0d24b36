"""Least-squares support vector machines: regression and classification with a kernel, an intercept and no tuning."""

__all__: list[str] = []
