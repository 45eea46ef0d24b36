"""Tables that come in as forms."""

import pytest

from gramian.web.upload import shown_name, stored_name
from web.servers import BOUNDARY, one_line


@pytest.mark.parametrize(
    ("sent", "stored", "shown"),
    [
        ("pets.csv", "table.csv", "pets.csv"),
        ("PETS.CSV.GZ", "table.csv.gz", "PETS.CSV.GZ"),
        ("scans.ZIP", "table.zip", "scans.ZIP"),
        ("../../etc/passwd", "table.txt", "passwd"),
        ("C:\\data\\pets.xlsx", "table.xlsx", "pets.xlsx"),
        ("run.sh", "table.txt", "run.sh"),
        ("a.csv/../../b.py", "table.txt", "b.py"),
        ("x.csv\x00.py", "table.txt", "x.csv.py"),
        ("..", "table.txt", ".."),
        ("/", "table.txt", "table"),
        ("\u202egpj.csv\n", "table.txt", "gpj.csv"),
        ("é" * 500 + ".parquet", "table.parquet", "é" * 120),
        ("<img src=x onerror=alert(1)>.csv", "table.csv", "<img src=x onerror=alert(1)>.csv"),
    ],
)
def test_names_of_files_are_for_people_only(fake, sent, stored, shown):
    assert stored_name(sent) == stored
    assert shown_name(sent) == shown


def test_a_hostile_name_writes_its_own_folder_only(fake):
    id = fake.begin("x", name="../../../escape.csv")
    job = fake.wait_for(id)
    assert job["name"] == "escape.csv"
    assert (fake.folder(id) / "table.csv").read_text() == "x"
    home = fake.app.state.jobs.folder
    assert {path.name for path in home.iterdir()} == {id, ".lock"}
    assert {path.name for path in home.parent.iterdir()} == {home.name}


def test_the_size_of_a_table_is_limited_to_the_byte(fake):
    assert fake.upload(b"x" * 100_000).status_code == 201
    line = one_line(fake.upload(b"x" * 100_001), 413)
    assert line == "the file is larger than 0.1 MB; take fewer rows or edges, or serve with a larger --max-size"
    assert one_line(fake.upload(b"x" * 10_000_000), 413) == line
    assert len(fake.get("/api/jobs").json()["jobs"]) == 1
    assert not list(fake.app.state.jobs.folder.glob(".new-*"))


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Content-Type": "text/csv"}, b"a,b\n1,2\n", 400),
        ({"Content-Type": "multipart/form-data"}, b"", 400),
        ({}, b"", 400),
        ({"Content-Type": f"multipart/form-data; boundary={'x' * 1000}"}, b"--x", 400),
        (BOUNDARY, b"", 400),
        (BOUNDARY, b"nothing of the kind", 400),
        (BOUNDARY, b"--X\r\n", 400),
        (BOUNDARY, b'--X\r\nContent-Disposition: form-data; name="file"; filename="t.csv"\r\n\r\na,b\n', 400),
        (BOUNDARY, b"--X\r\nContent-Disposition\r\n\r\nx\r\n--X--\r\n", 400),
        (BOUNDARY, b"--X\r\n\x00\xff: y\r\n\r\nx\r\n--X--\r\n", 400),
        (BOUNDARY, b"--X\r\n\r\nx\r\n--X--\r\n", 422),
        (BOUNDARY, b"--X--\r\n", 422),
        (BOUNDARY, b'--X\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n--X--\r\n', 422),
        (BOUNDARY, b'--X\r\nContent-Disposition: form-data; name="file"\r\n\r\n1\r\n--X--\r\n', 422),
    ],
)
def test_malformed_uploads_get_one_line_and_leave_nothing(fake, headers, body, status):
    one_line(fake.post("/api/uploads", content=body, headers=headers), status)
    assert {path.name for path in fake.app.state.jobs.folder.iterdir()} == {".lock"}


@pytest.mark.parametrize("settings", [{"clusters": "x"}, {"clusters": "0"}, {"clusters": "1e3"}, {"folder": "/etc"}])
def test_wrong_settings_get_one_line_and_leave_nothing(fake, settings):
    assert next(iter(settings)) in one_line(fake.upload("x", **settings), 422)
    fields = b"".join(b'--X\r\nContent-Disposition: form-data; name="f%d"\r\n\r\n1\r\n' % i for i in range(20))
    assert "more than 10 fields" in one_line(
        fake.post("/api/uploads", content=fields + b"--X--\r\n", headers=BOUNDARY), 422
    )
    part = b'--X\r\nContent-Disposition: form-data; name="file"; filename="t.csv"\r\n\r\nx\r\n'
    assert "two tables" in one_line(fake.post("/api/uploads", content=2 * part + b"--X--\r\n", headers=BOUNDARY), 422)
    assert {path.name for path in fake.app.state.jobs.folder.iterdir()} == {".lock"}
