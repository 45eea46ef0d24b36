"""The command line as a function, and a model that ``learn`` wrote."""

import pytest
from typer.testing import CliRunner

from gramian.cli import app
from learning.houses import houses


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments, **options):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)

    return call


def error_of(result):
    """The only line of an error."""
    assert result.exit_code == 2, result.output
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


@pytest.fixture(scope="session")
def learned(tmp_path_factory):
    """The folders of a learned price and of learned classes."""
    place = tmp_path_factory.mktemp("learned")
    houses(100).to_csv(place / "houses.csv", index=False)
    for target, other in (("price", "sold"), ("sold", "price")):
        call = [
            "learn",
            place / "houses.csv",
            "--target",
            target,
            "--ignore",
            other,
            "--out",
            place / target,
            "--quiet",
        ]
        result = CliRunner().invoke(app, [str(argument) for argument in call])
        assert (result.exit_code, result.output) == (0, "")
    return place
