"""Rows of the Compare page's tables: nodes added, removed and changed, and their times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gviz.analysis import NodeRef
from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.compare.page_levels import SIDES
from gviz.app.views import VERDICT_WORDS, by_lines, node_verdicts, node_words
from gviz.comparison import ComparedLevel, GroupTime, NodeChange
from gviz.cuda import node_type_name
from gviz.dataclass import dataclass
from gviz.families import joined_labels
from gviz.model import TimedTree
from gviz.report import change_verdict, group_change

Row = dict[str, Any]

#: Pairs of durations looked at for the intervals of nodes, about a second; beyond that the nodes
#: that changed most have one.
_MOST_DIFFERENCES = 30_000_000


@dataclass(frozen=True, slots=True)
class _Places:
    """Places of both sides' nodes on the page: numbers, names of bodies.

    Attributes
    ----------
    levels
        Of each side the levels of its tree, by graph_id.
    """

    found: Comparison
    levels: tuple[Mapping[int, int], Mapping[int, int]]

    @classmethod
    def of(cls, found: Comparison) -> _Places:
        before, after = (
            {x.graph.graph_id: at for at, x in enumerate(tree.levels)} for tree in found.trees
        )
        return cls(found, (before, after))

    def tree(self, side: int) -> TimedTree:
        return self.found.trees[side]

    def level(self, side: int, graph_id: int) -> int:
        return self.levels[side][graph_id]

    def keys(self, side: int, level: int) -> list[int]:
        """Return the page's numbers of a level's nodes, by node id."""
        at = self.tree(side).levels[level]
        numbers = self.found.keys.of_side(side)
        return [int(key) for key in numbers[at.first : at.end]]

    def own_keys(self, level: int) -> list[int]:
        """Return the numbers of a level's nodes before on the page of their graph, by node id."""
        at = self.tree(0).levels[level]
        return [int(key) for key in self.tree(0).key[at.first : at.end]]

    def by_ref(self, side: int) -> Callable[[NodeRef], int]:
        """Return what finds the number of a node."""
        known: dict[tuple[int, int], int] = {}
        tree = self.tree(side)
        for at, level in enumerate(tree.levels):
            ids = tree.nodes[level.first : level.end].integers("node_id").tolist()
            for node_id, key in zip(ids, self.keys(side, at), strict=True):
                known[level.graph.graph_id, node_id] = key
        return lambda ref: known[ref.graph_id, ref.node_id]


def compared_table(found: Comparison, table: str) -> bytes:
    """Return a table as JSON: a list a column, as the columns of its name say.

    Times are in nanoseconds; null: none. ``key`` is a node's number on the page, ``key_a`` that on
    the page of the graph before, ``keys`` those
    of all nodes that a row is about; ``size_ns`` what rows are sorted by.
    """
    rows = list(TABLES[table](found))
    for row in rows:
        if "change_ns" in row:
            row["size_ns"] = _effect(row)
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    if "name" in columns:
        columns["label"] = [joined_labels(str(name)) for name in columns["name"]]
    return by_lines(columns)


def _nodes(found: Comparison) -> Iterator[Row]:
    """Yield all nodes of both sides, those first whose time came, went or changed most."""
    places = _Places.of(found)
    rows = list(_in_lone_bodies(found, places))
    for at, level in enumerate(found.pair.levels):
        rows += _paired(found, places, level, at)
        rows += _alone(found, places, level)
    yield from sorted(rows, key=_effect, reverse=True)


def _effect(row: Row) -> float:
    return abs(float(row.get("change_ns") or 0.0))


