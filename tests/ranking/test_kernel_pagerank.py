"""Kernel PageRank against dense solves written out here: scores, components, errors, new samples and new queries."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import block_diag, csc_array, csr_array
from sklearn.datasets import load_iris, load_wine, make_moons
from sklearn.exceptions import NotFittedError

import gramian
from gramian import KernelPageRank
from gramian.kernels import RBF, ClusterKernel, Linear, NeighborGraph
from gramian.landmarks import Nystroem
from gramian.metrics import ndcg_at_k
from gramian.mixture import mcar
from gramian.ranking.kernel_walk import components

RESTART = 0.1
BETA = RESTART / (1 - RESTART)


@pytest.fixture
def rng():
    return np.random.default_rng(8)


@pytest.fixture
def X(rng):
    return rng.standard_normal((60, 3)) + 2 * (np.arange(60) % 3)[:, None]


@pytest.fixture
def K(X):
    return RBF(1.0)(X)


def pagerank(K, S, restart=RESTART):
    """π = (1 − α) Pᵀ π + α s, by a dense solve."""
    P = K / K.sum(axis=1, keepdims=True)
    return restart * np.linalg.solve(np.eye(len(K)) - (1 - restart) * P.T, S)


def best_errors(K, S, count, least=0.01):
    """The smallest ‖D^-½ (π − π̂)‖² / β² that so many eigenvectors of eigenvalue above ``least`` can have, by all."""
    d = K.sum(axis=1)
    values, vectors = np.linalg.eigh(K / np.sqrt(np.outer(d, d)) - 3 * np.outer(np.sqrt(d), np.sqrt(d)) / d.sum())
    shares = (vectors[:, 1:].T @ (S / np.sqrt(d)[:, None]) / (1 + BETA - values[1:, None])) ** 2
    return shares.sum(axis=0) - np.sort(shares[values[1:] > least], axis=0)[-count:].sum(axis=0)


def powers(K, s, restart=RESTART):
    """The same by power iteration."""
    P = K / K.sum(axis=1, keepdims=True)
    r = s
    for _ in range(400):
        r = (1 - restart) * P.T @ r + restart * s
    return r


def in_pieces(rng, sizes=(12, 9, 15)):
    """A dense graph of several components, with a zero diagonal, so that it is indefinite too."""
    W = block_diag([rng.uniform(0.1, 1, (size, size)) for size in sizes]).toarray()
    W = W + W.T
    np.fill_diagonal(W, 0)
    return W


def model_of(K, **parameters):
    return KernelPageRank(kernel="precomputed", **parameters).fit(K)


@st.composite
def graphs(draw):
    """Random affinities: dense or with edges missing, in pieces or not, with or without a diagonal."""
    n = draw(st.integers(4, 16))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    # Degrees eight orders apart are enough: rounding grows with the root of their ratio.
    W = rng.uniform(0.01, 1, (n, n)) ** draw(st.sampled_from([1, 4]))
    W *= rng.random((n, n)) < draw(st.sampled_from([1.0, 0.5]))
    W = W + W.T
    if draw(st.booleans()):
        half = n // 2
        W[:half, half:] = W[half:, :half] = 0
    np.fill_diagonal(W, draw(st.sampled_from([0.0, 1.0])))
    W[W.sum(axis=1) == 0, :] = 0
    W += np.diag((W.sum(axis=1) == 0).astype(float))
    return W * draw(st.sampled_from([1e-3, 1.0, 50.0]))


class TestExact:
    @pytest.mark.parametrize("make", ["connected", "pieces", "sparse"])
    def test_all_components_are_pagerank(self, make, K, rng):
        """With every eigenvector the low-rank scores are PageRank: connected, in pieces, indefinite."""
        W = K if make == "connected" else in_pieces(rng)
        n = len(W)
        model = model_of(csr_array(W) if make == "sparse" else W, eigenvalue_tol=None)
        assert model.n_components_ == n - 1
        expected = pagerank(W, np.eye(n))
        for method in ("low_rank", "exact", "one_step"):
            np.testing.assert_allclose(model.scores(np.eye(n), method=method), expected, atol=1e-10)
        s = rng.random(n)
        np.testing.assert_allclose(model.scores(s), powers(W, s / s.sum()), atol=1e-10)

    def test_no_mass_leaks_between_components(self, rng):
        """On a graph in pieces a query's own restart stays in its piece; only the base scores are elsewhere."""
        W = in_pieces(rng)
        scores = model_of(W, eigenvalue_tol=None).scores(0)
        assert abs(scores[:12].sum() - 1) < 1e-12
        np.testing.assert_allclose(scores[12:], 0, atol=1e-14)

    @pytest.mark.parametrize("kind", ["dense", "features", "lazy", "neighbors", "pieces"])
    def test_large_grams_of_all_kinds(self, kind, rng):
        """Beyond the size of a full decomposition, exact scores of every kind of Gram solve the equation."""
        X = rng.standard_normal((1200, 3))
        kernel = {"features": Nystroem(40, kernel=RBF(2.0), random_state=0), "neighbors": NeighborGraph(8)}
        kernel = kernel.get(kind, RBF(0.7))
        if kind == "pieces":
            X[:400] += 100
            X[400:600] -= 100
            kernel = NeighborGraph(8)
        with gramian.config(memory_budget="8MB" if kind == "lazy" else "1GB"):
            model = KernelPageRank(kernel=kernel, n_components=20).fit(X)
            found = model.scores([0, 700], method="exact")
        W = kernel.fit(X)(X)
        W = W.toarray() if hasattr(W, "toarray") else W
        s = np.zeros(1200)
        s[[0, 700]] = 0.5
        np.testing.assert_allclose(found, pagerank(W, s), atol=1e-10)
        assert abs(model.scores([0, 700]).sum() - 1) < 1e-9

    @given(graphs(), st.sampled_from([0.02, 0.1, 0.5, 0.9]))
    @settings(max_examples=40, deadline=None)
    def test_random_graphs(self, W, restart):
        """Any graph, any restart: exact and complete scores are PageRank, and they sum to one."""
        n = len(W)
        model = model_of(W, restart=restart, eigenvalue_tol=None)
        expected = pagerank(W, np.eye(n), restart)
        np.testing.assert_allclose(model.scores(np.eye(n)), expected, atol=1e-9)
        np.testing.assert_allclose(model.scores(np.eye(n), method="exact"), expected, atol=1e-9)

    def test_scale_and_order_of_samples_do_not_matter(self, K, rng):
        """Scores do not change with K times a constant, and follow a permutation of the samples."""
        order = rng.permutation(60)
        expected = model_of(K).scores(4)
        np.testing.assert_allclose(model_of(17 * K).scores(4), expected, atol=1e-12)
        moved = model_of(K[np.ix_(order, order)]).scores(int(np.flatnonzero(order == 4)[0]))
        np.testing.assert_allclose(moved, expected[order], atol=1e-12)

    def test_copies_score_alike(self, rng):
        """Copies of a row have the same scores, except for the query itself."""
        X = np.repeat(rng.standard_normal((20, 2)), 2, axis=0)
        scores = KernelPageRank(kernel=RBF(1.0)).fit(X).scores(0, method="exact")
        np.testing.assert_allclose(scores[2::2], scores[3::2], atol=1e-12)
        assert scores[0] > scores[1]


