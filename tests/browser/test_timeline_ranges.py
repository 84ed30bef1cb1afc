"""Measuring between two points of the timeline, and the brush that filters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from canvas_page import locate, time_spot
from recordings import FIRST_NODE_ID, fork_join_shape

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
GRAPH = "graph?file=small&graph=1"
NODE = FIRST_NODE_ID + 4
OTHER = FIRST_NODE_ID + 9
ROW = "#nodes [data-row]"
COUNT = len(fork_join_shape().works)


@pytest.fixture(scope="module")
def site(serve_beside: Serve, small_recording: Path) -> Site:
    return serve_beside(small_recording)


def spans(graph_page: GraphPage) -> dict[int, tuple[float, float]]:
    """Return the start and end (ns) of each node in the shown launch, from the payload."""
    found: list[list[float]] = graph_page.page.evaluate(
        """async () => {
          const { file } = Object.fromEntries(new URLSearchParams(location.search));
          const source = `payload/timeline/${file}/1?` + new URLSearchParams(location.search);
          const p = await window.gviz.payload.load(source);
          return Array.from(p.graph_node_id, (id, i) =>
            [id, p.graph_start_ns[i], p.graph_start_ns[i] + p.graph_duration_ns[i]]);
        }"""
    )
    return {int(node): (start, end) for node, start, end in found}


def drag(graph_page: GraphPage, begin: float, end: float, key: str | None = None) -> None:
    """Drag over the first lane from one time to another, with a key held."""
    page = graph_page.page
    first, last = time_spot(page, begin), time_spot(page, end)
    page.mouse.move(*first)
    if key:
        page.keyboard.down(key)
    page.mouse.down()
    page.mouse.move(*last, steps=5)
    page.mouse.up()
    if key:
        page.keyboard.up(key)


def note(graph_page: GraphPage) -> str:
    return graph_page.page.locator("#timeline .gviz-canvas-note").inner_text()


def open_launch(graph_page: GraphPage, site: Site) -> dict[int, tuple[float, float]]:
    graph_page.open(site, f"{GRAPH}&launch=3&stream=41&eager=open")
    return spans(graph_page)


def measured(graph_page: GraphPage) -> dict[str, Any]:
    found: dict[str, Any] = graph_page.state("timeline")["measure"]
    return found


def measure_nodes(graph_page: GraphPage, *nodes: int) -> None:
    """Measure from a node to another by keys."""
    for node in nodes:
        graph_page.click_node("timeline", node)
        graph_page.expect_selected(node)
        graph_page.page.mouse.move(5, 5)
        graph_page.page.locator("#timeline canvas").press("m")


def test_shift_drag_measures_and_escape_removes_it(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    transform = graph_page.state("timeline")["transform"]
    end = graph_page.state("timeline")["sides"]["graph"]["total_ns"]
    drag(graph_page, 0.2 * end, 0.6 * end, "Shift")
    found = measured(graph_page)
    assert found["to"] - found["from"] == pytest.approx(0.4 * end, rel=0.1)
    assert "µs between" in note(graph_page)
    assert graph_page.state("timeline")["transform"] == transform  # no pan
    graph_page.page.keyboard.press("Escape")
    assert measured(graph_page) is None
    assert not graph_page.page.locator("#timeline .gviz-canvas-note").is_visible()


def test_m_measures_from_a_selected_node_to_another(graph_page: GraphPage, site: Site) -> None:
    times = open_launch(graph_page, site)
    measure_nodes(graph_page, NODE, OTHER)
    assert measured(graph_page) == {
        "from": times[NODE][0],
        "to": times[OTHER][0],
        "side": "graph",
    }


def test_b_brushes_what_was_measured(graph_page: GraphPage, site: Site) -> None:
    times = open_launch(graph_page, site)
    measure_nodes(graph_page, NODE, OTHER)
    graph_page.page.locator("#timeline canvas").press("b")
    low, high = sorted((times[NODE][0], times[OTHER][0]))
    expected = {n for n, (start, end) in times.items() if start < high and end > low}
    assert set(graph_page.state("timeline")["filtered"]) == expected
    assert 0 < len(expected) < len(times)


def test_brush_filters_the_table_until_escape(graph_page: GraphPage, site: Site) -> None:
    times = open_launch(graph_page, site)
    first, last = times[NODE][0], times[NODE][1]
    drag(graph_page, first, last, "Alt")
    brush = graph_page.state("timeline")["brush"]
    expected = {n for n, (s, e) in times.items() if s < brush["to"] and e > brush["from"]}
    assert NODE in expected
    assert set(graph_page.state("timeline")["filtered"]) == expected
    rows = graph_page.page.locator(ROW)
    graph_page.wait_until(lambda: rows.count() == len(expected), "table filtered")
    assert {int(r.get_attribute("data-row") or 0) for r in rows.all()} == expected
    words = graph_page.page.locator("#filter-clear").inner_text()
    assert words.startswith(f"{len(expected)} of {COUNT} nodes")
    graph_page.page.locator("#timeline canvas").press("Escape")
    graph_page.wait_until(lambda: rows.count() > len(expected), "filter removed")
    assert graph_page.state("timeline")["filtered"] is None
    assert not graph_page.page.locator("#filter-clear").is_visible()


def opacity(graph_page: GraphPage, node: int) -> int:
    """Return how opaque (0..255) the graph's canvas is where it drew a node."""
    spot = locate(graph_page.page, node, "dag")
    found: int = graph_page.page.evaluate(
        """([x, y]) => {
          const canvas = document.querySelector("#dag canvas");
          const box = canvas.getBoundingClientRect();
          const ratio = canvas.width / box.width;
          const scratch = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
          scratch.drawImage(canvas, (box.left - x) * ratio, (box.top - y) * ratio);
          return scratch.getImageData(0, 0, 1, 1).data[3];
        }""",
        [spot["x"], spot["y"]],
    )
    return found


