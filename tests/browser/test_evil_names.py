"""Names as programs can write them: markup, scripts, 4,000 characters, other scripts' letters."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest
from canvas_page import locate
from evil_recordings import NAMES, write_cyclic_recording, write_evil_recording
from playwright.sync_api import Page
from recordings import FIRST_NODE_ID

from gviz.families import kernel_label

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
GRAPH = "graph?file=evil&graph=1"
LONG = FIRST_NODE_ID + NAMES.index("x" * 4_000)
#: The last node's name is that of a node before it.
COUNT = len(NAMES) + len(NAMES[::2])


@pytest.fixture(scope="module")
def site(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("evil")
    cyclic = write_cyclic_recording(folder / "cyclic.gviz")
    return serve(write_evil_recording(folder / "evil.gviz"), cyclic)


def expect_harmless(page: Page) -> None:
    """Nothing ran, nothing became markup, nothing is wider than the window."""
    assert page.evaluate("window.gvizEvil") is None
    assert page.locator("img[src=x], [onerror], [onload]").count() == 0
    width = page.viewport_size["width"] if page.viewport_size else 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.evaluate(
        """width => Array.from(document.querySelectorAll("main *:not(.ag-root-wrapper *, option)"))
          .filter(e => e.checkVisibility() && e.getBoundingClientRect().right > width + 1
            && !e.closest(".gv-scroll-x, .gviz-canvas-box, .gv-unseen, .gv-rows")
            && !e.parentElement.closest(".gv-block"))  // it cuts its text off
          .map(e => e.outerHTML.slice(0, 80))""",
        width,
    )
    assert wide == []


@pytest.mark.parametrize("path", ["", "run?file=evil&run=1"], ids=["runs", "run"])
def test_pages_of_runs_bear_any_name(page: Page, site: Site, path: str) -> None:
    site.open(page, path)
    page.get_by_text(NAMES[0]).first.wait_for()
    for width in (1280, 700):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        expect_harmless(page)
        # Four thousand characters take a few lines.
        heights = page.locator("h1, h2, .gv-graph-link").evaluate_all(
            "all => all.map(e => e.clientHeight)"
        )
        assert max(heights) < 100


@pytest.mark.parametrize(
    "more",
    [
        "&layout=lanes&colour=nvtx",
        "&layout=time&colour=kernel&launch=all",
        "&fold=ranges",
        "&fold=repeats",
        "&table=kernels",
    ],
)
def test_graph_page_bears_any_name(graph_page: GraphPage, site: Site, more: str) -> None:
    graph_page.open(site, GRAPH + more)
    expect_harmless(graph_page.page)
    inspector = graph_page.page.locator("#inspector")
    assert inspector.evaluate("e => e.scrollWidth <= e.clientWidth")


def expect_inspected(page: Page, name: str) -> None:
    """Expect a node's own name in the inspector, and its times where they are seen at once."""
    inspector = page.locator("#inspector")
    label = kernel_label(name)
    assert inspector.locator("h2").text_content() == label
    if label != name:
        assert name in (inspector.text_content() or "")
    assert inspector.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert inspector.get_by_role("heading", name="Time", exact=True).is_visible()
    box = inspector.get_by_role("heading", name="Time", exact=True).bounding_box()
    assert box is not None
    assert box["y"] < 780


# Markup, what ends a title, and 4,000 characters, as the first thing that a document shows; no
# document has a name in it (tests/unit/app/server/test_page_html.py), so others are walked to.
@pytest.mark.own_page
def test_node_of_an_address_bears_any_name(graph_page: GraphPage, site: Site) -> None:
    for at in (0, 2, 7):
        graph_page.open(site, f"{GRAPH}&node={FIRST_NODE_ID + at}")
        expect_harmless(graph_page.page)
        expect_inspected(graph_page.page, NAMES[at])


