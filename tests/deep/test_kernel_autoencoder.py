"""KernelAutoencoder: codes that follow a kernel."""

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from sklearn.datasets import load_digits

from gramian import KernelPageRank
from gramian.deep import KernelAutoencoder, StackedAutoencoder, alignment_distance, base, ideal_kernel, prior
from gramian.deep.architecture import linear
from gramian.deep.losses import code_distance
from gramian.deep.training import Settings, train
from gramian.grams.features import FeatureGram
from gramian.kernels import RBF, ClusterKernel, Linear, Precomputed
from gramian.persistence import load, save

PRIOR = ClusterKernel(5, 8)


def small(**changes):
    settings = {"hidden_layer_sizes": (60,), "max_iter": 150, "pretrain_iter": 30, "batch_size": 60, "random_state": 0}
    # So few steps are all needed to learn.
    return KernelAutoencoder(**({"n_components": 30, "kernel": PRIOR, "cool_down": 0.0} | settings | changes))


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500] / 16, y[:500]


@pytest.fixture(scope="module")
def X(digits):
    return digits[0]


@pytest.fixture(scope="module")
def fitted(X):
    return small(max_iter=400).fit(X[:350])


def test_codes_of_new_rows_follow_the_prior(X, fitted):
    """Inner products of codes of new rows come near the prior; those of a plain autoencoder stay far."""
    new = X[350:]
    plain = small(alignment_weight=0, max_iter=400).fit(X[:350])
    P = fitted.kernel_(new)
    found = alignment_distance(fitted.code_kernel(new), P)
    assert found < 0.3
    assert alignment_distance(plain.code_kernel(new), P) > 2 * found
    assert fitted.alignment_curve_[-20:].mean() < 0.5 * fitted.alignment_curve_[0] + 0.1
    assert len(fitted.alignment_curve_) == len(fitted.reconstruction_curve_) == fitted.n_iter_ == 400
    Z = fitted.transform(new)
    np.testing.assert_allclose(fitted.code_kernel(new, X[:20]), Z @ fitted.transform(X[:20]).T, rtol=1e-12)


def test_weight_zero_is_the_stacked_autoencoder_bit_for_bit(X):
    names = ("n_components", "hidden_layer_sizes", "max_iter", "pretrain_iter", "batch_size", "random_state")
    kernelized = small(alignment_weight=0, max_iter=20).set_params(cool_down=StackedAutoencoder().cool_down).fit(X)
    plain = StackedAutoencoder(**{name: getattr(kernelized, name) for name in names}).fit(X)
    assert plain.weights_.keys() == kernelized.weights_.keys()
    for name, value in plain.weights_.items():
        np.testing.assert_array_equal(kernelized.weights_[name], value)
    np.testing.assert_array_equal(plain.loss_curve_, kernelized.loss_curve_)
    assert not hasattr(kernelized, "kernel_")


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
def test_dense_factored_and_blockwise_priors_give_one_curve(X, monkeypatch, dtype, tolerance):
    """The loss does not depend on how the prior is held."""
    monkeypatch.setattr(base, "TRAINING_DTYPE", dtype)
    rows = X[:100]
    Phi = ClusterKernel(3, 5, random_state=0).fit(rows).features(rows)
    given = small(kernel="precomputed", max_iter=15, pretrain_iter=5)

    def curves(**how):
        net = given.fit(rows, **how)
        return net.loss_curve_, net.alignment_curve_

    expected = curves(prior=(Phi @ Phi.T).toarray())
    found = [curves(prior_features=Phi), curves(prior_features=Phi.toarray()), curves(prior=FeatureGram(Phi))]
    monkeypatch.setattr(prior, "HELD_BYTES", 0)
    found += [curves(prior_features=Phi), curves(prior=FeatureGram(Phi))]
    for both in found:
        np.testing.assert_allclose(both, expected, rtol=tolerance)


def test_kernels_and_their_matrices_give_one_curve(X, monkeypatch):
    """An RBF asked block by block is its matrix."""
    rows = X[:100]
    K = RBF(2.0)(rows)
    expected = small(kernel="precomputed", max_iter=15).fit(rows, prior=K).loss_curve_
    np.testing.assert_allclose(small(kernel=RBF(2.0), max_iter=15).fit(rows).loss_curve_, expected, rtol=1e-5)
    monkeypatch.setattr(prior, "HELD_BYTES", 0)
    np.testing.assert_allclose(small(kernel=RBF(2.0), max_iter=15).fit(rows).loss_curve_, expected, rtol=1e-5)


