"""Labels of some rows as targets, and names of classes."""

import numpy as np
import pytest

from gramian.clustering.semi_supervised.labels import Labels, hidden_names, targets_of


def test_three_classes_have_a_column_each():
    labels = Labels.of(["b", None, "c", "a", "-1"], 5)
    assert labels.rows.tolist() == [0, 2, 3]
    assert labels.classes.tolist() == ["a", "b", "c"]
    assert labels.targets.tolist() == [[-1, 1, -1], [-1, -1, 1], [1, -1, -1]]
    assert not labels.several


def test_two_classes_have_one_column():
    assert Labels.of([7, -1, 3], 3).targets.tolist() == [[1.0], [-1.0]]
    assert targets_of(np.array([0, 1]), 2).tolist() == [[-1.0], [1.0]]


def test_several_columns_are_labels_of_their_own():
    labels = Labels.of([[1, 0], [-1, -1], [1, 1]], 3)
    assert labels.several
    assert labels.targets.tolist() == [[1, -1], [1, 1]]
    assert labels.classes.tolist() == [0, 1]


def test_one_class_is_refused_by_its_name():
    with pytest.raises(ValueError, match="one labelled class only, 'x'"):
        Labels.of(["x", "-1", "x"], 3)


def test_parts_of_a_stream_know_its_classes():
    classes = np.array([1, 2, 5])
    labels = Labels.of([5, -1, 1], 3, classes)
    assert labels.codes.tolist() == [2, 0]
    assert len(Labels.of([-1, -1], 2, classes).rows) == 0
    assert Labels.of([-1], 1, classes).targets.shape == (0, 3)
    with pytest.raises(ValueError, match="class 4, which is not among"):
        Labels.of([4, 1], 2, classes)


def test_a_part_keeps_the_classes():
    part = Labels.of([0, 1, 2, -1], 4).restricted(np.array([True, False, True]))
    assert part.rows.tolist() == [0, 2]
    assert part.classes.tolist() == [0, 1, 2]


def test_hidden_clusters_have_names_of_the_same_kind():
    assert hidden_names(np.array([0, 4]), 2).tolist() == [0, 4, 5, 6]
    assert hidden_names(np.array(["a", "b"]), 1).tolist() == ["a", "b", "hidden 1"]
    assert hidden_names(np.array([0, 4]), 0).tolist() == [0, 4]


def test_names_of_hidden_clusters_are_not_taken():
    """Neither by a class of that name nor by a number that wraps around."""
    assert hidden_names(np.array(["a", "hidden 1"]), 2).tolist() == ["a", "hidden 1", "hidden 2", "hidden 3"]
    assert hidden_names(np.array([0, 255], np.uint8), 1).tolist() == [0, 255, 256]


def test_parts_of_a_stream_have_the_columns_it_began_with():
    columns, classes = np.arange(2), np.array([3, 4])
    assert Labels.of([[-1, -1]], 1, columns, several=True).targets.shape == (0, 2)
    assert Labels.of([-1], 1, classes, several=False).targets.shape == (0, 1)
    with pytest.raises(ValueError, match="1 columns, but 2 on the first call"):
        Labels.of([0, 1], 2, columns, several=True)
    with pytest.raises(ValueError, match="2 columns, but 1 on the first call"):
        Labels.of([[0, 1], [1, 1]], 2, classes, several=False)