def test_nodes_walked_to_bear_any_name(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&node={FIRST_NODE_ID}")
    title = graph_page.page.locator("#inspector h2")
    for at, name in enumerate(NAMES[1:], start=1):
        graph_page.page.locator("#dag canvas").press("n")
        graph_page.wait_until(
            lambda at=at: graph_page.state("dag")["selected"] == [FIRST_NODE_ID + at], f"node {at}"
        )
        graph_page.wait_until(
            lambda name=name: title.text_content() == kernel_label(name), f"name {at}"
        )
        expect_harmless(graph_page.page)
        expect_inspected(graph_page.page, name)


def test_tooltip_of_a_long_name_shows_its_values(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    for view in ("dag", "timeline"):
        expect_tooltip(graph_page.page, view)


def expect_tooltip(page: Page, view: str) -> None:
    """Expect the long name's tooltip to stay within a view, and to say more than the name."""
    spot = locate(page, LONG, view)
    page.mouse.move(spot["x"], spot["y"])
    tip = page.locator(f"#{view} .gviz-canvas-tooltip")
    tip.wait_for(state="visible")
    inner, outer = tip.bounding_box(), page.locator(f"#{view}").bounding_box()
    assert inner is not None
    assert outer is not None
    assert inner["height"] < outer["height"]
    assert inner["y"] + inner["height"] <= outer["y"] + outer["height"] + 1
    assert inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1
    assert "KERNEL" in tip.inner_text()


def test_names_are_searched_for_as_they_are(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    page = graph_page.page
    page.locator("#search").fill(NAMES[1])
    # A node of this name, and one in a range of it.
    rows = page.locator("#nodes [data-row]")
    graph_page.wait_until(lambda: rows.count() == 2, "two rows")
    named = page.locator("#nodes [data-row] [data-field=name]").all_inner_texts()
    ranges = page.locator("#nodes [data-row] [data-field=nvtx]").all_inner_texts()
    assert named.count(NAMES[1]) == 1
    assert ranges.count(NAMES[1]) == 1
    expect_harmless(page)


def test_names_that_every_object_has_are_groups_like_others(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.page.set_viewport_size({"width": 1600, "height": 2000})
    graph_page.open(site, f"{GRAPH}&table=kernels")
    page = graph_page.page
    rows = page.locator("#kernels [data-row]")
    graph_page.wait_until(lambda: rows.count() == len(NAMES), "a row each name")
    assert page.locator("#kernels [aria-selected=true]").count() == 0
    for name, count in (("constructor", 2), ("__proto__", 1), ("toString", 1)):
        row = page.locator(f"#kernels [data-row]:has([data-field=name]:text-is('{name}'))")
        row.locator("[data-field=name]").click()
        graph_page.wait_until(
            lambda count=count: len(graph_page.state("dag")["selected"]) == count,
            f"{name} selected",
        )
        graph_page.wait_until(
            lambda: page.locator("#kernels [aria-selected=true]").count() == 1, "one row selected"
        )


def test_names_are_saved_as_they_are(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    with graph_page.page.expect_download() as download:
        graph_page.page.locator("#share-menu summary").click()
        graph_page.page.locator("#save-csv").click()
    assert download.value.suggested_filename.endswith(".csv")
    assert len(download.value.suggested_filename) < 200
    with download.value.path().open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == COUNT
    assert {line["name"] for line in lines} == set(NAMES)


def test_list_of_graphs_is_no_wider_than_the_window(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    page = graph_page.page
    box = page.locator("#graph-choice").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1280
    assert page.locator("#graph-choice option").nth(1).inner_text() == NAMES[0]
    expect_harmless(page)


MALFORMED = (
    "graph?file=%3Cimg src=x onerror=window.gvizEvil=1%3E&graph=1",
    "graph?file=evil&graph=99999999999999999999999",
    "graph?file=evil&graph=%00&node=%ff%fe,,1e9,-1",
    "run?run=1&run=2&file",
    "%3Cscript%3Ewindow.gvizEvil=1%3C/script%3E",
    "graph?file=evil&graph=1&launch=NaN&layout=%22&colour=__proto__&open=,,&fold=constructor"
    "&order=x&stream=-5&table=toString&node=1e400",
)


@pytest.mark.own_page
def test_malformed_address_says_what_is_missing_or_shows_the_page(page: Page, site: Site) -> None:
    for path in MALFORMED:
        site.open(page, path)
        page.wait_for_selector("h1")
        assert page.locator("h1").inner_text().strip()
        expect_harmless(page)


@pytest.mark.parametrize("more", ["&layout=lanes", "&layout=time&fold=repeats"])
def test_cycle_is_reported_with_its_nodes_and_the_table_stays(
    graph_page: GraphPage, site: Site, more: str, console_may_say: list[str]
) -> None:
    console_may_say.append("status of 404")  # the refused payloads
    page = graph_page.page
    site.open(page, f"graph?file=cyclic&graph=1&table=nodes{more}")
    names = [
        f"{name} (node {FIRST_NODE_ID + at})"
        for at, name in ((3, "split_kernel"), (4, "branch0_step0"), (5, "branch0_step1"))
    ]
    reported = f"fork-join 3x4 has a cycle of dependencies: {' → '.join([*names, names[0]])}."
    for view in ("dag", "timeline"):
        page.locator(f"#{view} .gviz-canvas-message", has_text=reported).wait_for()
    page.locator("#layout").get_by_text("Structure", exact=True).click()
    page.locator("#dag .gviz-canvas-message", has_text=reported).wait_for()
    row = page.locator("#nodes [data-row]").first
    row.locator("[data-field=name]").click()
    page.locator("#inspector h2", has_text="branch").wait_for()
    for button in page.locator(".gviz-canvas-button:visible").all():
        button.click()
