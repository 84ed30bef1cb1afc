"""Keys: the help that lists them, and walks over the DAG."""

from __future__ import annotations

import csv
import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import pytest
from playwright.sync_api import expect
from recordings import FIRST_NODE_ID, fork_join_shape

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
SHAPE = fork_join_shape()
EDGES = [
    (FIRST_NODE_ID + a, FIRST_NODE_ID + b) for b, work in enumerate(SHAPE.works) for a in work.after
]
DAG: nx.DiGraph[int] = nx.DiGraph(EDGES)
NODE = FIRST_NODE_ID + 5
LAST = max(DAG)


@pytest.fixture(scope="module")
def site(serve_beside: Serve, small_recording: Path) -> Site:
    return serve_beside(small_recording)


def press(graph_page: GraphPage, *keys: str) -> list[int]:
    """Press keys in the graph; return what is selected then."""
    for key in keys:
        graph_page.page.locator("#dag canvas").press(key)
    selected: list[int] = graph_page.state("dag")["selected"]
    return selected


def test_help_shows_the_keys_and_closes(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=small&graph=1")
    page = graph_page.page
    dialog = page.locator("#key-help")
    assert not dialog.is_visible()
    page.keyboard.press("?")
    assert dialog.is_visible()
    assert "along the critical path" in dialog.inner_text()
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    page.get_by_label("Show the keys").click()
    dialog.get_by_role("button", name="Close").click()
    assert not dialog.is_visible()
    expect_question_mark_to_be_searched_for(graph_page)


def command(graph_page: GraphPage, text: str) -> None:
    """Run the first command that has these words."""
    graph_page.page.keyboard.press("Control+k")
    graph_page.page.keyboard.type(text)
    graph_page.page.keyboard.press("Enter")


def test_commands_do_what_the_page_does_by_keyboard_alone(
    graph_page: GraphPage, site: Site
) -> None:
    graph_page.open(site, "graph?file=small&graph=1")
    page = graph_page.page
    spoken = page.locator("#said")
    command(graph_page, "layout lanes")
    graph_page.drawn("dag", layout="lanes")
    expect(spoken).to_have_text("Layout: Lanes.")
    command(graph_page, "colour median duration")
    graph_page.drawn("dag", colour="duration")
    command(graph_page, "graph: along the critical path")
    (node,) = graph_page.wait_until(lambda: graph_page.state("dag")["selected"], "a node selected")
    assert node in DAG
    command(graph_page, "room timeline")
    assert not page.locator("#dag").is_visible()
    command(graph_page, "room timeline")
    command(graph_page, "search the nodes")
    page.keyboard.type("branch0")
    expect(spoken).to_contain_text("hits, ")
    with page.expect_download() as download:
        command(graph_page, "timeline as png")
    assert download.value.suggested_filename.endswith("-timeline.png")
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Commands")
    page.keyboard.type("by family")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    palette.get_by_role("option", name="Rows of the table: By family").click()
    assert page.locator("#kernels").is_visible()
    assert not palette.is_visible()
    # What is no command is a search.
    command(graph_page, "node that there is not")
    expect(page.locator("#search")).to_be_focused()
    expect(page.locator("#search")).to_have_value("node that there is not")
    expect(page.locator("#row-count")).to_contain_text("hits")


def expect_question_mark_to_be_searched_for(graph_page: GraphPage) -> None:
    """Type it in the search: no help is shown."""
    graph_page.page.keyboard.press("/")
    graph_page.page.keyboard.type("?")
    assert not graph_page.page.locator("#key-help").is_visible()


def test_keys_select_walk_and_zoom_from_a_node(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, f"graph?file=small&graph=1&node={NODE}")
    assert set(press(graph_page, "u")) == nx.ancestors(DAG, NODE) | {NODE}
    select_alone(graph_page, NODE)
    assert set(press(graph_page, "d")) == nx.descendants(DAG, NODE) | {NODE}
    select_alone(graph_page, NODE)
    assert press(graph_page, "p") == [NODE], "a path needs two nodes"
    expect_next_and_previous_node(graph_page)
    expect_zoom_to_the_selection(graph_page)


def select_alone(graph_page: GraphPage, node: int) -> None:
    """Have one node selected and nothing else."""
    graph_page.page.locator("#dag canvas").press("Escape")
    graph_page.click_node("dag", node)
    graph_page.wait_until(lambda: graph_page.state("dag")["selected"] == [node], "it alone")


@pytest.mark.parametrize("swapped", [False, True])
def test_paths_between_two_nodes(graph_page: GraphPage, site: Site, swapped: bool) -> None:
    ends = (LAST, NODE) if swapped else (NODE, LAST)
    graph_page.open(site, f"graph?file=small&graph=1&node={ends[0]},{ends[1]}")
    on_paths = set().union(*nx.all_simple_paths(DAG, NODE, LAST))
    assert set(press(graph_page, "p")) == on_paths


def test_paths_need_a_path(graph_page: GraphPage, site: Site) -> None:
    apart = next(n for n in DAG if not nx.has_path(DAG, n, NODE) and not nx.has_path(DAG, NODE, n))
    graph_page.open(site, f"graph?file=small&graph=1&node={NODE},{apart}")
    assert press(graph_page, "p") == [NODE, apart]


def expect_next_and_previous_node(graph_page: GraphPage) -> None:
    """Walk on and back."""
    assert press(graph_page, "n", "n") == [NODE + 2]
    assert press(graph_page, "Shift+N") == [NODE + 1]


def expect_zoom_to_the_selection(graph_page: GraphPage) -> None:
    """Zoom in by key."""
    before = graph_page.state("dag")["transform"]["k"]
    press(graph_page, "z")
    graph_page.wait_until(
        lambda: graph_page.state("dag")["transform"]["k"] > before, "the selection larger"
    )


@pytest.mark.parametrize(("view", "scheme"), [("dag", "light"), ("timeline", "dark")])
def test_view_is_saved_as_a_picture(
    graph_page: GraphPage, site: Site, view: str, scheme: str
) -> None:
    graph_page.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    graph_page.open(site, f"graph?file=small&graph=1&node={NODE}")
    with graph_page.page.expect_download() as download:
        graph_page.page.locator(f"#{view} canvas").press("s")
    assert download.value.suggested_filename.endswith(f"-{view}.png")
    data = download.value.path().read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    box = graph_page.page.locator(f"#{view} canvas").bounding_box()
    assert box is not None
    assert (width, height) >= (2 * int(box["width"]), 2 * int(box["height"]))
    # On its ground, not on nothing: the corner is opaque and as bright as the theme says.
    corner = graph_page.page.evaluate(
        """async bytes => {
          const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
          const pen = document.createElement("canvas").getContext("2d");
          pen.drawImage(image, 0, 0);
          return Array.from(pen.getImageData(1, 1, 1, 1).data);
        }""",
        list(data),
    )
    assert corner[3] == 255
    assert (sum(corner[:3]) > 600) == (scheme == "light")


def test_node_is_copied_as_json(graph_page: GraphPage, site: Site) -> None:
    graph_page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    graph_page.open(site, f"graph?file=small&graph=1&node={NODE}")
    button = graph_page.page.get_by_role("button", name="Copy JSON")
    button.focus()
    button.press("Enter")
    graph_page.page.get_by_role("button", name="Copied").wait_for()
    copied = json.loads(graph_page.page.evaluate("navigator.clipboard.readText()"))
    assert copied["node"]["node_id"] == NODE
    assert copied["statistics"]["count"] > 0


def test_table_is_saved_as_csv(graph_page: GraphPage, site: Site) -> None:
    graph_page.open(site, "graph?file=small&graph=1")
    graph_page.page.locator("#nodes [data-row]").first.wait_for()
    with graph_page.page.expect_download() as download:
        graph_page.page.locator("#share-menu summary").click()
        graph_page.page.locator("#save-csv").click()
    lines = list(csv.DictReader(download.value.path().read_text("utf-8-sig").splitlines()))
    assert len(lines) == len(SHAPE.works)
    assert {int(line["node"]) for line in lines} == set(DAG)
    slowest = max(float(line["median_ns"] or 0) for line in lines)
    assert lines[0]["median_ns"] == f"{slowest:g}"  # sorted as shown, in nanoseconds
