"""Contrast of what the canvases draw: of the palettes as such, and of every text as it is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page
from recordings import FIRST_NODE_ID, Shape, fork_join_shape, write_recording

from gviz.app.components.dag_options import AGAINST_BASELINE, OVERLAY_NAMES

if TYPE_CHECKING:
    from conftest import GraphPage, Serve, Site

pytestmark = pytest.mark.browser

GRAPH = "graph?file=small&graph=1"
NODE = FIRST_NODE_ID + 4
#: WCAG 2.2, success criteria 1.4.3 (text) and 1.4.11 (graphical objects), level AA.
TEXT, SHAPE = 4.5, 3.0

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
        const key = [text, this.fillStyle, this.globalAlpha, ...under].join();
        window.gvizTexts.set(key, { text, ink: this.fillStyle, alpha: this.globalAlpha, under });
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
def site(serve: Serve, small_recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Site:
    works = list(fork_join_shape().works)
    for at in (4, 9):
        works[at] = replace(works[at], duration_ns=3 * works[at].duration_ns)
    path = tmp_path_factory.mktemp("contrast") / "before.gviz"
    return serve(small_recording, write_recording(path, Shape("before", tuple(works)), seed=5))


def pale_texts(page: Page, ground: str) -> Iterator[str]:
    """Yield the texts drawn since the last call whose contrast is too low."""
    drawn: list[dict[str, Any]] = page.evaluate(
        """() => {
          const all = [...window.gvizTexts.values()];
          window.gvizTexts.clear();
          return all;
        }"""
    )
    assert drawn, "no text was drawn"
    for one in drawn:
        red, green, blue, alpha = one["under"]
        under = over((red, green, blue, alpha / 255), parse(ground))
        ink = over(parse(one["ink"]), under, one["alpha"])
        if (found := contrast(ink, under)) < TEXT:
            yield f"{one['text']}: {found:.2f}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_drawn_can_be_read(graph_page: GraphPage, site: Site, scheme: str) -> None:
    page = graph_page.page
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 1920, "height": 1600})
    page.add_init_script(WATCH_TEXTS)
    graph_page.open(site, GRAPH)
    ground = page.evaluate("s => window.gviz.canvas.theme(s).ground", scheme)
    found = {}
    for overlay in sorted(OVERLAY_NAMES):
        for state in ("", f"&node={NODE}", "&layout=time", f"&layout=time&node={NODE}"):
            if state and overlay not in ("duration", "kind"):
                continue
            against = "&baseline=before" if overlay in AGAINST_BASELINE else ""
            graph_page.page.goto(site.address(f"{GRAPH}&colour={overlay}{state}{against}"))
            graph_page.wait()
            if bad := list(pale_texts(page, ground)):
                found[overlay + state] = bad
    assert found == {}


def test_second_line_of_a_card_says_what_it_is_coloured_by(
    graph_page: GraphPage, site: Site
) -> None:
    page = graph_page.page
    page.set_viewport_size({"width": 1920, "height": 2400})
    page.add_init_script(WATCH_TEXTS)
    graph_page.open(site, GRAPH)
    for overlay, words in (("slack", "slack "), ("nvtx", "stage 1"), ("lane", "lane 2")):
        page.goto(site.address(f"{GRAPH}&colour={overlay}&node={NODE}"))
        graph_page.wait()
        page.locator("#dag canvas").press("z")
        graph_page.wait_until(
            lambda words=words: any(
                text.startswith(words)
                for text in page.evaluate("[...window.gvizTexts.values()].map(one => one.text)")
            ),
            f"a card with {words!r}",
        )
