"""Everything on the canvases without a mouse: reached, seen, and told to a screen reader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from canvas_page import locate
from playwright.sync_api import Page
from recordings import FIRST_NODE_ID, fork_join_shape
from waiting import eventually

import gviz.assets

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
GRAPH = "graph?file=small&graph=1"
SHAPE = fork_join_shape()
NODE = FIRST_NODE_ID + 4
TIMED = {FIRST_NODE_ID + i for i, work in enumerate(SHAPE.works) if work.timed}
RECORDINGS = Path(gviz.assets.__file__).parent / "recordings"


@pytest.fixture(scope="module")
def site(serve_beside: Serve, small_recording: Path) -> Site:
    return serve_beside(small_recording, RECORDINGS / "training_step.gviz")


@pytest.fixture(scope="module")
def alone(serve: Serve, small_recording: Path) -> Site:
    """A site of one file: the pages that list all have few places for the focus."""
    return serve(small_recording)


def stated(page: Page) -> str:
    """Return what the live region says."""
    return page.locator("#said").inner_text()


def walk(graph_page: GraphPage) -> dict[str, Any]:
    """Return where the timeline's keyboard stands."""
    found: dict[str, Any] = graph_page.state("timeline")["walk"]
    return found


def press(graph_page: GraphPage, view: str, *keys: str) -> None:
    """Press keys in a view."""
    graph_page.page.locator(f"#{view} canvas").focus()
    for key in keys:
        graph_page.page.keyboard.press(key)


def visit(graph_page: GraphPage, view: str, key: str, times: int) -> list[dict[str, Any]]:
    """Press a key many times; return what the view says after each."""
    found: list[dict[str, Any]] = graph_page.page.evaluate(
        """([view, key, times]) => {
          const canvas = document.querySelector(`#${view} canvas`);
          canvas.focus();
          return Array.from({ length: times }, () => {
            canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            const { selected, walk } = canvas.gvizState();
            return { selected, walk };
          });
        }""",
        [view, key, times],
    )
    return found


# -- the graph -----------------------------------------------------------------------


def test_every_node_is_reached_by_next_node(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)

    def reached() -> set[int]:
        press(graph_page, "dag", "Escape")
        steps = visit(graph_page, "dag", "n", graph_page.state("dag")["nodeCount"])
        return {node for step in steps for node in step["selected"]}

    assert reached() == set(SHAPE.node_ids)
    for layout in ("lanes", "time"):
        graph_page.choose_layout(layout)
        assert reached() == set(SHAPE.node_ids), layout
    graph_page.choose("folding", "Fold NVTX")
    graph_page.wait_until(lambda: graph_page.state("dag").get("foldCount"), "folded")
    assert reached() == set(SHAPE.node_ids)


def test_what_the_keyboard_reaches_is_reported_like_what_is_pointed_at(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, f"{GRAPH}&colour=slack&node={NODE}")
    page = graph_page.page
    tip = page.locator("#dag .gviz-canvas-tooltip")
    press(graph_page, "dag", "ArrowDown")
    tip.wait_for(state="visible")
    assert "branch0_step1" in tip.inner_text()
    assert "slack" in tip.inner_text()
    graph_page.wait_until(lambda: "branch0_step1" in stated(page), "the node said")
    assert "slack" in stated(page)
    assert "waits for 1 node" in stated(page)
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    graph_page.wait_until(
        lambda: stated(page) == "Nothing selected.", "nothing said to be selected"
    )


def test_tooltip_of_the_keyboard_covers_nothing_reported_of_and_leaves_with_the_focus(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, GRAPH)
    for view in ("dag", "timeline"):
        tip = graph_page.page.locator(f"#{view} .gviz-canvas-tooltip")
        for _ in range(8):
            press(graph_page, view, "n")
            (node,) = graph_page.at_rest(view)["selected"]
            spot, box = locate(graph_page.page, node, view), tip.bounding_box()
            assert box is not None
            beside = not box["x"] < spot["x"] < box["x"] + box["width"]
            assert beside or not box["y"] < spot["y"] < box["y"] + box["height"]
        if view == "timeline":  # it moves with its span
            before = tip.bounding_box()
            press(graph_page, view, "Shift+ArrowRight")
            eventually(lambda t=tip, b=before: t.bounding_box() != b, "the tooltip moved")
        graph_page.page.keyboard.press("Tab")
        tip.wait_for(state="hidden")


