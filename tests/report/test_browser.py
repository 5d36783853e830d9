"""The pages in a real browser: sorted, filtered, walked by keyboard, and deaf to what a model wrote."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from benchmarks.synthetic import Plan, synthetic
from nanobench.bundle.read import Bundle, open_bundle
from nanobench.report.rows import gather
from nanobench.report.site import Site

HOSTILE = (
    "</pre></details></script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"
    "<style>*{display:none}</style><a href=\"javascript:document.title='pwned'\">x</a><iframe src=http://evil.invalid>"
    "<meta http-equiv=refresh content='0;url=http://evil.invalid'>{{ 7 * 7 }}{% raw %}\x1b[2J‮evil‬\x00"
)
FAINT = """
const rgb = (text) => {
  const all = text.match(/[\\d.]+/g).map(Number), unit = text.startsWith("color(");
  return { c: all.slice(0, 3).map((x) => (unit ? x : x / 255)), a: all[3] ?? 1 };
};
const over = (top, under) => top.c.map((x, i) => x * top.a + under[i] * (1 - top.a));
const light = (c) => c.map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
  .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (e) => e ? over(rgb(getComputedStyle(e).backgroundColor), ground(e.parentElement)) : [1, 1, 1];
const faint = new Set();
for (const element of document.querySelectorAll("body *")) {
  const words = Array.from(element.childNodes).some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
  if (!words || !element.checkVisibility()) continue;
  const style = getComputedStyle(element), under = ground(element), ink = rgb(style.color);
  const shown = over({ c: ink.c, a: ink.a * style.opacity }, under);
  const [low, high] = [light(shown), light(under)].sort((a, b) => a - b);
  const ratio = (high + 0.05) / (low + 0.05);
  if (ratio < 4.5) faint.add(`${element.tagName} in ${element.closest("td, p, div").className}: ${ratio.toFixed(2)}`);
}
return Array.from(faint);
"""
"""Which words have less contrast to their ground than WCAG 2 asks for at level AA (1.4.3)."""

EVERY_SHADE = """
for (const table of document.querySelectorAll(".matrix, .blame")) {
  const row = table.tBodies[0].insertRow();
  for (let shade = 0; shade <= 10; shade++) {
    const cell = row.insertCell();
    cell.className = `h${shade}`;
    cell.append("3/5", Object.assign(document.createElement("small"), { textContent: "23–88 %" }));
  }
}
"""

SMALL = {"width": 600, "height": 500}

ARTEFACTS = Path(__file__).parents[2] / ".cache/report-pictures"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """Eight tasks, four arms, five repeats; the model is hostile, and so is who named the domains."""
    plan = Plan(
        tasks=8,
        modes=("hinted", "navigation"),
        repeats=5,
        skill={"large": 0.8, "small": 0.3},
        said=HOSTILE,
        domains=("patch parsing", "<b>web</b>", '" onmouseover="document.title=1', "command line", "data"),
    )
    return open_bundle(synthetic(tmp_path_factory.mktemp("report") / "bundle", plan, missing=(3,)))


@pytest.fixture(scope="module")
def site(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its pages, as a folder ``site`` and as ``one.html`` beside it."""
    place = tmp_path_factory.mktemp("pages")
    made = Site([bundle], gather([bundle]), None)
    made.write_folder(place / "site")
    made.write_file(place / "one.html")
    return place


@pytest.fixture
def index(site: Path, browser: Any) -> Any:
    """The first page, opened; at the end of the test nothing was complained of, and nothing but files asked for."""
    driver = browser.open(site / "site/index.html")
    yield driver
    assert browser.complaints() == []
    assert [url for url in browser.requests() if not url.startswith("file:")] == []
    assert driver.title != "pwned"


def rows_of(driver: Any, table: str = "p1-table") -> list[WebElement]:
    found = driver.find_elements(By.CSS_SELECTOR, f"#{table} tbody tr")
    return [row for row in found if row.is_displayed()]


def tasks_of(driver: Any) -> list[str]:
    return [row.find_element(By.TAG_NAME, "th").text.split("\n")[0] for row in rows_of(driver)]


def values_of(driver: Any) -> list[float]:
    """What the third arm's column is sorted by."""
    return [float(str(r.find_elements(By.TAG_NAME, "td")[2].get_attribute("data-value"))) for r in rows_of(driver)]


