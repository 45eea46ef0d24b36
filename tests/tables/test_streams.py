"""Text comes out of a stream as UTF-8, whatever it was, and files that Arrow has read are free again."""

import io
import tracemalloc
import weakref

import pyarrow as pa
import pyarrow.csv
import pytest

from gramian.tables.streams import Fault, Utf8Stream, encoding_of, in_one_line, read_by_arrow, without_preamble


def decoded(data, encoding="utf-8", **options):
    stream = Utf8Stream(io.BytesIO(data), encoding, **options)
    return stream, stream.readall().decode()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8", "utf-8-sig"])
def test_encodings_are_told_and_decoded(encoding):
    text = "straße;größe\n1;2\n"
    data = text.encode(encoding)
    assert decoded(data, encoding_of(data))[1] == text


def test_what_is_not_utf8_is_windows_1252_from_the_first_byte():
    """Also bytes that Windows-1252 has no character for."""
    stream, text = decoded("naïve,€\n".encode("cp1252") + b"\x81\n")
    assert text == "naïve,€\n\x81\n"
    assert stream.note == "row 1 is not UTF-8; what is not was read as Windows-1252"


def test_a_preamble_is_left_out_and_counted():
    assert without_preamble("\ufeff\r\n\nsep=;\na;b") == ("a;b", 3)
    stream, text = decoded(b"\xef\xbb\xbf\nsep=;\r\na;b\n")
    assert (text, stream.skipped) == ("a;b\n", 2)


@pytest.mark.parametrize("ending", [b"\n", b"\r", b"\r\n"])
def test_a_line_without_end_is_refused_in_little_memory(ending):
    """As soon as it is too long, with the number of its row."""

    class Endless(io.RawIOBase):
        head = b"a,b" + ending

        def readable(self):
            return True

        def read(self, size=-1):
            data, self.head = self.head or b"x" * size, b""
            return data

    stream = Utf8Stream(Endless(), "utf-8", longest_line=4 << 20)

    def read_to_the_end():
        while stream.read(1 << 16):
            pass

    tracemalloc.start()
    try:
        with pytest.raises(Fault, match=r"row [12]: a line of more than 4,194,304 characters; write each row"):
            read_to_the_end()
        assert tracemalloc.get_traced_memory()[1] < 8e6
    finally:
        tracemalloc.stop()


def test_lines_of_the_longest_length_are_taken():
    data = (b"x" * 1000 + b"\n") * 3000
    assert len(decoded(data, longest_line=1000)[1]) == len(data)
    with pytest.raises(Fault, match="row 1: a line of more than 999"):
        decoded(data, longest_line=999)


def test_nul_bytes_name_their_row():
    with pytest.raises(Fault, match=", row 3: NUL bytes in the text"):
        decoded(b"\na\nb\0\n")


def test_an_error_in_one_short_line():
    assert in_one_line(ValueError("two\n lines")) == "two lines"
    assert in_one_line(ValueError()) == "ValueError"
    assert len(in_one_line(ValueError("x" * 200))) == 120


@pytest.mark.parametrize("random_access", [False, True])
def test_a_file_that_arrow_has_read_is_free(random_access):
    """No thread of Arrow holds it any more; one that drops it while Python ends would abort the process."""
    file = io.BytesIO(b"a,b\n" + b"1,2\n" * 1000)

    def rows(lent):
        return sum(len(batch) for batch in pa.csv.open_csv(lent))

    watched = weakref.ref(file)
    assert read_by_arrow(file, rows, random_access=random_access) == 1000
    assert file.closed
    del file
    assert watched() is None


def test_a_file_that_arrow_could_not_read_is_free():
    file = io.BytesIO(b"a,b\n1,2,3\n")
    watched = weakref.ref(file)
    with pytest.raises(pa.ArrowInvalid):
        read_by_arrow(file, lambda lent: list(pa.csv.open_csv(lent)))
    del file
    assert watched() is None
