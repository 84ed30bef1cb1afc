"""Pages longer than the window: they scroll by keys, to their end and no further."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page
from recaptures import write_recaptures
from waiting import eventually

if TYPE_CHECKING:
    from conftest import Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True

SIDES = "a=decode_step_again&b=decode_step_fused"
#: What is there once a page has come, by address.
PAGES = {
    "report?file=decode_step_again&graph=1": "#report-advice",
    "trend": "#report-trend-0",
    "bench": "h1",
}


@pytest.fixture(scope="module")
def site(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Site:
    return serve(*write_recaptures(tmp_path_factory.mktemp("recaptures")))


@pytest.mark.parametrize("path", PAGES)
def test_page_scrolls_by_keys_without_a_click_and_no_further_than_its_end(
    page: Page, site: Site, path: str
) -> None:
    page.set_viewport_size({"width": 1280, "height": 500})
    site.open(page, path)
    page.locator(PAGES[path]).first.wait_for()
    main = page.locator("#page")
    eventually(lambda: main.evaluate("e => e.scrollHeight > e.clientHeight"), "more than fits")
    # No blank page follows the page.
    window = page.evaluate(
        """() => {
            const { scrollHeight, clientHeight } = document.documentElement;
            return [scrollHeight, clientHeight];
        }"""
    )
    assert window[0] == window[1]
    for start in ("nowhere", "a link of the header"):
        if start != "nowhere":
            main.evaluate("e => e.scrollTo(0, 0)")
            page.locator(".gv-brand").focus()
        page.keyboard.press("PageDown")
        eventually(lambda: main.evaluate("e => e.scrollTop > 0"), f"scrolled from {start}")
        assert page.evaluate("window.scrollY") == 0


@pytest.mark.parametrize(
    ("path", "there"),
    [(f"compare?{SIDES}", ".gv-waterfall"), ("run?file=decode_step_again", ".gv-lives")],
)
def test_no_table_scrolls_sideways_at_1024(page: Page, site: Site, path: str, there: str) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    site.open(page, path)
    page.locator(there).first.wait_for()
    assert page.locator(".gv-scroll-x").count() > 0
    sideways = page.locator(".gv-scroll-x").evaluate_all(
        "all => all.filter(x => x.scrollWidth > x.clientWidth).map(x => x.innerText.slice(0, 60))"
    )
    assert sideways == []
