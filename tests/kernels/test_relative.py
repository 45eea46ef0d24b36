"""The kernel whose width follows the density, against widths found by sorting all distances."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gramian.kernels import RelativeRBF
from kernels.kernel_case import KernelCase, rows, square


def relative_width(x, training, m):
    """w(x) by sorting all distances to distinct rows."""
    r = np.sort([np.sqrt(square(x, row)) for row in np.unique(training, axis=0)])
    r = r[r > 0][:m]
    return np.sqrt(r.sum() / (1 / r).sum())


class TestRelativeRBF(KernelCase):
    def create(self):
        return RelativeRBF(n_neighbors=5)

    def evaluate(self, x, y):
        # The float32 test rounds rows: those that it rounds to are the same.
        training = self.data()
        near = [training[np.argmin(np.abs(training - row).sum(axis=1))] for row in (x, y)]
        snapped = [b if np.abs(a - b).max() < 1e-6 else a for a, b in zip((x, y), near, strict=True)]
        widths = [relative_width(row, training, 5) for row in snapped]
        return np.exp(-square(x, y) / (2 * widths[0] * widths[1]))


@pytest.mark.parametrize("m", [1, 5, 17])
def test_widths(m):
    """The widths are those of the m nearest distinct rows, copies not counted."""
    X = rows()
    np.testing.assert_allclose(RelativeRBF(m).fit(X).widths_, [relative_width(x, X, m) for x in X], rtol=1e-12)


def test_widths_follow_the_density():
    """Rows in a dense region have smaller widths; scaling the data scales the widths and leaves the kernel."""
    rng = np.random.default_rng(0)
    X = np.vstack([0.1 * rng.normal(size=(30, 2)), 5 + rng.normal(size=(30, 2))])
    kernel = RelativeRBF(10).fit(X)
    assert kernel.widths_[:30].max() < kernel.widths_[30:].min()
    scaled = RelativeRBF(10).fit(7 * X)
    np.testing.assert_allclose(scaled.widths_, 7 * kernel.widths_, rtol=1e-10)
    np.testing.assert_allclose(scaled(7 * X), kernel(X), atol=1e-10)


def test_widths_of_rows_next_to_each_other():
    """Rows nearer than the root of the smallest number have a width that is not zero."""
    assert np.all(RelativeRBF(2).fit([[0.0], [1e-170], [1.0]]).widths_ > 0)


def test_nearest_is_not_the_most_similar():
    """With widths of their own the nearest row need not be the most similar, and the profile does not say so."""
    assert not RelativeRBF(5).fit(rows()).profile().decreasing


def test_bad_input():
    """What cannot be used is refused by name."""
    with pytest.raises(ValueError, match="n_neighbors=0"):
        RelativeRBF(0).fit(rows())
    with pytest.raises(ValueError, match="all rows of X are equal"):
        RelativeRBF().fit(np.ones((5, 2)))
    with pytest.raises(NotFittedError):
        RelativeRBF()(rows())
    with pytest.raises(NotFittedError, match="widths of RelativeRBF depend on the data"):
        RelativeRBF().profile()