def test_a_column_is_sorted_both_ways_and_says_so(index: Any) -> None:
    before = tasks_of(index)
    head = index.find_elements(By.CSS_SELECTOR, "#p1-table thead th")[3]
    button = head.find_element(By.TAG_NAME, "button")
    button.click()
    assert head.get_attribute("aria-sort") == "descending"
    falling = values_of(index)
    assert falling == sorted(falling, reverse=True) and len(set(falling)) > 1
    button.send_keys(Keys.ENTER)
    assert head.get_attribute("aria-sort") == "ascending"
    rising = values_of(index)
    assert rising == sorted(rising)
    first = index.find_element(By.CSS_SELECTOR, "#p1-table thead th")
    first.find_element(By.TAG_NAME, "button").click()
    assert tasks_of(index) == before and head.get_attribute("aria-sort") == "none"


def test_the_matrix_is_filtered_by_text_and_by_value_and_says_how_much_is_left(index: Any) -> None:
    filters = index.find_element(By.CSS_SELECTOR, ".filters")
    output = filters.find_element(By.TAG_NAME, "output")
    assert output.text == "8 of 8 tasks"
    filters.find_element(By.NAME, "text").send_keys("task-00")
    Select(filters.find_element(By.NAME, "tier")).select_by_visible_text("2")
    assert tasks_of(index) == ["task-001", "task-005"] and output.text == "2 of 8 tasks"
    Select(filters.find_element(By.NAME, "language")).select_by_visible_text("go")
    assert tasks_of(index) == [] and output.text == "0 of 8 tasks"
    filters.find_element(By.TAG_NAME, "button").click()
    assert len(tasks_of(index)) == 8
    Select(filters.find_element(By.NAME, "label")).select_by_visible_text("hallucinated_api")
    assert 0 < len(tasks_of(index)) <= 8
    assert index.switch_to.active_element.get_attribute("name") in ("text", "label")


def test_one_run_is_in_the_tab_order_and_arrow_keys_walk_the_matrix(index: Any) -> None:
    in_order = index.find_elements(By.CSS_SELECTOR, '#p1-table a.mark[tabindex="0"]')
    assert len(in_order) == 1
    index.execute_script("arguments[0].focus()", in_order[0])

    def press(key: str) -> str:
        index.switch_to.active_element.send_keys(key)
        return str(index.switch_to.active_element.get_attribute("aria-label"))

    start = index.switch_to.active_element.get_attribute("aria-label")
    assert start.startswith("task-000, repeat 1: ")
    assert press(Keys.ARROW_RIGHT).startswith("task-000, repeat 2: ")
    assert press(Keys.ARROW_DOWN).startswith("task-001, repeat 2: ")
    assert press(Keys.END).startswith("task-001, repeat 5: ")
    assert press(Keys.HOME).startswith("task-001, repeat 1: ")
    assert press(Keys.ARROW_UP) == start and press(Keys.ARROW_UP) == start
    assert len(index.find_elements(By.CSS_SELECTOR, '#p1-table a.mark[tabindex="0"]')) == 1
    index.switch_to.active_element.send_keys(Keys.ENTER)
    assert "/cells/" in index.current_url and index.find_element(By.TAG_NAME, "h1").text.startswith("task-000")


def test_no_head_lies_over_the_run_that_has_the_focus(index: Any) -> None:
    seen = "const r = document.activeElement.getBoundingClientRect();" + (
        "return document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2) === document.activeElement"
    )
    index.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**SMALL, "deviceScaleFactor": 1, "mobile": False})
    index.execute_script(
        "arguments[0].focus()", index.find_element(By.CSS_SELECTOR, '#p1-table a.mark[tabindex="0"]')
    )
    for key, times in ((Keys.ARROW_DOWN, 7), (Keys.ARROW_RIGHT, 12), (Keys.ARROW_UP, 7), (Keys.ARROW_LEFT, 12)):
        for _ in range(times):
            index.switch_to.active_element.send_keys(key)
            assert index.execute_script(seen)


def test_a_missing_cell_is_shown_and_leads_nowhere(index: Any) -> None:
    (mark,) = index.find_elements(By.CSS_SELECTOR, "#p1-table span.mark.sm")
    assert mark.text == "?" and mark.get_attribute("aria-label").endswith("planned, not found")