class TestLowRank:
    @pytest.mark.parametrize("k", [1, 5, 20])
    @pytest.mark.parametrize("order", ["query", "eigenvalue", "restart"])
    def test_scores_sum_to_one(self, order, k, K, rng):
        """Scores sum to one whatever is left out, and are linear in the seeds."""
        model = model_of(K, order=order, n_components=k)
        scores = model.scores(rng.random((60, 4)))
        np.testing.assert_allclose(scores.sum(axis=0), 1, atol=1e-9)
        if order != "restart":
            mixed = model.scores({3: 1.0, 8: 3.0})
            np.testing.assert_allclose(mixed, 0.25 * model.scores(3) + 0.75 * model.scores(8), atol=1e-12)

    def test_base_and_restart_parts(self, K):
        """The formula itself: d/vol + β √d_i z_i·m_s with the model's own embedding."""
        model, d = model_of(K, n_components=7), K.sum(axis=1)
        Z = model.embedding_
        s = np.zeros(60)
        s[[3, 9]] = 0.5
        by_hand = d / d.sum() + BETA * np.sqrt(d) * (Z @ (Z.T @ (s / np.sqrt(d))))
        np.testing.assert_allclose(model.scores([3, 9]), by_hand, atol=1e-14)
        np.testing.assert_allclose(model.base_scores_, d / d.sum(), rtol=1e-12)
        np.testing.assert_allclose(model.scores("stationary", method="exact"), model.base_scores_, atol=1e-14)

    @given(graphs(), st.integers(1, 8), st.sampled_from(["query", "eigenvalue", "restart"]))
    @settings(max_examples=40, deadline=None)
    def test_error_identity(self, W, k, order):
        """‖D^-½ ε‖² / β² is what error_bound says, for every seed, on average, and for sets; bounds hold per sample."""
        n, d = len(W), W.sum(axis=1)
        model = model_of(W, n_components=min(k, n - 1), order=order, eigenvalue_tol=None)
        errors = pagerank(W, np.eye(n)) - model.scores(np.eye(n))
        scaled = (errors**2 / d[:, None]).sum(axis=0) / BETA**2
        bound = model.error_bound(np.eye(n))
        assert not bound.is_bound
        np.testing.assert_allclose(bound.scaled, scaled, rtol=1e-7, atol=1e-12 * (1 / d).max())
        assert np.all(np.abs(errors) <= bound.per_sample + 1e-10)
        assert model.error_bound().scaled == pytest.approx(scaled.mean(), rel=1e-7, abs=1e-12 * (1 / d).max())
        if order != "restart":
            # Uniform seeds over a set: at most n / |C| times the expectation, and the tighter bound of its own rows.
            C = np.arange(0, n, 2)
            whole = model.error_bound(C).scaled
            assert whole <= scaled[C].mean() * (1 + 1e-9) + 1e-12 * (1 / d).max()
            assert scaled[C].mean() <= n / len(C) * scaled.mean() * (1 + 1e-9)

    @given(graphs())
    @settings(max_examples=30, deadline=None)
    def test_order_by_query_is_best(self, W):
        """The expected error falls with every component, and the query order's is never above another's."""
        counts = range(1, len(W))
        found = {
            order: [model_of(W, n_components=k, order=order, eigenvalue_tol=None).expected_error_ for k in counts]
            for order in ("query", "eigenvalue", "restart")
        }
        slack = 1e-12 * (1 / W.sum(axis=1)).max()
        for errors in found.values():
            assert np.all(np.diff(errors) <= slack)
        assert np.all(np.array(found["query"]) <= np.array(found["eigenvalue"]) + slack)
        assert np.all(np.array(found["restart"]) <= np.array(found["query"]) + slack)

    @pytest.mark.parametrize("kernel", [RBF(0.5), Nystroem(60, kernel=RBF(1.0), random_state=0), NeighborGraph(8)])
    def test_certificates_of_a_partial_decomposition(self, kernel, rng):
        """With few eigenvectors computed, the stated error is never below the true one, and exact for few features."""
        X = rng.standard_normal((1100, 2))
        model = KernelPageRank(kernel=kernel, n_components=15).fit(X)
        W = kernel.fit(X)(X)
        W = W.toarray() if hasattr(W, "toarray") else W
        d, queries = W.sum(axis=1), np.arange(0, 1100, 110)
        S = np.eye(1100)[:, queries]
        errors = pagerank(W, S) - model.scores(S)
        scaled = (errors**2 / d[:, None]).sum(axis=0) / BETA**2
        bound = model.error_bound(S)
        assert np.all(scaled <= bound.scaled * (1 + 1e-6))
        assert np.all(bound.scaled <= 8 * scaled)
        assert np.all(np.abs(errors) <= bound.per_sample * (1 + 1e-6))
        assert bound.is_bound == model.expected_error_is_bound_
        whole = pagerank(W, np.eye(1100)) - model.scores(np.eye(1100))
        true = (whole**2 / d[:, None]).sum() / BETA**2 / 1100
        assert true <= model.expected_error_ * (1 + 1e-6)
        assert 0 < model.error_bound().share < 1

    def test_errors_are_exact_with_few_features(self, rng):
        """More samples than LAPACK takes whole, but of rank 6: errors equal their definition, for seeds and on average.

        Uncomputed components have eigenvalue zero here, so leaving out a term of their mass would show.
        """
        n = 1100
        F = rng.random((n, 6)) * np.repeat([0.5, 1, 2], [500, 500, 100])[:, None]
        K, model = F @ F.T, KernelPageRank(kernel=Linear(), n_components=2).fit(F)
        d, vol = K.sum(axis=1), K.sum()
        some = np.arange(0, n, 137)
        S = np.zeros((n, len(some)))
        S[some, np.arange(len(some))] = 1
        exact = pagerank(K, np.eye(n))
        low = model.scores(np.eye(n))
        scaled = ((exact - low) ** 2 / d[:, None]).sum(axis=0) / BETA**2
        everything = ((exact - (d / vol)[:, None]) ** 2 / d[:, None]).sum(axis=0) / BETA**2
        error = model.error_bound(S)
        assert not error.is_bound
        np.testing.assert_allclose(error.scaled, scaled[some], rtol=1e-6)
        np.testing.assert_allclose(error.share, (scaled / everything)[some], rtol=1e-6)
        np.testing.assert_allclose(error.per_sample, BETA * np.sqrt(np.outer(d, scaled[some])), rtol=1e-6)
        np.testing.assert_allclose(model.error_bound().scaled, scaled.mean(), rtol=1e-6)
        np.testing.assert_allclose(model.error_bound().share, scaled.sum() / everything.sum(), rtol=1e-6)

    def test_a_choice_that_is_not_certain(self, rng):
        """A sample of tiny degree would be worth an eigenvector that was not computed, and that is said."""
        n = 1200
        X = np.vstack([rng.standard_normal((n - 1, 2)), [[30.0, 30.0]]])
        K = RBF(0.3)(X)
        K[-1, -1] = 1e-3
        model = KernelPageRank(kernel="precomputed", n_components=3).fit(K)
        assert not model.choice_is_certain_

    @pytest.mark.parametrize("width", [0.1, 0.2, 0.5])
    def test_a_choice_for_unknown_seeds_is_not_certain(self, width, rng, monkeypatch):
        """One query may have nothing but an eigenvector that was not computed, which the average query hardly has."""
        monkeypatch.setattr(components, "_WHOLE_SAMPLES", 100)  # as if the 300 samples here were thousands
        n = 300
        X = rng.standard_normal((n, 2)) + 1.5 * (np.arange(n) % 3)[:, None]
        K = RBF(width)(X)
        model = KernelPageRank(kernel=RBF(width), order="restart", n_components=10).fit(X)
        errors = (((pagerank(K, np.eye(n)) - model.scores(np.eye(n))) ** 2).T / K.sum(axis=1)).sum(axis=1) / BETA**2
        assert (errors > (1.2 if width == 0.5 else 100) * best_errors(K, np.eye(n), 10)).any()
        assert not model.choice_is_certain_
        assert np.all(errors <= model.error_bound(np.eye(n)).scaled * (1 + 1e-6) + 1e-12)

    def test_all_there_is_to_choose_from(self, rng, monkeypatch):
        """Of many samples the choice for seeds is certain if every eigenvalue above the tolerance was found."""
        monkeypatch.setattr(components, "_WHOLE_SAMPLES", 100)
        model = KernelPageRank(kernel=RBF(3.0), order="restart", n_components=5).fit(rng.standard_normal((300, 2)))
        assert model.choice_is_certain_
        K = RBF(3.0)(model.X_fit_)
        errors = (((pagerank(K, np.eye(300)) - model.scores(np.eye(300))) ** 2).T / K.sum(axis=1)).sum(axis=1)
        np.testing.assert_allclose(errors / BETA**2, best_errors(K, np.eye(300), 5), rtol=1e-5)

    def test_order_for_seeds_minimises_their_error(self, K):
        """order="restart" keeps, for each query, the components that matter to it: no other choice is better."""
        parameters = {"n_components": 6, "eigenvalue_tol": None}
        best = model_of(K, order="restart", **parameters).error_bound(np.eye(60)).scaled
        for order in ("query", "eigenvalue"):
            assert np.all(best <= model_of(K, order=order, **parameters).error_bound(np.eye(60)).scaled + 1e-12)

    def test_parameters_set_later_do_not_mix_with_what_was_fitted(self, K):
        model = model_of(K)
        before = model.scores(3, method="exact")
        model.set_params(restart=0.9)
        np.testing.assert_array_equal(model.scores(3, method="exact"), before)

    def test_set_restart_is_a_refit(self, K, rng):
        """Changing the restart probability gives what fitting with it gives, the choice of components included."""
        S, rows = rng.random((60, 2)), K[:5] * 0.9
        changed = model_of(K, n_components=9).set_restart(0.4)
        fitted = model_of(K, n_components=9, restart=0.4)
        np.testing.assert_allclose(changed.scores(S), fitted.scores(S), atol=1e-13)
        np.testing.assert_allclose(changed.embedding_, fitted.embedding_, atol=1e-13)
        np.testing.assert_allclose(changed.score_samples(rows, 3), fitted.score_samples(rows, 3), atol=1e-13)
        assert changed.expected_error_ == pytest.approx(fitted.expected_error_)

    def test_a_part_of_all_components(self, K):
        """A float asks for a part of the n − 1 components; the tolerance is applied first."""
        assert model_of(K, n_components=0.25, eigenvalue_tol=None).n_components_ == 15
        count = int((np.linalg.eigvalsh(K / np.sqrt(np.outer(K.sum(0), K.sum(0))))[:-1] > 0.01).sum())
        assert model_of(K).n_components_ <= count + 1  # a given matrix may be indefinite, so |λ| counts
        assert KernelPageRank(kernel=RBF(1.0)).fit(np.arange(30.0)[:, None]).eigenvalues_.min() > 0.01


