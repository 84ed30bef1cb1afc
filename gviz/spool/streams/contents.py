"""The contents of a spool, decoded: the middle between raw records and a recording's rows."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from gviz.cuda import NodeType, not_timed_reason
from gviz.dataclass import dataclass
from gviz.model import AlternatingReadings
from gviz.recording import LATEST_NS, MOST_BYTES
from gviz.spool.records import (
    EVENT_TAKERS,
    LIFE_TAKERS,
    NESTING_TAKERS,
    AutogradRecord,
    BlockRecord,
    CalibrationRecord,
    CreatedRecord,
    DeviceRecord,
    FaultRecord,
    FunctionRecord,
    GraphMemoryRecord,
    GraphWalk,
    LifeContents,
    LifeRecord,
    NodeTimesRecord,
    OriginRecord,
    PackedRecords,
    PeriodRecord,
    Record,
    RecordType,
    SignatureRecord,
    TrialRefusedRecord,
    ValuesRefusedRecord,
    WindowRecord,
    check_sizes,
    check_storable,
    check_time,
    decode_buffer,
    read_alternation,
    read_autograd,
    read_metadata,
    read_signature,
    read_stack,
    read_text,
    table,
)
from gviz.spool.records import format as f
from gviz.spool.streams.activity_stream import ActivityStream, GraphTimes
from gviz.spool.streams.black_box import BLACK_BOX_TAKERS, MadeCrumbs
from gviz.spool.streams.fences import Fences, fences_of
from gviz.spool.streams.launch_stream import LaunchStream
from gviz.spool.streams.operation_stream import OperationStream
from gviz.spool.streams.retention import Retention
from gviz.spool.streams.trials import TRIAL_TAKERS, MadeTrial
from gviz.spool.streams.values import VALUE_TAKERS, MadeReading
from gviz.spool.streams.visits import Visits


@dataclass(slots=True)
class Contents:
    """All records of a spool, in order of arrival; of long runs what ``limits`` keep.

    Call :meth:`finish` after the last record.
    """

    limits: Retention = field(default_factory=Retention)

    metadata: dict[str, Any] = field(default_factory=dict)
    ended: bool = False
    #: Ended, with nothing to come in the process's last moment.
    closed: bool = False
    #: Why collecting stopped before its end; "" when it did not.
    stopped: str = ""
    notes: list[tuple[str, str]] = field(default_factory=list)
    counters: list[tuple[str, float, str, str]] = field(default_factory=list)
    devices: list[DeviceRecord] = field(default_factory=list)
    windows: list[WindowRecord] = field(default_factory=list)
    periods: list[PeriodRecord] = field(default_factory=list)
    alternations: list[AlternatingReadings] = field(default_factory=list)
    strings: dict[int, str] = field(default_factory=dict)
    functions: dict[int, FunctionRecord] = field(default_factory=dict)
    #: Of kernels by symbol, in order of arrival, each once.
    signatures: dict[SignatureRecord, None] = field(default_factory=dict)
    call_names: dict[int, str] = field(default_factory=dict)
    calls: PackedRecords = field(default_factory=lambda: PackedRecords(table.CALL))
    lives: list[LifeRecord] = field(default_factory=list)
    walks: list[GraphWalk] = field(default_factory=list)
    created: dict[int, CreatedRecord] = field(default_factory=dict)
    clones: dict[int, int] = field(default_factory=dict)
    stacks: dict[int, list[list[Any]]] = field(default_factory=dict)
    #: By the number that stands for a stack together with an operation of autograd.
    autograd: dict[int, AutogradRecord] = field(default_factory=dict)
    nvtx_paths: dict[int, tuple[int, str, str]] = field(default_factory=dict)
    nvtx_ranges: PackedRecords = field(default_factory=lambda: PackedRecords(table.NVTX_RANGE))
    dots: list[int] = field(default_factory=list)
    graph_memory: list[GraphMemoryRecord] = field(default_factory=list)
    freed: dict[int, int] = field(default_factory=dict)  # address to the call that freed it
    origins: list[OriginRecord] = field(default_factory=list)
    node_times: list[NodeTimesRecord] = field(default_factory=list)
    calibrations: list[CalibrationRecord] = field(default_factory=list)
    trials: list[MadeTrial | TrialRefusedRecord] = field(default_factory=list)
    crumbs: list[MadeCrumbs] = field(default_factory=list)
    #: why launches leave no crumbs, by the executable's id
    crumb_refusals: dict[int, str] = field(default_factory=dict)
    faults: list[FaultRecord] = field(default_factory=list)
    blocks: list[BlockRecord] = field(default_factory=list)
    readings: list[MadeReading | ValuesRefusedRecord] = field(default_factory=list)
    collectors: list[tuple[str, str]] = field(default_factory=list)
    #: why nodes of a graph are not timed, by the graph's id
    refusals: dict[int, str] = field(default_factory=dict)
    life: LifeContents = field(default_factory=LifeContents)
    visits: Visits = field(default_factory=Visits)
    unknown_records: int = 0
    #: What could not be read and is left out, by kind of record; also "node time" and "part".
    unreadable: Counter[str] = field(default_factory=Counter)
    launch_stream: LaunchStream = field(init=False)
    activity_stream: ActivityStream = field(init=False)
    operation_stream: OperationStream = field(init=False)
    #: CUDA's ids of the executables whose nodes were not to be timed.
    unwanted_execs: set[int] = field(default_factory=set)
    #: The latest walk of each graph, by CUDA graph id.
    walk_of: dict[int, GraphWalk] = field(default_factory=dict)
    _by_exec: dict[int, list[GraphWalk]] = field(default_factory=dict)
    _graph_times: dict[int, GraphTimes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.launch_stream = LaunchStream(self.limits, self._timed_nodes)
        self.activity_stream = ActivityStream(self.launch_stream, self._times_of)
        self.operation_stream = OperationStream(self.limits.operations)

    def stack_of(self, number: int) -> int:
        """Return the number of the stack, or the reason, that a record's number stands for."""
        operation = self.autograd.get(number)
        return number if operation is None else operation.stack

    def finish(self) -> None:
        """Say that no record follows: what waited for more is settled."""
        self._forget_unknown_paths()
        for walk in self.walks:
            once = {node.node_id: node for node in reversed(walk.nodes)}
            if len(once) < len(walk.nodes):
                walk.nodes[:] = reversed(once.values())
        self.activity_stream.settle(last=True)
        self.launch_stream.finish()

    def _forget_unknown_paths(self) -> None:
        """Leave out references to NVTX ranges of which no record came, and gviz's own range."""
        own = [path for path, (*_, text) in self.nvtx_paths.items() if text == f.PROBE_TEXT]
        for path in (0, *own):
            self.nvtx_paths.pop(path, None)
        paths = self.nvtx_paths
        for path, (parent, domain, text) in paths.items():
            # A range is recorded after those around it.
            if parent and (parent not in paths or parent >= path):
                paths[path] = (0, domain, text)
        self.nvtx_ranges.choose(np.isin(self.nvtx_ranges.to_array()["path_id"], list(paths)))
        for node, created in self.created.items():
            if created.nvtx_path not in paths:
                self.created[node] = created._replace(nvtx_path=0)
        self.origins = [
            o if o.nvtx_path in paths else o._replace(nvtx_path=0) for o in self.origins
        ]
        self.life.forget_unknown_paths(paths)

    def fences_of(self, exec_id: int) -> Fences | None:
        """Return what surrounds the bodies in an executable; None: it has no conditional node."""
        graph = self._times_of(exec_id)
        return Fences() if graph is None else graph.fences

    def _times_of(self, exec_id: int) -> GraphTimes | None:
        """Return what is known of an executable's graph; None: instantiated before gviz."""
        if exec_id not in self._graph_times and exec_id in self._by_exec:
            walks = self._by_exec[exec_id]
            fences = fences_of(walks)
            # An untaken body gives no record, a loop many.
            timed = self._timed_nodes(exec_id) if fences is None else None
            self._graph_times[exec_id] = GraphTimes(walks[0].edges, timed, fences)
        return self._graph_times.get(exec_id)

    def _timed_nodes(self, exec_id: int) -> int:
        """Return how many nodes of an executable get a time, bodies included, once each."""
        walks = self._by_exec.get(exec_id, ())
        cupti = self.cupti_version
        return sum(
            not_timed_reason(node.type, cupti) is None for walk in walks for node in walk.nodes
        )

    @property
    def cupti_version(self) -> int | None:
        """CUPTI_API_VERSION of the recording, such as 130001; None: CUPTI was not used."""
        versions = [int(value) for name, value, *_ in self.counters if name == "cupti_version"]
        return versions[-1] if versions else None

    def add(self, record: Record) -> None:
        """Take one record in; of one that is damaged or of an unknown type only the count."""
        if record.type == f.DAMAGED:
            self.unreadable["part"] += 1
            return
        take = _TAKERS.get(record.type)
        if take is None:
            self.unknown_records += 1
            return
        try:
            take(self, record.payload)
        except (ValueError, TypeError, LookupError, ArithmeticError, struct.error):
            self.unreadable[RecordType(record.type).name.lower().replace("_", " ")] += 1


