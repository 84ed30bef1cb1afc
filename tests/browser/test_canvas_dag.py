"""The DAG on its canvas: what is drawn, and what mouse, wheel and keys do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from canvas_page import locate
from playwright.sync_api import Page
from recordings import FIRST_NODE_ID, fork_join_shape, transformer_shape, write_recording
from waiting import eventually

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
MOTION = True
SHAPE = fork_join_shape()
GRAPH = "graph?file=small&graph=1"
NODE = FIRST_NODE_ID + 4  # branch0_step0
DEPENDENT = FIRST_NODE_ID + 5  # branch0_step1
EMPTY = FIRST_NODE_ID + 2
COPY = FIRST_NODE_ID


@pytest.fixture(scope="module")
def site(
    serve_beside: Serve, small_recording: Path, tmp_path_factory: pytest.TempPathFactory
) -> Site:
    folder = tmp_path_factory.mktemp("canvas")
    transformer = write_recording(
        folder / "transformer.gviz", transformer_shape(layers=120), launches=2
    )
    plain = write_recording(folder / "plain.gviz", SHAPE, launches=0, eager=False)
    return serve_beside(small_recording, transformer, plain)


def colour_at(page: Page, node: int) -> list[int]:
    """Return the colour just inside a node's left edge, where no text stands."""
    colour: list[int] = page.evaluate(
        """node => {
          const canvas = document.querySelector("#dag canvas");
          const spot = canvas.gvizLocate(node);
          const box = canvas.getBoundingClientRect();
          const ratio = canvas.width / box.width;
          const { k } = canvas.gvizState().transform;
          const x = (spot.x - box.left - 85 * k) * ratio;
          const y = (spot.y - box.top) * ratio;
          // Copied first: reading the canvas itself would make the browser warn and slow it down.
          const pixel = document.createElement("canvas").getContext("2d");
          pixel.drawImage(canvas, -Math.round(x), -Math.round(y));
          return Array.from(pixel.getImageData(0, 0, 1, 1).data);
        }""",
        node,
    )
    return colour


def bounds(page: Page) -> dict[str, float]:
    box: Any = page.locator("#dag canvas").bounding_box()
    return dict(box)


