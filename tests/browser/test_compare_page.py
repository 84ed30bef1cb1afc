"""The Compare page in a real browser: chosen, drawn, one selection, tables, bodies and address."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from accessible import expect_accessible
from canvas_page import locate
from nested_recordings import NESTED, NESTED_SHORTENED, write_nested_recording
from playwright.sync_api import Page, expect
from recaptures import write_recaptures
from recordings import fork_join_shape, write_loop_recording, write_recording
from waiting import eventually

from gviz.app.components.addresses import Sides
from gviz.app.files.library import Library
from gviz.app.pages.compare.comparison import compare_sides

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
COMPARE = "compare?a=decode_step_again&b=decode_step_fused"
#: The attention that was fused: the first node of the table.
REPLACED = 40


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("loops")
    short = write_loop_recording(folder / "short.gviz", iterations=3)
    return short, write_loop_recording(folder / "long.gviz", iterations=5)


@pytest.fixture(scope="module")
def site(serve: Serve, loops: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("compare")
    return serve(
        *write_recaptures(folder),
        *loops,
        write_recording(folder / "untimed.gviz", fork_join_shape(), launches=0),
    )


def _holding(before: Path, after: Path) -> list[int]:
    """Return the numbers of the nodes that hold bodies, ascending."""
    sides = Sides(before.stem, after.stem, 1, None)
    return sorted(compare_sides(Library([before, after]), sides).page.bodies)


def verdict_says(page: Page, words: str) -> None:
    verdict = page.locator(".gv-verdict")
    expect(verdict).to_have_count(1)  # Trend's page has one a graph
    expect(verdict).to_contain_text(words)


@pytest.mark.installed
@pytest.mark.quick
def test_page_begins_with_a_sentence_and_the_waterfall(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    page.set_viewport_size({"width": 1400, "height": 2000})
    graph_page.open(site, COMPARE)
    verdict_says(page, "4 kernels became 1, 4.85 µs less, in 16 of 16 layers: −10.4% a launch.")
    bars = page.locator("#inspector .gv-waterfall-bar")
    eventually(lambda: bars.count() == 6, "the waterfall")
    ends = [box["x"] + box["width"] for bar in bars.all() if (box := bar.bounding_box())]
    assert ends[0] == max(ends)
    union = graph_page.state("dag")["union"]
    assert len(union["removed"]) == 48
    assert union["edges"] == {"both": 349, "removed": 64, "added": 16}
    sides = graph_page.state("timeline")["sides"]
    assert (sides["graph"]["count"], sides["stream"]["count"]) == (320, 272)
    # By kernel name: what changed most stands first.
    first = page.locator("#kernels [data-row]").first
    expect(first).to_contain_text("attention forward")
    expect(first).to_contain_text("−77.7")
    expect_accessible(page)
    # Waterfall and layer are read without scrolling where there is less room, too.
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(bars.last).to_be_in_viewport(ratio=1)
    expect(page.locator(".gv-layer-row").nth(6)).to_be_in_viewport(ratio=1)
    # Both times stand beside the change, and no column is cut at the edge.
    heads = page.locator("#kernels th").evaluate_all(
        """all => {
          const { right } = all[0].closest("#kernels").getBoundingClientRect();
          return all.map((x) => [x.textContent, x.getBoundingClientRect(), right]);
        }"""
    )
    assert {"A µs", "B µs"} <= {text for text, box, right in heads if box["right"] <= right + 1}
    assert all(box["left"] >= right - 1 or box["right"] <= right + 1 for _, box, right in heads)


def test_one_selection_for_dag_launches_table_and_inspector(
    graph_page: GraphPage, site: Site
) -> None:
    page = graph_page.page
    graph_page.open(site, f"{COMPARE}&table=nodes&layout=lanes&colour=kind&node=6")
    assert graph_page.state("dag")["layout"] == "lanes"
    assert graph_page.state("dag")["overlay"] == "kind"
    eventually(lambda: graph_page.selected_rows() == [6], "the row of the address")
    page.locator("#nodes [data-row]").first.click()
    eventually(
        lambda: all(
            graph_page.state(view).get("selected") == [REPLACED] for view in ("dag", "timeline")
        ),
        "selected in the canvases",
    )
    graph_page.wait_until(lambda: "node 49 → 40" in graph_page.inspected(), "the inspector")
    assert "What differs" in graph_page.inspected().replace("WHAT DIFFERS", "What differs")
    expect(page).to_have_url(re.compile(f"node={REPLACED}&"))
    page.get_by_role("link", name="node 49 of A").click()
    graph_page.wait()
    eventually(lambda: graph_page.state("dag").get("selected") == [49], "the node before")
    assert graph_page.state("timeline")["selected"] == [49]
    page.go_back()
    eventually(
        lambda: graph_page.state("dag").get("selected") == [REPLACED],
        "Back returns to the selection",
    )


def test_graph_leads_to_its_comparison_and_back(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    graph_page.open(site, f"graph?file=decode_step_fused&graph=1&node={REPLACED}")
    assert not page.locator("#colour option[value=ratio]").count()
    graph_page.choose("baseline", page.locator("#baseline option").nth(1).inner_text())
    expect(page).to_have_url(
        re.compile(r"compare\?a=decode_step_again&b=decode_step_fused&graph=1:1")
    )
    verdict_says(page, "4 kernels became 1")
    graph_page.wait()
    assert graph_page.state("dag")["changes"][str(REPLACED)]["arrow"] == "▼"
    assert "48 removed" in (page.locator("#dag-legend").text_content() or "")
    page.go_back()
    graph_page.wait()
    graph_page.expect_selected(REPLACED)
    site.open(page, "graph?file=decode_step_fused&graph=1&baseline=decode_step_again")
    expect(page).to_have_url(re.compile(r"compare\?a=decode_step_again&b=decode_step_fused"))


def test_tables_change_are_narrowed_and_saved(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    graph_page.open(site, COMPARE)
    page.locator("#kernels [data-row]").first.locator("td").first.dblclick()
    expect(page.locator("#filter-clear")).to_contain_text("64 of 320 nodes")
    expect(page).to_have_url(re.compile("table=nodes"))
    page.locator("#filter-clear").click()
    graph_page.choose("table-view", "Edges (16 added, 64 removed)")
    rows = page.locator("#kernels [data-field=to_node]")
    expect(rows.first).to_be_visible()
    expect(page).to_have_url(re.compile("table=edges"))
    with page.expect_download() as saved:
        page.locator("#share-menu summary").click()
        page.locator("#save-csv").click()
    lines = Path(saved.value.path()).read_text("utf-8-sig").strip().splitlines()
    assert lines[0].replace('"', "") == "what,from_node,from,to_node,to"
    assert len(lines) == 81
    page.locator("#search").fill("added")
    eventually(lambda: page.locator("#kernels [data-row]").count() == 16, "edges that were added")
    page.locator("#kernels [data-row]").first.click()
    eventually(lambda: len(graph_page.state("dag")["selected"]) == 2, "both ends selected")


def test_swap_is_undone_by_the_back_button(page: Page, site: Site) -> None:
    site.open(page, COMPARE)
    page.get_by_role("link", name="Swap").click()
    verdict_says(page, "slower by more than noise: +109 µs")
    page.go_back()
    verdict_says(page, "faster by more than noise: −109 µs")


def test_two_cards_are_picked_and_compared(page: Page, site: Site) -> None:
    page.goto(site.start)
    buttons = page.locator(".gv-compare-pick")
    buttons.nth(0).click()
    expect(buttons.nth(0)).to_have_attribute("aria-pressed", "true")
    buttons.nth(1).click()
    verdict_says(page, "−109 µs")
    named = "a=decode_step_again&b=decode_step_fused&graph=1:1"
    expect(page).to_have_url(re.compile(named))
    assert named in unquote(page.url)


def test_choices_lead_to_a_comparison_and_its_bodies(
    graph_page: GraphPage, site: Site, loops: tuple[Path, Path]
) -> None:
    page = graph_page.page
    page.goto(site.start)
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.locator(".gv-compare-message")).to_contain_text("Choose a recording before")
    graph_page.choose("compare-a", "short")
    expect(page.locator("#compare-b option[value$='/compare?a=short&b=long']")).to_be_attached()
    graph_page.choose("compare-b", "long")
    verdict_says(page, "The launch ")
    graph_page.wait()
    before = graph_page.state("dag")["nodeCount"]
    parent = _holding(*loops)[0]
    spot = locate(page, parent, "dag")
    page.mouse.dblclick(spot["x"], spot["y"])
    eventually(lambda: graph_page.state("dag").get("nodeCount", 0) > before, "the body")
    (frame,) = graph_page.state("dag")["frames"]
    expect(page).to_have_url(re.compile(f"open=n{parent}"))
    page.reload()
    graph_page.wait()
    eventually(lambda: len(graph_page.state("dag").get("frames", [])) == 1, "opened by the address")
    graph_page.click_node("dag", parent)
    page.get_by_role("button", name="Open or close its bodies").click()
    eventually(lambda: graph_page.state("dag").get("nodeCount") == before, "closed again")
    # A node of a closed body is shown where it is, and a body alone.
    graph_page.click_node("timeline", frame["nodes"][0])
    page.get_by_role("button", name="Show it where it is").click()
    eventually(lambda: len(graph_page.state("dag").get("frames", [])) == 1, "its body opened")
    graph_page.choose("level", page.locator("#level option").nth(1).inner_text())
    expect(page).to_have_url(re.compile("level=1"))
    eventually(lambda: graph_page.state("dag").get("nodeCount") == len(frame["nodes"]), "alone")
    page.go_back()
    eventually(lambda: graph_page.state("dag").get("nodeCount", 0) > before, "the graph again")


def test_bodies_in_a_node_that_is_gone_open_in_place(
    graph_page: GraphPage, serve: Serve, tmp_path: Path
) -> None:
    files = (
        write_nested_recording(tmp_path / "longer.gviz", NESTED),
        write_nested_recording(tmp_path / "shorter.gviz", NESTED_SHORTENED),
    )
    nested = serve(*files)
    page = graph_page.page
    graph_page.open(nested, "compare?a=longer&b=shorter")
    whole = graph_page.state("dag")["nodeCount"]
    # What is gone has numbers beyond those of all nodes after: the node, then what is in it.
    gone, child = _holding(*files)[-2:]
    graph_page.click_node("dag", gone)
    page.get_by_role("button", name="Open or close its bodies").click()
    eventually(lambda: graph_page.state("dag").get("nodeCount") == whole + 1, "what it held")
    spot = locate(page, child, "dag")
    page.mouse.dblclick(spot["x"], spot["y"])
    eventually(lambda: graph_page.state("dag").get("nodeCount") == whole + 3, "the child graph")
    assert [frame["node"] for frame in graph_page.state("dag")["frames"]] == [gone, child]


def test_no_launch_on_one_side_is_reported_in_the_timeline(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, "compare?a=decode_step_again&b=untimed&graph=1:1")
    verdict_says(graph_page.page, "No launch was timed after")
    assert list(graph_page.state("timeline")["sides"]) == ["graph"]
    assert graph_page.state("dag")["overlay"] == "family"


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True)
def test_changes_are_drawn_in_the_dark(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, COMPARE)
    assert graph_page.state("dag")["theme"] == "dark"
    assert graph_page.state("dag")["overlay"] == "change"


@pytest.mark.installed
def test_trend_leads_from_run_to_run(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 1400, "height": 2400})
    page.goto(site.start)
    page.get_by_role("link", name="Trend").click()
    page.locator("#report-trend-0").wait_for()
    eventually(lambda: page.locator(".gv-chart .bglayer").count() >= 1, "a chart is drawn")
    expect_accessible(page)
    page.get_by_role("link", name="Compare runs").first.click()
    verdict_says(page, "The launch ")
