"""The back button: pages, graphs, launches, layouts and colours are steps, selections are not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from canvas_page import choose as choose_option
from held_answers import hold, let_go
from playwright.sync_api import Page, expect
from recordings import FIRST_NODE_ID

if TYPE_CHECKING:
    from conftest import GraphPage, RequestsWith, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
LOOP = "graph?file=loop&graph=1"
NODE = FIRST_NODE_ID + 4
#: Requests for the graph in lanes.
LANES = re.compile(r"payload/dag.*layout=lanes")
#: Dash hears of going back once it has told of a selection: at times it runs what a page brought
#: along as late as that.
HEARS_LATE = """
    window.selectedMeanwhile = null;
    window.addEventListener("popstate", event => {
        if (window.selectedMeanwhile === null) return;
        if (event.isTrusted) {
            window.gviz.bus.group("graph-page").select([window.selectedMeanwhile]);
            setTimeout(() => {
                window.selectedMeanwhile = null;
                window.dispatchEvent(new PopStateEvent("popstate"));
            }, 300);
        }
        event.stopImmediatePropagation();
    }, { capture: true });
"""


@pytest.fixture(scope="module")
def site(serve: Serve, small_recording: Path, loop_recording: Path) -> Site:
    return serve(small_recording, loop_recording)


@pytest.fixture
def opened(graph_page: GraphPage, site: Site) -> GraphPage:
    """The graph page, reached from the Runs page as a person does."""
    open_graph(graph_page, site)
    return graph_page


def open_graph(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    site.open(page, "")
    page.locator("a.gv-graph-link", has_text="fork-join 3x4").first.click()
    graph_page.wait()
    graph_page.wait_until(lambda: "layout=" in page.url, "the whole state in the address")


def choose(page: Page, control: str, option: str) -> None:
    choose_option(page, control, option)


def layout(graph_page: GraphPage, name: str) -> None:
    graph_page.page.get_by_role("radiogroup", name="Layout").get_by_text(name).click()
    graph_page.wait_until(
        lambda: (
            graph_page.state("dag").get("layout", "") in ("", name.lower())
            and f"layout={name.lower()}" in graph_page.page.url
        ),
        f"layout {name}",
    )


def expect_runs(page: Page) -> None:
    page.get_by_role("heading", name="Runs", exact=True).wait_for()


def test_pages_are_steps(opened: GraphPage) -> None:
    page = opened.page
    page.locator("#trail").get_by_role("link", name="fork-join 3x4").click()
    page.get_by_role("heading", name="What measuring cost and lost").wait_for()
    page.go_back()
    opened.wait()
    page.go_back()
    expect_runs(page)
    page.go_forward()
    opened.wait()
    page.go_forward()
    page.get_by_role("heading", name="What measuring cost and lost").wait_for()


def test_selections_are_no_steps(opened: GraphPage) -> None:
    for node in (NODE, NODE + 1, NODE + 2):
        opened.click_node("dag", node)
        opened.expect_selected(node)
        opened.wait_until(lambda n=node: f"node={n}" in opened.page.url, "it is in the address")
    opened.page.go_back()
    expect_runs(opened.page)
    opened.page.go_forward()
    opened.wait()
    opened.expect_selected(NODE + 2)


def test_layouts_are_steps(opened: GraphPage) -> None:
    page = opened.page
    layout(opened, "Lanes")
    layout(opened, "Time")
    page.go_back()
    opened.wait_until(lambda: "layout=lanes" in page.url, "lanes again")
    opened.wait_until(lambda: opened.state("dag").get("ready"), "drawn")
    expect(page.get_by_role("radio", name="Lanes")).to_be_checked()
    page.go_back()
    opened.wait_until(lambda: "layout=structure" in page.url, "structure again")
    opened.wait_until(lambda: opened.state("dag").get("ready"), "drawn")
    expect(page.get_by_role("radio", name="Structure")).to_be_checked()
    page.go_back()
    expect_runs(page)


@pytest.mark.own_page
def test_what_dash_shows_before_it_hears_of_going_back_is_no_choice(
    graph_page: GraphPage, site: Site
) -> None:
    page = graph_page.page
    page.add_init_script(HEARS_LATE)  # before Dash listens
    open_graph(graph_page, site)
    before = page.url
    layout(graph_page, "Lanes")
    page.evaluate("node => { window.selectedMeanwhile = node; }", NODE)
    page.go_back()
    graph_page.wait_until(lambda: page.evaluate("window.selectedMeanwhile === null"), "back")
    graph_page.wait_until(lambda: graph_page.state("dag").get("layout") == "structure", "drawn")
    graph_page.wait()
    assert page.url == before


@pytest.mark.parametrize("times", [1, 2, 3])
def test_drawing_that_comes_after_going_back_is_no_choice(opened: GraphPage, times: int) -> None:
    page = opened.page
    before, structure = page.url, opened.state("dag")["layout"]
    for _ in range(times):
        drawings = hold(page, LANES)
        page.get_by_role("radiogroup", name="Layout").get_by_text("Lanes").click()
        opened.wait_until(lambda d=drawings: "layout=lanes" in page.url and d, "lanes asked for")
        page.go_back()
        opened.wait_until(lambda: page.url == before, "the address before")
        let_go(page, LANES, drawings)
        # Long enough for Dash to tell of it.
        page.wait_for_timeout(200)
        assert page.url == before
        opened.wait_until(lambda: opened.state("dag").get("layout") == structure, "back")
        opened.wait()
        assert page.url == before
    page.go_back()
    expect_runs(page)


def test_launches_and_colours_are_steps(opened: GraphPage) -> None:
    page = opened.page
    before = page.locator("#launch").input_value()
    choose(page, "launch", "#6 ·")
    opened.wait_until(lambda: "launch=7" in page.url, "launch 7")
    choose(page, "colour", "Kind")
    opened.wait_until(lambda: "colour=kind" in page.url, "colour by kind")
    opened.click_node("dag", NODE)
    opened.expect_selected(NODE)
    page.go_back()
    opened.wait_until(lambda: "colour=family" in page.url, "colour by family")
    opened.wait()
    assert "launch=7" in page.url
    assert opened.state("dag")["colour"] == "family"
    page.go_back()
    opened.wait_until(lambda: page.locator("#launch").input_value() == before, "the launch before")
    page.go_back()
    expect_runs(page)


def test_forward_leads_to_the_choice_again(opened: GraphPage) -> None:
    page = opened.page
    layout(opened, "Lanes")
    page.go_back()
    opened.wait_until(lambda: "layout=structure" in page.url, "structure again")
    opened.wait()
    page.go_forward()
    opened.wait_until(lambda: "layout=lanes" in page.url, "lanes")
    opened.wait_until(lambda: page.get_by_role("radio", name="Lanes").is_checked(), "lanes chosen")


def test_choice_after_going_back_starts_a_new_way(opened: GraphPage) -> None:
    page = opened.page
    layout(opened, "Lanes")
    page.go_back()
    opened.wait_until(lambda: "layout=structure" in page.url, "structure again")
    opened.wait()
    choose(page, "colour", "Kind")
    opened.wait_until(lambda: "colour=kind" in page.url, "colour by kind")
    assert "layout=structure" in page.url
    page.go_back()
    opened.wait_until(lambda: "colour=family" in page.url, "colour by family")
    assert "layout=structure" in page.url


def go_back_to_the_loop(graph_page: GraphPage) -> None:
    """Go back from the body of a loop to the graph that it is in."""
    graph_page.page.get_by_role("heading", name="while loop body").wait_for()
    graph_page.wait()
    graph_page.page.go_back()
    graph_page.page.get_by_role("heading", name="while loop", exact=True).wait_for()
    graph_page.wait()


def test_bodies_are_steps(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    site.open(page, "")
    page.locator("a.gv-graph-link", has_text="while loop").first.click()
    graph_page.wait()
    graph_page.click_node("dag", 1002)
    page.locator("#inspector").get_by_role("link", name="while loop body").click()
    go_back_to_the_loop(graph_page)
    graph_page.expect_selected(1002)


def test_selection_is_kept_by_who_leaves_at_once(
    graph_page: GraphPage, site: Site, console_may_say: list[str]
) -> None:
    # dash-ag-grid reads a table's selection 1 ms after a change, without a look for the table.
    console_may_say.append("Grid API function getSelectedRows() cannot be called")
    page = graph_page.page
    graph_page.open(site, LOOP)
    graph_page.click_node("dag", 1002)
    page.locator("#inspector").get_by_role("link", name="while loop body").wait_for()
    # In one task: Dash hears of the selection when the page is left.
    page.evaluate(
        """() => {
          gviz.bus.group("graph-page").select([1003]);
          document.querySelector("#inspector-body a[href*='graph=2']").click();
        }"""
    )
    go_back_to_the_loop(graph_page)
    graph_page.expect_selected(1003)


def test_graph_chosen_over_the_page_is_a_step(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    site.open(page, "")
    page.locator("a.gv-graph-link", has_text="while loop").first.click()
    graph_page.wait()
    choose(page, "graph-choice", "while loop body")
    go_back_to_the_loop(graph_page)


def test_cards_and_table_are_steps(page: Page, site: Site) -> None:
    site.open(page, "")
    page.get_by_role("link", name="Table").click()
    page.locator("#runs-table .ag-row").first.wait_for()
    page.go_back()
    page.locator("article.gv-card").first.wait_for()
    expect(page.locator("#runs-table")).to_have_count(0)


def test_opening_a_graph_from_its_address_adds_no_step(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    site.open(page, "")
    expect_runs(page)
    page.goto(site.address("graph?file=small&graph=1"))
    graph_page.wait()
    graph_page.wait_until(lambda: "layout=" in page.url, "the whole state in the address")
    page.go_back()
    expect_runs(page)


def test_back_on_one_graph_needs_no_answer_of_the_server(
    opened: GraphPage, requests_with: RequestsWith
) -> None:
    page = opened.page
    layout(opened, "Lanes")
    opened.page.evaluate("() => { window.mark = document.querySelector('#dag canvas'); }")
    asked = requests_with("")
    page.go_back()
    opened.wait_until(lambda: opened.state("dag").get("layout") == "structure", "structure again")
    assert not [url for url in asked if "_dash-update-component" in url or "/page/" in url]
    assert page.evaluate("window.mark === document.querySelector('#dag canvas')")
