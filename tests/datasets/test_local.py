"""The file readers against other readers and hand-made files, good and bad."""

import gzip

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.datasets import read_csv, read_edgelist, read_npz
from gramian.datasets.table import code_column


@pytest.fixture
def write(tmp_path):
    """Write text or bytes under a name and return the path."""

    def put(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


class TestCsv:
    TEXT = "a,b,kind\n1,x,cat\n,y,dog\n2.5,?,cat\n-3e2,x,\n"

    @pytest.mark.parametrize(
        "pack", [str.encode, lambda text: gzip.compress(text.encode()), lambda t: t.encode("utf-8-sig")]
    )
    def test_a_small_table(self, write, pack):
        """Plain, compressed or with a byte-order mark: numbers, codes, holes and the target come out as written."""
        table = read_csv(write("pets.csv", pack(self.TEXT)), target="kind")
        np.testing.assert_array_equal(table.X, [[1, 0], [np.nan, 1], [2.5, np.nan], [-300, 0]])
        assert table.y.tolist() == [0, 1, 0, -1]
        assert (table.name, table.target, table.target_names) == ("pets", "kind", ("cat", "dog"))
        assert table.feature_names == ("a", "b")
        assert table.categories == {"b": ("x", "y")}

    def test_targets(self, write):
        """A target by position, a numeric one kept, whole numbers as ints, forced classes, and none at all."""
        path = write("t.csv", "a,b,c\n1,0.5,7\n2,1.5,9\n")
        assert read_csv(path).y is None
        assert read_csv(path).X.shape == (2, 3)
        whole = read_csv(path, target=-1)
        assert (whole.target, whole.y.tolist(), whole.y.dtype.kind) == ("c", [7, 9], "i")
        assert read_csv(path, target=1).y.tolist() == [0.5, 1.5]
        coded = read_csv(path, target="c", categorical=["c"])
        assert (coded.y.tolist(), coded.target_names) == ([0, 1], ("7", "9"))

    def test_delimiters_quotes_and_no_header(self, write):
        """Tabs follow from the name, other delimiters are given, quoted cells may hold both, names are made up."""
        np.testing.assert_array_equal(read_csv(write("t.tsv.gz", gzip.compress(b"a\tb\n1\t2\n"))).X, [[1, 2]])
        np.testing.assert_array_equal(read_csv(write("s.csv", "a;b\n1;2\n"), delimiter=";").X, [[1, 2]])
        quoted = read_csv(write("q.csv", 'a,b\n1,"red, ""deep""\nand more"\n2,blue\n'))
        assert quoted.categories["b"] == ("blue", 'red, "deep"\nand more')
        bare = read_csv(write("h.csv", "1,2\n3,4\n"), header=False)
        assert bare.feature_names == ("x0", "x1")
        assert bare.X.tolist() == [[1, 2], [3, 4]]

    def test_agreement_with_pandas(self, tmp_path):
        """A random table with holes reads as pandas reads it."""
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(50, 4)), columns=list("abcd"))
        frame = frame.mask(rng.random(frame.shape) < 0.2)
        frame["kind"] = rng.choice(["u", "v", "w"], 50)
        frame.to_csv(tmp_path / "f.csv", index=False)
        table, peer = read_csv(tmp_path / "f.csv", target="kind"), pd.read_csv(tmp_path / "f.csv")
        np.testing.assert_array_equal(table.X, peer[list("abcd")].to_numpy())
        np.testing.assert_array_equal(table.y, peer["kind"].astype("category").cat.codes)
        pd.testing.assert_frame_equal(table.frame[list("abcd")], peer[list("abcd")])

    @given(st.lists(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.none()), min_size=1))
    @settings(max_examples=50, deadline=None)
    def test_numbers_survive_the_text(self, numbers):
        """Any column of numbers and holes written with repr reads back exactly."""
        cells = ["" if number is None else repr(number) for number in numbers]
        values, texts = code_column(cells, "a", missing={""})
        assert texts == ()
        np.testing.assert_array_equal(values, [np.nan if v is None else v for v in numbers])

    @pytest.mark.parametrize(
        ("content", "options", "message"),
        [
            ("a,b\n1,2\n3\n", {}, r"^t.csv, row 3: 1 cells but 2 columns; correct the row"),
            ("a,b\n1,2\n\n3,x\n4,5\n", {}, r"^t.csv, row 4, column 'b': 'x' is not a number; .*categorical=\['b'\]"),
            ("a\n1\ninf\n2\n", {}, "row 3, column 'a': 'inf' is not a number"),
            ("", {}, "t.csv is empty; write a line of column names"),
            ("a,b\n", {}, "column names but no rows"),
            ("a,a\n1,2\n", {}, "row 1, column 2: 'a' is there twice"),
            ("a,\n1,2\n", {}, "row 1, column 2: has no name"),
            ("1,2.5\n3,4\n", {}, "row 1: numbers where column names should be; add them or pass header=False"),
            ("a,b\n1,2\n", {"target": "c"}, "target='c' is not a column of t.csv; it has a, b"),
            ("a,b\n1,2\n", {"target": 2}, "target=2 is not a column"),
            ("a,b\n1,2\n", {"categorical": ["z"]}, "categorical='z' is not a column"),
            ("a\n1\n", {"target": "a"}, "no column beside the target 'a'"),
            ('a,b\n1,"2\n', {}, "row 2: .*; correct the quotes"),
            (b"a,b\n1,2\n3,\xff\n", {}, "row 3: not UTF-8 text; save the file as UTF-8"),
            (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], {}, "t.csv is damaged gzip"),
        ],
    )
    def test_bad_files_are_named(self, write, content, options, message):
        """Each fault of a file raises one line that names the row, the column and the remedy."""
        path = write("t.csv", content)
        with pytest.raises(ValueError, match=message) as caught:
            read_csv(path, **options)
        assert "\n" not in str(caught.value)

    def test_a_mostly_numeric_column_can_be_called_categorical(self, write):
        """What is refused as a number is read as a category when the caller says so, or as missing."""
        path = write("t.csv", "grade\n1\n2\n3+\n")
        assert read_csv(path, categorical=["grade"]).categories == {"grade": ("1", "2", "3+")}
        np.testing.assert_array_equal(read_csv(path, missing={"3+"}).X.ravel(), [1, 2, np.nan])


