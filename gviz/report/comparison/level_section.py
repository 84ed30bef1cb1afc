"""Sections about a graph or body: its work by kernel and range, nodes, edges, single nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from gviz.analysis import NodeRef
from gviz.comparison import EdgeRef, GraphDiff, GroupTime, LevelDiff, LoneBody, NodeChange
from gviz.families import kernel_label
from gviz.report.comparison.diff_verdict import group_change, has_changed, replacement_name
from gviz.report.comparison.time_changes import (
    after,
    before,
    change_verdict,
    shift,
    shift_of,
    sign,
)
from gviz.report.document import (
    AlikeLink,
    Block,
    Content,
    Grouping,
    Section,
    Sentence,
    TableBlock,
    column,
    joined,
    line,
    ns,
    number,
    numbers,
    say,
    section,
    table,
)
from gviz.text import counted, shorten

#: Rows of a list in the short form, and in the document; the results have all.
_BRIEF, _MOST = 5, 12
#: Differences of one node that are named.
_DIFFERENCES = 3
#: A value before or after, such as a kernel's name.
_VALUE = 36


def level_section(level: LevelDiff, key: str, heading: str, *notes: Sentence) -> Section:
    """Return the section of a level; ``notes`` stand in it last."""
    return section(
        key,
        heading,
        _replaced(level.replaced),
        _groups("By kernel or kind", "name", level.names),
        _groups("By NVTX range", "nesting", level.ranges),
        _single(level),
        *_contents(level),
        *notes,
    )


def whole_counts(graph: GraphDiff) -> Sentence:
    """Return what came, went and changed in a graph and the bodies in it."""
    levels, lone = graph.levels, (graph.bodies_removed, graph.bodies_added)
    alone = [sum(len(body.nodes) for body in bodies) for bodies in lone]
    before = sum(level.node_count_before for level in levels) + alone[0]
    after = sum(level.node_count_after for level in levels) + alone[1]
    removed = sum(len(level.removed) for level in levels) + alone[0]
    added = sum(len(level.added) for level in levels) + alone[1]
    parts: list[Content] = [
        (number(removed, "derived"), " removed"),
        (number(added, "derived"), " added"),
        (number(sum(len(level.changed) for level in levels), "derived"), " changed"),
        (number(sum(len(level.moved) for level in levels), "derived"), " moved to another lane"),
    ]
    bodies = [
        f"{counted(len(bodies), 'body', 'bodies')} {what} ({counted(nodes, 'node')})"
        for what, bodies, nodes in zip(("removed", "added"), lone, alone, strict=True)
        if bodies
    ]
    of_one = f"; {', '.join(bodies)}" if bodies else ""
    return say(
        f"The graph and its bodies: {counted(before, 'node')} before, {after:,} after: ",
        joined(parts), f"{of_one}.",
    )  # fmt: skip


def lone_bodies_section(removed: Sequence[LoneBody], added: Sequence[LoneBody]) -> Section:
    """Return bodies that one side alone has."""
    heading = "Bodies of one side only"
    rows: list[list[Content]] = [
        [side, f"graph {body.graph_id}", _place(body), number(len(body.nodes)), _names(body)]
        for side, bodies in (("removed", removed), ("added", added))
        for body in bodies
    ]
    columns = [column("Body"), column("Is"), column("Where"), numbers("Nodes"), column("Names")]
    return section(
        "bodies", heading,
        table(
            heading, columns, rows[:_MOST], brief=2 * _BRIEF, left_out=len(rows[_MOST:]),
            row_noun=("more body", "more bodies"),
        ),
    )  # fmt: skip


def _place(body: LoneBody) -> str:
    parent = body.holder
    if parent is None:
        return "in a node that is not recorded"
    branch = "in" if body.branch is None else f"body {body.branch} of"
    name = shorten(kernel_label(parent.name), _VALUE)
    return f"{branch} node {parent.node_id} of graph {parent.graph_id} ({name})"


def _names(body: LoneBody) -> Content:
    return joined(_counted(node.name for node in body.nodes)) or "empty"


# -- work ----------------------------------------------------------------------------------


def _groups(heading: str, by: Grouping, groups: Sequence[GroupTime]) -> Section | None:
    """Return groups that changed by more than noise, came or went; the largest change first."""
    found = sorted(filter(has_changed, groups), key=lambda g: -abs(group_change(g)))
    if not found:
        return None
    columns = [
        column("Range" if by == "nesting" else "Name"), numbers("Nodes"), numbers("Before"),
        numbers("After"), numbers("Change"),
    ]  # fmt: skip
    rows = [_group_row(group, by) for group in found[:_MOST]]
    noun = ("more that changed", "more that changed")
    key = f"by-{by}"
    return section(
        key, heading,
        table(heading, columns, rows, brief=_BRIEF, left_out=len(found[_MOST:]), row_noun=noun),
    )  # fmt: skip


def _replaced(groups: Sequence[GroupTime]) -> Section | None:
    """Return the kernels that others took the place of; the largest change first."""
    if not groups:
        return None
    heading = "Kernels replaced, with the nodes that vanished around them"
    columns = [
        column("What by what"), numbers("Nodes"), numbers("Before"), numbers("After"),
        numbers("Change"), column("Verdict"),
    ]  # fmt: skip
    found = sorted(groups, key=lambda g: -abs(group_change(g)))
    rows: list[list[Content]] = [
        [
            replacement_name(group.name), _node_count(group), before(group.time),
            after(group.time), shift(group.time), f"{sign(group.time)}{change_verdict(group.time)}",
        ]
        for group in found[:_MOST]
    ]  # fmt: skip
    return section(
        "replaced", heading,
        table(heading, columns, rows, brief=_BRIEF, left_out=len(found[_MOST:])),
    )  # fmt: skip


def _node_count(group: GroupTime) -> str:
    if group.nodes_after == group.nodes_before:
        return f"{group.nodes_before:,}"
    return f"{group.nodes_before:,} → {group.nodes_after:,}"


def _group_row(group: GroupTime, by: Grouping) -> list[Content]:
    change: Content = shift(group.time)
    if not group.nodes_before or not group.nodes_after:
        change = "gone" if group.nodes_before else "new"
    return [
        AlikeLink(by, group.name),
        _node_count(group),
        before(group.time),
        after(group.time),
        change,
    ]


def _single(level: LevelDiff) -> Section:
    heading = "Node by node"
    if level.untested:
        return section(
            "single", heading, say(f"Noise was not tested: {level.untested}.", note=True)
        )
    found = level.node_times
    replaced = {group.name for group in level.replaced}
    tested, beyond = int((~np.isnan(found.rate)).sum()), np.flatnonzero(found.significant)
    words = say(
        number(len(beyond), "derived"), " of ", number(tested, "derived"),
        " tested changed by more than noise, of which about 5% at most did not.",
    )  # fmt: skip
    change = found.after_ns - found.before_ns
    order = beyond[np.argsort(-np.abs(change[beyond]), kind="stable")]
    columns = [
        column("Node"), column("Name"), numbers("Before"), numbers("After"), numbers("Change"),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            f"{int(found.before_node_id[i])} → {int(found.after_node_id[i])}",
            replacement_name(found.name[i])
            if found.name[i] in replaced
            else AlikeLink("name", found.name[i]),
            ns(found.before_ns[i]),
            ns(found.after_ns[i]),
            shift_of(float(change[i]), float(found.before_ns[i])),
        ]
        for i in order[:_MOST].tolist()
    ]
    listed = table(
        "Nodes that changed most", columns, rows, brief=_BRIEF, left_out=len(order[_MOST:])
    )
    return section("single", heading, words, listed)


# -- nodes and edges -----------------------------------------------------------------------


def _contents(level: LevelDiff) -> list[Block]:
    blocks: list[Block] = [_node_counts(level), _edge_counts(level)]
    blocks += [
        _listed("Removed", (node.name for node in level.removed)),
        _listed("Added", (node.name for node in level.added)),
        _changed(level.changed),
        _listed("In another lane", (pair.before.name for pair in level.moved)),
    ]
    return [block for block in blocks if not (isinstance(block, TableBlock) and not block.rows)]


def _node_counts(level: LevelDiff) -> Sentence:
    counts = (
        (len(level.removed), "removed"),
        (len(level.added), "added"),
        (len(level.changed), "changed"),
        *(((len(level.moved), "moved to another lane"),) if level.moved else ()),
        (level.pair_count - len(level.changed), "the same"),
    )
    parts: list[Content] = [(number(count, "derived"), f" {what}") for count, what in counts]
    only = len(level.only_addresses)
    addresses = f" (of which {only:,} are only given other addresses)" if only else ""
    return say(
        f"Nodes: {level.node_count_before:,} before, {level.node_count_after:,} after: ",
        joined(parts), f"{addresses}.",
    )  # fmt: skip


def _edge_counts(level: LevelDiff) -> Sentence:
    if not level.edges_known:
        return say("Edges are not recorded on both sides.", note=True)
    removed, added = level.edges_removed, level.edges_added
    parts: list[Content] = [
        (number(level.edge_kept_count, "derived"), " kept"),
        (number(len(removed), "derived"), " removed"),
        (number(len(added), "derived"), " added"),
    ]
    if level.edges_retyped:
        retyped = number(len(level.edges_retyped), "derived")
        parts.append((retyped, " programmatic on one side only"))
    between = _between(removed, level.removed), _between(added, level.added)
    stay: Content = ""
    if any(between):
        stay = line(
            "; between nodes that stay ", number(between[0], "derived"), " removed and ",
            number(between[1], "derived"), " added",
        )  # fmt: skip
    return say("Edges: ", joined(parts), stay, ".")


def _between(edges: Sequence[EdgeRef], lone: Sequence[NodeRef]) -> int:
    """Return how many edges have a partner at both ends."""
    alone = {(node.graph_id, node.node_id) for node in lone}
    return sum(
        (e.dependency.graph_id, e.dependency.node_id) not in alone
        and (e.dependent.graph_id, e.dependent.node_id) not in alone
        for e in edges
    )


def _listed(label: str, names: Iterable[str]) -> TableBlock:
    counts = Counter(names)
    rows: list[list[Content]] = [
        [(number(count), " ×"), AlikeLink("name", name)] for name, count in counts.most_common()
    ]
    return table(
        label, [numbers("Nodes"), column(label)], rows[:_MOST], brief=_BRIEF, in_line=True,
        left_out=len(rows[_MOST:]), row_noun=("more name", "more names"),
    )  # fmt: skip


def _changed(changed: Sequence[NodeChange]) -> TableBlock:
    kinds = Counter(map(_describe_change, changed)).most_common()
    rows: list[list[Content]] = [[(number(count), " ×"), text] for text, count in kinds[:_MOST]]
    columns = [numbers("Nodes"), column("Changed")]
    return table(
        "Changed", columns, rows, brief=_BRIEF, left_out=len(kinds[_MOST:]),
        row_noun=("more kind of change", "more kinds of change"),
    )  # fmt: skip


def _describe_change(node: NodeChange) -> str:
    values = [c for c in node.changes if c.kind == "value"]
    texts = [
        f"{c.what} {_value(c.what, c.before)} → {_value(c.what, c.after)}"
        for c in values[:_DIFFERENCES]
    ]
    left = len(values) - len(texts)
    more = f", and {left:,} more" if left else ""
    name = (
        "" if values[0].what == "kernel" else f"{shorten(kernel_label(node.before.name), _VALUE)}: "
    )
    return f"{name}{', '.join(texts)}{more}"


def _value(what: str, text: str) -> str:
    return shorten(kernel_label(text) if what == "kernel" else text, _VALUE)


def _counted(names: Iterable[str]) -> list[Content]:
    counts = Counter(names)
    shown: list[Content] = [
        (f"{count:,} × ", AlikeLink("name", name)) for name, count in counts.most_common(_BRIEF)
    ]
    left = len(counts) - len(shown)
    return [*shown, f"and {counted(left, 'more name')}"] if left else shown
