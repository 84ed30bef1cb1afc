"""The application in a real browser: linked selection, addresses, theme, navigation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from app_recordings import write_imported_recording
from playwright.sync_api import Page, Route, expect
from recordings import FIRST_NODE_ID, transformer_shape, write_recording
from waiting import eventually

if TYPE_CHECKING:
    from conftest import GraphPage, RequestsWith, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
GRAPH = "graph?file=small&graph=1"
NODE = FIRST_NODE_ID + 4  # branch0_step0, a kernel
OTHER = FIRST_NODE_ID + 5


@pytest.fixture(scope="module")
def site(serve_beside: Serve, small_recording: Path) -> Site:
    return serve_beside(small_recording)


@pytest.fixture(scope="module")
def alone(serve: Serve, small_recording: Path) -> Site:
    """A site of one file, which begins with its graph; the quick tests have no other."""
    return serve(small_recording)


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_imported_recording(tmp_path_factory.mktemp("dump") / "dump.gviz")


@pytest.mark.installed
@pytest.mark.quick
def test_only_graph_is_opened_and_runs_lead_to_run_and_graph(
    page: Page, alone: Site, graph_page: GraphPage
) -> None:
    page.goto(alone.start)
    graph_page.wait()
    assert page.title() == "fork-join 3x4 – gviz"
    assert "code=" not in page.url
    page.locator("#trail").get_by_role("link", name="Runs").click()
    page.get_by_role("link", name="fork-join 3x4", exact=True).first.click()
    graph_page.wait()
    page.go_back()
    page.get_by_role("link", name="Run fork-join 3x4").click()
    page.get_by_role("heading", name="What measuring cost and lost").wait_for()
    page.locator("a.gv-graph-link", has_text="fork-join 3x4").first.click()
    graph_page.wait()
    page.go_back()
    page.get_by_role("heading", name="What measuring cost and lost").wait_for()


@pytest.mark.installed
@pytest.mark.quick
@pytest.mark.parametrize("view", ["dag", "timeline"])
def test_node_clicked_in_a_canvas_is_selected_everywhere(
    graph_page: GraphPage, alone: Site, view: str
) -> None:
    graph_page.open(alone, GRAPH)
    graph_page.click_node(view, NODE)
    graph_page.expect_selected(NODE)
    assert "branch0_step0" in graph_page.inspected()


def test_selections_from_every_view_reach_all(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    row = graph_page.page.locator("#nodes [data-row]").first
    node = int(row.get_attribute("data-row") or 0)
    row.locator("[data-field=name]").click()
    graph_page.expect_selected(node)
    graph_page.click_node("dag", NODE)
    graph_page.expect_selected(NODE)
    graph_page.page.locator(f"#nodes [data-row='{NODE}'] [data-field=name]").wait_for()
    graph_page.click_node("timeline", OTHER)
    graph_page.expect_selected(OTHER)
    graph_page.click_node("dag", NODE)
    graph_page.expect_selected(NODE)
    graph_page.page.locator("#inspector").get_by_role("button", name="branch0_step1").click()
    graph_page.expect_selected(OTHER)
    expect_panes_resized(graph_page)
    expect_search_to_filter(graph_page)


def test_several_nodes_are_summed(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&node={NODE},{OTHER}")
    graph_page.wait_until(lambda: "2 nodes selected" in graph_page.inspected(), "both summed")
    assert graph_page.state("dag")["selected"] == [NODE, OTHER]


def test_address_reproduces_the_view(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    graph_page.choose("colour", "Kind")
    graph_page.click_node("dag", NODE)
    graph_page.expect_selected(NODE)
    address = graph_page.address_with(f"node={NODE}", "colour=kind")
    graph_page.page.goto("about:blank")
    graph_page.page.goto(address)
    graph_page.wait()
    graph_page.expect_selected(NODE)
    assert graph_page.state("dag")["colour"] == "kind"


def test_shared_file_begins_with_what_is_shown(
    graph_page: GraphPage, site: Site, tmp_path: Path
) -> None:
    page = graph_page.page
    graph_page.open(site, f"{GRAPH}&launch=7&colour=kind")
    graph_page.click_node("dag", NODE)
    graph_page.expect_selected(NODE)
    with page.expect_download() as download:
        page.locator("#share-menu summary").click()
        page.locator("#share").click()
    assert download.value.suggested_filename == "fork-join-3x4.html"
    expect(page.locator("#share-note")).to_have_text("Saved as fork-join-3x4.html")
    download.value.save_as(tmp_path / "shared.html")
    page.goto((tmp_path / "shared.html").as_uri())
    graph_page.wait()
    graph_page.expect_selected(NODE)
    assert graph_page.state("dag")["colour"] == "kind"
    expect(page.locator("#launch")).to_have_value("7")
    assert page.locator("#share").count() == 0


def test_chosen_launch_is_shown_in_the_timeline(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&launch=3")
    with graph_page.page.expect_response(lambda r: "launch=7" in r.url) as answer:
        graph_page.choose("launch", "#6 ·")
    assert answer.value.status in (200, 304)
    graph_page.wait_until(lambda: "launch=7" in graph_page.page.url, "the launch in the address")


def expect_search_to_filter(graph_page: GraphPage) -> None:
    """Search by key: the table has the rows that are found."""
    graph_page.page.keyboard.press("/")
    graph_page.page.keyboard.type("join_kernel")
    rows = graph_page.page.locator("#nodes [data-row]")
    graph_page.page.locator(
        "#nodes [data-row] [data-field=name]", has_text="branch"
    ).first.wait_for(state="detached")
    assert rows.count() == 3


@pytest.mark.own_page
def test_page_is_used_before_dash_is_there_and_stays(page: Page, site: Site) -> None:
    held: list[Route] = []
    site.open(page, "")
    page.route("**/dash_renderer*", lambda route: held.append(route))
    page.goto(site.address(f"{GRAPH}&table=nodes"), wait_until="commit")
    early = page.locator(".gv-early")
    early.locator("#nodes [data-node]").first.wait_for()
    canvas = early.locator("#dag canvas")
    eventually(lambda: canvas.evaluate("c => c.gvizState().ready"), "the first picture")
    painted = canvas.evaluate("c => c.gvizState().painted_ms")
    canvas.evaluate("c => (window.firstCanvas = c)")
    row = early.locator("#nodes [data-node]").nth(2)
    node = int(row.get_attribute("data-node") or 0)
    row.click()
    page.locator("#inspector", has_text=f"node {node}").wait_for()
    assert "node=" not in page.url
    eventually(lambda: held, "Dash")
    for route in held:
        route.continue_()
    early.wait_for(state="detached")
    # The same canvas, as it was: nothing is fetched or drawn twice.
    assert page.locator("#dag canvas").evaluate("c => c === window.firstCanvas")
    state = page.locator("#dag canvas").evaluate("c => c.gvizState()")
    assert state["ready"]
    assert state["painted_ms"] == painted
    assert state["selected"] == [node]
    eventually(lambda: f"node={node}" in page.url, "the selection in the address")


@pytest.mark.own_page
def test_chart_library_is_loaded_only_for_a_chart(
    graph_page: GraphPage, site: Site, requests_with: RequestsWith
) -> None:
    loaded = requests_with("")
    graph_page.open(site, GRAPH)
    graph_page.click_node("dag", NODE)
    # The histogram is made of plain elements.
    bars = graph_page.page.locator("#inspector .gv-bars > div")
    bars.first.wait_for()
    assert any(box and box["height"] > 20 for box in (bar.bounding_box() for bar in bars.all()))
    assert not [u for u in loaded if "plotly" in u]
    graph_page.page.get_by_role("link", name="Report", exact=True).click()
    graph_page.page.locator(".js-plotly-plot").first.wait_for()
    assert [u for u in loaded if "plotly" in u]


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True)
def test_theme_follows_the_system_and_a_choice_is_remembered(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, GRAPH)
    assert graph_page.state("dag")["theme"] == "dark"
    graph_page.page.get_by_role("button", name="Switch between dark and light").click()
    graph_page.page.locator("html[data-mantine-color-scheme=light]").wait_for()
    graph_page.page.reload()
    graph_page.wait()
    assert graph_page.state("timeline")["theme"] == "light"


def expect_panes_resized(graph_page: GraphPage) -> None:
    """Move the bar between graph and timeline by keys."""
    bar = graph_page.page.get_by_role("separator", name="Resize graph and timeline")
    before = graph_page.page.locator("#dag").bounding_box()
    bar.focus()
    for _ in range(5):
        bar.press("ArrowRight")
    after = graph_page.page.locator("#dag").bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] > before["width"] + 50


def test_body_of_a_loop_is_reached_and_left(
    graph_page: GraphPage, serve_beside: Serve, loop_recording: Path
) -> None:
    graph_page.open(serve_beside(loop_recording), "graph?file=loop&graph=1")
    graph_page.click_node("dag", 1002)
    graph_page.page.locator("#inspector").get_by_role("link", name="while loop body").click()
    graph_page.page.get_by_role("heading", name="while loop body").wait_for()
    graph_page.wait()
    graph_page.page.get_by_text("One by one", exact=True).click()
    graph_page.click_node("dag", 2001)
    graph_page.expect_selected(2001)
    graph_page.page.locator("#trail").get_by_role("link", name="while loop").last.click()
    graph_page.page.locator("#kernels [data-row]", has_text="init_kernel").wait_for()


def test_import_without_times_says_so_and_links_dag_and_table(
    graph_page: GraphPage, serve_beside: Serve, dump: Path
) -> None:
    graph_page.open(serve_beside(dump), "graph?file=dump&graph=1")
    assert graph_page.page.get_by_text("No times: a DOT dump carries none").count() >= 1
    graph_page.click_node("dag", 2)
    graph_page.page.locator("#nodes [aria-selected=true][data-row='2']").wait_for()
    graph_page.page.locator("#inspector", has_text="Not timed").wait_for()


def test_graph_without_nodes_opens_with_a_word(page: Page, serve_beside: Serve, dump: Path) -> None:
    serve_beside(dump).open(page, "")
    page.get_by_role("link", name="nothing", exact=True).click()
    page.get_by_text("This graph has no nodes.").wait_for()


def test_graph_of_2500_nodes_is_linked_too(
    graph_page: GraphPage, serve_beside: Serve, tmp_path: Path
) -> None:
    path = write_recording(tmp_path / "linked.gviz", transformer_shape(166), launches=3)
    graph_page.open(serve_beside(path), "graph?file=linked&graph=1&fold=none")
    row = graph_page.page.locator("#nodes [data-row]").first
    node = int(row.get_attribute("data-row") or 0)
    row.locator("[data-field=name]").click()
    graph_page.expect_selected(node)


def test_application_works_under_a_prefix(
    graph_page: GraphPage, serve: Serve, small_recording: Path
) -> None:
    site = serve(small_recording, url_prefix="/user/me/proxy/1")
    graph_page.open(site, GRAPH)
    graph_page.click_node("dag", NODE)
    graph_page.expect_selected(NODE)
    assert graph_page.page.url.startswith(site.address("graph?"))
    assert "/user/me/proxy/1/" in site.address("")


@pytest.mark.parametrize(
    "path", ["", "run?file=small&run=1", f"{GRAPH}&node={NODE}"], ids=["runs", "run", "graph"]
)
def test_page_is_no_wider_than_its_window(page: Page, site: Site, path: str) -> None:
    page.set_viewport_size({"width": 1920, "height": 900})
    site.open(page, path)
    page.wait_for_selector("h1")
    for width in (1920, 1280, 640):
        page.set_viewport_size({"width": width, "height": 900})
        eventually(
            lambda width=width: (
                page.evaluate("window.innerWidth") == width
                and page.evaluate("document.documentElement.scrollWidth") <= width
            ),
            f"no wider than {width}",
        )
