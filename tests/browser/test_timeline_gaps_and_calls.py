"""Idle gaps and host calls in the timeline: counted, summed and explained, on both sides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from canvas_page import time_spot

import gviz.assets

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
RECORDINGS = Path(gviz.assets.__file__).parent / "recordings"
CUPY = "graph?file=cupy_pipeline&graph=1"


@pytest.fixture(scope="module")
def site(serve_beside: Serve) -> Site:
    return serve_beside(RECORDINGS / "cupy_pipeline.gviz")


def test_gaps_of_both_sides_are_known_with_sum_and_share(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{CUPY}&eager=open")
    for side in graph_page.state("timeline")["sides"].values():
        assert side["gaps"] > 3
        assert 0 < side["idle_ns"] < side["total_ns"]
        assert 0.1 < side["idle_fraction"] < 0.9


@pytest.mark.parametrize("side", ["graph", "stream"])
def test_gap_under_the_pointer_is_explained(graph_page: GraphPage, site: Site, side: str) -> None:
    graph_page.open(site, f"{CUPY}&eager=open")
    page = graph_page.page
    begin, end = graph_page.state("timeline")["sides"][side]["widest_gap"]
    page.mouse.move(*time_spot(page, (begin + end) / 2, side))
    tip = page.locator("#timeline .gviz-canvas-tooltip")
    tip.wait_for(state="visible")
    words = " ".join(tip.inner_text().split())
    assert words.startswith("GPU idle for ")
    assert "µs" in words
    assert "from first start to last end" in words
    assert "until" in words


def test_host_lane_shows_launches_that_are_queued_meanwhile(
    graph_page: GraphPage, serve_beside: Serve
) -> None:
    site = serve_beside(RECORDINGS / "training_step.gviz")
    graph_page.open(site, "graph?file=training_step&graph=1&launch=4")
    page = graph_page.page
    side = graph_page.state("timeline")["sides"]["graph"]
    assert side["call_names"] == ["cuGraphLaunch #7", "cuGraphLaunch #8"]
    tracks = graph_page.wait_until(lambda: graph_page.state("timeline")["tracks"], "tracks")
    assert tracks == ["phase", "layer", "module"]
    tip = page.locator("#timeline .gviz-canvas-tooltip")

    def point() -> bool:
        # Above the first lane are the tracks, above these the host's lane; they come one by one.
        x, y = time_spot(page, 0.9 * side["total_ns"])
        page.mouse.move(x, y - 16 - 20 * len(tracks))
        return tip.is_visible()

    graph_page.wait_until(point, "a call under the pointer")
    assert tip.inner_text().startswith("cuGraphLaunch #8")
