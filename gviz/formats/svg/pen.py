"""Shapes and texts of SVG 1.1."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Literal

Theme = Literal["light", "dark"]
#: What XML 1.0 has no character for.
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Width of a character over the size of its font: what sans-serif fonts have on average.
_CHARACTER = 0.58
FONT = "Helvetica, Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class Ink:
    """The colours of a theme; texts have a contrast of 7:1 at least on the page (WCAG 2.1)."""

    page: str
    text: str
    line: str
    plain: str


INKS: dict[Theme, Ink] = {
    "light": Ink("#ffffff", "#1f2328", "#6e7781", "#eaeef2"),
    "dark": Ink("#16191d", "#e6edf3", "#8b949e", "#2d333b"),
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
            f'rx="{round:g}" fill="{fill}" stroke="{self.ink.line}" stroke-width="0.5">'
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
            f'<polyline points="{path}" fill="none" stroke="{self.ink.line}"{more}/>'
        )

    def document(self, width: float, height: float, title: str) -> str:
        """Return all that was drawn as a file."""
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}">\n'
            f"<title>{clean(title)}</title>\n"
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" '
            f'markerHeight="6" orient="auto"><path d="M0 0 8 4 0 8z" fill="{self.ink.line}"/>'
            "</marker></defs>\n"
            f'<rect width="100%" height="100%" fill="{self.ink.page}"/>\n'
            + "\n".join(self._items)
            + "\n</svg>\n"
        )


def clean(text: str) -> str:
    """Return a text as XML may hold it."""
    return escape(_NO_CHARACTER.sub("\ufffd", text))


def fit(text: str, room: float, size: float) -> str:
    """Return a text that is about as wide as there is room, cut in the middle; empty: none."""
    most = int(room / (size * _CHARACTER))
    if len(text) <= most:
        return text
    if most < 4:
        return ""
    half = (most - 1) // 2
    return f"{text[: most - 1 - half]}…{text[len(text) - half :]}"
