"""Child graphs and conditional nodes in the browser: opened in place, joined, closed again."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from canvas_page import locate
from held_answers import hold, let_go
from nested_recordings import NESTED, layered, write_late_recording, write_nested_recording

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
GRAPH = "graph?file=nested&graph=1"
#: Numbers on the page of nodes of NESTED; STEP and CLIP are inside WHILE, CLIP inside INNER_IF.
LOAD, CHILD, WHILE, REDUCE, IF, STORE = 0, 1, 2, 4, 5, 6
STEP, INNER_IF, CHECK, CLIP = 12, 13, 15, 16
NODES, ITERATIONS = 27, 3
LAYERS = 12
DRAWINGS = re.compile("payload/dag")


@pytest.fixture(scope="module")
def site(serve_beside: Serve, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder: Path = tmp_path_factory.mktemp("bodies")
    return serve_beside(
        write_nested_recording(folder / "nested.gviz", NESTED),
        write_nested_recording(folder / "layers.gviz", layered(LAYERS)),
        write_late_recording(folder / "late.gviz"),
    )


def await_state(page: GraphPage, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait until the DAG's state is as wanted."""

    def state() -> dict[str, Any] | None:
        found = page.state("dag")
        return found if found["ready"] and holds(found) else None

    found: dict[str, Any] = page.wait_until(state, "the wanted state")
    return found


def opens(page: GraphPage, *nodes: int) -> dict[str, Any]:
    """Wait until just these nodes are open."""
    wanted = {f"n{node}" for node in nodes}
    return await_state(page, lambda s: {f"n{f['node']}" for f in s["frames"]} == wanted)


def double(page: GraphPage, node: int) -> None:
    spot = locate(page.page, node)
    page.page.mouse.dblclick(spot["x"], spot["y"])


def press(page: GraphPage, *keys: str) -> list[int]:
    for key in keys:
        page.page.locator("#dag canvas").press(key)
    selected: list[int] = page.state("dag")["selected"]
    return selected


@pytest.mark.parametrize("layout", ["structure", "lanes", "time"])
def test_body_opens_in_place_nested_and_closes_again(
    graph_page: GraphPage, site: Site, layout: str
) -> None:
    graph_page.open(site, f"{GRAPH}&layout={layout}")
    page = graph_page.page
    assert graph_page.state("dag")["nodeCount"] == len(NESTED)
    double(graph_page, WHILE)
    state = opens(graph_page, WHILE)
    assert state["nodeCount"] == len(NESTED) + 4
    assert state["layout"] == layout
    double(graph_page, INNER_IF)
    state = opens(graph_page, WHILE, INNER_IF)
    inner = {f["node"]: f for f in state["frames"]}
    assert inner[INNER_IF]["bodies"] == 2
    assert inner[INNER_IF]["nodes"] == [CLIP, CLIP + 1, CLIP + 2]
    assert set(inner[WHILE]["nodes"]) == {*range(STEP, CHECK + 1), CLIP, CLIP + 1, CLIP + 2}
    address = f"open=n{WHILE},n{INNER_IF}"
    graph_page.wait_until(lambda: address in page.url, "what is open in the address")
    if layout == "structure":
        page.reload()
        graph_page.wait()
    opens(graph_page, WHILE, INNER_IF)
    double(graph_page, WHILE)
    assert opens(graph_page)["nodeCount"] == len(NESTED)
    double(graph_page, WHILE)
    # What was open inside is open again.
    opens(graph_page, WHILE, INNER_IF)


def test_layout_is_switched_with_bodies_open_and_the_selection_stays(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, f"{GRAPH}&open=n{WHILE},n{INNER_IF}&node={CLIP}&layout=structure")
    for name in ("Lanes", "Time", "Structure"):
        graph_page.page.locator("#layout").get_by_text(name, exact=True).click()
        await_state(graph_page, lambda s, name=name: s["layout"] == name.lower())
        opens(graph_page, WHILE, INNER_IF)
        assert graph_page.state("dag")["selected"] == [CLIP]


