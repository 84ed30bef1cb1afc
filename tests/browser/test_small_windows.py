"""The pages in small windows: at 200 % zoom, on a phone, on a tablet that is touched.

Nothing leaves the window or lies over anything else, and every part of a graph's page is reached.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import gviz.assets

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

ONE_PAGE = True
RECORDINGS = Path(gviz.assets.__file__).parent / "recordings"
GRAPH = "graph?file=training_step&graph=1"
TOUCH = {"has_touch": True}
PHONE, TABLET, ZOOMED = (390, 844), (820, 1180), (640, 400)
#: Parts of a graph's page in the order in which they stand.
PARTS = ("#breakdown", "#dag canvas", "#timeline canvas", "#inspector", "#kernels")

#: Words, choices and buttons that leave the window, and those of the page's head and the heads of
#: panes and cards that lie over one another. What can be scrolled to its end is not out of sight.
CLASHES = """() => {
  const found = [];
  const nameOf = (x) => x.id || x.getAttribute("aria-label") || x.textContent.slice(0, 30);
  // What is left of a box by those around it, which hide or scroll what they have no room for.
  const seen = (x, box) => {
    let { left, right, top, bottom } = box;
    for (let on = x; on && on.id !== "page"; on = on.parentElement) {
      if (getComputedStyle(on).overflowX === "visible") continue;
      const around = on.getBoundingClientRect();
      left = Math.max(left, around.left);
      right = Math.min(right, around.right);
      top = Math.max(top, around.top);
      bottom = Math.min(bottom, around.bottom);
    }
    return { left, right, top, bottom };
  };
  const kinds = "h1, h2, h3, p, dd, summary, a, button, select, input, canvas";
  const all = [...document.querySelectorAll(kinds)].filter((x) =>
    x.checkVisibility({ visibilityProperty: true })
      && !x.closest(".gv-how-body, .gv-skip, .gv-block, .gv-unseen, dialog"));
  for (const x of all) {
    const boxes = [x.getBoundingClientRect()];
    // Words may leave the box of what says them.
    for (const text of x.childNodes) {
      const range = document.createRange();
      range.selectNode(text);
      if (text.nodeType === Node.TEXT_NODE) boxes.push(range.getBoundingClientRect());
    }
    const right = Math.max(...boxes.map((box) => seen(x, box).right));
    if (right > innerWidth + 1) found.push(`${nameOf(x)} leaves the window`);
    const isWord = x.matches(".gv-trail :is(a, span), h1, h2") && x.textContent;
    if (isWord && boxes[0].width < 20) found.push(`${nameOf(x)} has no room`);
  }
  const heads = ".gv-header, .gv-graph-row, .gv-pane-head, .gv-card-head, .gv-title";
  for (const head of document.querySelectorAll(heads)) {
    const parts = all.filter((x) => head.contains(x))
      .map((x) => [x, seen(x, x.getBoundingClientRect())])
      .filter(([, { left, right, top, bottom }]) => right - left > 1 && bottom - top > 1);
    parts.forEach(([one, a], n) => parts.slice(n + 1).forEach(([other, b]) => {
      if (one.contains(other)) return;
      const across = a.left < b.right - 1 && b.left < a.right - 1;
      const down = a.top < b.bottom - 1 && b.top < a.bottom - 1;
      if (across && down) found.push(`${nameOf(one)} and ${nameOf(other)}`);
    }));
  }
  return found;
}"""


@pytest.fixture(scope="module")
def site(serve_beside: Serve) -> Site:
    names = ("training_step", "decode_step_h200", "decode_step_h200_fused", "graph_lives")
    return serve_beside(*(RECORDINGS / f"{name}.gviz" for name in names))


def resize(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})


@pytest.mark.parametrize(
    ("page", "size"),
    [({}, ZOOMED), (TOUCH, PHONE), (TOUCH, TABLET)],
    indirect=["page"],
    ids=["zoomed", "phone", "tablet"],
)
def test_whole_graph_page_is_reached_and_nothing_overlaps(
    graph_page: GraphPage, site: Site, size: tuple[int, int]
) -> None:
    page = graph_page.page
    resize(page, size)
    site.open(page, GRAPH)
    graph_page.wait()
    page.locator(".gv-said").first.wait_for()
    below = 0.0
    for part in PARTS:
        place = page.locator(part).first
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        assert box is not None, part
        assert box["x"] >= 0, part
        assert box["x"] + box["width"] <= size[0], part
        # It can be seen at once, or all but its end.
        assert box["y"] < size[1], part
        assert box["height"] > 60, part
        top = box["y"] + page.evaluate("document.querySelector('#page').scrollTop")
        assert top >= below, f"{part} begins under what is above it"
        below = top + box["height"] - 1
    clashes = page.evaluate(CLASHES)
    assert clashes == [], "\n".join(clashes)


@pytest.mark.parametrize("page", [TOUCH], indirect=True)
def test_a_finger_selects_what_the_verdict_names(graph_page: GraphPage, site: Site) -> None:
    resize(graph_page.page, PHONE)
    site.open(graph_page.page, GRAPH)
    graph_page.wait()
    graph_page.page.locator(".gv-said").first.tap()
    graph_page.wait_until(lambda: len(graph_page.state("dag")["selected"]) > 100, "a phase")


@pytest.mark.parametrize("size", [ZOOMED, PHONE])
@pytest.mark.parametrize(
    "path", ["", "run?file=training_step&run=1", "report?file=training_step&graph=1"]
)
def test_other_pages_keep_within_the_window(
    page: Page, site: Site, size: tuple[int, int], path: str
) -> None:
    resize(page, size)
    site.open(page, path)
    page.locator("#page h1").first.wait_for()
    page.locator("#page :is(.gv-card, .gv-table, .gv-verdict)").first.wait_for()
    clashes = page.evaluate(CLASHES)
    assert clashes == [], "\n".join(clashes)
