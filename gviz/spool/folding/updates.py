"""Updates of executables: equal ones summed, and what differed in those that failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gviz.cuda import (
    GraphFacts,
    NodeFacts,
    NodeType,
    UpdateError,
    explain_update,
    short_name,
    update_result_name,
)
from gviz.recording import GraphUpdate
from gviz.runs import operation_name
from gviz.spool.folding.graphs import Graphs
from gviz.spool.records import (
    NO_NODE,
    UNKNOWN_NODE,
    WHOLE_GRAPH,
    GraphWalk,
    NodeRecord,
    UpdateFailedRecord,
    UpdatesPassed,
    UpdatesRecord,
)
from gviz.spool.streams import Contents

#: What makes updates equal: executable, node, call, result, value, graph of the node.
_Key = tuple[int, int, int, int, int, int]


def fold_updates(
    contents: Contents, graphs: Graphs, walks: dict[int, list[GraphWalk]]
) -> list[GraphUpdate]:
    """Return the rows of table graph_update, in order of the first call of each.

    Parameters
    ----------
    walks
        The levels that were read at each instantiation, by executable.
    """
    folder = _Updates(contents, graphs, walks)
    found = sorted(folder.rows(), key=lambda row: row.first_ns)
    return [replace(row, graph_update_id=i) for i, row in enumerate(found, start=1)]


class _Updates:
    def __init__(
        self,
        contents: Contents,
        graphs: Graphs,
        walks: dict[int, list[GraphWalk]],
    ) -> None:
        self._contents = contents
        self._graphs = graphs
        self._walks = walks

    def rows(self) -> list[GraphUpdate]:
        """Return the rows, not yet numbered."""
        summed = _with_passed(_sum(self._contents.life.updates), self._contents.life.updates_passed)
        failed = self._failed()
        for key, rows in failed.items():
            summed[key] = _without(summed.get(key), rows)
        rest = [self._row(record) for record in summed.values() if record and record.calls > 0]
        return [*rest, *(row for rows in failed.values() for row in rows)]

    def _row(self, record: UpdatesRecord) -> GraphUpdate:
        execution = self._graphs.execs.get(record.exec_id)
        call = self._contents.call_names.get(record.call, f"driver call {record.call}")
        whole = record.node_id == WHOLE_GRAPH
        failed = whole and record.result != 0 and record.value < 2**31
        return GraphUpdate(
            graph_update_id=0,
            run_id=self._graphs.run_id,
            graph_exec_id=execution.graph_exec_id if execution else None,
            kind="graph" if whole else _node_kind(call, record.value),
            node_id=None if whole else self._node_of(record),
            call=call,
            count=record.calls,
            first_ns=record.first_ns,
            last_ns=record.last_ns,
            total_ns=record.total_ns,
            result=record.result,
            detail=record.value if failed else None,
            detail_name=update_result_name(record.value) if failed else None,
        )

    def _node_of(self, record: UpdatesRecord) -> int | None:
        """Return the node that was named, if it is one of the executable's template."""
        walks = self._walks.get(record.exec_id)
        stranger = walks is not None and record.graph_id not in {w.graph_id for w in walks}
        return None if stranger or record.node_id == UNKNOWN_NODE else record.node_id

    # -- failed ones -----------------------------------------------------------------------

    def _failed(self) -> dict[_Key, list[GraphUpdate]]:
        """Return the failed updates on which the driver reported, equal ones summed."""
        found: dict[_Key, dict[object, GraphUpdate]] = {}
        for record, new in self._contents.life.updates_failed:
            value = record.detail if record.detail >= 0 else 0xFFFFFFFF
            key = (record.exec_id, WHOLE_GRAPH, record.call, record.result, value, 0)
            difference = self._difference(record, new)
            mine = found.setdefault(key, {})
            total = record.end_ns - record.start_ns
            same = mine.get((record.error_node & 0xFFFFFFFF, difference))
            if same is None:
                one = UpdatesRecord(
                    *key[:5], 1, record.thread_id, 0, record.start_ns, record.start_ns, total
                )
                node = None if record.error_node == NO_NODE else record.error_node & 0xFFFFFFFF
                row = replace(self._row(one), failing_node_id=node, difference=difference)
            else:
                row = replace(
                    same,
                    count=same.count + 1,
                    last_ns=max(same.last_ns, record.start_ns),
                    total_ns=same.total_ns + total,
                )
            mine[record.error_node & 0xFFFFFFFF, difference] = row
        return {key: list(rows.values()) for key, rows in found.items()}

    def _difference(self, record: UpdateFailedRecord, new: list[GraphWalk]) -> str:
        detail = None if record.detail < 0 else record.detail
        node = None if record.error_node == NO_NODE else record.error_node
        origin = None if record.error_from == NO_NODE else record.error_from & 0xFFFFFFFF
        old = self._walks.get(record.exec_id, [])
        level = next((i for i, w in enumerate(new) if node and w.graph_id == node >> 32), 0)
        local = None if node is None else node & 0xFFFFFFFF
        return explain_update(
            UpdateError(detail, local, origin),
            self._facts(old, level),
            self._facts(new, level),
        )

    def _facts(self, walks: list[GraphWalk], level: int) -> GraphFacts | None:
        if level >= len(walks):
            return None
        sizes = {walk.graph_id: len(walk.nodes) for walk in walks}
        nodes = [self._node(node, sizes) for node in sorted(walks[level].nodes)]
        edges = [(int(a), int(b)) for a, b in walks[level].edges[:, :2].tolist()]
        return GraphFacts(nodes, edges)

    def _node(self, node: NodeRecord, sizes: dict[int, int]) -> NodeFacts:
        function = self._contents.functions.get(node.function)
        moves = node.type in (NodeType.MEMCPY, NodeType.MEMSET, NodeType.MEM_ALLOC)
        kernel = node.type == NodeType.KERNEL
        return NodeFacts(
            node_id=node.node_id,
            type=node.type,
            name=short_name(function.name) if function else operation_name(node.type, None),
            device_id=None if node.device_id < 0 else node.device_id,
            cooperative=node.cooperative if kernel and node.cooperative >= 0 else None,
            priority=node.priority if kernel and node.priority != -(2**31) else None,
            memory=(node.source_type, node.destination_type)
            if node.type == NodeType.MEMCPY
            else None,
            bytes=node.bytes if moves else None,
            element_bytes=node.element_bytes if node.type == NodeType.MEMSET else None,
            child=sizes.get(node.child_graph_id) if node.child_graph_id else None,
        )


