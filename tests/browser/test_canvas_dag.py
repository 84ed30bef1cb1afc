"""The DAG on its canvas: what is drawn, and what mouse, wheel and keys do."""

from __future__ import annotations

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


def test_every_node_and_edge_is_in_the_scene(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
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


def test_wheel_zooms_to_the_pointer(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    page = graph_page.page
    before, k = locate(page, NODE), graph_page.state("dag")["transform"]["k"]
    page.mouse.move(before["x"], before["y"])
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(100)
    after = locate(page, NODE)
    assert graph_page.state("dag")["transform"]["k"] > 1.3 * k
    assert after["x"] == pytest.approx(before["x"], abs=1)
    assert after["y"] == pytest.approx(before["y"], abs=1)


def test_drag_pans_and_selects_nothing(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
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


def test_f_and_double_click_on_empty_ground_fit(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
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


def test_control_click_adds_and_removes_click_on_ground_and_escape_clear(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, GRAPH)
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


def test_arrow_keys_follow_dependencies(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
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


def test_hover_is_shared_and_explained(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    page = graph_page.page
    spot = locate(page, NODE)
    page.mouse.move(spot["x"], spot["y"])
    tip = page.locator("#dag .gviz-canvas-tooltip")
    tip.wait_for(state="visible")
    text = tip.inner_text()
    assert "branch0_step0" in text
    assert "median" in text
    assert "share of launch" in text
    assert graph_page.state("timeline")["hovered"] == NODE
    empty = locate(page, EMPTY)
    page.mouse.move(empty["x"], empty["y"])
    assert "CUPTI has no record for EMPTY nodes" in tip.inner_text()


def test_canvas_names_itself_for_screen_readers(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
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
    assert state["minimap"] is None
    box = bounds(page)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for _ in range(5):
        page.mouse.wheel(0, -400)
    page.wait_for_timeout(150)
    zoomed = graph_page.state("dag")
    assert zoomed["level"] == "cards"
    assert zoomed["visible"] < 200
    corner = zoomed["minimap"]
    page.mouse.click(box["x"] + corner["x"] + 3, box["y"] + corner["y"] + 3)
    page.wait_for_timeout(150)
    moved = graph_page.state("dag")["transform"]
    assert moved["k"] == zoomed["transform"]["k"]
    assert moved["x"] > zoomed["transform"]["x"]
    assert moved["y"] > zoomed["transform"]["y"]


def test_graph_without_times_is_drawn_without_a_scale(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=plain&graph=1")
    state = graph_page.state("dag")
    assert state["nodeCount"] == len(SHAPE.works)
    assert state["colour"] == "kind"
