"""The graph page with 7,000 and 66,000 nodes: what works with fifty works here too.

More than have layers unasked and than are drawn one by one from afar; more than 16 bits count, and
than have layers at all. What 100,000 take bench/page.py measures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from canvas_page import locate, time_spot
from memory_recordings import MIB, SEGMENT, with_buffers
from recordings import FIRST_NODE_ID, Shape, transformer_shape, write_recording

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True

PATIENCE_S = 120.0
#: Nodes of one decoder layer, and before the first.
LAYER, BEFORE = 15, 2
#: Place of the gate projection in its layer.
GATE = 10
#: What is asked of the graph while much of it is selected.
SELECTED_COUNT = "state => state.selected.length"
FILTERED_COUNT = "state => state.filtered?.length"
PAINTINGS = "state => state.paintings"


@dataclass(frozen=True, slots=True)
class Large:
    """A served recording of one graph."""

    site: Site
    name: str
    layers: int

    @property
    def count(self) -> int:
        """Nodes."""
        return BEFORE + LAYER * self.layers + 4

    @property
    def path(self) -> str:
        """Address of the graph's page."""
        return f"graph?file={self.name}&graph=1&fold=none"

    @property
    def middle(self) -> int:
        """A gate projection far from both ends."""
        return FIRST_NODE_ID + BEFORE + LAYER * (self.layers // 2) + GATE


@pytest.fixture(scope="module")
def large(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Large]:
    """66,006 nodes."""
    layers = 4_400
    yield from _large(serve, tmp_path_factory, layers, transformer_shape(layers), eager=True)


@pytest.fixture(scope="module")
def smaller(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Large]:
    """7,011 nodes, which have layers where these are asked for, each with a buffer."""
    layers = 467
    shape = with_buffers(transformer_shape(layers))
    yield from _large(serve, tmp_path_factory, layers, shape, eager=False)


def _large(
    serve: Serve,
    tmp_path_factory: pytest.TempPathFactory,
    layers: int,
    shape: Shape,
    *,
    eager: bool,
) -> Iterator[Large]:
    path = tmp_path_factory.mktemp("large") / "large.gviz"
    write_recording(path, shape, launches=1, eager=eager)
    yield Large(serve(path), "large", layers)
    path.unlink()


@pytest.fixture
def graph_page(graph_page: GraphPage) -> GraphPage:
    """A page that is waited for longer: what takes a second here may take a busy machine many."""
    graph_page.page.set_default_timeout(1000 * PATIENCE_S)
    return replace(graph_page, patience_s=PATIENCE_S)


def test_7000_nodes_have_layers_and_follow_their_buffers(
    graph_page: GraphPage, smaller: Large
) -> None:
    graph_page.open(smaller.site, f"{smaller.path}&edges=data")
    expect_all_in_lanes(graph_page, smaller)
    expect_buffers(graph_page)
    graph_page.choose_layout("structure")
    assert graph_page.state("dag")["nodeCount"] == smaller.count


def test_all_views_work_with_66000_nodes(graph_page: GraphPage, large: Large) -> None:
    graph_page.open(large.site, f"{large.path}&node={large.middle}")
    graph_page.expect_selected(large.middle)
    expect_ancestors_to_be_drawn(graph_page, large)
    expect_brush_and_groups(graph_page, large)
    graph_page.page.get_by_text("One by one", exact=True).click()
    expect_selection_to_go_round(graph_page, large)
    graph_page.page.locator("#dag canvas").press("Escape")
    graph_page.wait_until(lambda: not graph_page.ask("dag", SELECTED_COUNT), "nothing selected")
    expect_layouts(graph_page, large)
    expect_colours_and_folds(graph_page, large)


def expect_buffers(graph_page: GraphPage) -> None:
    """Colour all edges by what they carry, and follow the buffers of a node."""
    state = graph_page.state("dag")
    assert sum(state["data"]["edges"]) == state["edgeCount"] > 7_000
    graph_page.click_node("dag", FIRST_NODE_ID + 5_000)
    found = graph_page.wait_until(lambda: graph_page.state("dag")["data"]["buffers"], "buffers")
    step = 64 * MIB // 24 // 512 * 512
    assert f"{SEGMENT + 5_000 % 24 * step:x}" in {buffer["text"] for buffer in found}
    for buffer in found:
        assert len(buffer["nodes"]) > 280


def expect_all_in_lanes(graph_page: GraphPage, large: Large) -> None:
    """See all nodes at once, from afar, in the layout that so many have."""
    graph_page.wait_until(
        lambda: graph_page.state("dag").get("visible") == large.count, "all nodes on screen"
    )
    state = graph_page.state("dag")
    assert (state["layout"], state["level"]) == ("lanes", "far")
    assert state["nodeCount"] == large.count


def expect_layouts(graph_page: GraphPage, large: Large) -> None:
    """Choose each layout: layers, which so many do not have, are refused in words for lanes."""
    for layout, drawn in (("Time", "time"), ("Structure", "lanes")):
        graph_page.page.locator("#layout").get_by_text(layout, exact=True).click()
        if layout == "Structure":
            note = graph_page.page.locator("#dag .gviz-canvas-note")
            note.get_by_text("layers are drawn up to 40,000 nodes").wait_for()
        graph_page.drawn("dag", layout=drawn)
        assert graph_page.state("dag")["nodeCount"] == large.count
    graph_page.page.locator("#dag canvas").press("f")
    expect_all_in_lanes(graph_page, large)


def expect_colours_and_folds(graph_page: GraphPage, large: Large) -> None:
    """Colour by what is computed of all nodes, and fold them into few."""
    for label, overlay in (("Slack", "slack"), ("NVTX range", "nvtx")):
        graph_page.choose("colour", label)
        graph_page.drawn("dag", overlay=overlay)
    graph_page.choose("folding", "Fold repeats")
    graph_page.wait_until(lambda: graph_page.state("dag").get("nodeCount", 1e9) < 20, "folded")
    assert graph_page.state("dag")["foldCount"] == 1
    graph_page.choose("folding", "Fold NVTX")
    graph_page.drawn("dag", foldCount=large.layers)


def expect_ancestors_to_be_drawn(graph_page: GraphPage, large: Large) -> None:
    """Select all that the selected node waits for, and move the drawing meanwhile."""
    page = graph_page.page
    page.locator("#dag canvas").press("u")
    # All that were created before it: every node of a layer leads to the next.
    wanted = large.middle - FIRST_NODE_ID + 1
    graph_page.wait_until(
        lambda: graph_page.ask("dag", SELECTED_COUNT) == wanted, "all it waits for"
    )
    page.locator("#inspector", has_text="nodes selected").wait_for()
    for key in ("f", "+"):
        painted = graph_page.ask("dag", PAINTINGS)
        page.locator("#dag canvas").press(key)
        graph_page.wait_until(
            lambda before=painted: graph_page.ask("dag", PAINTINGS) > before,
            f"drawn after {key}, all selected",
        )
    page.locator("#dag canvas").press("Escape")
    graph_page.wait_until(lambda: "No node selected" in graph_page.inspected(), "nothing selected")


def expect_brush_and_groups(graph_page: GraphPage, large: Large) -> None:
    """Keep the nodes of a stretch of the timeline, and select those of a kernel among them."""
    page = graph_page.page
    total = graph_page.state("timeline")["sides"]["graph"]["total_ns"]
    first, last = time_spot(page, 0.2 * total), time_spot(page, 0.4 * total)
    page.mouse.move(*first)
    page.keyboard.down("Alt")
    page.mouse.down()
    page.mouse.move(*last, steps=4)
    page.mouse.up()
    page.keyboard.up("Alt")
    found = graph_page.wait_until(lambda: graph_page.ask("dag", FILTERED_COUNT), "the brush")
    assert 0.15 * large.count < found < 0.25 * large.count
    page.get_by_text("By family", exact=True).click()
    counts = page.locator("#kernels [data-row] [data-field=count]")
    total = "cells => cells.reduce((n, cell) => n + Number(cell.innerText.replaceAll(',', '')), 0)"
    graph_page.wait_until(lambda: counts.evaluate_all(total) == found, "families of those nodes")
    page.locator("#kernels [data-row] [data-field=name]").first.click()
    graph_page.wait_until(lambda: graph_page.ask("dag", SELECTED_COUNT), "nodes of a kernel")
    page.locator("#inspector", has_text="nodes selected").wait_for()
    page.locator("#filter-clear").click()
    graph_page.wait_until(lambda: graph_page.ask("dag", FILTERED_COUNT) is None, "all nodes again")


def expect_selection_to_go_round(graph_page: GraphPage, large: Large) -> None:
    """Select from the table, the inspector, the graph and the timeline: all views follow."""
    page = graph_page.page
    page.locator("#search").fill("lm_head")
    rows = page.locator("#nodes [data-row]")
    graph_page.wait_until(lambda: rows.count() == 1, "the search's row")
    rows.first.locator("[data-field=name]").click()
    last = FIRST_NODE_ID + large.count - 3
    graph_page.expect_selected(last)
    page.locator("#search").fill("")
    # From the inspector one back, to what the canvas shows beside it.
    page.locator("#inspector").get_by_role("button", name="rms_norm_kernel").click()
    graph_page.expect_selected(last - 1)
    page.locator("#dag canvas").press("ArrowDown")
    graph_page.expect_selected(last)
    spot = locate(page, last)
    page.mouse.move(spot["x"], spot["y"])
    tip = page.locator("#dag .gviz-canvas-tooltip")
    graph_page.wait_until(lambda: "gemv_bf16_lm_head" in tip.inner_text(), "the tooltip")
    assert graph_page.state("timeline")["hovered"] == last
    page.locator("#dag canvas").press("n")
    graph_page.expect_selected(last + 1)
    # Far out spans are merged; near enough each is one that can be stood on.
    before = graph_page.state("timeline")["transform"]["k"]

    def is_zoomed_in() -> bool:
        # The key does nothing while the spans of the selection are on their way.
        page.locator("#timeline canvas").press("z")
        return bool(graph_page.state("timeline")["transform"]["k"] > 100 * before)

    graph_page.wait_until(is_zoomed_in, "zoomed in")
    graph_page.wait_until(
        lambda: (graph_page.state("timeline")["detail"] or {"enough": True})["enough"], "detail"
    )
    page.locator("#timeline canvas").press("Shift+N")
    page.locator("#timeline canvas").press("Shift+N")
    graph_page.wait_until(lambda: graph_page.state("dag")["selected"] == [last], "one span back")