def _sum(records: Iterable[UpdatesRecord]) -> dict[_Key, UpdatesRecord | None]:
    found: dict[_Key, UpdatesRecord | None] = {}
    for record in records:
        key = (
            record.exec_id, record.node_id, record.call, record.result, record.value,
            record.graph_id,
        )  # fmt: skip
        known = found.get(key)
        found[key] = (
            record
            if known is None
            else known._replace(
                calls=known.calls + record.calls,
                first_ns=min(known.first_ns, record.first_ns),
                last_ns=max(known.last_ns, record.last_ns),
                total_ns=known.total_ns + record.total_ns,
            )
        )
    return found


def _with_passed(
    summed: dict[_Key, UpdatesRecord | None],
    passed: Mapping[tuple[int, int, int, int], UpdatesPassed],
) -> dict[_Key, UpdatesRecord | None]:
    """Add the updates that nobody was told of, each as long as the mean of equal ones."""
    found = dict(summed)
    for (exec_id, node_id, call, graph_id), more in passed.items():
        key = (exec_id, node_id, call, 0, 0, graph_id)
        if (timed := found.get(key)) is not None and timed.calls:
            calls = timed.calls + more.updates
            found[key] = timed._replace(
                calls=calls,
                last_ns=max(timed.last_ns, more.to_ns),
                total_ns=round(timed.total_ns * calls / timed.calls),
            )
    return found


def _without(summed: UpdatesRecord | None, failed: list[GraphUpdate]) -> UpdatesRecord | None:
    """Take away from a sum the calls that have rows of their own."""
    if summed is None:
        return None
    return summed._replace(
        calls=summed.calls - sum(row.count for row in failed),
        total_ns=max(0, summed.total_ns - sum(row.total_ns for row in failed)),
    )


def _node_kind(call: str, value: int) -> str:
    if call.startswith("cuGraphNodeSetEnabled"):
        return "enable" if value else "disable"
    return "node"
