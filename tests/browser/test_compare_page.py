"""The Compare page in a real browser: chosen, drawn, one selection, table and address."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from accessible import expect_accessible
from canvas_page import locate
from nested_recordings import NESTED, NESTED_SHORTENED, write_nested_recording
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from recaptures import write_recaptures
from recordings import fork_join_shape, write_loop_recording, write_recording
from waiting import PATIENCE_S, eventually

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

COMPARE = "compare?a=decode_step_again&b=decode_step_fused"


@pytest.fixture(scope="module")
def site(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("compare")
    return serve(
        *write_recaptures(folder),
        write_loop_recording(folder / "short.gviz", iterations=3),
        write_loop_recording(folder / "long.gviz", iterations=5),
        write_recording(folder / "untimed.gviz", fork_join_shape(), launches=0),
    )


@pytest.fixture
def state(graph_page: GraphPage) -> Callable[[str], dict[str, Any]]:
    return lambda view: graph_page.state(f"compare-{view}")


def open_page(page: Page, site: Site, path: str = COMPARE) -> None:
    site.open(page, path)
    page.locator("#compare-table .ag-row").first.wait_for()


def ways_of(page: Page) -> dict[str, Any]:
    """Return the ways from nodes to the bodies in them, and back."""
    found: dict[str, Any] = json.loads(
        page.locator("#compare-bodies").get_attribute("data-ways") or ""
    )
    return found


def choose_recording(page: Page, side: str, name: str) -> None:
    """Choose from a list; the page that another choice brings may close it on the way."""

    def is_chosen() -> bool:
        page.locator(f"#compare-{side}").click()
        with suppress(PlaywrightTimeout):
            page.get_by_role("option", name=name, exact=True).click(timeout=3_000)
            return True
        return False

    eventually(is_chosen, f"a choice of {name}")


def verdict_says(page: Page, words: str) -> None:
    verdict = page.locator(".gv-verdict")
    expect(verdict).to_have_count(1, timeout=1000 * PATIENCE_S)  # Trend's page has one a graph
    expect(verdict).to_contain_text(words, timeout=1000 * PATIENCE_S)


def ready(state: Callable[[str], dict[str, Any]], *views: str) -> None:
    for view in views or ("dag", "timeline"):
        eventually(lambda v=view: state(v)["ready"], f"{view} drawn")  # type: ignore[misc]


@pytest.mark.installed
@pytest.mark.quick
def test_page_shows_verdict_union_and_both_launches(
    page: Page, site: Site, state: Callable[[str], dict[str, Any]]
) -> None:
    open_page(page, site)
    ready(state)
    verdict_says(page, "−109 µs (−10.4%)")
    eventually(lambda: page.locator(".gv-chart .bglayer").count() == 1, "the waterfall is drawn")
    union = state("dag")["union"]
    assert len(union["removed"]) == 48
    assert union["edges"] == {"both": 349, "removed": 64, "added": 16}
    sides = state("timeline")["sides"]
    assert (sides["graph"]["count"], sides["stream"]["count"]) == (320, 272)


def test_one_selection_for_dag_launches_and_table(
    page: Page, site: Site, graph_page: GraphPage, state: Callable[[str], dict[str, Any]]
) -> None:
    open_page(page, site)
    ready(state)
    graph_page.click_node("compare-dag", 6)
    eventually(lambda: state("timeline")["selected"] == [6], "selected in the launches")
    selected = page.locator("#compare-table .ag-row-selected")
    eventually(lambda: selected.count() == 1, "one row selected")
    expect(page).to_have_url(re.compile("node=6"), timeout=30_000)
    page.locator("#compare-table .ag-row:not(.ag-row-selected)").first.click()
    eventually(lambda: state("dag")["selected"] not in ([], [6]), "selected in the DAG")
    assert state("timeline")["selected"] == state("dag")["selected"]
    assert state("timeline")["message"] == ""


def test_selection_and_table_of_an_address_are_shown(
    page: Page, site: Site, state: Callable[[str], dict[str, Any]]
) -> None:
    open_page(page, site, f"{COMPARE}&rows=changed&node=6&colour=kind&layout=lanes")
    ready(state)
    eventually(lambda: state("dag")["selected"] == [6], "selected in the DAG")
    eventually(
        lambda: page.locator("#compare-table .ag-row-selected").count() >= 1, "rows selected"
    )
    assert state("dag")["layout"] == "lanes"
    assert state("dag")["overlay"] == "kind"
    assert len(state("dag")["union"]["removed"]) == 48


def test_tables_change_and_are_saved(page: Page, site: Site) -> None:
    open_page(page, site)
    page.locator("#compare-rows").click()
    page.get_by_role("option", name="Edges (16 added, 64 removed)").click()
    expect(page.locator("#compare-table .ag-cell[col-id=to_node]").first).to_be_visible()
    expect(page).to_have_url(re.compile("rows=edges"), timeout=30_000)
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    lines = Path(saved.value.path()).read_text("utf-8-sig").strip().splitlines()
    assert lines[0].replace('"', "") == "what,from_node,from,to_node,to"
    assert len(lines) == 81


def test_swap_is_undone_by_the_back_button(page: Page, site: Site) -> None:
    open_page(page, site)
    page.get_by_role("link", name="Swap").click()
    verdict_says(page, "slower by more than noise: +109 µs")
    page.go_back()
    verdict_says(page, "faster by more than noise: −109 µs")


def test_two_cards_are_picked_and_compared(page: Page, site: Site) -> None:
    site.open(page, "")
    buttons = page.locator(".gv-compare-pick")
    buttons.nth(0).click()
    expect(buttons.nth(0)).to_have_attribute("aria-pressed", "true")
    buttons.nth(1).click()
    verdict_says(page, "−109 µs")
    assert unquote(page.url).endswith("a=decode_step_again&b=decode_step_fused&graph=1:1")


def test_graph_page_leads_to_the_comparison_in_full(
    page: Page, site: Site, graph_page: GraphPage
) -> None:
    graph_page.open(site, "graph?file=decode_step_fused&graph=1&baseline=decode_step_again")
    page.get_by_role("link", name="Compare in full").click()
    verdict_says(page, "−109 µs")


def test_bodies_are_a_level_of_their_own(
    page: Page, site: Site, state: Callable[[str], dict[str, Any]]
) -> None:
    open_page(page, site, "compare?a=short&b=long")
    ready(state)
    before = state("dag")["nodeCount"]
    page.locator("#compare-level").click()
    page.get_by_role("option").nth(1).click()
    expect(page).to_have_url(re.compile("level=1"), timeout=30_000)
    eventually(lambda: state("dag").get("nodeCount", before) != before, "the body")


def test_a_double_click_opens_a_body_in_place_and_closes_it_again(
    page: Page, site: Site, graph_page: GraphPage, state: Callable[[str], dict[str, Any]]
) -> None:
    open_page(page, site, "compare?a=short&b=long")
    ready(state)
    before = state("dag")["nodeCount"]
    ways = ways_of(page)
    (parent,) = (int(key) for key, found in ways["inside"].items() if found[0][0] == 1)
    ((first, last),) = ways["nodes"]["1"]
    spot = locate(page, parent, "compare-dag")
    page.mouse.dblclick(spot["x"], spot["y"])
    eventually(lambda: state("dag").get("nodeCount", 0) > before, "the body in the graph")
    (frame,) = state("dag")["frames"]
    assert frame["node"] == parent
    assert frame["nodes"] == list(range(first, last + 1))
    expect(page).to_have_url(re.compile(f"open=n{parent}"))
    # The selection is one of frame and launches.
    graph_page.click_node("compare-timeline", first)
    eventually(lambda: state("dag")["selected"] == [first], "a node of the body selected")
    expect(page.locator("#compare-bodies button")).to_have_count(0)
    page.reload()
    page.locator("#compare-table .ag-row").first.wait_for()
    eventually(lambda: len(state("dag").get("frames", [])) == 1, "opened by the address")
    graph_page.click_node("compare-dag", parent)
    page.get_by_role("button", name="Close its bodies").click()
    eventually(lambda: state("dag").get("nodeCount") == before, "closed again")
    assert "open=" not in page.url


def test_node_in_a_closed_body_is_shown_where_it_is(
    page: Page, site: Site, graph_page: GraphPage, state: Callable[[str], dict[str, Any]]
) -> None:
    open_page(page, site, "compare?a=short&b=long")
    ready(state)
    ways = ways_of(page)
    ((first, _),) = ways["nodes"]["1"]
    graph_page.click_node("compare-timeline", first)
    page.get_by_role("button", name="Show it where it is").click()
    eventually(lambda: len(state("dag").get("frames", [])) == 1, "its body in the graph")
    assert state("dag")["selected"] == [first]


def test_body_drawn_alone_leads_out_again(
    page: Page, site: Site, state: Callable[[str], dict[str, Any]]
) -> None:
    open_page(page, site, "compare?a=short&b=long&level=1")
    ready(state)
    inner = state("dag")["nodeCount"]
    page.get_by_role("button", name="Out of the body").click()
    eventually(lambda: state("dag").get("nodeCount", inner) != inner, "the graph itself")
    assert "level=" not in page.url


@pytest.fixture(scope="module")
def nested(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("nested")
    return serve(
        write_nested_recording(folder / "longer.gviz", NESTED),
        write_nested_recording(folder / "shorter.gviz", NESTED_SHORTENED),
    )


def test_bodies_in_a_node_that_is_gone_open_in_place(
    page: Page, nested: Site, graph_page: GraphPage, state: Callable[[str], dict[str, Any]]
) -> None:
    open_page(page, nested, "compare?a=longer&b=shorter")
    ready(state)
    whole = state("dag")["nodeCount"]
    ways = ways_of(page)
    # The one that is gone has a number beyond those of all nodes after.
    gone = max(int(key) for key in ways["inside"] if int(key) in _drawn(ways, 0))
    child = max(int(key) for key in ways["inside"])
    graph_page.click_node("compare-dag", gone)
    page.get_by_role("button", name="Open its bodies").click()
    eventually(lambda: state("dag").get("nodeCount") == whole + 1, "what it held")
    spot = locate(page, child, "compare-dag")
    page.mouse.dblclick(spot["x"], spot["y"])
    eventually(lambda: state("dag").get("nodeCount") == whole + 3, "the child graph in that")
    assert [frame["node"] for frame in state("dag")["frames"]] == [gone, child]
    # Closed, what was in it is found at it, and shown where it is.
    graph_page.click_node("compare-dag", gone)
    page.get_by_role("button", name="Close its bodies").click()
    eventually(lambda: state("dag").get("nodeCount") == whole, "closed")
    graph_page.click_node("compare-timeline", child + 1)
    page.get_by_role("button", name="Show it where it is").click()
    eventually(lambda: len(state("dag").get("frames", [])) == 2, "both bodies")
    assert state("dag")["selected"] == [child + 1]
    page.locator("#compare-level").click()
    page.get_by_role("option", name="only in A").last.click()
    eventually(lambda: state("dag").get("nodeCount") == 2, "the innermost alone")
    page.get_by_role("button", name="Out of the body").click()
    eventually(lambda: state("dag").get("nodeCount") == 3, "out of it, where it is open")


def _drawn(ways: dict[str, Any], level: int) -> set[int]:
    """Return the numbers of a level's nodes."""
    return {n for first, last in ways["nodes"][str(level)] for n in range(first, last + 1)}


