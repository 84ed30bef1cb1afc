"""The table: by kernel name, as CSV, and its part in linked selection and hover."""

from __future__ import annotations

import csv
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from app_recordings import measured
from canvas_page import locate, time_spot
from recordings import FIRST_NODE_ID, Shape, Work, fork_join_shape, write_recording

from gviz.app.files.library import Library
from gviz.app.views.graph_data import GraphView, graph_view

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
GRAPH = "graph?file=small&graph=1"
KERNELS = f"{GRAPH}&table=kernels"
SHAPE = fork_join_shape()
NODE = FIRST_NODE_ID + 4
SPLITS = {FIRST_NODE_ID + i for i, work in enumerate(SHAPE.works) if work.name == "split_kernel"}
#: Names that a spreadsheet would take for formulas.
FORMULAS = ("=SUM(A1:A9)", "+1", "-2", "@cmd", "\tTAB", 'plain, "quoted"\nname')


@pytest.fixture(scope="module")
def site(serve: Serve, small_recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Site:
    works = [Work(name, 2_000, (at - 1,) if at else ()) for at, name in enumerate(FORMULAS)]
    folder = tmp_path_factory.mktemp("table")
    formulas = write_recording(folder / "formulas.gviz", Shape("formulas", tuple(works)))
    return serve(small_recording, formulas)


@pytest.fixture(scope="module")
def view(small_recording: Path) -> GraphView:
    return graph_view(Library([small_recording]), "small", 1)


def shown(graph_page: GraphPage) -> dict[str, dict[str, str]]:
    """Return the rows by kernel name as they are shown: text by column, by name."""
    rows = graph_page.page.locator("#kernels [data-row]")
    lines = rows.evaluate_all(
        """rows => rows.map(row => Object.fromEntries(Array.from(
          row.querySelectorAll("[data-field]"), cell => [cell.dataset.field, cell.innerText])))"""
    )
    return {line["name"]: line for line in lines}


def open_kernels(graph_page: GraphPage, site: Site, path: str = KERNELS) -> None:
    """Open a page whose table is by kernel name."""
    graph_page.page.set_viewport_size({"width": 1600, "height": 1400})
    site.open(graph_page.page, path)
    graph_page.wait_until(lambda: shown(graph_page), "rows by kernel name")
    for canvas in ("dag", "timeline"):
        graph_page.wait_until(lambda v=canvas: graph_page.state(v)["ready"], f"{canvas} drawn")


def number(text: str) -> float:
    return float(text.replace(",", "").rstrip("%"))


# -- by kernel name --------------------------------------------------------------------


def test_totals_by_kernel_name_are_those_of_the_nodes(
    graph_page: GraphPage, site: Site, view: GraphView
) -> None:
    open_kernels(graph_page, site)
    rows = shown(graph_page)
    assert set(rows) == {work.name for work in SHAPE.works}
    known = measured(view)
    for name, row in rows.items():
        nodes = [n for n in view.nodes.values() if n.name == name]
        assert row["count"] == str(len(nodes))
        times = [known[n.node_id].median_ns / 1e3 for n in nodes if n.node_id in known]
        if not times:
            assert [row[c] for c in ("total_ns", "share", "median_ns", "min_ns")] == ["–"] * 4
            continue
        shares = [view.share_of_launch(n.node_id) or 0 for n in nodes]
        expected = {
            "total_ns": sum(times),
            "share": 100 * sum(shares),
            "median_ns": statistics.median(times),
            "min_ns": min(times),
            "max_ns": max(times),
        }
        found = {column: number(row[column]) for column in expected}
        # Three digits are shown, of a share one behind the point.
        share = found.pop("share"), expected.pop("share")
        assert share[0] == pytest.approx(share[1], rel=6e-3, abs=0.05)
        assert found == pytest.approx(expected, rel=6e-3)


def test_rows_are_sorted_by_their_sum(graph_page: GraphPage, site: Site) -> None:
    open_kernels(graph_page, site)
    cells = graph_page.page.locator("#kernels [data-row] [data-field=total_ns]")
    rows = graph_page.page.locator("#kernels [data-row]").evaluate_all(
        "rows => rows.map(row => [Number(row.getAttribute('aria-rowindex')),"
        " row.querySelector('[data-field=total_ns]').innerText])"
    )
    assert cells.count() == len(rows)
    sums = [0.0 if text == "–" else number(text) for _, text in sorted(rows)]
    assert sums == sorted(sums, reverse=True)


def test_switch_shows_either_table_and_is_in_the_address(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    page = graph_page.page
    page.get_by_text("By kernel name", exact=True).click()
    graph_page.wait_until(lambda: shown(graph_page), "rows by kernel name")
    assert not page.locator("#nodes").is_visible()
    graph_page.wait_until(lambda: "table=kernels" in page.url, "the table in the address")
    page.reload()
    graph_page.wait_until(lambda: shown(graph_page), "rows by kernel name")
    page.get_by_text("One by one", exact=True).click()
    page.locator("#nodes [data-row]").first.wait_for()
    assert not page.locator("#kernels").is_visible()
    graph_page.wait_until(lambda: "table=" not in page.url, "the table out of the address")


def test_row_selects_all_its_nodes_everywhere(
    graph_page: GraphPage, site: Site, view: GraphView
) -> None:
    open_kernels(graph_page, site)
    page = graph_page.page
    page.locator("#kernels [data-field=name]:text-is('split_kernel')").click()
    graph_page.wait_until(lambda: set(graph_page.state("dag")["selected"]) == SPLITS, "selection")
    assert set(graph_page.state("timeline")["selected"]) == SPLITS
    page.locator("#inspector", has_text="3 nodes selected").wait_for()
    graph_page.wait_until(
        lambda: shown(graph_page)["split_kernel"]["count"] == "3 of 3", "all counted as selected"
    )
    assert page.locator("#kernels [aria-selected=true]").count() == 1
    page.locator("#kernels [data-field=name]:text-is('join_kernel')").click(modifiers=["Control"])
    graph_page.wait_until(lambda: len(graph_page.state("dag")["selected"]) == 6, "both names")
    known = measured(view)
    total = sum(
        known[n.node_id].median_ns
        for n in view.nodes.values()
        if n.name in ("split_kernel", "join_kernel")
    )
    page.locator("#inspector", has_text="6 nodes selected").wait_for()
    assert f"{total / 1e3:.3g}" in graph_page.inspected()


def test_selection_elsewhere_is_counted_in_the_row(graph_page: GraphPage, site: Site) -> None:
    open_kernels(graph_page, site)
    graph_page.click_node("dag", min(SPLITS))
    graph_page.wait_until(
        lambda: shown(graph_page)["split_kernel"]["count"] == "1 of 3", "one counted as selected"
    )
    # Part of a row's nodes is not the row.
    assert graph_page.page.locator("#kernels [aria-selected=true]").count() == 0
    assert graph_page.state("dag")["selected"] == [min(SPLITS)]


@pytest.mark.parametrize("way", ["button", "double click", "Enter"])
def test_row_opens_its_nodes(graph_page: GraphPage, site: Site, way: str) -> None:
    open_kernels(graph_page, site)
    page = graph_page.page
    row = page.locator("#kernels [data-row]:has([data-field=name]:text-is('split_kernel'))")
    if way == "button":
        row.get_by_role("button", name="Show only the nodes of split_kernel").click()
    elif way == "double click":
        row.locator("[data-field=name]").dblclick()
    else:
        row.locator("[data-field=name]").click()
        page.keyboard.press("Enter")
    page.locator("#nodes [data-row]").first.wait_for()
    graph_page.wait_until(
        lambda: (
            {
                int(found.get_attribute("data-row") or 0)
                for found in page.locator("#nodes [data-row]").all()
            }
            == SPLITS
        ),
        "only the nodes of the row",
    )
    assert set(graph_page.state("dag")["filtered"]) == SPLITS
    page.get_by_role("button", name="3 of 47 nodes").click()
    graph_page.wait_until(lambda: graph_page.state("dag")["filtered"] is None, "filter taken away")


def test_search_and_brush_narrow_the_groups(graph_page: GraphPage, site: Site) -> None:
    open_kernels(graph_page, site)
    page = graph_page.page
    page.locator("#search").fill("step1")
    graph_page.wait_until(
        lambda: set(shown(graph_page)) == {f"branch{n}_step1" for n in range(4)}, "groups of search"
    )
    # They keep their colour in the graph, and Enter walks through them.
    hits = set(graph_page.state("dag")["kept"])
    assert len(hits) == 12
    page.locator("#search").press("Enter")
    (first_hit,) = graph_page.state("dag")["selected"]
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+Enter")
    assert graph_page.state("timeline")["selected"] == [first_hit]
    assert first_hit in hits
    page.keyboard.press("Escape")
    assert graph_page.state("dag")["kept"] is None
    graph_page.wait_until(lambda: len(shown(graph_page)) > 10, "all groups again")
    first, last = time_spot(page, 0), time_spot(page, 40_000)
    page.mouse.move(*first)
    page.keyboard.down("Alt")
    page.mouse.down()
    page.mouse.move(*last, steps=4)
    page.mouse.up()
    page.keyboard.up("Alt")
    graph_page.wait_until(lambda: graph_page.state("dag")["filtered"], "the brush")
    graph_page.wait_until(
        lambda: (
            sum(int(row["count"]) for row in shown(graph_page).values())
            == len(graph_page.state("dag")["filtered"])
        ),
        "groups of the brushed nodes",
    )


# -- CSV -------------------------------------------------------------------------------


def saved(graph_page: GraphPage) -> tuple[str, list[dict[str, str]]]:
    """Press CSV; return the file's name and its rows."""
    with graph_page.page.expect_download() as download:
        graph_page.page.locator("#share-menu summary").click()
        graph_page.page.locator("#save-csv").click()
    text = download.value.path().read_text("utf-8-sig")
    return download.value.suggested_filename, list(csv.DictReader(text.splitlines(keepends=True)))


def test_groups_are_saved_as_csv(graph_page: GraphPage, site: Site, view: GraphView) -> None:
    open_kernels(graph_page, site)
    name, lines = saved(graph_page)
    assert name.endswith("-kernels.csv")
    assert "open" not in lines[0]
    assert sum(int(line["count"]) for line in lines) == len(view.nodes)
    total = sum(s.median_ns for s in measured(view).values())
    assert sum(float(line["total_ns"] or 0) for line in lines) == pytest.approx(total)


def test_names_that_look_like_formulas_are_text_in_csv(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=formulas&graph=1")
    _, lines = saved(graph_page)
    names = {int(line["node"]) - FIRST_NODE_ID: line["name"] for line in lines}
    found = [names[at].replace("\r\n", "\n") for at in range(len(FORMULAS))]
    assert found == [*(f"'{name}" for name in FORMULAS[:5]), FORMULAS[5]]
    assert all(float(line["median_ns"]) > 0 for line in lines)


# -- hover -----------------------------------------------------------------------------


def pointed(graph_page: GraphPage, where: str) -> Any:
    return graph_page.page.locator(f"{where} .gv-pointed")


def test_hover_of_a_row_is_shown_in_both_canvases(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    row = graph_page.page.locator("#nodes [data-row]").nth(2)
    node = int(row.get_attribute("data-row") or 0)
    row.locator("[data-field=name]").hover()
    graph_page.wait_until(lambda: graph_page.state("dag")["hovered"] == node, "hover in the graph")
    assert graph_page.state("timeline")["hovered"] == node
    graph_page.page.locator("h1").first.hover()
    graph_page.wait_until(lambda: graph_page.state("dag")["hovered"] is None, "hover ended")


@pytest.mark.parametrize("canvas", ["dag", "timeline"])
def test_hover_of_a_canvas_is_shown_in_the_table(
    graph_page: GraphPage, site: Site, canvas: str
) -> None:
    graph_page.open(site, GRAPH)
    page = graph_page.page
    page.locator("#search").fill("branch0_step0")
    page.locator(f"#nodes [data-row='{NODE}']").first.wait_for()
    spot = locate(page, NODE, canvas)
    page.mouse.move(spot["x"], spot["y"])
    graph_page.wait_until(
        lambda: (
            pointed(graph_page, "#nodes").count()
            and {row.get_attribute("data-row") for row in pointed(graph_page, "#nodes").all()}
            == {str(NODE)}
        ),
        "the row pointed at",
    )
    page.mouse.move(5, 5)
    graph_page.wait_until(lambda: not pointed(graph_page, "#nodes").count(), "no row pointed at")


def test_neighbour_in_the_inspector_is_pointed_at_by_mouse_and_focus(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, f"{GRAPH}&node={NODE}")
    pick = graph_page.page.locator("#inspector").get_by_role("button", name="branch0_step1")
    pick.hover()
    graph_page.wait_until(lambda: graph_page.state("dag")["hovered"] == NODE + 1, "hover by mouse")
    graph_page.page.locator("h1").first.hover()
    graph_page.wait_until(lambda: graph_page.state("dag")["hovered"] is None, "hover ended")
    pick.focus()
    graph_page.wait_until(lambda: graph_page.state("dag")["hovered"] == NODE + 1, "hover by focus")
    assert pointed(graph_page, "#inspector").count() == 1