def test_selection_from_table_and_address_is_reported(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    row = graph_page.page.locator(f"#nodes [data-row='{NODE}'] [data-field=name]")
    graph_page.page.locator("#search").fill("branch0_step0")
    row.click()
    graph_page.wait_until(lambda: "branch0_step0" in stated(graph_page.page), "the node said")
    graph_page.page.locator("#dag canvas").press("u")
    graph_page.wait_until(lambda: "nodes selected" in stated(graph_page.page), "several said")
    graph_page.page.locator("#dag canvas").press("Escape")
    graph_page.page.locator("#search").fill("")
    expect_rows_selected_by_keyboard(graph_page)


def test_colours_are_reported_in_words(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    legend = graph_page.page.locator("#dag-legend")
    described = graph_page.page.locator("#dag canvas").get_attribute("aria-describedby")
    assert described == "dag-legend"
    assert "Coloured by Kernel family: " in legend.inner_text()
    graph_page.choose("colour", "Median duration")
    graph_page.wait_until(lambda: "Hatched: not timed." in legend.inner_text(), "hatch told")
    graph_page.choose("colour", "NVTX range")
    graph_page.wait_until(lambda: "stage 0, stage 1, stage 2" in legend.inner_text(), "stages told")


# -- the timeline ----------------------------------------------------------------------


def test_every_span_is_reached_by_next_span(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    steps = visit(graph_page, "timeline", "n", len(TIMED) + 3)
    starts = [step["walk"]["start"] for step in steps]
    assert walk(graph_page)["side"] == "graph"
    assert starts == sorted(starts)
    assert {node for step in steps for node in step["selected"]} == TIMED
    press(graph_page, "timeline", "Shift+N")
    assert walk(graph_page)["start"] <= starts[-1]
    expect_arrows_along_a_row(graph_page)


def test_arrows_reach_calls_lanes_gaps_and_the_eager_side(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, f"{GRAPH}&eager=open")
    press(graph_page, "timeline", "n")
    visit(graph_page, "timeline", "ArrowUp", 30)
    steps = [step["walk"] for step in visit(graph_page, "timeline", "ArrowDown", 40)]
    visit(graph_page, "timeline", "ArrowUp", 40)
    steps.append(walk(graph_page))
    kinds = {(here["side"], here["kind"]): here["words"] for here in steps}
    visit(graph_page, "timeline", "ArrowDown", 40)
    assert set(kinds) == {
        (side, kind) for side in ("graph", "stream") for kind in ("calls", "lane", "busy")
    }
    assert "host call" in kinds["graph", "calls"]
    assert "duration" in kinds["stream", "lane"]
    assert kinds["graph", "busy"].startswith("GPU idle, for")
    tip = graph_page.page.locator("#timeline .gviz-canvas-tooltip")
    assert tip.inner_text().startswith("GPU idle")
    graph_page.wait_until(lambda: stated(graph_page.page).startswith("GPU idle"), "the gap said")


def expect_arrows_along_a_row(graph_page: GraphPage) -> None:
    """Go along a row by arrows, and by Home and End to its ends."""
    press(graph_page, "timeline", "n", "Home")
    first = walk(graph_page)
    press(graph_page, "timeline", "ArrowRight")
    second = walk(graph_page)
    assert second["start"] >= first["end"]
    assert second["lane"] == first["lane"]
    press(graph_page, "timeline", "End")
    last = walk(graph_page)
    press(graph_page, "timeline", "ArrowRight")
    assert walk(graph_page) == last
    press(graph_page, "timeline", "ArrowLeft")
    assert walk(graph_page)["end"] <= last["start"]
    press(graph_page, "timeline", "Home")
    assert walk(graph_page) == first


def test_zoom_and_walk_start_at_the_selected_node_and_ends_with_another_selection(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, f"{GRAPH}&node={NODE}")
    before = graph_page.state("timeline")["transform"]["k"]
    press(graph_page, "timeline", "z")
    graph_page.wait_until(
        lambda: graph_page.state("timeline")["transform"]["k"] > 5 * before, "zoomed in"
    )
    press(graph_page, "timeline", "ArrowRight")
    assert walk(graph_page)["words"].startswith("lane 1: branch0_step0")
    assert graph_page.state("timeline")["selected"] == [NODE]
    graph_page.click_node("dag", NODE + 1)
    graph_page.wait_until(lambda: walk(graph_page) is None, "the walk ended")


def test_launches_of_a_stack_and_their_spans_are_reached(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&launch=all")
    press(graph_page, "timeline", "n", "Home")
    assert walk(graph_page)["words"].startswith("#0: launch #0, first to last node")
    press(graph_page, "timeline", "ArrowRight")
    assert walk(graph_page)["words"].startswith("#0: MEM")
    first = graph_page.state("timeline")["selected"]
    steps = visit(graph_page, "timeline", "n", len(TIMED))
    assert {*first, *(step["selected"][0] for step in steps)} == TIMED
    press(graph_page, "timeline", "Home")
    depth = graph_page.state("timeline")["sides"]["graph"]["lanes"] // 20
    steps = visit(graph_page, "timeline", "ArrowDown", 20 * depth - 1)
    reported = " ".join(step["walk"]["words"] for step in steps)
    assert all(f"launch #{n}" in reported for n in range(1, 20))


def test_measure_and_brush_by_keyboard_alone(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    press(graph_page, "timeline", *"nmnnnm")
    measure = graph_page.state("timeline")["measure"]
    assert measure["to"] == pytest.approx(walk(graph_page)["start"])
    assert measure["from"] < measure["to"]
    press(graph_page, "timeline", "b")
    graph_page.wait_until(lambda: graph_page.state("dag")["filtered"], "the nodes between")


def test_walk_goes_on_over_detail_that_comes_later(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=training_step&graph=1&fold=none")
    starts = []
    for key in ("n", *["ArrowRight"] * 5, *["+"] * 12, *["ArrowRight"] * 5):
        press(graph_page, "timeline", key)
        starts.append(walk(graph_page)["start"])
    assert starts == sorted(starts)
    assert len(set(starts)) == 11


# -- focus -----------------------------------------------------------------------------

#: What has the focus, and whether that can be seen: an outline, or a border or shadow that it
#: does not have otherwise.
FOCUSED = """() => {
  const now = document.activeElement;
  // A choice of segments is made of radio buttons that only their labels show.
  // A table may be scrolled: its pane has the ring.
  const isTable = now.matches(".gv-rows > table");
  const drawn = now.type === "radio" ? now.labels[0] : isTable ? now.parentElement : now;
  const look = () => {
    const { outlineStyle, outlineWidth, borderColor, boxShadow } = getComputedStyle(drawn);
    const outline = outlineStyle !== "none" && parseFloat(outlineWidth) >= 1.5;
    return { outline, borderColor, boxShadow };
  };
  const name = now.getAttribute("aria-label") || now.textContent.trim() || now.tagName;
  const { left, top, width, height } = drawn.getBoundingClientRect();
  const on = look();
  now.blur();
  const off = look();
  now.focus({ preventScroll: true, focusVisible: true });
  return {
    name: name.slice(0, 60), tag: now.tagName,
    id: now.closest("[id]")?.id ?? "",
    seen: on.outline || on.borderColor !== off.borderColor || on.boxShadow !== off.boxShadow,
    shown: width > 0 && height > 0 && left > -1 && top > -1,
  };
}"""


def tab_through(page: Page, most: int = 80) -> list[dict[str, Any]]:
    """Press Tab from the top of the page; return what had the focus until it left the page."""
    found = []
    page.evaluate("document.activeElement.blur(); getSelection().collapse(document.body, 0)")
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        found.append(page.evaluate(FOCUSED))
    return found


@pytest.mark.own_page
def test_focus_goes_in_order_and_is_seen_everywhere(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&node={NODE}")
    page = graph_page.page
    page.locator("#inspector .gv-bars").wait_for()
    steps = tab_through(page)
    unseen = [step for step in steps if not (step["seen"] and step["shown"])]
    assert unseen == []
    names = [step["name"] for step in steps]
    assert names[0] == "Skip to content"
    landmarks = [
        "Show the keys",
        "How measured",
        "Share",
        "Folding",
        "DAG of fork-join 3x4",
        "Zoom in (+)",
        "Resize graph and timeline",
        "Timeline of fork-join 3x4",
        "Resize canvases and details",
        "Inspector",
        "Copy JSON",
        "Resize inspector and table",
        "Search nodes",
    ]
    places = [next(i for i, n in enumerate(names) if n.startswith(mark)) for mark in landmarks]
    assert places == sorted(places)
    # From the end on to the first, the link past the header.
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    graph_page.wait_until(
        lambda: page.evaluate("document.activeElement.id") == "page", "focus on the page"
    )
    assert page.locator("#dag canvas").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('header')") is None


@pytest.mark.parametrize("path", ["", "run?file=small&run=1", "bench", "nowhere"])
def test_focus_is_seen_on_other_pages(page: Page, alone: Site, path: str) -> None:
    alone.open(page, path)
    page.wait_for_selector("h1")
    steps = tab_through(page)
    assert len(steps) >= 4
    assert [step for step in steps if not (step["seen"] and step["shown"])] == []


def expect_rows_selected_by_keyboard(graph_page: GraphPage) -> None:
    """Walk down the table: the row walked to is selected, and taken out again."""
    page = graph_page.page
    graph_page.wait_until(lambda: not graph_page.state("dag")["selected"], "nothing selected")
    page.locator("#search").focus()
    page.keyboard.press("Tab")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    graph_page.wait_until(lambda: graph_page.state("dag")["selected"], "a node selected")
    (node,) = graph_page.state("dag")["selected"]
    graph_page.expect_selected(node)
    page.keyboard.press("Space")
    graph_page.wait_until(lambda: not graph_page.state("dag")["selected"], "it is taken out")


# -- motion ----------------------------------------------------------------------------


def test_nothing_moves_for_who_wants_less_motion(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&node={NODE}")
    page = graph_page.page
    for view in ("dag", "timeline"):
        graph_page.wait_until(
            lambda v=view: graph_page.state(v).get("selected") == [NODE], "the node in view"
        )
        graph_page.at_rest(view)
    jumped = page.evaluate(
        """() => ["dag", "timeline"].map((id) => {
          const canvas = document.querySelector(`#${id} canvas`);
          const before = canvas.gvizState().transform.k;
          canvas.focus();
          canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "z", bubbles: true }));
          return canvas.gvizState().transform.k > before;
        })"""
    )
    assert jumped == [True, True]
    graph_page.choose("colour", "Kind")
    graph_page.drawn("dag", overlay="kind")
    assert page.evaluate("document.getAnimations().length") == 0