def _paired(found: Comparison, places: _Places, level: ComparedLevel, at: int) -> Iterator[Row]:
    comparison = found.level(at)
    verdicts = node_verdicts(comparison)
    tree, body = places.tree(1), places.level(1, level.graph_ids[1])
    keys, own = places.keys(1, body), places.own_keys(places.level(0, level.graph_ids[0]))
    intervals = _intervals(level)
    times, names, words = comparison.times, comparison.pair_names(), node_words(comparison)
    changed, only_addresses = comparison.changed, comparison.only_addresses
    for pair, (one, two) in enumerate(comparison.pairs.tolist()):
        change = _known(times.change_ns[pair])
        was = _known(times.before_ns[pair])
        low, high = intervals.get(pair, (None, None))
        yield {
            "key": keys[two],
            "key_a": own[one],
            "node_a": int(comparison.first.node_id[one]),
            "node_b": int(comparison.second.node_id[two]),
            "name": names[pair],
            "kind": node_type_name(int(comparison.second.type[two])),
            "body": tree.path_of(body) or None,
            "what": _became(changed[pair], only_addresses[pair]),
            "a_ns": was,
            "b_ns": _known(times.after_ns[pair]),
            "change_ns": change,
            "change": change / was if change is not None and was else None,
            "low_ns": low,
            "high_ns": high,
            "verdict": VERDICT_WORDS[verdicts[two]],
            "difference": words[two],
        }  # fmt: skip


def _became(changed: bool, moved: bool) -> str:
    return "changed" if changed else "other addresses" if moved else "same"


def _alone(found: Comparison, places: _Places, level: ComparedLevel) -> Iterator[Row]:
    comparison = level.comparison
    sides = (
        (0, comparison.first, comparison.removed, comparison.before, "removed"),
        (1, comparison.second, comparison.added, comparison.after, "added"),
    )
    for side, graph, nodes, durations, what in sides:
        body = places.level(side, level.graph_ids[side])
        keys, own = places.keys(side, body), [] if side else places.own_keys(body)
        taken = {
            n: r.name for r in comparison.replacements for n in (r.before, r.after)[side].tolist()
        }
        for node in nodes.tolist():
            yield {
                "key": keys[node],
                "key_a": None if side else own[node],
                "node_b" if side else "node_a": int(graph.node_id[node]),
                "name": graph.title[node],
                "kind": node_type_name(int(graph.type[node])),
                "body": found.trees[side].path_of(body) or None,
                "what": what,
                **_whole(side, _known(durations.typical[node]), counts=node not in taken),
                "verdict": what,
                "difference": f"in {taken[node]}" if node in taken else "",
            }


def _in_lone_bodies(found: Comparison, places: _Places) -> Iterator[Row]:
    """Yield nodes of bodies that one side only has."""
    for level in found.page.levels:
        if not level.alone:
            continue
        side, tree = level.side, found.trees[level.side]
        own = tree.levels[level.place]
        what = "added" if side else "removed"
        median = tree.times.median_ns[own.first : own.end]
        keys = places.keys(side, level.place)
        mine = [None] * len(keys) if side else places.own_keys(level.place)
        nodes = tree.nodes[own.first : own.end]
        for key, key_a, node, ns in zip(keys, mine, nodes, median, strict=True):
            yield {
                "key": key,
                "key_a": key_a,
                "node_b" if side else "node_a": node.node_id,
                "name": node.name,
                "kind": node_type_name(node.type),
                "body": tree.path_of(level.place) or None,
                "what": what,
                **_whole(side, _known(ns), counts=True),
                "verdict": what,
                "difference": f"in a body that only {SIDES[side]} has",
            }


def _whole(side: int, ns: float | None, *, counts: bool) -> Row:
    """Return the time of a node of one side, and its change: the whole of it.

    ``counts``: it is not part of a replacement, whose row has the change of all of it.
    """
    change_ns = ns if side or ns is None else -ns
    return {"b_ns" if side else "a_ns": ns, "change_ns": change_ns if counts else None}


