"""Documents for programs that read text, such as language models: short, and nothing hidden.

Each number has how it came about, how many values it rests on, and its interval; what may make it
wrong stands once, below. Numbers beside each other with the same basis share one mark. Names of the
watched program are data: they stand between « and », which no name holds, on one line and cut.
"""

from __future__ import annotations

from collections.abc import Iterator

from gviz.families import kernel_label
from gviz.report.document import (
    AlikeLink,
    Block,
    Document,
    Drawing,
    Inline,
    KeyFigures,
    Line,
    NodeLink,
    NodesLink,
    Quantity,
    Section,
    Sentence,
    Suggestion,
    Suggestions,
    TableBlock,
    capitalized,
    marked_by,
    range_text,
)
from gviz.report.renderers.how_marks import word_places
from gviz.stats import LEAST_VALUES
from gviz.text import counted, inert, marked_data, unquoted

#: Rows of a table, and a name's characters.
_ROWS, _NAME = 12, 80
#: How reports call an interval that stands in words, or in a column of its own.
INTERVAL = "95% interval"
#: A line's, above all of one made of many names.
_LINE = 1_000
#: Why figures have no interval, in the order in which it is said.
_LACKS = (
    "shares have that of their time",
    "estimates assume what their caveats say",
    f"fewer than {LEAST_VALUES} values are too few",
    "others are not computed",
)


def render_data(document: Document, most_rows: int = _ROWS) -> str:
    """Return a document in its short form, a line a statement.

    Parameters
    ----------
    most_rows
        Rows of each table at most; how many there are besides is said.
    """
    return "\n".join(_Form(most_rows).lines(document))


class _Form:
    """One document's lines, and the caveats that its numbers name."""

    def __init__(self, most_rows: int) -> None:
        self._most_rows = most_rows
        self._caveats: dict[str, str] = {}
        self._lacking: set[int] = set()

    def lines(self, document: Document) -> Iterator[str]:
        if document.title:
            yield _own(document.title)
        for verdict in document.verdicts:
            if verdict.subject:
                yield _own(verdict.subject)
            for sentence in verdict.sentences:
                yield self._line(sentence.content)
            for caveat in verdict.caveats:
                if caveat[:1].lower() + caveat[1:] in self._caveats:
                    continue  # it stands below, with the mark of the numbers that it is about
                yield _own(f"Caveat: {capitalized(caveat)}.")
        for section in document.sections:
            yield from self._section(section)
        for caveat, mark in self._caveats.items():
            yield _own(f"({mark}) {caveat}")
        if self._lacking:
            why = "; ".join(_LACKS[at] for at in sorted(self._lacking))
            yield f"(no interval where none stands: {why})"

    def _section(self, section: Section) -> Iterator[str]:
        if section.is_detail:
            return
        if section.heading:
            yield _own(f"# {section.heading}")
        for block in section.blocks:
            yield from self._block(block)

    def _block(self, block: Block) -> Iterator[str]:
        match block:
            case Sentence():
                if not block.is_detail:
                    yield self._line(block.content)
            case TableBlock():
                yield from self._table(block)
            case Suggestions():
                most = block.brief if self._most_rows >= _ROWS else self._most_rows
                for number, one in enumerate(block.items[:most], start=1):
                    yield from self._suggestion(number, one)
                left = len(block.items) - most
                if left > 0:
                    yield f"and {left:,} more"
            case KeyFigures():
                for item in block.items:
                    yield f"{item.name}: {self._line(item.value)}"
            case Section():
                yield from self._section(block)
            case Drawing():
                pass

    def _table(self, table: TableBlock) -> Iterator[str]:
        most = self._most_rows if table.brief is None else min(self._most_rows, table.brief)
        rows = table.rows[:most]
        if not rows:
            return
        # Intervals stand behind their figures.
        shown = [
            at
            for at, column in enumerate(table.columns)
            if not column.is_detail and column.heading != INTERVAL
        ]
        words = word_places([[row[at] for at in shown] for row in rows], self._basis)
        heads = [
            table.columns[at].heading + (f" [{word}]" if word else "")
            for at, word in zip(shown, words.columns, strict=True)
        ]
        yield " | ".join(heads) + (f" [{words.table}]" if words.table else "")
        for number, row in enumerate(rows):
            cells = ["".join(map(self._part, row[at])) for at in shown]
            word = "; ".join(words.rows[number]) if words.rows else ""
            cells += [f"[{word}]"] if word else []
            yield inert(" | ".join(cells), _LINE)
        left = len(table.rows) - len(rows) + table.left_out
        if left:
            noun, plural = table.row_noun
            yield f"and {f'{left:,} more' if noun == 'more' else counted(left, noun, plural)}"

    def _suggestion(self, number: int, one: Suggestion) -> Iterator[str]:
        subject = f", {one.subject}" if one.subject else ""
        gain = self._line(one.gain_line)
        about = "" if one.nodes is None else f" {self._part(one.nodes)}."
        reason = self._line(one.reason)
        yield inert(f"{number}. [{one.rule}] {capitalized(gain)}{subject}: {reason}{about}", _LINE)
        yield inert(f"   Fix: {one.fix} {one.overlap}".rstrip(), _LINE)

    def _line(self, content: Line) -> str:
        # A line that says an interval in words says it once.
        in_words = any(isinstance(part, str) and INTERVAL in part for part in content)
        parts = marked_by(content, self._mark)
        if in_words:
            parts = tuple(part.text if isinstance(part, Quantity) else part for part in parts)
        return inert("".join(map(self._part, parts)), _LINE)

    def _part(self, part: Inline) -> str:
        match part:
            case str():
                return unquoted(part)
            case Quantity():
                return f"{part.beside_interval.text}{_interval(part)}"
            case NodeLink():
                return (
                    f"node {part.node.node_id} {marked_data(kernel_label(part.node.name), _NAME)}"
                )
            case AlikeLink():
                return marked_data(part.text, _NAME)
            case NodesLink():
                return f"{counted(part.count, 'node')} ({part.ids})"
            case _:
                return unquoted(part.text)

    def _mark(self, found: Quantity) -> str | None:
        basis = self._basis(found)
        return basis and f"[{basis}]"

    def _basis(self, found: Quantity) -> str | None:
        """Return what a number rests on; None: it says no more than itself."""
        if found.value is None or found.is_count:
            return None
        # Words that stand for a number do not say how it came about.
        how = found.how if found.wording and found.how != "stated" else found.own_how
        parts: list[str] = [] if how is None else [how]
        if found.n is not None:
            parts.append(f"n={found.n:,}")
            if found.interval is None and not found.bound:
                self._lacking.add(_lack(found, found.n))
        for caveat in filter(None, (found.caveat or "").split("; ")):
            mark = f"c{len(self._caveats) + 1}"
            parts.append(self._caveats.setdefault(caveat, mark))
        return ", ".join(parts) or None


def _lack(found: Quantity, count: int) -> int:
    """Return why a figure of so many values has no interval: a place in :data:`_LACKS`."""
    if found.unit != "ns":
        return 0
    if found.how == "estimated":
        return 1
    return 2 if count < LEAST_VALUES else 3


def _interval(found: Quantity) -> str:
    """Return the 95% interval in brackets; empty: none."""
    if found.interval is None or found.wording:
        return ""
    text = found.interval_text if found.is_within_clock else range_text(*found.interval_ends)
    return f" (95% {text})"


def _own(text: str) -> str:
    """Return a line of gviz's own, in which a name may stand that is not marked."""
    return inert(unquoted(text), _LINE)
