"""Advice: what all rules find in a graph or a run, the largest gain first."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gviz.analysis.rules import (
    NAMED,
    Finding,
    Found,
    Rule,
    branch_rules,
    gap_rules,
    life_rules,
    memory_rules,
    work_rules,
)
from gviz.analysis.rules import (
    RULES as RULES,
)
from gviz.analysis.run_subject import RunSubject
from gviz.analysis.span_evidence import span_evidence
from gviz.analysis.subject import GraphSubject
from gviz.model import state_of
from gviz.stats import Evidence, figure

#: The modules whose import fills RULES.
RULE_MODULES = (gap_rules, work_rules, memory_rules, branch_rules, life_rules)
#: Gains of a whole run below this are not worth a line: host times of single calls scatter so.
RUN_NOISE_NS = 20_000.0
#: A gain that is only known not to be exceeded counts for half when findings are ranked.
_AT_MOST_WEIGHT = 0.5
#: What is not checked where node times, or their order, cannot be used.
NODE_RULES = "rules about node times"
#: Stands for every rule.
ANY_RULE = "*"


@dataclass(frozen=True, slots=True)
class Ignored:
    """A rule whose findings are not wanted.

    Attributes
    ----------
    rule
        Its id; :data:`ANY_RULE`: all.
    graph
        Pattern of names of graphs (``*`` and ``?``); None: every graph, and the run.
    kernels
        Pattern of names of nodes: findings of which every node matches; None: all findings.
    """

    rule: str
    graph: str | None = None
    kernels: str | None = None

    def matches(self, rule: str, graph: str | None, nodes: Collection[str]) -> bool:
        """Return whether it leaves out a finding.

        Parameters
        ----------
        rule
            The finding's.
        graph
            Name of the graph that it is about; None: the run.
        nodes
            Names of all nodes that it is about.
        """
        if self.rule not in (rule, ANY_RULE):
            return False
        if self.graph is not None and (graph is None or not fnmatch.fnmatchcase(graph, self.graph)):
            return False
        if self.kernels is None:
            return True
        return bool(nodes) and all(fnmatch.fnmatchcase(name, self.kernels) for name in nodes)


@dataclass(frozen=True, slots=True)
class Advice:
    """Findings of the rules."""

    findings: tuple[Finding, ...] = figure(
        "estimated",
        "the largest gain over the run first, where a gain that is at most so large counts half; "
        "gains do not add up: mending one thing changes the others",
    )
    ignored_count: int = figure("stated", "findings left out because the configuration says so")
    not_checked: tuple[str, ...] = figure("stated", "what was not looked for, and why")
    evidence: Evidence = figure("stated", "what the findings rest on")


_Named = tuple[Finding, frozenset[str]]


def advise_graph(subject: GraphSubject, ignored: Sequence[Ignored] = ()) -> Advice:
    """Return what the rules about graphs find in one."""
    missing = subject.why_no_path
    skipped = [] if not missing else [f"{NODE_RULES}: {missing}"]
    if not missing and subject.memory is None:
        skipped.append("rules about memory: too many nodes to read all arguments")
    if not missing and subject.reachability is None:
        skipped.append("rules about branches: too many nodes side by side")
    count, _ = subject.recording.count_launches(subject.row.graph_id)
    found: list[_Named] = []
    for rule in RULES.values():
        if rule.find is None or (missing and rule.per == "launch"):
            continue
        noise = subject.noise_ns if rule.per == "launch" else RUN_NOISE_NS
        found += list(_findings(rule, rule.find(subject), noise, subject, count))
    evidence = replace(subject.once(span_evidence), how="estimated")
    return _advice(found, ignored, subject.row.name, skipped, evidence)


def advise_run(run: RunSubject, ignored: Sequence[Ignored] = ()) -> Advice:
    """Return what the rules about runs find in one."""
    found: list[_Named] = []
    for rule in RULES.values():
        if rule.find_in_run is not None:
            found += list(_findings(rule, rule.find_in_run(run), RUN_NOISE_NS, None, 1))
    evidence = Evidence(how="estimated", n=1, state=state_of(run.run, node_times=False))
    return _advice(found, ignored, None, [], evidence)


def _findings(
    rule: Rule, found: Iterable[Found], noise_ns: float, subject: GraphSubject | None, launches: int
) -> Iterator[_Named]:
    """Yield the findings whose gain is above noise, with the names of all their nodes."""
    for one in found:
        if one.gain_ns <= noise_ns:
            continue
        vertices = list(one.vertices)
        times = launches if rule.per == "launch" else 1
        finding = Finding(
            rule=rule.id,
            graph_id=None if subject is None else subject.row.graph_id,
            reason=one.reason,
            node_count=len(vertices),
            nodes=()
            if subject is None
            else tuple(subject.ref_of_vertex(v) for v in vertices[:NAMED]),
            evidence=one.evidence,
            gain_ns=one.gain_ns,
            gain_bound=rule.bound,
            gain_per=rule.per,
            run_gain_ns=one.gain_ns * times,
            fix=rule.fix,
            source=rule.source,
        )
        names = () if subject is None else {subject.ref_of_vertex(v).name for v in vertices}
        yield finding, frozenset(names)


def _advice(
    found: list[_Named],
    ignored: Sequence[Ignored],
    graph: str | None,
    skipped: list[str],
    evidence: Evidence,
) -> Advice:
    kept = [f for f, names in found if not any(i.matches(f.rule, graph, names) for i in ignored)]
    return Advice(rank_findings(kept), len(found) - len(kept), tuple(skipped), evidence)


def rank_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings, the largest gain over the run first; one that is at most so counts half."""
    return tuple(sorted(findings, key=lambda f: -f.run_gain_ns * _weight(f)))


def _weight(finding: Finding) -> float:
    return _AT_MOST_WEIGHT if finding.gain_bound == "at most" else 1.0
