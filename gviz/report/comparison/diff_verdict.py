"""The verdict on a graph before and after: its launch, where it changed, the largest change."""

from __future__ import annotations

from collections.abc import Sequence

from gviz.comparison import Circumstance, GraphDiff, GroupTime, RepeatedChange, TimeChange
from gviz.families import joined_labels
from gviz.report.comparison.time_changes import (
    after,
    before,
    change_verdict,
    interval,
    launch_evidence,
    node_evidence,
    shift,
)
from gviz.report.document import (
    AlikeLink,
    Content,
    Sentence,
    Verdict,
    based,
    capitalized,
    change,
    joined,
    line,
    not_computed,
    ns,
    say,
    state_text,
)
from gviz.stats import NotComputed
from gviz.text import counted, percent, shorten

#: Where a smaller share of the work is the same, graphs are hardly two versions of one.
_HARDLY_ALIKE = 0.5
#: Causes that are named; the others are summed.
_CAUSES = 3
#: Circumstances that are named.
_CIRCUMSTANCES = 4
#: Characters of what was replaced, and of what by.
_END = 40


def diff_verdict(graph: GraphDiff, circumstances: Sequence[Circumstance]) -> Verdict:
    """Return four sentences about a graph, and what else may explain a change."""
    caveats = [_besides(circumstances)] if circumstances else []
    launch, nodes = launch_evidence(graph), node_evidence(graph)
    return Verdict(
        names_of(graph),
        (
            based(_change(graph), launch),
            based(_launch(graph.launch, _basis(graph)), launch),
            based(_where(graph), nodes),
            based(_largest(graph), nodes),
        ),
        (*graph.contradicted, *caveats),
    )


def names_of(graph: GraphDiff) -> str:
    """Return both graphs by number and name."""
    names = graph.before_name
    if graph.after_name != graph.before_name:
        names += f" → {graph.after_name}"
    return f"graph {graph.before_graph_id} → graph {graph.after_graph_id}: {names}"


def group_change(group: GroupTime) -> float:
    """Return by how much the time of nodes changed; those of one side come or go as a whole."""
    return (group.time.after_ns or 0.0) - (group.time.before_ns or 0.0)


def replacement_name(name: str) -> str:
    """Return the labels of both ends of a replacement."""
    return " → ".join(shorten(joined_labels(end), _END) for end in name.split(" → "))


def has_changed(group: GroupTime) -> bool:
    """Return whether nodes came, went, or changed their time by more than noise."""
    return group.time.significant or not group.nodes_before or not group.nodes_after


def _besides(circumstances: Sequence[Circumstance]) -> str:
    named = [f"{c.what} {c.before or '?'} → {c.after or '?'}" for c in circumstances]
    left = len(named) - _CIRCUMSTANCES
    parts = named[:_CIRCUMSTANCES] + ([f"{left:,} more"] if left > 0 else [])
    return f"besides the program: {'; '.join(parts)}: it may explain a change"


def _basis(graph: GraphDiff) -> str:
    """Return the state that launches were timed in, and of how many both sides are."""
    sides = [x for x in (graph.before_evidence, graph.after_evidence) if x is not None]
    states = " and ".join(dict.fromkeys(state_text(x) for x in sides))
    return f"{states}, medians of {' and '.join(f'{x.n:,}' for x in sides)}"


def _change(graph: GraphDiff) -> Sentence:
    """Return the change of the work, where it is, and that of the launch, in one line."""
    launch = graph.launch
    ending: Content = "."
    if launch.change_ns is not None and launch.before_ns:
        ending = (": ", change(launch.change_ns / launch.before_ns, "fraction"), " a launch.")
    if graph.likeness_fraction < _HARDLY_ALIKE:
        # What became of each node says nothing then.
        share = percent(round(graph.likeness_fraction, 2))
        hardly = f"Hardly two versions of one graph, with {share} of their work in common"
        return say(hardly, ending)
    repeated = graph.repeated
    if repeated is None:
        added, removed, changed = _counted_nodes(graph)
        if not added and not removed and not changed:
            return say("The work is the same", ending)
        parts = [
            f"{counted(count, 'node')} {word}"
            for count, word in ((added, "added"), (removed, "removed"), (changed, "changed"))
            if count
        ]
        return say(capitalized(", ".join(parts)), ending)
    noun = "kernel" if repeated.only_kernels else "node"
    became = f"{counted(repeated.nodes_before, noun)} became {repeated.nodes_after:,}, "
    if repeated.each_ns is None:
        return say(became, _places(repeated), ending)
    word = " less, " if repeated.each_ns < 0 else " more, "
    return say(became, ns(abs(repeated.each_ns)), word, _places(repeated), ending)


