"""Recordings of one graph whose nodes, edges and times a test plans one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gviz.analysis.subject import GraphSubject
from gviz.cuda.node_type import CopyKind, NodeType, not_timed_reason
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter

STARTED_NS = 1_790_000_000_000_000_000
#: Multiprocessors of the recordings' GPU.
MULTIPROCESSORS = 132
#: What the events of a copy put before each node that it times.
EVENTS_NS = 2_000


@dataclass
class Planned:
    """A node: what it is, and when it ran; without a duration it has no span.

    ``arguments`` are a kernel's pointers: (address, allocation's address, allocation's bytes).
    """

    name: str
    start_ns: int = 0
    duration_ns: int | None = None
    queue: int = 7
    kind: NodeType = NodeType.KERNEL
    blocks: int = 16
    columns: dict[str, Any] = field(default_factory=dict)
    arguments: Sequence[tuple[int, int, int]] = ()


@dataclass
class PlannedTrial:
    """A trial of the graph: what it saved (ns), within 10%; without a gain it was refused.

    ``edits`` are (node, node that waited for it or None, delay or None).
    """

    kind: str
    gain_ns: float | None = None
    edits: Sequence[tuple[int, int | None, int | None]] = ()
    refusal: str | None = None
    results: str = "equal"

    def write(self, writer: RecordingWriter, number: int) -> None:
        """Write its rows."""
        gain = self.gain_ns
        measured = {} if gain is None else {
            "count": 40, "gain_ns": gain, "low_ns": gain - abs(gain) / 10,
            "high_ns": gain + abs(gain) / 10, "unedited_ns": 400_000.0,
            "edited_ns": 400_000.0 - gain, "results": self.results,
        }  # fmt: skip
        writer.insert(
            rows.GraphTrial(
                trial_id=number, run_id=1, graph_id=1, graph_exec_id=1, kind=self.kind,
                refusal=self.refusal, **measured,  # type: ignore[arg-type]
            ),
            *(
                rows.GraphTrialEdit(
                    trial_id=number, position=at, kind="cut" if delay is None else "delay",
                    graph_id=1, node_id=node, to_node_id=to, value_ns=delay,
                )
                for at, (node, to, delay) in enumerate(self.edits)
            ),
        )  # fmt: skip


def in_a_row(*nodes: Planned, gap_ns: int = 400) -> list[Planned]:
    """Give nodes starts one after the other; a node's own start is added to the gap before it."""
    clock = 0
    for at, node in enumerate(nodes):
        node.start_ns += clock + (gap_ns if at else 0)
        clock = node.start_ns + (node.duration_ns or 0)
    return list(nodes)


def chain_edges(count: int) -> list[tuple[int, int]]:
    """Return the edges of a chain of nodes."""
    return [(i, i + 1) for i in range(count - 1)]


