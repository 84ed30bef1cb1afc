"""The basis of the numbers of a document: how many values they rest on, and what may be wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from gviz.report.document.blocks import (
    Block,
    Document,
    KeyFigures,
    Section,
    Sentence,
    TableBlock,
    Verdict,
)
from gviz.report.document.evidence_text import resting_on
from gviz.report.document.inline import Line
from gviz.report.document.quantity import Quantity
from gviz.stats import Evidence

_B = TypeVar("_B", bound=Block)


def based_document(found: Document, evidence: Evidence) -> Document:
    """Return a document whose numbers rest on this, where they do not say on what they rest."""
    return replace(
        found,
        verdicts=tuple(_based_verdict(one, evidence) for one in found.verdicts),
        sections=tuple(based(one, evidence) for one in found.sections),
    )


def based(found: _B, evidence: Evidence) -> _B:
    """Return a block whose numbers rest on this, where they do not say on what they rest."""
    match found:
        case Sentence():
            return replace(found, content=based_line(found.content, evidence))
        case TableBlock():
            rows = tuple(tuple(based_line(cell, evidence) for cell in row) for row in found.rows)
            return replace(found, rows=rows)
        case KeyFigures():
            items = (replace(x, value=based_line(x.value, evidence)) for x in found.items)
            return replace(found, items=tuple(items))
        case Section():
            return replace(found, blocks=tuple(based(one, evidence) for one in found.blocks))
        case _:
            return found


def based_line(found: Line, evidence: Evidence) -> Line:
    """Return a line whose numbers rest on this, where they do not say on what they rest.

    What is counted in a recording rests on nothing else.
    """
    return tuple(
        based_number(part, evidence) if isinstance(part, Quantity) else part for part in found
    )


def based_number(found: Quantity, evidence: Evidence) -> Quantity:
    """Return a number that rests on this, where it does not say on what it rests."""
    if found.how == "stated" or found.is_count or found.caveat:
        return found
    based = resting_on(found, evidence)
    return based if found.n is None else replace(based, n=found.n)


def _based_verdict(found: Verdict, evidence: Evidence) -> Verdict:
    return replace(found, sentences=tuple(based(one, evidence) for one in found.sentences))
