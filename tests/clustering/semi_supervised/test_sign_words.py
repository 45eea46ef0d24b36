"""Words of signs, scores of words, probabilities."""

import numpy as np
import pytest
from scipy.special import softmax

from gramian.clustering.semi_supervised.sign_words import hidden_words, temperature, word_probabilities, word_scores

BOOK = np.array([[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])


def test_hidden_words_are_the_most_frequent_that_no_class_has():
    scores = np.array([[1, -1, -1]] * 5 + [[-1, -1, -1]] * 3 + [[1, 1, -1]] * 2 + [[1, 1, 1]]) * 0.3
    assert hidden_words(scores, BOOK, 2).tolist() == [[-1, -1, -1], [1, 1, -1]]
    assert hidden_words(scores[:5], BOOK, 2).shape == (0, 3)


def test_a_word_with_fewer_wrong_signs_always_wins():
    """Hamming distance first, as far off as the scores may be; then the squared distance."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(200, 3)) * rng.exponential(5, size=(200, 1))
    found = word_scores(scores, BOOK).argmax(axis=1)
    wrong = (np.sign(scores)[:, None] != BOOK[None]).sum(axis=2)
    distance = ((scores[:, None] - BOOK[None]) ** 2).sum(axis=2)
    expected = [min(range(3), key=lambda c: (wrong[i, c], distance[i, c])) for i in range(200)]
    assert found.tolist() == expected


def test_the_temperature_is_that_of_the_scores():
    """Classes drawn by softmax(3 z) are found to be so, whatever unit z has."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(4000, 3))
    codes = np.array([rng.choice(3, p=p) for p in softmax(3 * z, axis=1)])
    assert temperature(z, codes) == pytest.approx(3, rel=0.1)
    assert temperature(100 * z, codes) == pytest.approx(0.03, rel=0.1)


def test_two_classes_and_several_labels_use_the_same_curve():
    rng = np.random.default_rng(2)
    z = rng.normal(size=5000)
    codes = (rng.random(5000) < 1 / (1 + np.exp(-2 * 1.5 * z))).astype(int)
    assert temperature(z, codes) == pytest.approx(1.5, rel=0.1)
    assert np.allclose(word_probabilities(z, 1.5, several=False)[:, 1], 1 / (1 + np.exp(-3 * z)))
    assert temperature(np.zeros(4), np.array([0, 1, 0, 1])) == 1.0


def test_separated_classes_stay_uncertain():
    """Ten rows that are all right say nothing of the eleventh for sure."""
    shares = word_probabilities(
        np.array([1.0, -1.0]), temperature(np.array([1.0, -1.0] * 5), np.array([1, 0] * 5)), several=False
    )
    assert 0.8 < shares[0, 1] < 0.99


def test_shares_add_up_but_for_several_labels():
    z = np.random.default_rng(3).normal(size=(5, 3))
    assert np.allclose(word_probabilities(z, 2.0, several=False).sum(axis=1), 1)
    assert (word_probabilities(z, 2.0, several=True) > 0.5).tolist() == (z > 0).tolist()
