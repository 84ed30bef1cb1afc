"""Findings about a run and its graphs, the largest gain first: what to change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gviz.analysis import RULES, Advice, Fact, Finding, RunAnalysis, rank_findings
from gviz.report.analysis.finding_gain import gain_line, gain_number, gain_over_run
from gviz.report.analysis.verdict import NO_FINDING
from gviz.report.document import (
    EvidenceItem,
    NodesLink,
    Quantity,
    Section,
    Sentence,
    Suggestion,
    Suggestions,
    based_number,
    capitalized,
    contradictions_text,
    measured_gain,
    nodes,
    say,
    section,
)
from gviz.stats import Evidence
from gviz.text import counted, integer

#: Findings of each graph, and of the run, in the short form.
_BRIEF = 5


def findings_section(run: RunAnalysis) -> Section:
    """Return the findings about a run and its graphs, and what was not looked for."""
    advised = _advised(run)
    brief = sum(min(len(advice.findings), _BRIEF) for advice in advised)
    items = suggestions_of(run)
    listed = Suggestions(items, brief) if items else say(NO_FINDING)
    notes = dict.fromkeys(note for advice in advised for note in _notes(advice))
    return section("advice", "What to change", listed, *notes)


def suggestions_of(run: RunAnalysis) -> tuple[Suggestion, ...]:
    """Return the findings about a run and its graphs, the largest gain first."""
    named, advised = len(run.graphs) > 1, _advised(run)
    evidence = {id(one): advice.evidence for advice in advised for one in advice.findings}
    found = rank_findings(one for advice in advised for one in advice.findings)
    return tuple(_suggestion(one, evidence[id(one)], named=named) for one in found)


def _advised(run: RunAnalysis) -> list[Advice]:
    return [graph.findings for graph in run.graphs] + [run.findings]


def _notes(advice: Advice) -> Iterator[Sentence]:
    if advice.ignored_count:
        count = counted(advice.ignored_count, "finding")
        yield say(f"{count} left out by the configuration.", note=True)
    for one in advice.in_vain:
        measured = measured_gain(one.gain_ns, one.low_ns, one.high_ns)
        gain = replace(measured, n=one.count)
        yield say(f"Tried without a gain: {one.rule}, ", gain, " per launch.", note=True)
    for reason in advice.not_checked:
        yield say(f"Not checked: {reason}.", note=True)


def _suggestion(found: Finding, evidence: Evidence, *, named: bool) -> Suggestion:
    rule = RULES.get(found.rule)
    subject = ""
    if named:
        subject = "the run" if found.graph_id is None else f"graph {found.graph_id}"
    about = nodes(found.nodes, found.node_count, found.places)
    contradicted = contradictions_text(evidence) if found.gain_per == "launch" else ""
    return Suggestion(
        gain=gain_number(found, evidence),
        gain_line=gain_line(found, evidence),
        per=found.gain_per,
        over_run=gain_over_run(found, evidence),
        subject=subject,
        reason=(f"{capitalized(found.reason)}{contradicted}.{_layers(found)}",),
        nodes=about if isinstance(about, NodesLink) else None,
        fix=found.fix,
        rule=found.rule,
        rule_title=None if rule is None else rule.title,
        assumes=None if rule is None else rule.assumes,
        evidence=tuple(_evidence(one, evidence) for one in found.evidence),
        source=found.source,
        overlap=_overlap(found),
    )


def _layers(found: Finding) -> str:
    """Return how its nodes lie in the layers of the model; empty: not in all alike."""
    if not found.layer_count:
        return ""
    inside = counted(found.per_layer_count, "node")
    outside = found.node_count - found.layer_count * found.per_layer_count
    more = f", {integer(outside)} elsewhere" if outside > 0 else ""
    return f" In each of {integer(found.layer_count)} layers: {inside}{more}."


def _overlap(found: Finding) -> str:
    if not found.overlaps:
        return ""
    return f"Shares nodes with {' and '.join(found.overlaps)}: these gains do not add up."


def _evidence(found: Fact, evidence: Evidence) -> EvidenceItem:
    value = Quantity(found.value, found.unit or "number", found.how)
    return EvidenceItem(found.name, based_number(value, evidence))
