"""The work of one job."""

import pytest

from gramian.tables import UnreadableTable, read_table
from gramian.web.worker import do_job
from web.servers import flowers


def order(folder, text, name="flowers.csv", clusters=None):
    """A folder of a job and what its job.json says, for the work itself."""
    (folder / "table.csv").write_text(text)
    settings = {"clusters": clusters, "ignore": [], "missing": []}
    return folder, {"name": name, "table": "table.csv", "kind": "explore", "settings": settings}


def test_more_groups_than_rows_is_the_line_of_explore(tmp_path):
    with pytest.raises(ValueError, match=r"^n_clusters=31 must be from 1 to the number of rows, 30$"):
        do_job(*order(tmp_path, flowers(), clusters=31), lambda stage, done: None)
    assert not (tmp_path / "result").exists()


def test_an_unreadable_table_is_the_line_of_read_table_with_the_name_people_know(tmp_path):
    (tmp_path / "pets.csv").write_text("weight,coat\n4.1,long,soft\n")
    with pytest.raises(UnreadableTable) as expected:
        read_table(tmp_path / "pets.csv")
    with pytest.raises(ValueError) as refused:
        do_job(*order(tmp_path, (tmp_path / "pets.csv").read_text(), "pets.csv"), lambda stage, done: None)
    assert str(refused.value) == str(expected.value)
    assert str(refused.value).startswith("pets.csv, row 2: 3 cells but 2 columns")
