"""The table: by kernel family, as CSV, and its part in linked selection and hover."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from app_recordings import measured
from canvas_page import locate, time_spot
from recordings import FIRST_NODE_ID, Shape, Work, fork_join_shape, write_recording

from gviz.app.files.library import Library
from gviz.app.views.graph_data import GraphView, graph_view
from gviz.text import duration

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

ONE_PAGE = True
GRAPH = "graph?file=small&graph=1"
SHAPE = fork_join_shape()
NODE = FIRST_NODE_ID + 4
SPLITS = {FIRST_NODE_ID + i for i, work in enumerate(SHAPE.works) if work.name == "split_kernel"}
#: Names that a spreadsheet would take for formulas.
FORMULAS = ("=SUM(A1:A9)", "+1", "-2", "@cmd", "\tTAB", 'plain, "quoted"\nname')


@pytest.fixture(scope="module")
def site(
    serve_beside: Serve, small_recording: Path, tmp_path_factory: pytest.TempPathFactory
) -> Site:
    works = [Work(name, 2_000, (at - 1,) if at else ()) for at, name in enumerate(FORMULAS)]
    folder = tmp_path_factory.mktemp("table")
    formulas = write_recording(folder / "formulas.gviz", Shape("formulas", tuple(works)))
    return serve_beside(small_recording, formulas)


@pytest.fixture(scope="module")
def view(small_recording: Path) -> GraphView:
    return graph_view(Library([small_recording]), "small", 1)


def shown(graph_page: GraphPage) -> dict[str, dict[str, str]]:
    """Return the rows of families in order: text by column, by name."""
    rows = graph_page.page.locator("#kernels .gv-row-group")
    lines = rows.evaluate_all(
        """rows => rows.map(row => Object.fromEntries(Array.from(
          row.querySelectorAll("[data-field]"), cell => [cell.dataset.field, cell.innerText])))"""
    )
    return {line["name"]: line for line in lines}


def open_families(graph_page: GraphPage, site: Site) -> None:
    """Open a page as it begins, with room for all rows."""
    graph_page.page.set_viewport_size({"width": 1600, "height": 1900})
    site.open(graph_page.page, GRAPH)
    graph_page.wait_until(lambda: shown(graph_page), "rows of families")
    for canvas in ("dag", "timeline"):
        graph_page.wait_until(lambda v=canvas: graph_page.state(v)["ready"], f"{canvas} drawn")


def number(text: str) -> float:
    return float(text.replace(",", "").rstrip("%"))


# -- by family -------------------------------------------------------------------------


def family(page: Page, name: str) -> Locator:
    """Return the row of a family."""
    return page.locator(f"#kernels .gv-row-group:has([data-field=name]:text-is('{name}'))")


def inside(page: Page) -> set[int]:
    """Return the nodes whose rows are drawn."""
    rows = page.locator("#kernels [data-node]").all()
    return {int(row.get_attribute("data-node") or 0) for row in rows}


def test_totals_of_families_are_those_of_their_nodes(
    graph_page: GraphPage, site: Site, view: GraphView
) -> None:
    open_families(graph_page, site)
    rows = shown(graph_page)
    known = measured(view)
    codes = view.families.code.tolist()
    members: dict[str, list[int]] = {}
    for node_id, code in zip(view.nodes, codes, strict=True):
        members.setdefault(view.families.labels[code], []).append(node_id)
    assert set(rows) == set(members)
    assert next(iter(rows)) == max(
        members, key=lambda name: sum(known[n].median_ns for n in members[name] if n in known)
    )
    for name, row in rows.items():
        nodes = members[name]
        assert row["count"] == str(len(nodes))
        times = [known[n].median_ns / 1e3 for n in nodes if n in known]
        if not times:
            assert [row[c] for c in ("total_ns", "share", "each")] == ["–"] * 3
            continue
        # Three digits are shown, of a share one behind the point.
        assert number(row["total_ns"]) == pytest.approx(sum(times), rel=6e-3)
        share = 100 * sum(view.share_of_launch(n) or 0 for n in nodes)
        assert number(row["share"]) == pytest.approx(share, rel=6e-3, abs=0.05)
        ends = [number(text) for text in row["each"].split(" – ")]
        assert [ends[0], ends[-1]] == pytest.approx([min(times), max(times)], rel=6e-3)


def test_family_selects_its_nodes_everywhere_and_the_foot_sums_them(
    graph_page: GraphPage, site: Site, view: GraphView
) -> None:
    open_families(graph_page, site)
    page = graph_page.page
    foot = page.locator("#table-sums")
    assert foot.inner_text().startswith(f"{len(view.nodes)} nodes, ")
    family(page, "split_kernel").locator("[data-field=name]").click()
    graph_page.wait_until(
        lambda: set(graph_page.state("dag").get("selected", [])) == SPLITS, "selection"
    )
    assert set(graph_page.state("timeline")["selected"]) == SPLITS
    page.locator("#inspector", has_text="3 nodes selected").wait_for()
    graph_page.wait_until(
        lambda: shown(graph_page)["split_kernel"]["count"] == "3 of 3", "all counted as selected"
    )
    assert page.locator("#kernels [aria-selected=true]").count() == 1
    family(page, "join_kernel").locator("[data-field=name]").click(modifiers=["Control"])
    known = measured(view)
    total = sum(
        known[n.node_id].median_ns
        for n in view.nodes.values()
        if n.name in ("split_kernel", "join_kernel")
    )
    words = f"6 of 47 nodes selected, {duration(total)}, "
    graph_page.wait_until(lambda: foot.inner_text().startswith(words), "the sum of both")
    page.locator("#inspector", has_text="6 nodes selected").wait_for()
    assert duration(total) in graph_page.inspected()
    # Only they are listed, and a click there leaves the selection as it is.
    page.get_by_text("Only selected", exact=True).click()
    graph_page.wait_until(
        lambda: set(shown(graph_page)) == {"split_kernel", "join_kernel"}, "only selected rows"
    )
    family(page, "join_kernel").locator("[data-field=name]").click()
    graph_page.wait_until(lambda: "only=selected" in page.url, "the switch in the address")
    page.reload()
    graph_page.wait_until(
        lambda: set(shown(graph_page)) == {"split_kernel", "join_kernel"}, "the same after reload"
    )
    assert foot.inner_text().startswith(words)


def test_selection_elsewhere_is_counted_in_the_family(graph_page: GraphPage, site: Site) -> None:
    open_families(graph_page, site)
    graph_page.click_node("dag", min(SPLITS))
    graph_page.wait_until(
        lambda: shown(graph_page)["split_kernel"]["count"] == "1 of 3", "one counted as selected"
    )
    # Part of a family is not the family.
    assert graph_page.page.locator("#kernels [aria-selected=true]").count() == 0
    assert graph_page.state("dag")["selected"] == [min(SPLITS)]


def test_families_open_by_keyboard_and_mouse_and_are_in_the_address(
    graph_page: GraphPage, site: Site
) -> None:
    open_families(graph_page, site)
    page = graph_page.page
    row = family(page, "split_kernel")
    row.locator("[data-field=name]").click()
    table = page.locator("#kernels [role=treegrid]")
    table.press("ArrowRight")
    graph_page.wait_until(lambda: inside(page) == SPLITS, "the nodes of the family")
    assert row.get_attribute("aria-expanded") == "true"
    table.press("ArrowRight")
    graph_page.wait_until(lambda: len(graph_page.state("dag")["selected"]) == 1, "the first node")
    (first,) = graph_page.state("dag")["selected"]
    assert first in SPLITS
    table.press("ArrowDown")
    table.press(" ")
    graph_page.wait_until(lambda: graph_page.state("dag")["selected"] == [], "none selected")
    table.press("ArrowLeft")
    graph_page.wait_until(
        lambda: set(graph_page.state("dag")["selected"]) == SPLITS, "the family again"
    )
    page.get_by_role("columnheader", name="Each µs").get_by_role("button").click()
    page.get_by_role("columnheader", name="Each µs").get_by_role("button").click()
    graph_page.wait_until(
        lambda: "families=" in page.url and "sort=max_ns" in page.url, "both in the address"
    )
    page.reload()
    graph_page.wait_until(lambda: inside(page) == SPLITS, "open after reload")
    head = page.get_by_role("columnheader", name="Each µs")
    assert head.get_attribute("aria-sort") == "ascending"
    row.locator(".gv-twist").click()
    graph_page.wait_until(lambda: not inside(page), "closed by mouse")
    row.locator("[data-field=name]").click()
    page.keyboard.press("Enter")
    graph_page.wait_until(lambda: inside(page) == SPLITS, "opened by Enter")
    table.press("ArrowLeft")
    graph_page.wait_until(lambda: not inside(page), "closed by the arrow")
    page.get_by_text("One by one", exact=True).click()
    page.locator("#nodes [data-row]").first.wait_for()
    assert not page.locator("#kernels").is_visible()
    graph_page.address_with("table=nodes", without="sort=")


def test_search_and_brush_narrow_the_groups(graph_page: GraphPage, site: Site) -> None:
    open_families(graph_page, site)
    page = graph_page.page
    page.locator("#search").fill("step1")
    graph_page.wait_until(
        lambda: set(shown(graph_page)) == {f"branch{n}_step1" for n in range(4)}, "groups of search"
    )
    # They keep their colour in the graph, and Enter walks through them.
    hits = set(graph_page.state("dag")["kept"])
    assert len(hits) == 12
    page.get_by_text("One by one", exact=True).click()
    graph_page.wait_until(lambda: page.locator("#nodes [data-row]").count() == 12, "hits only")
    page.locator("#search").fill("step2")
    page.get_by_text("By family", exact=True).click()
    graph_page.wait_until(
        lambda: set(shown(graph_page)) == {f"branch{n}_step2" for n in range(4)}, "narrowed too"
    )
    page.locator("#search").fill("step1")
    graph_page.wait_until(lambda: set(graph_page.state("dag")["kept"]) == hits, "hits as before")
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


def test_families_are_saved_as_csv(graph_page: GraphPage, site: Site, view: GraphView) -> None:
    open_families(graph_page, site)
    name, lines = saved(graph_page)
    assert name.endswith("-families.csv")
    assert {"min_ns", "max_ns"} < set(lines[0])
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


# -- searching ---------------------------------------------------------------------------


def test_enter_goes_to_a_hit_of_what_was_typed_however_soon_it_comes(
    graph_page: GraphPage, site: Site
) -> None:
    open_families(graph_page, site)
    last = FIRST_NODE_ID + len(SHAPE.works) - 1
    graph_page.page.evaluate(
        """text => {
          const field = document.getElementById("search");
          field.value = text;
          field.dispatchEvent(new Event("input"));
          field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
        }""",
        f"id:{last}",
    )
    graph_page.wait_until(lambda: graph_page.state("dag")["selected"], "a hit")
    assert graph_page.state("dag")["selected"] == [last]
