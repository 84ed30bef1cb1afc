"""Pages longer than the window: they scroll by keys, to their end and no further."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page
from recaptures import write_recaptures
from waiting import eventually

import gviz.assets

if TYPE_CHECKING:
    from conftest import Serve, Site

pytestmark = pytest.mark.browser

TRAINING_STEP = Path(gviz.assets.__file__).parent / "recordings" / "training_step.gviz"
SIDES = "a=decode_step_again&b=decode_step_fused"
#: What is there once a page has come, by address.
PAGES = {
    "report?file=training_step&graph=1": "#report-advice",
    f"compare?{SIDES}": "#compare-table .ag-row",
    "trend": "#report-trend-0",
    "bench": "h1",
}


@pytest.fixture(scope="module")
def site(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Site:
    return serve(TRAINING_STEP, *write_recaptures(tmp_path_factory.mktemp("recaptures")))


@pytest.fixture(params=PAGES)
def long_page(request: pytest.FixtureRequest, page: Page, site: Site) -> Page:
    """Return a page that is longer than its window."""
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto(site.start)
    page.wait_for_selector("h1")
    page.goto(site.address(request.param))
    page.locator(PAGES[request.param]).first.wait_for()
    main = page.locator("#page")
    eventually(lambda: main.evaluate("e => e.scrollHeight > e.clientHeight"), "more than fits")
    return page


def test_no_blank_page_follows_the_page(long_page: Page) -> None:
    window = long_page.evaluate(
        """() => {
            const { scrollHeight, clientHeight } = document.documentElement;
            return [scrollHeight, clientHeight];
        }"""
    )
    assert window[0] == window[1]


@pytest.mark.parametrize("start", ["nowhere", "a link of the header"])
def test_page_scrolls_by_keys_without_a_click(long_page: Page, start: str) -> None:
    if start != "nowhere":
        long_page.locator(".gv-brand").focus()
    long_page.keyboard.press("PageDown")
    main = long_page.locator("#page")
    eventually(lambda: main.evaluate("e => e.scrollTop > 0"), "scrolled")
    assert long_page.evaluate("window.scrollY") == 0