def test_a_linear_encoder_finds_the_linear_kernel():
    """With λ = 1, full batches and as many codes as columns the distance to X Xᵀ falls below 0.02."""
    X = torch.tensor(np.random.default_rng(0).normal(size=(300, 8)), dtype=torch.float32)
    P, net = X @ X.T, linear(8, 8, torch.Generator().manual_seed(0), bias=False)
    loss = lambda batch: {"loss": code_distance(net(X), P)}  # noqa: E731
    history = train(net, loss, 300, Settings(600, batch_size=300, learning_rate=3e-3), np.random.default_rng(0))
    assert history.curves["loss"][-1] < 0.02


@pytest.mark.parametrize("alignment", ["squared", "centered"])
def test_other_alignments_lower_their_own_term(X, alignment):
    net = small(alignment=alignment).fit(X)
    P, C = net.kernel_(X), net.code_kernel(X)
    centered = alignment == "centered"
    plain = small(alignment_weight=0).fit(X).code_kernel(X)
    assert alignment_distance(C, P, centered=centered) < 0.7 * alignment_distance(plain, P, centered=centered)
    assert net.alignment_curve_[-20:].mean() < net.alignment_curve_[:5].mean()


def test_labels_pull_codes_together(digits):
    """The supervised prior brings new rows near the ideal kernel of their labels."""
    X, y = digits
    net = small(kernel="ideal", max_iter=300).fit(X[:350], y[:350])
    new, ideal = X[350:], ideal_kernel(y[350:])
    assert alignment_distance(net.code_kernel(new), ideal) < 0.8
    assert alignment_distance(small(alignment_weight=0).fit(X[:350]).code_kernel(new), ideal) > 1.1
    with pytest.raises(ValueError, match="fit requires y"):
        small(kernel="ideal").fit(X)


def test_codes_can_be_made_for_ranking(X):
    """With the kernel of PageRank as prior, inner products of codes rank new rows as KernelPageRank does.

    d_j π_i(j) = d_i d_j / vol + β √(d_i d_j) z_i·z_j is symmetric: its features are d_i / √vol and √(β d_i) z_i.
    """
    old, new = X[:350], X[350:]
    rank = KernelPageRank(kernel=ClusterKernel(10, 10, random_state=0), n_components=10).fit(old)
    degrees, pull = rank.degrees_[:, None], rank.restart / (1 - rank.restart)
    Phi = np.hstack([degrees / np.sqrt(rank.volume_), np.sqrt(pull * degrees) * rank.embedding_])
    np.testing.assert_allclose(Phi @ Phi[3] / degrees[3], rank.scores(3), atol=1e-12)
    net = small(kernel="precomputed", code_activation="identity", hidden_layer_sizes=(100, 100), max_iter=400)
    net.set_params(alignment_weight=0.5, batch_size=100).fit(old, prior_features=Phi)
    alike = [
        spearmanr(net.code_kernel(new, old[[seed]])[:, 0], rank.score_samples(new, seed)).statistic for seed in range(5)
    ]
    assert np.mean(alike) > 0.8


def test_save_load_and_export(fitted, X, tmp_path):
    save(fitted, tmp_path / "net.gramian")
    back = load(tmp_path / "net.gramian")
    np.testing.assert_array_equal(back.transform(X), fitted.transform(X))
    assert back.score(X[:60]) == fitted.score(X[:60])


def test_the_score_is_minus_the_loss(fitted, X):
    """(1 − λ) error + λ distance, over batches of the rows."""
    new = X[350:410]
    error = np.mean((fitted.reconstruct(new) - new) ** 2)
    distance = alignment_distance(fitted.code_kernel(new), fitted.kernel_(new))
    assert fitted.score(new) == pytest.approx(-(0.9 * error + 0.1 * distance))