@dataclass
class Plan:
    """A graph with its launches; everything else of a recording has usual values.

    Attributes
    ----------
    launches
        With node times, then ``plain_launches`` without. Calls take ``call_ns``, the first one
        ``first_call_ns``; each is made when the one before has ended.
    eager_iterations, stream_call_ns
        Eager iterations of the same work before the graph, on one stream, and the host
        time of each call. The first iteration takes 50 us longer, before its first node.
    stream_without, foreign_ns
        A node that no iteration has, and how long a kernel runs that is not the graph's: it starts
        100 ns after the first node's end. 0: there is none.
    between_calls_ns
        From a call's return to the next call; None: the program waits for each launch.
    scales
        Of the launches with node times: all times in one are so many times as long; 1 for those
        beyond the last.
    slices
        More than 1: launches with node times are copies, each of which times one slice of the
        nodes, in turn; its events put :data:`EVENTS_NS` before each of them.
    rebuilt
        Further executables that an update of the first would have given, never launched.
    """

    nodes: list[Planned]
    edges: Sequence[tuple[int, ...]] = ()
    launches: int = 5
    plain_launches: int = 5
    call_ns: int = 5_000
    first_call_ns: int = 5_000
    graph: dict[str, Any] = field(default_factory=dict)
    graph_exec: dict[str, Any] = field(default_factory=dict)
    launch: dict[str, Any] = field(default_factory=dict)
    eager_iterations: int = 0
    stream_call_ns: int = 6_000
    stream_without: int | None = None
    foreign_ns: int = 0
    between_calls_ns: int | None = None
    scales: Sequence[float] = ()
    slices: int = 1
    rebuilt: int = 0
    functions: dict[str, int] = field(default_factory=dict)
    allocations: Sequence[dict[str, Any]] = ()
    compute_capability: str = "9.0"
    trials: Sequence[PlannedTrial] = ()
    #: Types of every kernel's parameters, as its name has them.
    parameters: str = "float*"
    more: Callable[[RecordingWriter], None] | None = None

    def write(self, path: Path) -> Path:
        """Write the recording: run 1, graph 1, executable 1."""
        with RecordingWriter(path) as writer:
            self._write_run(writer)
            self._write_graph(writer)
            self._write_launches(writer)
            self._write_iterations(writer)
            self._write_statistics(writer)
            for number, trial in enumerate(self.trials, start=1):
                trial.write(writer, number)
            if self.more is not None:
                self.more(writer)
        return path

    def _write_iterations(self, writer: RecordingWriter) -> None:
        """Write the stream side: each call returns, and 2 us later its node may start."""
        timed = [(i, n) for i, n in enumerate(self.nodes) if n.duration_ns is not None]
        timed.sort(key=lambda item: (item[1].start_ns, item[0]))
        clock = STARTED_NS + 10_000
        for ordinal in range(self.eager_iterations):
            called, free = clock + (50_000 if ordinal == 0 else 0), 0
            operations = []
            for i, node in timed:
                returned = called + self.stream_call_ns
                start = max(returned + 2_000, free)
                free = start + (node.duration_ns or 0)
                operations.append((i, node, called, returned, start))
                called = returned
            operations = [x for x in operations if x[0] != self.stream_without]
            launch_id = max(1_000, self.launches + self.plain_launches + 1) + ordinal
            if self.foreign_ns:
                first = operations[0]
                end = first[-1] + (first[1].duration_ns or 0)
                writer.insert(
                    rows.StreamOperation(
                        operation_id=launch_id * 1_000 + 999, run_id=1, type=0, name="foreign",
                        start_ns=end + 100, duration_ns=self.foreign_ns, stream_id=7, device_id=0,
                        correlation_id=999,
                    )
                )  # fmt: skip
            writer.insert(
                rows.Launch(
                    launch_id=launch_id, run_id=1, graph_id=1, graph_exec_id=None, side="stream",
                    ordinal=ordinal, host_start_ns=clock, host_end_ns=called, stream_id=7,
                    node_level=1, gpu_start_ns=operations[0][-1], gpu_end_ns=free,
                    span_count=len(operations), node_method="cupti",
                ),
                *(
                    rows.StreamOperation(
                        operation_id=launch_id * 1_000 + at, run_id=1, type=int(node.kind),
                        name=node.name, start_ns=start, duration_ns=node.duration_ns or 0,
                        stream_id=7, device_id=0, correlation_id=at, host_start_ns=at_call,
                        host_end_ns=returned, launch_id=launch_id, node_id=i,
                    )
                    for at, (i, node, at_call, returned, start) in enumerate(operations)
                ),
            )  # fmt: skip
            clock = free + 10_000

    def _write_run(self, writer: RecordingWriter) -> None:
        writer.insert(
            rows.Run(
                run_id=1, name="planned", state="completed", source="profile",
                started_ns=STARTED_NS, ended_ns=STARTED_NS + 10**9, collector="cupti",
            ),
            rows.Device(
                run_id=1, device_id=0, name="GPU", multiprocessor_count=MULTIPROCESSORS,
                max_threads_per_multiprocessor=2048, compute_capability=self.compute_capability,
            ),
        )  # fmt: skip

    def _write_graph(self, writer: RecordingWriter) -> None:
        names = dict.fromkeys(n.name for n in self.nodes if n.kind == NodeType.KERNEL)
        self.functions = {name: i for i, name in enumerate(names, start=1)}
        for name, number in self.functions.items():
            writer.insert(
                rows.KernelFunction(
                    function_id=number,
                    run_id=1,
                    mangled_name=name,
                    name=f"{name}({self.parameters})",
                )
            )  # fmt: skip
        writer.insert(
            rows.Topology(
                topology_id=1, hash="0", node_count=len(self.nodes), edge_count=len(self.edges)
            ),
            rows.Graph(
                **{
                    "graph_id": 1, "run_id": 1, "name": "planned", "origin": "capture",
                    "topology_id": 1, "capture_start_ns": STARTED_NS + 1_000,
                    "capture_end_ns": STARTED_NS + 1_001_000, **self.graph,
                }
            ),
        )  # fmt: skip
        if "topology_id" not in self.graph:
            for a, b, *kind in self.edges:
                edge_type = kind[0] if kind else 0
                writer.insert(
                    rows.Edge(
                        topology_id=1, from_node=a, to_node=b, type=edge_type,
                        from_port=edge_type, to_port=0,
                    )
                )  # fmt: skip
        for number, node in enumerate(self.nodes):
            writer.insert(self._node(number, node))
            for position, (address, start, size) in enumerate(node.arguments):
                writer.insert(
                    rows.Argument(
                        graph_id=1, node_id=number, position=position, size_bytes=8,
                        value=address.to_bytes(8, "little"), allocation_address=start,
                        allocation_bytes=size,
                    )
                )  # fmt: skip
        for allocation in self.allocations:
            writer.insert(rows.Allocation(graph_id=1, **allocation))

    def _node(self, number: int, node: Planned) -> rows.Node:
        kernel = node.kind == NodeType.KERNEL
        shape = dict.fromkeys(("grid_y", "grid_z", "block_y", "block_z"), 1) if kernel else {}
        if kernel:
            shape |= {"grid_x": node.blocks, "block_x": 256, "max_blocks_per_multiprocessor": 8}
        if kernel:
            shape |= {"function_id": self.functions[node.name], "priority": 0}
        if node.kind == NodeType.MEMCPY:
            shape["copy_kind"] = int(CopyKind.DTOD)
        reason = not_timed_reason(node.kind)
        return rows.Node(
            **{
                "graph_id": 1, "node_id": number, "exec_node_id": number, "type": int(node.kind),
                "name": node.name, "device_id": 0, "capture_stream_id": 13,
                "not_timed_reason": reason, **shape, **node.columns,
            }
        )  # fmt: skip

    def _write_statistics(self, writer: RecordingWriter) -> None:
        for number, node in enumerate(self.nodes):
            each = node.duration_ns
            count = self.launches // self.slices
            if each is not None and count:
                writer.insert(
                    rows.NodeStatistics(
                        graph_id=1, node_id=number, count=count, total_ns=count * each,
                        median_ns=each, p5_ns=each, p95_ns=each, min_ns=each, max_ns=each,
                        mad_ns=0.0, start_median_ns=float(node.start_ns),
                    )
                )  # fmt: skip

    def _write_launches(self, writer: RecordingWriter) -> None:
        start = STARTED_NS + 2_000_000
        writer.insert(
            rows.GraphExec(
                **{
                    "graph_exec_id": 1, "run_id": 1, "graph_id": 1, "cuda_exec_id": 4,
                    "instantiate_start_ns": start, "instantiate_end_ns": start + 200_000,
                    "flags": 0, "launch_count": self.launches + self.plain_launches,
                    "upload_start_ns": start + 300_000, "upload_end_ns": start + 350_000,
                    **self.graph_exec,
                }
            )
        )  # fmt: skip
        timed = [(i, n) for i, n in enumerate(self.nodes) if n.duration_ns is not None]
        first = min((n.start_ns for _, n in timed), default=0)
        length = max((n.start_ns + (n.duration_ns or 0) for _, n in timed), default=0) - first
        for number in range(self.rebuilt):
            at = start + 400_000 + 1_000 * number
            writer.insert(
                rows.GraphExec(
                    graph_exec_id=2 + number, run_id=1, graph_id=1, cuda_exec_id=5 + number,
                    instantiate_start_ns=at, instantiate_end_ns=at + 300_000, flags=0,
                    could_update_graph_exec_id=1,
                )
            )  # fmt: skip
        clock = start + 1_000_000
        ended = 0
        for ordinal in range(self.launches + self.plain_launches):
            is_timed = ordinal < self.launches and bool(timed)
            call = self.first_call_ns if ordinal == 0 else self.call_ns
            gpu = max(clock + call + 1_000, ended + 3_000)
            scale = self.scales[ordinal] if ordinal < len(self.scales) else 1.0
            took = round(length * scale)
            ended = gpu + took
            writer.insert(
                rows.Launch(
                    **{
                        "launch_id": ordinal + 1, "run_id": 1, "graph_id": 1, "graph_exec_id": 1,
                        "side": "graph", "ordinal": ordinal, "host_start_ns": clock,
                        "host_end_ns": clock + call, "stream_id": 7, "thread_id": 1,
                        "node_level": int(is_timed), "event_duration_ns": took + call + 2_000,
                        "gpu_start_ns": gpu if is_timed else None,
                        "gpu_end_ns": gpu + took if is_timed else None,
                        "span_count": len(self._sliced(ordinal, timed)) if is_timed else 0,
                        "node_method": "cupti" if self.slices == 1 else "events", **self.launch,
                    }
                )
            )  # fmt: skip
            if is_timed:
                writer.insert_tuples(rows.Span, self._spans(ordinal, timed, first, scale))
            waits = self.between_calls_ns is None
            clock = gpu + took + 20_000 if waits else clock + call + (self.between_calls_ns or 0)

    def _sliced(self, ordinal: int, timed: list[tuple[int, Planned]]) -> list[tuple[int, Planned]]:
        """Return the nodes that a launch times."""
        size = -(-len(timed) // self.slices)
        begin = ordinal % self.slices * size
        return timed[begin : begin + size]

    def _spans(
        self, ordinal: int, timed: list[tuple[int, Planned]], first: int, scale: float
    ) -> list[tuple[int, ...]]:
        each = 0 if self.slices == 1 else EVENTS_NS
        return [
            (
                ordinal + 1,
                1,
                i,
                0,
                round((n.start_ns - first) * scale) + each * (at + 1),
                round((n.duration_ns or 0) * scale),
                n.queue,
            )
            for at, (i, n) in enumerate(self._sliced(ordinal, timed))
        ]


def subject_of(path: Path) -> GraphSubject:
    """Return the first graph of a recording for analyses."""
    recording = Recording(path)
    top = next(g for g in recording.fetch_graphs() if g.parent_graph_id is None)
    return GraphSubject(recording, top, recording.fetch_devices(top.run_id))


def two_branches(*, queue: int, start: int, blocks: int = 16, **columns: object) -> Plan:
    """Return a fork of two branches of 10 us; the second ran on ``queue`` from ``start``.

    ``columns`` are the second's.
    """
    nodes = [
        Planned("fork", 0, 5_000),
        Planned("left", 5_400, 10_000, blocks=blocks),
        Planned("right", start, 10_000, queue=queue, columns=dict(columns)),
        Planned("join", max(15_400, start + 10_000) + 500, 2_000),
    ]
    return Plan(nodes, [(0, 1), (0, 2), (1, 3), (2, 3)])


def branch_and_join(work_ns: int, join_gap_ns: int) -> Plan:
    """Return a main chain with a branch of one node beside its second node."""
    end = 5_400 + max(8_000, 900 + work_ns)
    nodes = [
        Planned("fork", 0, 5_000),
        Planned("main", 5_400, 8_000),
        Planned("beside", 6_300, work_ns, queue=8),
        Planned("join", end + join_gap_ns, 2_000),
        Planned("after", end + join_gap_ns + 2_400, 2_000),
        Planned("last", end + join_gap_ns + 4_800, 2_000),
    ]
    return Plan(nodes, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5)])


def crossing_stages(streams: tuple[int, int] | None, *, through: bool = False) -> Plan:
    """Return two branches of two stages that wait for each other between the stages."""
    columns = [{"capture_stream_id": s} for s in streams or (None, None)]
    nodes = [
        Planned("a1", 0, 2_000, 7, columns=columns[0]),
        Planned("b1", 0, 9_000, 8, columns=columns[1]),
        Planned("a2", 9_500, 9_000, 7, columns=columns[0]),
        Planned("b2", 9_500, 2_000, 8, columns=columns[1]),
    ]
    if not through:
        return Plan(nodes, [(0, 2), (1, 2), (0, 3), (1, 3)])
    nodes.append(Planned("EMPTY", kind=NodeType.EMPTY))
    return Plan(nodes, [(0, 4), (1, 4), (4, 2), (4, 3)])
