"""Edges by what they carry, and where a buffer goes, in every layout and with folds."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from canvas_page import locate
from memory_recordings import IDS, MIB, POOL

from gviz.model.memory.edge_data import Common

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
RECORDINGS = Path(__file__).resolve().parents[2] / "assets" / "recordings"
GRAPH = "graph?file=memory&graph=1"
#: Nothing, allocation, looks, address: the edges of the memory recording.
KINDS = [4, 1, 0, 9]


@pytest.fixture(scope="module")
def site(serve_beside: Serve, memory_recording: Path, small_recording: Path) -> Site:
    bundled = [RECORDINGS / f"{name}.gviz" for name in ("cupy_pipeline", "training_step")]
    return serve_beside(memory_recording, small_recording, *bundled)


def data(page: GraphPage) -> dict[str, Any]:
    found: dict[str, Any] = page.state("dag").get("data", {})
    return found


def buffers(page: GraphPage) -> dict[str, Any]:
    return {b["letter"]: b for b in data(page)["buffers"]}


def links(buffer: dict[str, Any]) -> set[tuple[int, int]]:
    return {(a, b) for a, b in buffer["links"]}


def test_edges_are_distinguished_in_every_layout(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&layout=structure")
    for layout in ("time", "structure", "lanes"):
        graph_page.choose_layout(layout)
        assert data(graph_page) is None
        graph_page.page.get_by_label("Data").check()
        graph_page.wait_until(lambda: data(graph_page), "data")
        assert data(graph_page)["edges"] == KINDS
        graph_page.wait_until(lambda: "edges=data" in graph_page.page.url, "it is in the address")
        assert graph_page.state("dag")["layout"] == layout
        if layout == "lanes":
            graph_page.page.reload()
            graph_page.wait()
            assert data(graph_page)["edges"] == KINDS
        graph_page.page.get_by_label("Data").uncheck()
        graph_page.wait_until(lambda: data(graph_page) is None, "plain edges")
        graph_page.wait_until(lambda: "edges=" not in graph_page.page.url, "not in the address")


def test_edge_under_the_pointer_says_what_it_carries(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&edges=data&layout=structure")
    page = graph_page.page
    graph_page.at_rest("dag")
    # Nothing else stands between these two.
    ends = [locate(page, IDS[name]) for name in ("write d", "copy out")]
    page.mouse.move(ends[0]["x"], (ends[0]["y"] + ends[1]["y"]) / 2)
    graph_page.wait_until(lambda: data(graph_page)["hovered"] >= 0, "edge hovered")
    text = page.locator("#dag .gviz-canvas-tooltip").inner_text()
    for words in (
        "write_kernel → MEMCPY DtoH",
        "256 KiB",
        # The name of write_kernel declares a pointer to const.
        "reads it",
        f"{POOL + 3 * MIB:#x}",
    ):
        assert words in text
    page.mouse.move(ends[0]["x"] + 200, ends[0]["y"])
    graph_page.wait_until(lambda: data(graph_page)["hovered"] < 0, "edge left")


def test_edges_are_labelled_where_there_is_room(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&edges=data&layout=structure&node={IDS['write d']}")
    assert data(graph_page)["labels"] == 0
    graph_page.page.locator("#dag canvas").focus()
    graph_page.page.keyboard.press("z")
    graph_page.wait_until(lambda: data(graph_page)["labels"] > 0, "labels")


def test_selection_shows_where_its_buffers_go(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&edges=data&layout=structure&node={IDS['join']}")
    path = ["alloc a", "copy in", "join", "free a"]
    for layout in ("structure", "lanes", "time"):
        graph_page.choose_layout(layout)
        found = buffers(graph_page)
        assert list(found) == ["A", "B"]
        assert links(found["A"]) == {(IDS[a], IDS[b]) for a, b in pairwise(path)}
        # Joined without an edge between them; what is allocated at the same address later is
        # another.
        expected = {(IDS["alloc b"], IDS["join"]), (IDS["join"], IDS["free b"])}
        assert links(found["B"]) == expected


def test_inspector_names_buffers_by_the_same_letters(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&edges=data&node={IDS['reuse']}")
    letters = graph_page.page.locator("#inspector .gv-buffer").all_inner_texts()
    assert letters == list(buffers(graph_page)) == ["A", "B"]
    graph_page.page.locator("#inspector .gv-follow").nth(1).click()
    graph_page.wait_until(lambda: data(graph_page)["followed"], "followed")
    assert data(graph_page)["followed"] == f"{POOL + MIB:x}"
    assert list(buffers(graph_page)) == ["B"]


def test_inspector_has_inputs_and_outputs_that_lead_on(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&node={IDS['join']}")
    box = graph_page.page.locator("#inspector")
    words = " ".join(box.inner_text().split())
    assert "join_kernel(const float*, float*)" in words
    inputs = "const float*: reads at most 1.00 MiB (to the end of the allocation) at its start"
    assert inputs in words
    assert words.index("Inputs ") < words.index(inputs) < words.index("Inputs or outputs")
    # A click on who wrote it follows the data.
    box.locator(".gv-flow", has_text="Written by").first.locator("button").first.click()
    graph_page.wait_until(lambda: f"node={IDS['copy in']}" in graph_page.page.url, "the copy")


def test_followed_address_is_in_the_address_and_ends_on_escape(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, f"{GRAPH}&edges=data&buffer={POOL:x}")
    (buffer,) = data(graph_page)["buffers"]
    # Both allocations at this address, not joined with one another.
    assert {IDS[n] for n in ("alloc a", "free a", "alloc c", "free c")} <= set(buffer["nodes"])
    assert (IDS["free a"], IDS["alloc c"]) not in links(buffer)
    graph_page.page.locator("#dag canvas").focus()
    graph_page.page.keyboard.press("Escape")
    graph_page.wait_until(lambda: data(graph_page)["buffers"] == [], "nothing followed")
    graph_page.wait_until(lambda: "buffer=" not in graph_page.page.url, "address")


def test_buffers_of_a_selection_are_followed_one_by_one(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&edges=data&node={IDS['join']}")
    graph_page.page.locator("#dag canvas").focus()
    seen = []
    for _ in range(3):
        graph_page.page.keyboard.press("a")
        seen.append([b["letter"] for b in data(graph_page)["buffers"]])
    assert seen == [["A"], ["B"], ["A", "B"]]


def test_keys_faster_than_the_screen_are_taken_one_by_one(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, f"{GRAPH}&edges=data")
    graph_page.page.locator("#dag canvas").focus()
    # No frame is painted between keys that come in one task, as when the machine is busy.
    seen = graph_page.page.locator("#dag canvas").evaluate(
        """(canvas, keys) => keys.map((key) => {
            canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            const { selected, data } = canvas.gvizState();
            return [selected, data.buffers.map((buffer) => buffer.letter)];
        })""",
        ["n"] * 5 + ["a"] * 3,
    )
    names = ["alloc a", "alloc b", "copy in", "fill b", "join", "join", "join", "join"]
    letters = [["A"], ["A"], ["A"], ["A"], ["A", "B"], ["A"], ["B"], ["A", "B"]]
    assert seen == [[[IDS[name]], own] for name, own in zip(names, letters, strict=True)]


def test_follow_button_switches_data_on(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"{GRAPH}&node={IDS['copy in']}")
    graph_page.page.locator("#inspector .gv-follow").first.click()
    graph_page.wait_until(lambda: data(graph_page), "data")
    assert data(graph_page)["followed"] == f"{POOL:x}.{MIB:x}"
    graph_page.wait_until(lambda: f"buffer={POOL:x}.{MIB:x}" in graph_page.page.url, "address")


def test_folds_carry_what_their_edges_carry(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=training_step&graph=1&edges=data&fold=repeats&layout=lanes")
    state = graph_page.state("dag")
    assert state["foldCount"] > 0
    assert sum(state["data"]["edges"]) == state["edgeCount"]
    assert state["data"]["edges"][Common.ADDRESS] > 0
    # A fold of many nodes has buffers too: those that go beyond it.
    graph_page.page.locator("#dag canvas").focus()
    graph_page.page.keyboard.press("ArrowDown")
    graph_page.wait_until(lambda: data(graph_page)["buffers"], "buffers of a fold")
    selected = set(graph_page.state("dag")["selected"])
    for buffer in data(graph_page)["buffers"]:
        assert set(buffer["nodes"]) - selected


def test_kernels_side_by_side_are_not_joined(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=cupy_pipeline&graph=1&edges=data&node=3")
    found = buffers(graph_page)
    shared = found["B"]
    assert len(shared["nodes"]) == 9
    # One node writes it, each branch reads it by itself: no arc from branch to branch.
    targets = Counter(b for _, b in shared["links"])
    assert set(targets.values()) == {1}
    assert len(shared["links"]) == 8
    assert found["C"]["nodes"] == [2, 3]


def test_recording_without_arguments_says_nothing_in_common(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, "graph?file=small&graph=1&edges=data&node=1005")
    state = graph_page.state("dag")
    assert state["data"]["edges"] == [state["edgeCount"], 0, 0, 0]
    assert state["data"]["buffers"] == []
