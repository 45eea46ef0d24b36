"""Regularization in the words of other formulations."""

from __future__ import annotations

from gramian.checks import real, whole


def regularization_from_lambda(lambda_: float, n: int) -> float:
    """The ``regularization`` that belongs to λ of regularised estimation in a reproducing kernel Hilbert space.

    min_f (1/n) Σ (y_i − f(x_i))² + λ ‖f‖² has the solution of γ = 1 / (λ n). Other names of the same number:
    ``alpha`` = 1/γ = λ n of ``sklearn.kernel_ridge.KernelRidge`` and of ``GaussianProcessRegressor`` (noise over signal
    variance). C of ``sklearn.svm.SVC`` multiplies another loss, so no number of it is the same model; C = γ weighs a
    row of residual one alike.

    Parameters
    ----------
    lambda_ : float
        λ > 0.
    n : int
        Number of rows.

    Returns
    -------
    regularization : float
        γ.

    Examples
    --------
    >>> regularization_from_lambda(0.01, 50)
    2.0
    """
    return 1 / (real(lambda_, "lambda_", above=0) * whole(n, "n"))
