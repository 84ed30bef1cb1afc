"""Documents as text for a terminal: the short form, in lines that fit."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

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
    Section,
    Sentence,
    Suggestion,
    Suggestions,
    TableBlock,
    TableColumn,
    Verdict,
    capitalized,
    line,
    marked,
    plain,
)
from gviz.report.renderers.how_marks import how_places
from gviz.text import counted, render_table, shorten, wrapped

#: A step of indentation.
_STEP = 2
#: A name in running text.
_NAME = 36
#: Columns of text are not made narrower than this, but for the widest.
_NARROWEST = 12
#: Between two columns.
_GAP = 2
#: Stands behind what the short form leaves out.
_ALL = "(--json)"


def render_texts(documents: Iterable[Document], width: int) -> str:
    """Return documents as text, one below the other."""
    return "\n\n".join(render_text(document, width) for document in documents)


def render_text(document: Document, width: int) -> str:
    """Return a document as text, no line longer than ``width`` where that can be.

    The title, which may be a path, is never broken.
    """
    lines = [document.title] if document.title else []
    for verdict in document.verdicts:
        lines += ["", *_verdict(verdict, width)] if lines else _verdict(verdict, width)
    for section in document.sections:
        lines += _section(section, width, 0)
    return "\n".join(lines)


def _verdict(verdict: Verdict, width: int) -> Iterator[str]:
    indent = 0
    if verdict.subject:
        yield from wrapped(verdict.subject, width, indent=0)
        indent = _STEP
    for sentence in verdict.sentences:
        yield from wrapped(_text(marked(sentence.content)), width, indent)
    for caveat in verdict.caveats:
        yield from wrapped(f"Caveat: {capitalized(caveat)}.", width, indent)


def _section(section: Section, width: int, indent: int) -> Iterator[str]:
    """Yield a section; one of sections alone has them below it like sections of its own.

    One of which the short form leaves all out has no heading.
    """
    if section.is_detail:
        return
    lines: list[str] = []
    for block in section.blocks:
        if isinstance(block, Section) and _is_group(section):
            lines += _section(block, width, indent + _STEP)
        else:
            lines += _block(block, width, indent + _STEP)
    if lines:
        yield from ("", *wrapped(section.heading, width, indent), *lines)


def _is_group(section: Section) -> bool:
    return all(isinstance(block, Section) for block in section.blocks)


def _block(block: Block, width: int, indent: int) -> Iterator[str]:
    match block:
        case Sentence():
            if not block.is_detail:
                yield from wrapped(_text(marked(block.content)), width, indent)
        case TableBlock():
            yield from _table(block, width, indent)
        case Suggestions():
            yield from _suggestions(block, width, indent)
        case KeyFigures():
            figures = [f"{item.name}: {_text(marked(item.value))}" for item in block.items]
            yield from wrapped("; ".join(figures), width, indent)
        case Section():
            yield from _part(block, width, indent)
        case Drawing():
            pass


def _part(section: Section, width: int, indent: int) -> Iterator[str]:
    """Yield a section within another: a line that begins with its heading where it is short."""
    if section.is_detail:
        return
    shown = [
        block
        for block in section.blocks
        if not isinstance(block, Drawing) and not (isinstance(block, Sentence) and block.is_detail)
    ]
    first = shown[0] if shown else None
    if isinstance(first, Sentence):
        text = f"{section.heading}: {_text(marked(first.content))}"
        yield from wrapped(text, width, indent)
        shown = shown[1:]
    elif not (isinstance(first, TableBlock) and first.in_line):
        yield from wrapped(f"{section.heading}:", width, indent)
    for block in shown:
        in_line = isinstance(block, TableBlock) and block.in_line
        yield from _block(block, width, indent if in_line else indent + _STEP)


# -- tables ------------------------------------------------------------------------------


def _table(table: TableBlock, width: int, indent: int) -> Iterator[str]:
    rows = table.rows if table.brief is None else table.rows[: table.brief]
    if not rows:
        return
    left = len(table.rows) - len(rows) + table.left_out
    shown = [at for at, column in enumerate(table.columns) if not column.is_detail]
    if table.in_line:
        yield from _in_line(table, rows, shown, left, width, indent)
        return
    yield from _grid(table, rows, shown, width, indent)
    if left:
        noun, plural = table.row_noun
        count = f"{left:,} more" if noun == "more" else counted(left, noun, plural)
        yield from wrapped(f"and {count} {_ALL}", width, indent)


def _in_line(
    table: TableBlock, rows: Sequence[tuple[Line, ...]], shown: list[int], left: int, width: int,
    indent: int,
) -> Iterator[str]:  # fmt: skip
    parts: list[Inline] = [f"{table.label}: "]
    for at, row in enumerate(rows):
        cells = [row[i] for i in shown if row[i]]
        for number, cell in enumerate(cells):
            parts += [" " if number else "; " if at else "", *cell]
    if left:
        parts.append(f"; {left:,} more")
    yield from wrapped(_text(marked(line(*parts))), width, indent)


def _grid(
    table: TableBlock, rows: Sequence[tuple[Line, ...]], shown: list[int], width: int, indent: int
) -> Iterator[str]:
    columns = [table.columns[at] for at in shown]
    hows = how_places(table, shown, len(rows))
    head = [column.heading for column in columns]
    body = [[plain(row[at]) for at in shown] for row in rows]
    texts = [at for at, column in enumerate(columns) if not column.is_number]
    if hows.table is not None:
        head[texts[0] if texts else 0] += f" [{hows.table}]"
    if hows.rows:
        head.append("")
        body = [[*cells, ", ".join(found)] for cells, found in zip(body, hows.rows, strict=True)]
    elastic = max(texts, key=lambda at: max(len(r[at]) for r in [head, *body]), default=0)
    heads, body = _fitted(head, body, texts, elastic, width - indent)
    if any(hows.columns):
        heads.append(
            [
                "" if how is None or how == column.heading.lower() else f"[{how}]"
                for column, how in zip(columns, hows.columns, strict=True)
            ]
        )
    if _excess([_without(row, elastic) for row in [*heads, *body]], width - indent) > 0:
        for row in rows:
            yield from _row_in_lines(columns, [row[at] for at in shown], elastic, width, indent)
        return
    yield from render_table(
        heads[0], [*heads[1:], *body], width=width, elastic=elastic,
        left=frozenset({*texts, len(columns)}), indent=indent,
    ).split("\n")  # fmt: skip


def _without(row: list[str], at: int) -> list[str]:
    return [*row[:at], *row[at + 1 :]]


def _row_in_lines(
    columns: Sequence[TableColumn], cells: Sequence[Line], elastic: int, width: int, indent: int
) -> Iterator[str]:
    """Yield a row of a table that is too wide: its name, below it each heading with its cell."""
    yield from wrapped(plain(cells[elastic]), width, indent)
    parts: list[Inline] = []
    for at, (column, cell) in enumerate(zip(columns, cells, strict=True)):
        if at != elastic and cell:
            parts += ["; " if parts else "", f"{column.heading}: ", *cell]
    yield from wrapped(_text(marked(line(*parts))), width, indent + _STEP)


def _fitted(
    head: list[str], body: list[list[str]], texts: list[int], elastic: int, room: int
) -> tuple[list[list[str]], list[list[str]]]:
    """Return the rows of the head, and those below, broken and cut until they fit if they can."""
    if _excess([head, *body], room) <= 0:
        return [head], body
    others = [at for at in texts if at != elastic]
    heads = _broken_head(head, body, {elastic: len(head[elastic])})
    if others and _excess([*heads, *body], room) > 0:
        most = max(_NARROWEST, room // (len(texts) + 1))
        body = [[shorten(c, most) if at in others else c for at, c in enumerate(r)] for r in body]
        heads = _broken_head(head, body, {elastic: len(head[elastic])})
    widest = max(len(row[elastic]) for row in [*heads, *body])
    left = widest - _excess([*heads, *body], room)
    if left >= _NARROWEST:
        heads = _broken_head(head, body, {elastic: left})
        body = [row for cells in body for row in _broken_row(cells, elastic, left)]
    return heads, body


def _broken_head(head: list[str], body: list[list[str]], limits: dict[int, int]) -> list[list[str]]:
    """Return the rows of a head as narrow as the cells below; ``limits``: of single columns."""
    widest = [max((len(row[at]) for row in body), default=0) for at in range(len(head))]
    broken = [
        _broken(text, limits.get(at, max(widest[at], _NARROWEST))) for at, text in enumerate(head)
    ]
    count = max(map(len, broken))
    return [list(row) for row in zip(*([""] * (count - len(x)) + x for x in broken), strict=True)]


def _excess(rows: list[list[str]], room: int) -> int:
    widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    return sum(widths) + _GAP * (len(rows[0]) - 1) - room


def _broken(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _broken_row(cells: list[str], at: int, width: int) -> list[list[str]]:
    """Return a row with one cell broken into lines; a name without spaces stays as it is."""
    lines = _broken(cells[at], width)
    if max(map(len, lines)) > width:
        return [cells]
    first = [*cells[:at], lines[0], *cells[at + 1 :]]
    below = [[line if i == at else "" for i in range(len(cells))] for line in lines[1:]]
    return [first, *below]


# -- what to change ----------------------------------------------------------------------


def _suggestions(found: Suggestions, width: int, indent: int) -> Iterator[str]:
    for number, one in enumerate(found.items[: found.brief], start=1):
        yield from _suggestion(number, one, width, indent)
    left = len(found.items) - found.brief
    if left > 0:
        yield from wrapped(f"and {left:,} more {_ALL}", width, indent)


def _suggestion(number: int, one: Suggestion, width: int, indent: int) -> Iterator[str]:
    subject = f", {one.subject}" if one.subject else ""
    gain = _text(marked(one.gain_line))
    about = ""
    if one.nodes is not None:
        about = f" Node {one.nodes.ids}." if one.nodes.count == 1 else f" Nodes {one.nodes.ids}."
        about = about.replace("....", "...")
    text = f"{number}. {capitalized(gain)}{subject}: {_text(one.reason)}{about} [{one.rule}]"
    yield from wrapped(text, width, indent)
    yield from wrapped(f"Fix: {one.fix}", width, indent + _STEP + 1)
    if one.overlap:
        yield from wrapped(one.overlap, width, indent + _STEP + 1)


# -- words -------------------------------------------------------------------------------


def _text(content: Line) -> str:
    return "".join(_part_text(part) for part in content)


def _part_text(part: Inline) -> str:
    match part:
        case str():
            return part
        case NodeLink():
            return f"{part.node.node_id} {shorten(kernel_label(part.node.name), _NAME)}"
        case AlikeLink():
            return shorten(part.text, _NAME)
        case _:
            return part.text
