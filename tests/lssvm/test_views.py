"""Column groups and couplings: what is taken, and what is refused by name."""

import numpy as np
import pytest

from gramian.lssvm.views import check_coupling, rooted, view_columns


def test_groups_are_numbers_slices_or_names():
    """All ways to name columns give the same numbers."""
    names = ["a", "b", "c", "d"]
    found = view_columns([[0, -1], slice(1, 3), ["b", "a"]], 4, names)
    assert [part.tolist() for part in found] == [[0, 3], [1, 2], [1, 0]]
    assert view_columns(None, 3, None)[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ([], "views=.*must be a list"),
        ("abc", "views='abc' must be a list"),
        ([[0, 0], [1, 2]], "names a column twice"),
        ([[0, 7], [1, 2]], "asks for column 7 but X has 3"),
        ([[], [0, 1, 2]], "chooses no column"),
        ([["a"], [1, 2]], "has the names"),
        ([[0.5], [1, 2]], "pass a list of column numbers"),
    ],
)
def test_bad_groups_are_refused(views, message):
    """The error says which group and what to pass."""
    with pytest.raises(ValueError, match=message):
        view_columns(views, 3, None)


def test_an_unknown_name_is_refused():
    """A name that X does not have is told."""
    with pytest.raises(ValueError, match="names the column 'z'"):
        view_columns([["z"]], 2, ["a", "b"])


def test_columns_of_no_view_are_told():
    """A column that is left out is named in a warning."""
    with pytest.warns(UserWarning, match="leaves out b"):
        view_columns([["a", "c"]], 3, ["a", "b", "c"])


def test_the_root_has_the_rank_of_the_coupling():
    """R Rᵀ = G, also where G is singular: all couplings equal to the regularization."""
    G = check_coupling(2.0, 2.0, 3)
    R = rooted(G)
    assert R.shape == (3, 1)
    np.testing.assert_allclose(R @ R.T, G, atol=1e-12)
    G = check_coupling([1.0, 2.0, 3.0], 0.5, 3)
    np.testing.assert_allclose(rooted(G) @ rooted(G).T, G, atol=1e-12)


def test_a_coupling_that_is_not_convex_is_refused_with_its_eigenvalue():
    """ρ₁₂ = ρ₁₃ = γ, ρ₂₃ = 0 meets the published bound and has the eigenvalue 1 − √2."""
    coupling = [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    with pytest.raises(ValueError, match=r"eigenvalue -0\.414"):
        check_coupling(1.0, coupling, 3)


@pytest.mark.parametrize(
    ("regularization", "coupling", "message"),
    [
        (0.0, 0.0, "regularization=0.0 must be a finite number > 0"),
        ([1.0], 0.0, "regularization"),
        (1.0, np.nan, "coupling=nan"),
        (1.0, [[0, 0.1], [0.2, 0]], "symmetric"),
        (1.0, 1.5, "eigenvalue -0.5"),
    ],
)
def test_bad_couplings_are_refused(regularization, coupling, message):
    """The error names the parameter."""
    with pytest.raises(ValueError, match=message):
        check_coupling(regularization, coupling, 2)
