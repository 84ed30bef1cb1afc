"""A baseline in the viewer: chosen, drawn, told, and kept in the address."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from canvas_page import is_offered, locate
from recordings import FIRST_NODE_ID, Shape, transformer_shape, write_recording

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

SHAPE = transformer_shape(layers=3)
SLOW = 20
NODE = FIRST_NODE_ID + SLOW
AGAINST = "graph?file=after&graph=1&baseline=before&baseline_graph=1"


@pytest.fixture(scope="module")
def site(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("baseline")
    works = list(transformer_shape(layers=4).works)
    works[SLOW] = replace(works[SLOW], duration_ns=2 * works[SLOW].duration_ns)
    before = write_recording(folder / "before.gviz", SHAPE, launches=15, seed=1)
    later = Shape("later", tuple(works))
    after = write_recording(folder / "after.gviz", later, launches=15, seed=2)
    return serve(before, after)


def change(page: GraphPage, node: int) -> dict[str, Any]:
    """Return the DAG's text about a node's change."""
    found: dict[str, Any] = page.page.evaluate(
        "id => document.querySelector('#dag canvas').gvizState().changes[id]", str(node)
    )
    return found


def choose(page: GraphPage, name: str) -> None:
    page.choose("baseline", name)


def test_baseline_is_chosen_and_kept_in_the_address(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"graph?file=after&graph=1&node={NODE}&layout=lanes")
    choose(graph_page, "before: decode, 3 layers")
    graph_page.wait_until(
        lambda: "baseline=before&baseline_graph=1" in graph_page.page.url, "the address"
    )
    graph_page.wait_until(
        lambda: graph_page.state("dag").get("overlay") == "change", "the overlay of changes"
    )
    graph_page.expect_selected(NODE)
    assert graph_page.state("dag")["layout"] == "lanes"
    graph_page.page.reload()
    graph_page.wait()
    assert graph_page.state("dag")["overlay"] == "change"
    choose(graph_page, "none")
    graph_page.wait_until(
        lambda: graph_page.state("dag").get("overlay") == "family", "the usual overlay"
    )
    assert "baseline" not in graph_page.page.url
    graph_page.expect_selected(NODE)


def test_back_leads_to_the_page_without_the_baseline(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=after&graph=1")
    choose(graph_page, "before")
    graph_page.wait_until(lambda: "colour=change" in graph_page.page.url, "the address")
    graph_page.wait_until(
        lambda: graph_page.state("dag").get("overlay") == "change", "the page of the address"
    )
    graph_page.page.go_back()
    graph_page.wait_until(lambda: "baseline" not in graph_page.page.url, "the address before")


def test_changes_are_drawn_with_marks(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{AGAINST}&colour=change")
    assert change(graph_page, NODE) == {"verdict": "slower", "arrow": "▲", "calm": False}
    quiet = change(graph_page, FIRST_NODE_ID + 3)
    assert quiet == {"verdict": "noise", "arrow": "", "calm": True}
    stated = graph_page.page.locator("#dag-legend").text_content() or ""
    assert "Change against before" in stated
    assert "15 added" in stated
    assert "Arrows mark changes by more than noise" in stated


@pytest.mark.parametrize("layout", ["structure", "lanes", "time"])
def test_tooltip_shows_the_change(graph_page: GraphPage, site: Site, layout: str) -> None:
    graph_page.open(site, f"{AGAINST}&colour=change&layout={layout}&node={NODE}")
    spot = graph_page.wait_until(lambda: locate(graph_page.page, NODE), "the node on screen")
    graph_page.page.mouse.move(spot["x"], spot["y"])
    tip = graph_page.page.locator("#dag .gviz-canvas-tooltip")
    graph_page.wait_until(lambda: "in before" in tip.inner_text(), "the tooltip")
    assert "slower, by more than noise" in tip.inner_text()


def test_overlays_of_changes_need_a_baseline(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=after&graph=1&colour=change")
    assert graph_page.state("dag")["overlay"] == "family"
    assert not is_offered(graph_page.page, "colour", "Relative change")


def test_relative_change_is_chosen(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, AGAINST)
    graph_page.choose("colour", "Relative change")
    graph_page.wait_until(lambda: graph_page.state("dag")["overlay"] == "ratio", "the overlay")
    graph_page.wait_until(lambda: "colour=ratio" in graph_page.page.url, "it is in the address")
    assert "baseline=before" in graph_page.page.url
    stated = graph_page.page.locator("#dag-legend").text_content() or ""
    assert "%" in stated


def test_baseline_stays_while_other_choices_change(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{AGAINST}&colour=change")
    page = graph_page.page
    page.locator("#layout").get_by_text("Lanes", exact=True).click()
    graph_page.wait_until(lambda: graph_page.state("dag").get("layout") == "lanes", "lanes")
    graph_page.choose("folding", "Fold repeats")
    graph_page.wait_until(lambda: graph_page.state("dag").get("foldCount"), "folds")
    assert graph_page.state("dag")["overlay"] == "change"
    assert "baseline=before&baseline_graph=1" in page.url


def test_table_and_inspector_show_the_change(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{AGAINST}&colour=change")
    page = graph_page.page
    assert "Slower by more than noise (1)" in graph_page.inspected()
    # The slowest change comes first.
    first = page.locator("#nodes [data-row]").first
    assert first.get_attribute("data-row") == str(NODE)
    assert page.get_by_role("columnheader", name="Baseline µs").count() == 1
    page.get_by_role("button", name="gemv", exact=False).first.click()
    graph_page.expect_selected(NODE)
    graph_page.wait_until(
        lambda: "slower, by more than noise" in graph_page.inspected(), "the inspector"
    )


def test_baseline_that_is_not_open_is_reported(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=after&graph=1&baseline=nowhere&colour=change")
    note = graph_page.page.locator("#baseline-note")
    assert note.inner_text() == "No open recording is called nowhere: no baseline."
    assert graph_page.state("dag")["overlay"] == "family"


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True)
def test_changes_are_drawn_in_the_dark(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{AGAINST}&colour=change")
    assert graph_page.state("dag")["theme"] == "dark"
    assert graph_page.state("dag")["message"] == ""
