"""Sign words and directions against their definitions, and where words fail."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.clustering.ksc import Directions, SignWords, decoder_of
from gramian.clustering.ksc.decoding import signs
from gramian.metrics import adjusted_rand


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def simplex(k, rng, n_each=25, noise=0.05):
    """Scores near k rays with negative inner products, turned at random, and their labels."""
    A = np.eye(k) - 1 / k
    basis = np.linalg.qr(np.hstack([A[:, : k - 1], np.ones((k, 1))]))[0][:, : k - 1]
    turn = np.linalg.qr(rng.standard_normal((k - 1, k - 1)))[0]
    labels = np.repeat(range(k), n_each)
    rows = (A @ basis @ turn)[labels] * rng.uniform(0.3, 3, (len(labels), 1))
    return rows + noise * rng.standard_normal(rows.shape), labels


def test_words_are_the_most_frequent(rng):
    """Words by frequency; rows go to the word of the smallest Hamming distance."""
    scores = rng.standard_normal((200, 3)) + np.array([0.5, 0.2, 0.0])
    decoder = SignWords.of(scores, 4)
    found, counts = np.unique(np.sign(scores), axis=0, return_counts=True)
    expected = found[np.lexsort((np.arange(len(found)), -counts))][:4]
    np.testing.assert_array_equal(decoder.words, expected)
    hamming = (signs(scores)[:, None] != decoder.words[None]).sum(axis=2)
    labels = decoder.labels(scores)
    np.testing.assert_array_equal(hamming[np.arange(200), labels], hamming.min(axis=1))


def test_ties_go_to_the_smaller_angle():
    decoder = SignWords(np.array([[1.0, 0.1], [-0.1, -1.0]]), np.array([[1, 1], [-1, -1]], np.int8))
    assert decoder.labels(np.array([[3.0, -0.1], [0.1, -3.0]])).tolist() == [0, 1]


def test_fewer_words_than_clusters():
    assert decoder_of(np.array([[1.0, 1.0], [2.0, 1.0], [-1.0, -1.0]]), 3, "hamming").n_clusters == 2


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_directions_find_separated_rays(k, rng):
    scores, labels = simplex(k, rng)
    decoder = decoder_of(scores, k)
    assert isinstance(decoder, Directions)
    assert adjusted_rand(labels, decoder.labels(scores)) == 1
    np.testing.assert_array_equal(decoder.labels(7 * scores), decoder.labels(scores))
    assert (decoder.memberships(scores).argmax(axis=1) == decoder.labels(scores)).all()


def test_words_miss_clusters_that_directions_find():
    """Among eight rays in seven dimensions the eight most frequent words miss some, over several draws."""
    worst = []
    for seed in range(8):
        scores, labels = simplex(8, np.random.default_rng(seed), noise=0.12)
        by = {name: adjusted_rand(labels, decoder_of(scores, 8, name).labels(scores)) for name in ("hamming", "cosine")}
        assert by["cosine"] > 0.97
        worst.append(by["hamming"])
    assert np.mean(worst) < 0.9


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_two_clusters_are_the_sign(seed):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((30, 1)) * 10.0 ** rng.integers(-3, 3)
    scores[:2] = [[1.0], [-1.0]]
    for name in ("hamming", "cosine"):
        labels = decoder_of(scores, 2, name).labels(scores)
        np.testing.assert_array_equal(labels, np.where((scores[:, 0] > 0) == (scores[0, 0] > 0), 0, 1))


def test_clusters_are_numbered_by_their_first_row(rng):
    scores, _ = simplex(4, rng)
    for name in ("hamming", "cosine"):
        labels = decoder_of(scores, 4, name).labels(scores)
        assert list(dict.fromkeys(labels.tolist())) == sorted(set(labels.tolist()))


def test_unknown_decoding(rng):
    with pytest.raises(ValueError, match="decoding='nearest'"):
        decoder_of(rng.standard_normal((5, 2)), 3, "nearest")