def test_choices_lead_to_a_comparison(page: Page, site: Site) -> None:
    site.open(page, "")
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.locator(".gv-compare-message")).to_contain_text("Choose a recording before")
    choose_recording(page, "a", "short")
    choose_recording(page, "b", "long")
    verdict_says(page, "The launch ")


def test_no_launch_on_one_side_is_reported_in_the_timeline(
    page: Page, site: Site, state: Callable[[str], dict[str, Any]]
) -> None:
    open_page(page, site, "compare?a=decode_step_again&b=untimed&graph=1:1")
    ready(state)
    verdict_says(page, "No launch was timed after")
    assert list(state("timeline")["sides"]) == ["graph"]


def test_page_is_accessible(page: Page, site: Site, state: Callable[[str], dict[str, Any]]) -> None:
    page.set_viewport_size({"width": 1400, "height": 2400})
    open_page(page, site)
    ready(state)
    eventually(lambda: page.locator(".gv-chart .bglayer").count() == 1, "the waterfall is drawn")
    expect_accessible(page)


@pytest.mark.installed
@pytest.mark.quick
def test_trend_leads_from_run_to_run(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 1400, "height": 2400})
    site.open(page, "")
    page.get_by_role("link", name="Trend").click()
    page.locator("#report-trend-0").wait_for()
    eventually(lambda: page.locator(".gv-chart .bglayer").count() >= 1, "a chart is drawn")
    expect_accessible(page)
    page.get_by_role("link", name="Compare runs").first.click()
    verdict_says(page, "The launch ")
