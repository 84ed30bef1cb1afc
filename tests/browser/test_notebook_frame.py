"""The view inside a notebook's cell: a frame that gets nothing of the page around it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page
from waiting import eventually

from gviz.api.showing import frame_html

pytestmark = pytest.mark.browser

BUNDLED = Path(__file__).resolve().parent.parent.parent / "assets" / "recordings"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_frame_shows_the_graph_and_keeps_its_state(page: Page, tmp_path: Path, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    notebook = tmp_path / "notebook.html"
    frame_text = frame_html(BUNDLED / "cupy_pipeline.gviz", [1])
    notebook.write_text(f"<!DOCTYPE html><title>notebook</title>{frame_text}", encoding="utf-8")
    page.goto(notebook.as_uri())
    frame = page.frames[1]
    frame.wait_for_selector("#kernels table")
    ready = "() => document.querySelector('#dag canvas').gvizState().ready"
    eventually(lambda: frame.evaluate(ready), "the graph drawn")
    # A frame in a process of its own may hear of the system's scheme after it has begun.
    shown = "document.documentElement.dataset.mantineColorScheme"
    eventually(lambda: frame.evaluate(shown) == scheme, f"{scheme} shown")
    frame.get_by_text("One by one", exact=True).click()
    row = frame.locator("#nodes tr[data-node]").nth(3)
    row.click()
    node = row.get_attribute("data-node")
    eventually(
        lambda: f"node={node}" in frame.evaluate("location.href"), "the state in the address"
    )
    assert page.url == notebook.as_uri()
    # Of another origin: neither reads the other.
    assert frame.evaluate("window.origin") == "null"
