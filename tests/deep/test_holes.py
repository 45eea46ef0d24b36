"""Rows with holes as the network sees them."""

import numpy as np
import pytest
import torch

from gramian.deep.holes import Cells, column_means


@pytest.fixture
def cells():
    X = torch.tensor([[1.0, np.nan, 3.0], [4.0, 5.0, np.nan]])
    return Cells(X, torch.tensor([10.0, 20.0, 30.0]), True)


def test_holes_are_filled_and_told(cells):
    seen = cells.shown(cells.values)
    np.testing.assert_array_equal(seen, [[1, 20, 3, 1, 0, 1], [4, 5, 30, 1, 1, 0]])


def test_hidden_cells_look_as_holes_do(cells):
    """Every cell is shown with its 1, or filled with its 0; about the asked part is hidden."""
    x = torch.full((4000, 3), 7.0)
    seen = cells.shown(x, 0.25, torch.Generator().manual_seed(0)).numpy()
    values, mask = seen[:, :3], seen[:, 3:]
    np.testing.assert_array_equal(values, np.where(mask == 1, 7.0, [10.0, 20.0, 30.0]))
    assert abs(mask.mean() - 0.75) < 0.02


def test_masking_noise_of_complete_rows_is_zero():
    cells = Cells(torch.ones(5000, 2), torch.zeros(2), False)
    seen = cells.shown(cells.values, 0.2, torch.Generator().manual_seed(0))
    assert set(seen.unique().tolist()) == {0.0, 1.0}
    assert abs(float(seen.mean()) - 0.8) < 0.02
    assert cells.shown(cells.values) is cells.values


def test_the_error_counts_observed_cells(cells):
    """Σ m (x − x̃)² / Σ m, with no gradient from a hole and none lost by it."""
    found = torch.zeros(2, 3, requires_grad=True)
    error = cells.error(found, cells.values)
    assert error.item() == pytest.approx((1 + 9 + 16 + 25) / 4)
    error.backward()
    np.testing.assert_allclose(found.grad, [[-0.5, 0, -1.5], [-2, -2.5, 0]])
    empty = cells.error(found, torch.full((2, 3), torch.nan))
    assert empty.item() == 0


def test_column_means_are_of_observed_cells():
    X = np.array([[1.0, np.nan, np.nan], [3.0, 4.0, np.nan]])
    np.testing.assert_array_equal(column_means(X), [2.0, 4.0, 0.0])
