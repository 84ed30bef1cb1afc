"""Graphs of a trace written with the topology of a DOT dump."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gviz.cuda import TIMED_TYPES, not_timed_reason
from gviz.formats.dot import DotGraph, DotNode, DotWriter, find_parents, read_graphs
from gviz.formats.traces.dot_join import Family, Join, families, join_nodes
from gviz.formats.traces.graph_rows import GraphRows, TraceGraph
from gviz.formats.traces.launches import FoldedTrace
from gviz.matching import CapturedWork
from gviz.recording import rows
from gviz.runs import RunBuilder

_NOT_IN_TRACE = "the trace has no time of this node"
#: What the trace knows as well, for a dump may be a plain one.
_FROM_TRACE = (
    "device_id", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z",
    "bytes", "copy_kind", "created_ns", "created_thread_id", "nvtx_path_id",
)  # fmt: skip
#: What it knows of a copy that ran as a kernel, whose launch shape is none of the copy's.
_OF_ANY_KIND = ("device_id", "created_ns", "created_thread_id", "nvtx_path_id")


@dataclass(frozen=True, slots=True)
class Dump:
    """A graph of a DOT dump; ``name``: the file's, ``text``: its text, compressed."""

    name: str
    family: Family
    text: bytes


def read_dumps(path: Path) -> list[Dump]:
    """Return the graphs of a DOT dump.

    Raises
    ------
    DotError
        If it cannot be read.
    """
    text, graphs = read_graphs(path)
    packed = zlib.compress(text.encode())
    return [Dump(path.name, f, packed) for f in families(graphs, find_parents(graphs))]


