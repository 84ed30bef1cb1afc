"""Selections of hundreds of nodes: the address keeps them, in a row or in none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
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
def site(serve: Serve, chain: Path) -> Site:
    return serve(chain)


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


def test_selection_of_hundreds_is_there_after_a_reload(graph_page: GraphPage, site: Site) -> None:
    select(graph_page, site, "row_kernel", IN_A_ROW)
    page = graph_page.page
    wanted = f"node={IN_A_ROW[0]}-{IN_A_ROW[-1]}"
    graph_page.wait_until(lambda: wanted in page.url, "all of them in the address")
    page.reload()
    graph_page.wait()
    expect(graph_page, IN_A_ROW)
    assert wanted in page.url


def test_nodes_in_turn_are_selected_after_a_reload(graph_page: GraphPage, site: Site) -> None:
    select(graph_page, site, "even_kernel", ALTERNATELY)
    page = graph_page.page
    graph_page.wait_until(lambda: "node=" in page.url, "a selection in the address")
    assert len(page.url) < 640
    page.reload()
    graph_page.wait()
    expect(graph_page, ALTERNATELY)
    assert not page.locator("#selection-note").is_visible()


def reload(graph_page: GraphPage, wanted: str) -> None:
    """Load the page anew once its address has some fields."""
    fields = set(wanted.split("&"))
    graph_page.wait_until(
        lambda: fields <= set(graph_page.page.url.partition("?")[2].split("&")),
        f"{wanted} in the address",
    )
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
    page.reload()
    eventually(lambda: selected() == ALTERNATELY, "all of them selected")
