"""Names of what is selected and left, hundreds of nodes, in the address; or all their ids."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from canvas_page import time_spot
from playwright.sync_api import Page
from recordings import FIRST_NODE_ID, Shape, Work, write_recording
from waiting import eventually

from gviz.app.html_file.file import write_html

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
#: Nodes one after the other, then nodes of two names in turn.
ROW, ITERATIONS = 400, 1_300
IN_A_ROW = list(range(FIRST_NODE_ID, FIRST_NODE_ID + ROW))
ALTERNATELY = list(range(FIRST_NODE_ID + ROW, FIRST_NODE_ID + ROW + 2 * ITERATIONS, 2))
KERNELS = "graph?file=chain&graph=1&table=kernels"


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = ["row_kernel"] * ROW + ["even_kernel", "odd_kernel"] * ITERATIONS
    works = [Work(name, 2_000, (at - 1,) if at else ()) for at, name in enumerate(names)]
    path = tmp_path_factory.mktemp("selection") / "chain.gviz"
    return write_recording(path, Shape("chain", tuple(works)), launches=1)


@pytest.fixture(scope="module")
def site(serve_beside: Serve, chain: Path) -> Site:
    return serve_beside(chain)


def select(graph_page: GraphPage, site: Site, name: str, nodes: list[int]) -> None:
    """Select all nodes of a kernel name."""
    graph_page.open(site, KERNELS)
    graph_page.page.locator(f"#kernels [data-field=name]:text-is('{name}')").click()
    expect(graph_page, nodes)


def expect(graph_page: GraphPage, nodes: list[int]) -> None:
    """Wait until both canvases show the nodes, no more and no fewer, as selected."""
    graph_page.wait_until(
        lambda: all(sorted(graph_page.state(v)["selected"]) == nodes for v in ("dag", "timeline")),
        f"{len(nodes)} nodes selected",
    )


def test_what_is_selected_and_left_is_named_and_there_after_a_reload(
    graph_page: GraphPage, site: Site
) -> None:
    select(graph_page, site, "even_kernel", ALTERNATELY)
    page = graph_page.page
    graph_page.address_with("select=family:even_kernel", without="node=")
    sums = page.locator("#table-sums").inner_text()
    assert sums.startswith("1,300 of 3,000 nodes selected, ")
    (x, y), (end, _) = time_spot(page, 400_000), time_spot(page, 2_000_000)
    page.keyboard.down("Alt")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(end, y, steps=4)
    page.mouse.up()
    page.keyboard.up("Alt")
    graph_page.wait_until(lambda: "filter=time:" in page.url, "the brush in the address")
    brushed, left = graph_page.state("timeline")["brush"], graph_page.state("dag")["filtered"]
    assert 0 < len(left) < 3_000
    page.reload()
    graph_page.wait()
    expect(graph_page, ALTERNATELY)
    graph_page.wait_until(lambda: graph_page.state("timeline")["brush"] == brushed, "the brush")
    graph_page.wait_until(lambda: graph_page.state("dag")["filtered"] == left, "what it leaves")
    assert page.locator("#table-sums").inner_text() == sums
    graph_page.address_with("select=family:even_kernel")
    assert not page.locator("#selection-note").is_visible()
    # A step, and back: what is selected and left stays.
    graph_page.choose("colour", "Kind")
    graph_page.wait_until(lambda: "colour=kind" in page.url, "another colour")
    page.go_back()
    graph_page.wait_until(lambda: graph_page.state("dag")["colour"] == "family", "the first one")
    expect(graph_page, ALTERNATELY)
    assert graph_page.state("timeline")["brush"] == brushed
    page.locator("#filter-clear").click()
    graph_page.wait_until(lambda: "filter=" not in page.url, "no filter in the address")
    assert graph_page.state("timeline")["brush"] is None


@pytest.mark.own_page
def test_name_of_nothing_is_said(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{KERNELS}&select=family:evaluation")
    note = graph_page.page.locator("#selection-note")
    eventually(note.is_visible, "a note")
    graph_page.address_with("layout=structure", without="select=")
    # Dash, which comes after it, leaves it there.
    assert "nothing that is called “evaluation”" in note.inner_text()


def reload(graph_page: GraphPage, wanted: str) -> None:
    """Load the page anew once its address has some fields."""
    graph_page.address_with(*wanted.split("&"))
    graph_page.page.reload()
    graph_page.page.locator(".gv-early").wait_for(state="detached")


def test_room_of_panes_and_search_are_there_after_a_reload(
    graph_page: GraphPage, site: Site
) -> None:
    page = graph_page.page
    dag, timeline = page.locator("#dag"), page.locator("#timeline")
    graph_page.open(site, "graph?file=chain&graph=1")
    page.get_by_role("separator", name="Resize graph and timeline").press("ArrowRight")
    page.keyboard.press("/")
    page.keyboard.type("even_kernel")
    page.keyboard.press("Tab")
    page.keyboard.press("t")
    assert timeline.evaluate("x => x.contains(document.activeElement)")
    reload(graph_page, "search=even_kernel&pane=timeline&shares=56,52,31")
    timeline.wait_for()
    assert not dag.is_visible()
    page.keyboard.press("t")
    graph_page.wait()
    assert page.locator("#row-count").inner_text().startswith("1,300 hits, ")
    box = dag.bounding_box()
    assert box is not None
    assert box["width"] == pytest.approx(0.52 * 1264, abs=8)
    page.get_by_role("heading", name="Nodes", exact=True).dblclick()
    assert not timeline.is_visible()
    page.keyboard.press("i")
    assert page.locator("#inspector").is_visible()
    assert not page.locator("#nodes").is_visible()
    page.keyboard.press("b")
    reload(graph_page, "pane=breakdown")
    page.locator(".gv-breakdown-whole").wait_for()
    page.keyboard.press("g")
    assert dag.is_visible()
    page.get_by_role("heading", name="Graph", exact=True).dblclick()
    assert page.locator("#nodes").is_visible()


def test_saved_file_keeps_them_too(page: Page, chain: Path) -> None:
    output = chain.with_suffix(".html")
    write_html(chain, output, [1], overwrite=True)

    def selected() -> list[int]:
        state = page.evaluate("document.querySelector('#dag canvas')?.gvizState() ?? {}")
        return sorted(state.get("selected", []))

    page.goto(f"{output.as_uri()}#graph=1&node={IN_A_ROW[0]}-{IN_A_ROW[-1]}")
    eventually(lambda: selected() == IN_A_ROW, "a run of nodes selected")
    page.goto("about:blank")
    page.goto(f"{output.as_uri()}#graph=1&node={','.join(map(str, ALTERNATELY))}")
    eventually(lambda: selected() == ALTERNATELY, "a long list of nodes selected")
    eventually(lambda: "select=family:even_kernel" in page.url, "its name")
    page.reload()
    eventually(lambda: selected() == ALTERNATELY, "all of them selected")