KERNELS = [RBF(1.0), ClusterKernel(3, 6, random_state=0), Nystroem(20, kernel=RBF(2.0), random_state=0)]


class TestNewSamples:
    @pytest.mark.parametrize("kernel", KERNELS)
    @pytest.mark.parametrize("order", ["query", "restart"])
    def test_fitted_rows_are_themselves(self, kernel, order, X):
        """Embedding, scores and queries of fitted rows, given as new ones, are those of the fitted samples."""
        model = KernelPageRank(kernel=kernel, order=order, n_components=10).fit(X)
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)
        np.testing.assert_allclose(model.score_samples(X, seeds=[1, 5]), model.scores([1, 5]), atol=1e-9)
        np.testing.assert_allclose(model.scores(query=X[[4, 7]]), model.scores(np.eye(60)[:, [4, 7]]), atol=1e-8)
        np.testing.assert_array_equal(model.rank(query=X[4], top=5), model.rank(4, top=5))
        np.testing.assert_allclose(model.score_samples(X, query=X[4]), model.scores(4), atol=1e-8)

    @pytest.mark.parametrize("kernel", KERNELS)
    def test_representer_form(self, kernel, X, rng):
        """K a(s) is the score, for fitted and new rows; a scorer keeps it for later."""
        model = KernelPageRank(kernel=kernel).fit(X)
        a = model.coefficients([2, 3])
        np.testing.assert_allclose(model.kernel_(X) @ a, model.scores([2, 3]), atol=1e-10)
        new = X[:8] + 0.3
        expected = model.kernel_(new, X) @ a
        np.testing.assert_allclose(model.score_samples(new, [2, 3]), expected, atol=1e-10)
        found = model.scorer([2, 3])(new)
        np.testing.assert_allclose(found[:, 0], expected, atol=1e-10)
        np.testing.assert_allclose(found[:, 1], model.kernel_(new, X).sum(axis=1), rtol=1e-9)

    def test_formula_of_new_samples(self, X, K):
        """z_j(x) and the score from the eigenvectors, written out."""
        model, d = KernelPageRank(kernel=RBF(1.0), n_components=6).fit(X), K.sum(axis=1)
        new = np.array([[0.3, 0.2, 0.1], [4.0, 3.0, 4.0]])
        k = RBF(1.0)(new, X)
        lam, E = model.eigenvalues_, model.eigenvectors_
        Z = (k / np.sqrt(np.outer(k.sum(axis=1), d))) @ E / (lam * np.sqrt(1 + BETA - lam))
        np.testing.assert_allclose(model.transform(new), Z, atol=1e-12)
        m = model.embedding_.T @ (np.eye(60)[5] / np.sqrt(d))
        expected = k.sum(axis=1) / d.sum() + BETA * np.sqrt(k.sum(axis=1)) * (Z @ m)
        np.testing.assert_allclose(model.score_samples(new, 5), expected, atol=1e-12)
        query = Z[0] / np.sqrt(k[0].sum())
        expected = d / d.sum() + BETA * np.sqrt(d) * (model.embedding_ @ query)
        np.testing.assert_allclose(model.scores(query=new[0]), expected, atol=1e-12)

    def test_one_step(self, X, K):
        """One step of the exact walk: from seeds to a new sample, from a new query to the samples, and both."""
        model, d = KernelPageRank(kernel=RBF(1.0)).fit(X), K.sum(axis=1)
        new = X[:3] + 0.4
        k = RBF(1.0)(new, X)
        pi = pagerank(K, np.eye(60)[5])
        expected = 0.9 * k @ (pi / d)
        np.testing.assert_allclose(model.score_samples(new, 5, method="one_step"), expected, atol=1e-12)
        from_query = 0.9 * pagerank(K, k[0] / k[0].sum())
        np.testing.assert_allclose(model.scores(query=new[0], method="one_step"), from_query, atol=1e-12)
        both = 0.9 * k @ (from_query / d)
        np.testing.assert_allclose(model.score_samples(new, query=new[0], method="one_step"), both, atol=1e-12)

    def test_samples_like_nothing(self, X):
        """A new sample out of reach scores 0, lies at the origin and, as a query, gives base scores, with a warning."""
        model = KernelPageRank(kernel=RBF(0.5)).fit(X)
        far = np.full((2, 3), 1e4)
        with pytest.warns(UserWarning, match="2 new samples are similar to none"):
            np.testing.assert_array_equal(model.score_samples(far, 3), 0)
        with pytest.warns(UserWarning, match="similar to none"):
            np.testing.assert_array_equal(model.transform(far), 0)
        for method, share in (("low_rank", 1.0), ("one_step", 0.9)):
            with pytest.warns(UserWarning, match="1 new sample is similar to no fitted one"):
                scores = model.scores(query=far[0], method=method)
            np.testing.assert_allclose(scores, share * model.base_scores_, atol=1e-12)

    def test_missing_values(self, X):
        """Under the cluster kernel rows with holes are ranked, as samples and as queries."""
        holes, _ = mcar(X + 4.0 * (np.arange(60) % 3)[:, None], 0.2, random_state=0)
        model = KernelPageRank(kernel=ClusterKernel(5, 8), random_state=0).fit(holes)
        near = model.rank(query=np.array([0.0, np.nan, 0.1]), top=10)
        assert np.mean(near % 3 == 0) >= 0.8

    def test_graph_of_many_nodes_is_never_dense(self, rng):
        """A sparse graph of 20,000 nodes is fitted and asked within a budget that no n×n array fits in."""
        n = 20_000
        ring = np.arange(n)
        W = csr_array((np.ones(n), (ring, (ring + 1) % n)), shape=(n, n))
        far = rng.integers(0, n, (2, 2 * n))
        W = W + csr_array((np.ones(2 * n), far), shape=(n, n))
        W = csr_array(W + W.T)
        with gramian.config(memory_budget="200MB"):
            model = KernelPageRank(kernel="precomputed", n_components=5).fit(W)
            scores = model.scores(17, method="exact")
        P = W.multiply(1 / W.sum(axis=1)[:, None]).tocsr()
        s = np.zeros(n)
        s[17] = 1
        np.testing.assert_allclose(scores, 0.9 * P.T @ scores + 0.1 * s, atol=1e-12)


