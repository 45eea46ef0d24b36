"""The signs of eigenvalues, of whole spectra and of their ends."""

import numpy as np
import pytest

import gramian
from gramian.grams import DenseGram, eigen
from gramian.kernels import RBF, TL1


def gram_of(values, seed=0):
    """A Gram with the given eigenvalues."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    K = (Q * values) @ Q.T
    return DenseGram((K + K.T) / 2)


VALUES = np.concatenate([np.linspace(1, 9, 60), np.zeros(30), [-0.5, -1.0, -4.0]])


def test_whole_spectrum():
    """All counts, both ends and the share of the negative eigenvalues."""
    found = gram_of(VALUES).signature()
    assert (found.n_positive, found.n_negative, found.n_zero) == (60, 3, 30)
    assert found.exact
    assert not found.definite
    np.testing.assert_allclose([found.largest, found.smallest], [9, -4])
    np.testing.assert_allclose(found.negative, [-4, -1, -0.5])
    assert found.negative_share == pytest.approx(5.5 / np.abs(VALUES).sum())


def test_ends_find_all_negative_eigenvalues_when_they_reach_beyond():
    """With k above the number of negative eigenvalues these and their share are exact, the rest are bounds."""
    found = gram_of(VALUES).signature(10)
    assert (found.n_positive, found.n_negative, found.n_zero) == (10, 3, None)
    assert found.negative_exact
    assert not found.exact
    assert found.negative_share == pytest.approx(5.5 / np.abs(VALUES).sum())
    np.testing.assert_allclose(found.negative, [-4, -1, -0.5], atol=1e-9)


def test_ends_that_are_all_negative_give_a_bound():
    """If all of the k smallest are negative there may be more, and it is said."""
    found = gram_of(VALUES).signature(2)
    assert found.n_negative == 2
    assert not found.negative_exact
    assert found.negative_share < 5.5 / np.abs(VALUES).sum()


def test_large_grams_are_judged_by_their_ends(monkeypatch):
    """Above the size where all eigenvalues are cheap, the iteration finds the negative ones."""
    X = np.random.default_rng(0).random((700, 3))
    gram = TL1(radius=0.8).gram(X)
    exact = gram.signature()
    assert exact.n_negative > 30
    monkeypatch.setattr(eigen, "_SMALLEST_SIZE", 600)
    monkeypatch.setattr(eigen, "_LAPACK_SIZE", 100)
    found = gram.signature()
    assert found.n_negative == 20
    assert not found.negative_exact
    np.testing.assert_allclose(found.negative, exact.negative[:20], rtol=1e-4)
    found = RBF(width=0.3).gram(X).signature()
    assert found.definite
    assert found.negative_share == 0
    with gramian.config(memory_budget=700 * 100 * 8):
        assert TL1(radius=0.8).gram(X).signature(3).smallest == pytest.approx(exact.smallest)


def test_zero_and_single():
    """A zero Gram has zeros only; one sample has one eigenvalue."""
    found = DenseGram(np.zeros((5, 5))).signature()
    assert (found.n_positive, found.n_negative, found.n_zero, found.negative_share) == (0, 0, 5, 0.0)
    assert found.definite
    assert DenseGram(np.array([[-2.0]])).signature(1).smallest == -2.0


@pytest.mark.parametrize("bad", [0, -1, 2.5, 94, True])
def test_bad_k_is_refused(bad):
    """k is a whole number from 1 to n."""
    with pytest.raises(ValueError, match=r"k=.* (must be a whole number from 1 to 93|is more than 93)"):
        gram_of(VALUES).signature(bad)