def _intervals(level: ComparedLevel) -> Mapping[int, tuple[float, float]]:
    """Return the intervals of changes, by pair; where launches are many, of the largest."""
    nodes = level.nodes
    each = max(1, min(nodes.changes.launches_before, 1_000))
    each *= max(1, min(nodes.changes.launches_after, 1_000))
    tested = np.flatnonzero(~np.isnan(nodes.changes.rate))
    order = np.argsort(-np.abs(nodes.changes.change_ns[tested]), kind="stable")
    chosen = tested[order][: max(1, _MOST_DIFFERENCES // each)]
    return {pair: nodes.interval(pair) for pair in chosen.tolist()}


def _changed(found: Comparison) -> Iterator[Row]:
    for level in found.graph.levels:
        yield from _changes(found, level.changed)


def _addresses(found: Comparison) -> Iterator[Row]:
    for level in found.graph.levels:
        yield from _changes(found, level.only_addresses)


def _changes(found: Comparison, nodes: Sequence[NodeChange]) -> Iterator[Row]:
    key = _Places.of(found).by_ref(1)
    for node in nodes:
        for difference in node.changes:
            yield {
                "key": key(node.after),
                "node_a": node.before.node_id,
                "node_b": node.after.node_id,
                "name": node.after.name,
                "what": difference.what,
                "a": difference.before,
                "b": difference.after,
                "is": {"unknown": "bytes that may be padding"}.get(
                    difference.kind, difference.kind
                ),
            }


def _moved(found: Comparison) -> Iterator[Row]:
    key = _Places.of(found).by_ref(1)
    for level in found.graph.levels:
        for pair in level.moved:
            yield {
                "key": key(pair.after),
                "node_a": pair.before.node_id,
                "node_b": pair.after.node_id,
                "name": pair.after.name,
            }


def _edges(found: Comparison) -> Iterator[Row]:
    places = _Places.of(found)
    keys = places.by_ref(0), places.by_ref(1)
    for level in found.graph.levels:
        for what, side, edges in (
            ("removed", 0, level.edges_removed),
            ("added", 1, level.edges_added),
            ("programmatic on one side", 0, level.edges_retyped),
        ):
            for edge in edges:
                yield {
                    "keys": [keys[side](edge.dependency), keys[side](edge.dependent)],
                    "what": what,
                    "from_node": edge.dependency.node_id,
                    "from": edge.dependency.name,
                    "to_node": edge.dependent.node_id,
                    "to": edge.dependent.name,
                }


def _names(found: Comparison) -> Iterator[Row]:
    """Yield names, those first whose time changed most: of one side it came or went as a whole."""
    rows = [*_groups(found, "replaced"), *_groups(found, "names")]
    yield from sorted(rows, key=_effect, reverse=True)


def _ranges(found: Comparison) -> Iterator[Row]:
    yield from sorted(_groups(found, "ranges"), key=_effect, reverse=True)


def _groups(found: Comparison, which: str) -> Iterator[Row]:
    places = _Places.of(found)
    for at, level in enumerate(found.pair.levels):
        groups = {"names": level.names, "ranges": level.ranges, "replaced": level.replaced}[which]
        times: Sequence[GroupTime] = getattr(found.graph.levels[at], which)
        bodies = [places.level(side, level.graph_ids[side]) for side in (0, 1)]
        keys = [places.keys(side, body) for side, body in enumerate(bodies)]
        for number, group in enumerate(times):
            nodes = [keys[0][n] for n in groups.before[number].tolist()]
            nodes += [keys[1][n] for n in groups.after[number].tolist()]
            time = group.time
            change_ns, verdict = time.change_ns, change_verdict(time)
            if not group.nodes_before or not group.nodes_after:
                change_ns, verdict = _one_sided(group)
            yield {
                "keys": list(dict.fromkeys(nodes)),
                "name": group.name,
                "body": found.trees[1].path_of(bodies[1]) or None,
                "nodes_a": group.nodes_before,
                "nodes_b": group.nodes_after,
                "a_ns": time.before_ns,
                "b_ns": time.after_ns,
                "change_ns": change_ns,
                "change": change_ns / time.before_ns
                if change_ns is not None and time.before_ns
                else None,
                "low_ns": time.low_ns,
                "high_ns": time.high_ns,
                "verdict": verdict,
            }


def _one_sided(group: GroupTime) -> tuple[float | None, str]:
    """Return the time of nodes that came, or less that of nodes that went, and which it is."""
    known = group.time.after_ns if group.nodes_after else group.time.before_ns
    return (
        None if known is None else group_change(group),
        "added" if group.nodes_after else "removed",
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


#: What each table lists, by its name in addresses.
TABLES: Mapping[str, Callable[[Comparison], Iterator[Row]]] = {
    "nodes": _nodes,
    "changed": _changed,
    "moved": _moved,
    "edges": _edges,
    "names": _names,
    "ranges": _ranges,
    "addresses": _addresses,
}
