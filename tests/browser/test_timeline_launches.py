"""Several launches in the timeline: the choice, the address, hover, selection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from canvas_page import locate
from recordings import fork_join_shape, write_recording

import gviz.assets

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
RECORDINGS = Path(gviz.assets.__file__).parent / "recordings"
DECODE = "graph?file=decode_step&graph=1"
CUPY = "graph?file=cupy_pipeline&graph=1"
BLUR = 5  # a node of the CuPy pipeline


@pytest.fixture(scope="module")
def site(serve_beside: Serve) -> Site:
    return serve_beside(*(RECORDINGS / f"{name}.gviz" for name in ("decode_step", "cupy_pipeline")))


def graph_side(graph_page: GraphPage) -> dict[str, Any]:
    found: dict[str, Any] = graph_page.state("timeline").get("sides", {}).get("graph", {})
    return found


def choose(graph_page: GraphPage, name: str, option: str) -> None:
    graph_page.choose(name, option)


def test_median_is_chosen_reported_in_words_and_survives_reload_and_back(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, DECODE)
    assert graph_side(graph_page)["mode"] == "one"
    choose(graph_page, "launch", "median of 24")
    graph_page.wait_until(
        lambda: graph_side(graph_page).get("mode") == "median", "median launch shown"
    )
    label = graph_page.page.locator("#timeline canvas").get_attribute("aria-label") or ""
    assert "The median of 24 launches." in label
    assert graph_side(graph_page)["count"] == 320
    graph_page.address_with("launch=median")
    graph_page.page.reload()
    graph_page.wait()
    assert graph_side(graph_page)["mode"] == "median"
    graph_page.page.get_by_role("link", name="Runs").click()
    graph_page.page.get_by_role("heading", name="Runs").wait_for()
    graph_page.page.go_back()
    graph_page.wait()
    assert graph_side(graph_page)["mode"] == "median"


def test_launches_are_stacked_and_sorted_by_length(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, DECODE)
    assert not graph_page.page.locator("#order").is_visible()
    choose(graph_page, "launch", "all 24, stacked")
    graph_page.wait_until(lambda: graph_side(graph_page).get("mode") == "all", "stack shown")
    assert graph_side(graph_page)["launches"] == list(range(24))
    assert graph_side(graph_page)["count"] == 24 * 320
    choose(graph_page, "order", "longest first")
    graph_page.wait_until(
        lambda: graph_side(graph_page).get("launches", [])[:2] == [0, 2], "sorted by length"
    )
    address = graph_page.address_with("launch=all", "order=length")
    graph_page.page.goto("about:blank")
    graph_page.page.goto(address)
    graph_page.wait()
    assert graph_side(graph_page)["launches"][:2] == [0, 2]


def test_stacked_launches_fill_the_view_though_the_eager_iteration_is_longer(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, f"{DECODE}&launch=all&eager=open")
    state = graph_page.state("timeline")
    box = graph_page.page.locator("#timeline canvas").bounding_box()
    assert box is not None
    drawn = state["sides"]["graph"]["total_ns"] * state["transform"]["k"]
    assert state["sides"]["stream"]["total_ns"] > 5 * state["sides"]["graph"]["total_ns"]
    assert 0.5 * box["width"] < drawn < box["width"]


def test_node_of_a_stacked_launch_is_explained_and_selected(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, f"{CUPY}&launch=all")
    page = graph_page.page
    spot = locate(page, BLUR, "timeline")
    page.mouse.move(spot["x"], spot["y"])
    tip = page.locator("#timeline .gviz-canvas-tooltip")
    tip.wait_for(state="visible")
    assert "blur" in tip.inner_text()
    assert "#0" in tip.inner_text()
    page.mouse.click(spot["x"], spot["y"])
    graph_page.expect_selected(BLUR)


def test_label_of_a_stacked_launch_says_its_length(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{CUPY}&launch=all&order=length")
    page = graph_page.page
    box = page.locator("#timeline canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 90, locate(page, BLUR, "timeline")["y"])
    tip = page.locator("#timeline .gviz-canvas-tooltip")
    tip.wait_for(state="visible")
    words = " ".join(tip.inner_text().split())
    assert words == "launch #6 first to last node 287 µs by length 1 of 24 GPU idle 47.1 µs, 16.4%"


def test_single_launch_recording_offers_no_median(
    graph_page: GraphPage, serve_beside: Serve, tmp_path: Path
) -> None:
    site = serve_beside(write_recording(tmp_path / "one.gviz", fork_join_shape(), launches=1))
    graph_page.open(site, "graph?file=one&graph=1&launch=all")
    assert graph_side(graph_page)["mode"] == "one"
