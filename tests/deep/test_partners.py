"""Partners of rows: moved images, near rows and those of a function."""

import numpy as np
import pytest
import torch

from gramian.deep import partners
from gramian.deep.partners import Partners, move_images, nearest_rows


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def blob(n=40):
    """Images with a bright patch in the middle, of two channels and unequal sides."""
    images = torch.zeros((n, 2, 9, 11))
    images[:, :, 3:6, 4:7] = 1
    return images.reshape(n, -1)


def test_moved_images_are_small_changes(rng):
    """A moved image keeps its shape, range and roughly its brightness; each is moved differently."""
    rows = blob()
    moved = move_images(rows, (2, 9, 11), rng)
    assert moved.shape == rows.shape
    assert moved.min() >= 0
    assert moved.max() <= 1 + 1e-6
    torch.testing.assert_close(moved.sum(dim=1), rows.sum(dim=1), rtol=0.5, atol=0)
    assert len(torch.unique(moved, dim=0)) == len(rows)


def test_no_motion_is_the_identity(rng, monkeypatch):
    """Without angle, scale, shift and shear the image stays as it is."""
    for name in ("ANGLE", "SCALE", "SHIFT", "SHEAR"):
        monkeypatch.setattr(partners, name, 0.0)
    rows = torch.tensor(rng.random((3, 2 * 9 * 11)))
    torch.testing.assert_close(move_images(rows, (2, 9, 11), rng), rows)


def test_a_shift_moves_along_the_width(rng, monkeypatch):
    """A draw of the largest horizontal shift moves the image by a tenth of its width."""
    for name in ("ANGLE", "SCALE", "SHEAR"):
        monkeypatch.setattr(partners, name, 0.0)

    class Drawn:
        def uniform(self, low, high, size):
            return np.tile([0.1, 0.0], (size[0], 1)) if isinstance(size, tuple) else np.full(size, (low + high) / 2)

    rows = torch.tensor(rng.random((1, 100)))
    moved = move_images(rows, (1, 10, 10), Drawn()).reshape(10, 10)
    torch.testing.assert_close(moved[:, :-1], rows.reshape(10, 10)[:, 1:])


def test_near_rows_are_near(rng):
    """Partners among neighbours are of the five nearest other rows."""
    X = rng.normal(size=(30, 3))
    near = nearest_rows(X)
    order = np.argsort(((X[:, None] - X[None]) ** 2).sum(-1), axis=1)[:, 1:6]
    np.testing.assert_array_equal(np.sort(near, axis=1), np.sort(order, axis=1))
    batch = torch.tensor([4, 7])
    found = Partners("neighbors", neighbors=near).of(torch.tensor(X), batch, rng).numpy()
    for row, place in zip(found, (4, 7), strict=True):
        assert any(np.array_equal(row, X[other]) for other in near[place])


def test_nearest_rows_of_few():
    """With two rows each is the other's partner."""
    np.testing.assert_array_equal(nearest_rows(np.array([[0.0], [1.0]])), [[1], [0]])


def test_partners_of_a_function(rng):
    """A function gets the rows and a generator; partners of another shape are refused."""
    X = torch.ones((5, 2))
    doubled = Partners("given", function=lambda rows, rng: 2 * rows)
    torch.testing.assert_close(doubled.of(X, torch.tensor([0, 1]), rng), 2 * X[:2])
    with pytest.raises(ValueError, match=r"consistency: .*same shape"):
        Partners("given", function=lambda rows, rng: rows[:1]).of(X, torch.tensor([0, 1]), rng)
    assert not Partners()
