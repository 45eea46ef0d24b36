"""Parameters are checked alike everywhere, by name, value and remedy."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning

import gramian
from gramian.checks import (
    check_choice,
    check_classes,
    check_count,
    check_partial_classes,
    check_positive,
    check_real,
    check_samples,
    check_targets,
    check_weights,
    check_whole,
    is_real,
    is_whole,
    n_workers,
    real,
    remember_columns,
    whole,
)


class TestValues:
    """The checkers that take a value and its name."""

    @pytest.mark.parametrize("value", [1, np.int8(3), np.uint64(7)])
    def test_whole_numbers(self, value):
        """Integers of any kind come back as int."""
        assert is_whole(value)
        assert type(whole(value, "size")) is int

    @pytest.mark.parametrize("value", [1.0, "1", None, True, np.True_, 1j, [1], np.array([1])], ids=repr)
    def test_what_is_not_whole(self, value):
        """Other types are none, booleans among them; the message ends with what else may be passed."""
        assert not is_whole(value)
        with pytest.raises(ValueError, match=r"size=.* must be a whole number >= 2 or None$"):
            whole(value, "size", least=2, instead="None")

    def test_limits_of_whole_numbers(self):
        """Both limits may be reached; beyond, the message says which was meant."""
        assert [whole(value, "size", least=2, most=4) for value in (2, 3, 4)] == [2, 3, 4]
        with pytest.raises(ValueError, match=r"size=1 must be a whole number from 2 to 4$"):
            whole(1, "size", least=2, most=4)
        with pytest.raises(ValueError, match="size=5 is more than 4; pass size <= 4"):
            whole(5, "size", least=2, most=4)

    @pytest.mark.parametrize("value", [0.5, 1, np.float32(0.25), np.int64(1)])
    def test_real_numbers(self, value):
        """Numbers of any kind come back as float."""
        assert is_real(value)
        assert type(real(value, "part", above=0, most=1)) is float
        assert real(value, "part") == value

    @pytest.mark.parametrize("value", ["1", None, True, np.True_, 1j, [1.0]], ids=repr)
    def test_what_is_not_real(self, value):
        """Other types are none; the message ends with what else may be passed."""
        assert not is_real(value)
        with pytest.raises(ValueError, match=r"part=.* must be a finite number or 'auto'$"):
            real(value, "part", instead="'auto'")

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_only_finite_numbers(self, value):
        """NaN and infinity are real numbers to Python, and refused."""
        assert is_real(value)
        with pytest.raises(ValueError, match=r"part=.* must be a finite number$"):
            real(value, "part")

    @pytest.mark.parametrize(
        ("limits", "good", "bad", "words"),
        [
            ({"least": 0}, 0, -1e-9, ">= 0"),
            ({"above": 0}, 1e-9, 0, "> 0"),
            ({"most": 1}, 1, 1.1, "<= 1"),
            ({"below": 1}, 0.9, 1, "< 1"),
            ({"above": 0, "below": 1}, 0.5, 1, "> 0 and < 1"),
            ({"least": 0, "most": 0.5}, 0.5, 0.6, ">= 0 and <= 0.5"),
        ],
    )
    def test_limits_of_real_numbers(self, limits, good, bad, words):
        """least and most may be reached, above and below may not; the message has those that were set."""
        assert real(good, "part", **limits) == good
        with pytest.raises(ValueError, match=f"part={bad} must be a finite number {words}$"):
            real(bad, "part", **limits)


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

    def test_finite_numbers_with_a_limit(self):
        """A parameter of an estimator is checked by its name and comes back as float."""
        assert check_real(SimpleNamespace(offset=2), "offset", least=0) == 2.0
        with pytest.raises(ValueError, match="offset=-1 must be a finite number >= 0"):
            check_real(SimpleNamespace(offset=-1), "offset", least=0)
        with pytest.raises(ValueError, match="offset=0 must be a finite number > 0"):
            check_real(SimpleNamespace(offset=0), "offset", above=0)

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
        "weights",
        [[1, 2], [[1, 2, 3]], [1, -1, 1], [0, 0, 0], [1, np.nan, 1], [1, np.inf, 1], ["a", "b", "c"], [1j] * 3],
        ids=str,
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

    def test_names_of_an_earlier_fit_are_forgotten(self):
        """An array has no names; a frame has."""
        owner = BaseEstimator()
        remember_columns(owner, pd.DataFrame({"a": [1.0], "b": [2.0]}))
        assert owner.feature_names_in_.tolist() == ["a", "b"]
        remember_columns(owner, np.ones((1, 3)))
        assert owner.n_features_in_ == 3
        assert not hasattr(owner, "feature_names_in_")


class TestTargets:
    @pytest.mark.parametrize("y", [[1, 2, 3], [1.5, 2, 3], np.ones((3, 2), np.float32), [[1], [2], [3]]], ids=str)
    def test_numbers_become_floats(self, y):
        """One target per sample or several, with their shape and single precision kept."""
        targets = check_targets(y, 3)
        np.testing.assert_array_equal(targets, y)
        assert targets.dtype == (np.float32 if getattr(y, "dtype", None) == np.float32 else np.float64)

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (None, "requires y to be passed, but the target y is None"),
            (1.0, "y must be a dense array with an entry for each of the 3 rows"),
            (csr_array(np.ones((3, 1))), "y must be a dense array"),
            ([1.0, 2.0], "y has 2 entries but X has 3 rows; pass one for each row"),
            ([1.0, np.nan, np.inf], "y contains NaN or infinity in 2 of 3 entries, the first at 1; drop those rows"),
            ([[1, 2], [3, np.nan], [4, 5]], "y contains NaN or infinity in 1 of 3 entries, the first at 1"),
            (np.ones((3, 2, 2)), r"y has shape \(3, 2, 2\); pass \(3,\), or \(3, q\)"),
            (np.ones((3, 0)), r"y has shape \(3, 0\)"),
            (
                ["a", "b", "c"],
                "y holds what is no number: could not convert string to float: .*; pass numbers, or use a c",
            ),
            (pd.Series(["a", "b", "c"], dtype="category"), "y holds what is no number"),
            (np.array([1.0, {}, 2.0], object), "y holds what is no number"),
            ([1j, 1.0, 2.0], "y holds complex numbers; pass numbers"),
            (np.array(["2024-01-01"] * 3, "datetime64[D]"), "y holds dates or times; pass numbers"),
            (pd.Series(pd.to_timedelta([1, 2, 3], "D")), "y holds dates or times"),
            (np.ma.masked_greater([1.0, 2.0, 3.0], 2), "y has masked entries; drop those rows"),
        ],
        ids=str,
    )
    def test_bad_targets_are_refused(self, y, message):
        """What cannot be regressed on is refused with what is wrong and where."""
        with pytest.raises(ValueError, match=message):
            check_targets(y, 3)


class TestClasses:
    @pytest.mark.parametrize(
        "y", [[2, 5, 2, 9], ["b", "a", "b", "c"], [True, False, True, True], np.array([1.0, 2.0, 1.0, 1.0])], ids=str
    )
    def test_labels_become_numbers(self, y):
        """The classes are sorted, and their numbers give the labels back."""
        classes, codes = check_classes(y, 4)
        np.testing.assert_array_equal(classes, sorted(set(y)))
        np.testing.assert_array_equal(classes[codes], y)

    def test_a_column_of_labels_warns(self):
        """A column is flattened, with scikit-learn's warning."""
        with pytest.warns(DataConversionWarning, match="column-vector"):
            classes, codes = check_classes([[0], [1], [1]], 3)
        np.testing.assert_array_equal(classes[codes], [0, 1, 1])

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (None, "requires y to be passed, but the target y is None"),
            ([0, 1], "y has 2 entries but X has 3 rows"),
            ([4, 4, 4], "y has one class only, 4; a classifier needs rows of at least two classes"),
            ([0.0, 1.0, np.nan], "y contains NaN, infinity or None in 1 of 3 labels, the first at 2; drop those rows"),
            ([0.0, np.inf, 1.0], "y contains NaN, infinity or None in 1 of 3 labels, the first at 1"),
            (np.array(["a", None, "b"], object), "y contains NaN, infinity or None in 1 of 3 labels, the first at 1"),
            (np.array(["a", pd.NA, "b"], object), "y contains NaN, infinity or None in 1 of 3 labels, the first at 1"),
            (np.array(["a", np.nan, "b"], object), "y contains NaN, infinity or None in 1 of 3 labels, the first at 1"),
            ([0.1, 0.2, 0.7], "Unknown label type"),
            (np.zeros((3, 2)), "y should be a 1d array"),
        ],
        ids=str,
    )
    def test_bad_labels_are_refused(self, y, message):
        """What cannot be classes is refused with what is wrong and where."""
        with pytest.raises(ValueError, match=message):
            check_classes(y, 3)


