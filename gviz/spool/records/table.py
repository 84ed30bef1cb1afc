"""The records of a spool: each one declaration, from which all code that reads or writes it goes.

Python decodes a record by its layout, numpy by the layout's dtype, and
``collectors/csrc/records/records.h`` is generated from this table (``make docs``).
Ids of graphs, executables and nodes are CUPTI's; where a number has no meaning of its own, 0 is
none. Times are nanoseconds since the epoch.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import gviz.spool.records.structure as s
from gviz.spool.records.format import RecordType
from gviz.spool.records.structure import I32, I64, U8, U32, U64, Layout, Tail, Text


class SegmentHeader(NamedTuple):
    """The beginning of a segment file.

    Attributes
    ----------
    magic
        GVIZSPL1
    committed
        offset past the last whole record
    process_start
        clock ticks after boot; 0: not known
    """

    magic: s.Char8
    version: U32
    number: U32
    capacity: U64
    committed: s.AtomicU64
    process_id: U64
    process_start: U64 = 0
    reserved: s.U64x2 = (0, 0)


class RecordHeader(NamedTuple):
    """The beginning of a record; ``size`` bytes follow, and zeros up to a multiple of 8."""

    type: U32
    size: U32


# -- the run --------------------------------------------------------------------------------------


class DeviceRecord(NamedTuple):
    """A GPU."""

    ordinal: I32
    major: I32
    minor: I32
    multiprocessors: I32
    max_threads: I32
    memory_bytes: U64
    bus_id: s.Char32
    name: Text = ""


class PeriodRecord(NamedTuple):
    """Recording begins or ends, and why.

    Attributes
    ----------
    reason
        enum period_reason
    profiler
        that CUPTI is left to
    """

    time_ns: U64
    begins: U32
    reason: U32
    profiler: Text = ""


class WindowRecord(NamedTuple):
    """CUPTI's activity records are switched on or off.

    Attributes
    ----------
    reason
        enum window_reason
    """

    time_ns: U64
    is_open: U32
    reason: U32


class BufferRecord(NamedTuple):
    """Raw CUPTI activity records.

    Attributes
    ----------
    buffer
        an offset of 4 bytes for each record, padded to 8, then the bytes
    """

    records: U32
    valid_bytes: U32
    buffer: Annotated[bytes, Tail()] = b""


class StringRecord(NamedTuple):
    """The text behind a kernel name's pointer."""

    pointer: U64
    text: Text = ""


# -- calls ----------------------------------------------------------------------------------------


class CallNameRecord(NamedTuple):
    """The name of a driver call, by its number."""

    call: U32
    name: Text = ""


class RuntimeCallNameRecord(NamedTuple):
    """The name of a runtime call, by its number."""

    call: U32
    name: Text = ""


class CallRecord(NamedTuple):
    """A launch, copy or memset call."""

    call: U32
    correlation: U32
    start_ns: U64
    end_ns: U64
    thread_id: U32
    result: I32


class LifeRecord(NamedTuple):
    """A driver call of a graph's life.

    Attributes
    ----------
    flags
        of cuGraphClone: the id of the copy
    """

    call: U32
    correlation: U32
    start_ns: U64
    end_ns: U64
    thread_id: U32
    result: I32
    graph_id: U32
    exec_id: U32
    flags: U64
    stream_id: U32
    mode: U32


class LaunchRecord(NamedTuple):
    """A cuGraphLaunch call.

    Attributes
    ----------
    flags
        LAUNCH_*
    token
        of the events around it
    """

    exec_id: U32
    correlation: U32
    start_ns: U64
    end_ns: U64
    thread_id: U32
    result: I32
    stream_id: U32
    flags: U32
    token: U64


class LaunchTimeRecord(NamedTuple):
    """GPU time between the events around a launch."""

    token: U64
    duration_ns: U64


# -- graphs ---------------------------------------------------------------------------------------


class GraphRecord(NamedTuple):
    """A graph level, before its nodes and edges.

    Attributes
    ----------
    branch
        of the conditional node that the level is a body of
    """

    graph_id: U32
    exec_id: U32
    parent_graph_id: U32
    parent_node_id: U32
    branch: U32
    nodes: U32
    edges: U32
    reserved: U32 = 0


class ArgumentRecord(NamedTuple):
    """A kernel argument, after its node.

    Attributes
    ----------
    padded
        bytes that the value takes here
    allocation
        that it points into; 0: none
    """

    size: U32
    padded: U32
    allocation: U64
    allocation_bytes: U64
    value: Annotated[bytes, Tail()] = b""