def test_graph_is_seen_pointed_at_selected_and_moved(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    expect_every_node_and_edge(graph_page)
    expect_a_name(graph_page)
    expect_hover_explained(graph_page)
    expect_clicks_to_select(graph_page)
    expect_arrows_to_follow_dependencies(graph_page)
    graph_page.page.locator("#dag canvas").press("Escape")
    expect_drag_to_pan(graph_page)
    expect_to_fit(graph_page)
    expect_wheel_to_zoom_to_the_pointer(graph_page)


def expect_every_node_and_edge(graph_page: GraphPage) -> None:
    """All are in the scene."""
    state = graph_page.state("dag")
    assert state["nodeCount"] == len(SHAPE.works)
    assert state["edgeCount"] == sum(len(w.after) for w in SHAPE.works)
    assert state["visible"] == len(SHAPE.works)
    assert state["message"] == ""


def test_colour_shows_slow_from_fast_from_not_timed(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&colour=duration")
    page = graph_page.page
    timed = {w.name: FIRST_NODE_ID + i for i, w in enumerate(SHAPE.works) if w.timed}
    fast, slow = timed["MEMSET"], timed["branch3_step2"]
    colours = [colour_at(page, node) for node in (fast, slow, EMPTY)]
    assert all(colour[3] > 0 for colour in colours)
    # On light ground slower is darker.
    assert sum(colours[1][:3]) < sum(colours[0][:3])
    assert len({tuple(c) for c in colours}) == 3


def expect_wheel_to_zoom_to_the_pointer(graph_page: GraphPage) -> None:
    """Turn the wheel: what is pointed at stays."""
    page = graph_page.page
    before, k = locate(page, NODE), graph_page.state("dag")["transform"]["k"]
    page.mouse.move(before["x"], before["y"])
    assert graph_page.turn_wheel("dag", -300)["k"] > 1.3 * k
    after = locate(page, NODE)
    assert after["x"] == pytest.approx(before["x"], abs=1)
    assert after["y"] == pytest.approx(before["y"], abs=1)


def expect_drag_to_pan(graph_page: GraphPage) -> None:
    """Drag from a node: it goes along, and is not selected."""
    page = graph_page.page
    before = locate(page, NODE)
    page.mouse.move(before["x"], before["y"])
    page.mouse.down()
    page.mouse.move(before["x"] + 40, before["y"] + 25, steps=4)
    page.mouse.up()
    after = locate(page, NODE)
    assert after["x"] - before["x"] == pytest.approx(40, abs=1)
    assert after["y"] - before["y"] == pytest.approx(25, abs=1)
    assert graph_page.state("dag")["selected"] == []


def expect_to_fit(graph_page: GraphPage) -> None:
    """Show everything by key, button and double click."""
    page = graph_page.page
    fitted = scale(graph_page)
    box = bounds(page)

    def zoom_in() -> None:
        page.mouse.move(box["x"] + 200, box["y"] + 200)
        page.mouse.wheel(0, -400)
        eventually(lambda: scale(graph_page) > 1.1 * fitted, "zoomed in")

    def fits() -> bool:
        return scale(graph_page) == pytest.approx(fitted)

    zoom_in()
    page.locator("#dag canvas").press("f")
    eventually(fits, "everything shown by f")
    zoom_in()
    page.get_by_role("button", name="Show everything (f)").first.click()
    eventually(fits, "everything shown by the button")
    zoom_in()
    page.mouse.dblclick(box["x"] + 6, box["y"] + box["height"] - 6)
    eventually(fits, "everything shown by a double click")


def scale(graph_page: GraphPage) -> float:
    found: float = graph_page.state("dag")["transform"]["k"]
    return found


def expect_clicks_to_select(graph_page: GraphPage) -> None:
    """Add and remove by Control; clear by the ground and Escape."""
    page = graph_page.page
    box = bounds(page)
    graph_page.click_node("dag", NODE)
    page.keyboard.down("Control")
    graph_page.click_node("dag", COPY)
    assert graph_page.state("dag")["selected"] == [NODE, COPY]
    graph_page.click_node("dag", NODE)
    page.keyboard.up("Control")
    assert graph_page.state("dag")["selected"] == [COPY]
    page.mouse.click(box["x"] + 6, box["y"] + box["height"] - 6)
    assert graph_page.state("dag")["selected"] == []
    graph_page.click_node("dag", NODE)
    page.locator("#dag canvas").press("Escape")
    assert graph_page.state("dag")["selected"] == []


def expect_arrows_to_follow_dependencies(graph_page: GraphPage) -> None:
    """Go down, up and beside."""
    canvas = graph_page.page.locator("#dag canvas")
    graph_page.click_node("dag", NODE)
    canvas.press("ArrowDown")
    assert graph_page.state("dag")["selected"] == [DEPENDENT]
    canvas.press("ArrowUp")
    assert graph_page.state("dag")["selected"] == [NODE]
    canvas.press("ArrowRight")
    beside = graph_page.state("dag")["selected"]
    page = graph_page.page
    assert beside != [NODE]
    assert locate(page, beside[0])["y"] == pytest.approx(locate(page, NODE)["y"])
    assert locate(page, beside[0])["x"] > locate(page, NODE)["x"]


def expect_hover_explained(graph_page: GraphPage) -> None:
    """Point at a node, and at one that is not timed."""
    page = graph_page.page
    spot = locate(page, NODE)
    page.mouse.move(spot["x"], spot["y"])
    tip = page.locator("#dag .gviz-canvas-tooltip")
    tip.wait_for(state="visible")
    text = tip.inner_text()
    assert "branch0_step0" in text
    assert "median" in text
    assert "share of time" in text
    assert graph_page.state("timeline")["hovered"] == NODE
    empty = locate(page, EMPTY)
    page.mouse.move(empty["x"], empty["y"])
    tip.get_by_text("CUPTI has no record for EMPTY nodes").wait_for()


def expect_a_name(graph_page: GraphPage) -> None:
    """Read what a screen reader does."""
    label = graph_page.page.locator("#dag canvas").get_attribute("aria-label") or ""
    assert "47 nodes" in label
    assert graph_page.page.locator("#dag canvas").get_attribute("tabindex") == "0"


@pytest.mark.parametrize("page", [{"device_scale_factor": 2}], indirect=True)
def test_canvas_has_a_pixel_for_each_of_the_screens(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    size = graph_page.page.evaluate(
        "() => { const c = document.querySelector('#dag canvas');"
        " return [c.width, c.clientWidth, c.height, c.clientHeight]; }"
    )
    assert size[0] == 2 * size[1]
    assert size[2] == 2 * size[3]


def test_large_graph_is_drawn_in_blocks_and_moved_by_its_minimap(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, "graph?file=transformer&graph=1&fold=none")
    page = graph_page.page
    state = graph_page.state("dag")
    assert state["nodeCount"] == 1806
    assert state["level"] == "blocks"
    assert state["regions"]
    assert state["minimap"] is None
    box = bounds(page)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for _ in range(5):
        page.mouse.wheel(0, -400)
    graph_page.wait_until(lambda: graph_page.state("dag")["visible"] < 200, "nodes near")
    zoomed = graph_page.at_rest("dag")
    assert zoomed["level"] == "cards"
    assert not zoomed["regions"]
    corner, box = zoomed["minimap"], bounds(page)
    page.mouse.click(box["x"] + corner["x"] + 3, box["y"] + corner["y"] + 3)
    before = zoomed["transform"]["x"]
    graph_page.wait_until(lambda: graph_page.state("dag")["transform"]["x"] > before, "moved")
    moved = graph_page.at_rest("dag")["transform"]
    assert moved["k"] == zoomed["transform"]["k"]
    assert moved["x"] > zoomed["transform"]["x"]
    assert moved["y"] > zoomed["transform"]["y"]


def test_graph_without_times_is_drawn_without_a_scale(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=plain&graph=1")
    state = graph_page.state("dag")
    assert state["nodeCount"] == len(SHAPE.works)
    assert state["colour"] == "family"


class Fingers:
    """Touches of a page, as the browser sends them."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)

    def send(self, kind: str, *spots: tuple[float, float]) -> None:
        points = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(spots)]
        self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def move(self, *ways: Sequence[tuple[float, float]]) -> None:
        """Put fingers down, one for each way, and move each along its own."""
        first, *others = zip(*ways, strict=True)
        self.send("touchStart", *first)
        for spots in others:
            self.send("touchMove", *spots)
        self.send("touchEnd")


@pytest.mark.parametrize("page", [{"has_touch": True}], indirect=True)
def test_fingers_move_zoom_and_ask(graph_page: GraphPage, site: Site, page: Page) -> None:
    graph_page.open(site, GRAPH)
    fingers = Fingers(page)
    for view in ("dag", "timeline"):
        box = page.locator(f"#{view} canvas").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        before = graph_page.at_rest(view)["transform"]
        fingers.move(
            [(x - 20, y), (x - 60, y), (x - 100, y)], [(x + 20, y), (x + 60, y), (x + 100, y)]
        )
        apart = graph_page.at_rest(view)["transform"]
        assert apart["k"] > 1.5 * before["k"]
        fingers.move([(x, y), (x - 30, y), (x - 60, y)])
        assert graph_page.at_rest(view)["transform"]["x"] < apart["x"] - 30
    assert graph_page.state("dag")["selected"] == []
    page.locator("#dag canvas").press("f")
    graph_page.at_rest("dag")
    spot = locate(page, NODE, "dag")
    fingers.send("touchStart", (spot["x"], spot["y"]))
    tip = page.locator("#dag .gviz-canvas-tooltip")
    tip.wait_for()
    assert "branch0_step0" in tip.inner_text()
    fingers.send("touchEnd")
    assert tip.is_visible()
    assert graph_page.state("dag")["selected"] == []
    page.touchscreen.tap(spot["x"], spot["y"])
    graph_page.drawn("dag", selected=[NODE])
