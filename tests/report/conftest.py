import pytest

from exploration.conftest import customers_file, explored
from gramian.report.page import render
from report.decoder import Page
from report.five_tables import written_reports
from report.sample import make_exploration

__all__ = ["customers_file", "explored"]


@pytest.fixture(scope="session")
def customers():
    return make_exploration(600)


@pytest.fixture(scope="session")
def page(customers):
    return Page(render(customers))


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """Five reports of the command line, by the names of their tables."""
    return written_reports(tmp_path_factory.mktemp("reports"))
