"""Causes of refused whole-graph updates: what differed between the executable and the new graph.

Pure functions over node descriptions; the limits of an update are those that cuda.h, CUDA 13.0,
lists under cuGraphExecUpdate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import IntEnum

from gviz.cuda.node_type import NodeType, node_type_name
from gviz.dataclass import dataclass

#: Differences listed at most; a graph rebuilt from other code differs everywhere.
MOST_DIFFERENCES = 5


class UpdateResult(IntEnum):
    """``CUgraphExecUpdateResult`` (cuda.h, CUDA 13.0)."""

    SUCCESS = 0
    ERROR = 1
    TOPOLOGY_CHANGED = 2
    NODE_TYPE_CHANGED = 3
    FUNCTION_CHANGED = 4
    PARAMETERS_CHANGED = 5
    NOT_SUPPORTED = 6
    UNSUPPORTED_FUNCTION_CHANGE = 7
    ATTRIBUTES_CHANGED = 8


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """Properties of a node that an update compares, as far as recorded; None: not recorded or none.

    Attributes
    ----------
    node_id
        In its graph.
    type
        CUgraphNodeType.
    name
        Kernel name, or what the operation is called.
    memory
        CUmemorytype of a copy's source and destination.
    child
        Number of nodes in a child graph.
    """

    node_id: int
    type: int
    name: str
    device_id: int | None = None
    cooperative: int | None = None
    priority: int | None = None
    memory: tuple[int, int] | None = None
    bytes: int | None = None
    element_bytes: int | None = None
    child: int | None = None


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """One graph level: nodes in order of creation, edges as (from, to) node ids."""

    nodes: Sequence[NodeFacts]
    edges: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class UpdateError:
    """The driver's report about an update; nodes by id in the new graph, None: none named."""

    result: int | None
    node_id: int | None = None
    from_node_id: int | None = None


def update_result_name(result: int | None) -> str:
    """Return CUDA's name of an update's result, without its common prefix."""
    if result is None:
        return "not reported"
    try:
        return UpdateResult(result).name
    except ValueError:
        return f"result {result}"


def explain_update(error: UpdateError, old: GraphFacts | None, new: GraphFacts | None) -> str:
    """Return sentences that say which node an update failed at, and what differed.

    Parameters
    ----------
    error
        The driver's report.
    old, new
        The executable's template and the new graph; None where they were not read.
    """
    name = update_result_name(error.result)
    if old is None or new is None:
        where = f" at node {error.node_id}" if error.node_id is not None else ""
        return f"The driver refused the update{where} ({name}); the new graph was not read."
    if error.result == UpdateResult.TOPOLOGY_CHANGED:
        return _join(_topology(error, old, new), name)
    if error.node_id is None:
        return _join(_everywhere(old, new) or ["no difference in what is recorded"], name)
    found = _at(error.node_id, old, new)
    return _join(found, name)


def differences(old: NodeFacts, new: NodeFacts) -> list[str]:
    """Return what differs between paired nodes that an update does not allow, as sentences."""
    if old.type != new.type:
        return [f"type changed from {_title(old)} to {_title(new)}"]
    found = []
    if old.type == NodeType.KERNEL and old.name != new.name:
        found.append(f"kernel changed from {old.name} to {new.name}")
    for field, words in _FIELDS:
        before, after = getattr(old, field), getattr(new, field)
        if before != after and before is not None and after is not None:
            found.append(f"{words} changed from {_value(field, before)} to {_value(field, after)}")
    return found


_FIELDS = (
    ("device_id", "device"),
    ("cooperative", "cooperative launch"),
    ("priority", "priority"),
    ("memory", "memory types"),
    ("element_bytes", "element size"),
    ("bytes", "size"),
    ("child", "nodes of the child graph"),
)
#: CUmemorytype
_MEMORY = {1: "host", 2: "device", 3: "array", 4: "unified"}


def _value(field: str, value: object) -> str:
    if field == "memory" and isinstance(value, tuple):
        source, destination = (_MEMORY.get(kind, f"type {kind}") for kind in value)
        return f"{source} to {destination}"
    if field in ("bytes", "element_bytes"):
        return f"{value} bytes"
    return str(value)


def _title(node: NodeFacts) -> str:
    kind = node_type_name(node.type)
    return f"{kind} {node.name}" if node.type == NodeType.KERNEL else kind


def _at(node_id: int, old: GraphFacts, new: GraphFacts) -> list[str]:
    after = _by_id(new).get(node_id)
    before = _by_id(old).get(node_id)
    if after is None:
        return [f"node {node_id}: not among the nodes that were read"]
    if before is None:
        return [f"node {node_id}: {_title(after)} has no partner in the executable"]
    found = differences(before, after)
    if not found:
        found = [f"{_title(after)} differs in something that is not recorded"]
    return [f"node {node_id}: {difference}" for difference in found]


def _everywhere(old: GraphFacts, new: GraphFacts) -> list[str]:
    partners = _by_id(old)
    return [
        f"node {node.node_id}: {difference}"
        for node in new.nodes
        if node.node_id in partners
        for difference in differences(partners[node.node_id], node)
    ]


def _topology(error: UpdateError, old: GraphFacts, new: GraphFacts) -> list[str]:
    found = []
    before, after = len(old.nodes), len(new.nodes)
    if before != after:
        nodes = "node" if after == 1 else "nodes"
        found.append(f"the new graph has {after} {nodes}, the executable {before}")
        titles = Counter(map(_title, old.nodes)), Counter(map(_title, new.nodes))
        found += _changed(titles[1] - titles[0], "added") + _changed(
            titles[0] - titles[1], "removed"
        )
    elif error.node_id is not None:
        depends = f" on node {error.from_node_id}" if error.from_node_id is not None else ""
        found.append(f"node {error.node_id}: its dependencies{depends} differ")
    was, becomes = set(old.edges), set(new.edges)
    if before == after:
        found += [f"edge {a} to {b} added" for a, b in sorted(becomes - was)]
        found += [f"edge {a} to {b} removed" for a, b in sorted(was - becomes)]
    if not found:
        found = ["the nodes agree in number, but not in the order of their dependencies"]
    return found


def _changed(titles: Counter[str], word: str) -> list[str]:
    return [
        f"{title} {word}" + (f" {count} times" if count > 1 else "")
        for title, count in titles.most_common()
    ]


def _by_id(graph: GraphFacts) -> dict[int, NodeFacts]:
    return {node.node_id: node for node in graph.nodes}


def _join(found: Sequence[str], name: str) -> str:
    shown = "; ".join(found[:MOST_DIFFERENCES])
    more = len(found) - MOST_DIFFERENCES
    return shown + (f"; and {more} more" if more > 0 else "") + f" ({name})"
