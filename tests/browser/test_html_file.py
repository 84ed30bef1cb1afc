"""An exported HTML file in a browser without a network: opened from disk and clicked through."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from accessible import violations
from app_recordings import write_imported_recording
from playwright.sync_api import Page, Route
from recordings import (
    FIRST_NODE_ID,
    Shape,
    Work,
    transformer_shape,
    write_loop_recording,
    write_recording,
)
from svg_picture import Picture, save_view
from waiting import eventually

from gviz.app.html_file.file import write_html
from gviz.app.html_file.launches import LaunchChoice

if TYPE_CHECKING:
    from conftest import Kept

pytestmark = pytest.mark.browser

NODE = FIRST_NODE_ID + 4  # branch0_step0
OTHER = FIRST_NODE_ID + 5
LAYERS = 12
LONG = transformer_shape(layers=LAYERS)
HOSTILE = ["</script><script>document.title='bad'</script>", "<img src=x onerror=alert(1)>", "a&b"]


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A page that shows an exported file, and the addresses it has asked for."""

    page: Page
    requested: list[str]

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file, its nodes one by one, and wait until what it shows is drawn."""
        self.page.goto("about:blank")
        listed = fragment if "table=" in fragment else f"{fragment}&table=nodes"
        self.page.goto(f"{path.as_uri()}#{listed}")
        self.wait()

    def wait(self) -> None:
        """Wait until the views are drawn."""
        self.page.wait_for_selector(":is(#nodes, #kernels):not([hidden]) table")
        for view in ("dag", "timeline"):
            if self.page.locator(f"#{view}").count():
                eventually(lambda v=view: self.state(v)["ready"], f"{view} drawn")

    def state(self, view: str = "dag") -> dict[str, Any]:
        """Return what a canvas says about itself."""
        found: dict[str, Any] = self.page.evaluate(
            "id => document.querySelector(`#${id} canvas`)?.gvizState() ?? {ready: false}", view
        )
        return found

    def until(self, view: str = "dag", **wanted: Any) -> None:
        """Wait until a canvas says this of itself."""

        def holds() -> bool:
            state = self.state(view)
            return bool(state["ready"]) and all(state.get(k) == v for k, v in wanted.items())

        eventually(holds, f"{view} with {wanted}")

    def spot(self, view: str, node: int) -> dict[str, float]:
        """Return where a canvas drew a node, once it is on screen."""
        found: dict[str, float] = eventually(
            lambda: self.page.evaluate(
                "([id, node]) => document.querySelector(`#${id} canvas`).gvizLocate(node)",
                [view, node],
            ),
            f"node {node} on screen in {view}",
        )
        return found

    def click(self, view: str, node: int) -> None:
        """Click a node where a canvas drew it."""
        spot = self.spot(view, node)
        self.page.mouse.click(spot["x"], spot["y"])

    def selected_rows(self) -> list[int]:
        """Return the node ids of the table's selected rows that are drawn."""
        rows = self.page.locator("#nodes tr[aria-selected=true]").all()
        return sorted(int(row.get_attribute("data-node") or 0) for row in rows)

    def shown_rows(self) -> list[int]:
        """Return the node ids of the rows that are drawn, in order."""
        rows = self.page.locator("#nodes tr[data-node]").all()
        return [int(row.get_attribute("data-node") or 0) for row in rows]

    def inspected(self) -> str:
        """Return the text of the inspector."""
        return self.page.locator("#inspector").inner_text()

    def expect_selected(self, node: int) -> None:
        """Wait until all views show one node as selected, and none complains."""
        eventually(
            lambda: (
                self.state("dag")["selected"] == [node]
                and self.state("timeline")["selected"] == [node]
                and self.selected_rows() == [node]
                and f"node {node}" in self.inspected()
                and f"node={node}" in self.page.url
            ),
            f"selection of {node} everywhere",
        )
        assert [self.state(view)["message"] for view in ("dag", "timeline")] == ["", ""]


