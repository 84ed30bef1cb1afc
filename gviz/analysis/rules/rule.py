"""Rules: what they are, what they find, and the registry of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from gviz.analysis.launch import LaunchChange
from gviz.analysis.node_ref import NodeRef
from gviz.analysis.run_subject import RunSubject
from gviz.analysis.subject import GraphSubject
from gviz.dataclass import dataclass
from gviz.stats import How, apart, figure

#: Nodes that a finding names, at most: as many as a graph page keeps selected in its address.
NAMED = 100

#: How the true gain lies to the predicted one, if the rule's assumption holds.
Bound = Literal["about", "at most", "at least"]
#: Whether a gain comes with every launch or once a run.
Per = Literal["launch", "run"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One number behind a finding."""

    name: str = figure("stated", "what it is")
    value: float = figure("derived", "the number; how says how it came about")
    unit: str = figure("stated", "ns, bytes, fraction, or empty for a count")
    how: How = figure("stated", "measured, derived or estimated")


@dataclass(frozen=True, slots=True)
class Found:
    """One find of a rule's function.

    Attributes
    ----------
    reason
        One sentence about this graph, without its gain.
    vertices
        The executions of the median launch that it is about.
    evidence
        Numbers behind it.
    gain
        What mending it gives back, a launch or a run (ns); or how it changes the launch.
    """

    reason: str
    vertices: Iterable[int]
    evidence: tuple[Fact, ...]
    gain: float | LaunchChange


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that costs time, and what to do about it."""

    rule: str = figure("stated", "id of the rule")
    graph_id: int | None = figure("stated", "the graph; null: the run")
    reason: str = figure("stated", "what it is, in one sentence")
    node_count: int = figure("derived", "nodes that it is about")
    nodes: tuple[NodeRef, ...] = figure("stated", f"of these, {NAMED} at most")
    evidence: tuple[Fact, ...] = figure("derived", "the numbers behind it")
    gain_ns: float = figure(
        "estimated", "what mending it gives back, about, at most or at least as gain_bound says"
    )
    gain_low_ns: float | None = figure(
        "estimated",
        "the least of the range of this gain, if what the rule assumes holds (docs/what_if.md); "
        "of one that was measured, of its 95% interval; null: it is no change of a launch",
    )
    gain_high_ns: float | None = figure("estimated", "the most of that range")
    gain_how: How = figure("stated", "measured: by a trial of the same edit; else estimated")
    trial_results: str | None = figure(
        "stated",
        "of a gain that was measured: equal, different, or not tested, as table trial has it; "
        "null: it was not",
    )
    trial_count: int | None = figure(
        "measured", "pairs of launches behind a gain that was measured; null: it was not"
    )
    not_tried: str | None = figure(
        "stated",
        "why a repair that can be tried was not, where trials were requested; null: it was, it "
        "cannot be, or none were",
    )
    gain_bound: str = figure("stated", "how sure that is: about, at most or at least")
    gain_per: str = figure("stated", "launch, or run: once")
    run_gain_ns: float = figure("estimated", "gain_ns times the launches of the run")
    fix: str = figure("stated", "what to change")
    source: str = figure("stated", "where the rule comes from")
    overlaps: tuple[str, ...] = figure(
        "derived",
        "rules of findings that can bring more and are about some of the same nodes: mending those "
        "leaves less of this gain",
    )
    layer_count: int = figure(
        "derived",
        "layers of the model of which each has equally many of its nodes, where all layers do; 0: "
        "they do not, or no layers are known",
    )
    per_layer_count: int = figure("derived", "its nodes in each of these layers")
    places: tuple[int, ...] = apart("all of the nodes, by their places in the graph's tree")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule.

    Attributes
    ----------
    id
        In output, configuration and documentation.
    title
        What it looks for, in one line.
    fix
        What to change.
    source
        Where it comes from.
    bound, per
        Of its gains.
    assumes
        What a predicted gain rests on.
    find, find_in_run
        Yields what it found in a graph, or in a run; one of them is there.
    needs_order
        It looks at gaps, or at what waited for what: durations alone are not enough.
    trial
        Kind of the trials that make its repair in a copy; None: it changes more than a copy may.
    """

    id: str
    title: str
    fix: str
    source: str
    bound: Bound
    per: Per
    assumes: str
    find: Callable[[GraphSubject], Iterator[Found]] | None = None
    find_in_run: Callable[[RunSubject], Iterator[Found]] | None = None
    needs_order: bool = False
    trial: str | None = None


#: All rules by id, in the order of documentation.
RULES: dict[str, Rule] = {}


_Find = Callable[[GraphSubject], Iterator[Found]]
_FindInRun = Callable[[RunSubject], Iterator[Found]]


def rule(
    rule_id: str,
    *,
    title: str,
    fix: str,
    source: str,
    assumes: str,
    bound: Bound = "about",
    per: Per = "launch",
    needs_order: bool = False,
    trial: str | None = None,
) -> Callable[[_Find], _Find]:
    """Register a function as a rule about a graph; parameters are those of :class:`Rule`."""

    def register(find: _Find) -> _Find:
        text = (title, fix, source, bound, per, assumes)
        _add(Rule(rule_id, *text, find=find, needs_order=needs_order, trial=trial))
        return find

    return register


def run_rule(
    rule_id: str, *, title: str, fix: str, source: str, assumes: str, bound: Bound = "about"
) -> Callable[[_FindInRun], _FindInRun]:
    """Register a function as a rule about a run; its gains are those of the whole run."""

    def register(find: _FindInRun) -> _FindInRun:
        _add(Rule(rule_id, title, fix, source, bound, "run", assumes, find_in_run=find))
        return find

    return register


def _add(found: Rule) -> None:
    if found.id in RULES:
        raise ValueError(f"there is a rule {found.id} already")
    RULES[found.id] = found