def test_node_of_a_body_is_shown_by_every_view(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&open=n{WHILE}")
    graph_page.click_node("dag", STEP)
    place = "in body 0 of node 2"
    graph_page.wait_until(lambda: place in graph_page.inspected(), "inspector filled")
    shown = graph_page.inspected()
    assert "step" in shown
    assert "4 iterations" in shown
    # The table follows once the selection rests.
    graph_page.wait_until(lambda: graph_page.selected_rows() == [STEP], "row selected")
    assert graph_page.state("timeline")["selected"] == [STEP]
    boxes = graph_page.page.evaluate("document.querySelector('#timeline canvas').gvizState()")
    assert boxes["spansOfSelected"] == ITERATIONS


def test_node_of_a_closed_body_is_found_at_the_node_that_holds_it(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, GRAPH)
    graph_page.click_node("timeline", CLIP)
    graph_page.wait_until(lambda: graph_page.state("dag")["selected"] == [CLIP], "selection")
    page = graph_page.page
    assert locate(page, CLIP) == locate(page, WHILE)
    # Opened around it step by step, closed step by step.
    press(graph_page, "o")
    opens(graph_page, WHILE)
    press(graph_page, "o")
    opens(graph_page, WHILE, INNER_IF)
    assert locate(page, CLIP) != locate(page, WHILE)
    press(graph_page, "x")
    opens(graph_page, WHILE)
    press(graph_page, "x")
    opens(graph_page)
    graph_page.address_with(without="open=")
    assert graph_page.state("dag")["selected"] == [CLIP]


def press_at_once(page: GraphPage, keys: str) -> None:
    """Press keys before the page can do anything between them."""
    page.page.evaluate(
        """keys => Array.from(keys, key => document.querySelector("#dag canvas").dispatchEvent(
            new KeyboardEvent("keydown", {key, bubbles: true})))""",
        keys,
    )


def test_keys_faster_than_the_graph_all_count(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&node={CLIP}")
    press_at_once(graph_page, "oo")
    opens(graph_page, WHILE, INNER_IF)
    press_at_once(graph_page, "xxo")
    opens(graph_page, WHILE)
    drawings = hold(graph_page.page, DRAWINGS)
    press(graph_page, "x")
    graph_page.wait_until(lambda: drawings, "the graph asked for")
    press(graph_page, "o", "o")
    let_go(graph_page.page, DRAWINGS, drawings)
    opens(graph_page, WHILE, INNER_IF)


def test_row_of_the_table_selects_a_nested_node(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    page = graph_page.page
    page.locator("#search").fill("clip")
    row = page.locator("#nodes [data-row]").first
    row.wait_for()
    assert "body 0 of node 2 › body 0 of node 1" in row.inner_text()
    row.click()
    graph_page.wait_until(lambda: graph_page.state("dag")["selected"] == [CLIP], "selection")
    assert graph_page.state("timeline")["selected"] == [CLIP]


def test_open_node_selects_all_its_spans_and_says_what_is_in_it(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, f"{GRAPH}&open=n{WHILE}&node={WHILE}")
    state = graph_page.state("timeline")
    # Of three turns two with both nodes of the first branch, and none of the other.
    assert state["spansOfSelected"] > 3 * ITERATIONS
    shown = graph_page.inspected()
    assert "body 0 of node 2" in shown
    assert "4 iterations a launch (3 to 5)" in shown
    assert "6 of 6 launches" in shown


def test_tooltips_show_sum_spread_and_iterations(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    page = graph_page.page
    tip = page.locator("#dag .gviz-canvas-tooltip")
    spot = locate(page, WHILE)
    page.mouse.move(spot["x"], spot["y"])
    closed = tip.inner_text()
    for stated in (
        "1 body, 7 nodes",
        "4 iterations a launch (3 to 5)",
        "5th to 95th percentile",
        "opens",
    ):
        assert stated in closed
    double(graph_page, WHILE)
    opens(graph_page, WHILE)
    spot = locate(page, WHILE)
    page.mouse.move(spot["x"], spot["y"])
    tip.get_by_text("closes it").wait_for()


def test_walks_take_bodies_for_part_of_the_order(graph_page: GraphPage, site: Site) -> None:
    address = f"{GRAPH}&open=n{CHILD},n{WHILE},n{INNER_IF}"
    graph_page.open(site, f"{address}&node={CLIP}")
    assert set(press(graph_page, "u")) == {LOAD, CHILD, *range(7, 12), STEP, CLIP}
    graph_page.open(site, f"{address}&node={CLIP}")
    assert set(press(graph_page, "d")) == {CLIP, CLIP + 1, CHECK, REDUCE, IF, STORE}
    graph_page.open(site, f"{address}&node={LOAD}")
    # Into a frame, through it, and out of it.
    seen = [press(graph_page, "ArrowDown")[0] for _ in range(7)]
    assert seen[:2] == [CHILD, 7]
    assert WHILE in seen or 3 in seen
    press(graph_page, "ArrowUp")


def test_critical_path_leads_through_open_bodies(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&open=n{CHILD}&colour=slack")
    seen = [press(graph_page, "c")[0] for _ in range(5)]
    assert seen == [LOAD, CHILD, 7, 10, 11]


def test_body_opens_in_one_repeat(graph_page: GraphPage, site: Site) -> None:
    third = 2 + 4 * 2
    graph_page.open(site, f"graph?file=layers&graph=1&fold=repeats&node={third}")
    press(graph_page, "o")
    await_state(graph_page, lambda s: s["nodeCount"] == 1 + LAYERS)
    press(graph_page, "o")
    await_state(graph_page, lambda s: s["nodeCount"] == LAYERS + 4)
    press(graph_page, "o")
    state = opens(graph_page, third)
    assert len(state["frames"][0]["nodes"]) == 5
    assert state["selected"] == [third]
    for count in (LAYERS + 4, 1 + LAYERS, 2):
        press(graph_page, "x")
        await_state(graph_page, lambda s, count=count: s["nodeCount"] == count)


def test_node_that_was_opened_stays_where_it_is(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&layout=structure")
    page = graph_page.page
    before = locate(page, WHILE)
    page.mouse.move(before["x"], before["y"])
    k = graph_page.turn_wheel("dag", -300)["k"]
    before = locate(page, WHILE)
    double(graph_page, WHILE)
    opens(graph_page, WHILE)
    after = locate(page, WHILE)
    assert graph_page.state("dag")["transform"]["k"] == k
    assert after["x"] == pytest.approx(before["x"], abs=2)
    # The name of the frame is where the upper half of the node was.
    assert after["y"] == pytest.approx(before["y"], abs=20 * k)


def test_brush_keeps_nodes_of_bodies(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&open=n{WHILE}")
    page = graph_page.page
    box = page.locator("#timeline canvas").bounding_box()
    assert box is not None
    y = locate(page, STEP, "timeline")["y"]
    page.keyboard.down("Alt")
    page.mouse.move(box["x"] + 150, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 90, y, steps=5)
    page.mouse.up()
    page.keyboard.up("Alt")
    filtered = graph_page.wait_until(lambda: graph_page.state("dag")["filtered"], "filter")
    assert STEP in filtered
    assert WHILE not in filtered
    clear = page.locator("#filter-clear")
    clear.wait_for(state="visible")
    assert f"of {NODES} nodes" in clear.inner_text()


@pytest.mark.parametrize("layout", ["structure", "lanes", "time"])
def test_node_of_a_body_without_a_known_parent_node_is_selected_but_not_drawn(
    graph_page: GraphPage, site: Site, layout: str
) -> None:
    step = NODES - 7  # with the inner IF's, the loop's nodes come last
    graph_page.open(site, f"graph?file=late&graph=1&layout={layout}")
    drawn = graph_page.state("dag")["nodeCount"]
    with pytest.raises(AssertionError, match="off screen"):
        locate(graph_page.page, step)
    graph_page.click_node("timeline", step)
    graph_page.wait_until(lambda: "Not drawn in this graph" in graph_page.inspected(), "the reason")
    graph_page.wait_until(lambda: graph_page.selected_rows() == [step], "row selected")
    assert press(graph_page, "o", "x", "u", "p", "f") is not None
    assert graph_page.state("dag")["nodeCount"] == drawn
    graph_page.page.locator("#inspector").get_by_role("link", name="body 0").first.click()
    graph_page.wait_until(lambda: "graph=1&" not in graph_page.page.url, "the body's page")
    graph_page.drawn("dag", message="")