def test_file_against_a_baseline(opened: OpenFile, tmp_path: Path) -> None:
    slow = (*LONG.works[:8], replace(LONG.works[8], duration_ns=90_000), *LONG.works[9:])
    before = write_recording(tmp_path / "before.gviz", LONG, launches=12, seed=1)
    after = write_recording(tmp_path / "a.gviz", Shape("after", slow), launches=12, seed=2)
    opened.open(write_html(after, tmp_path / "a.html", [1], baseline=before).path, "table=nodes")
    node = FIRST_NODE_ID + 8
    page = opened.page
    # As the served page: the sentence, the waterfall, and both graphs as one.
    assert "The launch became slower by more than noise" in page.locator(".gv-verdict").inner_text()
    assert page.locator("#inspector .gv-waterfall-bar").count() > 2
    assert opened.state()["overlay"] == "change"
    assert opened.state()["changes"][str(node)]["verdict"] == "slower"
    assert opened.state()["union"]["edges"]["removed"] == 0
    assert set(opened.state("timeline")["sides"]) == {"graph", "stream"}
    # Sorted by change.
    assert opened.shown_rows()[0] == node
    rows = page.locator("#nodes tr[data-node]")
    rows.first.click()
    eventually(lambda: re.search(r"Verdict\s+slower", opened.inspected()), "the change in words")
    rows.nth(1).click(modifiers=["Control"])
    eventually(lambda: "2 nodes selected" in opened.inspected(), "both selected")
    assert re.search(r"Change of both\s+\+\d", opened.inspected())
    page.locator("#layout").get_by_text("Lanes").click()
    eventually(lambda: opened.state().get("layout") == "lanes", "the other layout")
    page.locator("#table-view").select_option("edges")
    eventually(lambda: "table=edges" in page.url, "the address")
    assert violations(opened.page) == []
    opened.page.locator("#theme-switch").click()
    assert violations(opened.page) == []


def test_views_fill_their_pane(opened: OpenFile, small: Path) -> None:
    opened.open(small)
    facts = opened.page.locator("#memory-box .gv-memory-view > :first-child")
    for panel in ("timeline", "memory"):
        if panel == "memory":
            opened.page.locator("#panel").get_by_text("Memory").click()
            opened.page.locator("#memory").wait_for()
        heights = opened.page.evaluate(
            "id => ['.gv-panel', '.gviz-canvas-box'].map("
            "(what) => document.getElementById(id).closest(what).clientHeight)",
            panel,
        )
        taken = 0 if panel == "timeline" else facts.bounding_box()["height"]
        assert abs(heights[0] - taken - heights[1]) <= 12


@pytest.fixture
def opened(page: Page, kept: Kept) -> Iterator[OpenFile]:
    """A page without a network: whatever is asked for but files of this disk is refused."""
    for other in kept.values():  # in the same window, it would tell of a server that is gone
        other.goto("about:blank")
    requested: list[str] = []

    def refuse(route: Route) -> None:
        route.continue_() if route.request.url.startswith("file:") else route.abort()

    page.context.set_offline(True)
    page.route("**/*", refuse)
    page.on("request", lambda request: requested.append(request.url))
    yield OpenFile(page, requested)
    page.context.set_offline(False)
    files = {url for url in requested if not url.startswith(("data:", "blob:", "about:"))}
    assert all(url.startswith("file:") and ".html" in url for url in files), files


def written(
    recording: Path, graphs: tuple[int, ...] = (1,), launches: tuple[LaunchChoice, ...] = ()
) -> Path:
    output = recording.with_suffix(".html")
    write_html(recording, output, graphs, launches)
    return output


