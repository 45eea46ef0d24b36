"""Edge lists are read whatever separates their columns, and a broken line is named with its number."""

import gzip
import io
import sys

import numpy as np
import pytest

from communities.clubs import clubs, written
from gramian.communities import UnreadableEdges, read_edges


def read(text, **options):
    return read_edges(io.StringIO(text), **options)


@pytest.mark.parametrize("separator", [" ", "\t", ",", ";", "|", "   ", ", "])
def test_separators(separator):
    edges = read(written(clubs(), separator))
    assert [(edges.nodes[i], edges.nodes[j]) for i, j in edges.ends.T] == clubs()
    assert edges.weights.tolist() == [1.0] * len(clubs())


def test_files_gzip_bytes_and_standard_input(tmp_path, monkeypatch):
    text = written(clubs()).encode()
    (tmp_path / "e.txt").write_bytes(text)
    (tmp_path / "e.txt.gz").write_bytes(gzip.compress(text))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    sources = (tmp_path / "e.txt", str(tmp_path / "e.txt.gz"), io.BytesIO(text), "-")
    assert [read_edges(source).n_edges for source in sources] == [len(clubs())] * 4
    assert read_edges(edges := read_edges(tmp_path / "e.txt")) is edges


def test_names_that_look_like_numbers_stay_texts():
    assert read("01 1\n1 1.0\n1e3 1000\n").nodes == ["01", "1", "1.0", "1e3", "1000"]


def test_comments_empty_lines_and_marks():
    edges = read("\ufeff% network\n# by hand\n\na b 2\n  \n#c d 9\r\nb c 1e-1\r\n")
    assert (edges.nodes, edges.weights.tolist(), edges.weighted) == (["a", "b", "c"], [2.0, 0.1], True)
    assert read("a b 2\n", weighted=False).weights.tolist() == [1.0]


@pytest.mark.parametrize(
    ("text", "nodes", "weights"),
    [
        ("source,target\na,b\n", ["a", "b"], [1]),
        ("id,from,to,weight\n9,a,b,2\n", ["a", "b"], [2]),
        ("Node-1\tNode-2\tday\na\tb\tmonday\n", ["a", "b"], [1]),
        ("person,friend\n1,2\n", ["1", "2"], [1]),  # names above numbers
        ("person,friend,calls\nann,bob,2\n", ["ann", "bob"], [2]),
        ("u v w\na b 2\n", ["a", "b"], [2]),
        ("u v\nv w\n", ["u", "v", "w"], [1, 1]),
        ("anna,ben\nben,carl\n", ["anna", "ben", "carl"], [1, 1]),
        ('"Doe, Jane";"a ""b"""\n', ["Doe, Jane", 'a "b"'], [1]),
    ],
)
def test_a_line_of_names_is_told_from_an_edge(text, nodes, weights):
    edges = read(text)
    assert (edges.nodes, edges.weights.tolist()) == (nodes, weights)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "file holds no edges; write one 'u v' or 'u v weight' per line"),
        ("# nothing\n", "file holds no edges"),
        ("source,target\n", "file holds no edges"),
        ("a b\nb c\n\n# here\nc\n", "file, line 5: 1 field; write 'u v' or 'u v weight', with 2 fields as in"),
        ("a b\nb c 2\n", "file, line 2: 3 fields"),
        ("# x\na b c d\n", "file, line 2: 4 fields; write 'u v' or 'u v weight', or a first line with the names"),
        ("a\n", "file, line 1: 1 field"),
        ("a b 1\nb c two\n", "file, line 2: the weight 'two' is not a number"),
        ("a b 1\nb c -2\n", "file, line 2: the weight -2 is negative; drop negative edges"),
        ("a b 1\nb c inf\n", "file, line 2: the weight 'inf' is not finite"),
        ("a,b\n,c\n", "file, line 2: the name of a node is empty"),
        ('a,b\n"b"c,d\n', "file, line 2: .*correct the quotes"),
        ("%%MatrixMarket matrix\n3 3 1\n1 2 1\n", "is a MatrixMarket file"),
        ("a b\x00\n", "file is not text"),
    ],
)
def test_broken_files_are_one_line(text, why):
    with pytest.raises(UnreadableEdges, match=why) as error:
        read(text)
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_opened(tmp_path):
    for source, why in ((tmp_path / "no.txt", "no.txt does not exist"), (tmp_path, "is a folder")):
        with pytest.raises(UnreadableEdges, match=why):
            read_edges(source)
    (tmp_path / "half.gz").write_bytes(gzip.compress(written(clubs()).encode())[:60])
    with pytest.raises(UnreadableEdges, match=r"half.gz is damaged gzip"):
        read_edges(tmp_path / "half.gz")
    with pytest.raises(UnreadableEdges, match="after line 0: not UTF-8 text"):
        read_edges(io.BytesIO("a b\nä ö\n".encode("latin-1")))


def test_a_long_list_is_what_numpy_reads():
    ends = np.random.default_rng(1).integers(0, 500, (4000, 2))
    edges = read(written(ends.tolist(), "\t"))
    assert np.asarray(edges.nodes, int)[edges.ends.T].tolist() == ends.tolist()


def test_a_name_in_angle_brackets_is_no_graphml():
    assert read_edges(io.StringIO("<a> <b>\n<b> c\n")).nodes == ["<a>", "<b>", "c"]
