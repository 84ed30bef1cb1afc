"""The text of ``gviz diff`` about one graph or body: nodes, edges, and times node by node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from gviz.analysis import NodeRef
from gviz.comparison import EdgeRef, GroupTime, LevelDiff, LoneBody, NodeChange
from gviz.report.change import format_change, format_shift
from gviz.text import counted, duration, render_table, shorten, wrapped

#: Rows of a list that the text shows; the JSON has all.
_LISTED = 5
#: Differences of one node that the text names.
_DIFFERENCES = 3
#: A kernel's name in running text.
_NAME = 36


def render_level(level: LevelDiff, width: int, *, named: bool) -> Iterator[str]:
    """Yield the lines about a level; ``named`` says which graphs it is."""
    where = f" in graph {level.before_graph_id} -> {level.after_graph_id}" if named else ""
    yield f"  What changed{where}"
    yield from wrapped(_describe_counts(level), width)
    if level.edges_known:
        yield from wrapped(_describe_edges(level), width)
    else:
        yield from wrapped("edges are not known on both sides", width)
    for what, nodes in (("removed", level.removed), ("added", level.added)):
        yield from _render_nodes(what, nodes, width)
    yield from _render_changed(level.changed, width)
    if level.moved:
        moved = Counter(pair.before.name for pair in level.moved)
        yield from wrapped(f"moved to another lane: {_counted(moved)}", width)
    yield from _render_node_times(level, width)
    yield from _render_groups("kernel or kind", level.names, width)
    yield from _render_groups("NVTX range", level.ranges, width)


def render_lone_bodies(
    removed: Sequence[LoneBody], added: Sequence[LoneBody], width: int
) -> Iterator[str]:
    """Yield the lines about bodies that one side alone has."""
    yield "  Bodies without a counterpart"
    for what, bodies in (("removed", removed), ("added", added)):
        for body in bodies[:_LISTED]:
            yield from wrapped(f"{what}: {_describe_body(body)}", width)
        left = bodies[_LISTED:]
        if left:
            nodes = counted(sum(len(body.nodes) for body in left), "node")
            yield from wrapped(
                f"{what}: {counted(len(left), 'more body', 'more bodies')}, {nodes}", width
            )


def _describe_body(body: LoneBody) -> str:
    holder = body.holder
    branch = "in" if body.branch is None else f"body {body.branch} of"
    where = f"{branch} node {holder.node_id} of graph {holder.graph_id} ({_short(holder.name)})"
    names = _counted(Counter(node.name for node in body.nodes)) or "empty"
    count = counted(len(body.nodes), "node")
    return f"graph {body.graph_id}, {where}, {count}: {names} [derived]"


def _describe_counts(level: LevelDiff) -> str:
    parts = [
        f"{len(level.removed):,} removed",
        f"{len(level.added):,} added",
        f"{len(level.changed):,} changed",
    ]
    if level.moved:
        parts.append(f"{len(level.moved):,} moved to another lane")
    same = level.pair_count - len(level.changed)
    parts.append(f"{same:,} the same")
    text = (
        f"nodes: {level.node_count_before:,} -> {level.node_count_after:,}: {', '.join(parts)} "
        "[derived]"
    )
    if level.only_addresses:
        text += f"; of these {len(level.only_addresses):,} are only given other addresses"
    return text


def _describe_edges(level: LevelDiff) -> str:
    removed, added = level.edges_removed, level.edges_added
    text = f"edges: {level.edge_kept_count:,} kept, {len(removed):,} removed, {len(added):,} added"
    if level.edges_retyped:
        text += f", {len(level.edges_retyped):,} programmatic on one side only"
    lone = (
        {(n.graph_id, n.node_id) for n in level.removed},
        {(n.graph_id, n.node_id) for n in level.added},
    )
    between = [_between(edges, nodes) for edges, nodes in zip((removed, added), lone, strict=True)]
    if any(between):
        text += f"; between nodes that stay {between[0]:,} removed and {between[1]:,} added"
    return f"{text} [derived]"


def _between(edges: Sequence[EdgeRef], lone: set[tuple[int, int]]) -> int:
    """Return how many edges have a partner at both ends."""
    return sum(
        (e.dependency.graph_id, e.dependency.node_id) not in lone
        and (e.dependent.graph_id, e.dependent.node_id) not in lone
        for e in edges
    )


def _render_nodes(what: str, nodes: Sequence[NodeRef], width: int) -> Iterator[str]:
    if nodes:
        yield from wrapped(f"{what}: {_counted(Counter(node.name for node in nodes))}", width)


def _counted(names: Counter[str]) -> str:
    shown = [f"{count:,} × {_short(name)}" for name, count in names.most_common(_LISTED)]
    left = len(names) - len(shown)
    return ", ".join(shown) + (f", and {counted(left, 'more name')}" if left else "")


def _render_changed(changed: Sequence[NodeChange], width: int) -> Iterator[str]:
    groups = Counter(_describe_change(node) for node in changed)
    for text, count in groups.most_common(_LISTED):
        yield from wrapped(f"changed: {count:,} × {text}", width)
    left = len(groups) - _LISTED
    if left > 0:
        yield from wrapped(f"and {counted(left, 'more kind')} of changes (--json)", width)


def _describe_change(node: NodeChange) -> str:
    values = [c for c in node.changes if c.kind == "value"]
    texts = [
        f"{c.what} {shorten(c.before, _NAME)} -> {shorten(c.after, _NAME)}" for c in values[:3]
    ]
    more = f", and {len(values) - 3:,} more" if len(values) > 3 else ""
    name = "" if values[0].what == "kernel" else f"{_short(node.before.name)}: "
    return f"{name}{', '.join(texts)}{more}"


def _render_node_times(level: LevelDiff, width: int) -> Iterator[str]:
    times = level.node_times
    if level.untested:
        yield from wrapped(f"times of nodes: not tested: {level.untested}", width)
        return
    tested, found = int((~np.isnan(times.rate)).sum()), np.flatnonzero(times.significant)
    yield from wrapped(
        f"times of nodes: {len(found):,} of {tested:,} tested changed by more than noise, of which "
        "about 5% at most did not [derived]",
        width,
    )
    change = times.after_ns - times.before_ns
    top = found[np.argsort(-np.abs(change[found]), kind="stable")][:_LISTED]
    rows = []
    for i in top.tolist():
        before, after = int(times.before_node_id[i]), int(times.after_node_id[i])
        rows.append(
            [f"{before} -> {after}", times.name[i], duration(times.before_ns[i]),
             duration(times.after_ns[i]), format_shift(change[i], times.before_ns[i])]
        )  # fmt: skip
    if rows:
        head = ["node", "name", "before", "after", "change"]
        yield ""
        yield from render_table(
            head, rows, width=width, elastic=1, left=frozenset({0}), indent=4
        ).split("\n")


def _render_groups(what: str, groups: Sequence[GroupTime], width: int) -> Iterator[str]:
    """Yield the table of the groups that changed by more than noise, or came or went."""
    found = [g for g in groups if g.time.significant or g.nodes_before * g.nodes_after == 0]
    found.sort(key=lambda g: -abs(_change(g)))
    if not found:
        return
    rows = []
    for group in found[:_LISTED]:
        count = f"{group.nodes_before:,}"
        if group.nodes_after != group.nodes_before:
            count += f" -> {group.nodes_after:,}"
        gone = {(True, False): "new", (False, True): "gone"}
        state = gone.get((group.nodes_before == 0, group.nodes_after == 0))
        times = duration(group.time.before_ns), duration(group.time.after_ns)
        rows.append([group.name, count, *times, state or format_change(group.time)])
    left = len(found) - len(rows)
    head = [f"by {what}", "nodes", "before", "after", "change"]
    yield ""
    yield from render_table(head, rows, width=width, elastic=0, indent=4).split("\n")
    if left:
        yield from wrapped(f"and {left:,} more that changed (--json)", width)


def _change(group: GroupTime) -> float:
    return (group.time.after_ns or 0.0) - (group.time.before_ns or 0.0)


def _short(name: str) -> str:
    return shorten(name, _NAME)