def _meta(c: Contents, p: bytes) -> None:
    c.metadata |= read_metadata(p)


def _end(c: Contents, p: bytes) -> None:
    c.ended, c.closed = True, not p


def _stopped(c: Contents, p: bytes) -> None:
    c.stopped = c.stopped or read_text(p)


def _note(c: Contents, p: bytes) -> None:
    kind, _, text = read_text(p).partition("\n")
    c.notes.append((kind, text))


def _alternation(c: Contents, p: bytes) -> None:
    c.alternations.append(read_alternation(p))


def _counter(c: Contents, p: bytes) -> None:
    name, value, unit, method = read_text(p).split("\n", 3)
    number = float(value)
    if not abs(number) <= LATEST_NS:
        raise ValueError(f"{name} is {value:.40}")
    c.counters.append((name, number, unit, method))


def _device(c: Contents, p: bytes) -> None:
    device = table.DEVICE.unpack(p)
    check_sizes(device.multiprocessors, device.max_threads, device.memory_bytes)
    c.devices.append(device)


def _window(c: Contents, p: bytes) -> None:
    window = table.WINDOW.unpack(p)
    check_time(window.time_ns)
    c.windows.append(window)


def _period(c: Contents, p: bytes) -> None:
    period = table.PERIOD.unpack(p)
    check_time(period.time_ns)
    c.periods.append(period)


