"""The exponential χ² kernel against its formula and scikit-learn's, its widths, and what it refuses."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import chi2_kernel

from gramian.kernels import ChiSquare
from kernels.kernel_case import KernelCase, rows


def chi(x, y):
    """Σ (a − b)² / (a + b) over the columns that are not zero in both."""
    return sum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0)


class TestChiSquare(KernelCase):
    profiled = False

    def create(self):
        return ChiSquare(width=1.3)

    def admissible(self, X):
        return np.maximum(X, 0)

    def evaluate(self, x, y):
        return np.exp(-chi(x, y) / 1.3)


class TestChiSquareOfMeanWidth(TestChiSquare):
    def create(self):
        return ChiSquare()

    def evaluate(self, x, y):
        X = self.data()
        pairs = [chi(X[i], X[j]) for i in range(len(X)) for j in range(i)]
        return np.exp(-chi(x, y) / np.mean(pairs))


def test_scikit_learn_agrees():
    """With gamma = 1 / width it is scikit-learn's."""
    X, Y = np.abs(rows(40, 6)), np.abs(rows(30, 6, seed=1))
    np.testing.assert_allclose(ChiSquare(0.7)(X, Y), chi2_kernel(X, Y, gamma=1 / 0.7), rtol=1e-12)


@pytest.mark.parametrize("width", [0.01, 0.3, 1.0, 10.0, 1000.0])
def test_definite_for_every_width(width):
    """No negative eigenvalue on histograms, whatever the width."""
    X = np.random.default_rng(0).dirichlet(np.full(8, 0.3), 150)
    values = np.linalg.eigvalsh(ChiSquare(width=width)(X))
    assert values[0] > -1e-12 * values[-1]


def test_rules_measure_chi_square():
    """Medians, means and ranges are of χ² between two rows; other rules are refused by name."""
    X = np.abs(rows(20, 3))
    pairs = np.array([chi(X[i], X[j]) for i in range(20) for j in range(i)])
    assert ChiSquare("median").fit(X).width_ == pytest.approx(np.median(pairs))
    assert ChiSquare("mean50").fit(X).width_ == pytest.approx(pairs.mean() / 2)
    assert ChiSquare("range20").fit(X).width_ == pytest.approx(0.2 * np.ptp(pairs))
    for rule in ("silverman", "mean_knn", "spectroscopy"):
        with pytest.raises(ValueError, match=f"width='{rule}' is not a rule for χ² distances; pass 'mean'"):
            ChiSquare(rule).fit(X)


def test_negative_values_are_refused():
    """χ² is for counts: negative values are an error in fit and for new rows."""
    with pytest.raises(ValueError, match="Negative values"):
        ChiSquare().fit(rows())
    kernel = ChiSquare(width=1.0).fit(np.abs(rows()))
    for ask in (kernel, kernel.gram, kernel.diagonal):
        with pytest.raises(ValueError, match="Negative values"):
            ask(rows())
