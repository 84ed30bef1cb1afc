"""Graphs of a trace written with the topology of a DOT dump."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gviz.cuda import TIMED_TYPES, not_timed_reason
from gviz.dataclass import dataclass
from gviz.formats.dot import DotGraph, DotWriter, find_parents, read_graphs
from gviz.formats.traces.dot_join import Family, Join, JoinedPair, families
from gviz.formats.traces.graph_rows import GraphRows, TraceGraph
from gviz.formats.traces.graph_times import TimesByExec
from gviz.formats.traces.launches import FoldedTrace
from gviz.matching import CapturedWork
from gviz.recording import rows
from gviz.runs import NodeKeys, Rows, RunBuilder
from gviz.stats import UNKNOWN, IntArray, distinct_values
from gviz.text import counted, duration

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
    folded
        The trace.
    dumps
        Graphs of dumps.
    shared_memory_is_total
        Whether shared memory of the trace is static and dynamic together.

    Attributes
    ----------
    notes
        The notes about it.
    new_ids
        By index of a launch: node ids of the trace that are others there, and what they become, so
        that a node has one id in all launches.
    """

    def __init__(
        self,
        builder: RunBuilder,
        folded: FoldedTrace,
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
        self.new_ids: dict[int, tuple[IntArray, IntArray]] = {}
        self._times = TimesByExec(folded) if dumps else None
        #: The closest that each dump came to a graph of the trace.
        self._closest: dict[int, tuple[JoinedPair, str]] = {}

    def write(self, graph: TraceGraph) -> CapturedWork | None:
        """Write a trace's graph as the dump's that it is; return what it does, None: it is none."""
        if self._times is None:
            return None
        pairs = [JoinedPair(dump.family, graph) for dump in self._dumps]
        for i, pair in enumerate(pairs):
            closest = self._closest.get(i)
            if closest is None or pair.matched_count > closest[0].matched_count:
                self._closest[i] = (pair, graph.name)
        fitting = [i for i, pair in enumerate(pairs) if pair.is_one_graph]
        most = max((pairs[i].matched_count for i in fitting), default=0)
        fitting = [i for i in fitting if pairs[i].matched_count == most]
        if not fitting:
            return None
        times = self._times.of(graph.exec_id)
        joins = {i: pairs[i].join(times.recorded) for i in fitting}
        at = min(fitting, key=lambda i: joins[i].contradicted_count)
        join = joins[at]
        self._used.add(at)
        for launch, ids in zip(times.launch.tolist(), join.new_ids, strict=True):
            if len(ids[0]):
                self.new_ids[launch] = ids
        self._say(self._dumps[at], graph, join, len(times.launch))
        return self._write_joined(self._dumps[at], graph, join)

    def _write_joined(self, dump: Dump, graph: TraceGraph, join: Join) -> CapturedWork:
        family = dump.family
        written: list[Rows] = []

        def take_in(level: DotGraph, nodes: Rows) -> None:
            first = sum(map(len, written))
            mine = slice(first, first + len(nodes))
            nodes["match_class"] = join.match_class[mine]
            self._fill_from_trace(nodes, graph.columns, join.exec_node_id[mine])
            written.append(nodes)

        graph_ids = self._dots.write(family.levels, family.parents, dump.text, take_in)
        graph_id = graph_ids[family.levels[0].number]
        ids = graph.columns["node_id"]
        left = graph.columns[~np.isin(ids, join.exec_node_id)]
        free = int(np.concatenate((written[0]["node_id"], ids)).max()) + 1
        left["graph_id"], left["node_id"] = graph_id, np.arange(free, free + len(left))
        self._builder.add_columns(rows.Node, left)
        every = np.concatenate((*written, left))
        exec_node_id = np.concatenate((join.exec_node_id, left["exec_node_id"]))
        graph.joined = NodeKeys.of(graph_id, exec_node_id, every["graph_id"], every["node_id"])
        pairs = [(edge.from_node, edge.to_node) for edge in family.levels[0].edges]
        edges = np.array(pairs, np.int64).reshape(-1, 2)
        return CapturedWork.from_columns(graph_id, np.concatenate((written[0], left)), edges)

    def _fill_from_trace(self, nodes: Rows, trace: Rows, exec_node_id: IntArray) -> None:
        """Fill in what the trace has of a dump's nodes.

        Parameters
        ----------
        trace
            Nodes of the trace, by id.
        exec_node_id
            Which of them each is; UNKNOWN: none.
        """
        nodes["not_timed_reason"] = [
            _NOT_IN_TRACE if kind in TIMED_TYPES else not_timed_reason(kind)
            for kind in nodes["type"].tolist()
        ]
        at = np.flatnonzero(exec_node_id != UNKNOWN)
        timed = trace[np.searchsorted(trace["node_id"], exec_node_id[at])]
        is_same_kind = nodes["type"][at] == timed["type"]
        self._fill_shared(nodes, at, np.where(is_same_kind, timed["shared_mem_bytes"], UNKNOWN))
        for name in _FROM_TRACE:
            is_taken = timed[name] != UNKNOWN
            if name not in _OF_ANY_KIND:
                is_taken &= is_same_kind
            nodes[name][at[is_taken]] = timed[name][is_taken]
        nodes["exec_node_id"][at] = timed["exec_node_id"]
        nodes["not_timed_reason"][at] = None
        nodes["stack_reason"][at] = timed["stack_reason"]

    def _fill_shared(self, nodes: Rows, at: IntArray, shared: IntArray) -> None:
        """Fill in the trace's shared memory, where a dump's nodes at ``at`` have none of it."""
        own, function_id = nodes["shared_mem_bytes"][at], nodes["function_id"][at]
        nodes["shared_mem_bytes"][at] = np.where(own == UNKNOWN, shared, own)
        if not self._shared_is_total:
            return
        known = np.flatnonzero((own != UNKNOWN) & (shared != UNKNOWN) & (function_id != UNKNOWN))
        static = np.maximum(shared - own, 0)
        for function, size in zip(function_id[known].tolist(), static[known].tolist(), strict=True):
            self._builder.kernels.learn_static_shared(function, size)

    def _say(self, dump: Dump, graph: TraceGraph, join: Join, launches: int) -> None:
        found = int((join.exec_node_id != UNKNOWN).sum())
        how = []
        if join.by_id:
            how.append(f"{join.by_id:,} by their ids")
        if found > join.by_id:
            how.append(f"{found - join.by_id:,} by kind, kernel, shape and dependencies")
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
        self._say_contradicted(dump, graph, join, launches)
        self._say_exchangeable(dump, join)

    def _say_contradicted(self, dump: Dump, graph: TraceGraph, join: Join, launches: int) -> None:
        name = f"{dump.family.name} of {dump.name}"
        where = f"{counted(launches, 'launch', 'launches')} of {graph.name}"
        if join.overlapped_count:
            self.notes.append(
                (
                    "limit",
                    f"{counted(join.overlapped_count, 'dependency', 'dependencies')} of {name} "
                    f"joined kernels that overlapped in {where}. Programmatic dependencies do "
                    "that, which the dump does not distinguish: they are taken to be such.",
                )
            )
        if join.contradicted_count:
            count = counted(join.contradicted_count, "dependency was", "dependencies were")
            self.notes.append(
                (
                    "warning",
                    f"{count} contradicted by the times in {where} as {name}, the worst by "
                    f"{duration(join.worst_ns)}: a node started before one that it depends on had "
                    "ended. Nodes are matched wrongly, or the dump is of another capture.",
                )
            )
        else:
            self.notes.append(("information", f"All dependencies of {name} hold in {where}."))

    def _say_exchangeable(self, dump: Dump, join: Join) -> None:
        classes = join.match_class[join.match_class != UNKNOWN]
        marked, groups = len(classes), len(distinct_values(classes))
        if not marked:
            return
        given_up = ""
        if join.undecided_count:
            given_up = (
                f" The search for exchanges was given up for {join.undecided_count:,} of them."
            )
        self.notes.append(
            (
                "limit",
                f"{counted(marked, 'node')} of {dump.family.name} in {dump.name}, in "
                f"{counted(groups, 'group')}, could be exchanged with others of the group and all "
                "dependencies would hold: which of their times is whose is not known. They are "
                f"marked as exchangeable.{given_up}",
            )
        )

    def write_rest(self, graphs: GraphRows) -> None:
        """Write the dumps that are none of the trace's graphs."""
        for i, dump in enumerate(self._dumps):
            if i in self._used:
                continue
            self._dots.write(dump.family.levels, dump.family.parents, dump.text)
            nodes = len(dump.family.timed_nodes())
            if i in self._closest:
                pair, name = self._closest[i]
                dot_left, trace_left = pair.left_over
                text = (
                    f"{dump.family.name} of {dump.name} is none of the trace's graphs: of its "
                    f"{nodes:,} timed nodes {dot_left:,} match no node of {name}, the "
                    f"closest, and {trace_left:,} of that match none of the dump's."
                )
            else:
                text = f"The trace has no launch of a graph for {dump.family.name} of {dump.name}."
            self.notes.append(("warning", f"{text} Both are shown, unjoined."))
