"""Centring, normalising, weighting, scaling and shifting a Gram without copying it.

Centring, normalising and weighting are one operator, the sandwich Π S K S Π with a diagonal S and a projection
Π = I − U Uᵀ off a few orthonormal directions; the named views only choose S and U. Features pass through the sandwich
a chunk at a time, so a view of a FeatureGram keeps the cheap m×m dual. Multiples c K and K + diag(v) are two more.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramian.grams.base import Gram, Index, Which, as_diagonal, multiplier, on_diagonal
from gramian.grams.features import Factor, FeatureGram, scaled_rows
from gramian.grams.sparse import SparseGram
from gramian.grams.tiles import slices
from gramian.typing import Array, Matrix


class _View(Gram):
    """An operator made of another Gram.

    Parameters
    ----------
    base : Gram
    """

    def __init__(self, base: Gram) -> None:
        super().__init__(base.shape[0], base.dtype)
        self.base = base
        self.cheap_products = base.cheap_products

    @property
    def held(self) -> bool:  # type: ignore[override]
        return self.base.held


class SandwichGram(_View):
    """A Gram scaled and projected, Π S K S Π with S = diag(scale) and Π = I − U Uᵀ.

    Parameters
    ----------
    base : Gram
        K.
    scale : ndarray (n,), optional
        The diagonal of S; None is the identity.
    directions : ndarray (n, q), optional
        U with orthonormal columns; None projects nothing away.
    """

    def __init__(self, base: Gram, scale: Array | None = None, directions: Array | None = None) -> None:
        super().__init__(base)
        self.scale = None if scale is None else np.asarray(scale, base.dtype)
        self.directions = None if directions is None else np.asarray(directions, base.dtype)

    def _scaled(self, V: Array) -> Array:
        return V if self.scale is None else self.scale[:, None] * V

    def _projected(self, V: Array) -> Array:
        return V if self.directions is None else V - self.directions @ (self.directions.T @ V)

    @cached_property
    def _image(self) -> Array:
        """S K S U, shape (n, q)."""
        assert self.directions is not None
        return self._scaled(self.base._product(self._scaled(self.directions)))

    # Where there are features, projecting them before a product keeps digits that projecting after it would lose
    # (rows that lie together far from the origin).

    def _product(self, V: Array) -> Array:
        if self._features is not None:
            return self._features._product(V)
        inner = self._scaled(self._projected(V))
        return self._projected(self._scaled(self.base._product(np.ascontiguousarray(inner))))

    def _rows(self, index: Array) -> Array:
        if self._features is not None:
            return self._features._rows(index)
        rows = self.base._rows(index)
        if self.scale is not None:
            rows = self.scale[index, None] * rows * self.scale
        if self.directions is not None:
            rows = rows - self.directions[index] @ self._image.T
            rows -= (rows @ self.directions) @ self.directions.T
        return rows

    def _block(self, rows: Index, columns: Index) -> Array:
        if self._features is not None:
            return self._features._block(rows, columns)
        block = self.base._block(rows, columns)
        if self.scale is not None:
            block *= self.scale[rows, None]
            block *= self.scale[columns]
        if self.directions is not None:
            block -= self.directions[rows] @ self._beyond[columns].T
            block -= self._beyond[rows] @ self.directions[columns].T
        return block

    @cached_property
    def _beyond(self) -> Array:
        """B with Π A Π = A − U Bᵀ − B Uᵀ for A = S K S: A U − ½ U (Uᵀ A U)."""
        assert self.directions is not None
        return self._image - self.directions @ (self.directions.T @ self._image) / 2

    def _restricted(self, index: Array) -> Gram:
        if self._features is not None:
            return self._features._restricted(index)
        inner = self.base._restricted(index)
        if self.scale is not None:
            inner = SandwichGram(inner, self.scale[index])
        if self.directions is None:
            return inner
        return _UpdatedGram(inner, self.directions[index], self._beyond[index])

    def _dense(self) -> Array:
        if self._features is not None:
            return self._features._dense()
        K = self.base._dense()
        for rows in slices(len(K), 128):  # in place, with a thin temporary
            strip = K[rows]
            if self.scale is not None:
                strip *= self.scale[rows, None]
                strip *= self.scale
            if self.directions is not None:
                strip -= self.directions[rows] @ self._image.T
                strip -= (strip @ self.directions) @ self.directions.T
        return K

    def _diagonal(self) -> Array:
        if self._features is not None:
            return self._features._diagonal()
        diagonal = self.base._diagonal()
        if self.scale is not None:
            diagonal = diagonal * self.scale**2
        if self.directions is not None:
            U = self.directions
            # (Π A Π)_ii = a_ii − 2 u_i (A U)_iᵀ + u_i (Uᵀ A U) u_iᵀ
            diagonal = diagonal - np.einsum("ij,ij->i", U, 2 * self._image - U @ (U.T @ self._image))
        return diagonal

    @cached_property
    def _features(self) -> FeatureGram | None:
        base = self.base.factor
        return None if base is None else FeatureGram(_SandwichFactor(base, self))

    @property
    def factor(self) -> Factor | None:
        return None if self._features is None else self._features.factor

    @cached_property
    def _signed_factor(self) -> tuple[Factor, Array] | None:
        if self._features is not None or (signed := self.base._signed_factor) is None:
            return super()._signed_factor
        return _SandwichFactor(signed[0], self), signed[1]


class _UpdatedGram(_View):
    """K − U Bᵀ − B Uᵀ: some samples of a Gram that is centred over all, or a Gram less some directions."""

    def __init__(self, base: Gram, directions: Array, beyond: Array) -> None:
        super().__init__(base)
        self.directions, self.beyond = directions, beyond

    def _product(self, V: Array) -> Array:
        out = self.base._product(V)
        out -= self.directions @ (self.beyond.T @ V)
        out -= self.beyond @ (self.directions.T @ V)
        return out

    def _rows(self, index: Array) -> Array:
        return self._block(index, slice(0, self.shape[0]))

    def _block(self, rows: Index, columns: Index) -> Array:
        block = self.base._block(rows, columns)
        block -= self.directions[rows] @ self.beyond[columns].T
        block -= self.beyond[rows] @ self.directions[columns].T
        return block

    def _dense(self) -> Array:
        K = self.base._dense()
        for rows in slices(len(K), 128):  # in place, with a thin temporary
            K[rows] -= self.directions[rows] @ self.beyond.T
            K[rows] -= self.beyond[rows] @ self.directions.T
        return K

    def _diagonal(self) -> Array:
        return self.base._diagonal() - 2 * np.einsum("ij,ij->i", self.directions, self.beyond)

    def _restricted(self, index: Array) -> Gram:
        return _UpdatedGram(self.base._restricted(index), self.directions[index], self.beyond[index])


class _SandwichFactor(Factor):
    """Π S F: a sandwich of F Fᵀ has the features S F less their part along U.

    A chunk is a temporary, so its length is planned anew even where the base is one chunk.
    """

    def __init__(self, base: Factor, view: SandwichGram) -> None:
        super().__init__(base.shape, base.dtype)
        self.base = base
        self.scale, self.directions = view.scale, view.directions
        self.along = None if view.directions is None else base.transposed_product(view._scaled(view.directions)).T

    def product(self, W: Array) -> Array:
        if not self._whole:
            return super().product(W)
        out = self.base.product(W)
        if self.scale is not None:
            out *= self.scale[:, None]
        if self.directions is not None and self.along is not None:
            out -= self.directions @ (self.along @ W)
        return out

    def transposed_product(self, V: Array) -> Array:
        if not self._whole:
            return super().transposed_product(V)
        if self.directions is not None:
            V = V - self.directions @ (self.directions.T @ V)
        return self.base.transposed_product(V if self.scale is None else self.scale[:, None] * V)

    @property
    def _whole(self) -> bool:
        """Whether V may be scaled and projected instead of F, which saves copies of F.

        Dense features that lie together far from the origin would lose digits; sparse ones do not lie so, and would
        be written out in full.
        """
        return self.directions is None or self.base.is_sparse

    @property
    def held(self) -> bool:
        return self.base.held

    def chunk_of(self, rows: Index) -> Matrix:
        chunk = self.base.chunk_of(rows)
        if self.scale is not None:
            chunk = scaled_rows(chunk, self.scale[rows])
        if self.directions is None or self.along is None:
            return chunk
        return (chunk.toarray() if issparse(chunk) else chunk) - self.directions[rows] @ self.along


class NormalizedGram(SandwichGram):
    """D^-½ K D^-½, whose top eigenvectors are known from the connected components of a sparse K.

    Attributes
    ----------
    inverse_roots : ndarray (n,)
        The diagonal of D^-½, zero for samples of degree zero.
    """

    def __init__(self, base: Gram) -> None:
        degrees = base.degrees()
        tolerance = 100 * float(np.finfo(base.dtype).eps) * float(np.abs(degrees).max(initial=0.0))
        if degrees.size and float(degrees.min()) < -tolerance:
            raise ValueError(
                "the kernel gives negative similarities, so it defines no walk on the samples; use one with values "
                ">= 0, such as kernel='rbf'"
            )
        positive = degrees > 0
        self.inverse_roots = np.where(positive, 1.0, 0.0) / np.sqrt(np.where(positive, degrees, 1.0))
        super().__init__(base, self.inverse_roots)

    def _known_top(self, most: int) -> Array | None:
        if not isinstance(self.base, SparseGram) or (labels := self.base.components()) is None:
            return None
        # With weights >= 0 the eigenvalue 1 has one eigenvector D^½ 1_C per component C that has an edge.
        degrees = np.maximum(self.base.degrees(), 0).astype(np.float64)
        volumes = np.bincount(labels, degrees)
        largest = np.argsort(-volumes, kind="stable")[:most]
        largest = largest[volumes[largest] > 0]
        column = np.full(len(volumes), -1)
        column[largest] = np.arange(len(largest))
        inside = np.flatnonzero(column[labels] >= 0)
        vectors = np.zeros((len(labels), len(largest)), self.dtype)
        vectors[inside, column[labels[inside]]] = np.sqrt(degrees[inside] / volumes[labels[inside]])
        return vectors


class ScaledGram(_View):
    """c K, for c of either sign."""

    def __init__(self, base: Gram, c: float) -> None:
        super().__init__(base)
        self.c = multiplier(c, base.dtype)

    def _product(self, V: Array) -> Array:
        return self.c * self.base._product(V)

    def _rows(self, index: Array) -> Array:
        return self.c * self.base._rows(index)

    def _block(self, rows: Index, columns: Index) -> Array:
        return self.c * self.base._block(rows, columns)

    def _dense(self) -> Array:
        K = self.base._dense()
        K *= self.c
        return K

    def _diagonal(self) -> Array:
        return self.c * self.base._diagonal()

    def _restricted(self, index: Array) -> Gram:
        return ScaledGram(self.base._restricted(index), self.c)

    @property
    def _signed_factor(self) -> tuple[Factor, Array] | None:
        signed = self.base._signed_factor
        return None if signed is None else (signed[0], float(self.c) * signed[1])

    def eigenpairs(self, k: int, which: Which = "largest", **options: Any) -> tuple[Array, Array]:
        """Those of K, scaled; the largest of −K are the smallest of K, for which other methods are chosen."""
        if self._signed_factor is not None:  # the dual knows signs
            return super().eigenpairs(k, which, **options)
        turned: dict[Which, Which] = {"largest": "smallest", "smallest": "largest"}
        values, vectors = self.base.eigenpairs(k, turned.get(which, which) if self.c < 0 else which, **options)
        return values * self.c, vectors


class ShiftedGram(_View):
    """A Gram with something added to its diagonal: K + shift·I, or K + diag(shift).

    Parameters
    ----------
    base : Gram
        K.
    shift : float or ndarray (n,)
    """

    def __init__(self, base: Gram, shift: float | Array) -> None:
        super().__init__(base)
        values = as_diagonal(shift, base.shape[0], base.dtype, "shift")
        self.shift = shift if np.ndim(shift) == 0 else values

    @cached_property
    def _sum(self) -> Array:
        """The new diagonal."""
        return self.base._diagonal() + np.asarray(self.shift, self.dtype)

    def _product(self, V: Array) -> Array:
        out = self.base._product(V)
        shift = np.asarray(self.shift, self.dtype)
        out += shift[:, None] * V if shift.ndim else shift * V
        return out

    def _rows(self, index: Array) -> Array:
        rows = np.array(self.base._rows(index))
        rows[np.arange(len(index)), index] = self._sum[index]
        return rows

    def _block(self, rows: Index, columns: Index) -> Array:
        block = self.base._block(rows, columns)
        i, j = on_diagonal(rows, columns)
        if len(i):
            block[i, j] = self._sum[rows][i]
        return block

    def _dense(self) -> Array:
        K = self.base._dense()
        np.fill_diagonal(K, self._sum)
        return K

    def _diagonal(self) -> Array:
        return self._sum.copy()

    def _restricted(self, index: Array) -> Gram:
        shift = self.shift if np.ndim(self.shift) == 0 else np.asarray(self.shift)[index]
        return ShiftedGram(self.base._restricted(index), shift)

    def scaled(self, c: float) -> Gram:
        """c K + c·shift, so that the features of K stay within reach."""
        return ShiftedGram(self.base.scaled(c), multiplier(c, self.dtype) * self.shift)

    def eigenpairs(self, k: int, which: Which = "largest", **options: Any) -> tuple[Array, Array]:
        """Those of K, shifted."""
        # An uneven shift changes the eigenvectors, and any shift which eigenvalues are largest in magnitude.
        if which == "magnitude" or np.ndim(self.shift):
            return super().eigenpairs(k, which, **options)
        values, vectors = self.base.eigenpairs(k, which, **options)
        return values + self.dtype.type(self.shift), vectors


class DiagonalGram(ShiftedGram):
    """K with its diagonal replaced.

    Parameters
    ----------
    base : Gram
        K.
    diagonal : float or ndarray (n,)
    """

    def __init__(self, base: Gram, diagonal: float | Array) -> None:
        new = as_diagonal(diagonal, base.shape[0], base.dtype)
        super().__init__(base, new - base.diagonal())
        self._sum = new

    def _restricted(self, index: Array) -> Gram:
        return DiagonalGram(self.base._restricted(index), self._sum[index])


def scaled(base: Gram, c: float) -> Gram:
    """c K; features stay features where c >= 0."""
    c = multiplier(c, base.dtype)
    if c >= 0 and base.factor is not None:
        return SandwichGram(base, np.full(base.shape[0], np.sqrt(c), base.dtype))
    return ScaledGram(base, c)


def deflated(base: Gram, scores: Array) -> _UpdatedGram:
    """K − S Sᵀ."""
    scores = np.asarray(scores, base.dtype)
    if scores.ndim != 2 or scores.shape[0] != base.shape[0] or not np.isfinite(scores).all():
        raise ValueError(f"scores has shape {scores.shape}; pass finite numbers of shape ({base.shape[0]}, q)")
    return _UpdatedGram(base, scores, scores / 2)


def centered(base: Gram) -> SandwichGram:
    """M K M with M = I − 11ᵀ/n."""
    n = base.shape[0]
    return SandwichGram(base, None, np.full((n, 1), 1 / np.sqrt(max(n, 1))))


def normalized(base: Gram) -> NormalizedGram:
    """D^-½ K D^-½."""
    return NormalizedGram(base)


def weighted_centered(base: Gram, weights: Array) -> SandwichGram:
    """Π V^½ K V^½ Π, Π orthogonal to √weights; weights of zero drop their samples."""
    weights = np.asarray(weights, base.dtype)
    if weights.shape != (base.shape[0],) or not np.all((weights >= 0) & (weights < np.inf)) or not np.any(weights > 0):
        raise ValueError(
            f"weights must be {base.shape[0]} finite values >= 0, not all zero; got shape {weights.shape}"
            + (f" with minimum {weights.min():.3g}" if weights.size else "")
        )
    roots = np.sqrt(weights)
    return SandwichGram(base, roots, (roots / np.linalg.norm(roots))[:, None])