def test_brush_fades_the_other_nodes_of_the_graph(graph_page: GraphPage, site: Site) -> None:
    times = open_launch(graph_page, site)
    assert opacity(graph_page, FIRST_NODE_ID) == opacity(graph_page, NODE) == 255
    drag(graph_page, *times[NODE], "Alt")
    assert FIRST_NODE_ID not in graph_page.state("dag")["filtered"]
    graph_page.wait_until(lambda: opacity(graph_page, FIRST_NODE_ID) < 100, "other nodes faded")
    assert opacity(graph_page, NODE) == 255
    graph_page.page.locator("#timeline canvas").press("Escape")
    graph_page.wait_until(lambda: opacity(graph_page, FIRST_NODE_ID) == 255, "all shown again")


def test_filter_is_cleared_from_the_table(graph_page: GraphPage, site: Site) -> None:
    times = open_launch(graph_page, site)
    drag(graph_page, *times[NODE], "Alt")
    graph_page.page.locator("#filter-clear").click()
    graph_page.wait_until(
        lambda: graph_page.state("timeline")["brush"] is None, "brush gone from the timeline"
    )
    assert graph_page.state("dag")["filtered"] is None


def test_brush_button_makes_a_plain_drag_brush(graph_page: GraphPage, site: Site) -> None:
    times = open_launch(graph_page, site)
    button = graph_page.page.get_by_role("button", name="Brush: drag over an interval")
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    transform = graph_page.state("timeline")["transform"]
    drag(graph_page, *times[NODE])
    assert NODE in graph_page.state("timeline")["filtered"]
    assert graph_page.state("timeline")["transform"] == transform
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"


def test_click_with_shift_still_adds_to_the_selection(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    graph_page.click_node("timeline", NODE)
    spot = locate(graph_page.page, OTHER, "timeline")
    graph_page.page.keyboard.down("Shift")
    graph_page.page.mouse.click(spot["x"], spot["y"])
    graph_page.page.keyboard.up("Shift")
    assert graph_page.state("timeline")["selected"] == [NODE, OTHER]
    assert measured(graph_page) is None


def test_another_launch_takes_measure_and_filter_away(graph_page: GraphPage, site: Site) -> None:
    times = open_launch(graph_page, site)
    drag(graph_page, *times[NODE], "Alt")
    assert graph_page.state("timeline")["filtered"] is not None
    graph_page.choose("launch", "all 20, stacked")
    graph_page.wait_until(
        lambda: graph_page.state("timeline").get("sides", {}).get("graph", {}).get("mode") == "all",
        "stack shown",
    )
    assert graph_page.state("timeline")["filtered"] is None
