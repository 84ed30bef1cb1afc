"""The memory view: lifetimes along the launch, linked with the other views, on the same axis."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from memory_recordings import IDS, MIB, write_memory_recording

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
RECORDINGS = Path(__file__).resolve().parents[2] / "assets" / "recordings"
GRAPH = "graph?file=memory&graph=1"


@pytest.fixture(scope="module")
def site(
    serve_beside: Serve,
    memory_recording: Path,
    tmp_path_factory: pytest.TempPathFactory,
    small_recording: Path,
) -> Site:
    folder = tmp_path_factory.mktemp("memory")
    untimed = write_memory_recording(folder / "untimed.gviz", launches=0, samples=False)
    return serve_beside(
        memory_recording, untimed, small_recording, RECORDINGS / "training_step.gviz"
    )


def memory(page: GraphPage) -> dict[str, Any]:
    return page.drawn("memory")


def bar(page: GraphPage, alloc: str) -> dict[str, Any]:
    """Return what the view says of the memory that a node allocates."""
    found: dict[str, Any] = next(b for b in memory(page)["bars"] if b["alloc"] == IDS[alloc])
    return found


def choose(page: GraphPage, panel: str) -> None:
    page.page.locator("#panel").get_by_text(panel, exact=True).click()
    page.page.locator(f"#{panel.lower()} canvas").wait_for(state="visible")
    page.wait_until(lambda: page.state(panel.lower())["ready"], f"{panel} drawn")


@pytest.mark.installed
@pytest.mark.quick
def test_memory_takes_the_timelines_place_and_stays_in_the_address(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, GRAPH)
    page = graph_page.page
    assert not page.locator("#memory canvas").is_visible()
    choose(graph_page, "Memory")
    assert not page.locator("#timeline canvas").is_visible()
    graph_page.wait_until(lambda: "panel=memory" in page.url, "the panel in the address")
    graph_page.wait_until(
        lambda: "3.00 MiB used" in page.locator("#memory-facts").inner_text(), "facts"
    )
    page.reload()
    graph_page.wait()
    assert memory(graph_page)["sections"] == [
        "Allocated along the launch",
        "Pool for graphs, over the run",
    ]
    assert memory(graph_page)["lines"] == ["most used (pool)", "reserved (pool)"]
    choose(graph_page, "Timeline")
    graph_page.wait_until(lambda: "panel=" not in page.url, "no panel in the address")


def test_bars_are_read_pointed_at_and_selected(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&panel=memory")
    expect_bars_to_say_what_they_are(graph_page)
    expect_bars_to_reach_the_edge(graph_page)
    expect_bar_to_select_its_nodes(graph_page)
    expect_node_to_show_its_bars(graph_page)
    graph_page.page.locator("#dag canvas").press("Escape")
    graph_page.page.mouse.move(0, 0)
    graph_page.wait_until(lambda: not memory(graph_page)["selected"], "nothing selected")
    expect_keys_to_go_from_bar_to_bar(graph_page)


def expect_bars_to_say_what_they_are(graph_page: GraphPage) -> None:
    """Read places, and the words of a tooltip."""
    a, b, c = (bar(graph_page, f"alloc {n}") for n in "abc")
    # c is where a was, after it; b is after a in memory, and lives longer.
    assert a["box"]["y"] == c["box"]["y"] < b["box"]["y"]
    assert a["end"] <= c["start"] < b["end"]
    assert a["box"]["h"] * 2 == pytest.approx(b["box"]["h"], abs=0.01)
    assert memory(graph_page)["peak"]["bytes"] == 11 * MIB
    spot = graph_page.page.evaluate(
        "id => document.querySelector('#memory canvas').gvizLocate(id)", IDS["alloc c"]
    )
    graph_page.page.mouse.move(spot["x"], spot["y"])
    text = graph_page.page.locator("#memory .gviz-canvas-tooltip").inner_text()
    for words in ("512 KiB at 0x302000000", "(derived)", "also of 1 other allocation"):
        assert words in text


def expect_bars_to_reach_the_edge(graph_page: GraphPage) -> None:
    """See what is not freed, and what was there before."""
    state = memory(graph_page)
    d = bar(graph_page, "alloc d")
    assert d["free"] is None
    assert math.isnan(d["end"])
    edge = graph_page.page.evaluate("document.querySelector('#memory canvas').clientWidth")
    assert d["box"]["x"] + d["box"]["w"] == pytest.approx(edge)
    given = next(b for b in state["bars"] if b["alloc"] is None)
    assert given["free"] == IDS["free elsewhere"]
    assert math.isnan(given["start"])


def expect_bar_to_select_its_nodes(graph_page: GraphPage) -> None:
    """Click a bar."""
    graph_page.click_node("memory", IDS["alloc b"])
    wanted = [IDS[n] for n in ("alloc b", "fill b", "join", "reuse", "free b")]
    graph_page.wait_until(lambda: graph_page.selected_rows() == sorted(wanted), "rows selected")
    assert sorted(graph_page.state("dag")["selected"]) == sorted(wanted)
    graph_page.wait_until(lambda: "5 nodes selected" in graph_page.inspected(), "sums")
    assert memory(graph_page)["bars"][memory(graph_page)["current"]]["alloc"] == IDS["alloc b"]


def expect_node_to_show_its_bars(graph_page: GraphPage) -> None:
    """Click a node."""
    graph_page.click_node("dag", IDS["reuse"])
    graph_page.wait_until(lambda: memory(graph_page)["selected"] == [IDS["reuse"]], "selected")
    involved = {b["alloc"] for b in memory(graph_page)["bars"] if b["involved"]}
    assert involved == {IDS["alloc b"], IDS["alloc c"]}


def expect_keys_to_go_from_bar_to_bar(graph_page: GraphPage) -> None:
    """Go from bar to bar, and leave by Escape."""
    graph_page.page.locator("#memory canvas").focus()
    graph_page.page.keyboard.press("ArrowDown")
    graph_page.page.keyboard.press("ArrowDown")
    graph_page.wait_until(lambda: memory(graph_page)["current"] == 1, "second bar")
    stated = graph_page.page.locator("#said")
    first = "2 of 5: 1.00 MiB at 0x302000000, allocated by node 1001"
    graph_page.wait_until(lambda: stated.inner_text().startswith(first), "bar said")
    assert graph_page.page.locator("#memory .gviz-canvas-tooltip").is_visible()
    graph_page.page.keyboard.press("Escape")
    graph_page.wait_until(lambda: memory(graph_page)["current"] == -1, "nothing")
    graph_page.wait_until(lambda: stated.inner_text() == "Nothing selected.", "nothing said")
    assert not graph_page.page.locator("#memory .gviz-canvas-tooltip").is_visible()


def test_launch_is_chosen_for_both(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&panel=memory&launch=1")
    before = bar(graph_page, "alloc a")["end"]
    graph_page.choose("launch", "#3 ")
    graph_page.wait_until(
        lambda: bar(graph_page, "alloc a")["end"] != before,
        "another launch",
    )
    choose(graph_page, "Timeline")
    assert graph_page.state("timeline")["sides"]["graph"]["total_ns"] == pytest.approx(
        memory(graph_page)["total"]
    )


def test_both_views_look_at_the_same_time(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, GRAPH)
    canvas = graph_page.page.locator("#timeline canvas")
    canvas.focus()
    for _ in range(4):
        graph_page.page.keyboard.press("+")
    wanted = graph_page.state("timeline")["transform"]
    choose(graph_page, "Memory")
    assert memory(graph_page)["transform"] == wanted
    graph_page.page.locator("#memory canvas").focus()
    graph_page.page.keyboard.press("+")
    moved = graph_page.wait_until(
        lambda: (
            memory(graph_page)["transform"]["k"] > wanted["k"] and memory(graph_page)["transform"]
        ),
        "zoomed",
    )
    choose(graph_page, "Timeline")
    graph_page.wait_until(
        lambda: graph_page.state("timeline")["transform"] == moved, "timeline follows"
    )


def test_without_times_the_axis_is_the_order(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=untimed&graph=1&panel=memory")
    state = memory(graph_page)
    assert (state["axis"], state["pool"]) == ("order", 0)
    assert bar(graph_page, "alloc a")["end"] == 4


def test_graph_without_memory_nodes_shows_what_its_nodes_are_given(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, "graph?file=training_step&graph=1&panel=memory")
    state = memory(graph_page)
    assert state["sections"] == ["Memory that nodes are given"]
    assert len(state["bars"]) == 92
    assert all(b["box"]["x"] + b["box"]["w"] > b["box"]["x"] for b in state["bars"])
    facts = graph_page.page.locator("#memory-facts")
    graph_page.wait_until(lambda: facts.inner_text(), "facts")
    text = facts.inner_text()
    assert "No node of this graph allocates or frees memory" in text
    assert "was not queried" in text
    assert "4.00 MiB" in text
    # More rows than fit: they are scrolled to.
    graph_page.page.locator("#memory canvas").focus()
    for _ in range(40):
        graph_page.page.keyboard.press("ArrowDown")
    graph_page.wait_until(lambda: memory(graph_page)["scroll"] > 0, "scrolled")


def test_recording_without_any_memory_says_so(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=small&graph=1&panel=memory")
    assert "No kernel arguments were recorded" in memory(graph_page)["message"]
    assert memory(graph_page)["bars"] == []