class TestLists:
    def test_rank_sorts_scores(self, K, rng):
        """Lists follow the scores, ties by index; ``top`` cuts them; batches are columns."""
        model = model_of(K)
        S = csc_array(np.eye(60)[:, ::7])
        for normalize, divisor in (("none", 1), ("sqrt_degree", np.sqrt(K.sum(1))), ("degree", K.sum(1))):
            scores = model.scores(S, normalize=normalize)
            np.testing.assert_allclose(scores, (model.scores(S).T / divisor).T)
            expected = np.argsort(-scores, axis=0, kind="stable")
            np.testing.assert_array_equal(model.rank(S, normalize=normalize), expected)
            np.testing.assert_array_equal(model.rank(S, normalize=normalize, top=6), expected[:6])
        assert np.all(model.rank(S, normalize="degree", method="exact", top=1) == np.arange(0, 60, 7))

    def test_ties_go_to_the_lower_index(self):
        """Samples of equal score are listed in their order, with ``top`` and without."""
        model = model_of(np.ones((6, 6)) + 5 * np.eye(6))
        np.testing.assert_array_equal(model.rank(), np.arange(6))
        np.testing.assert_array_equal(model.rank(top=4), np.arange(4))

    def test_seeds_can_be_left_out(self, K):
        """With exclude_seeds the list has no seed; all samples as seeds leave nothing."""
        model = model_of(K)
        found = model.rank([3, 4], exclude_seeds=True)
        assert len(found) == 58
        assert not {3, 4} & set(found)
        expected = [i for i in model.rank([3, 4]) if i not in (3, 4)]
        np.testing.assert_array_equal(found, expected)
        with pytest.raises(ValueError, match="exclude_seeds=True leaves none to rank"):
            model.rank(exclude_seeds=True)

    def test_a_stored_zero_is_no_seed(self, K):
        seeds = csc_array((np.array([1.0, 0.0]), ([3, 5], [0, 0])), shape=(60, 1))
        assert model_of(K).rank(seeds, exclude_seeds=True).shape == (59, 1)

    def test_leave_one_out_ranking(self):
        """A left-out point's list, made without it, agrees with exact PageRank on all data as published (0.02)."""
        for load, published in ((load_iris, 0.987), (load_wine, 0.973)):
            X = load().data
            K = ClusterKernel(random_state=0).fit(X)(X)
            exact = pagerank(K, np.eye(len(K)))
            low, one = [], []
            for i in range(0, len(K), 10):
                rest = np.delete(np.arange(len(K)), i)
                model = model_of(K[np.ix_(rest, rest)])
                low.append(ndcg_at_k(exact[rest, i], model.scores(query=K[i, rest]), 10))
                one.append(ndcg_at_k(exact[rest, i], model.scores(query=K[i, rest], method="one_step"), 10))
            assert np.mean(low) == pytest.approx(published, abs=0.02)
            assert np.mean(one) > 0.995

    def test_low_rank_beats_exact_under_a_wide_kernel(self):
        """With a width far too large exact scores fall to the order of degrees; few components keep the classes."""
        X, y = load_iris(return_X_y=True)
        model = KernelPageRank(kernel=RBF(10.0), n_components=3).fit(X)
        right = {m: np.mean(y[model.rank(np.eye(150), top=50, method=m)] == y) for m in ("low_rank", "exact")}
        assert right["low_rank"] > right["exact"] + 0.2


