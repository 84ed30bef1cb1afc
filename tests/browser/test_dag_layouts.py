"""Layouts and overlays of the DAG: switched without losing the selection, kept in the address."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from canvas_page import is_offered, locate
from recordings import FIRST_NODE_ID, fork_join_shape, transformer_shape, write_recording

from gviz.app.components.dag_options import OVERLAYS

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
SHAPE = fork_join_shape()
GRAPH = "graph?file=small&graph=1"
NODE = FIRST_NODE_ID + 4
EMPTY = FIRST_NODE_ID + 2


@pytest.fixture(scope="module")
def site(
    serve_beside: Serve, small_recording: Path, tmp_path_factory: pytest.TempPathFactory
) -> Site:
    folder = tmp_path_factory.mktemp("layouts")
    forty = write_recording(folder / "forty.gviz", transformer_shape(layers=40), launches=2)
    untimed = write_recording(folder / "without_times.gviz", SHAPE, launches=0, eager=False)
    return serve_beside(small_recording, forty, untimed)


def test_layout_is_switched_and_the_selection_stays(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&node={NODE}&layout=structure")
    for layout in ("lanes", "structure", "time"):
        graph_page.choose_layout(layout)
        state = graph_page.state("dag")
        assert state["selected"] == [NODE]
        assert state["nodeCount"] == len(SHAPE.works)
        graph_page.wait_until(
            lambda layout=layout: f"layout={layout}" in graph_page.page.url, "it is in the address"
        )
    graph_page.page.reload()
    graph_page.wait()
    assert graph_page.state("dag")["layout"] == "time"
    assert graph_page.state("dag")["selected"] == [NODE]


def test_page_says_which_layout_a_large_graph_got(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=forty&graph=1&fold=none")
    drawn = graph_page.state("dag")["layout"]
    chosen = graph_page.page.locator("#layout input:checked").get_attribute("value")
    assert chosen == drawn


def test_overlays_are_chosen_and_kept_in_the_address(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&colour=lane&node={NODE}")
    page = graph_page.page
    for overlay in OVERLAYS:
        # This recording has neither ranges, modules nor occupancy, and there is no baseline.
        if overlay.name in ("nvtx", "module", "occupancy") or overlay.signed:
            continue
        graph_page.choose("colour", overlay.label)
        page.wait_for_function(
            "name => document.querySelector('#dag canvas').gvizState().overlay === name",
            arg=overlay.name,
        )
        graph_page.wait_until(
            lambda name=overlay.name: f"colour={name}" in page.url, "the colour in the address"
        )
        assert graph_page.state("dag")["selected"] == [NODE]
    page.goto(site.address(f"{GRAPH}&colour=slack"))
    graph_page.wait()
    assert graph_page.state("dag")["overlay"] == "slack"


def test_overlays_of_times_are_not_offered_without_times(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=without_times&graph=1&colour=slack")
    assert graph_page.state("dag")["overlay"] == "family"
    assert not is_offered(graph_page.page, "colour", "Slack")


def test_axis_of_time_is_picked_on_walked_along_and_stretched(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, f"{GRAPH}&layout=time&node={NODE}")
    expect_arrows_along_time(graph_page)
    expect_nodes_picked_and_hovered(graph_page)
    expect_wheel_to_stretch_time(graph_page)


def expect_nodes_picked_and_hovered(graph_page: GraphPage) -> None:
    """Click nodes, and point at one."""
    page = graph_page.page
    for node in (NODE, EMPTY):
        spot = locate(page, node)
        page.mouse.click(spot["x"], spot["y"])
        graph_page.expect_selected(node)
    page.mouse.move(locate(page, NODE)["x"], locate(page, NODE)["y"])
    tip = page.locator("#dag .gviz-canvas-tooltip")
    assert "duration in this launch" in tip.inner_text()


def expect_wheel_to_stretch_time(graph_page: GraphPage) -> None:
    """Turn the wheel: lanes stay as high as they are."""
    page = graph_page.page
    before, spot = graph_page.state("dag")["transform"], locate(page, NODE)
    page.mouse.move(spot["x"], spot["y"])
    after = graph_page.turn_wheel("dag", -300)
    assert after["kx"] > 1.3 * before["kx"]
    assert after["k"] == before["k"]
    assert locate(page, NODE)["x"] == pytest.approx(spot["x"], abs=1)


def expect_arrows_along_time(graph_page: GraphPage) -> None:
    """Go to the dependent node and back."""
    graph_page.page.locator("#dag canvas").press("ArrowRight")
    graph_page.expect_selected(NODE + 1)
    graph_page.page.locator("#dag canvas").press("ArrowLeft")
    graph_page.expect_selected(NODE)


def test_c_walks_the_critical_path(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&colour=slack")
    canvas = graph_page.page.locator("#dag canvas")
    seen = []
    for _ in range(graph_page.state("dag")["criticalCount"]):
        canvas.press("c")
        seen.append(graph_page.state("dag")["selected"][0])
    assert len(set(seen)) == len(seen)
    edges = {(a, i) for i, work in enumerate(SHAPE.works) for a in work.after}
    steps = pairwise(seen)
    assert all((a - FIRST_NODE_ID, b - FIRST_NODE_ID) in edges for a, b in steps)
    canvas.press("c")
    assert graph_page.state("dag")["selected"] == [seen[-1]]
    canvas.press("Shift+C")
    assert graph_page.state("dag")["selected"] == [seen[-2]]


def test_another_launch_moves_the_nodes_in_time(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&layout=time&launch=3")
    page = graph_page.page
    with page.expect_response(lambda r: "/dag/" in r.url and "launch=7" in r.url) as answer:
        graph_page.choose("launch", "#6 ·")
    assert answer.value.status in (200, 304)