@pytest.fixture(scope="module")
def small(small_recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """47 nodes, launches #2 and #7, the median, and all of them stacked."""
    output = tmp_path_factory.mktemp("file") / "small.html"
    write_html(small_recording, output, [1], [2, 7, "all"])
    return output


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A transformer of 12 layers, which fold."""
    folder = tmp_path_factory.mktemp("file")
    return written(write_recording(folder / "long.gviz", LONG, launches=2))


@pytest.mark.installed
@pytest.mark.quick
def test_it_shows_graph_timeline_table_and_what_it_holds(opened: OpenFile, small: Path) -> None:
    opened.open(small)
    page = opened.page
    assert page.title() == "fork-join 3x4 – gviz"
    assert opened.state("dag")["nodeCount"] == 47
    assert opened.state("timeline")["sides"]["graph"]["count"] == 45
    assert opened.state("timeline")["eager"].startswith("Eager, the same work: ")
    page.locator("#timeline canvas").press("e")
    eventually(lambda: "stream" in opened.state("timeline")["sides"], "eager work")
    assert opened.state("timeline")["sides"]["stream"]["count"] == 45
    assert page.get_by_role("heading", level=1).inner_text() == "fork-join 3x4"
    assert "This file holds launches #2, #7" in page.locator("#file-note").inner_text()
    assert "Slowest nodes, by median" in opened.inspected()
    assert opened.requested == ["about:blank", small.as_uri()] or opened.requested == [
        small.as_uri()
    ]


def expect_layouts_to_keep_the_selection(opened: OpenFile) -> None:
    """Choose each layout."""
    for layout in ("lanes", "time", "structure"):
        opened.page.locator("#layout label", has_text=layout.capitalize()).click()
        opened.until(layout=layout, selected=[NODE])
        assert opened.state("dag")["nodeCount"] == 47
        assert f"layout={layout}" in opened.page.url


def expect_overlays(opened: OpenFile) -> None:
    """Choose each colouring."""
    for colour in ("slack", "kernel", "launch", "kind"):
        opened.page.locator("#colour").select_option(colour)
        opened.until(overlay=colour)
        assert f"colour={colour}" in opened.page.url


def test_views_follow_each_other(opened: OpenFile, small: Path) -> None:
    opened.open(small)
    expect_hover_shared(opened)
    expect_clicked_nodes_selected(opened)
    expect_selection_to_go_round(opened)
    expect_brush_to_filter(opened)
    expect_panes_resized(opened)


def expect_clicked_nodes_selected(opened: OpenFile) -> None:
    """Click a node in each canvas: all views select it."""
    for view in ("dag", "timeline"):
        opened.click(view, NODE)
        opened.expect_selected(NODE)
        assert "branch0_step0" in opened.inspected()
        assert "Dependents (1)" in opened.inspected()
        opened.page.locator("#dag canvas").press("Escape")
        eventually(lambda: "No node selected" in opened.inspected(), "nothing selected")


def expect_selection_to_go_round(opened: OpenFile) -> None:
    """Select in the graph, the table and the inspector in turn."""
    opened.click("dag", NODE)
    opened.expect_selected(NODE)
    row = opened.page.locator("#nodes tr[data-node]", has_text="branch0_step1").first
    # By its number: rows of the same name may come above it meanwhile.
    other = int(row.get_attribute("data-node") or 0)

    def choose() -> bool:
        # Rows that are drawn anew between press and release take no click.
        opened.page.locator(f"#nodes-row-{other}").click()
        return bool(opened.state("dag")["selected"] == [other])

    eventually(choose, "the row chosen")
    opened.expect_selected(other)
    pick = opened.page.locator("#inspector").get_by_role("button", name="branch0_step0").first
    node = int(pick.get_attribute("data-node") or 0)
    pick.click()
    opened.expect_selected(node)
    opened.page.locator("#dag canvas").press("Escape")
    eventually(lambda: "No node selected" in opened.inspected(), "nothing selected")
    assert opened.selected_rows() == []
    assert "node=" not in opened.page.url


def test_several_nodes_are_summed(opened: OpenFile, small: Path) -> None:
    opened.open(small, f"node={NODE}")
    opened.expect_selected(NODE)

    def add() -> bool:
        # Rows that are drawn anew between press and release take no click.
        opened.page.locator(f"#nodes-row-{OTHER}").click(modifiers=["Control"])
        return bool(opened.state("dag")["selected"] == [NODE, OTHER])

    eventually(add, "both chosen")
    eventually(lambda: "2 nodes selected" in opened.inspected(), "sums")
    assert "2 of 2" in opened.inspected()
    rows = opened.page.locator("#nodes tr[data-node]")
    first, last = (rows.nth(at).get_attribute("id") for at in (12, 14))
    opened.page.locator(f"#{first}").click()
    eventually(lambda: opened.page.locator(f"#{first}[aria-selected=true]").count(), "a row")

    def stretch() -> bool:
        opened.page.locator(f"#{last}").click(modifiers=["Shift"])
        return "3 nodes selected" in opened.inspected()

    eventually(stretch, "a stretch of rows")


def expect_hover_shared(opened: OpenFile) -> None:
    """Point at a node and at a row: both views say so."""
    spot = opened.spot("dag", NODE)
    opened.page.mouse.move(spot["x"], spot["y"])
    opened.page.locator("#dag .gviz-canvas-tooltip").wait_for(state="visible")
    assert opened.state("timeline")["hovered"] == NODE
    row = opened.page.locator("#nodes tr[data-node]").nth(2)
    row.hover()
    node = int(row.get_attribute("data-node") or 0)
    eventually(lambda: opened.state("dag")["hovered"] == node, "hover of a row")


def test_overlays_and_the_launches_that_were_chosen(opened: OpenFile, small: Path) -> None:
    opened.open(small)
    expect_overlays(opened)
    options = opened.page.locator("#launch option").all_inner_texts()
    assert options[:2] == ["median of 20", "all 20, stacked"]
    assert [text.partition(" ")[0] for text in options[2:]] == ["#2", "#7"]
    for value, mode, count in (("median", "median", 45), ("all", "all", 900)):
        opened.page.locator("#launch").select_option(value)
        eventually(
            lambda m=mode: opened.state("timeline")["sides"]["graph"]["mode"] == m, f"{mode} shown"
        )
        assert opened.state("timeline")["sides"]["graph"]["count"] == count
        assert f"launch={value}" in opened.page.url
    assert opened.state("timeline")["detail"] is None


def test_table_is_sorted_searched_and_saved(opened: OpenFile, small: Path, tmp_path: Path) -> None:
    opened.open(small)
    page = opened.page
    head = page.get_by_role("columnheader", name="Median µs")
    assert head.get_attribute("aria-sort") == "descending"
    first = opened.shown_rows()[0]
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert opened.shown_rows()[0] != first
    page.get_by_role("columnheader", name="Id", exact=True).get_by_role("button").click()
    assert opened.shown_rows()[:3] == [FIRST_NODE_ID, FIRST_NODE_ID + 1, FIRST_NODE_ID + 2]
    page.keyboard.press("/")
    page.keyboard.type("stage BRANCH2")
    count = page.locator("#row-count")
    eventually(lambda: count.inner_text().startswith("9 hits, "), "search")
    page.keyboard.press("Enter")
    eventually(lambda: count.inner_text().startswith("1 of 9 hits, "), "walk")
    assert opened.state("dag")["selected"] == opened.shown_rows()[:1]
    assert len(opened.shown_rows()) == 9
    with page.expect_download() as download:
        page.locator("#share-menu summary").click()
        page.locator("#save-csv").click()
    assert download.value.suggested_filename == "fork-join-3x4.csv"
    lines = list(csv.DictReader(download.value.path().read_text("utf-8-sig").splitlines()))
    assert [int(line["node"]) for line in lines] == opened.shown_rows()
    assert all("branch2" in line["name"] for line in lines)
    page.keyboard.press("Escape")
    page.locator("#search").fill("nothing of the kind")
    page.get_by_text("No node matches.").wait_for()


def expect_brush_to_filter(opened: OpenFile) -> None:
    """Keep the nodes of a stretch of the timeline, and all again."""
    page = opened.page
    canvas = page.locator("#timeline canvas").bounding_box()
    assert canvas is not None
    y = opened.spot("timeline", NODE)["y"]
    page.keyboard.down("Alt")
    page.mouse.move(canvas["x"] + 112, y)
    page.mouse.down()
    page.mouse.move(canvas["x"] + 180, y, steps=4)
    page.mouse.up()
    page.keyboard.up("Alt")
    filtered = eventually(lambda: opened.state("dag")["filtered"], "a filter")
    assert 0 < len(filtered) < 47
    sums = page.locator("#table-sums")
    eventually(lambda: sums.inner_text().startswith(f"{len(filtered)} nodes, "), "their sums")
    # The table draws those that have room.
    shown = eventually(lambda: set(opened.shown_rows()), "their rows")
    assert shown <= set(filtered)
    page.locator("#filter-clear").click()
    eventually(lambda: opened.state("dag")["filtered"] is None, "no filter")
    eventually(lambda: sums.inner_text().startswith("47 nodes, "), "all rows")
    assert not page.locator("#filter-clear").is_visible()


def test_only_rows_in_view_are_drawn_and_keys_reach_all(opened: OpenFile, tmp_path: Path) -> None:
    shape = transformer_shape(layers=30)
    path = written(write_recording(tmp_path / "long.gviz", shape, launches=1))
    opened.open(path)
    page = opened.page
    table = page.get_by_role("grid", name="Nodes")
    assert table.get_attribute("aria-rowcount") == str(len(shape.works) + 1)
    assert len(opened.shown_rows()) < 60
    page.get_by_role("columnheader", name="Id", exact=True).get_by_role("button").click()
    table.focus()
    table.press("ArrowDown")
    opened.expect_selected(FIRST_NODE_ID)
    table.press("ArrowDown")
    opened.expect_selected(FIRST_NODE_ID + 1)
    table.press("End")
    last = FIRST_NODE_ID + len(shape.works) - 1
    opened.expect_selected(last)
    assert len(opened.shown_rows()) < 60
    assert table.get_attribute("aria-activedescendant") == f"nodes-row-{last}"
    table.press("PageUp")
    eventually(lambda: opened.state("dag")["selected"] != [last], "a page up")
    table.press("Home")
    opened.expect_selected(FIRST_NODE_ID)


def test_folds_open_together_and_close(opened: OpenFile, long: Path) -> None:
    opened.open(long)
    page = opened.page
    # As in the application: folded at first, one block of each repeat open.
    opened.until(open=["first"])
    page.locator("#folding").select_option("none")
    opened.until(nodeCount=len(LONG.works))
    opened.open(long, "graph=1&fold=repeats")
    opened.until(open=[])
    folded = opened.state("dag")["nodeCount"]
    assert folded < len(LONG.works) / LAYERS
    inside = FIRST_NODE_ID + 2 + 15 * 5
    for more in (LAYERS - 1, LAYERS - 1 + 14):
        spot = opened.spot("dag", inside)
        page.mouse.dblclick(spot["x"], spot["y"])
        opened.until(nodeCount=folded + more)
    # Another block: the first stays open.
    other = opened.spot("dag", FIRST_NODE_ID + 2 + 15 * 8)
    page.mouse.dblclick(other["x"], other["y"])
    opened.until(nodeCount=folded + LAYERS - 1 + 2 * 14)
    assert "fold=repeats" in page.url
    address = page.url
    opened.open(long, address.partition("#")[2])
    opened.until(nodeCount=folded + LAYERS - 1 + 2 * 14)
    opened.click("dag", FIRST_NODE_ID + 2 + 15 * 8)
    for more in (LAYERS - 1 + 14, 0):
        page.locator("#dag canvas").press("x")
        opened.until(nodeCount=folded + more)


def test_saved_svg_has_as_many_shapes_as_nodes_in_view(
    opened: OpenFile, small: Path, tmp_path: Path
) -> None:
    opened.open(small, "layout=structure&colour=kernel")
    picture = Picture.read(save_view(opened.page, "dag", "SVG", tmp_path))
    assert len(picture.titles()) == opened.state("dag")["visible"] == 47
    timeline = Picture.read(save_view(opened.page, "timeline", "SVG", tmp_path))
    assert "Graph launch" in timeline.texts()
    png = save_view(opened.page, "dag", "PNG", tmp_path)
    assert png.read_bytes().startswith(b"\x89PNG")


def test_address_reproduces_the_view(opened: OpenFile, small: Path) -> None:
    fragment = f"node={OTHER}&launch=median&colour=p95&layout=lanes"
    opened.open(small, fragment)
    opened.expect_selected(OTHER)
    opened.until(layout="lanes", overlay="p95")
    assert opened.state("timeline")["sides"]["graph"]["mode"] == "median"
    assert opened.page.locator("#launch").input_value() == "median"
    assert opened.page.locator("#colour").input_value() == "p95"
    assert opened.page.locator("#layout input:checked").get_attribute("value") == "lanes"
    assert set(fragment.split("&")) < set(opened.page.url.partition("#")[2].split("&"))


def test_malformed_address_shows_the_graph(opened: OpenFile, small: Path) -> None:
    # Others: tests/web/page/address.test.js.
    opened.open(
        small, "graph=99&node=1,x,-3,99999999&launch=8&colour=<b>&layout=q&fold=repeats&open=a,b"
    )
    assert opened.state("dag")["selected"] == []
    assert opened.state("dag")["nodeCount"] > 0
    assert opened.state("dag")["message"] == ""


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True)
def test_theme_follows_the_system_and_the_switch(opened: OpenFile, small: Path) -> None:
    opened.open(small)
    assert opened.state("dag")["theme"] == "dark"
    opened.page.emulate_media(color_scheme="light")
    opened.until(theme="light")
    opened.until("timeline", theme="light")
    opened.page.get_by_label("Switch between dark and light").click()
    opened.until(theme="dark")
    opened.page.get_by_label("Switch between dark and light").click()
    opened.until(theme="light")
    ground = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(243, 245, 247)"
    opened.page.emulate_media(color_scheme="dark")  # a choice stays
    opened.page.reload()
    opened.until(theme="light")


def expect_keys_listed(opened: OpenFile) -> None:
    """Ask for the keys, and use one."""
    page = opened.page
    page.keyboard.press("?")
    dialog = page.locator("#key-help")
    assert "along the critical path" in dialog.inner_text()
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    page.locator("#dag canvas").press("ArrowDown")
    opened.expect_selected(OTHER)


def test_selected_node_is_copied_and_stays_in_each_layout(opened: OpenFile, small: Path) -> None:
    opened.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.open(small, f"node={NODE}")
    opened.expect_selected(NODE)
    button = opened.page.get_by_role("button", name="Copy JSON")
    eventually(lambda: button.get_attribute("data-copy"), "text to copy")
    button.click()
    opened.page.get_by_role("button", name="Copied").wait_for()
    copied = json.loads(opened.page.evaluate("navigator.clipboard.readText()"))
    assert copied["node"]["node_id"] == NODE
    expect_layouts_to_keep_the_selection(opened)
    expect_keys_listed(opened)


def test_bodies_are_chosen_and_linked(opened: OpenFile, tmp_path: Path) -> None:
    path = written(write_loop_recording(tmp_path / "loop.gviz"))
    opened.open(path, "graph=1&node=1002")
    page = opened.page
    page.locator("#inspector").get_by_role("link", name="while loop body").click()
    page.get_by_role("heading", level=1, name="while loop body").wait_for()
    opened.wait()
    opened.until(nodeCount=2)
    assert page.title() == "while loop body – gviz"
    assert page.locator("#graph-choice").input_value() == "2"
    page.locator("#graph-choice").select_option("1")
    opened.until(nodeCount=3)
    page.go_back()
    opened.until(nodeCount=2)


def test_address_of_another_graph_is_followed_whatever_the_page_still_takes_in(
    opened: OpenFile, tmp_path: Path
) -> None:
    opened.open(written(write_loop_recording(tmp_path / "loop.gviz")), "graph=1")
    page = opened.page
    # The page shown writes its address once more, before the browser tells of the new one.
    page.evaluate(
        """() => {
            location.hash = "graph=2";
            document.getElementById("colour").dispatchEvent(new Event("change", { bubbles: true }));
        }"""
    )
    page.get_by_role("heading", level=1, name="while loop body").wait_for()
    opened.until(nodeCount=2)
    assert "graph=2" in page.url
    page.go_back()
    opened.until(nodeCount=3)


#: Leads to the second graph, whose data were never read, and at once back to the first, whose data
#: were; done once those of the second are there as well.
_THERE_AND_BACK = """() => new Promise(done => {
    const { decode } = TextDecoder.prototype;
    TextDecoder.prototype.decode = function (data) {
        const text = decode.call(this, data);
        if (text.includes('"name":"while loop body"')) setTimeout(done, 0);
        return text;
    };
    window.addEventListener("hashchange", () => { location.hash = "graph=1"; }, { once: true });
    location.hash = "graph=2";
})"""


def test_last_address_is_shown_whichever_is_read_first(opened: OpenFile, tmp_path: Path) -> None:
    opened.open(written(write_loop_recording(tmp_path / "loop.gviz")), "graph=1")
    opened.page.evaluate(_THERE_AND_BACK)
    opened.wait()
    opened.until(nodeCount=3)
    assert opened.page.locator("#graph-choice").input_value() == "1"


def test_recording_without_times_or_timeline(opened: OpenFile, tmp_path: Path) -> None:
    opened.open(written(write_imported_recording(tmp_path / "dump.gviz")))
    assert opened.state("dag")["nodeCount"] > 0
    assert opened.state("dag")["overlay"] == "family"
    assert "No times" in opened.page.locator("#timeline-box").inner_text()
    node = opened.shown_rows()[0]
    opened.page.locator(f"#nodes-row-{node}").click()
    eventually(lambda: f"node {node}" in opened.inspected(), "inspector")


def test_hostile_names_are_text(opened: OpenFile, tmp_path: Path) -> None:
    works = tuple(Work(name, 3_000, (i - 1,) if i else ()) for i, name in enumerate(HOSTILE))
    path = written(write_recording(tmp_path / "r.gviz", Shape(HOSTILE[0], works), launches=2))
    opened.open(path, f"node={FIRST_NODE_ID + 1}")
    opened.expect_selected(FIRST_NODE_ID + 1)
    assert HOSTILE[1] in opened.inspected()
    assert HOSTILE[2] in opened.page.locator("#nodes").inner_text()
    assert opened.page.title() == f"{HOSTILE[0]} – gviz"
    assert opened.page.locator("#nodes img, #inspector img").count() == 0


def expect_panes_resized(opened: OpenFile) -> None:
    """Move the bar between two panes by a key."""
    bar = opened.page.get_by_role("separator", name="graph and timeline")
    before = int(bar.get_attribute("aria-valuenow") or 0)
    bar.press("ArrowRight")
    assert int(bar.get_attribute("aria-valuenow") or 0) > before


def test_damaged_file_says_so(opened: OpenFile, small: Path, tmp_path: Path) -> None:
    text = small.read_text()
    path = tmp_path / "cut.html"
    path.write_text(text.replace('id="blob-dag-1"', 'id="blob-lost"'))
    opened.page.goto(path.as_uri())
    message = opened.page.locator("#dag .gviz-canvas-message")
    eventually(lambda: "this file has no dag-1" in message.inner_text(), "a sentence")
