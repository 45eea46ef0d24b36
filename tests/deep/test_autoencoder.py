"""StackedAutoencoder."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from gramian.deep import StackedAutoencoder
from gramian.persistence import load, save


def small(**changes):
    settings = {"hidden_layer_sizes": (40,), "max_iter": 150, "pretrain_iter": 30, "batch_size": 50, "random_state": 0}
    # So few steps are all needed to learn.
    return StackedAutoencoder(**({"n_components": 10, "cool_down": 0.0} | settings | changes))


@pytest.fixture(scope="module")
def X():
    return load_digits().data[:200] / 16


@pytest.fixture(scope="module")
def fitted(X):
    return small().fit(X)


def test_a_linear_network_spans_the_main_components(X):
    """Without activations and pre-training the best reconstruction is that of PCA."""
    rows = StandardScaler().fit_transform(X[:, 20:23])
    net = small(
        n_components=1,
        hidden_layer_sizes=(),
        activation="identity",
        pretrain_iter=0,
        batch_size=200,
        learning_rate=0.02,
    )
    pca = PCA(1).fit(rows)
    best = np.mean((pca.inverse_transform(pca.transform(rows)) - rows) ** 2)
    assert -net.fit(rows).score(rows) == pytest.approx(best, rel=1e-3)


def test_training_lowers_the_error(fitted, X):
    assert fitted.n_iter_ == len(fitted.loss_curve_) == 150
    assert fitted.loss_curve_[-20:].mean() < 0.7 * fitted.loss_curve_[:5].mean()
    assert -fitted.score(X) < 0.5 * X.var(axis=0).mean()
    np.testing.assert_array_equal(fitted.loss_curve_, fitted.reconstruction_curve_)


def test_the_last_steps_hardly_move_the_weights(X):
    """With a cool-down the last of 40 steps is a twentieth of what it is without; before the cool-down all is equal."""
    moves = {}
    for cool_down in (0.0, 0.5):
        seen = []
        keep = lambda step, terms, net, seen=seen: seen.append(net.weights_["up.0"])  # noqa: E731
        small(cool_down=cool_down, max_iter=40, pretrain_iter=0, callbacks=keep).fit(X)
        moves[cool_down] = [np.abs(new - old).max() for old, new in pairwise(seen)]
    assert moves[0.5][:20] == moves[0.0][:20]
    assert moves[0.5][-1] < 0.1 * moves[0.0][-1]
    with pytest.raises(ValueError, match="cool_down=2"):
        small(cool_down=2).fit(X)


def test_shapes_and_the_way_back(fitted, X):
    Z = fitted.transform(X)
    assert Z.shape == (200, 10)
    np.testing.assert_array_equal(fitted.inverse_transform(Z), fitted.reconstruct(X))
    assert fitted.reconstruct(X).shape == X.shape
    assert -fitted.score(X) == pytest.approx(np.mean((fitted.reconstruct(X) - X) ** 2))


def test_saved_models_answer_the_same(fitted, X, tmp_path):
    save(fitted, tmp_path / "net.gramian")
    np.testing.assert_array_equal(load(tmp_path / "net.gramian").transform(X), fitted.transform(X))


def test_denoising_projects_codes_on_the_main_components_of_training_codes(fitted, X):
    """D(mean + U Uᵀ (z − mean)) with U from PCA of the codes of fit; all components change nothing."""
    pca = PCA(4).fit(fitted.transform(X))
    expected = fitted.inverse_transform(pca.inverse_transform(pca.transform(fitted.transform(X[:9]))))
    np.testing.assert_allclose(fitted.denoise(X[:9], 4), expected, atol=1e-4)
    np.testing.assert_allclose(fitted.denoise(X[:9], 10), fitted.reconstruct(X[:9]), atol=1e-8)
    with pytest.raises(ValueError, match=r"n_components=11 is more than 10"):
        fitted.denoise(X, 11)


def test_interpolation_decodes_the_straight_way(fitted, X):
    Z = fitted.transform(X[:2])
    way = fitted.interpolate(Z[0], Z[1], 5)
    assert way.shape == (5, 64)
    np.testing.assert_allclose(way[[0, 4]], fitted.reconstruct(X[:2]), atol=1e-12)
    np.testing.assert_allclose(way[1], fitted.inverse_transform(0.75 * Z[:1] + 0.25 * Z[1:])[0], atol=1e-12)
    with pytest.raises(ValueError, match=r"z1 has shape \(3,\); pass one code of 10 numbers"):
        fitted.interpolate(Z[0], Z[1][:3])
    with pytest.raises(ValueError, match="n_steps=1"):
        fitted.interpolate(Z[0], Z[1], 1)


def test_masking_noise_makes_another_network(X):
    clean = small().fit(X)
    noisy = small(corruption=0.2).fit(X)
    assert not np.allclose(clean.transform(X), noisy.transform(X))
    np.testing.assert_array_equal(noisy.transform(X), noisy.transform(X))  # none at transform


def test_rows_outside_the_unit_interval_are_scaled_and_brought_back(X):
    """Standardised columns by default; a sigmoid takes all pixels by one factor, and says so."""
    pixels = X * 255
    plain = small().fit(pixels)
    assert plain.architecture_["output_activation"] == "identity"
    assert np.mean((plain.reconstruct(pixels) - pixels) ** 2) < 0.7 * pixels.var(axis=0).mean()
    with pytest.warns(UserWarning, match="the values of X go from 0 to 255, and those of a sigmoid from 0 to 1"):
        scaled = small(output_activation="sigmoid").fit(pixels)
    expected = small().fit(X)
    np.testing.assert_allclose(scaled.transform(pixels), expected.transform(X), atol=1e-4)
    np.testing.assert_allclose(scaled.reconstruct(pixels) / 255, expected.reconstruct(X), atol=1e-4)


@pytest.fixture(scope="module")
def holes(X):
    return np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)


def test_rows_with_holes_are_encoded_and_filled(X, holes):
    """Observed cells stay as they are; the others are filled better than by the columns' means."""
    net = small(max_iter=300).fit(holes)
    assert net.architecture_["masked"]
    assert np.isfinite(net.transform(holes)).all()
    filled, missing = net.impute(holes), np.isnan(holes)
    np.testing.assert_array_equal(filled[~missing], holes[~missing])
    np.testing.assert_array_equal(filled[missing], net.reconstruct(holes)[missing])
    means = np.broadcast_to(np.nanmean(holes, axis=0), X.shape)
    assert np.mean((filled - X)[missing] ** 2) < 0.75 * np.mean((means - X)[missing] ** 2)
    np.testing.assert_array_equal(net.impute(X), X)