class TestRefusals:
    def test_negative_similarities(self, X, rng):
        """Kernels with negative values are refused with the remedy, however the Gram is held."""
        for kernel, rows in ((Linear(), X), (RBF(1.0) + Linear(), X), ("precomputed", -0.01 + np.eye(5))):
            with pytest.raises(ValueError, match=r"negative similarities.*kernel='cluster', 'rbf'"):
                KernelPageRank(kernel=kernel).fit(rows)
        K = RBF(1.0)(X)
        K[3, 40] = K[40, 3] = -1e-3
        with pytest.raises(ValueError, match="negative similarities"):
            model_of(K)
        with pytest.raises(ValueError, match="negative similarities"):
            model_of(csr_array(K))

    def test_samples_without_similarity(self):
        """A sample of degree zero is refused, counted and named, with the remedy."""
        W = np.eye(5)
        W[2, 2] = 0
        with pytest.raises(ValueError, match=r"1 sample is similar to nothing.*sample 2.*drop such samples"):
            model_of(W)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"restart": 0}, "restart=0 must be a probability"),
            ({"restart": 1.0}, "restart=1.0 must be a probability"),
            ({"order": "size"}, "order='size' is not known"),
            ({"n_components": 0}, "n_components=0 must be a whole number >= 1"),
            ({"n_components": 1.5}, "n_components=1.5 must be"),
            ({"n_components": 61}, "n_components=61 is more than the n_samples=60"),
            ({"eigenvalue_tol": 0}, "eigenvalue_tol=0 must be"),
        ],
    )
    def test_parameters(self, parameters, message, K):
        """Parameters out of range are refused by name and value at fit."""
        with pytest.raises(ValueError, match=message):
            model_of(K, **parameters)

    def test_questions(self, K):
        """Questions that mean nothing say what to ask instead."""
        model = model_of(K)
        with pytest.raises(ValueError, match="seeds contains node 60"):
            model.scores(60)
        with pytest.raises(ValueError, match="either seeds, fitted samples, or query"):
            model.scores(3, query=K[0])
        with pytest.raises(ValueError, match="method='fast' is not known"):
            model.scores(3, method="fast")
        with pytest.raises(ValueError, match=r"method='exact' is for fitted seeds.*one_step"):
            model.scores(query=K[0], method="exact")
        with pytest.raises(ValueError, match=r"method='exact' is for fitted samples.*one_step"):
            model.score_samples(K[:2], 3, method="exact")
        with pytest.raises(ValueError, match="top=0 must be"):
            model.rank(3, top=0)
        with pytest.raises(ValueError, match="normalize='sum' is not known"):
            model.scores(3, normalize="sum")
        with pytest.raises(ValueError, match="restart=2 must be"):
            model.set_restart(2)
        with pytest.raises(NotFittedError):
            KernelPageRank().scores(3)

    def test_eigenvalues_of_zero_cannot_place_new_samples(self):
        """With eigenvalue_tol=None and a kernel of low rank, new samples are refused but for one_step."""
        X = np.random.default_rng(0).random((30, 2))
        model = KernelPageRank(kernel=Linear(), eigenvalue_tol=None).fit(X)
        with pytest.raises(ValueError, match="by eigenvectors of eigenvalue zero"):
            model.transform(X)
        assert model.score_samples(X, 3, method="one_step").shape == (30,)

    def test_scores_that_do_not_fit_are_refused(self, K):
        model = model_of(K)
        with gramian.config(memory_budget=20_000):
            with pytest.raises(gramian.MemoryBudgetError, match="use rank with top="):
                model.scores(np.eye(60))
            with pytest.raises(gramian.MemoryBudgetError, match="fewer columns of seeds"):
                model.error_bound(np.eye(60))

    def test_the_callers_matrix_stays_as_it_is(self):
        """SciPy adds up duplicates in place, which is for the caller to do."""
        data = np.array([1.0, 1.0, 1.0, 0.5, 0.5, 1.0, 1.0, 0.5])
        K = csr_array((data, [1, 0, 0, 2, 2, 1, 1, 2], [0, 2, 6, 8]), shape=(3, 3))
        before = K.data.copy(), K.indices.copy()
        model_of(K)
        np.testing.assert_array_equal(K.data, before[0])
        np.testing.assert_array_equal(K.indices, before[1])


