"""Parts that all of a report is made of: sections, tables, and the origin of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dash import html
from dash.development.base_component import Component

from gviz.app.components import aria, sentence
from gviz.stats import How, NotComputed
from gviz.text import MISSING, duration

#: What stands in a cell or paragraph.
Content: TypeAlias = str | Component | Sequence[str | Component]

_MEANING: dict[How, str] = {
    "measured": "Read from the recording",
    "derived": "Follows from measured numbers by arithmetic alone",
    "estimated": "Rests on an assumption that docs/analysis.md names",
    "stated": "No measurement: an id, a name, a reason",
}


@dataclass(frozen=True, slots=True)
class ColumnHead:
    """A column: its head, what it means, and whether it holds numbers."""

    name: str
    meaning: str | None = None
    is_number: bool = False


def number(name: str, meaning: str | None = None) -> ColumnHead:
    """Return a column of numbers."""
    return ColumnHead(name, meaning, is_number=True)


def section(key: str, title: str, *children: Component | None) -> Component:
    """Return a section that the list of contents leads to."""
    return html.Section(
        [html.H2(title), *(child for child in children if child is not None)],
        id=f"report-{key}",
        className="gv-report-section",
    )


def missing(key: str, title: str, found: NotComputed) -> Component:
    """Return a section in place of what could not be computed."""
    return section(key, title, why_not(found))


def why_not(found: NotComputed, what: str = "Not computed") -> Component:
    """Return why something could not be computed, in words."""
    return html.P(f"{what}: {found.not_computed}.", className="gv-muted gv-not-computed")


def how(word: How) -> Component:
    """Return how a number came about, as a mark beside it."""
    return html.Span(word, className="gv-how-word", title=_MEANING[word])


def table(
    columns: Sequence[ColumnHead], rows: Sequence[Sequence[Content]], label: str
) -> Component:
    """Return a table; the first cell of a row is its head."""
    head = [
        html.Th(c.name, title=c.meaning, className="gv-number" if c.is_number else None)
        for c in columns
    ]
    body = [
        html.Tr(
            [
                html.Td(cell, className="gv-number" if column.is_number else None)
                for cell, column in zip(row, columns, strict=True)
            ]
        )
        for row in rows
    ]
    found = html.Table(
        [html.Caption(label, className="gv-unseen"), html.Thead(html.Tr(head)), html.Tbody(body)],
        className="gv-table gv-table-report",
    )
    # In a narrow window it scrolls sideways, by keyboard too.
    return html.Div(
        found,
        className="gv-scroll-x gv-report-table",
        role="group",
        tabIndex="0",
        **aria(label=label),
    )


def said(*content: str | Component, muted: bool = False) -> Component:
    """Return a paragraph."""
    return html.P(list(content), className="gv-muted" if muted else None)


def heading(text: str) -> Component:
    """Return what stands over a part of a section."""
    return html.H3(text)


def signed(ns: float | None) -> str:
    """Return a signed time; a proper minus."""
    if ns is None:
        return MISSING
    return f"−{duration(-ns)}" if ns < 0 else duration(ns)


def joined(*parts: str) -> str:
    """Return sentences of the parts that say something."""
    return " ".join(f"{sentence(p)}." for p in parts if p)
