"""Shapes and texts of SVG 1.1."""

from __future__ import annotations

import re
from html import escape

from gviz.dataclass import dataclass
from gviz.formats.svg.colours import Theme

#: What XML 1.0 has no character for.
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Width of a character over the size of its font: what sans-serif fonts have on average.
_CHARACTER = 0.58
FONT = "Helvetica, Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class Ink:
    """The colours of a theme, as on the pages (assets/web/core/canvas.js).

    Texts have a contrast of 7:1 at least on the ground and on ``untimed`` (WCAG 2.2).
    """

    ground: str
    ink: str
    edge: str
    untimed: str


INKS: dict[Theme, Ink] = {
    "light": Ink("#ffffff", "#1f2328", "#8c96a1", "#f1f3f6"),
    "dark": Ink("#151a21", "#e8ecf1", "#626d7c", "#1d232b"),
}


class Pen:
    """Draws; y grows downwards, lengths are CSS pixels."""

    def __init__(self, ink: Ink) -> None:
        self.ink = ink
        self._items: list[str] = []

    def rect(
        self, box: tuple[float, float, float, float], fill: str, title: str, *, round: float = 0
    ) -> None:
        """Draw a rectangle (left, top, width, height) that says its title."""
        x, y, width, height = box
        self._items.append(
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" '
            f'rx="{round:g}" fill="{fill}" stroke="{self.ink.edge}" stroke-width="0.5">'
            f"<title>{clean(title)}</title></rect>"
        )

    def text(
        self, at: tuple[float, float], text: str, fill: str, *, size: float = 11, room: float = 0
    ) -> None:
        """Write a line from a point on its base line on; cut in the middle to fit ``room``."""
        if room:
            text = fit(text, room, size)
        if text:
            self._items.append(
                f'<text x="{at[0]:.2f}" y="{at[1]:.2f}" font-size="{size:g}" fill="{fill}">'
                f"{clean(text)}</text>"
            )

    def line(
        self, points: list[tuple[float, float]], *, dash: str = "", arrow: bool = False
    ) -> None:
        """Draw a line through points."""
        path = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
        more = f' stroke-dasharray="{dash}"' if dash else ""
        more += ' marker-end="url(#arrow)"' if arrow else ""
        self._items.append(
            f'<polyline points="{path}" fill="none" stroke="{self.ink.edge}"{more}/>'
        )

    def path(self, data: str, attributes: str) -> None:
        """Draw a path of SVG's own words, filled as these attributes say."""
        self._items.append(f'<path d="{data}" {attributes}/>')

    def drawing(self, width: float, height: float, title: str, attributes: str) -> str:
        """Return all that was drawn as an element of a page, stretched to the room that it has."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'preserveAspectRatio="none" {attributes}>\n<title>{clean(title)}</title>\n'
            + "\n".join(self._items)
            + "\n</svg>\n"
        )

    def document(self, width: float, height: float, title: str) -> str:
        """Return all that was drawn as a file."""
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}">\n'
            f"<title>{clean(title)}</title>\n"
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" '
            f'markerHeight="6" orient="auto"><path d="M0 0 8 4 0 8z" fill="{self.ink.edge}"/>'
            "</marker></defs>\n"
            f'<rect width="100%" height="100%" fill="{self.ink.ground}"/>\n'
            + "\n".join(self._items)
            + "\n</svg>\n"
        )


def clean(text: str) -> str:
    """Return a text as XML may hold it."""
    return escape(_NO_CHARACTER.sub("\ufffd", text))


def fit(text: str, room: float, size: float) -> str:
    """Return a text, or less of it, that is about as wide as there is room; empty: too little.

    First "_kernel" goes, then the middle: names of kernels differ at their ends as often as at
    their beginnings.
    """
    width = size * _CHARACTER
    short = text.removesuffix("_kernel") if len(text) * width > room else text
    if len(short) * width <= room:
        return short
    for keep in range(int((room - size) / width), 3, -1):
        head = int(0.45 * keep)
        cut = f"{short[:head]}…{short[len(short) - (keep - head) :]}"
        if len(cut) * width <= room:
            return cut
    return ""