class NodeRecord(NamedTuple):
    """A node as the topology walk read it.

    Attributes
    ----------
    type
        CUgraphNodeType
    function
        key of a FUNCTION record
    source_type
        CUmemorytype, of a copy; so is the destination's
    argument_count
        of struct argument_record that follow, each with its padded value
    """

    graph_id: U32
    node_id: U32
    type: I32
    device_id: I32
    function: U64
    grid: s.U32x3
    block: s.U32x3
    shared_mem_bytes: U32
    max_blocks: I32
    priority: I32
    cooperative: I32
    source_type: I32
    destination_type: I32
    bytes: U64
    source: U64
    destination: U64
    value: U32
    element_bytes: U32
    child_graph_id: U32
    argument_count: U32
    arguments: Annotated[tuple[ArgumentRecord, ...], Tail()] = ()


class EdgesRecord(NamedTuple):
    """The edges of a graph level.

    Attributes
    ----------
    edges
        struct edge_record
    """

    graph_id: U32
    edge_count: U32
    edges: Annotated[Any, Tail()] = b""


class EdgeRecord(NamedTuple):
    """An edge, in an EDGES record.

    Attributes
    ----------
    type
        CUgraphDependencyType
    """

    from_id: U32
    to_id: U32
    from_port: U8
    to_port: U8
    type: U8


class ConditionalRecord(NamedTuple):
    """A conditional node.

    Attributes
    ----------
    type
        CUgraphConditionalNodeType
    bodies
        that are known, of all
    """

    graph_id: U32
    node_id: U32
    type: I32
    size: U32
    handle: U64
    bodies: U32


class ParameterRecord(NamedTuple):
    """A parameter of a node.

    Attributes
    ----------
    text
        name, newline, value
    """

    graph_id: U32
    node_id: U32
    text: Text = ""


class FunctionRecord(NamedTuple):
    """A kernel's name and resources; -1: the driver did not say.

    Attributes
    ----------
    name
        mangled
    """

    key: U64
    registers: I32
    static_shared_bytes: I32
    local_bytes: I32
    max_threads: I32
    name: Text = ""


class CreatedRecord(NamedTuple):
    """When and where a node was created.

    Attributes
    ----------
    node_id
        its graph's id << 32 | its own
    stack
        > 0: of a STACK record, else why there is none
    """

    node_id: U64
    time_ns: U64
    thread_id: U32
    stream_id: U32
    nvtx_path: U32
    stack: I32
    type: I32


class ClonedRecord(NamedTuple):
    """A node of a clone, and the node that it is a copy of."""

    node_id: U64
    original_id: U64


class OriginRecord(NamedTuple):
    """Where a graph's capture began, or where it was instantiated.

    Attributes
    ----------
    exec_id
        0: of its capture
    kind
        ORIGIN_CAPTURE or ORIGIN_INSTANTIATE
    stack
        as of struct created_record
    name
        that the program or a framework gave
    """

    graph_id: U32
    exec_id: U32
    kind: U32
    nvtx_path: U32
    stack: I32
    thread_id: U32
    flags: U32
    name_kind: U32
    time_ns: U64
    name: Text = ""


class DotRecord(NamedTuple):
    """The driver's DOT text of a graph is in ``graph_ID.dot``."""

    graph_id: U32


# -- ranges ---------------------------------------------------------------------------------------


class NvtxPathRecord(NamedTuple):
    """A text of NVTX ranges, below those that were open around it.

    Attributes
    ----------
    text
        domain, newline, text
    """

    path_id: U32
    parent_id: U32
    text: Text = ""


class NvtxRangeRecord(NamedTuple):
    """An NVTX range that has ended."""

    path_id: U32
    thread_id: U32
    start_ns: U64
    end_ns: U64


# -- failures and updates -------------------------------------------------------------------------


class CaptureErrorRecord(NamedTuple):
    """A call that broke a capture; ``flags``, ``stack`` and the last fields are the error's.

    Attributes
    ----------
    start_ns
        of the capture
    runtime_call
        0: none known
    """

    sequence: U32
    graph_id: U32
    thread_id: U32
    stream_id: U32
    mode: U32
    flags: U32
    start_ns: U64
    time_ns: U64
    call: U32
    runtime_call: U32
    result: I32
    error_thread: U32
    error_stream: U32
    stack: I32
    nvtx_path: U32


class CaptureFailedRecord(NamedTuple):
    """The end of a capture that gave no graph.

    Attributes
    ----------
    flags
        1: the graph's nodes stand before this record
    """

    sequence: U32
    graph_id: U32
    thread_id: U32
    stream_id: U32
    mode: U32
    flags: U32
    start_ns: U64
    end_ns: U64
    result: I32
    end_thread: U32


