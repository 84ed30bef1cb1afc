"""Documents as Markdown, for the summary of a CI job or a comment on a change."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gviz.report.document import (
    Block,
    Document,
    Drawing,
    KeyFigures,
    Line,
    Section,
    Sentence,
    Suggestions,
    TableBlock,
    capitalized,
    marked,
    plain,
)
from gviz.report.renderers.how_marks import how_places
from gviz.text import counted

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+|~&@!-])")
#: Longer texts make tables that nobody reads.
_MOST_CHARACTERS = 200


def render_markdown(document: Document) -> str:
    """Return a document as Markdown, the details left out; no name in it is Markdown or HTML."""
    return "\n".join(_document(document)) + "\n"


def _document(document: Document) -> Iterator[str]:
    yield f"### {_escaped(document.title)}"
    for verdict in document.verdicts:
        yield ""
        if verdict.subject:
            yield f"**{_escaped(verdict.subject)}**"
            yield ""
        for sentence in verdict.sentences:
            yield f"{_line(sentence.content)}  "
        for caveat in verdict.caveats:
            yield f"- Caveat: {_escaped(capitalized(caveat))}."
    for section in document.sections:
        yield from _section(section, 4)


def _section(section: Section, level: int) -> Iterator[str]:
    if section.is_detail:
        return
    if section.heading:
        yield ""
        yield f"{'#' * min(level, 6)} {_escaped(section.heading)}"
    for block in section.blocks:
        yield from _block(block, level)


def _block(block: Block, level: int) -> Iterator[str]:
    match block:
        case Sentence():
            if not block.is_detail:
                yield ""
                yield _line(block.content)
        case TableBlock():
            yield from _table(block)
        case Suggestions():
            yield ""
            for number, one in enumerate(block.items[: block.brief], start=1):
                gain = _line(one.gain_line)
                subject = f", {_escaped(one.subject)}" if one.subject else ""
                yield f"{number}. **{capitalized(gain)}**{subject}: {_line(one.reason)}"
                yield f"   Fix: {_escaped(f'{one.fix} {one.overlap}'.rstrip())}"
        case KeyFigures():
            yield ""
            for item in block.items:
                yield f"- {_escaped(item.name)}: {_line(item.value)}"
        case Section():
            yield from _section(block, level + 1)
        case Drawing():
            pass


def _table(table: TableBlock) -> Iterator[str]:
    rows = table.rows if table.brief is None else table.rows[: table.brief]
    if not rows:
        return
    shown = [at for at, column in enumerate(table.columns) if not column.is_detail]
    columns = [table.columns[at] for at in shown]
    hows = how_places(table, shown, len(rows))
    words = [f" ({how})" if how else "" for how in hows.columns]
    if hows.table is not None:
        words[0] = f" ({hows.table})"
    heads = [_escaped(c.heading) + word for c, word in zip(columns, words, strict=True)]
    yield ""
    yield f"| {' | '.join([*heads, *(['how'] if hows.rows else [])])} |"
    lines = ["---:" if column.is_number else "---" for column in columns]
    yield f"| {' | '.join([*lines, *(['---'] if hows.rows else [])])} |"
    for number, row in enumerate(rows):
        cells = [_escaped(plain(row[at])) for at in shown]
        cells += [", ".join(hows.rows[number])] if hows.rows else []
        yield f"| {' | '.join(cells)} |"
    left = len(table.rows) - len(rows) + table.left_out
    if left:
        noun, plural = table.row_noun
        yield ""
        yield f"And {f'{left:,} more' if noun == 'more' else counted(left, noun, plural)}."


def _line(content: Line) -> str:
    return _escaped(plain(marked(content)))


def _escaped(text: str) -> str:
    """Return text on one line, in which nothing is Markdown, HTML or a mention."""
    line = " ".join(text.split())
    if len(line) > _MOST_CHARACTERS:
        line = f"{line[: _MOST_CHARACTERS - 1]}…"
    return _SPECIAL.sub(r"\\\1", line)
