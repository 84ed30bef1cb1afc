"""Documents of gviz.report as components: the one place that makes a page of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias

from dash import html
from dash.development.base_component import Component

from gviz.app.components.aria_attributes import aria
from gviz.app.components.shell import facts
from gviz.report import (
    Block,
    Document,
    Drawing,
    HowMark,
    HowPlaces,
    Inline,
    KeyFigures,
    Line,
    Link,
    Quantity,
    Section,
    Sentence,
    Suggestion,
    Suggestions,
    TableBlock,
    Verdict,
    capitalized,
    how_places,
    interval_text,
    marked,
)
from gviz.stats import How
from gviz.text import integer

#: What stands in a cell or paragraph.
Piece: TypeAlias = str | Component

_MEANING: dict[How, str] = {
    "measured": "Read from the recording",
    "derived": "Follows from measured numbers by arithmetic alone",
    "estimated": "Rests on an assumption that docs/analysis.md names",
    "stated": "No measurement: an id, a name, a reason",
}
#: Ends of clauses, before which a mark of how a number came about would part the sentence.
_STOPS = (".", ";", ":")
#: Nodes that are named one by one.
_NAMED = 4


class DocumentLinks(Protocol):
    """Makes links of what a document refers to."""

    def component(self, link: Link) -> Piece:
        """Return a link, or only its text."""


class TextLinks:
    """No links: what a document refers to stands there as text."""

    def component(self, link: Link) -> Piece:
        """Return the text of a link."""
        return link.text


class DocumentPage:
    """Makes components of a document.

    Parameters
    ----------
    links
        For what it refers to.
    draw
        Makes a picture of it; None: it is left out.
    """

    def __init__(
        self,
        links: DocumentLinks | None = None,
        draw: Callable[[Drawing], Component | None] = lambda _: None,
    ) -> None:
        self._links: DocumentLinks = links or TextLinks()
        self._draw = draw

    def body(self, document: Document) -> list[Component]:
        """Return the list of contents, which stands beside the rest; verdicts, and the sections.

        assets/web/dash/contents.js marks the section that is read in the list.
        """
        shown = document.sections
        contents = html.Nav(
            html.Ul([html.Li(html.A(s.heading, href=f"#{_id(s)}")) for s in shown]),
            className="gv-contents",
            **aria(label="Parts of this report"),
        )
        return [
            *([contents] if len(shown) > 1 else []),
            *(self.verdict(verdict, named=len(document.verdicts) > 1)
              for verdict in document.verdicts),
            *(self.section(part) for part in shown),
        ]  # fmt: skip

    def verdict(self, verdict: Verdict, *, named: bool = False) -> Component:
        """Return a verdict; ``named``: with what it is about, of which there are several."""
        caveats = [
            html.Li(
                [
                    html.Span("caveat", className="gv-note gv-note-warning"),
                    f"{capitalized(caveat)}.",
                ]
            )
            for caveat in verdict.caveats
        ]
        heading = [html.H2(verdict.subject)] if named and verdict.subject else []
        return html.Section(
            [
                *heading,
                *(html.P(self.line(sentence.content)) for sentence in verdict.sentences),
                *([html.Ul(caveats, className="gv-notes")] if caveats else []),
            ],
            className="gv-verdict",
            # Landmarks of one name are not distinguished: a verdict with a heading is none.
            **({} if heading else aria(label="Verdict")),
        )

    def section(self, part: Section) -> Component:
        """Return a section that the list of contents leads to."""
        return html.Section(
            [html.H2(part.heading), *self._blocks(part.blocks)],
            id=_id(part),
            className="gv-report-section",
            tabIndex="-1",
        )

    def _blocks(self, blocks: Sequence[Block]) -> Iterator[Component]:
        for block in blocks:
            yield from self.block(block)

    def block(self, block: Block) -> Iterator[Component]:
        """Yield the components of a block."""
        match block:
            case Sentence():
                muted = "gv-muted" if block.is_note else None
                yield html.P(self.line(block.content), className=muted)
            case TableBlock():
                yield from self._table(block)
            case Suggestions():
                items = [self._suggestions(alike) for alike in _grouped(block.items)]
                yield html.Ol(items, className="gv-findings")
            case KeyFigures():
                figures = [(x.name, self.line(x.value), x.meaning) for x in block.items]
                yield facts(figures)
            case Drawing():
                drawn = self._draw(block)
                if drawn is not None:
                    yield drawn
            case Section(is_folded=True):
                inside = [html.Summary(block.heading), *self._blocks(block.blocks)]
                yield html.Details(inside, className="gv-report-more")
            case Section():
                yield html.H3(block.heading)
                yield from self._blocks(block.blocks)

    # -- tables ----------------------------------------------------------------------------

    def _table(self, table: TableBlock) -> Iterator[Component]:
        if not table.rows:
            return
        every = range(len(table.columns))
        hows = how_places(table, every)
        body = [
            html.Tr([*self._cells(table, row), *_how_cell(hows, number)])
            for number, row in enumerate(table.rows)
        ]
        label = html.Caption(table.label, className="gv-unseen")
        found = html.Table(
            [label, html.Thead(html.Tr(_head(table, hows))), html.Tbody(body)],
            className="gv-table gv-table-report",
        )
        # In a narrow window it scrolls sideways, by keyboard too.
        yield html.Div(
            found,
            className="gv-scroll-x gv-report-table",
            role="group",
            tabIndex="0",
            **aria(label=table.label),
        )
        if table.left_out:
            noun, plural = table.row_noun
            more = noun if table.left_out == 1 else plural
            yield html.P(f"And {integer(table.left_out)} {more}.", className="gv-muted")

    def _cells(self, table: TableBlock, row: Sequence[Line]) -> Iterator[Component]:
        for cell, column in zip(row, table.columns, strict=True):
            pieces = [self._piece(part) for part in cell]
            content = pieces[0] if len(pieces) == 1 else pieces or ""
            yield html.Td(content, className="gv-number" if column.is_number else None)

    # -- what to change --------------------------------------------------------------------

    def _suggestions(self, alike: Sequence[Suggestion]) -> Component:
        """Return suggestions of one rule: the first, and the others folded below it."""
        first, *others = alike
        parts = self._suggestion(first)
        if others:
            gains = ", ".join(dict.fromkeys(_gain(one) for one in others))
            inside = [html.Div(self._suggestion(one), className="gv-finding") for one in others]
            also = f"{integer(len(others))} more of this rule: {gains}"
            parts.append(html.Details([html.Summary(also), *inside], className="gv-report-more"))
        return html.Li(parts, className="gv-finding")

    def _suggestion(self, one: Suggestion) -> list[Component]:
        over_run = "" if one.over_run is None else f"{one.over_run.text} over the run's launches"
        listed = [
            ("Fix", [one.fix]),
            ("Overlap", [one.overlap] if one.overlap else []),
            ("Evidence", self._evidence(one)),
            ("Assumes", [capitalized(one.assumes)] if one.assumes else []),
            ("Source", [one.source]),
        ]
        head = [
            html.Strong(capitalized(_gain(one)), className="gv-gain"),
            how_word(one.gain.how),
            html.Span(", ".join(x for x in (one.subject, over_run) if x), className="gv-muted"),
            html.Code(one.rule, className="gv-rule", title=one.rule_title),
        ]
        return [
            html.Div(head, className="gv-finding-head"),
            html.P([*self.line(one.reason), *self._nodes(one)]),
            html.Dl(
                [html.Div([html.Dt(name), html.Dd(value)]) for name, value in listed if value],
                className="gv-finding-facts",
            ),
        ]

    def _nodes(self, one: Suggestion) -> list[Piece]:
        if one.nodes is None:
            return []
        if one.nodes.count > _NAMED:
            return [" Select ", self._links.component(one.nodes), " in the graph."]
        named: list[Piece] = [" Nodes: " if one.nodes.count > 1 else " Node: "]
        for at, link in enumerate(one.nodes.each()):
            named += [", " if at else "", self._links.component(link)]
        return named

    def _evidence(self, one: Suggestion) -> list[Piece]:
        parts: list[Piece] = []
        for at, item in enumerate(one.evidence):
            shown = [f"{item.value.text} ", how_word(item.value.how)]
            # A mark alone in the next line would be about nothing.
            parts += [f"{'; ' if at else ''}{item.name}: ", html.Span(shown, className="gv-nowrap")]
        return parts

    # -- lines -----------------------------------------------------------------------------

    def line(self, content: Line) -> list[Piece]:
        """Return a line, with how its quantities came about."""
        return [self._piece(part) for part in _behind_stops(marked(content))]

    def _piece(self, part: Inline) -> Piece:
        match part:
            case str():
                return part
            case HowMark():
                return how_word(part.how)
            case Quantity():
                return _quantity(part)
            case _:
                return self._links.component(part)


def _behind_stops(content: Line) -> list[Inline]:
    """Return the parts of a line, marks behind the stop that follows: a badge is no word of it."""
    found: list[Inline] = []
    for part in content:
        mark = found[-1] if found else None
        if isinstance(part, str) and part.startswith(_STOPS) and isinstance(mark, HowMark):
            found.pop()
            if found and isinstance(before := found[-1], str):
                found[-1] = before.removesuffix(" ")
            found += [part[0], " ", mark]
            part = part[1:]
        found.append(part)
    return [part for part in found if part != ""]


def how_word(how: How) -> Component:
    """Return how a number came about, as a mark beside it."""
    return html.Span(how, className="gv-how-word", title=_MEANING[how])


def _quantity(found: Quantity) -> Piece:
    """Return a number; what more is known of it shows on demand."""
    known = []
    if found.n is not None:
        known.append(f"of {found.n:,}")
    if found.interval is not None:
        known.append(f"95% interval {interval_text(found)}")
    if found.caveat is not None:
        known.append(found.caveat)
    return html.Span(found.text, title="; ".join(known)) if known else found.text


def _head(table: TableBlock, hows: HowPlaces[How]) -> list[Component]:
    head = []
    for at, (column, how) in enumerate(zip(table.columns, hows.columns, strict=True)):
        # What all numbers of a table have in common stands once, in its first head.
        word = hows.table if at == 0 and hows.table is not None else how
        shown = word is not None and word != column.heading.lower()
        head.append(
            html.Th(
                [f"{column.heading} ", how_word(word)] if word and shown else column.heading,
                title=column.meaning,
                className="gv-number" if column.is_number else None,
            )
        )
    return [*head, html.Th("How")] if hows.rows else head


def _how_cell(hows: HowPlaces[How], row: int) -> list[Component]:
    return [html.Td([how_word(how) for how in hows.rows[row]])] if hows.rows else []


def _grouped(items: Sequence[Suggestion]) -> list[list[Suggestion]]:
    """Return suggestions by their rules, each where the first of its rule stands."""
    found: dict[str, list[Suggestion]] = {}
    for one in items:
        found.setdefault(one.rule, []).append(one)
    return list(found.values())


def _gain(one: Suggestion) -> str:
    return "".join(x if isinstance(x, str) else x.text for x in one.gain_line)


def _id(part: Section) -> str:
    return f"report-{part.key}"