class UpdatesRecord(NamedTuple):
    """Equal updates of an executable: how many, since when, and their host time.

    Attributes
    ----------
    node_id
        WHOLE_GRAPH: cuGraphExecUpdate
    value
        0 or 1 of cuGraphNodeSetEnabled; CUgraphExecUpdateResult
    graph_id
        of the node
    first_ns
        start of the first call
    total_ns
        host time of all
    """

    exec_id: U32
    node_id: U32
    call: U32
    result: I32
    value: U32
    calls: U32
    thread_id: U32
    graph_id: U32
    first_ns: U64
    last_ns: U64
    total_ns: U64


class UpdateFailedRecord(NamedTuple):
    """What the driver said of a whole-graph update that failed.

    Attributes
    ----------
    result
        CUresult
    detail
        CUgraphExecUpdateResult, -1: not known
    error_node
        graph << 32 | node, NO_NODE: none named; so is error_from
    walked
        1: the graph's nodes stand before this record
    """

    exec_id: U32
    graph_id: U32
    call: U32
    thread_id: U32
    start_ns: U64
    end_ns: U64
    result: I32
    detail: I32
    error_node: U64
    error_from: U64
    walked: U32


class InstantiateFailedRecord(NamedTuple):
    """What the driver said of an instantiation that failed.

    Attributes
    ----------
    walked
        1: the graph's nodes stand before this record
    result
        CUresult
    detail
        CUgraphInstantiateResult, -1: not known
    error_node
        graph << 32 | node, NO_NODE: none named
    """

    graph_id: U32
    call: U32
    thread_id: U32
    walked: U32
    start_ns: U64
    end_ns: U64
    flags: U64
    result: I32
    detail: I32
    error_node: U64


# -- memory ---------------------------------------------------------------------------------------


class DeviceMemoryRecord(NamedTuple):
    """Free device memory before and after a step of an executable's life, in bytes.

    Attributes
    ----------
    step
        enum memory_step
    """

    exec_id: U32
    step: U32
    free_before: U64
    free_after: U64


class GraphMemoryRecord(NamedTuple):
    """Memory of alloc nodes on a device, in bytes."""

    time_ns: U64
    device_id: I32
    used: U64
    used_high: U64
    reserved: U64
    reserved_high: U64


class FreedRecord(NamedTuple):
    """The program freed what a graph had allocated."""

    time_ns: U64
    address: U64
    call: U32
    thread_id: U32


# -- times by events ------------------------------------------------------------------------------


class NodeTime(NamedTuple):
    """Two events around a node, in a NODE_TIMES record.

    Attributes
    ----------
    start_ns
        from the launch's start event to the event before the node
    between_ns
        from there to the event after it
    """

    graph_id: U32
    node_id: U32
    start_ns: U64
    between_ns: U64


class NodeTimesRecord(NamedTuple):
    """The events of one launch that an instrumented copy made.

    Attributes
    ----------
    position_ns
        host time of the start event, 0: not known
    extent_ns
        from the start event to the end event
    times
        struct node_time; decoded, an array of dtype NODE_TIME
    """

    correlation: U32
    exec_id: U32
    nodes: U32
    slices: U32
    device_id: I32
    position_ns: U64
    extent_ns: U64
    times: Annotated[Any, Tail()] = b""


class CalibrationRecord(NamedTuple):
    """What two events around a node of a type measure beside the node.

    ``early_bias_ns``: of nodes that ran while the launch call had not returned.
    """

    device_id: I32
    type: I32
    bias_ns: I64
    early_bias_ns: I64
    spread_ns: I64
    raw_ns: I64
    reference_ns: I64
    more_ns: I64
    early_more_ns: I64
    samples: U32
    early_samples: U32


class RefusedRecord(NamedTuple):
    """Nodes of a graph are not timed.

    Attributes
    ----------
    why
        in words
    """

    graph_id: U32
    exec_id: U32
    why: Text = ""


SEGMENT_HEADER = Layout(SegmentHeader)
RECORD_HEADER = Layout(RecordHeader)
ARGUMENT = Layout(ArgumentRecord)
EDGE = Layout(EdgeRecord)
NODE_TIME = Layout(NodeTime)