def test_rows_with_holes_have_codes_that_follow_the_prior(X):
    """With 20 % of the cells gone the distance to the prior of new rows is within 0.1 of the complete fit's."""
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    distances = []
    for rows in (X, holes):
        net = small(max_iter=300).fit(rows[:350])
        distances.append(alignment_distance(net.code_kernel(rows[350:]), net.kernel_(rows[350:])))
    assert distances[1] < distances[0] + 0.1
    missing = np.isnan(holes[350:])
    filled = net.impute(holes[350:])
    means = np.broadcast_to(np.nanmean(holes[:350], axis=0), filled.shape)
    truth = X[350:]
    assert np.mean((filled - truth)[missing] ** 2) < 0.7 * np.mean((means - truth)[missing] ** 2)


def test_holes_need_a_kernel_that_takes_them(X):
    holes = X[:60].copy()
    holes[0, 0] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        small(kernel="rbf").fit(holes)
    small(kernel="precomputed", max_iter=3, pretrain_iter=0).fit(holes, prior=RBF(1.0)(X[:60]))


def test_published_settings_are_one_call():
    net = KernelAutoencoder.published(random_state=0)
    assert (net.n_components, net.hidden_layer_sizes, net.batch_size) == (2000, (500, 500, 2000), 200)
    assert (net.pretrain_iter, net.max_iter, net.cool_down) == (30 * 70**2, 100 * 70**2, 0)
    assert KernelAutoencoder.published(1000).max_iter == 100 * 5**2


def test_weight_one_says_that_nothing_comes_back(X):
    with pytest.warns(UserWarning, match="alignment_weight=1 leaves the decoder untrained"):
        small(alignment_weight=1, max_iter=3, pretrain_iter=0).fit(X)


def test_negative_priors_and_non_negative_codes_are_told(X):
    with pytest.warns(UserWarning, match="negative similarities"):
        small(kernel=Linear(), max_iter=3, pretrain_iter=0).fit(X - X.mean(axis=0))
    small(kernel=Linear(), code_activation="identity", max_iter=3, pretrain_iter=0).fit(X - 0.5)


@pytest.mark.parametrize(
    ("changes", "how", "message"),
    [
        ({"kernel": "precomputed"}, {}, r"kernel='precomputed' needs the similarities of X; pass fit\(X, prior=P\)"),
        ({"kernel": Precomputed()}, {}, "kernel takes similarities instead of rows"),
        ({"kernel": "rbf"}, {"prior": np.eye(50)}, "prior is for kernel='precomputed'"),
        ({"kernel": "precomputed"}, {"prior": np.eye(3)}, r"prior has shape \(3, 3\) but X has 50 rows"),
        ({"kernel": "precomputed"}, {"prior": np.eye(50), "prior_features": np.eye(50)}, "two ways"),
        ({"kernel": "nothing"}, {}, "kernel='nothing'"),
        ({"alignment_weight": 1.5}, {}, "alignment_weight=1.5"),
        ({"alignment": "cosine"}, {}, "alignment='cosine'"),
        ({"n_components": 0}, {}, "n_components=0"),
    ],
)
def test_bad_input_is_refused_by_name(X, changes, how, message):
    with pytest.raises(ValueError, match=message):
        small(**changes).fit(X[:50], **how)


@pytest.mark.parametrize("scale", [1e-60, 2e-9, 3e60])
def test_the_scale_of_a_prior_means_nothing(scale):
    """Similarities beyond single precision give the curve that those near one give, up to their rounding."""
    X = np.random.default_rng(0).normal(size=(30, 4))
    net = small(kernel="precomputed", code_activation="identity", max_iter=5, pretrain_iter=0)
    expected = net.fit(X, prior=X @ X.T).alignment_curve_
    np.testing.assert_allclose(net.fit(X, prior=scale * (X @ X.T)).alignment_curve_, expected, rtol=1e-4)


def test_a_second_fit_forgets_the_first_prior():
    """Without a kernel of its own the second fit has no ``kernel_``, so that score does not ask the first one's."""
    X = np.random.default_rng(0).normal(size=(30, 4))
    net = small(kernel=RBF(), max_iter=3, pretrain_iter=0).fit(X)
    net.set_params(alignment_weight=0).fit(X)
    assert not hasattr(net, "kernel_")
    assert not hasattr(net, "alignment_curve_")
    assert net.score(X) == pytest.approx(-net._error(X))
