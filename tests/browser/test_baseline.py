"""The graph page's choice of a baseline: it leads to the comparison, as old addresses do."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from canvas_page import is_offered, locate
from playwright.sync_api import expect
from recordings import FIRST_NODE_ID, Shape, transformer_shape, write_recording

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

SHAPE = transformer_shape(layers=3)
SLOW = 20
NODE = FIRST_NODE_ID + SLOW


@pytest.fixture(scope="module")
def site(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("baseline")
    works = list(transformer_shape(layers=4).works)
    works[SLOW] = replace(works[SLOW], duration_ns=2 * works[SLOW].duration_ns)
    before = write_recording(folder / "before.gviz", SHAPE, launches=15, seed=1)
    later = Shape("later", tuple(works))
    after = write_recording(folder / "after.gviz", later, launches=15, seed=2)
    return serve(before, after)


def test_choice_leads_to_the_comparison_and_back(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    graph_page.open(site, f"graph?file=after&graph=1&node={NODE}")
    assert not is_offered(page, "colour", "Relative change")
    option = page.locator("#baseline option").nth(1).inner_text()
    graph_page.choose("baseline", option)
    expect(page).to_have_url(re.compile(r"compare\?a=before&b=after&graph=1:1"))
    page.locator(".gv-verdict").wait_for()
    graph_page.wait()
    changes = graph_page.state("dag")["changes"]
    assert changes[str(NODE)] == {"verdict": "slower", "arrow": "▲", "calm": False}
    quiet = changes[str(FIRST_NODE_ID + 3)]
    assert quiet == {"verdict": "noise", "arrow": "", "calm": True}
    legend = page.locator("#dag-legend").text_content() or ""
    assert "15 added" in legend
    page.go_back()
    graph_page.wait()
    graph_page.expect_selected(NODE)


def test_old_address_with_a_baseline_is_that_of_the_comparison(
    graph_page: GraphPage, site: Site
) -> None:
    page = graph_page.page
    site.open(page, "graph?file=after&graph=1&baseline=before&baseline_graph=1")
    expect(page).to_have_url(re.compile(r"compare\?a=before&b=after&graph=1:1"))
    page.locator(".gv-verdict").wait_for()
    graph_page.wait()
    graph_page.open(site, f"compare?a=before&b=after&node={NODE}&colour=ratio")
    assert graph_page.state("dag")["overlay"] == "ratio"
    spot = graph_page.wait_until(lambda: locate(page, NODE), "the node on screen")
    page.mouse.move(spot["x"], spot["y"])
    tip = page.locator("#dag .gviz-canvas-tooltip")
    graph_page.wait_until(lambda: "slower, by more than noise" in tip.inner_text(), "the tooltip")
