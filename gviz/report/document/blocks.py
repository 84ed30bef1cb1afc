"""Blocks of a document: sections, sentences, tables, suggestions; and the document itself.

A document has two extents. The short form leaves out what is marked as detail, and shows the first
rows of a table only: it is what a terminal gets. Pages and files have all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from gviz.dataclass import dataclass
from gviz.report.document.inline import Content, Line, NodesLink, capitalized, line
from gviz.report.document.quantity import Quantity
from gviz.stats import NotComputed


@dataclass(frozen=True, slots=True)
class Sentence:
    """A paragraph.

    Attributes
    ----------
    content
        Whole sentences.
    is_note
        Whether it explains what stands beside it.
    is_detail
        Whether the short form leaves it out.
    """

    content: Line
    is_note: bool = False
    is_detail: bool = False


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table.

    Attributes
    ----------
    heading
        Its head.
    meaning
        What is in it, where the head does not say all; shown on demand.
    is_number
        Whether its cells are aligned as numbers.
    is_detail
        Whether the short form leaves it out.
    """

    heading: str
    meaning: str | None = None
    is_number: bool = False
    is_detail: bool = False


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table.

    Attributes
    ----------
    label
        What the rows are.
    columns
        Its columns.
    rows
        Cells, as many a row as there are columns.
    brief
        Rows that the short form has, the first; None: all; 0: the table is left out of it.
    in_line
        Whether the short form is a sentence: the label, and the cells of each row.
    left_out
        Rows that the document does not have.
    row_noun
        A row, and rows, where some are left out.
    """

    label: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Line, ...], ...]
    brief: int | None = None
    in_line: bool = False
    left_out: int = 0
    row_noun: tuple[str, str] = ("more", "more")


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """A number behind a suggestion."""

    name: str
    value: Quantity


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something that costs time, and what to do about it.

    Attributes
    ----------
    gain
        What the fix gives back, as one number.
    gain_line
        The same in words, per launch or run, with its range where there is one.
    per
        launch or run.
    over_run
        What it gives back over all launches of the run; None: the gain is that of the run.
    subject
        What it is about, where that is not the same for all; empty: it is.
    reason
        One sentence.
    nodes
        What it is about; None: no nodes.
    fix
        What to change.
    rule
        Id of the rule that found it.
    rule_title
        What the rule looks for; None: the rule is none of this version.
    assumes
        What the gain rests on; None: as for the title.
    evidence
        Numbers behind it.
    source
        Where the rule comes from.
    overlap
        Which suggestions before it are about some of the same nodes, in a sentence; empty: none.
    """

    gain: Quantity
    gain_line: Line
    per: str
    over_run: Quantity | None
    subject: str
    reason: Line
    nodes: NodesLink | None
    fix: str
    rule: str
    rule_title: str | None
    assumes: str | None
    evidence: tuple[EvidenceItem, ...]
    source: str
    overlap: str = ""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """A list of suggestions, the largest gain first.

    Attributes
    ----------
    items
        At least one.
    brief
        So many are in the short form.
    """

    items: tuple[Suggestion, ...]
    brief: int


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A figure with its name and what it means."""

    name: str
    value: Line
    meaning: str | None = None


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """Figures side by side."""

    items: tuple[KeyFigure, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a drawing.

    Attributes
    ----------
    name
        What it is.
    value
        Its length.
    kind
        What it is a part of a waterfall as: total, work, gap, wait, other, gain or loss; empty in
        other drawings.
    """

    name: str
    value: Quantity
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture, for those that can draw; text leaves it out.

    Attributes
    ----------
    name
        Which picture.
    bars
        What is in it; empty where it is drawn from the results themselves.
    """

    name: str
    bars: tuple[Bar, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document under a heading.

    Attributes
    ----------
    key
        Its name in addresses; unique among its siblings.
    heading
        Over it.
    blocks
        What is in it.
    is_detail
        Whether the short form leaves it out.
    is_folded
        Whether a page shows its heading alone until it is opened.
    """

    key: str
    heading: str
    blocks: tuple[Block, ...]
    is_detail: bool = False
    is_folded: bool = False


Block: TypeAlias = Sentence | TableBlock | Suggestions | KeyFigures | Drawing | Section


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in a few sentences, before everything else.

    Attributes
    ----------
    subject
        What it is about; empty: the whole document.
    sentences
        The most important first.
    caveats
        What in the recording makes numbers below wrong or missing.
    """

    subject: str
    sentences: tuple[Sentence, ...]
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A report on something, as data.

    Attributes
    ----------
    title
        What that is.
    verdicts
        One for each thing that it is about.
    sections
        What to change, then details.
    """

    title: str
    verdicts: tuple[Verdict, ...]
    sections: tuple[Section, ...]


def say(*content: Content, note: bool = False, detail: bool = False) -> Sentence:
    """Return a paragraph."""
    return Sentence(line(*content), is_note=note, is_detail=detail)


def not_computed(found: NotComputed, what: str = "", *, detail: bool = False) -> Sentence:
    """Return why there is no result; ``what`` says of what, where the heading does not."""
    subject = f"{what}: not computed" if what else "Not computed"
    return Sentence((f"{capitalized(subject)}: {found.not_computed}.",), True, detail)


def column(heading: str, meaning: str | None = None, *, detail: bool = False) -> TableColumn:
    """Return a column of text."""
    return TableColumn(heading, meaning, is_detail=detail)


def numbers(heading: str, meaning: str | None = None, *, detail: bool = False) -> TableColumn:
    """Return a column of numbers."""
    return TableColumn(heading, meaning, is_number=True, is_detail=detail)


def table(
    label: str,
    columns: Iterable[TableColumn],
    rows: Iterable[Sequence[Content]],
    *,
    brief: int | None = None,
    in_line: bool = False,
    left_out: int = 0,
    row_noun: tuple[str, str] = ("more", "more"),
) -> TableBlock:
    """Return a table; attributes are those of :class:`TableBlock`."""
    cells = tuple(tuple(line(cell) for cell in row) for row in rows)
    return TableBlock(label, tuple(columns), cells, brief, in_line, left_out, row_noun)


def section(
    key: str, heading: str, *blocks: Block | None, detail: bool = False, folded: bool = False
) -> Section:
    """Return a section; None among the blocks is left out."""
    return Section(key, heading, tuple(b for b in blocks if b is not None), detail, folded)
