"""Echo state networks against textbook computations with all states in memory, and closed loops step by step."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import FeatureUnion
from sklearn.svm import NuSVR

from gramian import EchoStateNetwork, KernelPCA, Reservoir, load, save
from gramian.datasets import make_mackey_glass, make_narma
from gramian.kernels import RBF
from gramian.metrics import nrmse


@pytest.fixture(scope="module")
def narma():
    return make_narma(900, random_state=0)


def standard(X, like=None):
    like = X if like is None else like
    return (X - like.mean(axis=0)) / like.std(axis=0)


def harvested(network, U, y):
    """States and readout inputs of all steps, computed by the reservoir alone."""
    H = Reservoir.transform(network.reservoir_, standard(U))
    return H, np.hstack([H, network.input_scaling * standard(U)])


@pytest.mark.parametrize("regularization", [0.3, "auto"])
def test_a_streamed_ridge_is_the_one_in_memory(narma, regularization):
    U, y = narma
    network = EchoStateNetwork(50, washout=100, regularization=regularization, random_state=0).fit(U, y)
    _, S = harvested(network, U, y)
    model = Ridge(alpha=network.regularization_, solver="cholesky").fit(S[100:], standard(y)[100:])
    expected = model.predict(S) * y.std() + y.mean()
    np.testing.assert_allclose(network.predict(U, "zeros"), expected, rtol=1e-9, atol=1e-9)


def test_full_pca_with_ridge_is_ridge(narma):
    U, y = narma
    plain, full = (
        EchoStateNetwork(40, reduction=reduction, n_components=count, regularization=0.1, random_state=0).fit(U, y)
        for reduction, count in ((None, None), ("pca", 1.0))
    )
    np.testing.assert_allclose(full.predict(U), plain.predict(U), rtol=1e-9, atol=1e-9)
    assert full.n_components_ == 40


@pytest.mark.parametrize("readout", ["ridge", "ols"])
def test_folded_pca_is_pca_and_then_the_readout(narma, readout):
    U, y = narma
    options = {"n_components": 8, "regularization": 0.1, "random_state": 0, "washout": 50}
    network = EchoStateNetwork(40, reduction="pca", readout=readout, **options).fit(U, y)
    H, _ = harvested(network, U, y)
    Z = PCA(8).fit(H[50:]).transform(H)
    S = np.hstack([Z, 0.5 * standard(U)])
    model = Ridge(alpha=0.1 if readout == "ridge" else 0.0, solver="svd").fit(S[50:], standard(y)[50:])
    np.testing.assert_allclose(network.predict(U, "zeros"), model.predict(S) * y.std() + y.mean(), rtol=1e-7)
    found = network.transform(U, "zeros")
    np.testing.assert_allclose(found, Z * np.sign((found * Z).sum(axis=0)), atol=1e-9)
    apart = EchoStateNetwork(40, reduction="pca", readout=Ridge(alpha=0.1), **options).fit(U, y)
    if readout == "ridge":
        np.testing.assert_allclose(apart.predict(U), network.predict(U), rtol=1e-9)


def test_the_kernel_layer_is_kernel_pca(narma):
    U, y = (part[:400] for part in narma)
    network = EchoStateNetwork(30, reduction="kpca", n_components=6, washout=50, random_state=0).fit(U, y)
    H, _ = harvested(network, U, y)
    layer = KernelPCA(6, kernel=RBF("median")).fit(H[50:])
    np.testing.assert_allclose(network.transform(U, "zeros"), layer.transform(H), atol=1e-8)
    np.testing.assert_allclose(network.transform(U, "zeros")[50:], layer.embedding_, atol=1e-8)
    from sklearn.decomposition import KernelPCA as Peer

    peer = Peer(6, kernel="rbf", gamma=0.5 / layer.kernel_.width_**2).fit(H[50:]).transform(H)
    found = network.transform(U, "zeros")
    np.testing.assert_allclose(found, peer * np.sign((found * peer).sum(axis=0)), atol=1e-8)


def test_reductions_side_by_side(narma):
    U, y = (part[:400] for part in narma)
    union = FeatureUnion([("linear", PCA(10)), ("curved", KernelPCA(10))])
    network = EchoStateNetwork(30, reduction=union, random_state=0).fit(U, y)
    assert network.transform(U).shape == (400, 20)
    assert network.score(U, y) > 0.4


@pytest.mark.parametrize(
    "readout", ["ridge", "ols", "lasso", "elastic_net", "nu_svr", "linear_nu_svr", "ls_svm", NuSVR(C=5.0), Ridge(0.1)]
)
def test_every_readout_learns_narma(narma, readout):
    U, y = narma
    network = EchoStateNetwork(40, readout=readout, input_scaling=0.2, random_state=0).fit(U[:500], y[:500])
    assert network.score(U[500:], y[500:]) > 0.45
    assert hasattr(network, "partial_fit") == (readout in ("ridge", "ols", "lasso", "elastic_net"))


def test_other_regressors_see_the_scaled_targets(narma):
    """ω_o y is what a ν-SVR, whose tube and C have units, learns; its answers are divided by ω_o."""
    U, y = (part[:300] for part in narma)
    svr = NuSVR(C=2.0, nu=0.4, gamma=0.1, tol=1e-9)
    options = {"teacher_scaling": 0.3, "washout": 30, "random_state": 0}
    network = EchoStateNetwork(20, readout=svr, **options).fit(U, y)
    _, S = harvested(network, U, y)
    model = svr.fit(S[30:], 0.3 * standard(y)[30:])
    np.testing.assert_allclose(network.predict(U, "zeros"), model.predict(S) / 0.3 * y.std() + y.mean(), rtol=1e-6)


def test_it_remembers_five_steps():
    """The delay task of the specification: x[t−5] from x[t], NRMSE below 0.1."""
    x = np.random.default_rng(0).uniform(-1, 1, 2600)
    options = {"n_units": 100, "input_scaling": 0.1, "regularization": 0.1, "standardize": False}
    network = EchoStateNetwork(**options, random_state=0).fit(x[5:2005, None], x[:2000])
    assert nrmse(x[2000:2595], network.predict(x[2005:, None])) < 0.1


def test_states_of_the_rows_of_fit_and_of_those_that_follow(narma):
    U, y = narma
    network = EchoStateNetwork(30, random_state=0).fit(U[:600], y[:600])
    whole = Reservoir.transform(network.reservoir_, standard(U, U[:600]))
    np.testing.assert_allclose(network.states(U[:600], "zeros"), whole[:600], atol=1e-12)
    np.testing.assert_allclose(network.states(U[600:]), whole[600:], atol=1e-12)
    np.testing.assert_allclose(network.state_, whole[599], atol=1e-12)
    np.testing.assert_array_equal(network.transform(U), network.states(U))
    with pytest.raises(ValueError, match="initial_state='warm'"):
        network.predict(U, initial_state="warm")


def test_advance_moves_the_state_without_learning(narma):
    U, y = narma
    network = EchoStateNetwork(30, random_state=0).fit(U[:600], y[:600])
    expected, coefficients = network.predict(U[600:])[100:], network.coef_
    assert network.advance(U[600:700], y[600:700]) is network
    np.testing.assert_allclose(network.predict(U[700:]), expected, rtol=1e-12)
    assert network.coef_ is coefficients
    with pytest.raises(ValueError, match="one sequence"):
        network.advance([U[:5], U[5:9]])


def test_partial_fit_is_fit(narma):
    """With scales from the first part, parts that follow each other give the sums of the whole."""
    U, y = narma
    options = {"regularization": 0.1, "standardize": False, "washout": 50, "feedback_scaling": 0.1, "random_state": 0}
    whole = EchoStateNetwork(30, **options).fit(U, y)
    parts = EchoStateNetwork(30, **options)
    for rows in (slice(0, 300), slice(300, 301), slice(301, 900)):
        parts.partial_fit(U[rows], y[rows])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(parts.predict(U), whole.predict(U), rtol=1e-7)
    chosen = EchoStateNetwork(30, random_state=0).partial_fit(U[:500], y[:500]).partial_fit(U[500:], y[500:])
    assert chosen.readout_.n_judged == 90 + 80
    assert chosen.score(U, y) > 0.4


def test_sequences_start_anew_and_answer_in_their_form(narma):
    U, y = narma
    parts, targets = [U[:300], U[300:]], [y[:300], y[300:]]
    network = EchoStateNetwork(30, random_state=0).fit(parts, targets)
    grouped = EchoStateNetwork(30, random_state=0).fit(U, y, groups=np.repeat([1, 2], [300, 600]))
    np.testing.assert_allclose(network.coef_, grouped.coef_, rtol=1e-9)
    found = network.predict(parts)
    assert [len(part) for part in found] == [300, 600]
    np.testing.assert_allclose(found[1], network.predict(U[300:], "zeros"), rtol=1e-12)
    np.testing.assert_allclose(
        np.concatenate(found), grouped.predict(U, groups=np.repeat([1, 2], [300, 600])), rtol=1e-7
    )
    assert [part.shape for part in network.transform(parts)] == [(300, 30), (600, 30)]


def test_several_outputs_have_a_ridge_each(narma):
    U, y = narma
    Y = np.column_stack([y, np.random.default_rng(0).normal(size=len(y))])
    network = EchoStateNetwork(30, random_state=0).fit(U, Y)
    assert network.predict(U).shape == Y.shape
    assert network.regularization_[1] > 100 * network.regularization_[0]
    np.testing.assert_allclose(
        network.predict(U)[:, 0], EchoStateNetwork(30, random_state=0).fit(U, y).predict(U), rtol=1e-6
    )


# Closed loops ----------------------------------------------------------------------------------------------


def test_predictions_are_fed_back(narma):
    U, y = narma
    network = EchoStateNetwork(30, feedback_scaling=0.3, teacher_scaling=0.5, random_state=0).fit(U[:500], y[:500])
    reservoir, u = network.reservoir_, standard(U, U[:500])[500:]
    W = reservoir.recurrent_weights_
    W = W.toarray() if hasattr(W, "toarray") else W
    state, fed, out = network.state_, standard(y[:500])[-1:], []
    for row in u:
        drive = reservoir.input_weights_ @ (0.5 * row) + reservoir.feedback_weights_ @ (0.3 * 0.5 * fed)
        state = np.tanh(W @ state + drive)
        fed = np.concatenate([state, 0.5 * row]) @ network.coef_ + network.intercept_
        out.append(fed[0])
    np.testing.assert_allclose(network.predict(U[500:]), np.array(out) * y[:500].std() + y[:500].mean(), rtol=1e-8)
    np.testing.assert_allclose(network.states(U[500:])[-1], state, atol=1e-9)


def test_it_goes_on_with_sines():
    """A sum of sines, generated for 200 steps from its own outputs, stays on the sines."""
    t = np.arange(1400)
    x = np.sin(0.2 * t) + np.sin(0.311 * t)
    network = EchoStateNetwork(100, input_scaling=0.02, random_state=0).fit(x[:1199, None], x[1:1200])
    assert np.abs(network.generate(200) - x[1200:]).max() < 1e-3


def test_generate_is_one_step_forecasts_fed_in():
    x = make_mackey_glass(600)[:, None]
    network = EchoStateNetwork(50, bias_scaling=0.2, random_state=0).fit(x[:399], x[1:400])
    first = network.predict(x[399:400])
    second = network.predict(np.vstack([x[399:400], first]))[1:]
    np.testing.assert_allclose(network.generate(2), np.vstack([first, second]), rtol=1e-9)
    started = network.generate(3, x[:400])
    np.testing.assert_allclose(started[0], network.predict(x[:400], "zeros")[-1], rtol=1e-12)
    np.testing.assert_allclose(started[1], network.predict(np.vstack([x[:400], started[:1]]), "zeros")[-1], rtol=1e-9)
    assert network.generate(1, x[:400]).shape == (1, 1)


@pytest.mark.parametrize("loop", ["generate", "predict", "states"])
def test_a_loop_that_explodes_is_nan_from_there_on(loop):
    x = np.random.default_rng(0).normal(size=200).cumsum()
    network = EchoStateNetwork(20, feedback_scaling=0.1, random_state=0).fit(x[:-1, None], x[1:])
    network.coef_ = np.zeros_like(network.coef_)
    network.intercept_ = np.array([1e7])
    with pytest.warns(UserWarning, match="diverged at step 0"):
        found = network.generate(5) if loop == "generate" else getattr(network, loop)(x[:5, None])
    assert np.isnan(found).all()


def test_generate_needs_outputs_that_are_inputs(narma):
    U, y = narma
    network = EchoStateNetwork(10, random_state=0).fit(np.hstack([U, U]), y)
    with pytest.raises(ValueError, match="1 outputs and 2 inputs"):
        network.generate(5)
    with pytest.raises(ValueError, match="n_steps=0"):
        EchoStateNetwork(10, random_state=0).fit(U, y).generate(0)


# As an estimator -------------------------------------------------------------------------------------------


def test_noise_is_the_same_at_every_answer_and_another_while_learning(narma):
    U, y = narma
    network = EchoStateNetwork(30, noise=0.05, random_state=0).fit(U, y)
    np.testing.assert_array_equal(network.predict(U, "zeros"), network.predict(U, "zeros"))
    learned = Ridge(network.regularization_).fit(*_noisy_rows(network, U, y, use=1))
    np.testing.assert_allclose(network.coef_[:, 0], learned.coef_, rtol=1e-5, atol=1e-8)
    assert not np.allclose(
        network.coef_[:, 0], Ridge(network.regularization_).fit(*_noisy_rows(network, U, y, use=0)).coef_
    )


def _noisy_rows(network, U, y, use):
    u = standard(U)
    H = network.reservoir_.start(rng=network.reservoir_.noise_source(use)).advance(u)
    return np.hstack([H, 0.5 * u])[network.washout_ :], standard(y)[network.washout_ :]


def test_float32_rows_are_answered_in_float32_of_the_same_digits(narma):
    U, y = (part.astype(np.float32) for part in narma)
    single = EchoStateNetwork(40, random_state=0).fit(U, y)
    double = EchoStateNetwork(40, random_state=0).fit(U.astype(float), y.astype(float))
    assert single.predict(U).dtype == np.float32
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-12)
    np.testing.assert_allclose(single.predict(U), double.predict(U.astype(float)), rtol=1e-6)


def test_search_in_the_order_of_time(narma):
    U, y = narma
    search = GridSearchCV(
        EchoStateNetwork(30, random_state=0),
        {"input_scaling": [0.1, 1.0], "reduction": [None, "pca"]},
        cv=TimeSeriesSplit(3),
    )
    search.fit(U, y)
    assert search.best_score_ > 0.5
    assert search.best_params_["input_scaling"] == 0.1


def test_a_saved_network_goes_on_learning_and_generating(tmp_path):
    x = np.sin(0.2 * np.arange(400))
    network = EchoStateNetwork(40, reduction="pca", random_state=0).fit(x[:299, None], x[1:300])
    save(network, tmp_path / "network.gramian")
    back = load(tmp_path / "network.gramian")
    np.testing.assert_array_equal(back.generate(20), network.generate(20))
    more = (x[299:350, None], x[300:351])
    np.testing.assert_allclose(
        back.partial_fit(*more).generate(20), network.partial_fit(*more).generate(20), rtol=1e-12
    )


def test_many_networks_in_threads_are_those_of_a_loop(narma):
    from joblib import Parallel, delayed

    U, y = narma

    def fitted(seed):
        return EchoStateNetwork(30, random_state=seed).fit(U, y).predict(U)

    together = Parallel(n_jobs=2, prefer="threads")(delayed(fitted)(seed) for seed in range(4))
    for seed, found in enumerate(together):
        np.testing.assert_array_equal(found, fitted(seed))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"washout": 1000}, "washout=1000 leaves none of the 900 rows"),
        ({"n_components": 31, "reduction": "pca"}, "n_components=31 is more than the 30 units"),
        ({"connectivity": 1e-9}, "no loop"),
        ({"readout": "forest"}, "readout='forest'"),
        ({"reservoir": Ridge()}, "reservoir="),
        ({"regularization": -1}, "regularization=-1"),
        ({"leak_rate": 1.5}, "leak_rate"),
    ],
)
def test_bad_parameters_are_named(narma, changes, told):
    with pytest.raises(ValueError, match=told):
        EchoStateNetwork(**{"n_units": 30, **changes}).fit(*narma)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("where", [0, 450, 899])
def test_holes_are_refused_in_inputs_and_targets(narma, value, where):
    U, y = (part.copy() for part in narma)
    y[where] = value
    with pytest.raises(ValueError, match=f"y contains NaN or infinity in 1 of 900 entries, the first at {where}"):
        EchoStateNetwork(10).fit(U, y)
    U[where] = value
    with pytest.raises(ValueError, match=r"contains NaN|contains infinity"):
        EchoStateNetwork(10).fit(U, narma[1])


def test_one_row_and_sequences_of_different_width_are_refused(narma):
    U, y = narma
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        EchoStateNetwork(10).fit(U[:1], y[:1])
    with pytest.raises(ValueError, match="sequence 1 has 2 columns"):
        EchoStateNetwork(10).fit([U, np.hstack([U, U])], [y, y])


def test_the_components_kept_are_those_that_vary(narma):
    """Of a constant input the states settle in one point, and PCA keeps one direction of the 40 that were asked for."""
    _, y = narma
    network = EchoStateNetwork(40, reduction="pca", n_components=40, random_state=0).set_output(transform="pandas")
    ones = np.ones((200, 1))
    found = network.fit(ones, y[:200]).transform(ones[:3])
    assert found.shape == (3, network.n_components_)
    assert network.partial_fit(ones, y[:200]).transform(ones[:3]).shape == (3, network.n_components_)


def test_a_list_is_not_one_frame(narma):
    U, y = narma
    network = EchoStateNetwork(20, random_state=0).fit(U, y)
    assert len(network.transform([U[:5], U[5:12]])) == 2
    with pytest.raises(ValueError, match="one table and its groups"):
        network.set_output(transform="pandas").transform([U[:5], U[5:12]])
    reservoir = Reservoir(20, random_state=0).fit(U).set_output(transform="pandas")
    with pytest.raises(ValueError, match="one table and its groups"):
        reservoir.transform([U[:5], U[5:12]])
    groups = np.repeat([0, 1], [5, 7])
    assert network.transform(U[:12], groups=groups).shape == (12, 20)


@pytest.mark.parametrize("changed", ["lasso", "nu_svr"])
def test_another_readout_does_not_go_on_with_the_sums(narma, changed):
    U, y = narma
    network = EchoStateNetwork(20, readout=changed, random_state=0).fit(U[:100], y[:100]).set_params(readout="ridge")
    with pytest.raises(ValueError, match="another readout has learned; call fit"):
        network.partial_fit(U[100:], y[100:])


def test_advance_in_blocks_ends_where_step_after_step_does(narma, monkeypatch):
    U, y = narma
    network = EchoStateNetwork(20, random_state=0).fit(U[:300], y[:300])
    expected = network.predict(U[300:])
    monkeypatch.setattr("gramian.reservoir.network.STRIP", 7)
    ended = network.advance(U[300:-1])
    np.testing.assert_allclose(ended.predict(U[-1:]), expected[-1:], rtol=1e-10)
    np.testing.assert_allclose(ended._in_units(ended._last_target), expected[-2], rtol=1e-10)


@pytest.mark.parametrize("changed", [{"readout": KNeighborsRegressor(1)}, {"reservoir": Reservoir(20, random_state=1)}])
def test_nothing_of_an_earlier_fit_stays(narma, changed):
    U, y = (part[:300] for part in narma)
    again = EchoStateNetwork(30, random_state=0).fit(U, y).set_params(**changed).fit(U, y)
    fresh = EchoStateNetwork(30, random_state=0, **changed).fit(U, y)
    assert set(vars(again)) == set(vars(fresh))
    np.testing.assert_array_equal(again.predict(U), fresh.predict(U))
