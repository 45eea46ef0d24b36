"""The checks every Gram must pass against the matrix of its textbook definition.

A subclass of :class:`GramCase` says how to ``create`` the Gram and how to ``evaluate`` the same matrix densely in
float64 without the package; it inherits every test below, each of which also runs on all views of the Gram.
"""

from functools import cache

import numpy as np
import pytest
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, eigsh

import gramian
from gramian import MemoryBudgetError
from gramian.grams import Gram, eigen


def weights(n):
    """Sample weights that differ, one of them zero."""
    return np.linspace(0.0, 2.0, n)


# Textbook views: plain dense algebra, written without looking at the package -------------------------------


def center(K):
    """M K M with M = I − 11ᵀ/n."""
    M = np.eye(len(K)) - 1 / len(K)
    return M @ K @ M


def normalize(K):
    """D^-½ K D^-½, rows without degree zero."""
    d = K.sum(axis=1)
    roots = np.array([0.0 if x <= 0 else x**-0.5 for x in d])
    return np.diag(roots) @ K @ np.diag(roots)


def weighted_center(K):
    """Π V^½ K V^½ Π, Π the projection off √v."""
    s = np.sqrt(weights(len(K)))
    projection = np.eye(len(K)) - np.outer(s, s) / (s @ s)
    return projection @ np.diag(s) @ K @ np.diag(s) @ projection


def shift(K):
    """K + 0.75 I."""
    return K + 0.75 * np.eye(len(K))


def shift_unevenly(K):
    """K + diag(1 … 2)."""
    return K + np.diag(np.linspace(1, 2, len(K)))


def replace_diagonal(K):
    """K with −0.5 … 2 on its diagonal."""
    out = K.copy()
    for i, value in enumerate(np.linspace(-0.5, 2, len(K))):
        out[i, i] = value
    return out


def scores(n):
    """Two columns of scores."""
    return np.column_stack([np.linspace(-1, 1, n), np.cos(np.arange(n))]) / n


def chosen(n):
    """Most samples, in another order."""
    return np.random.default_rng(9).permutation(n)[: n - 5]


def restrict(K):
    """The entries of the chosen samples, one by one."""
    index = chosen(len(K))
    return np.array([[K[i, j] for j in index] for i in index])


TEXTBOOK = {
    "centered": center,
    "normalized": normalize,
    "weighted": weighted_center,
    "shifted": shift,
    "uneven": shift_unevenly,
    "diagonal": replace_diagonal,
    "restricted": restrict,
    "scaled": lambda K: 2.5 * K,
    "negated": lambda K: -K,
    "deflated": lambda K: K - scores(len(K)) @ scores(len(K)).T,
}
VIEW = {
    "centered": lambda gram: gram.centered(),
    "normalized": lambda gram: gram.normalized(),
    "weighted": lambda gram: gram.weighted_centered(weights(gram.shape[0])),
    "shifted": lambda gram: gram.shifted(0.75),
    "uneven": lambda gram: gram.shifted(np.linspace(1, 2, gram.shape[0])),
    "diagonal": lambda gram: gram.with_diagonal(np.linspace(-0.5, 2, gram.shape[0])),
    "restricted": lambda gram: gram.restricted(chosen(gram.shape[0])),
    "scaled": lambda gram: gram.scaled(2.5),
    "negated": lambda gram: gram.scaled(-1.0),
    "deflated": lambda gram: gram.deflated(scores(gram.shape[0])),
}
VIEWS = [
    (),
    ("centered",),
    ("normalized",),
    ("weighted",),
    ("shifted",),
    ("centered", "shifted"),
    ("normalized", "centered"),
    ("normalized", "weighted"),
    ("centered", "weighted"),
    ("shifted", "centered", "shifted"),
    ("weighted", "weighted"),
    ("scaled",),
    ("negated", "centered"),
    ("uneven", "scaled"),
    ("deflated", "weighted"),
    ("diagonal",),
    ("restricted",),
    ("weighted", "restricted"),
    ("normalized", "restricted", "negated"),
    ("uneven", "restricted"),
    ("diagonal", "centered", "restricted", "restricted"),
]
FEW_VIEWS = [(), ("centered",), ("normalized",), ("weighted", "shifted"), ("scaled", "diagonal", "restricted")]
WITHOUT_FEATURES = {"shifted", "uneven", "diagonal", "negated", "deflated"}


