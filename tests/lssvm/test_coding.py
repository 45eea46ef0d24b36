"""Code books and the way back."""

import numpy as np
import pytest

from gramian.lssvm.coding import CODINGS, class_scores, code_book


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 8, 11])
def test_words_are_distinct_and_decode_to_themselves(coding, n_classes):
    """Without noise every word is read as its class, by all ways of decoding."""
    book = code_book(coding, n_classes, np.random.default_rng(0))
    assert len(np.unique(book, axis=0)) == n_classes
    if n_classes > 2:
        for decoding in ("loss", "hamming"):
            values = np.where(book == 0, np.random.default_rng(1).normal(size=book.shape), book)
            np.testing.assert_array_equal(class_scores(values, book, decoding).argmax(axis=1), np.arange(n_classes))


def test_lengths_are_those_of_the_table():
    rng = np.random.default_rng(0)
    lengths = {coding: code_book(coding, 5, rng).shape[1] for coding in CODINGS}
    assert lengths == {"ova": 5, "ovo": 10, "moc": 3, "ecoc": 15}
    assert code_book("moc", 4, rng).shape == (4, 2)
    assert code_book("ecoc", 10, rng).shape == (10, 34)


def test_random_words_have_no_useless_column_and_differ_in_many():
    """No column is constant, equal to another or its opposite."""
    book = code_book("ecoc", 9, np.random.default_rng(0))
    products = np.abs(book.T @ book)
    assert products[~np.eye(book.shape[1], dtype=bool)].max() < 9
    assert np.abs(book.sum(axis=0)).max() < 9
    distances = [(book[i] != book[j]).sum() for i in range(9) for j in range(i)]
    assert min(distances) >= book.shape[1] // 4


def test_the_largest_value_is_the_nearest_word_of_one_versus_all():
    """Squared distances to the words of ova differ by −4 f_c, so both choices are the same."""
    book = code_book("ova", 4, np.random.default_rng(0))
    f = np.random.default_rng(1).normal(size=(50, 4))
    distances = ((f[:, None] - book) ** 2).sum(axis=2)
    np.testing.assert_array_equal(class_scores(f, book, "loss").argmax(axis=1), distances.argmin(axis=1))
    np.testing.assert_array_equal(class_scores(f, book, "argmax").argmax(axis=1), distances.argmin(axis=1))


@pytest.mark.parametrize("coding", ["ovo", "moc", "ecoc"])
def test_scores_are_those_of_the_definition(coding):
    """Loss over the columns a class takes part in; wrong signs, with a half for the others, ties by the loss."""
    book = code_book(coding, 5, np.random.default_rng(0))
    f = np.random.default_rng(1).normal(size=(40, book.shape[1]))
    loss = (((f[:, None] - book) ** 2) * (book != 0)).sum(axis=2)
    np.testing.assert_allclose(class_scores(f, book, "loss"), -loss, rtol=1e-9)
    wrong = np.where(book == 0, 0.5, np.sign(f)[:, None] != book).sum(axis=2)
    expected = [min(range(5), key=lambda c: (wrong[i, c], loss[i, c])) for i in range(40)]
    np.testing.assert_array_equal(class_scores(f, book, "hamming").argmax(axis=1), expected)


@pytest.mark.parametrize("n_classes", [8, 11])
def test_random_words_are_chosen_among_many(n_classes):
    """Their closest pair is nearly as far apart as that of the best of 2,000 books, some with useless columns."""
    book = code_book("ecoc", n_classes, np.random.default_rng(0))
    books = np.sign(np.random.default_rng(1).normal(size=(2000, *book.shape)))
    here = np.triu_indices(n_classes, 1)
    closest = ((book.shape[1] - (book @ book.T)[here]) / 2).min()
    others = ((book.shape[1] - (books @ books.transpose(0, 2, 1))[:, here[0], here[1]]) / 2).min(axis=1)
    assert closest >= others.max() - 1
    assert closest > np.median(others) + 1
