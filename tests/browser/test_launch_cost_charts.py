"""The page Launch costs in Chromium: charts that are drawn, in both themes, with their numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from accessible import OF_COLOURS, violations
from waiting import eventually

if TYPE_CHECKING:
    from conftest import Serve, Site
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

ONE_PAGE = True
CHARTS = 16


@pytest.fixture(scope="module")
def site(serve_beside: Serve, small_recording: Path) -> Site:
    return serve_beside(small_recording)


def drawn(page: Page) -> int:
    """Return how many charts plotly has drawn points or bars in."""
    count: int = page.evaluate(
        "() => [...document.querySelectorAll('.gv-chart')]"
        ".filter(c => c.querySelector('.point, .scatterlayer .js-line')).length"
    )
    return count


def text_colour(page: Page) -> str:
    """Return the colour of the first chart's tick labels."""
    colour: str = page.evaluate(
        "() => getComputedStyle(document.querySelector('.gv-chart .xtick text')).fill"
    )
    return colour


def test_every_chart_is_drawn_and_follows_the_theme(page: Page, site: Site) -> None:
    # Tall enough that axe sees the charts; what is wrong with them in light and dark it says here.
    page.set_viewport_size({"width": 1400, "height": 2400})
    site.open(page, "")
    page.get_by_role("link", name="Launch costs").click()
    page.wait_for_selector("h1:has-text('Launch costs')")
    eventually(lambda: drawn(page) == CHARTS, "all charts drawn")
    assert text_colour(page) == "rgb(27, 35, 45)"
    assert violations(page) == []
    page.get_by_label("Switch between dark and light").click()
    eventually(lambda: text_colour(page) == "rgb(228, 233, 239)", "the dark theme")
    assert drawn(page) == CHARTS
    assert violations(page, OF_COLOURS) == []


@pytest.mark.installed
def test_numbers_stand_below_each_chart(page: Page, site: Site) -> None:
    site.open(page, "bench")
    page.wait_for_selector(".gv-chart-numbers")
    assert page.locator(".gv-chart-numbers").count() == CHARTS
    first = page.locator(".gv-chart-numbers").first
    assert not first.locator("table").is_visible()
    first.locator("summary").click()
    rows = first.locator("tbody tr")
    assert rows.count() > 5
    assert rows.first.locator("td").count() == 4
