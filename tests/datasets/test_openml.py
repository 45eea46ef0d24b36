"""The OpenML wrapper on a made-up answer of the server; no test touches the network."""

import gzip
import hashlib
import io
import json
from urllib.error import HTTPError, URLError

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.datasets
import sklearn.datasets._openml
from sklearn.utils import Bunch

from gramian.datasets import fetch_openml

ARFF = """@RELATION pets
@ATTRIBUTE weight REAL
@ATTRIBUTE coat {short, long}
@ATTRIBUTE kind {cat, dog}
@DATA
4.1,long,cat
?,short,cat
30,?,dog
"""


def answer(url):
    """What the server would say about a data set of three pets."""
    feature = {"is_row_identifier": "false", "is_ignore": "false", "number_of_missing_values": "0"}
    record = {"name": "pets", "version": "1", "data_id": 9, "did": 9, "status": "active"}
    if "/features/" in url:
        features = [
            {"index": "0", "name": "weight", "data_type": "numeric", "is_target": "false", **feature},
            {"index": "1", "name": "coat", "data_type": "nominal", "is_target": "false", **feature},
            {"index": "2", "name": "kind", "data_type": "nominal", "is_target": "true", **feature},
        ]
        return json.dumps({"data_features": {"feature": features}}).encode()
    if "/qualities/" in url:
        qualities = [{"name": "NumberOfInstances", "value": "3"}, {"name": "NumberOfFeatures", "value": "3"}]
        return json.dumps({"data_qualities": {"quality": qualities}}).encode()
    if "/list/" in url:
        return json.dumps({"data": {"dataset": [record]}}).encode()
    if url.endswith("/data/9"):
        more = {
            "id": "9",
            "description": "Three pets.",
            "format": "ARFF",
            "file_id": "1",
            "md5_checksum": hashlib.md5(ARFF.encode()).hexdigest(),
        }
        more["url"] = "https://api.openml.org/data/v1/download/1/pets.arff"
        return json.dumps({"data_set_description": record | more}).encode()
    return ARFF.encode()


@pytest.fixture
def server(monkeypatch):
    """Put the made-up answers in the place of the network and record what was asked."""
    asked = []

    class Response(io.BytesIO):
        def __init__(self, data):
            super().__init__(gzip.compress(data))

        def info(self):
            return {"Content-Encoding": "gzip"}

    def urlopen(request, *args, **kwargs):
        url = request if isinstance(request, str) else request.full_url
        asked.append(url)
        return Response(answer(url))

    monkeypatch.setattr(sklearn.datasets._openml, "urlopen", urlopen)
    return asked


def test_a_set_by_name_or_number(server, tmp_path):
    """Holes, categories, classes and names of the server's set arrive in a Table, whichever way it is named."""
    for table in (fetch_openml("pets", version=1, data_home=tmp_path), fetch_openml(9, data_home=tmp_path)):
        np.testing.assert_array_equal(table.X, [[4.1, 1], [np.nan, 0], [30, np.nan]])
        assert table.feature_names == ("weight", "coat")
        assert table.categories == {"coat": ("short", "long")}
        assert (table.y.tolist(), table.target_names, table.target) == ([0, 0, 1], ("cat", "dog"), "kind")
        assert table.name == "pets"
        assert "Three pets." in table.description


def test_the_second_call_reads_the_cache(server, tmp_path):
    """What was downloaded once is not asked for again."""
    fetch_openml(9, data_home=tmp_path)
    assert len(server) > 0
    server.clear()
    fetch_openml(9, data_home=tmp_path)
    assert server == []


def fake(monkeypatch, **parts):
    """Let scikit-learn's downloader return these parts."""
    whole = {"data": np.eye(2), "target": None, "target_names": [], "feature_names": ["a", "b"], "categories": {}}
    bunch = Bunch(**(whole | {"details": {"name": "fake"}, "DESCR": None} | parts))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **options: bunch)


def test_other_targets(monkeypatch):
    """Numbers stay numbers, an unlabelled row is -1, and none or several targets give no y."""
    fake(monkeypatch, target=np.array([1.5, 2.5]), target_names=["t"])
    assert fetch_openml("x").y.tolist() == [1.5, 2.5]
    fake(monkeypatch, target=np.array(["u", None], dtype=object), target_names=["t"])
    assert (fetch_openml("x").y.tolist(), fetch_openml("x").target_names) == ([0, -1], ("u",))
    fake(monkeypatch, target=np.eye(2), target_names=["s", "t"])
    assert fetch_openml("x").y is None
    fake(monkeypatch)
    assert fetch_openml("x").target is None


def test_sets_that_are_no_table_of_numbers(monkeypatch):
    """A sparse set or one of text is refused with the way to get it."""
    for data in (sp.eye_array(2).tocsr(), np.array([["free", "text"]], dtype=object)):
        fake(monkeypatch, data=data)
        with pytest.raises(ValueError, match="OpenML's 'x' is sparse or text"):
            fetch_openml("x")


@pytest.mark.parametrize("error", [URLError("no route"), HTTPError("https://x", 404, "not found", None, None)])
def test_without_a_network(monkeypatch, error):
    """When the server does not answer, one line says so and what else there is."""

    def refuse(**options):
        raise error

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)
    with pytest.raises(ConnectionError, match=r"OpenML did not deliver 'x' \((no route|not found)\); check"):
        fetch_openml("x")


def test_a_number_has_no_version():
    """A number already names one version."""
    with pytest.raises(ValueError, match="version=2 is for names; the number 9"):
        fetch_openml(9, version=2)