class TestKept:
    def test_saved_model_answers_all_questions(self, X, tmp_path):
        """After a round trip through a file, low-rank, exact and one-step answers are the same; no Gram is kept."""
        model = KernelPageRank(kernel=ClusterKernel(3, 5), random_state=0).fit(X)
        gramian.save(model, tmp_path / "model.gramian")
        back = gramian.load(tmp_path / "model.gramian")
        assert "_walk" not in vars(back)
        for method in ("low_rank", "exact", "one_step"):
            np.testing.assert_array_equal(back.scores(4, method=method), model.scores(4, method=method))
        np.testing.assert_array_equal(back.score_samples(X, 4), model.score_samples(X, 4))
        assert back.set_restart(0.3).restart == 0.3

    def test_single_precision(self, X):
        """float32 rows are decomposed in float32, and scores agree with the double ones."""
        found = KernelPageRank(kernel=RBF(1.0)).fit(X.astype(np.float32))
        expected = KernelPageRank(kernel=RBF(1.0)).fit(X)
        assert found.eigenvectors_.dtype == np.float32
        for method in ("low_rank", "exact"):
            np.testing.assert_allclose(found.scores(4, method=method), expected.scores(4, method=method), atol=2e-5)

    def test_approximate_features_are_taken(self):
        """Landmark features whose products dip a little below zero define a walk all the same."""
        X = make_moons(600, noise=0.05, random_state=0)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = KernelPageRank(kernel=Nystroem(60, kernel=RBF(0.2), random_state=0)).fit(X)
        assert np.isfinite(model.scores(3, method="exact")).all()


@pytest.mark.parametrize("kernel", [RBF(1.0), ClusterKernel(3, 5, random_state=0)], ids=["rbf", "cluster"])
def test_the_embedder_gives_the_embedding_but_for_its_length(X, rng, kernel):
    """Beside the scorer it is evaluated in one go."""
    model = KernelPageRank(kernel=kernel, n_components=6, order="eigenvalue").fit(X)
    new = rng.standard_normal((9, 3))
    scorer, embedder = model.scorer(0, method="one_step"), model.embedder()
    degrees = scorer(new)[:, -1:]
    np.testing.assert_allclose(embedder(new), model.transform(new) * np.sqrt(degrees), atol=1e-9)
    np.testing.assert_allclose(model.embedder(2)(new), embedder(new)[:, :2], atol=1e-9)
    both = np.hstack([scorer(new), embedder(new)])
    np.testing.assert_allclose(scorer.beside(embedder)(new), both, atol=1e-9)
