"""Documents as JSON values: all of them, with the text of each line beside its numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gviz.report.document import (
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
    Verdict,
    with_whole_names,
)
from gviz.stats import to_json

#: Nodes of a reference that are listed.
_NODES = 100


def document_to_json(document: Document) -> dict[str, Any]:
    """Return a document as JSON values; docs/analysis.md has the keys."""
    return {
        "title": document.title,
        "verdicts": [_verdict(verdict) for verdict in document.verdicts],
        "sections": [_block(section) for section in document.sections],
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "subject": verdict.subject,
        "sentences": [_line(sentence.content) for sentence in verdict.sentences],
        "caveats": list(verdict.caveats),
    }


def _block(block: Block) -> dict[str, Any]:
    match block:
        case Section():
            blocks = [_block(inner) for inner in block.blocks]
            return {"section": block.key, "heading": block.heading, "blocks": blocks}
        case Sentence():
            return {"sentence": _line(block.content)}
        case TableBlock():
            return {
                "table": block.label,
                "columns": [
                    {"heading": column.heading, "meaning": column.meaning}
                    for column in block.columns
                ],
                "rows": [[_line(cell) for cell in row] for row in block.rows],
                "left_out": block.left_out,
            }
        case Suggestions():
            return {"suggestions": [_suggestion(one) for one in block.items]}
        case KeyFigures():
            return {
                "figures": [
                    {"name": x.name, "value": _line(x.value), "meaning": x.meaning}
                    for x in block.items
                ]
            }
        case Drawing():
            bars = [{"name": bar.name, "value": _quantity(bar.value)} for bar in block.bars]
            return {"drawing": block.name, "bars": bars}


def _suggestion(one: Suggestion) -> dict[str, Any]:
    return {
        "gain": _line(one.gain_line),
        "over_run": None if one.over_run is None else _quantity(one.over_run),
        "subject": one.subject,
        "reason": _line(one.reason),
        "nodes": None if one.nodes is None else _nodes(one.nodes),
        "fix": one.fix,
        "rule": one.rule,
        "assumes": one.assumes,
        "evidence": [{"name": x.name, "value": _quantity(x.value)} for x in one.evidence],
        "source": one.source,
        "overlap": one.overlap or None,
    }


def _line(content: Line) -> dict[str, Any]:
    """Return a line as text, with the numbers and nodes in it where there are any."""
    found: dict[str, Any] = {"text": with_whole_names(content)}
    quantities = [_quantity(part) for part in content if isinstance(part, Quantity)]
    if quantities:
        found["quantities"] = quantities
    refs = [_nodes(part) for part in _node_links(content)]
    if refs:
        found["nodes"] = refs
    return found


def _node_links(content: Iterable[Inline]) -> Iterable[NodesLink]:
    for part in content:
        if isinstance(part, NodeLink):
            yield NodesLink((part.node,), 1)
        elif isinstance(part, NodesLink):
            yield part


def _nodes(found: NodesLink) -> dict[str, Any]:
    listed = found.nodes[:_NODES]
    return {
        "count": found.count,
        "nodes": [{"graph_id": x.graph_id, "node_id": x.node_id} for x in listed],
    }


def _quantity(found: Quantity) -> dict[str, Any]:
    more = {"n": found.n, "caveat": found.caveat, "interval": to_json(found.interval)}
    known = {name: value for name, value in more.items() if value is not None}
    if found.interval is not None:
        known["interval_width"] = to_json(found.interval[1] - found.interval[0])
    if found.bound:
        known["bound"] = found.bound
    return {"value": to_json(found.value), "unit": found.unit, "how": found.how, **known}
