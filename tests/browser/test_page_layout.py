"""Places on the graph page: no control under another, one row for the head."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import gviz.assets

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site
    from playwright.sync_api import Route

pytestmark = pytest.mark.browser

ONE_PAGE = True
RECORDING = Path(gviz.assets.__file__).parent / "recordings" / "training_step.gviz"
DECODE = RECORDING.with_name("decode_step_h200.gviz")
GRAPH = "graph?file=training_step&graph=1"
DECODED = "graph?file=decode_step_h200&graph=1"
#: Controls of a head that lie over another one of it, or leave it.
CLASHES = """() => {
  const found = [];
  for (const head of document.querySelectorAll(".gv-graph-row, .gv-pane-head")) {
    const kinds = "h1, h2, summary, a, select, button, .gv-segments, .gv-check, .gv-search, "
      + ".gv-select > span";
    const parts = [...head.querySelectorAll(kinds)]
      .filter((x) => x.checkVisibility() && !x.closest(".gv-how-body"));
    const around = head.getBoundingClientRect();
    const boxes = parts.map((x) => [x.id || x.textContent.slice(0, 20), x.getBoundingClientRect()]);
    for (const [name, box] of boxes) {
      const isOut = box.top < around.top - 1 || box.bottom > around.bottom + 1;
      if (isOut || box.right > around.right + 1) found.push(name);
    }
    boxes.forEach(([name, a], n) => boxes.slice(n + 1).forEach(([other, b]) => {
      const across = a.left < b.right - 1 && b.left < a.right - 1;
      const down = a.top < b.bottom - 1 && b.top < a.bottom - 1;
      if (across && down) found.push(`${name} and ${other}`);
    }));
  }
  return found;
}"""

#: Choices that are narrower than what is chosen in them needs.
CUT = """() => {
  const shown = [...document.querySelectorAll("select")].filter((x) => x.checkVisibility());
  return shown.filter((x) => {
    const free = x.cloneNode(true);
    free.value = x.value;
    free.style.cssText = "position: absolute; max-width: none; width: auto";
    x.after(free);
    const needed = free.offsetWidth;
    free.remove();
    return x.offsetWidth < needed - 1;
  }).map((x) => x.selectedOptions[0].text);
}"""


@pytest.fixture(scope="module")
def site(serve_beside: Serve) -> Site:
    return serve_beside(RECORDING, RECORDING.with_name("graph_lives.gviz"), DECODE)


def box(graph_page: GraphPage, selector: str) -> dict[str, Any]:
    """Return where a part stands."""
    found = graph_page.page.locator(selector).bounding_box()
    assert found is not None
    return dict(found)


@pytest.mark.parametrize("width", [1024, 1280])
def test_ways_on_from_the_verdict_stand_in_one_row(
    graph_page: GraphPage, site: Site, width: int
) -> None:
    graph_page.page.set_viewport_size({"width": width, "height": 768})
    graph_page.open(site, DECODED)
    ways = graph_page.page.locator(".gv-headline-ways .gv-breakdown-open:visible")
    first, second = (x.bounding_box() for x in ways.all())
    assert first is not None
    assert second is not None
    assert first["y"] == second["y"]
    assert first["x"] + first["width"] < second["x"]


@pytest.mark.parametrize("width", [1280, 1024])
def test_controls_have_room_beside_each_other(
    graph_page: GraphPage, site: Site, width: int
) -> None:
    page = graph_page.page
    page.set_viewport_size({"width": width, "height": 768})
    graph_page.open(site, GRAPH)
    # Nodes are cards with names, not blocks, in a pane of 500 px too.
    assert graph_page.drawn("dag")["level"] == "cards"
    assert page.evaluate(CLASHES) == []
    # The graph's name and the launch that is shown are told whole; counts go first.
    assert page.locator(".gv-graph-title h1").evaluate("e => e.scrollWidth <= e.clientWidth")
    assert page.evaluate(CUT) == []
    graph_page.choose("launch", "all 14, stacked")
    graph_page.choose("colour", "95th percentile of duration")
    graph_page.drawn("dag")
    graph_page.drawn("timeline")
    assert page.locator("#order").is_visible()
    assert page.evaluate(CLASHES) == page.evaluate(CUT) == []
    assert box(graph_page, ".gv-graph-row")["height"] <= 44
    for name in ("How measured", "Share"):
        page.locator("summary", has_text=name).click()
        body = box(graph_page, "details[open] > .gv-how-body")
        assert body["x"] >= 0
        assert body["x"] + body["width"] <= width
        page.keyboard.press("Escape")


@pytest.mark.parametrize("size", [(1280, 800), (1024, 768)])
def test_legend_buttons_and_minimap_cover_less_than_a_tenth(
    graph_page: GraphPage, site: Site, size: tuple[int, int]
) -> None:
    page = graph_page.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    graph_page.open(site, GRAPH + "&fold=none")
    for _ in range(4):
        page.locator("#dag canvas").press("+")
    # A small view has no minimap.
    has_minimap = size[0] == 1280
    assert (graph_page.at_rest("dag")["minimap"] is not None) == has_minimap
    canvas, pane = box(graph_page, "#dag canvas"), box(graph_page, "[data-pane=graph]")
    buttons = box(graph_page, "#dag .gviz-canvas-buttons")
    parts = [
        (x["x"] + canvas["x"], x["y"] + canvas["y"], x["w"], x["h"])
        for x in graph_page.state("dag")["covered"]
    ]
    parts.append((buttons["x"], buttons["y"], buttons["width"], buttons["height"]))
    assert len(parts) == 2 + has_minimap
    assert sum(w * h for _, _, w, h in parts) < 0.1 * pane["width"] * pane["height"]
    for at, (x, y, w, h) in enumerate(parts):
        assert pane["x"] <= x <= x + w <= pane["x"] + pane["width"]
        assert pane["y"] <= y <= y + h <= pane["y"] + pane["height"]
        for x2, y2, w2, h2 in parts[at + 1 :]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_what_the_verdict_has_no_room_for_is_read_by_keyboard(
    graph_page: GraphPage, site: Site
) -> None:
    page = graph_page.page
    page.set_viewport_size({"width": 1024, "height": 768})
    graph_page.open(site, DECODED)
    more = page.get_by_role("button", name="more", exact=True)
    more.wait_for()
    below = box(graph_page, ".gv-blocks")["y"]
    more.press("Enter")
    less = page.get_by_role("button", name="less", exact=True)
    assert less.get_attribute("aria-expanded") == "true"
    caveat = box(graph_page, ".gv-headline-caveat")
    room = box(graph_page, ".gv-headline-room")
    assert caveat["y"] + caveat["height"] <= room["y"] + room["height"] + 1
    assert box(graph_page, ".gv-blocks")["y"] >= caveat["y"] + caveat["height"]
    less.press("Enter")
    more.wait_for()
    assert box(graph_page, ".gv-blocks")["y"] == below


def test_verdict_moves_nothing_when_it_comes(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    held: list[Route] = []
    for kind in ("verdict", "breakdown"):
        page.route(f"**/payload/{kind}/**", lambda route: held.append(route))
    site.open(page, GRAPH)
    graph_page.drawn("dag")
    graph_page.wait_until(lambda: len(held) == 2, "verdict and breakdown requested")
    before = box(graph_page, "#dag")
    for route in held:
        route.continue_()
    page.unroute_all()
    page.locator(".gv-said").first.wait_for()
    page.locator(".gv-block").first.wait_for()
    assert box(graph_page, "#dag") == before
    # Where there is one row of blocks, no room is kept for three.
    graph_page.open(site, "graph?file=graph_lives&graph=4")
    page.locator(".gv-block").first.wait_for()
    block = box(graph_page, ".gv-block")
    assert box(graph_page, "[data-pane=graph]")["y"] - block["y"] - block["height"] < 22


def test_canvases_are_light_on_paper(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    page.emulate_media(color_scheme="dark")
    graph_page.open(site, DECODED)
    boxes = "[...document.querySelectorAll('[data-theme]:has(canvas)')]"
    themes = f"{boxes}.map((box) => box.dataset.theme)"
    assert set(page.evaluate(themes)) == {"dark"}
    page.evaluate(f"addEventListener('beforeprint', () => {{ window.onPaper = {themes}; }})")
    page.pdf()
    assert set(page.evaluate("window.onPaper")) == {"light"}
    assert set(page.evaluate(themes)) == {"dark"}
    page.emulate_media(color_scheme=None)


def test_verdict_stands_on_paper_in_full(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    page.set_viewport_size({"width": 1024, "height": 768})
    page.emulate_media(color_scheme="dark")
    graph_page.open(site, DECODED)
    more = page.get_by_role("button", name="more", exact=True)
    more.wait_for()
    page.emulate_media(media="print", color_scheme="dark")
    cut = "e => e.scrollHeight > e.clientHeight + 1"
    assert not page.locator(".gv-headline").evaluate(cut)
    assert more.is_hidden()
    # So are boxes to tick.
    scheme = "getComputedStyle(document.documentElement).colorScheme"
    assert page.evaluate(scheme) == "light"
    page.emulate_media(media="null", color_scheme="null")
