"""Contrast of what the canvases draw: of the palettes as such, and of every text as it is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from canvas_page import is_offered
from recordings import FIRST_NODE_ID, Shape, fork_join_shape, write_recording

from gviz.app.components.dag_options import OVERLAYS, Overlay

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

ONE_PAGE = True
GRAPH = "graph?file=small&graph=1"
NODE = FIRST_NODE_ID + 4
#: WCAG 2.2, success criterion 1.4.3, level AA.
TEXT = 4.5
SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
IS_LIGHT = "matchMedia('(prefers-color-scheme: light)').matches"
#: Heights of the window, one after the other.
HEIGHTS = (1600, 1601)

Colour = tuple[float, float, float, float]

#: Remembers every text drawn on a canvas with what was under it at three places.
WATCH_TEXTS = """
(() => {
  const draw = CanvasRenderingContext2D.prototype.fillText;
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 })
    .getContext("2d", { willReadFrequently: true });
  window.gvizTexts = new Map();
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const { width } = this.measureText(text);
    const left = { left: 0, center: width / 2, right: width }[this.textAlign];
    if (this.canvas.isConnected && y > 0 && text.trim()) {
      for (const along of [0.02, 0.5, 0.98]) {
        const at = new DOMPoint(x - left + along * width, y).matrixTransform(this.getTransform());
        pen.clearRect(0, 0, 1, 1);
        pen.drawImage(this.canvas, -Math.round(at.x), -Math.round(at.y));
        const under = Array.from(pen.getImageData(0, 0, 1, 1).data);
        const view = this.canvas.closest("#dag, #timeline")?.id;
        const key = [view, text, this.fillStyle, this.globalAlpha, ...under].join();
        const ink = { ink: this.fillStyle, alpha: this.globalAlpha, under };
        window.gvizTexts.set(key, { view, text, ...ink });
      }
    }
    draw.call(this, text, x, y);
  };
})();
"""


def parse(css: str) -> Colour:
    """Return red, green and blue (0..255) and alpha (0..1) of a CSS colour."""
    if css.startswith("#"):
        return (*(int(css[at : at + 2], 16) for at in (1, 3, 5)), 1.0)  # type: ignore[return-value]
    parts = [float(part) for part in re.findall(r"[\d.]+", css)]
    return (parts[0], parts[1], parts[2], parts[3] if len(parts) > 3 else 1.0)


def over(upper: Colour, lower: Colour, alpha: float = 1.0) -> Colour:
    """Return a colour laid over an opaque one."""
    share = upper[3] * alpha
    mixed = [share * a + (1 - share) * b for a, b in zip(upper[:3], lower[:3], strict=True)]
    return (mixed[0], mixed[1], mixed[2], 1.0)


def luminance(colour: Colour) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    parts = [byte / 255 for byte in colour[:3]]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(upper: str | Colour, lower: str | Colour) -> float:
    """Contrast ratio of a colour on an opaque one, as WCAG 2.2 defines it."""
    ground = parse(lower) if isinstance(lower, str) else lower
    ink = over(parse(upper) if isinstance(upper, str) else upper, ground)
    low, high = sorted((luminance(ink), luminance(ground)))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(scope="module")
def site(
    serve_beside: Serve, small_recording: Path, tmp_path_factory: pytest.TempPathFactory
) -> Site:
    works = list(fork_join_shape().works)
    for at in (4, 9):
        works[at] = replace(works[at], duration_ns=3 * works[at].duration_ns)
    path = tmp_path_factory.mktemp("contrast") / "before.gviz"
    return serve_beside(
        small_recording, write_recording(path, Shape("before", tuple(works)), seed=5)
    )


def drawn_anew(graph_page: GraphPage) -> list[dict[str, Any]]:
    """Return the texts of both canvases, which a window of another height makes draw all."""
    page = graph_page.page
    size = page.viewport_size
    assert size is not None
    page.evaluate("window.gvizTexts.clear()")
    page.set_viewport_size({"width": size["width"], "height": sum(HEIGHTS) - size["height"]})
    drawn: list[dict[str, Any]] = []

    def both() -> bool:
        drawn[:] = page.evaluate("[...window.gvizTexts.values()]")
        return {"dag", "timeline"} <= {one["view"] for one in drawn}

    graph_page.wait_until(both, "texts of both canvases")
    return drawn


def pale_texts(graph_page: GraphPage, ground: str) -> Iterator[str]:
    """Yield the texts that are drawn whose contrast is too low."""
    for one in drawn_anew(graph_page):
        red, green, blue, alpha = one["under"]
        under = over((red, green, blue, alpha / 255), parse(ground))
        ink = over(parse(one["ink"]), under, one["alpha"])
        if (found := contrast(ink, under)) < TEXT:
            yield f"{one['text']}: {found:.2f}"


def choose_overlay(graph_page: GraphPage, overlay: Overlay) -> bool:
    """Choose a colour and wait until it is drawn; return False where it cannot be chosen."""
    if not is_offered(graph_page.page, "colour", overlay.label):
        return False
    graph_page.choose("colour", overlay.label)
    graph_page.drawn("dag", overlay=overlay.name)
    return True


@pytest.mark.own_page  # the script that watches texts stays in a page
def test_every_text_drawn_can_be_read(graph_page: GraphPage, site: Site) -> None:
    page = graph_page.page
    page.set_viewport_size({"width": 1920, "height": HEIGHTS[0]})
    page.add_init_script(WATCH_TEXTS)
    graph_page.open(site, GRAPH)
    seen: dict[str, list[str]] = {}

    def look(*scene: str) -> None:
        for scheme in SCHEMES if page.evaluate(IS_LIGHT) else reversed(SCHEMES):
            page.emulate_media(color_scheme=scheme)
            for view in ("dag", "timeline"):
                graph_page.drawn(view, theme=scheme)
            ground = page.evaluate("s => window.gviz.canvas.theme(s).ground", scheme)
            seen[" ".join((scheme, *scene))] = list(pale_texts(graph_page, ground))

    for selected in ("", "selected"):
        for overlay in OVERLAYS:
            often = overlay.name in ("duration", "kind")
            if (selected and not often) or not choose_overlay(graph_page, overlay):
                continue
            look(overlay.name, selected)
            if often:
                graph_page.choose_layout("time")
                look(overlay.name, "time", selected)
                graph_page.choose_layout("structure")
        if not selected:
            graph_page.click_node("dag", NODE)
            graph_page.expect_selected(NODE)
    graph_page.open(site, "compare?a=before&b=small")
    for overlay in OVERLAYS:
        if overlay.signed:
            assert choose_overlay(graph_page, overlay)
            look(overlay.name)
    assert len(seen) == 2 * 19
    assert {scene: pale for scene, pale in seen.items() if pale} == {}


@pytest.mark.own_page
def test_second_line_of_a_card_says_what_it_is_coloured_by(
    graph_page: GraphPage, site: Site
) -> None:
    page = graph_page.page
    page.set_viewport_size({"width": 1920, "height": 2400})
    page.add_init_script(WATCH_TEXTS)
    graph_page.open(site, GRAPH)
    graph_page.click_node("dag", NODE)
    graph_page.expect_selected(NODE)
    page.locator("#dag canvas").press("z")
    for name, words in (("slack", "slack "), ("nvtx", "stage 1"), ("lane", "lane 2")):
        assert choose_overlay(graph_page, next(one for one in OVERLAYS if one.name == name))
        graph_page.wait_until(
            lambda words=words: any(
                text.startswith(words)
                for text in page.evaluate("[...window.gvizTexts.values()].map(one => one.text)")
            ),
            f"a card with {words!r}",
        )
