"""The Fleet page in a real browser: a click on a map opens that rank's graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from accessible import expect_accessible
from fleet_recordings import Truth, write_fleet
from fleets import mapper_here, needs_fleet
from playwright.sync_api import Page, expect
from waiting import eventually

from gviz.fleet import build_fleet, find_sources

if TYPE_CHECKING:
    from conftest import Serve

pytestmark = [pytest.mark.browser, needs_fleet]

WIDTHS = "() => [...document.querySelectorAll('.gv-chart .main-svg')].map((x) => x.clientWidth)"


def test_a_click_on_a_map_opens_the_graph_of_that_rank(
    page: Page, serve_once: Serve, tmp_path: Path
) -> None:
    folder, target = tmp_path / "recordings", str(tmp_path / "fleet")
    folder.mkdir()
    list(write_fleet(folder, Truth(ranks=4, seed=3, slow={2: (2, 2.0)})))
    build_fleet(find_sources([str(folder)]), target, mapper_here)
    site = serve_once(fleet=target)
    site.open(page, "/fleet")
    drawn = page.locator("#fleet-body .gv-chart").first.locator(".nsewdrag")
    drawn.wait_for()
    expect(page.locator("#fleet-body .gv-verdict")).to_contain_text("1 rank of 4 slower")
    # Those out of sight are drawn too, and all are as wide as the page.
    drawn_in = page.locator("#fleet-body .gv-chart .main-svg .bglayer")
    expect(drawn_in).to_have_count(4)
    page.set_viewport_size({"width": 700, "height": 800})
    eventually(lambda: all(width < 700 for width in page.evaluate(WIDTHS)), "charts fit")
    page.set_viewport_size({"width": 1280, "height": 800})
    # Dash has the charts alone: tables are made by the browser.
    assert page.locator("#fleet-body [data-handed] table").count() > 3
    assert page.locator("#fleet-body [data-parts]").count() == 0
    expect_accessible(page)
    box = drawn.bounding_box()
    assert box is not None
    # The third of four rows, the third of eight layers.
    where = (box["x"] + 2.5 / 8 * box["width"], box["y"] + 2.5 / 4 * box["height"])
    page.mouse.move(*where)
    expect(page.locator(".hoverlayer").first).to_contain_text("rank 2 on node0000, layer 2")
    expect(page.locator(".hoverlayer").first).to_contain_text("MHz")
    page.mouse.click(*where)
    page.wait_for_url("**/graph?file=rank00002&graph=1*")
    site.open(page, "/fleet")
    page.locator("#fleet-body table a").first.click()
    page.wait_for_url("**/graph?file=rank00002&graph=1*")
