"""Findings of a graph or a run, and one of them with all that stands behind it."""

from __future__ import annotations

from dataclasses import replace

from gviz.analysis import RunAnalysis
from gviz.dataclass import dataclass
from gviz.errors import UsageError
from gviz.report.analysis import findings_section, suggestions_of
from gviz.report.document import (
    Content,
    Document,
    Line,
    Quantity,
    Suggestion,
    Suggestions,
    Verdict,
    capitalized,
    column,
    numbers,
    say,
    section,
    table,
)
from gviz.text import likely_meant

#: Findings of a list.
_MOST = 20


@dataclass(frozen=True, slots=True)
class FoundFinding:
    """A finding by its number in the list of them, from 1."""

    number: int
    suggestion: Suggestion


def findings_document(run: RunAnalysis, title: str) -> Document:
    """Return all findings about a run and its graphs, the largest gain first."""
    caveats = tuple(text for graph in run.graphs for text in graph.doubts)
    listed = findings_section(run)
    blocks = tuple(
        replace(block, brief=min(_MOST, len(block.items)))
        if isinstance(block, Suggestions)
        else block
        for block in listed.blocks
    )
    return Document(title, (Verdict("", (), caveats),), (replace(listed, blocks=blocks),))


def find_finding(run: RunAnalysis, wanted: str) -> FoundFinding:
    """Return the finding of a number, or the first of a rule.

    Raises
    ------
    UsageError
        If there is none.
    """
    items = suggestions_of(run)
    for number, one in enumerate(items, start=1):
        if wanted in (str(number), one.rule):
            return FoundFinding(number, one)
    if not items:
        raise UsageError("there is no finding to explain: no rule found a gain above noise")
    rules = list(dict.fromkeys(one.rule for one in items))
    raise UsageError(
        f"there is no finding {wanted!r}{likely_meant(wanted, rules)}; there are 1 to {len(items)}:"
        f" {', '.join(rules)}"
    )


def _as_number(found: Suggestion) -> Line:
    """Return the gain as one number, where its line shows a range."""
    shown = [part for part in found.gain_line if isinstance(part, Quantity) and not part.wording]
    return () if shown else ("; as one number ", found.gain)


def finding_document(found: FoundFinding, title: str) -> Document:
    """Return one finding: what, what it would bring, on what that rests, and what to change."""
    one = found.suggestion
    sentences = [
        say(capitalized(one.rule_title or one.rule), f" [{one.rule}]."),
        # Numbers of the reason rest on what the gain rests on: they stand in its line.
        say("Gain: ", *one.gain_line, *_as_number(one), ". ", *one.reason),
        say(f"Fix: {one.fix}"),
    ]
    if one.over_run is not None:
        sentences.insert(2, say("Over all launches of the run: ", one.over_run, "."))
    if one.overlap:
        sentences.append(say(one.overlap))
    rows: list[list[Content]] = [[item.name, item.value] for item in one.evidence]
    parts = []
    if rows:
        heading = "Numbers behind it"
        columns = [column("Number"), numbers("Value")]
        parts.append(section("evidence", heading, table(heading, columns, rows)))
    if one.nodes is not None:
        heading = "Nodes"
        nodes: list[list[Content]] = [[link] for link in one.nodes.each()]
        left = one.nodes.count - len(nodes)
        listed = table(heading, [column("Node")], nodes, left_out=left)
        parts.append(section("nodes", heading, listed))
    parts.append(section("source", "Where the rule comes from", say(one.source)))
    return Document(
        f"{title}: finding {found.number}", (Verdict("", tuple(sentences)),), tuple(parts)
    )
