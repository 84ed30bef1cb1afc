"""Accessibility of every page, in light and dark: axe-core finds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from accessible import OF_COLOURS, OF_WIDTH, expect_accessible, violations, violations_by_scheme
from app_recordings import write_detailed_recording, write_imported_recording
from canvas_page import locate
from memory_recordings import write_memory_recording
from playwright.sync_api import Page
from recordings import FIRST_NODE_ID, fork_join_shape, write_loop_recording, write_recording

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
GRAPH = "graph?file=small&graph=1"
#: A graph beside another with nodes that it has not.
AGAINST = "compare?a=wider&b=small&graph=1:1"
NODE = FIRST_NODE_ID + 4
#: Few nodes: axe reads every cell of the table, and rows are alike.
SHAPE = fork_join_shape(stages=2, width=2, depth=2)
WIDER = fork_join_shape(stages=2, width=3, depth=2)
HOW_MEASURED = "details.gv-how:not(.gv-menu)"
#: Tall enough that no panel scrolls: axe leaves out the contrast of what is covered.
WINDOW = {"width": 1400, "height": 2400}


@pytest.fixture(scope="module")
def site(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("accessible")
    return serve(
        write_recording(folder / "small.gviz", SHAPE),
        write_recording(folder / "wider.gviz", WIDER, launches=12, seed=3),
        write_detailed_recording(folder / "detailed.gviz"),
        write_imported_recording(folder / "dump.gviz"),
        write_loop_recording(folder / "loop.gviz"),
        write_memory_recording(folder / "memory.gviz"),
    )


def test_axe_finds_what_is_wrong(page: Page) -> None:
    page.set_content("<html><body><img src='x.png'><p style='color:#aaa'>pale</p></body></html>")
    found = " ".join(violations(page))
    assert "image-alt (critical)" in found
    assert "color-contrast (serious)" in found
    (pale,) = violations(page, OF_COLOURS)
    assert "color-contrast (serious)" in pale


@pytest.mark.parametrize(
    "odd",
    [
        "<p style='color:#aaa'>odd</p>",
        "<p style='background:#444'>odd</p>",
        "<div style='background:#444'><p>odd</p></div>",
        "<div style='background:rgb(0 0 0 / 70%)'><p>odd</p></div>",
        "<div style='opacity:.3'><p style='background:#fff'>odd</p></div>",
        "<input value='odd' style='color:#aaa'>",
        "<a href='x' style='color:#aaa'>odd</a>",
    ],
)
def test_one_pale_text_among_many_is_found(page: Page, odd: str) -> None:
    many = "<p>like all others</p>" * 40
    page.set_content(f"<html><body style='background:#fff'>{many}{odd}{many}</body></html>")
    (pale,) = violations(page, ("color-contrast",))
    assert "odd" in pale


# The page of launch costs: test_launch_cost_charts.py.
@pytest.mark.parametrize(
    "path",
    [
        "",
        "run?file=small&run=1",
        "run?file=detailed&run=1",
        "graph?file=dump&graph=2",
        "nowhere",
        "graph?file=missing&graph=1",
        "?view=table",
        "compare",
        "compare?a=small&b=dump",
        "trend",
    ],
    ids=[
        "runs",
        "run",
        "aborted run",
        "no nodes",
        "no page",
        "no file",
        "runs as a table",
        "nothing compared",
        "not to be compared",
        "trend",
    ],
)
def test_page_is_accessible(page: Page, site: Site, path: str) -> None:
    page.set_viewport_size(WINDOW)  # type: ignore[arg-type]
    site.open(page, path)
    page.wait_for_selector("h1")
    page.wait_for_load_state("networkidle")
    expect_accessible(page)


@pytest.mark.parametrize(
    "path",
    [
        GRAPH,
        f"{GRAPH}&layout=lanes&colour=nvtx&fold=repeats&launch=all&node={NODE}",
        f"{GRAPH}&layout=time&colour=slack&table=families&families=0&node={NODE},{NODE + 1}",
        f"{GRAPH}&edges=data&panel=memory&node={NODE}",
        "graph?file=memory&graph=1&edges=data&panel=memory&node=1005",
        "graph?file=detailed&graph=1&node=11",
        "graph?file=dump&graph=1&node=2",
        "graph?file=loop&graph=1&node=1002",
    ],
    ids=[
        "nothing selected",
        "folded",
        "by family",
        "no memory",
        "memory",
        "arguments",
        "no times",
        "body",
    ],
)
def test_graph_is_accessible(graph_page: GraphPage, site: Site, path: str) -> None:
    graph_page.page.set_viewport_size(WINDOW)  # type: ignore[arg-type]
    graph_page.open(site, path)
    expect_accessible(graph_page.page)


@pytest.mark.parametrize(
    "path",
    [
        AGAINST,
        f"{AGAINST}&layout=lanes&table=nodes&node={NODE}",
        f"{AGAINST}&colour=ratio&table=edges&node={NODE},{NODE + 1}",
    ],
    ids=["nothing selected", "selected", "several"],
)
def test_comparison_is_accessible(graph_page: GraphPage, site: Site, path: str) -> None:
    graph_page.page.set_viewport_size(WINDOW)  # type: ignore[arg-type]
    graph_page.open(site, path)
    expect_accessible(graph_page.page)


@pytest.mark.parametrize(
    ("file", "widths"), [("small", (1400, 700)), ("detailed", (1400,)), ("loop", (1400,))]
)
def test_report_is_accessible(page: Page, site: Site, file: str, widths: tuple[int, ...]) -> None:
    page.set_viewport_size({"width": widths[0], "height": 9000})
    site.open(page, f"report?file={file}&graph=1")
    page.locator("#report-device").wait_for()
    expect_accessible(page)
    for width in widths[1:]:
        page.set_viewport_size({"width": width, "height": 9000})
        assert violations(page, OF_WIDTH) == []


@contextmanager
def _help(page: Page) -> Iterator[None]:
    page.keyboard.press("?")
    page.locator("#key-help").wait_for(state="visible")
    yield
    page.keyboard.press("Escape")
    page.locator("#key-help").wait_for(state="hidden")


@contextmanager
def _how_measured(page: Page) -> Iterator[None]:
    page.locator(f"{HOW_MEASURED} > summary").click()
    yield
    page.locator(f"{HOW_MEASURED} > summary").click()


@contextmanager
def _tooltip(page: Page) -> Iterator[None]:
    spot = locate(page, NODE)
    page.mouse.move(spot["x"], spot["y"])
    page.locator("#dag .gviz-canvas-tooltip").wait_for(state="visible")
    yield
    page.mouse.move(0, 0)
    page.locator("#dag .gviz-canvas-tooltip").wait_for(state="hidden")


@contextmanager
def _no_match(page: Page) -> Iterator[None]:
    page.keyboard.press("/")
    page.keyboard.type("no such node")
    page.get_by_role("grid").get_by_text("No node matches.").wait_for()
    yield
    page.locator("#search").fill("")
    page.locator("#nodes [data-row]").first.wait_for()


def test_what_opens_is_accessible(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    page.set_viewport_size(WINDOW)  # type: ignore[arg-type]
    graph_page.open(site, GRAPH)
    found = {}
    for name, opened, place in (
        ("keys", _help(page), "#key-help"),
        ("how measured", _how_measured(page), HOW_MEASURED),
        ("tooltip", _tooltip(page), "#dag"),
        ("no match", _no_match(page), "#nodes"),
    ):
        with opened:
            found[name] = violations_by_scheme(page, within=place)
    assert {name: bad for name, bad in found.items() if bad} == {}
