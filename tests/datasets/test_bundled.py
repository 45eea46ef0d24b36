"""The tables that come with the package: the published counts, and the licence told."""

import csv
import gzip
import io
import subprocess
import sys
from importlib import resources

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from gramian.datasets import Table, list_tables, load_table

PUBLISHED = {
    # rows, features, missing cells, class sizes by name
    "breast_w": (699, 9, 16, {"benign": 458, "malignant": 241}),
    "dermatology": (366, 34, 8, {"1": 112, "2": 61, "3": 72, "4": 49, "5": 52, "6": 20}),
    "ecoli": (336, 7, 0, {"cp": 143, "im": 77, "imL": 2, "imS": 2, "imU": 35, "om": 20, "omL": 5, "pp": 52}),
    "hepatitis": (155, 19, 167, {"DIE": 32, "LIVE": 123}),
    "horse_colic": (368, 22, 1927, {"no": 136, "yes": 232}),
    "iris": (150, 4, 0, {"Iris-setosa": 50, "Iris-versicolor": 50, "Iris-virginica": 50}),
    "seeds": (210, 7, 0, {"1": 70, "2": 70, "3": 70}),
    "vote": (435, 16, 392, {"democrat": 267, "republican": 168}),
    "wdbc": (569, 30, 0, {"B": 357, "M": 212}),
    "wine": (178, 13, 0, {"1": 59, "2": 71, "3": 48}),
    "zoo": (
        101,
        16,
        0,
        {"amphibian": 4, "bird": 20, "fish": 13, "insect": 8, "invertebrate": 10, "mammal": 41, "reptile": 5},
    ),
}


def data_file(name):
    return resources.files("gramian.datasets") / "data" / name


def test_every_table_is_listed():
    """The list names the tables in the data folder, no more and no less."""
    stored = [file.name.removesuffix(".csv.gz") for file in data_file("").iterdir() if file.name.endswith(".gz")]
    assert list_tables() == sorted(stored) == sorted(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_counts(name):
    """Rows, features, missing cells and class sizes are those that the repository publishes."""
    rows, features, missing, classes = PUBLISHED[name]
    table = load_table(name)
    assert isinstance(table, Table)
    assert table.X.shape == (rows, features)
    assert table.X.dtype == np.float64
    assert len(table.feature_names) == features
    assert table.n_missing == missing
    assert dict(zip(table.target_names, np.bincount(table.y).tolist(), strict=True)) == classes
    assert "CC BY 4.0" in table.description


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_cell_reads_back(name):
    """Decoding the numbers through the categories gives the text of the file, cell by cell."""
    table = load_table(name)
    rows = list(csv.reader(io.StringIO(gzip.decompress(data_file(f"{name}.csv.gz").read_bytes()).decode())))
    assert [*table.feature_names, table.target] == rows[0]
    for i, cells in enumerate(rows[1:]):
        assert table.target_names[table.y[i]] == cells[-1]
        for j, cell in enumerate(cells[:-1]):
            value, texts = table.X[i, j], table.categories.get(table.feature_names[j])
            if cell == "":
                assert np.isnan(value)
            elif texts:
                assert texts[int(value)] == cell
            else:
                assert value == float(cell)


def test_wine_and_wdbc_equal_scikit_learns():
    """Two tables that scikit-learn also has agree with its copies."""
    np.testing.assert_allclose(load_table("wine").X, load_wine().data)
    np.testing.assert_allclose(load_table("wdbc").X, load_breast_cancer().data)


def test_the_readme_names_origin_and_licence_of_each_table():
    """Each file has its line with a DOI in the folder's README, and the counts told there are right."""
    lines = data_file("README.md").read_text(encoding="utf-8").splitlines()
    for name in list_tables():
        (line,) = [line for line in lines if line.startswith(f"| `{name}.csv.gz`")]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        table = load_table(name)
        assert cells[1] == str(len(table.X))
        assert cells[3:5] == [str(table.n_missing), str(len(table.target_names))]
        numeric, categorical = table.X.shape[1] - len(table.categories), len(table.categories)
        kinds = [f"{numeric} numeric"] * (numeric > 0) + [f"{categorical} categorical"] * (categorical > 0)
        assert cells[2] == ", ".join(kinds)
        doi = cells[5].split("doi.org/")[1].rstrip(">")
        assert f"doi:{doi}" in table.description
    assert sum(file.stat().st_size for file in data_file("").iterdir()) < 150_000


def test_an_unknown_name_is_answered_with_the_names():
    """A table that is not there raises an error that lists those that are."""
    with pytest.raises(ValueError, match=r"name='titanic' is not a bundled table; pass one of breast_w, .*, zoo"):
        load_table("titanic")


def test_the_frame_spells_out_categories():
    """The pandas frame holds the same cells, text for codes, and is built once."""
    table = load_table("hepatitis")
    frame = table.frame
    assert frame is table.frame
    assert list(frame.columns) == [*table.feature_names, "label"]
    assert frame.isna().sum().sum() == 167
    assert frame["SEX"].tolist()[:2] == ["male", "female"]
    np.testing.assert_array_equal(frame["AGE"].to_numpy(), table.X[:, 0])
    assert frame["label"].tolist() == [table.target_names[code] for code in table.y]


def test_tables_load_without_pandas():
    """Where pandas is not installed, tables load all the same, and only the frame says what to install."""
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from gramian.datasets import load_table\n"
        "table = load_table('zoo'); print(table.X.shape)\n"
        "try: table.frame\n"
        "except ImportError as error: print(error)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == [
        "(101, 16)",
        "Table.frame needs pandas; install it with: pip install 'gramian[app]'",
    ]
