"""Numbers and their units on the pages that Dash makes, in windows of any width."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page

import gviz.assets

if TYPE_CHECKING:
    from conftest import Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
RECORDINGS = Path(gviz.assets.__file__).parent / "recordings"
#: Numbers that are shown with their unit, and those of them that do not stand in one line.
QUANTITIES = r"""() => {
  const shown = [], parted = [];
  const texts = document.createTreeWalker(document.getElementById("page"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    for (const found of text.data.matchAll(/\d[\d.,]* (?:s|ms|µs|ns|B|[KMGT]iB)(?![\wµ])/g)) {
      const range = document.createRange();
      range.setStart(text, found.index);
      range.setEnd(text, found.index + found[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size) shown.push(found[0]);
      if (lines.size > 1) parted.push(text.parentElement.textContent);
    }
  }
  return [shown.length, parted];
}"""
#: Each page, and what it shows last.
PAGES = {
    "": ".gv-card .gv-mini-bars",
    "run?file=cupy_pipeline&run=1": "#page h1",
    "trend?file=training_step&file=decode_step_h200": "#trend-body .gv-report-table",
    "ranks?file=ranks_h200": ".gv-compare-summary .gv-report-table",
}


@pytest.fixture(scope="module")
def site(serve_beside: Serve) -> Site:
    names = ("training_step", "decode_step_h200", "cupy_pipeline", "ranks_h200")
    return serve_beside(*(RECORDINGS / f"{name}.gviz" for name in names))


@pytest.mark.parametrize("path", PAGES)
def test_numbers_do_not_part_from_their_units(page: Page, site: Site, path: str) -> None:
    site.open(page, path)
    page.locator(PAGES[path]).first.wait_for()
    page.evaluate("document.querySelectorAll('#page details').forEach((x) => x.open = true)")
    shown, parted = 0, []
    for width in range(304, 700, 8):
        page.set_viewport_size({"width": width, "height": 800})
        count, found = page.evaluate(QUANTITIES)
        shown += count
        parted += [(width, text) for text in found]
    assert shown > 50
    assert parted == []
