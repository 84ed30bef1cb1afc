"""Folding in the browser: chosen, opened in place, closed again, kept in the address."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from canvas_page import locate
from recordings import FIRST_NODE_ID, transformer_shape, write_recording

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
LAYERS = 12
SHAPE = transformer_shape(layers=LAYERS)
GRAPH = "graph?file=long&graph=1"
#: A node of the last layer.
NODE = FIRST_NODE_ID + len(SHAPE.works) - 8


@pytest.fixture(scope="module")
def site(serve_beside: Serve, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("folds")
    return serve_beside(write_recording(folder / "long.gviz", SHAPE, launches=2))


def await_state(page: GraphPage, holds: Callable[[dict[str, Any]], bool]) -> None:
    """Wait until the DAG's state is as wanted."""
    for _ in range(300):
        state = page.state("dag")
        if state["ready"] and holds(state):
            return
        page.page.wait_for_timeout(100)
    raise AssertionError(f"still {state}")


def test_repeats_are_folded_opened_and_closed(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&fold=repeats")
    page = graph_page.page
    await_state(graph_page, lambda s: s["foldCount"] > 0)
    state = graph_page.state("dag")
    folded = state["nodeCount"]
    assert folded < 2 * len(SHAPE.works) / LAYERS
    graph_page.address_with("fold=repeats")
    graph_page.wait()  # a graph that is laid out anew moves what is clicked
    spot = locate(page, NODE)
    page.mouse.dblclick(spot["x"], spot["y"])
    await_state(graph_page, lambda s: s["nodeCount"] == folded - 1 + LAYERS)
    assert len(graph_page.state("dag")["open"]) == 1
    graph_page.wait_until(lambda: "open=" in page.url, "what is open in the address")
    page.reload()
    graph_page.wait()
    assert graph_page.state("dag")["nodeCount"] == folded - 1 + LAYERS
    page.mouse.click(locate(page, NODE)["x"], locate(page, NODE)["y"])
    page.locator("#dag canvas").press("x")
    await_state(graph_page, lambda s: s["nodeCount"] == folded)
    graph_page.address_with(without="open=")


def test_repeats_are_folded_at_first_with_one_block_open(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    page = graph_page.page
    state = graph_page.state("dag")
    assert state["open"] == ["first"]
    assert state["foldCount"] == 1
    assert state["sections"] == [
        {"name": "", "repeat": "layer 0..11", "block": "layer 0", "blocks": LAYERS}
    ]
    assert len(SHAPE.works) / LAYERS < state["nodeCount"] < len(SHAPE.works) / LAYERS + 20
    graph_page.address_with("fold=repeats", "open=first")
    page.mouse.dblclick(*locate(page, NODE).values())
    await_state(graph_page, lambda s: s["nodeCount"] == state["nodeCount"] + LAYERS - 2)
    graph_page.choose("folding", "No folds")
    await_state(graph_page, lambda s: s["nodeCount"] == len(SHAPE.works))
    page.reload()
    graph_page.wait()
    assert graph_page.state("dag")["nodeCount"] == len(SHAPE.works)


def test_fold_selects_all_its_nodes(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&fold=repeats")
    page = graph_page.page
    page.mouse.click(locate(page, NODE)["x"], locate(page, NODE)["y"])
    selected = graph_page.state("dag")["selected"]
    assert NODE in selected
    assert len(selected) > LAYERS
    assert graph_page.state("timeline")["selected"] == selected
    page.locator("#dag canvas").press("o")
    await_state(graph_page, lambda s: len(s["open"]) == 1)


def test_selection_survives_folding(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&fold=repeats&node={NODE}")
    assert graph_page.state("dag")["selected"] == [NODE]
    graph_page.choose("folding", "No folds")
    await_state(graph_page, lambda s: s["nodeCount"] == len(SHAPE.works))
    assert graph_page.state("dag")["selected"] == [NODE]


def test_tooltip_says_what_a_fold_holds(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&fold=repeats")
    page = graph_page.page
    page.mouse.move(locate(page, NODE)["x"], locate(page, NODE)["y"])
    tip = page.locator("#dag .gviz-canvas-tooltip").inner_text()
    assert f"{LAYERS} ×" in tip
    assert "one repeat" in tip