def test_holes_after_a_complete_fit_are_refused_by_name(fitted, holes):
    for method in ("transform", "reconstruct", "impute", "denoise", "score"):
        with pytest.raises(ValueError, match=r"X contains NaN in \d+ of 200 rows, but the rows of fit had none"):
            getattr(fitted, method)(holes)


def test_columns_and_rows_without_a_value_stay_finite(holes):
    holes = holes.copy()
    holes[:, 5], holes[7] = np.nan, np.nan
    with pytest.warns(UserWarning, match=r"columns \[5\] of X have no observed value"):
        net = small(max_iter=10).fit(holes)
    assert np.isfinite(net.transform(holes)).all()
    assert np.isfinite(net.impute(holes)).all()


def test_dead_codes_are_told(X):
    """Codes that are zero for every row are no silent success."""
    with pytest.warns(ConvergenceWarning, match="all codes are zero for every row of X"):
        small(max_iter=30, learning_rate=50.0).fit(X - 3)


def test_early_stopping_keeps_the_best(X):
    net = small(max_iter=2000, early_stopping=True, n_iter_no_change=2, learning_rate=0.01).fit(X)
    assert net.n_iter_ < 2000
    assert len(net.validation_curve_) >= 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_layer_sizes": (3, 0)}, "hidden_layer_sizes=0"),
        ({"activation": "step"}, "activation='step' is not known"),
        ({"code_activation": 3}, "code_activation=3"),
        ({"output_activation": "auto "}, "output_activation"),
        ({"corruption": 1.0}, "corruption=1.0"),
        ({"corruption": "some"}, "corruption='some'"),
        ({"tied_weights": "yes"}, "tied_weights='yes'"),
        ({"pretrain_iter": -1}, "pretrain_iter=-1"),
    ],
)
def test_bad_parameters_are_refused_by_name(X, changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes).fit(X)


def test_codes_of_another_size_are_refused(fitted):
    with pytest.raises(ValueError, match="Z has 3 columns but the codes have 10"):
        fitted.inverse_transform(np.zeros((2, 3)))