class TestPartialClasses:
    """Labels of some samples."""

    @pytest.mark.parametrize(
        "y",
        [
            [2, -1, 5],
            np.array([2.0, np.nan, 5.0]),
            [2, None, 5],
            pd.Series([2, pd.NA, 5], dtype="Int64"),
            np.array([2, -1, 5], dtype=object),
        ],
    )
    def test_marks_of_unlabelled_numbers(self, y):
        """−1, NaN, None and pandas.NA; the labels come back as numbers."""
        known, labels = check_partial_classes(y, 3)
        assert known.tolist() == [True, False, True]
        assert labels.dtype.kind in "if"
        assert labels.tolist() == [2, 5]

    @pytest.mark.parametrize("mark", [-1, "-1", None, np.nan])
    def test_marks_of_unlabelled_texts(self, mark):
        known, labels = check_partial_classes(np.array(["a", mark, "b"], dtype=object), 3)
        assert known.tolist() == [True, False, True]
        assert labels.tolist() == ["a", "b"]

    def test_columns(self):
        known, labels = check_partial_classes([[0, 1], [-1, -1], [1, 1]], 3)
        assert known.tolist() == [True, False, True]
        assert labels.tolist() == [[0, 1], [1, 1]]

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            ([-1, -1], "y has no label"),
            ([[-1, -1], [-1, -1]], "y has no label"),
            ([[0, -1], [1, 1]], "some labels and some -1, the first is 0"),
            ([[0, 2], [1, 1]], "must hold 0 and 1"),
            ([1], "1 entries but X has 2 rows"),
            (None, "requires y"),
            (np.array(["a", 3], dtype=object), "mixes texts and other labels"),
        ],
    )
    def test_what_is_refused(self, y, message):
        with pytest.raises(ValueError, match=message):
            check_partial_classes(y, 2)
