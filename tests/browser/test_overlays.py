"""Tables of a reader's own on a graph: served with it, and dropped onto a saved file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page, expect
from recordings import FIRST_NODE_ID, transformer_shape, write_recording

from gviz.app.html_file.file import write_html
from gviz.overlay import read_overlays

if TYPE_CHECKING:
    from conftest import GraphPage, Serve

pytestmark = pytest.mark.browser

NODE = FIRST_NODE_ID + 2
MARKUP = "<img src=x onerror=alert(1)>"
ENERGY = "overlay:energy.csv:energy"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("overlays")
    write_recording(folder / "step.gviz", transformer_shape(layers=3), launches=3)
    rows = [f"{FIRST_NODE_ID + n},{n + 0.5},{MARKUP}" for n in range(4)]
    text = "\n".join(["node,energy [mJ],note", *rows, f"99999,1,{MARKUP}", f"{MARKUP},1,x"])
    (folder / "energy.csv").write_text(text)
    return folder


def drop(page: Page, name: str, text: str, at: float = 0.5) -> None:
    """Drop a file onto the page, so far from its left side."""
    data = page.evaluate_handle(
        """([name, text]) => {
          const data = new DataTransfer();
          data.items.add(new File([text], name));
          return data;
        }""",
        [name, text],
    )
    page.dispatch_event("body", "dragenter", {"dataTransfer": data})
    expect(page.locator("#drop-veil")).to_contain_text("table")
    x = at * page.evaluate("window.innerWidth")
    page.dispatch_event("body", "drop", {"dataTransfer": data, "clientX": x})
    expect(page.locator("#drop-veil")).to_have_count(0)


def test_overlay_of_the_server_colours_sorts_and_is_inspected(
    serve: Serve, folder: Path, graph_page: GraphPage
) -> None:
    site = serve(folder / "step.gviz", overlays=[folder / "energy.csv"])
    page = graph_page.page
    graph_page.open(site, f"graph?file=step&graph=1&fold=none&node={NODE}")
    graph_page.drawn("dag", overlay=ENERGY)
    note = page.locator("#overlay-notes")
    expect(note).to_contain_text("6 rows, 2 match no node. On 4 nodes: 4 by id.")
    note.locator("summary").click()
    expect(note.locator("pre")).to_have_text(f"line 6: 99999\nline 7: {MARKUP}")
    # What others call a colour, the page shows as text.
    assert page.locator("img[src=x]").count() == 0
    expect(page.locator(".gv-overlay-values")).to_contain_text("2.50 mJ")
    head = page.locator("#nodes th", has_text="energy")
    head.locator("button").click()
    expect(page.locator("#nodes tr[data-row]").first).to_contain_text("3.50 mJ")
    # The first two nodes, 2 of 8 mJ, are in no layer. Time is idle in part, energy is not.
    block = page.locator(".gv-block").first
    graph_page.choose("measure", "energy")
    expect(block).to_have_attribute("aria-label", re.compile("energy: 6 mJ, 75.0%"))
    expect(page.locator(".gv-block-idle")).to_have_count(0)
    graph_page.choose("colour", "note")
    # The address follows a moment later.
    page.wait_for_url(
        re.compile("colour=overlay:energy.csv:note.*measure=overlay:energy.csv:energy")
    )
    page.reload()
    graph_page.drawn("dag", overlay="overlay:energy.csv:note")
    expect(page.locator("#measure")).to_have_value(ENERGY)
    expect(block).to_have_attribute("aria-label", re.compile("energy: 6 mJ"))
    page.locator("#overlay-notes").get_by_role("button", name="Remove").click()
    graph_page.drawn("dag", overlay="family")
    assert page.locator("#nodes th", has_text="energy").count() == 0
    expect(page.locator("#measure")).to_be_hidden()


def test_table_is_dropped_onto_a_saved_file(page: Page, folder: Path) -> None:
    output = folder / "step.html"
    write_html(folder / "step.gviz", output, [1], overlays=read_overlays([folder / "energy.csv"]))
    page.goto(output.as_uri())
    colour = page.locator("#colour")
    expect(colour).to_have_value(ENERGY)
    rows = [{"kernel": "embedding_kernel", "errors": n} for n in range(3)]
    drop(page, "errors.json", json.dumps([*rows, {"kernel": MARKUP, "errors": 1}]))
    expect(colour).to_have_value("overlay:errors.json:errors")
    notes = page.locator("#overlay-notes")
    expect(notes).to_contain_text("errors.json: 4 rows, 1 match no node.")
    drop(page, "broken.csv", "node,x\n1,2,3\n")
    expect(notes.get_by_role("alert")).to_have_text(
        "broken.csv: line 2: 3 cells, where the header in line 1 has 2."
    )
    page.locator("#share-menu summary").click()
    with page.expect_file_chooser() as choosing:
        page.locator("[data-lay]").click()
    choosing.value.set_files([{"name": "a.dot", "mimeType": "text/plain", "buffer": b"digraph"}])
    expect(notes.get_by_role("alert").last).to_contain_text("a.dot: it is no table")


def test_tables_of_both_graphs_are_compared_and_shared(
    serve: Serve, folder: Path, graph_page: GraphPage, tmp_path: Path
) -> None:
    before, after = (
        write_recording(folder / f"{name}.gviz", transformer_shape(layers=3), launches=3)
        for name in ("before", "after")
    )
    names = [f"{FIRST_NODE_ID + n}" for n in range(4)]
    for name, factor in (("before", 2), ("after", 3)):
        rows = "".join(f"{node},{factor * (n + 1)}\n" for n, node in enumerate(names))
        (folder / f"{name}.csv").write_text(f"node,energy [mJ]\n{rows}")
    overlays = [Path(f"{name}={folder / name}.csv") for name in ("before", "after")]
    site = serve(before, after, overlays=overlays)
    page = graph_page.page
    graph_page.open(site, f"compare?a=before&b=after&table=nodes&node={NODE}")
    graph_page.drawn("dag", overlay="overlay:change:energy")
    values = page.locator(".gv-overlay-values")
    expect(values).to_have_text([re.compile("6 mJ"), re.compile("9 mJ"), re.compile(r"\+3 mJ")])
    # What a row of several nodes has is theirs together.
    graph_page.choose("table-view", "By kernel name")
    row = page.locator("#kernels [data-row]", has_text="embedding")
    expect(row).to_contain_text("4 mJ6 mJ+2 mJ")
    drop(page, "errors.json", json.dumps([{"node": NODE, "errors": 7}]), at=0.9)
    graph_page.drawn("dag", overlay="overlay:B:errors.json:errors")
    page.locator("#share-menu summary").click()
    with page.expect_download() as saved:
        page.locator("#share").click()
    output = tmp_path / "shared.html"
    saved.value.save_as(output)
    page.goto(output.as_uri())
    expect(page.locator("#colour")).to_have_value("overlay:B:errors.json:errors")
    expect(values).to_have_count(4)
    expect(values).to_contain_text(["6 mJ", "9 mJ", "7", "+3 mJ"])
    expect(page.locator("#colour optgroup")).to_have_count(4)
