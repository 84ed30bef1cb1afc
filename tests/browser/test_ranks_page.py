"""The Ranks page in a real browser: ranks drawn, waits in words, its state in the address."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from accessible import expect_accessible
from playwright.sync_api import Page, expect
from rank_recordings import Planted, write_ranks
from waiting import eventually

import gviz.assets
from gviz.recording.merge import merge_recordings

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
RECORDINGS = Path(gviz.assets.__file__).parent / "recordings"
#: The all-reduce of layer 5, for which rank 0 waits.
WAITED = 35


@pytest.fixture(scope="module")
def site(serve_beside: Serve, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("ranks")
    planted = [Planted(late_ns=300 * rank) for rank in range(8)]
    eight = merge_recordings(write_ranks(folder, planted), folder / "eight.gviz")
    return serve_beside(RECORDINGS / "ranks_h200.gviz", RECORDINGS / "cupy_pipeline.gviz", eight)


@pytest.fixture
def state(graph_page: GraphPage) -> Callable[[], dict[str, Any]]:
    return lambda: graph_page.state("ranks-timeline")


def open_page(page: Page, site: Site, path: str) -> None:
    site.open(page, path)
    page.locator("#ranks-timeline canvas").first.wait_for()


def total_ns(state: Callable[[], dict[str, Any]]) -> float | None:
    """Return where rank 0 ends; None while nothing is drawn."""
    side = state().get("sides", {}).get("rank0")
    return side and side["total_ns"]


def longest(waits: list[dict[str, Any]]) -> dict[str, Any]:
    return max(waits, key=lambda wait: wait["end"] - wait["start"])


@pytest.mark.installed
@pytest.mark.quick
def test_both_gpus_stand_on_one_axis_with_the_wait_in_words(
    page: Page, site: Site, state: Callable[[], dict[str, Any]]
) -> None:
    site.open(page, "run?file=ranks_h200&run=1")
    page.get_by_text("See the ranks side by side").click()
    page.locator("#ranks-timeline canvas").first.wait_for()
    eventually(lambda: state()["ready"], "timeline drawn")
    sides = state()["sides"]
    assert list(sides) == ["rank0", "rank1"]
    assert [side["count"] for side in sides.values()] == [40, 40]
    assert sides["rank0"]["top"] < sides["rank1"]["top"]
    found = longest(sides["rank0"]["waits"])
    assert found["node"] == WAITED
    assert found["words"].endswith("for rank 1")
    assert "it waits" in page.locator("#ranks-timeline canvas").first.get_attribute("aria-label")  # type: ignore[operator]
    expect(page.locator(".gv-verdict")).to_contain_text("rank 0 waits 17.2 µs for rank 1")


def test_keys_reach_the_row_of_waits(
    page: Page, site: Site, state: Callable[[], dict[str, Any]]
) -> None:
    open_page(page, site, "ranks?file=ranks_h200")
    eventually(lambda: state()["ready"], "timeline drawn")
    page.locator("#ranks-timeline canvas").first.focus()
    page.keyboard.press("ArrowRight")
    assert state()["walk"]["kind"] == "lane"
    page.keyboard.press("ArrowUp")
    found = state()["walk"]
    assert found["kind"] == "waits"
    assert "waits" in found["words"]
    assert "for rank 1" in found["words"]


def test_panes_scroll_and_neither_the_page_nor_a_table_sideways_at_1024(
    page: Page, site: Site
) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    open_page(page, site, "ranks?file=ranks_h200")
    tables = page.locator(".gv-compare-summary .gv-scroll-x")
    tables.first.wait_for()
    main = page.locator("#page")
    # Hidden captions in a pane that is no positioned ancestor make the page as long as its tables.
    assert main.evaluate("e => e.scrollHeight - e.clientHeight") == 0
    assert tables.evaluate_all("all => all.filter(x => x.scrollWidth > x.clientWidth).length") == 0


def test_launch_and_selection_are_in_the_address_and_come_back(
    page: Page, site: Site, state: Callable[[], dict[str, Any]], graph_page: GraphPage
) -> None:
    open_page(page, site, "ranks?file=ranks_h200&graph=1&launch=10")
    eventually(lambda: state()["ready"], "timeline drawn")
    before = total_ns(state)
    graph_page.click_node("ranks-timeline", WAITED)
    expect(page).to_have_url(re.compile(f"node={WAITED}"))
    page.get_by_role("button", name="After ▶").click()
    page.wait_for_url("**launch=11*")
    eventually(lambda: total_ns(state) not in (None, before), "another launch")
    assert state()["selected"] == [WAITED]
    page.go_back()
    eventually(lambda: total_ns(state) == before, "the launch before")
    page.get_by_role("textbox", name="Launch").click()
    page.get_by_role("option", name="launch 13", exact=True).click()
    page.wait_for_url("**launch=13*")
    page.reload()
    eventually(lambda: state()["ready"], "drawn again")
    assert state()["selected"] == [WAITED]
    expect(page.get_by_role("textbox", name="Launch")).to_have_value("launch 13")
    brush(page, state()["sides"]["rank1"]["top"] + 5)
    expect(page).to_have_url(re.compile("filter=time:rank1:"))
    found = state()["brush"]
    page.reload()
    eventually(lambda: state().get("brush") == found, "the brush again")
    page.get_by_role("button", name="◀ Before").click()
    page.wait_for_url("**launch=12*")
    assert "filter=" not in page.url


def brush(page: Page, y: float) -> None:
    """Drag over a tenth of the timeline, in the lane at a height."""
    canvas = page.locator("#ranks-timeline canvas").first
    box = canvas.bounding_box()
    assert box is not None
    page.keyboard.down("Alt")
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + y, steps=4)
    page.mouse.up()
    page.keyboard.up("Alt")


def test_timeline_is_as_dark_as_the_page(
    page: Page, site: Site, state: Callable[[], dict[str, Any]]
) -> None:
    open_page(page, site, "ranks?file=ranks_h200")
    eventually(lambda: state()["ready"], "timeline drawn")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        eventually(lambda scheme=scheme: state()["theme"] == scheme, scheme)


def test_table_selects_in_the_timeline(
    page: Page, site: Site, state: Callable[[], dict[str, Any]]
) -> None:
    open_page(page, site, "ranks?file=ranks_h200")
    page.locator(".gv-compare-summary tr", has_text="layer 5").first.locator("a").first.click()
    eventually(lambda: state().get("selected") == [WAITED], "selected")


def test_eight_ranks_are_reached_by_scrolling(
    page: Page, site: Site, state: Callable[[], dict[str, Any]]
) -> None:
    open_page(page, site, "ranks?file=eight")
    eventually(lambda: state()["ready"], "timeline drawn")
    assert len(state()["sides"]) == 8
    last = state()["sides"]["rank7"]["top"]
    page.locator("#ranks-timeline canvas").first.focus()
    for _ in range(8):
        page.keyboard.press("Shift+ArrowDown")
    eventually(lambda: state()["sides"]["rank7"]["top"] < last, "scrolled")


@pytest.mark.parametrize("path", ["ranks?file=ranks_h200", "ranks?file=cupy_pipeline"])
def test_axe_finds_nothing(page: Page, site: Site, path: str) -> None:
    page.set_viewport_size({"width": 1400, "height": 2400})
    site.open(page, path)
    page.locator(".gv-verdict, .gv-compare-message").first.wait_for()
    expect_accessible(page)
