"""Advice: what all rules find in a graph or a run, the largest gain first."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from gviz.analysis.evidence import span_evidence
from gviz.analysis.launch import LaunchChange
from gviz.analysis.model_layers import find_model_layers
from gviz.analysis.node_ref import NodeRef
from gviz.analysis.rules import (
    NAMED,
    Finding,
    Found,
    Rule,
    branch_rules,
    gap_rules,
    life_rules,
    memory_rules,
    product_rules,
    shape_rules,
    trial_rules,
    work_rules,
)
from gviz.analysis.rules import (
    RULES as RULES,
)
from gviz.analysis.run_subject import RunSubject
from gviz.analysis.subject import GraphSubject
from gviz.analysis.tried_repairs import RepairInVain, TriedRepair, tried_repair
from gviz.dataclass import dataclass
from gviz.families import Kind
from gviz.model import state_of
from gviz.recording import GraphTrial
from gviz.stats import Evidence, IntArray, NotComputed, distinct_values, figure
from gviz.text import counted, percent

#: The modules whose import fills RULES.
RULE_MODULES = (
    gap_rules, work_rules, product_rules, shape_rules, memory_rules, branch_rules, life_rules,
    trial_rules,
)  # fmt: skip
#: Gains of a whole run below this are not worth a line: host times of single calls scatter so.
RUN_NOISE_NS = 20_000.0
#: A gain that is only known not to be exceeded counts for half when findings are ranked.
_AT_MOST_WEIGHT = 0.5
#: What is not checked where node times, or their order, cannot be used.
NODE_RULES = "rules about node times"
#: What is not checked where only durations of nodes can be used.
ORDER_RULES = "rules about gaps and order"
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
        "those of a measured gain first, then the largest gain over the run, where a gain that is "
        "at most so large counts half; "
        "gains do not add up: mending one thing changes the others, most of all those whose "
        "nodes overlap",
    )
    ignored_count: int = figure("stated", "findings left out because the configuration says so")
    in_vain: tuple[RepairInVain, ...] = figure(
        "measured", "repairs that were tried and bring nothing, whatever was computed"
    )
    not_checked: tuple[str, ...] = figure("stated", "what was not looked for, and why")
    evidence: Evidence = figure("stated", "what the findings rest on")


@dataclass(frozen=True, slots=True)
class _Named:
    """A finding with the names of all its nodes, and these."""

    finding: Finding
    names: frozenset[str]
    nodes: IntArray


def advise_graph(subject: GraphSubject, ignored: Sequence[Ignored] = ()) -> Advice:
    """Return what the rules about graphs find in one."""
    missing = subject.why_no_model
    skipped = [] if not missing else [f"{NODE_RULES}: {missing}"]
    if not missing and subject.memory is None:
        skipped.append("rules about memory: too many nodes to read all arguments")
    if not missing and not subject.why_no_order and subject.reachability is None:
        skipped.append("rules about branches: too many nodes side by side")
    if not missing:
        skipped += _collectives(subject)
    if not missing and subject.why_no_order:
        skipped.append(f"{ORDER_RULES}: {subject.why_no_order}")
    count, _ = subject.recording.count_launches(subject.row.graph_id)
    found, in_vain = list[_Named](), list[RepairInVain]()
    for rule in RULES.values():
        if rule.find is None:
            continue
        untimed = (missing and rule.per == "launch") or (rule.needs_order and subject.why_no_order)
        seen = [] if untimed else list(rule.find(subject))
        tried = tried_repair(rule, subject, seen)
        if tried is not None and tried.is_gain:
            found.append(_measured(rule, tried, subject, count))
        elif tried is not None:
            in_vain.append(RepairInVain(rule.id, tried.gain_ns, *tried.range_ns, tried.trial.count))
        else:
            noise = subject.least_gain_ns if rule.per == "launch" else RUN_NOISE_NS
            found += list(_findings(rule, seen, noise, subject, count))
    evidence = replace(subject.once(span_evidence), how="estimated")
    return _advice(found, ignored, subject.row.name, skipped, evidence, in_vain)


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
        gain = _gain(rule, one, noise_ns, subject)
        if gain.gain_ns <= noise_ns:
            continue
        vertices = list(one.vertices)
        times = launches if rule.per == "launch" else 1
        nodes = np.zeros(0, np.int64)
        if subject is not None and vertices:
            nodes = distinct_values(subject.unrolled.node[vertices])
        refs = () if subject is None else map(subject.ref_of_vertex, vertices[:NAMED])
        yield _named(rule, one, gain, subject, _About(nodes, len(vertices), tuple(refs)), times)


def _not_tried(rule: Rule, subject: GraphSubject) -> str | None:
    """Return why trials that were requested made no such repair; None: they did, or cannot."""
    return None if rule.trial is None else subject.trials.refusal(rule.trial)


@dataclass(frozen=True, slots=True)
class _About:
    """Nodes that a finding is about: their places, how many executions, and the first of them."""

    nodes: IntArray
    count: int
    refs: tuple[NodeRef, ...]


@dataclass(frozen=True, slots=True)
class _FoundGain:
    """A gain, the ends of its range where there is one, and its trial where that measured it."""

    gain_ns: float
    low_ns: float | None = None
    high_ns: float | None = None
    trial: GraphTrial | None = None


def _measured(rule: Rule, tried: TriedRepair, subject: GraphSubject, launches: int) -> _Named:
    """Return the finding of a repair that was tried, with the names of all its nodes."""
    gain = _FoundGain(tried.gain_ns, *tried.range_ns, tried.trial)
    found = Found(tried.reason, (), tried.evidence, tried.gain_ns)
    refs = tuple(subject.ref(place) for place in tried.places[:NAMED].tolist())
    about = _About(tried.places, len(tried.places), refs)
    return _named(rule, found, gain, subject, about, launches)


def _named(
    rule: Rule,
    found: Found,
    gain: _FoundGain,
    subject: GraphSubject | None,
    about: _About,
    times: int,
) -> _Named:
    """Return what a rule found as a finding, with the names of all its nodes."""
    layers, per_layer = _spread(subject, about.nodes)
    finding = Finding(
        rule=rule.id,
        graph_id=None if subject is None else subject.row.graph_id,
        reason=found.reason,
        node_count=about.count,
        nodes=about.refs,
        evidence=found.evidence,
        gain_ns=gain.gain_ns,
        gain_low_ns=gain.low_ns,
        gain_high_ns=gain.high_ns,
        gain_how="estimated" if gain.trial is None else "measured",
        trial_results=None if gain.trial is None else gain.trial.results,
        trial_count=None if gain.trial is None else gain.trial.count,
        not_tried=None if subject is None else _not_tried(rule, subject),
        gain_bound=rule.bound if gain.trial is None else "about",
        gain_per=rule.per,
        run_gain_ns=gain.gain_ns * times,
        fix=rule.fix,
        source=rule.source,
        overlaps=(),
        layer_count=layers,
        per_layer_count=per_layer,
        places=tuple(about.nodes.tolist()),
    )
    names = () if subject is None else (x.name for x in map(subject.ref, about.nodes.tolist()))
    return _Named(finding, frozenset(names), about.nodes)


def _gain(rule: Rule, found: Found, noise_ns: float, subject: GraphSubject | None) -> _FoundGain:
    """Return what mending something gives back; without its range where that is noise."""
    if not isinstance(found.gain, LaunchChange):
        return _FoundGain(found.gain)
    assert subject is not None  # rules about runs change no launch
    # The longest path alone is computed in a tenth of the time, and gives most gains.
    alone = subject.model.whole_ns - subject.model.length_ns(found.gain)
    if alone <= noise_ns:
        return _FoundGain(alone)
    gain = subject.gains.gain(found.gain)
    # Of one that is at most or at least so much, that end of the range.
    ends = {"at most": gain.high_ns, "at least": gain.low_ns}
    return _FoundGain(ends.get(rule.bound, gain.gain_ns), gain.low_ns, gain.high_ns)


def _spread(subject: GraphSubject | None, nodes: IntArray) -> tuple[int, int]:
    """Return how many layers have equally many of some nodes, and how many; zeros: not all do."""
    if subject is None or not len(nodes):
        return 0, 0
    layers = subject.once(find_model_layers)
    if isinstance(layers, NotComputed):
        return 0, 0
    of_node = layers.of_node[nodes]
    counts = np.bincount(of_node[of_node >= 0], minlength=len(layers))
    if counts.min() == 0 or counts.min() != counts.max():
        return 0, 0
    return len(layers), int(counts[0])


def _collectives(subject: GraphSubject) -> Iterator[str]:
    """Yield why rules about work leave collectives out, where a launch has any."""
    collective = subject.families.of_kind(Kind.COLLECTIVE)[subject.unrolled.node]
    chosen = collective & subject.held.timed
    if not chosen.any():
        return
    duration = subject.model.duration_ns
    part = percent(float(duration[chosen].sum() / duration[subject.held.timed].sum()))
    count = counted(int(chosen.sum()), "collective")
    yield (
        f"{count}, {part} of the node time (median of {subject.median_count:,}): what they take "
        "depends on when other ranks arrive; 'gviz skew' of all ranks shows who waits for whom"
    )


def _advice(
    found: list[_Named],
    ignored: Sequence[Ignored],
    graph: str | None,
    skipped: list[str],
    evidence: Evidence,
    in_vain: Sequence[RepairInVain] = (),
) -> Advice:
    kept = [
        one
        for one in found
        if not any(i.matches(one.finding.rule, graph, one.names) for i in ignored)
    ]
    kept.sort(key=lambda one: _rank(one.finding))
    findings = tuple(
        replace(one.finding, overlaps=_overlaps(one, kept[:at])) for at, one in enumerate(kept)
    )
    return Advice(findings, len(found) - len(kept), tuple(in_vain), tuple(skipped), evidence)


def _overlaps(one: _Named, before: Sequence[_Named]) -> tuple[str, ...]:
    """Return the rules of findings before one that are about some of its nodes."""
    shared = (x.finding.rule for x in before if np.isin(one.nodes, x.nodes, kind="sort").any())
    return tuple(dict.fromkeys(shared))


def rank_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings: of measured gains, then of large ones; what is at most so counts half."""
    return tuple(sorted(findings, key=_rank))


def _rank(finding: Finding) -> tuple[bool, float]:
    weight = _AT_MOST_WEIGHT if finding.gain_bound == "at most" else 1.0
    return finding.gain_how != "measured", -finding.run_gain_ns * weight
