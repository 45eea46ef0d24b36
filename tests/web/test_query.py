"""Rows most like a row, with their values."""

import csv
import io

import pytest

import gramian
from web.servers import flowers, one_line


def test_rows_like_a_row_are_those_of_the_model_with_their_values(real, explored):
    found = real.get(f"/api/jobs/{explored['id']}/like?row=17&top=5").json()
    model = gramian.load(real.folder(explored["id"]) / "result" / "model.gramian")
    rows, scores = model.like(16, 5)
    assert [item["row"] for item in found["rows"]] == [row + 1 for row in rows]
    assert [item["score"] for item in found["rows"]] == pytest.approx(scores.tolist())
    table = list(csv.DictReader(io.StringIO(flowers())))
    written = list(csv.DictReader(io.StringIO(real.get(f"/api/jobs/{explored['id']}/files/rows.csv").text)))
    assert {"id", "length", "width", "colour"} == set(found["columns"])
    for item in [found["asked"], *found["rows"]]:
        own = table[item["row"] - 1]
        assert item["values"]["id"] == own["id"]
        assert item["values"]["colour"] == own["colour"]
        assert float(item["values"]["length"]) == float(own["length"])
        assert str(item["group"]) == written[item["row"] - 1]["group"]
    # Rows 1, 3, 5, ... are of one kind.
    assert all(item["row"] % 2 == 1 for item in found["rows"])


@pytest.mark.parametrize(
    "query", ["row=0", "row=-3", "row=x", "row=1.5", "", "row=31", "row=1&top=0", "row=" + 40 * "9"]
)
def test_a_row_that_cannot_be_asked_for_gets_one_line(real, explored, query):
    assert "row" in one_line(real.get(f"/api/jobs/{explored['id']}/like?{query}"), 422) or "top" in query