def size(K):
    """The largest row sum of |K|, a bound on its eigenvalues that is cheap and never zero."""
    return np.abs(K).sum(axis=1).max() + 1e-300


def ordered(values, which):
    """Eigenvalues in the order that ``which`` promises."""
    key = {"largest": lambda x: -x, "magnitude": lambda x: -abs(x), "smallest": lambda x: x}[which]
    return np.array(sorted(values.tolist(), key=key))


@cache
def _created(case):
    return case().create()


@cache
def _evaluated(case):
    K = case().evaluate()
    assert K.dtype == np.float64
    K.flags.writeable = False
    return K


class GramCase:
    """Subclass, name it ``Test…``, write ``create`` and ``evaluate``."""

    dtype = np.float64
    k = 4  # eigenpairs asked for
    lapack_size = 500  # the number of samples up to which "auto" is LAPACK
    views = VIEWS
    orders = ("largest", "magnitude", "smallest")

    def create(self) -> Gram:
        """The Gram under test."""
        raise NotImplementedError

    def evaluate(self) -> np.ndarray:
        """The same matrix, float64, from its definition."""
        raise NotImplementedError

    # Made once per class: being used does not change a Gram ------------------------------------------------

    @pytest.fixture(autouse=True)
    def solver_threshold(self, monkeypatch):
        """Lower thresholds let "auto" iterate on matrices that are quick to check."""
        monkeypatch.setattr(eigen, "_LAPACK_SIZE", self.lapack_size)

    @pytest.fixture
    def gram(self):
        return _created(type(self))

    @pytest.fixture
    def K(self):
        return _evaluated(type(self))

    @property
    def accuracy(self):
        """Largest acceptable error relative to the norm of the matrix."""
        return 1e-11 if self.dtype == np.float64 else 2e-5

    def assert_close(self, actual, expected, K, factor=1.0):
        """Equal up to rounding of the Gram's dtype relative to the size of the matrix."""
        np.testing.assert_allclose(actual, expected, rtol=0, atol=factor * self.accuracy * size(K))

    def seen(self, gram, K, views):
        """The view of the Gram and of its textbook matrix; None where the view is rightly refused."""
        for view in views:
            if view == "normalized" and K.sum(axis=1).min() < 0:
                with pytest.raises(ValueError, match=r"negative.*; use "):
                    gram.normalized()
                return None
            gram, K = VIEW[view](gram), TEXTBOOK[view](K)
        return gram, K

    # Products ----------------------------------------------------------------------------------------------

    def test_is_what_it_says(self, gram, K):
        """A Gram is a square LinearOperator of its dtype, and the textbook matrix is symmetric."""
        assert isinstance(gram, Gram)
        assert isinstance(gram, LinearOperator)
        assert gram.shape == K.shape
        assert gram.dtype == self.dtype
        np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-14 * np.abs(K).max())

    def test_product(self, gram, K, views):
        """K @ V is the dense product, for a vector, a column and a block, in the Gram's dtype."""
        if (pair := self.seen(gram, K, views)) is None:
            return
        view, K = pair
        rng = np.random.default_rng(1)
        for shape in ((len(K),), (len(K), 1), (len(K), 3)):
            V = rng.standard_normal(shape)
            out = view @ V.astype(self.dtype)
            assert out.dtype == self.dtype
            assert out.shape == V.shape
            self.assert_close(out, K @ V, K, factor=np.linalg.norm(V))

    def test_product_leaves_its_input_alone(self, gram, K):
        """A product neither changes V nor returns memory that belongs to V or the Gram."""
        for view in (gram, gram.centered(), gram.shifted(0.75)):
            V = np.random.default_rng(2).standard_normal((len(K), 2)).astype(self.dtype)
            before = V.copy()
            first = view @ V
            np.testing.assert_array_equal(V, before)
            kept = first.copy()
            first[:] = 7
            np.testing.assert_array_equal(view @ V, kept)

    def test_product_of_any_layout_and_dtype(self, gram, K):
        """Fortran, strided, whole-number and other-precision blocks give the dense product in the Gram's dtype."""
        rng = np.random.default_rng(3)
        V = rng.integers(-3, 4, (len(K), 6))
        for block in (V, V.astype(np.float32), np.asfortranarray(V.astype(np.float64)), V.astype(np.float64)[:, ::2]):
            out = gram @ block
            assert out.dtype == self.dtype
            self.assert_close(out, K @ block, K, factor=np.linalg.norm(V))

    def test_linear_operator_protocol(self, gram, K):
        """matvec, matmat, rmatvec, rmatmat, the adjoint, the transpose and V @ K are the symmetric product."""
        rng = np.random.default_rng(4)
        v, V = rng.standard_normal(len(K)).astype(self.dtype), rng.standard_normal((len(K), 2)).astype(self.dtype)
        factor = np.linalg.norm(V) + np.linalg.norm(v)
        for view, dense in ((gram, K), (gram.centered(), center(K))):
            for out in (view.matvec(v), view.rmatvec(v), view.adjoint() @ v, view.H @ v, view.T @ v, v @ view, view(v)):
                self.assert_close(out, dense @ v, K, factor)
            self.assert_close(view.matvec(v[:, None]), (dense @ v)[:, None], K, factor)
            for out in (view.matmat(V), view.rmatmat(V), view.T.matmat(V), (V.T @ view).T):
                self.assert_close(out, dense @ V, K, factor)
        with pytest.raises(ValueError, match="dimension mismatch"):
            gram @ np.ones(len(K) + 1)

    def test_arpack_takes_it(self, gram, K):
        """SciPy's own eigensolver accepts the operator as it is."""
        values = eigsh(gram, 2, which="LA", v0=np.ones(len(K), self.dtype), return_eigenvectors=False, tol=1e-6)
        self.assert_close(np.sort(values), np.linalg.eigvalsh(K)[-2:], K, factor=10)

    # Entries -----------------------------------------------------------------------------------------------

    def test_degrees_diagonal_trace(self, gram, K, views):
        """Row sums, diagonal and trace are those of the matrix."""
        if (pair := self.seen(gram, K, views)) is None:
            return
        view, K = pair
        for out, expected in ((view.degrees(), K.sum(axis=1)), (view.diagonal(), np.diag(K))):
            assert out.dtype == self.dtype
            assert out.shape == (len(K),)
            self.assert_close(out, expected, K, factor=np.sqrt(len(K)))
        assert isinstance(view.trace(), float)
        self.assert_close(view.trace(), np.trace(K), K, factor=len(K))

    def test_dense(self, gram, K, views):
        """dense() is the matrix, symmetric up to rounding."""
        if (pair := self.seen(gram, K, views)) is None:
            return
        view, K = pair
        out = view.dense()
        assert isinstance(out, np.ndarray)
        assert out.dtype == self.dtype
        self.assert_close(out, K, K)
        self.assert_close(out - out.T, np.zeros_like(K), K)

    def test_dense_is_a_copy(self, gram, K):
        """Writing into dense(), rows() or diagonal() does not change the Gram."""
        for view, expected in ((gram, K), (gram.shifted(0.75), shift(K))):
            view.dense()[:] = 7
            view.rows([0, 1])[:] = 7
            view.diagonal()[:] = 7
            self.assert_close(view.dense(), expected, expected)

    def test_rows(self, gram, K, views):
        """rows() takes one index, repeated, negative and unordered indices and a mask, like the matrix itself."""
        if (pair := self.seen(gram, K, views)) is None:
            return
        view, K = pair
        n = len(K)
        mask = np.arange(n) % 7 == 3
        for index in ([5], [3, 0, 3], [-1, -n, 2], np.arange(n)[::-5], mask, np.zeros(n, bool)):
            out = view.rows(index)
            assert out.dtype == self.dtype
            assert out.shape == K[index].shape
            self.assert_close(out, K[index], K)
        self.assert_close(view.rows(2), K[[2]], K)

    def test_block(self, gram, K, views):
        """block() takes slices, masks, one index, repeated, negative and unordered ones on either side."""
        if (pair := self.seen(gram, K, views)) is None:
            return
        view, K = pair
        n = len(K)
        mask = np.arange(n) % 7 == 3
        some = (slice(3, 9), slice(None), slice(None, None, -4), [5], [3, 0, 3, -1], mask, slice(6, 2), [])
        for rows in some:
            for columns in some:
                expected = K[rows][:, columns] if len(K[rows]) else np.empty((0, len(K[columns])))
                out = view.block(rows, columns)
                assert out.dtype == self.dtype
                assert out.shape == expected.shape
                self.assert_close(out, expected, K)
                out[...] = 7  # the caller's own
        self.assert_close(view.block(2, [4, 2]), K[2:3, [4, 2]], K)

    def test_restricted(self, gram, K, views):
        """The Gram of some samples has their entries and multiplies like their matrix."""
        if (pair := self.seen(gram, K, views)) is None:
            return
        view, K = pair
        n = len(K)
        for index in (slice(2, 12), np.arange(n)[::-3], np.arange(n) % 2 == 0, [7]):
            part, expected = view.restricted(index), K[index][:, index]
            assert isinstance(part, Gram)
            assert part.dtype == self.dtype
            assert part.held == view.held
            assert (part.factor is None) == (view.factor is None)
            assert (part.csr is None) == (view.csr is None)
            self.assert_close(part.dense(), expected, K)
            self.assert_close(part.diagonal(), np.diag(expected), K)
            V = np.linspace(-1, 1, 2 * len(expected)).reshape(-1, 2)
            self.assert_close(part @ V, expected @ V, K, factor=np.linalg.norm(V))
        with pytest.raises(ValueError, match="names a sample twice; pass every sample once"):
            view.restricted([1, 1 - n])

    def test_scaled_and_new_diagonal(self, gram, K, views):
        """scaled(c) is c K, with features where c >= 0; with_diagonal(v) has exactly v there and K beside it."""
        if (pair := self.seen(gram, K, views)) is None:
            return
        view, K = pair
        n = len(K)
        for c in (0, 0.3, 4, -2.5):
            out = view.scaled(c)
            assert out.dtype == self.dtype
            assert (out.factor is None) == (view.factor is None or c < 0)
            self.assert_close(out.dense(), c * K, 3 * K)
            self.assert_close(out @ np.ones(n), c * K.sum(axis=1), K, factor=3 * np.sqrt(n))
        for diagonal in (0.0, np.linspace(-1, 3, n)):
            out, expected = view.with_diagonal(diagonal), K.copy()
            np.fill_diagonal(expected, diagonal)
            np.testing.assert_array_equal(out.diagonal(), np.broadcast_to(diagonal, n).astype(self.dtype))
            np.testing.assert_array_equal(np.diag(out.rows(slice(None))), out.diagonal())
            scale = np.abs(K) + np.abs(expected)
            self.assert_close(out.dense(), expected, scale)
            self.assert_close(out @ np.ones(n), expected.sum(axis=1), scale, factor=3 * np.sqrt(n))

    def test_bad_numbers_are_refused(self, gram, K):
        """Factors, shifts and diagonals that are not finite or not one per sample say what is allowed."""
        for bad in (np.nan, np.inf, "2", [1.0]):
            with pytest.raises(ValueError, match=r"c=.* must be a finite number"):
                gram.scaled(bad)
        for change, name in ((gram.with_diagonal, "diagonal"), (gram.shifted, "shift")):
            with pytest.raises(ValueError, match=rf"{name} has shape \(3,\); pass .*\({len(K)},\)"):
                change(np.ones(3))
            with pytest.raises(ValueError, match=rf"{name} holds NaN or infinite"):
                change(np.full(len(K), np.nan))

    def test_held_entries(self, gram, K):
        """hold() keeps what products need in memory and changes no entry; a Gram that is held returns itself."""
        for view, dense in ((gram, K), (gram.shifted(0.75), shift(K)), (gram.scaled(2.0), 2 * K)):
            kept = view.hold()
            assert kept.held
            assert (kept is view) == view.held
            assert (kept.factor is None) == (view.factor is None)
            self.assert_close(kept.dense(), dense, dense)

    def test_partly_held_features(self, gram, K):
        """hold_some() changes no entry, whether nothing, a part or all of the features fit."""
        for most in (0, 400, 1e9):
            kept = gram.hold_some(most)
            assert (kept is gram) == (gram.held or gram._signed_factor is None)
            self.assert_close(kept @ np.eye(len(K), dtype=self.dtype), K, K)
            self.assert_close(kept.centered().dense(), gram.centered().dense(), K)

    def test_forms(self, gram, K):
        """form(A, B) is Aᵀ K B, of views too."""
        rng = np.random.default_rng(0)
        A, B = (rng.normal(size=(len(K), q)).astype(self.dtype) for q in (2, 3))
        for view, dense in ((gram, K), (gram.shifted(0.75), shift(K))):
            self.assert_close(view.form(A, B), A.T @ dense @ B, len(K) * dense)

    def test_indices_outside_are_refused(self, gram, K):
        """An index beyond the samples is an IndexError, as for an array; so is one that is no index."""
        for index in (len(K), [-len(K) - 1]):
            for call in (gram.rows, gram.restricted, lambda i: gram.block(i, [0]), lambda i: gram.block([0], i)):
                with pytest.raises(IndexError, match="out of bounds"):
                    call(index)
        for index in ([0.5], [True], [[0, 1]], "a"):
            with pytest.raises(IndexError, match="a slice, whole numbers or"):
                gram.block(index, [0])

    def test_memory_budget(self, gram, K, views):
        """Above the budget dense() and rows() refuse, naming the size, the budget and the alternative."""
        if (pair := self.seen(gram, K, views)) is None:
            return
        view, K = pair
        n = len(K)
        with gramian.config(memory_budget=n * n * np.dtype(self.dtype).itemsize - 1):
            with pytest.raises(MemoryBudgetError, match=rf"{n}×{n}.*memory budget.*Nystroem.*gramian\.config"):
                view.dense()
            with pytest.raises(MemoryBudgetError, match=r"rows\(index\).*fewer rows.*gramian\.config"):
                view.rows(np.arange(n))
            with pytest.raises(MemoryBudgetError, match=r"block\(rows, columns\).*fewer.*gramian\.config"):
                view.block(slice(None), slice(None))
            view.rows(np.arange(n // 2))
            view.block(slice(0, n // 2), slice(None))
        with gramian.config(memory_budget=n * n * np.dtype(self.dtype).itemsize):
            view.dense()

    # Factors -----------------------------------------------------------------------------------------------

    def test_factor(self, gram, K, views):
        """Where a Gram has features, F Fᵀ is the matrix, chunk by chunk and in the factor's own products."""
        if (pair := self.seen(gram, K, views)) is None:
            return
        view, K = pair
        factor = view.factor
        if gram.factor is None or WITHOUT_FEATURES.intersection(views):
            assert factor is None
            return
        assert factor.dtype == self.dtype
        chunks = [chunk.toarray() if issparse(chunk) else chunk for _, chunk in factor.chunks()]
        F = np.vstack(chunks).astype(np.float64)
        assert F.shape == factor.shape
        self.assert_close(F @ F.T, K, K)
        V, W = np.ones((F.shape[0], 2), self.dtype), np.ones((F.shape[1], 2), self.dtype)
        scale = np.sqrt(size(K) * max(F.shape)) * 2
        np.testing.assert_allclose(factor.product(W), F @ W, rtol=0, atol=self.accuracy * scale)
        np.testing.assert_allclose(factor.transposed_product(V), F.T @ V, rtol=0, atol=self.accuracy * scale)
        np.testing.assert_allclose(factor.dual(), F.T @ F, rtol=0, atol=self.accuracy * scale**2)

    # Eigenpairs --------------------------------------------------------------------------------------------

    def methods(self, gram, which):
        """The methods that apply to this Gram."""
        solved = gram._signed_factor is not None and (which != "smallest" or gram.factor is None)
        return ["auto", "lapack", "krylov"] + (["dual"] if solved else [])

    def assert_eigenpairs(self, pairs, K, expected):
        """Values as expected, vectors orthonormal, K V = V Λ, signs fixed, dtype kept."""
        values, vectors = pairs
        assert values.dtype == vectors.dtype == self.dtype
        assert vectors.shape == (len(K), len(expected))
        close, loose = (1e-9, 1e-6) if self.dtype == np.float64 else (2e-4, 1e-3)
        np.testing.assert_allclose(values, expected, rtol=0, atol=close * size(K))
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(expected)), rtol=0, atol=loose)
        np.testing.assert_allclose(K @ vectors, vectors * values, rtol=0, atol=loose * size(K))
        leading = np.argmax(np.abs(vectors), axis=0)
        assert np.all(vectors[leading, range(len(expected))] > 0)

    def test_eigenpairs(self, gram, K, views):
        """Every method gives LAPACK's leading eigenvalues, with orthonormal eigenvectors of fixed sign."""
        if (pair := self.seen(gram, K, views)) is None:
            return
        view, K = pair
        spectrum = np.linalg.eigvalsh(K)
        for which in self.orders:
            expected = ordered(spectrum, which)[: self.k]
            for method in self.methods(view, which):
                self.assert_eigenpairs(view.eigenpairs(self.k, which, method=method), K, expected)

    def test_eigenpairs_repeat(self, gram):
        """The same random_state gives the same bits, whatever the method."""
        for method in self.methods(gram, "largest"):
            first, again = (gram.eigenpairs(3, method=method, random_state=5) for _ in range(2))
            np.testing.assert_array_equal(first[0], again[0])
            np.testing.assert_array_equal(first[1], again[1])

    def test_known_eigenvectors_are_deflated(self, gram, K):
        """With the first eigenvectors known, the next eigenpairs come, orthogonal to them."""
        values, vectors = np.linalg.eigh(K)
        for which in self.orders:
            keys = {"largest": -values, "magnitude": -np.abs(values), "smallest": values}[which]
            known = np.ascontiguousarray(vectors[:, np.argsort(keys, kind="stable")[:2]]).astype(self.dtype)
            for method in ("auto", "lapack", "krylov"):
                pairs = gram.eigenpairs(3, which, known=known, method=method)
                self.assert_eigenpairs(pairs, K, ordered(values, which)[2:5])
                np.testing.assert_allclose(known.T @ pairs[1], 0, atol=1e-6 if self.dtype == np.float64 else 2e-3)

    @pytest.mark.parametrize("which", ["largest", "magnitude", "smallest"])
    def test_all_eigenpairs(self, gram, K, which):
        """k = n gives the whole spectrum, whose vectors rebuild the matrix and whose sum is the trace."""
        values, vectors = gram.eigenpairs(len(K), which)
        self.assert_eigenpairs((values, vectors), K, ordered(np.linalg.eigvalsh(K), which))
        self.assert_close(values.sum(dtype=np.float64), np.trace(K), K, factor=len(K))
        self.assert_close((vectors * values) @ vectors.T, K, K, factor=20)

    def test_eigenpairs_refuse_bad_arguments(self, gram, K):
        """k outside 1…n, an unknown order or method and a missing factor are errors that name the remedy."""
        n = len(K)
        for k in (0, -1, n + 1):
            with pytest.raises(ValueError, match=rf"k={k} .*pass 1 <= k <= {n}"):
                gram.eigenpairs(k)
        known = np.linalg.eigh(K)[1][:, :2]
        with pytest.raises(ValueError, match=rf"pass 1 <= k <= {n - 2}"):
            gram.eigenpairs(n - 1, known=known)
        with pytest.raises(ValueError, match="which='biggest' must be 'largest', 'magnitude' or 'smallest'"):
            gram.eigenpairs(1, "biggest")
        with pytest.raises(ValueError, match="method='qr' must be 'auto', 'lapack', 'dual' or 'krylov'"):
            gram.eigenpairs(1, method="qr")
        if gram._signed_factor is None:
            with pytest.raises(ValueError, match=r"needs a Gram with features.*use method='krylov'"):
                gram.eigenpairs(1, method="dual")

    def test_signature(self, gram, K, views):
        """The signs of all eigenvalues are counted, and what the negative ones weigh."""
        if (pair := self.seen(gram, K, views)) is None:
            return
        view, K = pair
        values = np.linalg.eigvalsh(K)
        limit = (1e-10 if self.dtype == np.float64 else 1e-5) * np.abs(values).max()
        found = view.signature()
        assert found.exact
        assert found.negative_exact
        assert (found.n_positive, found.n_negative) == ((values > limit).sum(), (values < -limit).sum())
        assert found.n_positive + found.n_negative + found.n_zero == len(K)
        self.assert_close([found.largest, found.smallest], values[[-1, 0]], K, factor=10)
        self.assert_close(found.negative, values[values < -limit], K, factor=10)
        expected = -values[values < -limit].sum() / (np.abs(values).sum() or 1.0)
        np.testing.assert_allclose(found.negative_share, expected, rtol=0, atol=1e3 * self.accuracy)

    # Linear systems ----------------------------------------------------------------------------------------

    def solvers(self, gram, A):
        """The methods that apply to K + diag(d) = A."""
        definite = np.linalg.eigvalsh(A)[0] > 0
        features = gram._signed_factor is not None
        refined = ["refined"] if definite and gram.dtype == np.float64 else []
        return ["auto", "ldl"] + (["cholesky", "cg"] if definite else []) + (["dual"] if features else []) + refined

    def test_factorization(self, gram, K, views):
        """Every method solves like numpy.linalg.solve, with the diagonal of the inverse and the determinant."""
        if (pair := self.seen(gram, K, views)) is None:
            return
        view, K = pair
        n = len(K)
        d = (size(K) if K.any() else 1.0) * np.linspace(0.013, 0.03, n)
        A = K + np.diag(d)
        B = np.random.default_rng(8).standard_normal((n, 3))
        expected, inverse = np.linalg.solve(A, B), np.linalg.inv(A)
        for method in self.solvers(view, A):
            system = view.factorization(d, method)
            # Right to the rounding of the entries, or the tolerance of the iteration, times the condition.
            accuracy = max(self.accuracy, 1e-10 if system.method == "cg" else 0.0) * np.linalg.cond(A)
            close = accuracy * np.abs(expected).max()
            assert system.method == method or method == "auto"
            X = system.solve(B.astype(self.dtype))
            assert X.dtype == self.dtype
            np.testing.assert_allclose(X, expected, rtol=0, atol=close)
            assert (system.n_iter > 0) == (system.method in ("cg", "refined"))
            first = system.solve(B[:, 0])
            assert first.shape == (n,)
            assert first.dtype == np.float64
            np.testing.assert_allclose(first, expected[:, 0], rtol=0, atol=close)
            squares = np.einsum("ij,ij->j", B, expected)
            bound = n * close * np.abs(B).max()
            np.testing.assert_allclose(system.quadratic(B.astype(self.dtype)), squares, rtol=0, atol=bound)
            entries = system.inverse_diagonal()
            assert entries.dtype == self.dtype
            np.testing.assert_allclose(entries, np.diag(inverse), rtol=0, atol=accuracy * np.abs(inverse).max())
            true = 1 / np.linalg.cond(A, 1)
            assert 0.99 * true <= system.reciprocal_condition <= 10 * true
            if system.method == "cg":
                with pytest.raises(ValueError, match=r"no factor.*use method='cholesky'.*method='dual'"):
                    system.log_determinant()
            else:
                assert abs(system.log_determinant() - np.linalg.slogdet(A)[1]) <= accuracy * n

    def test_factorization_refuses_bad_arguments(self, gram, K):
        """Wrong diagonals, methods and right-hand sides are errors that say what is allowed."""
        n = len(K)
        with pytest.raises(ValueError, match="'lu' must be 'auto', 'cholesky', 'refined', 'ldl', 'dual' or 'cg'"):
            gram.factorization(1.0, "lu")
        with pytest.raises(ValueError, match=rf"diagonal has shape \(3,\); pass .*\({n},\)"):
            gram.factorization(np.ones(3))
        with pytest.raises(ValueError, match="diagonal holds NaN or infinite"):
            gram.factorization(np.inf)
        with pytest.raises(ValueError, match="preconditioner=-1 must be 'auto' or a whole number >= 0"):
            gram.factorization(1.0, preconditioner=-1)
        if gram._signed_factor is None:
            with pytest.raises(ValueError, match=r"needs a Gram with features; use method='cholesky' or 'cg'"):
                gram.factorization(1.0, "dual")
        else:
            with pytest.raises(ValueError, match=r"diagonal has the value 0; .*use method='ldl'"):
                gram.factorization(0.0, "dual")
        system = gram.factorization(3 * size(K), "cholesky")
        with pytest.raises(ValueError, match=rf"B has shape \({n + 1},\).*pass numbers of shape \({n},\)"):
            system.solve(np.ones(n + 1))
        with pytest.raises(ValueError, match="B holds NaN"):
            system.solve(np.full(n, np.nan))
        with pytest.raises(ValueError, match=r"start has shape \(2,\)"):
            system.solve(np.ones(n), start=np.ones(2))
        with pytest.raises(ValueError, match="tol=2 must be between 0 and 1"):
            system.solve(np.ones(n), tol=2)

    # Weights -----------------------------------------------------------------------------------------------

    def test_bad_weights_are_refused(self, gram, K):
        """Weights of the wrong length, negative, NaN or all zero are errors that say what is allowed."""
        n = len(K)
        for bad in (np.ones(n + 1), -np.ones(n), np.zeros(n), np.full(n, np.nan)):
            with pytest.raises(ValueError, match=rf"weights must be {n} (finite )?values >= 0, not all zero"):
                gram.weighted_centered(bad)
