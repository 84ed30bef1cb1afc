"""Documents as HTML: a fragment that needs nothing else, in the colours of what it stands in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from gviz.report.document import (
    Block,
    Document,
    Drawing,
    HowMark,
    Inline,
    KeyFigures,
    Line,
    Link,
    Section,
    Sentence,
    Suggestion,
    Suggestions,
    TableBlock,
    TableColumn,
    Verdict,
    capitalized,
    marked,
    plain,
    with_whole_names,
)
from gviz.report.renderers.how_marks import how_places
from gviz.text import at_quantities, counted, integer

#: Colours are those around it, so that it is read on dark and on light.
_TABLE = "border-collapse: collapse; color: inherit; background: none"
_CELL = "padding: 2px 10px; border-bottom: 1px solid rgba(128, 128, 128, 0.4); text-align: "
#: Characters of a name; the whole one is its tooltip.
_LONGEST = 48

#: Makes the address of what a document refers to; None: it is no link.
Href = Callable[[Link], str | None]


def render_html(document: Document, href: Href = lambda _: None) -> str:
    """Return a document as HTML; all texts are escaped."""
    return f"<div>{''.join(_document(document, href))}</div>"


def _document(document: Document, href: Href) -> Iterator[str]:
    if document.title:
        yield f"<p><strong>{escape(document.title)}</strong></p>"
    for verdict in document.verdicts:
        yield from _verdict(verdict, href)
    for section in document.sections:
        yield from _section(section, href, 3)


def _verdict(verdict: Verdict, href: Href) -> Iterator[str]:
    if verdict.subject:
        yield f"<p>{escape(verdict.subject)}</p>"
    for sentence in verdict.sentences:
        yield _paragraph(sentence, href)
    for caveat in verdict.caveats:
        yield f"<p>Caveat: {_unbroken(capitalized(caveat))}.</p>"


def _section(section: Section, href: Href, level: int) -> Iterator[str]:
    if section.heading:
        yield f"<h{level}>{escape(section.heading)}</h{level}>"
    for block in section.blocks:
        yield from _block(block, href, level)


def _block(block: Block, href: Href, level: int) -> Iterator[str]:
    match block:
        case Sentence():
            yield _paragraph(block, href)
        case TableBlock():
            yield from _table(block, href)
        case Suggestions():
            items = "".join(_suggestion(one, href) for one in block.items)
            yield f"<ol>{items}</ol>"
        case KeyFigures():
            figures = (f"{escape(x.name)}: {_line(x.value, href)}" for x in block.items)
            yield f"<p>{'; '.join(figures)}</p>"
        case Section():
            yield from _section(block, href, min(level + 1, 6))
        case Drawing():
            pass


def _paragraph(sentence: Sentence, href: Href) -> str:
    return f"<p>{_line(sentence.content, href)}</p>"


def _suggestion(one: Suggestion, href: Href) -> str:
    gain = _line(marked(one.gain_line), href)
    subject = f", {escape(one.subject)}" if one.subject else ""
    about = "" if one.nodes is None else f" ({_part(one.nodes, href)})"
    fix = _unbroken(f"Fix: {one.fix} {one.overlap}".rstrip())
    return (
        f"<li><strong>{gain}</strong>{subject}: {_line(one.reason, href)}{about} "
        f"<code>{escape(one.rule)}</code><br>{fix}</li>"
    )


def _table(table: TableBlock, href: Href) -> Iterator[str]:
    if not table.rows:
        return
    hows = how_places(table, range(len(table.columns)))
    head = []
    for at, (column, how) in enumerate(zip(table.columns, hows.columns, strict=True)):
        word = hows.table if at == 0 and hows.table is not None else how
        head.append(_cell("th", column, escape(column.heading) + (_mark(word) if word else "")))
    lines = ["".join(head)]
    for number, row in enumerate(table.rows):
        cells = [
            _cell("td", column, "".join(_part(part, href) for part in cell))
            for column, cell in zip(table.columns, row, strict=True)
        ]
        if hows.rows:
            cells.append(f"<td>{''.join(_mark(how) for how in hows.rows[number])}</td>")
        lines.append("".join(cells))
    caption = f'<caption style="text-align: left; color: inherit">{escape(table.label)}</caption>'
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    yield f'<table style="{_TABLE}">{caption}{body}</table>'
    if table.left_out:
        noun, plural = table.row_noun
        more = integer(table.left_out) + " more" if noun == "more" else ""
        yield f"<p>And {escape(more or counted(table.left_out, noun, plural))}.</p>"


def _cell(tag: str, column: TableColumn, content: str) -> str:
    align = "right" if column.is_number else "left"
    meaning = f' title="{escape(column.meaning)}"' if column.meaning and tag == "th" else ""
    return f'<{tag} style="{_CELL}{align}"{meaning}>{content}</{tag}>'


def _line(content: Line, href: Href) -> str:
    return "".join(_part(part, href) for part in marked(content))


def _part(part: Inline, href: Href) -> str:
    match part:
        case str():
            return _unbroken(part)
        case HowMark():
            return _mark(part.how).lstrip()
        case _ if (address := _address(part, href)) is not None:
            return f'<a href="{escape(address)}">{_named(part)}</a>'
        case _:
            return _named(part)


def _unbroken(text: str) -> str:
    """Return a text, escaped, whose numbers stay in one line with their units."""
    parts = map(escape, at_quantities(text))
    return "".join(
        f'<span style="white-space: nowrap">{part}</span>' if at % 2 else part
        for at, part in enumerate(parts)
    )


def _address(part: Inline, href: Href) -> str | None:
    return href(part) if isinstance(part, Link) else None


def _named(part: Inline) -> str:
    """Return a part's text, shortened where it is long; the whole name is its tooltip."""
    whole = with_whole_names((part,))
    text = plain((part,))
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    if shown == whole:
        return _unbroken(shown)
    return f'<span title="{escape(whole)}">{_unbroken(shown)}</span>'


def _mark(how: str) -> str:
    return f" <small>[{escape(how)}]</small>"