def test_the_page_of_a_cell_shows_all_and_does_nothing_that_the_model_wrote(site: Path, browser: Any) -> None:
    page = sorted((site / "site/cells").rglob("*small--hinted--1.html"))[0]
    driver = browser.open(page)
    for summary in driver.find_elements(By.CSS_SELECTOR, ".steps summary"):
        if summary.find_element(By.XPATH, "..").get_attribute("open") is None:
            summary.send_keys(Keys.ENTER)
    said = [pre.text for pre in driver.find_elements(By.CSS_SELECTOR, 'pre[aria-label="Said"]')]
    shown = HOSTILE.replace("\x1b", "\\x1b").replace("‮", "\\u202e").replace("‬", "\\u202c").replace("\x00", "\\x00")
    assert said == [shown] * 3
    assert driver.title == "task-000: NanoBench report"
    assert not driver.find_elements(By.CSS_SELECTOR, "script, img, iframe, meta[http-equiv=refresh]")
    text = driver.find_element(By.TAG_NAME, "main").text
    for expected in (
        "read_file",
        "Make the reader drop trailing spaces.",
        "src/b.py not changed",
        "nanobench verify",
    ):
        assert expected in text
    assert browser.complaints() == []
    assert [url for url in browser.requests() if not url.startswith("file:")] == []
    driver.find_element(By.LINK_TEXT, "← all cells").click()
    assert driver.current_url.endswith("site/index.html")


def test_a_single_file_opens_a_cell_and_comes_back(site: Path, browser: Any) -> None:
    driver = browser.open(site / "one.html")
    shown = "return Array.from(document.querySelectorAll('article')).filter((each) => each.checkVisibility())"
    assert driver.execute_script(shown) == []
    mark = driver.find_element(By.CSS_SELECTOR, "#p1-table a.mark")
    mark.send_keys(Keys.ENTER)
    (article,) = driver.execute_script(shown)
    assert article.find_element(By.TAG_NAME, "h1").text.startswith("task-000")
    assert not driver.find_element(By.ID, "overview").is_displayed()
    article.find_element(By.LINK_TEXT, "← all cells").click()
    assert driver.find_element(By.ID, "overview").is_displayed()
    assert browser.complaints() == [] and driver.title == "NanoBench report"


def test_without_script_every_run_is_in_the_tab_order_and_nothing_waits_for_it(site: Path, browser: Any) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver = browser.open(site / "site/index.html")
        assert not driver.find_elements(By.CSS_SELECTOR, "a.mark[tabindex]")
        assert not driver.find_element(By.CSS_SELECTOR, ".filters").is_displayed()
        assert len(rows_of(driver)) == 8
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_screen_reader_finds_tables_with_heads_and_regions_with_names(index: Any) -> None:
    tree = index.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    named: dict[str, list[str]] = {}
    for node in tree:
        role = node.get("role", {}).get("value", "")
        named.setdefault(role, []).append(node.get("name", {}).get("value", ""))
    assert len(named["table"]) >= 10 and len(named["columnheader"]) > 40 and len(named["rowheader"]) > 40
    for role in ("link", "button", "region", "searchbox", "combobox", "columnheader", "rowheader"):
        assert all(named[role]), role
    assert named["heading"][0] == "NanoBench report" and "main" in named and "navigation" in named


@pytest.mark.parametrize("width", (360, 768, 1280))
def test_pages_fit_at_every_width_in_light_and_dark(width: int, site: Path, browser: Any) -> None:
    shutil.rmtree(ARTEFACTS / str(width), ignore_errors=True)
    (ARTEFACTS / str(width)).mkdir(parents=True)
    cell = sorted((site / "site/cells").rglob("*small--hinted--1.html"))[0]
    grounds = set()
    for scheme in browser.schemes:
        for name, page in (("index", site / "site/index.html"), ("cell", cell)):
            driver = browser.open(page, width=width, scheme=scheme)
            assert driver.execute_script("return document.documentElement.scrollWidth") <= width
            browser.picture(ARTEFACTS / str(width) / f"{name}-{scheme}.png")
            grounds.add(driver.execute_script("return getComputedStyle(document.body).backgroundColor"))
    assert len(grounds) == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_word_stands_out_from_its_ground(scheme: str, site: Path, browser: Any) -> None:
    cell = sorted((site / "site/cells").rglob("*small--hinted--1.html"))[0]
    for page in (site / "site/index.html", cell):
        driver = browser.open(page, scheme=scheme)
        driver.execute_script(EVERY_SHADE)
        assert driver.execute_script(FAINT) == []


def test_it_prints_without_controls_and_without_cutting_tables(index: Any) -> None:
    page = {"width": 1040, "height": 720, "deviceScaleFactor": 1, "mobile": False}  # of A4 and of letter, on its side
    index.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", page)
    index.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for table in index.find_elements(By.TAG_NAME, "table"):
            assert table.rect["x"] + table.rect["width"] <= page["width"], table.text
        assert not index.find_element(By.CSS_SELECTOR, ".filters").is_displayed()
        for box in index.find_elements(By.CSS_SELECTOR, ".scroll"):
            assert box.value_of_css_property("overflow-x") == "visible"
            assert box.value_of_css_property("max-height") == "none"
    finally:
        index.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