class TestNpz:
    def test_images_and_labels(self, tmp_path):
        """Images become rows, small ints exact float32, text labels codes; numbers as labels stay."""
        images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
        np.savez(tmp_path / "a.npz", X=images, y=np.array(["b", "a"]), Z=np.eye(2))
        table = read_npz(tmp_path / "a.npz")
        assert table.X.dtype == np.float32
        assert table.X.tolist() == images.reshape(2, 12).tolist()
        assert (table.y.tolist(), table.target_names, table.name) == ([1, 0], ("a", "b"), "a")
        other = read_npz(tmp_path / "a.npz", X="Z", y=None)
        assert (other.X.dtype, other.y, other.target) == (np.float64, None, None)
        np.savez(tmp_path / "b.npz", X=np.eye(2), y=np.array([3, 5]))
        assert read_npz(tmp_path / "b.npz").y.tolist() == [3, 5]

    def test_pickled_objects_are_never_loaded(self, tmp_path):
        """An archive with objects is refused before anything in it runs."""

        class Trap:
            def __reduce__(self):
                return (pytest.fail, ("the pickle was executed",))

        np.savez(tmp_path / "t.npz", X=np.array([[Trap()]], dtype=object))
        with pytest.raises(ValueError, match=r"t.npz is no NPZ archive of plain arrays"):
            read_npz(tmp_path / "t.npz")

    def test_bad_archives_are_named(self, tmp_path, write):
        """Wrong names, shapes, types, text files, cut files and bare arrays are told apart."""
        np.savez(tmp_path / "a.npz", A=np.eye(2), B=np.ones(3), C=np.array([["x"]]), y=np.ones((2, 1)))
        for options, message in [
            ({}, "has no array 'X'; pass X= one of A, B, C, y"),
            ({"X": "B"}, r"array 'B' has dtype float64 and shape \(3,\)"),
            ({"X": "C"}, "array 'C' has dtype <U1"),
            ({"X": "A"}, r"array 'y' has shape \(2, 1\); save one label for each of 2 samples"),
        ]:
            with pytest.raises(ValueError, match=message):
                read_npz(tmp_path / "a.npz", **options)
        np.save(tmp_path / "bare.npz.npy", np.eye(2))
        with pytest.raises(ValueError, match=r"holds one bare array; save it with numpy.savez"):
            read_npz(tmp_path / "bare.npz.npy")
        with pytest.raises(ValueError, match="is no NPZ archive"):
            read_npz(write("text.npz", "hello there"))
        with pytest.raises(ValueError, match="is damaged"):
            read_npz(write("cut.npz", (tmp_path / "a.npz").read_bytes()[:300]))
        with pytest.raises(ValueError, match="is damaged"):
            read_npz(write("empty.npz", ""))


