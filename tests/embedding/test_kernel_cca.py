"""Kernel CCA against linear CCA, its limits, the choice of ν, landmarks, and bad input."""

import numpy as np
import pytest
from scipy.linalg import sqrtm
from sklearn.cross_decomposition import CCA
from sklearn.exceptions import NotFittedError

from gramian import KernelCCA, Nystroem
from gramian.embedding import two_views
from gramian.embedding.kernel_cca import _held_out
from gramian.kernels import RBF, Linear


def views(n=200, seed=0):
    """Two views that share two hidden columns, with noise."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, 2))
    X = hidden @ rng.standard_normal((2, 4)) + rng.standard_normal((n, 4))
    Y = hidden @ rng.standard_normal((2, 3)) + 0.5 * rng.standard_normal((n, 3))
    return X, Y


def canonical_correlations(X, Y):
    """Singular values of Q_xᵀ Q_y, with orthonormal bases of the centred columns."""
    bases = [np.linalg.qr(part - part.mean(axis=0))[0] for part in (X, Y)]
    return np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)


def test_linear_kernels_with_large_nu_are_linear_cca():
    """ν λ and the correlations of the scores tend to the canonical correlations; the scores are scikit-learn's."""
    X, Y = views()
    expected = canonical_correlations(X, Y)[:2]
    model = KernelCCA(2, kernel_x="linear", kernel_y="linear", nu_x=1e6, nu_y=1e6).fit(X, Y)
    np.testing.assert_allclose(1e6 * model.singular_values_, expected, rtol=1e-6)
    np.testing.assert_allclose(model.correlations_, expected, rtol=1e-6)
    theirs = CCA(2, scale=False, tol=1e-12, max_iter=10_000).fit(X, Y).transform(X)
    ours = model.transform(X)
    for j in range(2):
        assert abs(np.corrcoef(theirs[:, j], ours[:, j])[0, 1]) == pytest.approx(1, abs=1e-6)


def test_smaller_nu_shrinks():
    """ν λ grows with ν towards the canonical correlation."""
    X, Y = views(80)
    found = [
        nu * KernelCCA(1, kernel_x="linear", kernel_y="linear", nu_x=nu, nu_y=nu).fit(X, Y).singular_values_[0]
        for nu in (0.01, 1.0, 100.0)
    ]
    assert found[0] < found[1] < found[2] < canonical_correlations(X, Y)[0]