def _buffer(c: Contents, p: bytes) -> None:
    records = decode_buffer(p)
    kind = records["type"]
    moves = (kind == NodeType.MEMCPY) | (kind == NodeType.MEMSET)
    sound = ~moves | ((records["bytes"] >= 0) & (records["bytes"] <= MOST_BYTES))
    for name in ("start_ns", "end_ns"):
        sound &= (records[name] >= 0) & (records[name] <= LATEST_NS)
    if not sound.all():
        c.unreadable["node time"] += int((~sound).sum())
        records = records[sound]
    records = c.visits.translate(records)
    if c.unwanted_execs:
        records = records[~np.isin(records["exec_id"], sorted(c.unwanted_execs))]
    c.activity_stream.add(records)


def _string(c: Contents, p: bytes) -> None:
    record = table.STRING.unpack(p)
    c.strings[record.pointer] = record.text


def _call(c: Contents, p: bytes) -> None:
    call = table.CALL.unpack(p)
    check_time(call.start_ns, call.end_ns)
    c.calls.add(p)


def _life(c: Contents, p: bytes) -> None:
    life = table.LIFE.unpack(p)
    check_time(life.start_ns, life.end_ns)
    check_storable(life.flags)
    c.lives.append(life)


def _call_name(c: Contents, p: bytes) -> None:
    record = table.CALL_NAME.unpack(p)
    c.call_names[record.call] = record.name


def _launch(c: Contents, p: bytes) -> None:
    launch = table.LAUNCH.unpack(p)
    check_time(launch.start_ns, launch.end_ns)
    c.launch_stream.add(p)
    if c.launch_stream.overfull:
        c.activity_stream.settle()


def _launch_time(c: Contents, p: bytes) -> None:
    time = table.LAUNCH_TIME.unpack(p)
    check_time(time.duration_ns)
    c.launch_stream.add_time(time.token, time.duration_ns)


def _launches_passed(c: Contents, p: bytes) -> None:
    passed = table.LAUNCHES_PASSED.unpack(p)
    check_time(passed.from_ns, passed.to_ns)
    c.launch_stream.add_passed(passed.exec_id, passed.launches, passed.to_ns)


def _visited(c: Contents, p: bytes) -> None:
    c.visits.add(table.VISITED.unpack(p))


def _graph(c: Contents, p: bytes) -> None:
    graph = table.GRAPH.unpack(p)
    walk = GraphWalk(
        graph.graph_id, graph.exec_id, graph.parent_graph_id, graph.parent_node_id, graph.branch
    )
    (c.life.failed_walks if graph.exec_id == f.WALK_FAILED else c.walks).append(walk)
    c.walk_of[graph.graph_id] = walk
    c._by_exec.setdefault(graph.exec_id, []).append(walk)


def _node(c: Contents, p: bytes) -> None:
    node = table.NODE.unpack(p)
    arguments, at = [], table.NODE.size
    for _ in range(node.argument_count):
        argument = table.ARGUMENT.unpack_from(p, at)
        at += table.ARGUMENT.size
        arguments.append(argument._replace(value=p[at : at + argument.size]))
        at += argument.padded
    check_sizes(node.bytes, *(argument.allocation_bytes for argument in arguments))
    check_storable(node.source, node.destination, *(one.allocation for one in arguments))
    if node.graph_id in c.walk_of:
        c.walk_of[node.graph_id].nodes.append(node._replace(arguments=tuple(arguments)))


