"""The page in a real browser: upload, watch, read the report, ask for a row, group again."""

import os
import shutil
import socket
import threading

import psutil
import pytest
import uvicorn

import gramian
from communities.clubs import clubs, written
from gramian.web.app import create_app
from learning.houses import houses
from web.servers import flowers, wait_until

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium: pip install selenium")

from selenium.webdriver.common.by import By  # noqa: E402

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="no browser: run scripts/browser, which installs Debian's chromium and chromium-driver",
)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server with the worker that people get, at a free port."""
    app = create_app(tmp_path_factory.mktemp("jobs"), max_bytes=50_000)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        wait_until(lambda: server.started)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    folder = tmp_path_factory.mktemp("browser")
    for switch in ("headless=new", "disable-dev-shm-usage", "disable-gpu", "no-first-run", "no-proxy-server"):
        options.add_argument(f"--{switch}")
    options.add_argument(f"--user-data-dir={folder}")
    options.add_argument("--window-size=1200,900")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium has no sandbox for root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    family = psutil.Process(service.process.pid).children(recursive=True)
    try:
        driver.set_page_load_timeout(120)
        driver.set_script_timeout(120)
        yield driver
    finally:
        driver.quit()
        _, alive = psutil.wait_procs(family, timeout=10)
        for process in alive:
            process.kill()


def visible(browser, selector):
    """Elements that can be seen, found in one go: between two the page may change."""
    code = "return [...document.querySelectorAll(arguments[0])].filter((item) => item.checkVisibility())"
    return browser.execute_script(code, selector)


def text_of(browser, selector):
    return browser.execute_script("return document.querySelector(arguments[0]).textContent", selector)


def complaints(browser):
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def test_from_upload_to_report_to_questions_to_other_groups(browser, address, tmp_path):
    table = tmp_path / "פרחים <b>.csv"  # from right to left, which must not turn around what stands beside it
    table.write_text(flowers())
    browser.get(address)
    wait_until(lambda: visible(browser, "#upload"))
    browser.find_element(By.ID, "file").send_keys(str(table))
    assert "פרחים <b>.csv" in text_of(browser, "#picked")
    browser.find_element(By.CSS_SELECTOR, "#upload [type=submit]").click()

    # Progress: stages by name, the bar, then the report without a click.
    seen = wait_until(lambda: visible(browser, "#stages li.now") and text_of(browser, "#stages"))
    assert "starting" in seen or "reading" in seen
    assert text_of(browser, "#name bdi") == "פרחים <b>.csv"
    wait_until(lambda: visible(browser, "#report"))
    assert text_of(browser, "#where") == "פרחים <b>.csv: 30 rows, 2 groups"
    assert text_of(browser, "#where bdi") == "פרחים <b>.csv"
    first = browser.current_url

    # The report itself, alive in its frame.
    browser.switch_to.frame("report")
    wait_until(lambda: browser.find_elements(By.CSS_SELECTOR, "html.live #map-live canvas"))
    assert text_of(browser, "h1") == "פרחים <b>.csv"
    assert len(browser.find_elements(By.CSS_SELECTOR, "#groups > .cards > .card")) == 2
    browser.switch_to.default_content()

    # Rows like row 17: the odd ones are of one kind; a click asks for the next.
    browser.find_element(By.CSS_SELECTOR, "[data-panel=ask]").click()
    browser.find_element(By.ID, "row").send_keys("17")
    browser.find_element(By.CSS_SELECTOR, "#ask [type=submit]").click()
    near = wait_until(lambda: visible(browser, "#alike button.row"))
    rows = [int(button.get_attribute("data-row")) for button in near]
    assert len(rows) == 10
    assert all(row % 2 == 1 and row != 17 for row in rows)
    assert text_of(browser, "#alike h3").startswith("Row 17")
    near[0].click()
    wait_until(lambda: text_of(browser, "#alike h3").startswith(f"Row {rows[0]}"))

    # Files.
    browser.find_element(By.CSS_SELECTOR, "[data-panel=files]").click()
    names = [link.text for link in wait_until(lambda: visible(browser, "#files a"))]
    assert names[:4] == ["report.html", "rows.csv", "summary.json", "model.gramian"]

    # Another number of groups is another exploration.
    browser.find_element(By.CSS_SELECTOR, "[data-panel=again]").click()
    browser.find_element(By.ID, "groups").send_keys("3")
    browser.find_element(By.CSS_SELECTOR, "#again [type=submit]").click()
    wait_until(lambda: browser.current_url != first and visible(browser, "#report"))
    wait_until(lambda: "3 groups" in text_of(browser, "#where"))
    browser.switch_to.frame("report")
    wait_until(lambda: len(browser.find_elements(By.CSS_SELECTOR, "#groups > .cards > .card")) == 3)
    browser.switch_to.default_content()

    # Both are in the list, with their sizes; one is deleted.
    browser.find_element(By.CSS_SELECTOR, ".brand").click()
    items = wait_until(lambda: visible(browser, "#jobs li"))
    assert len(items) == 2
    assert "kB" in text_of(browser, "#total") or "MB" in text_of(browser, "#total")
    items[0].find_element(By.CSS_SELECTOR, "[data-act=delete]").click()
    browser.switch_to.alert.accept()
    wait_until(lambda: len(visible(browser, "#jobs li")) == 1)
    assert complaints(browser) == []


def test_a_network_is_uploaded_and_read(browser, address, tmp_path):
    edges = tmp_path / "clubs.txt"
    edges.write_text(written(clubs()))
    browser.get(address)
    wait_until(lambda: visible(browser, "#upload"))
    assert text_of(browser, "#act") == "Explore it"
    choose = """const kind = document.getElementById('kind');
        kind.value = arguments[0];
        kind.dispatchEvent(new Event('change'))"""
    browser.execute_script(choose, "learn")
    assert visible(browser, "#needed [name=target]")
    browser.execute_script(choose, "network")
    assert not visible(browser, "#needed input")
    assert (text_of(browser, "#noun"), text_of(browser, "#act")) == ("network", "Find communities")
    browser.find_element(By.ID, "file").send_keys(str(edges))
    browser.find_element(By.CSS_SELECTOR, "#upload [type=submit]").click()
    wait_until(lambda: visible(browser, "#report"))
    assert text_of(browser, "#where") == "clubs.txt: 44 nodes, 4 communities"
    assert [button.text for button in visible(browser, "#tools button")] == ["Divide again", "Download"]

    # The report: a node tells its name and shows its edges, a bridge leads to the map, words search the list.
    browser.switch_to.frame("report")
    wait_until(lambda: browser.find_elements(By.CSS_SELECTOR, "html.live #table-body tr"))
    browser.execute_script("document.querySelector('#bridges tbody button').click()")
    assert visible(browser, "#tip h3")[0].text == text_of(browser, "#bridges tbody button")
    neighbours = int(text_of(browser, "#bridges tbody td"))
    assert browser.find_element(By.ID, "plot-bar").get_attribute("d").count("L") == neighbours
    browser.find_element(By.ID, "table-search").send_keys("x0")
    assert text_of(browser, "#table-count") == "10 nodes"
    browser.switch_to.default_content()

    browser.find_element(By.CSS_SELECTOR, "[data-panel=files]").click()
    names = [link.text for link in wait_until(lambda: visible(browser, "#files a"))]
    assert names == ["report.html", "nodes.csv", "summary.json", "model.gramian"]
    assert complaints(browser) == []


def test_troubles_are_told(browser, address, tmp_path):
    browser.get(address)
    wait_until(lambda: visible(browser, "#upload"))
    button = browser.find_element(By.CSS_SELECTOR, "#upload [type=submit]")
    button.click()
    wait_until(lambda: text_of(browser, "#trouble") == "Choose a table first.")

    large = tmp_path / "large.csv"
    large.write_text("x" * 50_001)
    browser.find_element(By.ID, "file").send_keys(str(large))
    button.click()
    wait_until(lambda: "large.csv has 50 kB, more than the 50 kB" in text_of(browser, "#trouble"))

    ragged = tmp_path / "ragged.csv"
    ragged.write_text("weight,coat\n4.1,long,soft\n")
    browser.find_element(By.ID, "file").send_keys(str(ragged))
    button.click()
    wait_until(lambda: text_of(browser, "#message").startswith("ragged.csv, row 2: 3 cells but 2 columns"))
    assert [item.get_attribute("data-act") for item in visible(browser, "#actions button")] == ["restart", "delete"]
    assert complaints(browser) == []


def test_the_page_of_a_prediction_answers_for_rows(browser, tmp_path):
    """A dot of the plot shows its row and interval, an odd row is found in the list, and words search it."""
    trained = gramian.learn(houses(100), "price", ignore=["sold"])
    browser.get(trained.report(tmp_path / "report.html").as_uri())
    odd = trained.found.surprises[0].row
    browser.execute_script(
        """const row = JSON.parse(document.getElementById('facts').textContent).rows[arguments[0]];
        const svg = document.getElementById('plot');
        const place = new DOMPoint(row.x, row.y).matrixTransform(svg.getScreenCTM());
        svg.dispatchEvent(new PointerEvent('pointermove', { clientX: place.x, clientY: place.y }));""",
        odd,
    )
    assert visible(browser, "#tip")[0].text.startswith(f"Row {odd + 1}\n")
    assert browser.find_element(By.ID, "plot-bar").get_attribute("d").startswith("M")
    browser.execute_script("document.querySelector('#odd button[data-row]').click()")
    assert browser.find_element(By.CSS_SELECTOR, "#table-body tr th").text == str(odd + 1)
    search = browser.find_element(By.ID, "table-search")
    search.clear()
    search.send_keys("harbour")
    harbour = int((trained.rows["town"] == "harbour").sum())
    assert browser.find_element(By.ID, "table-count").text == f"{harbour} rows"
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