def test_scores_of_both_views_and_new_samples():
    """transform gives centred kernel expansions, of fitted samples and new ones."""
    X, Y = views(120)
    kernel_x, kernel_y = RBF(width=2.0), RBF(width=1.5)
    model = KernelCCA(2, kernel_x=kernel_x, kernel_y=kernel_y, nu_x=1.0, nu_y=1.0).fit(X[:80], Y[:80])
    e, r = model.transform(X[80:], Y[80:])
    for scores, kernel, Z, a in ((e, kernel_x, X, model.dual_coef_x_), (r, kernel_y, Y, model.dual_coef_y_)):
        K = kernel(Z[:80])
        expected = (kernel(Z[80:], Z[:80]) - K.mean(axis=0)) @ a
        np.testing.assert_allclose(scores, expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_array_equal(model.transform(X[80:]), e)
    fitted = np.array([np.corrcoef(*(s[:, j] for s in model.transform(X[:80], Y[:80])))[0, 1] for j in range(2)])
    np.testing.assert_allclose(fitted, model.correlations_, atol=1e-10)


def test_nu_is_chosen_by_held_out_correlation():
    """Unregularised kernel CCA finds a perfect correlation in noise; the chosen ν carries over to new samples."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.standard_normal((300, 2))
    Y = np.column_stack([np.cos(2 * angle), rng.standard_normal(300)])

    def new(model):
        e, r = model.fit(X[:150], Y[:150]).transform(X[150:], Y[150:])
        return np.corrcoef(e[:, 0], r[:, 0])[0, 1]

    chosen = KernelCCA(1, random_state=0)
    kept = new(chosen)
    assert kept > 0.9
    table = chosen.tuning_
    assert table["nu_x"].shape == table["nu_y"].shape == table["correlation"].shape == (9,)
    best = np.argmax(table["correlation"])
    assert (chosen.nu_x_, chosen.nu_y_) == (table["nu_x"][best], table["nu_y"][best])
    loose = KernelCCA(1, kernel_x=RBF(0.2), kernel_y=RBF(0.2), nu_x=1e8, nu_y=1e8)
    Y[:, 0] = rng.standard_normal(300)
    assert abs(new(loose)) < 0.3
    assert loose.correlations_[0] > 0.999
    assert loose.tuning_ is None
    half = KernelCCA(1, nu_x=3.0, random_state=0).fit(X, Y)
    assert half.nu_x_ == 3.0
    assert half.nu_y_ > 0


def test_landmarks_stand_for_many_rows(monkeypatch):
    """Above the limit the Grams are held by landmarks; with all rows as landmarks nothing changes."""
    X, Y = views(150)
    exact = KernelCCA(2, kernel_x=RBF(2.0), kernel_y=RBF(2.0), nu_x=0.1, nu_y=0.1).fit(X, Y)
    monkeypatch.setattr(two_views, "_EXACT_ROWS", 100)
    monkeypatch.setattr(two_views, "_LANDMARKS", 150)
    through = KernelCCA(2, kernel_x=RBF(2.0), kernel_y=RBF(2.0), nu_x=0.1, nu_y=0.1, random_state=0).fit(X, Y)
    assert isinstance(through.kernel_x_, Nystroem)
    np.testing.assert_allclose(through.singular_values_, exact.singular_values_, rtol=1e-6)
    np.testing.assert_allclose(np.abs(through.transform(X)), np.abs(exact.transform(X)), atol=1e-5)
    monkeypatch.setattr(two_views, "_LANDMARKS", 60)
    few = KernelCCA(2, kernel_x=RBF(2.0), kernel_y=RBF(2.0), nu_x=0.1, nu_y=0.1, random_state=0).fit(X, Y)
    np.testing.assert_allclose(few.singular_values_, exact.singular_values_, rtol=0.05)
    assert isinstance(KernelCCA(1, kernel_x="linear", kernel_y="linear").fit(X, Y).kernel_x_, Linear)


def test_similarities_instead_of_rows():
    """Precomputed Grams give the scores that their kernels give."""
    X, Y = views(60)
    Kx, Ky = RBF(2.0)(X), RBF(2.0)(Y)
    rows = KernelCCA(2, kernel_x=RBF(2.0), kernel_y=RBF(2.0), nu_x=1.0, nu_y=1.0).fit(X[:40], Y[:40])
    given = KernelCCA(2, kernel_x="precomputed", kernel_y="precomputed", nu_x=1.0, nu_y=1.0)
    given.fit(Kx[:40, :40], Ky[:40, :40])
    for found, expected in zip(
        given.transform(Kx[40:, :40], Ky[40:, :40]), rows.transform(X[40:], Y[40:]), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-8)


def test_random_state_reaches_the_kernels():
    """Kernels that draw random numbers follow the random_state of the estimator."""
    X, Y = views(60)
    kernel = Nystroem(20, kernel=RBF(2.0))
    first, again = (KernelCCA(1, kernel_x=kernel, kernel_y=kernel, random_state=3).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(first.transform(X), again.transform(X))
    assert set(first.kernel_x_.landmark_indices_) != set(first.kernel_y_.landmark_indices_)


def test_one_column_and_few_rows():
    """A vector Y is one column and leaves one pair with a linear kernel; six rows are enough without hold-out."""
    X, Y = views(50)
    assert KernelCCA(3, kernel_y="linear", random_state=0).fit(X, Y[:, 0]).n_components_ == 1
    assert KernelCCA(1).fit(X[:6], Y[:6]).tuning_ is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_components": 0}, "n_components=0 must be a whole number >= 1"),
        ({"n_components": 51}, "n_components=51 is more than the n_samples=50"),
        ({"nu_x": -1.0}, "nu_x=-1.0 must be a finite number >= 0 or None"),
        ({"nu_y": np.inf}, "nu_y=inf must be a finite number >= 0 or None"),
        ({"kernel_y": "gauss"}, "kernel_y: kernel='gauss' is not a kernel"),
        ({"kernel_x": "squared_distance", "kernel_y": "tanh"}, r"kernel_y=Tanh\(\) is indefinite here .*'rbf'"),
    ],
)
def test_bad_parameters_are_named(changes, message):
    """Each bad parameter raises a ValueError that names it and what is allowed."""
    X, Y = views(50)
    with pytest.raises(ValueError, match=message):
        KernelCCA().set_params(**changes).fit(3 * X, 3 * Y)


def test_bad_views_are_refused():
    """Other numbers of rows or columns, constant views, and asking before fit."""
    X, Y = views(50)
    with pytest.raises(ValueError, match="Y has 49 rows but X has 50; pass the same samples in both"):
        KernelCCA().fit(X, Y[:49])
    with pytest.raises(ValueError, match="fit requires y to be passed"):
        KernelCCA().fit(X, None)
    with pytest.raises(ValueError, match="all rows of Y are alike under its kernel"):
        KernelCCA(kernel_y="linear").fit(X, np.ones(50))
    with pytest.raises(ValueError, match="Y contains NaN"):
        KernelCCA().fit(X, np.full((50, 2), np.nan))
    with pytest.raises(NotFittedError):
        KernelCCA().transform(X)
    model = KernelCCA(random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="Y has 2 columns but fit saw 3; pass the same ones"):
        model.transform(X, Y[:, :2])
    with pytest.raises(ValueError, match="Y has 3 rows but X has 50"):
        model.transform(X, Y[:3])


def test_nu_is_chosen_where_a_singular_value_decomposition_fails():
    """LAPACK's does not converge on one of the graded matrices of these rows."""
    rng = np.random.default_rng(1)
    shared = rng.normal(size=1200)
    X, Y = (
        np.column_stack([shared + 0.7 * rng.normal(size=1200), *(rng.normal(size=1200) for _ in range(5))])[:200]
        for _ in range(2)
    )
    model = KernelCCA(1, random_state=0).fit(X, Y)
    assert model.tuning_["correlation"].max() > 0.5


def test_held_out_correlations_are_those_of_directions_of_the_other_rows():
    """ν counts as much for fewer rows: it is larger by the share of rows that are missing."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 4))
    W = Z[:, :3] + rng.normal(size=(60, 3))
    out = np.arange(60) % 3 == 0
    A, B = Z[~out] - Z[~out].mean(axis=0), W[~out] - W[~out].mean(axis=0)
    tried = np.array([[0.01, 0.02], [0.3, 0.1], [5.0, 5.0]])
    expected = []
    for nu_x, nu_y in 1.5 * tried:
        roots = [np.linalg.inv(sqrtm(nu * P.T @ P + np.eye(P.shape[1]))) for nu, P in ((nu_x, A), (nu_y, B))]
        U, _, V = np.linalg.svd(roots[0] @ A.T @ B @ roots[1])
        pairs = [(Z[out] @ roots[0] @ U[:, j], W[out] @ roots[1] @ V[j]) for j in range(2)]
        expected.append(np.mean([np.corrcoef(*pair)[0, 1] for pair in pairs]))
    np.testing.assert_allclose(_held_out(Z, W, out, tried, 2), expected, rtol=1e-8)
