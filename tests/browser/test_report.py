"""The Report page in a real browser: it fills itself, its links select nodes, nothing runs over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from evil_recordings import write_evil_recording
from playwright.sync_api import FloatRect, Locator, Page, expect
from waiting import eventually

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
BUNDLED = Path(__file__).resolve().parents[2] / "assets" / "recordings"
REPORT = "report?file=decode_step&graph=1"
CHARTS = 4


@pytest.fixture(scope="module")
def site(
    serve_beside: Serve, loop_recording: Path, tmp_path_factory: pytest.TempPathFactory
) -> Site:
    folder = tmp_path_factory.mktemp("report")
    return serve_beside(
        BUNDLED / "decode_step.gviz",
        loop_recording,
        write_evil_recording(folder / "evil.gviz"),
    )


#: Short words in cells of tables that do not stand on one line.
_BROKEN = """() => [...document.querySelectorAll(".gv-table-report td")].filter((cell) => {
  const words = document.createRange();
  words.selectNodeContents(cell);
  const lines = new Set([...words.getClientRects()].map(({ bottom }) => Math.round(bottom)));
  const isWord = !cell.firstElementChild && /^[a-z]{2,10}$/.test(cell.textContent);
  return isWord && cell.checkVisibility() && lines.size > 1;
}).map((cell) => cell.textContent)"""


def open_report(page: Page, site: Site, path: str = REPORT) -> None:
    site.open(page, path)
    page.locator("#report-advice").wait_for()


@pytest.mark.installed
@pytest.mark.quick
def test_graph_page_leads_to_its_report_and_a_finding_back(
    graph_page: GraphPage, site: Site
) -> None:
    page = graph_page.page
    graph_page.open(site, "graph?file=decode_step&graph=1")
    page.get_by_role("link", name="Report", exact=True).click()
    finding = page.locator(".gv-finding", has_text="late-fork")
    link = finding.get_by_role("link", name="32 nodes")
    eventually(lambda: page.locator(".gv-chart .bglayer").count() == CHARTS, "charts drawn")
    link.scroll_into_view_if_needed()
    before = link.bounding_box()
    link.click()
    graph_page.wait()
    graph_page.wait_until(lambda: len(graph_page.state("dag")["selected"]) == 32, "32 selected")
    assert graph_page.state("timeline")["selected"] == graph_page.state("dag")["selected"]
    page.go_back()
    link.wait_for()
    expect(link).to_be_focused()
    # Charts above it are drawn later.
    eventually(lambda: page.locator(".gv-chart .bglayer").count() == CHARTS, "charts drawn")
    eventually(lambda: _is_at(link, before), "the link where it was")


def _is_at(link: Locator, before: FloatRect | None) -> bool:
    now = link.bounding_box()
    return now is not None and before is not None and abs(now["y"] - before["y"]) < 3


def test_link_to_a_gap_shows_it_at_a_tenth_of_the_timeline(
    graph_page: GraphPage, site: Site
) -> None:
    page = graph_page.page
    open_report(page, site)
    assert page.evaluate(_BROKEN) == []
    row = page.get_by_role("table", name="Longest gaps on the path").locator("tbody tr").first
    gap_us = float(row.inner_text().split()[0])
    row.get_by_role("link", name="in the timeline").click()
    graph_page.wait()
    k = graph_page.at_rest("timeline")["transform"]["k"]
    box = page.locator("#timeline canvas").bounding_box()
    assert box is not None
    assert gap_us * 1_000 * k > 0.1 * box["width"]
    assert len(graph_page.state("timeline")["selected"]) == 2


def test_link_of_a_layer_selects_it_and_looks_at_its_time(
    graph_page: GraphPage, site: Site
) -> None:
    page = graph_page.page
    open_report(page, site)
    table = page.get_by_role("table", name="Node time by layer, the longest first")
    row = table.locator("tbody tr").first
    link, taken_us = (
        row.get_by_role("link"),
        float(row.locator("td").nth(2).inner_text().split()[0]),
    )
    name = link.inner_text()
    link.click()
    graph_page.wait()
    graph_page.wait_until(
        lambda: page.locator("#table-sums").inner_text().startswith("20 of 320 nodes selected"),
        "the nodes of the layer",
    )
    graph_page.address_with(f"select=layer:{name.replace(' ', '+')}")
    timeline = page.locator("#timeline canvas").bounding_box()
    assert timeline is not None

    def is_near() -> bool:
        k: float = graph_page.state("timeline")["transform"]["k"]
        return 0.5 < 1_000 * taken_us * k / timeline["width"] < 1

    graph_page.wait_until(is_near, "its time fills the timeline")
    page.go_back()
    link.wait_for()
    expect(link).to_be_focused()


def test_link_to_a_node_of_a_body_selects_it(graph_page: GraphPage, site: Site) -> None:
    open_report(graph_page.page, site, "report?file=loop&graph=1")
    graph_page.page.locator("#report-path").get_by_role("link", name="2001").first.click()
    graph_page.wait()
    graph_page.wait_until(lambda: "node 2001" in graph_page.inspected(), "the node is inspected")


def test_charts_are_drawn_and_follow_the_theme(page: Page, site: Site) -> None:
    open_report(page, site)
    count = page.locator(".gv-chart").count()
    assert count == CHARTS
    eventually(lambda: page.locator(".gv-chart .bglayer").count() == count, "charts drawn")

    def colour() -> str:
        found: str = page.evaluate(
            "() => getComputedStyle(document.querySelector('.gv-chart .ytick text')).fill"
        )
        return found

    assert colour() == "rgb(27, 35, 45)"
    page.get_by_label("Switch between dark and light").click()
    eventually(lambda: colour() == "rgb(228, 233, 239)", "the dark theme")
    # On paper it is light, and stands in full.
    page.emulate_media(media="print")
    ink, height = page.evaluate(
        "[getComputedStyle(document.body).color, document.documentElement.scrollHeight]"
    )
    page.emulate_media(media="screen")
    assert ink == "rgb(27, 35, 45)"
    assert height > 3_000


def test_nothing_runs_over_the_window(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 2560, "height": 900})
    open_report(page, site)
    eventually(lambda: page.locator(".gv-chart .bglayer").count() == CHARTS, "charts drawn")
    main = page.locator("#page")
    words = page.locator(".gv-chart .ytick text, .gv-chart .textpoint")

    def over() -> list[str]:
        found: list[str] = words.evaluate_all(
            """all => all.filter(e => {
                 const box = e.closest('.gv-chart').getBoundingClientRect();
                 const own = e.getBoundingClientRect();
                 return own.left < box.left - 1 || own.right > box.right + 1;
               }).map(e => e.textContent)"""
        )
        return found

    sideways = """() => {
      for (const part of document.querySelectorAll("details")) part.open = true;
      return [...document.querySelectorAll(".gv-scroll-x")]
        .filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent.slice(0, 60));
    }"""
    for width in (2560, 1280, 1024, 700):
        page.set_viewport_size({"width": width, "height": 900})
        # Charts are drawn anew a moment after the window has another size.
        eventually(lambda: main.evaluate("e => e.scrollWidth <= e.clientWidth"), f"fits {width}")
        eventually(lambda: over() == [], f"no word runs over its chart at {width}")
        assert width < 1024 or page.evaluate(sideways) == []


def test_contents_lead_to_the_parts_without_a_new_page(page: Page, site: Site) -> None:
    open_report(page, site)
    page.locator("#report-advice").evaluate("e => { e.dataset.mark = 'same'; }")
    link = page.get_by_role("link", name="When it pays back")
    link.press("Enter")
    part = page.locator("#report-break-even")
    expect(part).to_be_in_viewport()
    expect(part).to_be_focused()
    # The list stays beside the text, and says which part is read.
    expect(link).to_be_in_viewport()
    expect(page.locator(".gv-contents [aria-current]")).to_have_text("When it pays back")
    assert page.locator("#report-advice").get_attribute("data-mark") == "same"
    assert page.url.endswith("#report-break-even")


def test_another_page_begins_at_its_top(page: Page, site: Site) -> None:
    open_report(page, site)
    page.locator("#report-device").scroll_into_view_if_needed()
    page.get_by_role("link", name="Launch costs").click()
    page.wait_for_selector("h1:has-text('Launch costs')")
    assert page.locator("#page").evaluate("e => e.scrollTop") == 0


def test_evil_names_stay_text(page: Page, site: Site) -> None:
    open_report(page, site, "report?file=evil&graph=1")
    eventually(lambda: page.locator(".gv-chart .bglayer").count() >= 1, "charts drawn")
    assert page.locator("#page script, #page img").count() == 0
    assert page.locator(".gv-chart a[href]").count() == 0


def test_dash_keeps_few_components_of_a_report(page: Page, site: Site) -> None:
    """Its renderer asks each at every change: 1,500 held a click up for seconds."""
    open_report(page, site)
    page.locator("#report-device").wait_for()
    assert page.locator("[data-handed]").count() > 10
    assert page.locator("[data-parts]").count() == 0
    kept = page.evaluate(
        """() => [...document.querySelectorAll('#report-body *')]
          .filter(e => Object.keys(e).some(key => key.startsWith('__reactFiber'))).length"""
    )
    assert kept < 300
    assert page.locator("#report-body *").count() > 1000


def test_graph_that_is_none_is_reported(page: Page, site: Site) -> None:
    site.open(page, "report?file=loop&graph=2")
    expect(page.get_by_role("alert")).to_contain_text("There is no report.")
