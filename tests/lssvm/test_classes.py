"""Classes, whole or in pieces, as codes, targets, weights and decisions."""

from types import SimpleNamespace

import numpy as np
import pytest

from gramian.lssvm import FixedSizeLSSVMClassifier, LSSVMClassifier, PegasosClassifier, ReweightedSVC
from gramian.lssvm.classes import class_codes, class_weighted, decoded, plus_minus

LABELS = np.array(["b", "a", "c", "a"])


def test_codes_name_the_sorted_classes():
    codes, classes = class_codes(SimpleNamespace(), LABELS, 4, None, stream=False)
    np.testing.assert_array_equal(classes[codes], LABELS)
    assert classes.tolist() == ["a", "b", "c"]


def test_a_stream_goes_on_with_its_classes():
    codes, classes = class_codes(SimpleNamespace(), LABELS[:1], 1, ["c", "b", "a"], stream=True)
    assert (codes.tolist(), classes.tolist()) == ([1], ["a", "b", "c"])
    codes, _ = class_codes(SimpleNamespace(classes_=classes), ["c", "c"], 2, None, stream=True)
    assert codes.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("known", "y", "classes", "words"),
    [
        (None, [0, 1], None, "classes must be passed on the first call to partial_fit"),
        (None, [0, 0], [0], r"classes=\[0\] is one class only"),
        ([0, 1], [0, 1], [0, 2], "not the same as on the first call"),
        ([0, 1], [0, 5], None, "y has the class 5"),
        ([0.0, 1.0], [0.0, np.nan], None, "y contains NaN"),
    ],
)
def test_a_stream_refuses_other_classes(known, y, classes, words):
    owner = SimpleNamespace() if known is None else SimpleNamespace(classes_=np.array(known))
    with pytest.raises(ValueError, match=words):
        class_codes(owner, y, 2, classes, stream=True)


def test_targets_are_plus_and_minus_one():
    assert plus_minus(np.array([0, 1]), 2).tolist() == [[-1], [1]]
    assert plus_minus(np.array([2, 0]), 3).tolist() == [[-1, -1, 1], [1, -1, -1]]


def test_weights_of_classes_multiply_those_of_rows():
    codes, classes = class_codes(SimpleNamespace(), LABELS, 4, None, stream=False)

    def weights(class_weight, rows=None, stream=False):
        return class_weighted(SimpleNamespace(class_weight=class_weight), codes, classes, rows, stream=stream)

    assert weights(None) is None
    assert weights({"a": 3.0}).tolist() == [1, 3, 1, 3]
    assert weights({"a": 3.0}, np.array([2.0, 1, 1, 0])).tolist() == [2, 3, 1, 0]
    np.testing.assert_allclose(weights("balanced"), [4 / 3, 2 / 3, 4 / 3, 2 / 3])
    for bad, words in (
        ("most", "class_weight='most' must be"),
        ({"z": 1.0}, "names 'z', which is not a class of y"),
        ({"a": -1.0}, "class_weight of class 'a' is -1.0; pass a finite number >= 0"),
        ({"a": np.nan}, "class_weight of class 'a' is nan"),
        ({"a": "much"}, "class_weight of class 'a' is 'much'"),
        ({"a": 0.0, "b": 0.0}, "leaves fewer than two classes"),
    ):
        with pytest.raises(ValueError, match=words):
            weights(bad)
    with pytest.raises(ValueError, match="leave no row with a weight"):
        weights({"a": 0.0}, np.array([0.0, 1, 0, 1]))
    with pytest.raises(ValueError, match="needs all rows at once"):
        weights("balanced", stream=True)


def test_decisions_are_signs_or_the_largest_value():
    classes = np.array(["a", "b", "c"])
    assert decoded(np.array([-1.0, 0.0, 2.0]), classes[:2]).tolist() == ["a", "b", "b"]
    assert decoded(np.array([[0.0, 1.0, 0.5]]), classes).tolist() == ["b"]


@pytest.mark.parametrize(
    "model",
    [LSSVMClassifier(), ReweightedSVC(), FixedSizeLSSVMClassifier(10), PegasosClassifier(max_iter=100)],
    ids=repr,
)
def test_rows_of_weight_zero_name_no_class(model):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    assert model.fit(X, y, sample_weight=y != 1).classes_.tolist() == [0, 2]
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X, y, sample_weight=y == 1)
