"""Level of detail: a timeline too large to be sent whole is asked for as it is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from canvas_page import locate, time_spot

import gviz.assets
from gviz.app.views.timeline import side_arrays, timeline_window

if TYPE_CHECKING:
    from conftest import GraphPage, RequestsWith, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
RECORDINGS = Path(gviz.assets.__file__).parent / "recordings"
STACK = "graph?file=training_step&graph=1&launch=all"
LAST = 2306


@pytest.fixture(scope="module", autouse=True)
def small_limits() -> Iterator[None]:
    """The bundled training step is too much for one answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(side_arrays, "SENT_WHOLE", 5_000)
        patch.setattr(timeline_window, "EXACT_SPANS", 1_000)
        patch.setattr(timeline_window, "DEFAULT_WIDTH", 60)
        yield


@pytest.fixture(scope="module")
def site(serve: Serve) -> Site:
    return serve(RECORDINGS / "training_step.gviz")


def detail(graph_page: GraphPage) -> dict[str, Any]:
    found: dict[str, Any] = graph_page.state("timeline")["detail"]
    return found


def wait_for_detail(graph_page: GraphPage) -> dict[str, Any]:
    graph_page.wait_until(lambda: detail(graph_page)["enough"], "all detail in view")
    return detail(graph_page)


#: Turns of a wheel at once: a slow machine would come to rest between those of a mouse.
_TURN = """([times, x, y]) => {
    const turned = { deltaY: -500, clientX: x, clientY: y, bubbles: true, cancelable: true };
    for (let i = 0; i < times; i++)
        document.querySelector("#timeline canvas").dispatchEvent(new WheelEvent("wheel", turned));
}"""


def test_zoom_requests_detail_until_spans_are_as_recorded(
    graph_page: GraphPage, site: Site, requests_with: RequestsWith
) -> None:
    graph_page.open(site, STACK)
    coarse = wait_for_detail(graph_page)["bucket_ns"]["graph"]
    assert coarse > 0
    expect_merged_spans_to_say_how_many(graph_page)
    expect_brush_to_take_all_spans(graph_page)
    expect_one_request_of_several_zooms(graph_page, requests_with)
    graph_page.page.mouse.move(*time_spot(graph_page.page, 4e6))
    graph_page.turn_wheel("timeline", -500)
    graph_page.wait_until(
        lambda: detail(graph_page)["enough"] and detail(graph_page)["bucket_ns"]["graph"] == 0,
        "exact spans",
    )
    now = detail(graph_page)
    assert now["to_ns"] - now["from_ns"] < 15e6
    page = graph_page.page
    page.mouse.move(*time_spot(page, 4.0001e6))
    tip = page.locator("#timeline .gviz-canvas-tooltip")
    tip.wait_for(state="visible")
    assert "closer than a pixel" not in tip.inner_text()


def expect_merged_spans_to_say_how_many(graph_page: GraphPage) -> None:
    """Point at many."""
    wait_for_detail(graph_page)
    page = graph_page.page
    # The end of the step has many short kernels.
    page.mouse.move(*time_spot(page, 15.0e6))
    tip = page.locator("#timeline .gviz-canvas-tooltip")
    tip.wait_for(state="visible")
    assert "spans closer than a pixel" in tip.inner_text()


def expect_one_request_of_several_zooms(graph_page: GraphPage, requests_with: RequestsWith) -> None:
    """Zoom in six times: detail is asked for once they rest."""
    wait_for_detail(graph_page)
    requested = requests_with("from=")
    graph_page.page.evaluate(_TURN, [6, *time_spot(graph_page.page, 4e6)])
    graph_page.wait_until(lambda: requested, "detail asked for")
    wait_for_detail(graph_page)
    assert len(requested) == 1


def test_node_selected_in_the_graph_is_found_though_it_was_merged(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, f"{STACK}&node={LAST}")
    wait_for_detail(graph_page)
    graph_page.expect_selected(LAST)
    graph_page.wait_until(
        lambda: graph_page.page.evaluate(
            "id => document.querySelector('#timeline canvas').gvizLocate(id)", LAST
        ),
        "the node on screen",
    )
    spot = locate(graph_page.page, LAST, "timeline")
    assert spot["x"] > 0


def expect_brush_to_take_all_spans(graph_page: GraphPage) -> None:
    """Brush, and have all nodes again."""
    wait_for_detail(graph_page)
    page = graph_page.page
    first, last = time_spot(page, 1e6), time_spot(page, 14.5e6)
    page.mouse.move(*first)
    page.keyboard.down("Alt")
    page.mouse.down()
    page.mouse.move(*last, steps=4)
    page.mouse.up()
    page.keyboard.up("Alt")
    graph_page.wait_until(lambda: graph_page.state("dag")["filtered"], "filter set")
    found = graph_page.state("dag")["filtered"]
    # Many times more than there are pixels' worth of merged entries in a row.
    assert 1_500 < len(found) < LAST
    page.locator("#filter-clear").click()
    graph_page.wait_until(lambda: graph_page.state("dag")["filtered"] is None, "all nodes again")


def test_small_timeline_is_whole(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=training_step&graph=1&launch=4")
    assert graph_page.state("timeline")["detail"] is None
