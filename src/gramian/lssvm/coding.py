"""Several classes as columns of +1 and −1: code books, and the way back from real numbers to classes.

Pure functions on arrays; used by :class:`gramian.lssvm.LSSVMClassifier`.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from gramian.typing import Array

CODINGS = ("ova", "ovo", "moc", "ecoc")
DECODINGS = ("loss", "hamming", "argmax")
_EXHAUSTIVE = 7  # classes up to which all 2^(C−1) − 1 columns are used
_DRAWS = 10_000


def code_book(coding: str, n_classes: int, rng: np.random.Generator) -> Array:
    """The code word of every class, shape (C, L).

    =======  ===============================  ================================================================
    coding   columns                          code word of class c
    =======  ===============================  ================================================================
    ova      C                                +1 in column c, −1 elsewhere
    ovo      C (C − 1) / 2                    +1 against later classes, −1 against earlier ones, 0 elsewhere
    moc      ⌈log₂ C⌉                         the binary digits of c
    ecoc     2^(C−1) − 1, or ⌈10 log₂ C⌉      all columns up to sign (C <= 7), or of many random books the one
             above 7 classes                  whose closest words differ most
    =======  ===============================  ================================================================

    Two classes always have one column, −1 and +1.

    Examples
    --------
    >>> import numpy as np
    >>> code_book("moc", 4, np.random.default_rng(0))
    array([[-1., -1.],
           [-1.,  1.],
           [ 1., -1.],
           [ 1.,  1.]])
    """
    classes = np.arange(n_classes)
    if n_classes == 2:
        return np.array([[-1.0], [1.0]])
    if coding == "ova":
        return 2 * np.eye(n_classes) - 1
    if coding == "ovo":
        pairs = np.array(list(combinations(classes, 2)))
        return (classes[:, None] == pairs[:, 0]) * 1.0 - (classes[:, None] == pairs[:, 1])
    if coding == "moc":
        n_bits = int(np.ceil(np.log2(n_classes)))
        return 2.0 * ((classes[:, None] >> np.arange(n_bits)[::-1]) & 1) - 1
    if n_classes <= _EXHAUSTIVE:
        columns = np.arange(1, 2 ** (n_classes - 1))  # class 0 is −1 everywhere, which leaves out complements
        return 2.0 * ((columns >> (n_classes - 1 - classes[:, None])) & 1) - 1
    return _random_book(n_classes, int(np.ceil(10 * np.log2(n_classes))), rng)


def _random_book(n_classes: int, n_bits: int, rng: np.random.Generator) -> Array:
    """Of many random books without constant, equal or opposite columns the one of largest least distance."""
    best, found = -1.0, None
    for _ in range(_DRAWS // 100):
        books = 2.0 * rng.integers(0, 2, (100, n_classes, n_bits)) - 1
        agreement = books @ books.transpose(0, 2, 1)
        agreement[:, range(n_classes), range(n_classes)] = -n_bits
        distance = (n_bits - agreement.max(axis=(1, 2))) / 2
        for place in np.argsort(-distance, kind="stable"):
            if distance[place] <= best:
                break
            if _distinct_columns(books[place]):
                best, found = float(distance[place]), books[place]
                break
    assert found is not None  # eight classes have 127 columns, so a draw without two alike is common
    return found


def _distinct_columns(book: Array) -> bool:
    signed = np.unique(book * book[0], axis=1)  # complements become equal
    return signed.shape[1] == book.shape[1] and not (np.abs(book.sum(axis=0)) == len(book)).any()


def class_scores(f: Array, book: Array, decoding: str) -> Array:
    """One score per class, shape (n, C), the largest of which is the predicted class.

    "loss" is minus the squared distance Σ_l (f_l − c_l)² over the columns that a class takes part in. "hamming" is
    minus the number of columns of the wrong sign, with a half for columns that it takes no part in; ties go to the
    smaller squared distance. "argmax" is the value itself. The scores of one-versus-all words are the values under all
    but "hamming", for these have the same largest one.

    Parameters
    ----------
    f : ndarray (n, L)
        What the machines of all columns say.
    book : ndarray (C, L)
    decoding : {"loss", "hamming", "argmax"}
    """
    one_versus_all = book.shape[0] == book.shape[1] and np.array_equal(book, 2 * np.eye(len(book)) - 1)
    if decoding != "hamming" and one_versus_all:
        return f
    code = book.astype(f.dtype)
    taken = (code != 0).astype(f.dtype)
    loss = np.maximum((f**2) @ taken.T - 2 * f @ code.T + taken.sum(axis=1), 0)
    if decoding != "hamming":
        return -loss
    wrong = (book.shape[1] - np.where(f >= 0, 1.0, -1.0).astype(f.dtype) @ code.T) / 2
    tie = loss / (1 + loss.max(axis=1, keepdims=True))
    return -(wrong + 0.49 * tie)