def _edges(c: Contents, p: bytes) -> None:
    record = table.EDGES.unpack(p)
    raw = np.frombuffer(p, table.EDGE.dtype, record.edge_count, table.EDGES.size)
    columns = ("from_id", "to_id", "type", "from_port", "to_port")
    if record.graph_id in c.walk_of:
        edges = np.stack([raw[name].astype(np.int64) for name in columns], axis=1)
        _, first = np.unique(edges, axis=0, return_index=True)
        if len(first) < len(edges):
            c.unreadable["edge"] += len(edges) - len(first)
            edges = edges[np.sort(first)]
        c.walk_of[record.graph_id].edges = edges


def _function(c: Contents, p: bytes) -> None:
    function = table.FUNCTION.unpack(p)
    c.functions[function.key] = function


def _created(c: Contents, p: bytes) -> None:
    created = table.CREATED.unpack(p)
    check_time(created.time_ns)
    c.created[created.node_id] = created


def _cloned(c: Contents, p: bytes) -> None:
    cloned = table.CLONED.unpack(p)
    c.clones[cloned.node_id] = cloned.original_id


def _stack(c: Contents, p: bytes) -> None:
    stack_id, frames = read_stack(p)
    c.stacks[stack_id] = frames


def _autograd(c: Contents, p: bytes) -> None:
    number, operation = read_autograd(p)
    c.autograd[number] = operation


def _signature(c: Contents, p: bytes) -> None:
    c.signatures[read_signature(p)] = None


def _nvtx_path(c: Contents, p: bytes) -> None:
    path = table.NVTX_PATH.unpack(p)
    domain, _, text = path.text.partition("\n")
    c.nvtx_paths[path.path_id] = (path.parent_id, domain, text)


def _nvtx_range(c: Contents, p: bytes) -> None:
    found = table.NVTX_RANGE.unpack(p)
    check_time(found.start_ns, found.end_ns)
    c.nvtx_ranges.add(p)


def _dot(c: Contents, p: bytes) -> None:
    c.dots.append(table.DOT.unpack(p).graph_id)


def _graph_origin(c: Contents, p: bytes) -> None:
    origin = table.GRAPH_ORIGIN.unpack(p)
    check_time(origin.time_ns)
    c.origins.append(origin)
    if origin.exec_id and origin.flags & f.ORIGIN_UNWANTED:
        c.unwanted_execs.add(origin.exec_id)


def _of_life(take: Callable[[LifeContents, bytes], None]) -> Callable[[Contents, bytes], None]:
    return lambda c, p: take(c.life, p)


_TAKERS: dict[int, Callable[[Contents, bytes], None]] = {
    RecordType.META: _meta,
    RecordType.END: _end,
    RecordType.NOTE: _note,
    RecordType.COUNTER: _counter,
    RecordType.DEVICE: _device,
    RecordType.WINDOW: _window,
    RecordType.BUFFER: _buffer,
    RecordType.STRING: _string,
    RecordType.CALL: _call,
    RecordType.LIFE: _life,
    RecordType.CALL_NAME: _call_name,
    RecordType.LAUNCH: _launch,
    RecordType.LAUNCH_TIME: _launch_time,
    RecordType.LAUNCHES_PASSED: _launches_passed,
    RecordType.VISITED: _visited,
    RecordType.GRAPH: _graph,
    RecordType.NODE: _node,
    RecordType.EDGES: _edges,
    RecordType.FUNCTION: _function,
    RecordType.CREATED: _created,
    RecordType.CLONED: _cloned,
    RecordType.STACK: _stack,
    RecordType.AUTOGRAD: _autograd,
    RecordType.SIGNATURE: _signature,
    RecordType.NVTX_PATH: _nvtx_path,
    RecordType.NVTX_RANGE: _nvtx_range,
    RecordType.DOT: _dot,
    RecordType.STOPPED: _stopped,
    RecordType.GRAPH_ORIGIN: _graph_origin,
    RecordType.PERIOD: _period,
    RecordType.ALTERNATION: _alternation,
    **EVENT_TAKERS,
    **TRIAL_TAKERS,
    **BLACK_BOX_TAKERS,
    **VALUE_TAKERS,
    **{kind: _of_life(take) for kind, take in LIFE_TAKERS.items()},
    **NESTING_TAKERS,
}