class Joining:
    """Writes graphs of dumps, with the times' nodes where a trace has the same graph.

    Parameters
    ----------
    builder
        Of the run.
    dumps
        Graphs of dumps.
    shared_memory_is_total
        Whether shared memory of the trace is static and dynamic together.

    Attributes
    ----------
    notes
        What is to be said of it.
    """

    def __init__(
        self,
        builder: RunBuilder,
        dumps: Sequence[Dump],
        *,
        shared_memory_is_total: bool,
    ) -> None:
        self.notes: list[tuple[str, str]] = []
        self._builder = builder
        self._dumps = dumps
        self._shared_is_total = shared_memory_is_total
        self._dots = DotWriter(builder)
        self._used: set[int] = set()
        #: The closest that each dump came to a graph of the trace.
        self._closest: dict[int, tuple[Join, str]] = {}

    def write(self, graph: TraceGraph, folded: FoldedTrace) -> CapturedWork | None:
        """Write a trace's graph as the dump's that it is; return what it does, None: it is none."""
        best: tuple[int, Join] | None = None
        for i, dump in enumerate(self._dumps):
            join = join_nodes(
                dump.family, graph.nodes, graph.symbols, graph.edges[:, :2],
                ids_told=graph.ids_reported,
            )  # fmt: skip
            found = len(join.exec_node_of)
            if i not in self._closest or found > len(self._closest[i][0].exec_node_of):
                self._closest[i] = (join, graph.name)
            if join.is_one_graph and (best is None or found > len(best[1].exec_node_of)):
                best = (i, join)
        if best is None:
            return None
        at, join = best
        self._used.add(at)
        self._tell(
            self._dumps[at], graph, join, _contradictions(self._dumps[at], graph, join, folded)
        )
        return self._write_joined(self._dumps[at], graph, join)

    def _write_joined(self, dump: Dump, graph: TraceGraph, join: Join) -> CapturedWork:
        family = dump.family
        top = family.levels[0]
        outermost: list[rows.Node] = []

        def node_row(level: DotGraph, node: DotNode, row: rows.Node) -> rows.Node:
            exec_node_id = join.exec_node_of.get((level.number, node.node_id))
            if exec_node_id is None:
                reason = _NOT_IN_TRACE if row.type in TIMED_TYPES else not_timed_reason(row.type)
                found = replace(row, not_timed_reason=reason)
            else:
                found = self._joined_row(row, graph.nodes[exec_node_id])
                graph.joined[exec_node_id] = (found.graph_id, found.node_id)
            if level.number == top.number:
                outermost.append(found)
            return found

        graph_ids = self._dots.write(family.levels, family.parents, dump.text, node_row)
        graph_id = graph_ids[top.number]
        free = max([n.node_id for n in top.nodes] + list(graph.nodes), default=0) + 1
        matched = set(join.exec_node_of.values())
        for node_id, node in graph.nodes.items():
            if node_id not in matched:
                outermost.append(replace(node, graph_id=graph_id, node_id=free))
                graph.joined[node_id] = (graph_id, free)
                self._builder.add(outermost[-1])
                free += 1
        pairs = [(edge.from_node, edge.to_node) for edge in top.edges]
        edges = np.array(pairs, np.int64).reshape(-1, 2)
        return CapturedWork.from_rows(graph_id, outermost, edges)

    def _joined_row(self, row: rows.Node, timed: rows.Node) -> rows.Node:
        """Return the row of a dump's node with what the trace's tells."""
        from_trace = _FROM_TRACE if row.type == timed.type else _OF_ANY_KIND
        told = {k: v for k in from_trace if (v := getattr(timed, k)) is not None}
        shared = timed.shared_mem_bytes if row.type == timed.type else None
        if row.shared_mem_bytes is None:
            told["shared_mem_bytes"] = shared
        elif shared is not None and self._shared_is_total and row.function_id is not None:
            static = max(shared - row.shared_mem_bytes, 0)
            self._builder.kernels.learn_static_shared(row.function_id, static)
        return replace(
            row,
            exec_node_id=timed.exec_node_id,
            not_timed_reason=None,
            stack_reason=timed.stack_reason,
            **told,
        )

    def _tell(self, dump: Dump, graph: TraceGraph, join: Join, contradicted: int) -> None:
        found = len(join.exec_node_of)
        how = []
        if join.by_id:
            how.append(f"{join.by_id:,} by their ids")
        if found > join.by_id:
            how.append(f"{found - join.by_id:,} by kind, kernel and shape, in order")
        text = (
            f"{graph.name} of the trace is {dump.family.name} of {dump.name}: {found:,} nodes "
            f"were matched ({', '.join(how)}), {join.dot_left:,} timed nodes of the dump and "
            f"{join.trace_left:,} of the trace were not."
        )
        if join.as_kernels:
            names = ", ".join(sorted(set(join.as_kernels)))
            text += (
                f" The driver ran {len(join.as_kernels):,} of the dump's copies and memsets as "
                f"kernels of its own ({names}): their times are those kernels'."
            )
        self.notes.append(("warning" if join.dot_left or join.trace_left else "information", text))
        if contradicted:
            self.notes.append(
                ("warning",
                 f"{contradicted:,} dependencies of {dump.family.name} in {dump.name} contradict "
                 f"the times: a node of {graph.name} started before one that it depends on had "
                 "ended. Programmatic dependencies do that, which a dump does not tell from "
                 "others; else nodes are matched wrongly, or the dump is of another capture.")
            )  # fmt: skip

    def write_rest(self, graphs: GraphRows) -> None:
        """Write the dumps that are none of the trace's graphs."""
        for i, dump in enumerate(self._dumps):
            if i in self._used:
                continue
            self._dots.write(dump.family.levels, dump.family.parents, dump.text)
            nodes = len(dump.family.timed_nodes())
            if i in self._closest:
                join, name = self._closest[i]
                text = (
                    f"{dump.family.name} of {dump.name} is none of the trace's graphs: of its "
                    f"{nodes:,} timed nodes {join.dot_left:,} match no node of {name}, the "
                    f"closest, and {join.trace_left:,} of that match none of the dump's."
                )
            else:
                text = f"The trace has no launch of a graph for {dump.family.name} of {dump.name}."
            self.notes.append(("warning", f"{text} Both are shown, unjoined."))


def _contradictions(dump: Dump, graph: TraceGraph, join: Join, folded: FoldedTrace) -> int:
    """Return how many dependencies the times of the fullest launch contradict."""
    own = np.flatnonzero(folded.launches["exec_id"] == graph.exec_id)
    sizes = folded.launches["span_count"][own]
    launch = int(own[sizes == sizes.max()][-1])
    at = slice(*np.searchsorted(folded.span_launch, [launch, launch + 1]).tolist())
    once = folded.span_iteration[at] == 0
    work = folded.work[folded.span[at][once]]
    ends = dict(zip(work["node_id"].tolist(), work["end_ns"].tolist(), strict=True))
    starts = dict(zip(work["node_id"].tolist(), work["start_ns"].tolist(), strict=True))
    count = 0
    for level in dump.family.levels:
        for edge in level.edges:
            before = join.exec_node_of.get((level.number, edge.from_node))
            after = join.exec_node_of.get((level.number, edge.to_node))
            if before in ends and after in starts and before is not None and after is not None:
                count += starts[after] < ends[before]
    return count
