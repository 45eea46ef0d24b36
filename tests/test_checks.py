"""Parameters are checked alike everywhere, by name, value and remedy."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import gramian
from gramian.checks import (
    check_choice,
    check_count,
    check_positive,
    check_samples,
    check_weights,
    check_whole,
    n_workers,
    remember_columns,
)


class TestCounts:
    @pytest.mark.parametrize("value", [1, 7, np.int32(7), 10])
    def test_whole_numbers_up_to_the_samples_pass(self, value):
        """A count within range comes back as an int."""
        result = check_count(SimpleNamespace(size=value), "size", 10)
        assert result == value
        assert type(result) is int

    @pytest.mark.parametrize("value", [0, -1, 2.0, 2.5, "3", True, np.nan, [3], None])
    def test_other_values_are_refused(self, value):
        """What is not a whole number of at least one is refused with name and value."""
        with pytest.raises(ValueError, match=r"size=.* must be a whole number >= 1$"):
            check_count(SimpleNamespace(size=value), "size", 10)

    def test_none_where_allowed(self):
        """None passes where it has a meaning, and the message then mentions it."""
        assert check_count(SimpleNamespace(size=None), "size", 10, none_allowed=True) is None
        with pytest.raises(ValueError, match="or None"):
            check_count(SimpleNamespace(size=0), "size", 10, none_allowed=True)

    def test_more_than_the_samples_are_refused(self):
        """The message has the value, the number of samples and what to pass."""
        with pytest.raises(ValueError, match="size=11 is more than the n_samples=10; pass size <= 10"):
            check_count(SimpleNamespace(size=11), "size", 10)


class TestNumbers:
    @pytest.mark.parametrize("value", [1e-9, 3, np.float32(0.5), np.int64(2)])
    def test_positive_numbers_pass(self, value):
        """Any real type above zero is a positive number; None where it has a meaning."""
        check_positive(SimpleNamespace(tol=value), "tol")
        check_positive(SimpleNamespace(tol=None), "tol", none_allowed=True)

    @pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "1", True, None, 1j, [1.0]])
    def test_others_are_refused(self, value):
        """Zero, negative, infinite or no number at all is refused with name and value."""
        with pytest.raises(ValueError, match=r"tol=.* must be a positive number$"):
            check_positive(SimpleNamespace(tol=value), "tol")

    def test_whole_numbers_from_the_least_pass(self):
        """Several parameters are checked at once against the least value."""
        check_whole(SimpleNamespace(starts=1, steps=np.int32(7)), "starts", "steps")
        check_whole(SimpleNamespace(verbose=0), "verbose", least=0)

    @pytest.mark.parametrize("value", [0, -3, 1.0, 2.5, "2", True, None, np.nan])
    def test_what_is_not_whole_is_refused(self, value):
        """Fractions, words and numbers below the least are refused with name and value."""
        with pytest.raises(ValueError, match=r"starts=.* must be a whole number >= 1$"):
            check_whole(SimpleNamespace(starts=value), "starts")


class TestChoices:
    @pytest.mark.parametrize("value", ["a", "b", None])
    def test_listed_values_pass(self, value):
        """A value of the list comes back."""
        assert check_choice(SimpleNamespace(mode=value), "mode", ("a", "b", None)) is value

    @pytest.mark.parametrize("value", ["c", 0, "A", np.array(["a", "b"]), ["a"]], ids=str)
    def test_others_are_refused(self, value):
        """A value that is not listed, array or not, is refused with all that are."""
        with pytest.raises(ValueError, match=r"mode=.*'a', 'b'"):
            check_choice(SimpleNamespace(mode=value), "mode", ("a", "b"))


class TestWeights:
    def test_weights_take_the_dtype(self):
        """Integers become the floats of the Gram."""
        weights = check_weights([1, 0, 3], 3, np.float32)
        assert weights.dtype == np.float32
        np.testing.assert_array_equal(weights, [1, 0, 3])

    @pytest.mark.parametrize(
        "weights", [[1, 2], [[1, 2, 3]], [1, -1, 1], [0, 0, 0], [1, np.nan, 1], [1, np.inf, 1]], ids=str
    )
    def test_bad_weights_are_refused(self, weights):
        """Wrong shapes, negative, infinite or all zero weights are refused by name."""
        with pytest.raises(ValueError, match="sample_weight"):
            check_weights(weights, 3, np.float64)


class TestWorkers:
    @pytest.mark.parametrize("jobs", [0, 1.5, "two", True])
    def test_what_is_no_number_of_jobs_is_refused(self, jobs):
        """Zero, fractions and words are named."""
        with pytest.raises(ValueError, match="n_jobs="):
            n_workers(SimpleNamespace(n_jobs=jobs))

    def test_none_is_the_setting_and_negative_counts_from_all(self):
        """As in scikit-learn, -1 means all cores."""
        with gramian.config(threads=3):
            assert n_workers(SimpleNamespace(n_jobs=None)) == 3
        assert n_workers(SimpleNamespace(n_jobs=2)) == 2
        assert n_workers(SimpleNamespace(n_jobs=-1)) >= 1


class TestSamples:
    def test_columns_are_counted_only_when_asked(self):
        """Checking leaves the estimator as it was; remembering counts."""
        owner = BaseEstimator()
        X = check_samples(owner, [[1.0, 2.0]])
        assert not hasattr(owner, "n_features_in_")
        remember_columns(owner, X)
        assert owner.n_features_in_ == 2