DEVICE = Layout(DeviceRecord)
PERIOD = Layout(PeriodRecord)
WINDOW = Layout(WindowRecord)
BUFFER = Layout(BufferRecord)
STRING = Layout(StringRecord)
CALL_NAME = Layout(CallNameRecord)
RUNTIME_CALL_NAME = Layout(RuntimeCallNameRecord)
CALL = Layout(CallRecord)
LIFE = Layout(LifeRecord)
LAUNCH = Layout(LaunchRecord)
LAUNCH_TIME = Layout(LaunchTimeRecord)
GRAPH = Layout(GraphRecord)
NODE = Layout(NodeRecord)
EDGES = Layout(EdgesRecord)
CONDITIONAL = Layout(ConditionalRecord)
PARAMETER = Layout(ParameterRecord)
FUNCTION = Layout(FunctionRecord)
CREATED = Layout(CreatedRecord)
CLONED = Layout(ClonedRecord)
GRAPH_ORIGIN = Layout(OriginRecord)
DOT = Layout(DotRecord)
NVTX_PATH = Layout(NvtxPathRecord)
NVTX_RANGE = Layout(NvtxRangeRecord)
CAPTURE_ERROR = Layout(CaptureErrorRecord)
CAPTURE_FAILED = Layout(CaptureFailedRecord)
UPDATES = Layout(UpdatesRecord)
UPDATE_FAILED = Layout(UpdateFailedRecord)
INSTANTIATE_FAILED = Layout(InstantiateFailedRecord)
DEVICE_MEMORY = Layout(DeviceMemoryRecord)
GRAPH_MEMORY = Layout(GraphMemoryRecord)
FREED = Layout(FreedRecord)
NODE_TIMES = Layout(NodeTimesRecord)
CALIBRATION = Layout(CalibrationRecord)
REFUSED = Layout(RefusedRecord)

#: The structures that are no record of their own: parts of the file, and of other records.
PARTS: tuple[Layout[Any], ...] = (SEGMENT_HEADER, RECORD_HEADER, ARGUMENT, EDGE, NODE_TIME)
#: The layout of each type of record.
LAYOUTS: dict[RecordType, Layout[Any]] = {
    RecordType.DEVICE: DEVICE,
    RecordType.WINDOW: WINDOW,
    RecordType.BUFFER: BUFFER,
    RecordType.STRING: STRING,
    RecordType.CALL: CALL,
    RecordType.LIFE: LIFE,
    RecordType.CALL_NAME: CALL_NAME,
    RecordType.LAUNCH: LAUNCH,
    RecordType.LAUNCH_TIME: LAUNCH_TIME,
    RecordType.GRAPH: GRAPH,
    RecordType.NODE: NODE,
    RecordType.EDGES: EDGES,
    RecordType.FUNCTION: FUNCTION,
    RecordType.CREATED: CREATED,
    RecordType.CLONED: CLONED,
    RecordType.NVTX_PATH: NVTX_PATH,
    RecordType.NVTX_RANGE: NVTX_RANGE,
    RecordType.DOT: DOT,
    RecordType.CAPTURE_ERROR: CAPTURE_ERROR,
    RecordType.CAPTURE_FAILED: CAPTURE_FAILED,
    RecordType.UPDATES: UPDATES,
    RecordType.UPDATE_FAILED: UPDATE_FAILED,
    RecordType.INSTANTIATE_FAILED: INSTANTIATE_FAILED,
    RecordType.DEVICE_MEMORY: DEVICE_MEMORY,
    RecordType.RUNTIME_CALL_NAME: RUNTIME_CALL_NAME,
    RecordType.CONDITIONAL: CONDITIONAL,
    RecordType.PARAMETER: PARAMETER,
    RecordType.GRAPH_MEMORY: GRAPH_MEMORY,
    RecordType.FREED: FREED,
    RecordType.NODE_TIMES: NODE_TIMES,
    RecordType.CALIBRATION: CALIBRATION,
    RecordType.REFUSED: REFUSED,
    RecordType.PERIOD: PERIOD,
    RecordType.GRAPH_ORIGIN: GRAPH_ORIGIN,
}
#: What the types of record hold that are text alone.
TEXTS: dict[RecordType, str] = {
    RecordType.META: "JSON from Python: name, command, versions",
    RecordType.END: "Nothing: the recording was closed in order",
    RecordType.NOTE: "Kind, newline, a sentence for the reader of the recording",
    RecordType.COUNTER: "A number about the measuring itself: name, value, unit, method, in lines",
    RecordType.STACK: "JSON from Python: a stack's number and its frames",
    RecordType.COLLECTOR: "What measures from here on, newline, why",
    RecordType.STOPPED: "Why collecting stopped before its end; the last record",
}