class TestEdgelist:
    def test_undirected_without_weights(self, write):
        """Comments and repeats are skipped, ids are mapped in order, both directions are one edge, loops stay."""
        text = "# a graph\n% of two kinds of comment\n\n7 3\n3 7\n7\t100\n7 100\n3 3\n"
        adjacency, nodes = read_edgelist(write("g.edgelist.gz", gzip.compress(text.encode())))
        assert nodes.tolist() == [3, 7, 100]
        assert isinstance(adjacency, sp.csr_array)
        assert adjacency.toarray().tolist() == [[1, 1, 0], [1, 0, 1], [0, 1, 0]]

    def test_directed_with_weights_and_names(self, write):
        """Weights of repeated lines add up, names may be text, and direction is kept."""
        graph = read_edgelist(write("g.csv", "b,a,0.5\nb,a,1.5\na, c ,-3\n"), directed=True, delimiter=",")
        assert graph.nodes.tolist() == ["a", "b", "c"]
        assert graph.adjacency.toarray().tolist() == [[0, 0, -3], [2, 0, 0], [0, 0, 0]]

    def test_undirected_weights(self, write):
        """An edge in one direction keeps its weight; in both it has the mean, so a symmetric list stays itself."""
        adjacency, _ = read_edgelist(write("g.txt", "0 1 2\n1 0 4\n1 2 -5\n2 2 6\n"))
        assert adjacency.toarray().tolist() == [[0, 3, 0], [3, 0, -5], [0, -5, 6]]

    @pytest.mark.parametrize("directed", [False, True])
    def test_a_random_graph_reads_back(self, write, directed):
        """A random graph written edge by edge comes back with all its weights."""
        rng = np.random.default_rng(0)
        W = rng.random((30, 30)) * (rng.random((30, 30)) < 0.2)
        W = W if directed else np.maximum(np.triu(W), np.triu(W).T)
        lines = [f"{i * 10} {j * 10} {W[i, j]!r}" for i, j in np.argwhere(W if directed else np.triu(W))]
        lines = [line.replace("np.float64(", "").replace(")", "") for line in lines]
        adjacency, nodes = read_edgelist(write("g.txt", "\n".join(lines)), directed=directed)
        kept = nodes // 10
        np.testing.assert_array_equal(adjacency.toarray(), W[np.ix_(kept, kept)])
        assert len(kept) == ((W != 0).any(axis=0) | (W != 0).any(axis=1)).sum()

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("0 1\n2\n", r"^g.txt, row 2: 1 fields; write 2 fields as in the lines before, or pass delimiter="),
            ("# x\n0 1 2 3\n", "row 2: 4 fields; write 'u v' or 'u v weight'"),
            ("0 1\n1 2 0.5\n", "row 2: 3 fields; write 2 fields"),
            ("#\n0 1 1\n1 2 heavy\n", "row 3, column 3: weight 'heavy' is not a finite number"),
            ("0 1 nan\n", "row 1, column 3: weight 'nan'"),
            ("# nothing\n", "holds no edges"),
        ],
    )
    def test_bad_lines_are_named(self, write, content, message):
        """A line that is no edge raises an error with its number and what it should be."""
        with pytest.raises(ValueError, match=message):
            read_edgelist(write("g.txt", content))