def _places(repeated: RepeatedChange) -> str:
    """Return where nodes were replaced: in which layers, or how often."""
    if not repeated.layer_count or repeated.layers_before is None:
        return f"in {counted(repeated.place_count, 'place')}"
    found = f"in {repeated.layer_count:,} of {counted(repeated.layers_before, 'layer')}"
    if repeated.place_count == repeated.layer_count:
        return found
    return f"in {counted(repeated.place_count, 'place')} {found}"


def _launch(launch: TimeChange, basis: str) -> Sentence:
    missing = [
        side
        for side, known in (("before", launch.before_ns), ("after", launch.after_ns))
        if known is None
    ]
    if missing:
        side, what = ("on either side", "both") if len(missing) == 2 else (missing[0], "that side")
        return say(
            f"No launch was timed {side}: graphs are compared, times are not. Record {what} again "
            "with gviz run while the graph is launched."
        )
    times = line(shift(launch), "; ", before(launch), " before, ", after(launch), " after")
    word = change_verdict(launch)
    if launch.untested:
        return say(
            "The launch changed by ", times, f" ({basis}). Whether that is noise was not tested: "
            f"{launch.untested}.",
        )  # fmt: skip
    bounds = f" ({basis}, 95% interval {interval(launch)})."
    if launch.significant:
        return say(f"The launch became {word} by more than noise: ", times, bounds)
    return say("The launch changed within noise: ", times, bounds)


def _where(graph: GraphDiff) -> Sentence:
    found = graph.waterfall
    what = "Where the time changed"
    if isinstance(found, NotComputed):
        return not_computed(found, what)
    steps = sorted((s for s in found.steps if s.change_ns), key=lambda s: -abs(s.change_ns))
    if not steps:
        return say("No part of the launch changed its time.")
    parts: list[Content] = [(f"{s.cause} ", change(s.change_ns)) for s in steps[:_CAUSES]]
    rest = steps[_CAUSES:]
    if rest:
        parts.append(("other causes ", change(sum(s.change_ns for s in rest))))
    return say(f"{what}: ", joined(parts, ", "), ".")


def _largest(graph: GraphDiff) -> Sentence:
    replaced = [g for level in graph.levels for g in level.replaced]
    groups = [g for level in graph.levels for g in level.names] + replaced
    timed = [g for g in groups if has_changed(g) and group_change(g)]
    if not timed:
        reasons = dict.fromkeys(g.time.untested for g in groups if g.time.untested)
        if groups and all(g.time.untested for g in groups):
            return say(
                f"Whether the time of a kernel or other work changed was not tested: "
                f"{'; '.join(reasons)}; ", _counts(graph), ".",
            )  # fmt: skip
        return say(
            "No kernel or other work changed its time by more than noise; ", _counts(graph), "."
        )
    largest = max(timed, key=lambda g: abs(group_change(g)))
    name: Content = AlikeLink("name", largest.name)
    if any(largest is group for group in replaced):
        name = replacement_name(largest.name)
    return say("Largest single change: ", name, ", ", _went(largest))


def _went(group: GroupTime) -> Content:
    if not group.nodes_before:
        nodes = counted(group.nodes_after, "node")
        return line(ns(group.time.after_ns), f" in {nodes} that are new.")
    nodes = counted(group.nodes_before, "node")
    if not group.nodes_after:
        return line(ns(group.time.before_ns), f" in {nodes} that are gone.")
    if group.nodes_after != group.nodes_before:
        nodes = f"{group.nodes_before:,} → {counted(group.nodes_after, 'node')}"
    return line(shift(group.time), f" in {nodes}.")


def _counts(graph: GraphDiff) -> str:
    """Return how many nodes came, went and changed, over all levels."""
    added, removed, changed = _counted_nodes(graph)
    return f"{removed:,} removed, {added:,} added, {changed:,} changed"


def _counted_nodes(graph: GraphDiff) -> tuple[int, int, int]:
    """Return how many nodes were added, removed and changed, over all levels."""
    removed = sum(len(x.removed) for x in graph.levels)
    added = sum(len(x.added) for x in graph.levels)
    removed += sum(len(body.nodes) for body in graph.bodies_removed)
    added += sum(len(body.nodes) for body in graph.bodies_added)
    return added, removed, sum(len(x.changed) for x in graph.levels)
