"""The rows of a recording: one frozen dataclass a table, the field docs are the column docs.

Times ending in ``_ns`` are integer nanoseconds. Positions in time are on one clock,
``cuptiGetTimestamp`` (in practice CLOCK_REALTIME), unless the column says it is relative.
A missing measurement is NULL, never 0.
"""

from __future__ import annotations

from gviz.recording.rows.tables import column, table


@table("run", primary_key=("run_id",))
class Run:
    """One profiled process, or one import."""

    run_id: int = column("ours, from 1", key="run")
    name: str = column("given by the user, else the script's or file's name")
    state: str = column(
        "recording, completed, or aborted (the process was killed or failed without closing the "
        "spool, or collecting stopped before its end: a note says why)"
    )
    source: str = column("what made it: profile, run (gviz run), import")
    command: str | None = column("the command line, shell-quoted", default=None)
    host: str | None = column("host name", default=None)
    process_id: int | None = column("operating system's process id", default=None)
    rank: int | None = column("RANK or equivalent of a distributed job", default=None)
    started_ns: int | None = column("when recording started", default=None)
    ended_ns: int | None = column(
        "when recording ended; NULL where the spool was not closed", default=None
    )
    exit_code: int | None = column("exit code under gviz run (128 + signal)", default=None)
    gviz_version: str | None = column("version of gviz that recorded", default=None)
    python_version: str | None = column("version of Python in the process", default=None)
    driver_version: str | None = column("CUDA version of the driver, such as 13.0", default=None)
    cupti_version: str | None = column("CUPTI API version number", default=None)
    collector: str | None = column(
        "what measured: cupti, cupti-windows (there only while nodes were timed), events, "
        "topology, dot, kineto, nsys; two joined by + when it changed or two files were joined",
        default=None,
    )
    collector_reason: str | None = column("why this collector", default=None)
    node_launches: str | None = column("policy: N, every:K, every:10s or all", default=None)
    git_revision: str | None = column("commit of the working directory's repository", default=None)
    git_dirty: int | None = column("1 if that repository had uncommitted changes", default=None)


@table("device", primary_key=("run_id", "device_id"), without_rowid=True)
class Device:
    """One GPU that the run used."""

    run_id: int = column("the run", key="run")
    device_id: int = column("CUDA device ordinal in the process")
    name: str = column("as the driver names it")
    compute_capability: str | None = column("such as 9.0", default=None)
    multiprocessor_count: int | None = column("streaming multiprocessors", default=None)
    memory_bytes: int | None = column("device memory", default=None)
    max_threads_per_multiprocessor: int | None = column("resident threads", default=None)
    pci_bus_id: str | None = column("domain:bus:device", default=None)
    sm_clock_max_mhz: int | None = column(
        "the highest clock of its multiprocessors (NVML)", default=None
    )


@table("library", primary_key=("run_id", "name"), without_rowid=True)
class LibraryVersion:
    """Version of a library loaded in the run's process."""

    run_id: int = column("the run", key="run")
    name: str = column("distribution name, such as torch")
    version: str = column("its version")


@table("window", primary_key=("run_id", "window_id"), without_rowid=True)
class Window:
    """An interval in which node times and stream operations were recorded."""

    run_id: int = column("the run", key="run")
    window_id: int = column("from 0, in order of time")
    start_ns: int = column("activity kinds enabled")
    end_ns: int | None = column("activity kinds disabled; NULL: open when the process ended")
    reason: str = column("why it was opened: eager, launches")


@table("period", primary_key=("run_id", "period_id"), without_rowid=True)
class Period:
    """An interval in which gviz recorded: all of the run, unless less of it was requested.

    Between periods launches are neither timed nor counted and no window is open. Graphs made
    then are known, unless the period before ended with ``left``.
    """

    run_id: int = column("the run", key="run")
    period_id: int = column("from 0, in order of time")
    start_ns: int = column("when it began")
    end_ns: int | None = column("when it ended; NULL: the process ended in it", default=None)
    start_reason: str = column(
        "attached, delay, call (start() was called), signal, range (the program's own, see "
        "--capture-range), request (gviz start), returned (CUPTI was free again), followed "
        "(another collector went on after CUPTI was left)"
    )
    end_reason: str | None = column(
        "end (of the recording), duration, launches (as many as requested), call (stop() was "
        "called), signal, range, request (gviz stop), left (another profiler took CUPTI)",
        default=None,
    )
    left_to: str | None = column("the profiler that CUPTI was left to", default=None)


@table("topology", primary_key=("topology_id",))
class Topology:
    """A shape shared by graphs: equal node types, names and edges are stored once."""

    topology_id: int = column("ours, from 1", key="topology")
    hash: str = column("SHA-256 (hex) over node types, kernel names and edges; names no address")
    node_count: int = column("nodes of this level, bodies excluded")
    edge_count: int = column("edges of this level")


@table(
    "edge",
    primary_key=("topology_id", "from_node", "to_node", "type", "from_port", "to_port"),
    without_rowid=True,
)
class Edge:
    """A dependency: to_node starts after from_node (or its port) allows it."""

    topology_id: int = column("the topology", key="topology")
    from_node: int = column("node_id of the dependency")
    to_node: int = column("node_id of the dependent")
    type: int = column(
        "CUgraphDependencyType: 0 default, 1 programmatic; -1: not CUDA's, inferred from stream "
        "order in an imported trace"
    )
    from_port: int = column("0 completion, 1 programmatic event, 2 launch order")
    to_port: int = column("always 0 in CUDA 13")


@table("graph", primary_key=("graph_id",), indexes=(("run_id",), ("parent_graph_id",)))
class Graph:
    """A CUDA graph (template), or the body of a child graph or conditional node."""

    graph_id: int = column("ours, from 1, unique in the file", key="graph")
    run_id: int = column("the run", key="run")
    name: str = column("shown name")
    origin: str = column(
        "capture, explicit (built node by node), late (instantiated before gviz attached: "
        "nodes known from their records only, edges unknown), body, dot, trace (imported: nodes "
        "known from records, edges inferred from stream order where there are any), failed "
        "capture (nodes captured until it broke), failed instantiation"
    )
    cuda_graph_id: int | None = column(
        "cuptiGetGraphId; above 2^30 counted by gviz, without CUPTI", default=None
    )
    parent_graph_id: int | None = column(
        "graph_id that holds the parent node", default=None, key="graph"
    )
    parent_node_id: int | None = column("child-graph or conditional node", default=None)
    branch: int | None = column("which body of a conditional node, from 0", default=None)
    topology_id: int | None = column("NULL: edges unknown", default=None, key="topology")
    capture_start_ns: int | None = column("cuStreamBeginCapture", default=None)
    capture_end_ns: int | None = column("cuStreamEndCapture returned", default=None)
    capture_mode: int | None = column("0 global, 1 thread local, 2 relaxed", default=None)
    capture_thread_id: int | None = column("operating system's thread id", default=None)
    capture_stream_id: int | None = column("stream it began on (CUPTI id)", default=None)
    destroyed_ns: int | None = column("cuGraphDestroy returned", default=None)
    dot: bytes | None = column("DOT text as the driver printed it, zlib", default=None)
    capture_stack_id: int | None = column(
        "Python stack where the capture began; of graphs that were not captured while gviz "
        "watched: where they were first instantiated",
        default=None,
        key="stack",
    )
    capture_nvtx_path_id: int | None = column(
        "NVTX ranges open there", default=None, key="nvtx_path"
    )

    @property
    def edges_inferred(self) -> bool:
        """Return whether its edges are not CUDA's own, but inferred from stream order."""
        return self.origin == "trace" and self.topology_id is not None


@table("kernel_function", primary_key=("function_id",))
class KernelFunction:
    """A kernel: name and resources, shared by nodes and stream operations."""

    function_id: int = column("ours, from 1, unique in the file", key="kernel_function")
    run_id: int = column("the run", key="run")
    mangled_name: str = column("symbol as in the module")
    name: str = column("demangled; the symbol itself where it cannot be demangled")
    registers: int | None = column("registers a thread", default=None)
    static_shared_mem_bytes: int | None = column("static shared memory", default=None)
    local_mem_bytes: int | None = column("local memory a thread", default=None)
    max_threads_per_block: int | None = column("limit of this function", default=None)


@table("node", primary_key=("graph_id", "node_id"), without_rowid=True)
class Node:
    """A node of a graph."""

    graph_id: int = column("the graph", key="graph")
    node_id: int = column("low 32 bits of cuptiGetGraphNodeId in the template graph")
    exec_node_id: int | None = column(
        "CUDA's id of this node in the executable: low 32 bits of graphNodeId in its activity "
        "records; another than node_id in bodies, and where a trace was joined with a dump. "
        "NULL: it never gets a span"
    )
    type: int = column("CUgraphNodeType; unknown numbers kept")
    name: str = column("short name shown: kernel name without parameters, MEMCPY DtoD, ...")
    function_id: int | None = column(
        "kernel_function of a kernel node", default=None, key="kernel_function"
    )
    device_id: int | None = column("device it runs on", default=None)
    grid_x: int | None = column("gridDim.x", default=None)
    grid_y: int | None = column("gridDim.y", default=None)
    grid_z: int | None = column("gridDim.z", default=None)
    block_x: int | None = column("blockDim.x", default=None)
    block_y: int | None = column("blockDim.y", default=None)
    block_z: int | None = column("blockDim.z", default=None)
    shared_mem_bytes: int | None = column("dynamic shared memory", default=None)
    max_blocks_per_multiprocessor: int | None = column(
        "cuOccupancyMaxActiveBlocksPerMultiprocessor", default=None
    )
    occupancy_fraction: float | None = column(
        "derived: resident threads of that over the multiprocessor's maximum, 0..1", default=None
    )
    priority: int | None = column("launch priority attribute", default=None)
    cooperative: int | None = column("1: cooperative launch", default=None)
    copy_kind: int | None = column("CUpti_ActivityMemcpyKind of a memcpy node", default=None)
    bytes: int | None = column("bytes copied, set or allocated", default=None)
    source_address: int | None = column("memcpy source", default=None)
    destination_address: int | None = column("memcpy, memset, alloc, free target", default=None)
    memset_value: int | None = column("value written by a memset node", default=None)
    memset_element_bytes: int | None = column("element size of a memset node", default=None)
    capture_stream_id: int | None = column("stream it was captured on (CUPTI id)", default=None)
    created_ns: int | None = column("when the node was created", default=None)
    created_thread_id: int | None = column("thread that created it", default=None)
    nvtx_path_id: int | None = column("NVTX ranges open at creation", default=None, key="nvtx_path")
    stack_id: int | None = column("Python stack at creation", default=None, key="stack")
    stack_reason: str | None = column("why there is no Python stack", default=None)
    autograd_name: str | None = column(
        "node of PyTorch's autograd that was running when the node was created, such as "
        "AddmmBackward0; NULL: none was, or none was known",
        default=None,
    )
    sequence_nr: int | None = column(
        "PyTorch's sequence number of that autograd node; without one, in the first node that an "
        "operation of the forward pass creates, of the autograd node that the operation made: "
        "equal numbers are of one operation, on one thread",
        default=None,
    )
    not_timed_reason: str | None = column("why spans carry no time for it", default=None)
    conditional_type: str | None = column("if, while or switch", default=None)
    match_class: int | None = column(
        "of a graph that times were matched with: nodes of equal number, in the graph and its "
        "bodies, can be exchanged without a contradiction, so that which of their times is whose "
        "is not known; NULL: the node's times are its own",
        default=None,
    )


@table("argument", primary_key=("graph_id", "node_id", "position"), without_rowid=True)
class Argument:
    """A parameter of a kernel node, as bytes."""

    graph_id: int = column("the graph", key="graph")
    node_id: int = column("the kernel node")
    position: int = column("from 0")
    size_bytes: int = column("size")
    value: bytes = column("its bytes at instantiation, little endian")
    allocation_address: int | None = column(
        "start of the allocation it points into, if it looks like an address", default=None
    )
    allocation_bytes: int | None = column("size of that allocation", default=None)
    offset_bytes: int | None = column(
        "where it stands in the memory that the kernel's parameters take", default=None
    )


@table("graph_exec", primary_key=("graph_exec_id",), indexes=(("graph_id",),))
class GraphExec:
    """An executable (cudaGraphExec_t): one instantiation of a graph."""

    graph_exec_id: int = column("ours, from 1, unique in the file", key="graph_exec")
    run_id: int = column("the run", key="run")
    graph_id: int = column("the template graph", key="graph")
    cuda_exec_id: int = column("cuptiGetGraphExecId; above 2^30 counted by gviz")
    instantiate_start_ns: int | None = column("call entered", default=None)
    instantiate_end_ns: int | None = column("call returned", default=None)
    flags: int | None = column("instantiation flags", default=None)
    upload_start_ns: int | None = column("first cuGraphUpload", default=None)
    upload_end_ns: int | None = column("first cuGraphUpload returned", default=None)
    destroyed_ns: int | None = column("cuGraphExecDestroy", default=None)
    launch_count: int = column("launches seen, recorded or not", default=0)
    instantiate_thread_id: int | None = column("thread that instantiated it", default=None)
    device_memory_bytes: int | None = column(
        "estimated: what free device memory fell by around instantiation, upload and first "
        "launch; see docs/limits.md",
        default=None,
    )
    could_update_graph_exec_id: int | None = column(
        "derived: earlier executable that cuGraphExecUpdate could have turned into this one",
        default=None,
        key="graph_exec",
    )


#: node_method of launches in whose place an instrumented copy ran.
BY_COPY = "events"


@table("launch", primary_key=("launch_id",), indexes=(("graph_id", "side", "ordinal"),))
class Launch:
    """One launch of a graph, or (side 'stream') the same work done once by stream calls.

    In long runs only the first launches and those with spans have a row; the others are counted
    in launch_bin.
    """

    launch_id: int = column("ours, from 1, unique in the file", key="launch")
    run_id: int = column("the run", key="run")
    graph_id: int = column("the template graph", key="graph")
    graph_exec_id: int | None = column("the executable; NULL on the stream side", key="graph_exec")
    side: str = column("graph or stream")
    ordinal: int = column("from 0, per graph and side, in time order")
    host_start_ns: int | None = column(
        "cuGraphLaunch entered; stream side: first call entered", default=None
    )
    host_end_ns: int | None = column("call returned; stream side: last call returned", default=None)
    thread_id: int | None = column("calling thread", default=None)
    stream_id: int | None = column("launch stream (CUPTI id)", default=None)
    correlation_id: int | None = column("CUPTI correlation id", default=None)
    node_level: int = column("1: node times were recorded for it", default=0)
    gpu_start_ns: int | None = column("start of its first span", default=None)
    gpu_end_ns: int | None = column("end of its last span", default=None)
    event_duration_ns: int | None = column(
        "GPU time between two events around the launch; a duration without a position",
        default=None,
    )
    span_count: int = column("spans stored for it", default=0)
    ambiguous_count: int = column(
        "spans of conditional bodies among them that may be a neighbouring launch's", default=0
    )
    node_method: str | None = column(
        "how its node times were taken: cupti, or events (by an instrumented copy in its place; "
        "GPU start and end are then derived, to about 10 µs). NULL: none were, or schema 1 (cupti)",
        default=None,
    )

    @property
    def is_by_copy(self) -> bool:
        """Return whether an instrumented copy ran in its place: gaps and order are the copy's."""
        return self.node_method == BY_COPY


@table("span", primary_key=("launch_id", "graph_id", "node_id", "iteration"), without_rowid=True)
class Span:
    """One execution of one node inside one graph launch, measured as launch.node_method says.

    A span's node is the row of node with its graph_id and node_id. Only upgraded recordings of
    damaged runs have spans without such a row: their node_id is negative.
    """

    launch_id: int = column("the launch", key="launch")
    graph_id: int = column(
        "the level that holds the node: the launched graph, or a body in it", key="graph"
    )
    node_id: int = column("the node, as in node")
    iteration: int = column("from 0; above 0 in loop bodies")
    start_ns: int = column("relative to launch.gpu_start_ns")
    duration_ns: int = column("end - start")
    stream_id: int = column("hardware-side stream id of the record; not the capture stream")


@table("stream_operation", primary_key=("operation_id",), indexes=(("launch_id",), ("run_id",)))
class StreamOperation:
    """A kernel, copy or memset that ran outside graphs inside a window."""

    operation_id: int = column("ours, in order of GPU start within the run", key="stream_operation")
    run_id: int = column("the run", key="run")
    type: int = column("CUgraphNodeType of the same work: 0 kernel, 1 memcpy, 2 memset")
    name: str = column("short name shown")
    start_ns: int = column("GPU start")
    duration_ns: int = column("GPU end - start")
    stream_id: int = column("CUPTI stream id")
    device_id: int = column("device ordinal")
    correlation_id: int = column("CUPTI correlation id")
    function_id: int | None = column("kernel_function", default=None, key="kernel_function")
    grid_x: int | None = column("gridDim.x", default=None)
    grid_y: int | None = column("gridDim.y", default=None)
    grid_z: int | None = column("gridDim.z", default=None)
    block_x: int | None = column("blockDim.x", default=None)
    block_y: int | None = column("blockDim.y", default=None)
    block_z: int | None = column("blockDim.z", default=None)
    shared_mem_bytes: int | None = column("dynamic shared memory", default=None)
    bytes: int | None = column("bytes copied or set", default=None)
    copy_kind: int | None = column("CUpti_ActivityMemcpyKind", default=None)
    host_start_ns: int | None = column("call entered", default=None)
    host_end_ns: int | None = column("call returned", default=None)
    thread_id: int | None = column("calling thread", default=None)
    launch_id: int | None = column(
        "stream-side launch it was matched into", default=None, key="launch"
    )
    node_id: int | None = column("node of that launch's graph it was matched to", default=None)


@table("node_statistics", primary_key=("graph_id", "node_id"), without_rowid=True)
class NodeStatistics:
    """Duration of a node over all recorded launches of its graph (derived from span).

    In long runs also over launches without spans: the quantiles of such nodes come from a
    histogram of all their durations (quantile_error_fraction).
    """

    graph_id: int = column("the level that holds the node", key="graph")
    node_id: int = column("the node, as in node")
    count: int = column("executions with a time")
    total_ns: int = column("sum")
    median_ns: float = column("median duration")
    p5_ns: float = column("5th percentile, linear interpolation")
    p95_ns: float = column("95th percentile, linear interpolation")
    min_ns: int = column("shortest")
    max_ns: int = column("longest")
    mad_ns: float | None = column(
        "median absolute deviation, over those of the executions that are rows of span"
    )
    start_median_ns: float | None = column(
        "median start after the launch's first span start, over rows of span"
    )
    streamed_count: int = column("executions that are no row of span; counted above", default=0)
    quantile_error_fraction: float | None = column(
        "median_ns, p5_ns and p95_ns are within this share of the value at their rank; NULL: exact",
        default=None,
    )


@table("nvtx_path", primary_key=("nvtx_path_id",))
class NvtxPath:
    """A stack of open NVTX ranges, as a tree: one row a range under its parent."""

    nvtx_path_id: int = column("ours, from 1, unique in the file", key="nvtx_path")
    run_id: int = column("the run", key="run")
    parent_id: int | None = column(
        "the enclosing path; NULL at the outermost range", key="nvtx_path"
    )
    domain: str | None = column("NVTX domain; PyTorch: an operator; NULL: the default domain")
    text: str = column("message of the innermost range")


@table("nvtx_range", primary_key=("nvtx_range_id",), indexes=(("run_id",),))
class NvtxRange:
    """One NVTX push/pop range on the host."""

    nvtx_range_id: int = column("ours, unique in the file", key="nvtx_range")
    run_id: int = column("the run", key="run")
    nvtx_path_id: int = column("its path", key="nvtx_path")
    thread_id: int = column("operating system's thread id")
    start_ns: int = column("pushed")
    end_ns: int | None = column("popped; NULL: still open at the end")


@table("stack", primary_key=("stack_id", "depth"), without_rowid=True)
class StackFrame:
    """A Python frame of a stack; depth 0 is the innermost."""

    stack_id: int = column("ours, from 1, unique in the file", key="stack")
    depth: int = column("0 is the innermost frame")
    location_id: int = column("where", key="location")


@table("location", primary_key=("location_id",))
class Location:
    """A line of Python code, with its text as it was when profiled."""

    location_id: int = column("ours, from 1, unique in the file", key="location")
    file: str = column("co_filename")
    line: int = column("line number, from 1; 0: unknown")
    function: str = column("co_qualname")
    source: str | None = column("the line's text; NULL: could not be read", default=None)


@table("api_call", primary_key=("api_call_id",), indexes=(("run_id",),))
class ApiCall:
    """A driver call of a graph's life: capture, instantiate, upload, update, destroy."""

    api_call_id: int = column("ours, unique in the file", key="api_call")
    run_id: int = column("the run", key="run")
    name: str = column("driver API name, such as cuGraphInstantiateWithFlags")
    start_ns: int = column("entered")
    end_ns: int = column("returned")
    thread_id: int = column("calling thread")
    result: int = column("CUresult; 0 is success")
    graph_id: int | None = column("the graph it was about", default=None, key="graph")
    graph_exec_id: int | None = column(
        "the executable it was about", default=None, key="graph_exec"
    )


@table("measurement", primary_key=("run_id", "name"), without_rowid=True)
class Measurement:
    """The cost of measuring, records lost, and other single numbers of a run."""

    run_id: int = column("the run", key="run")
    name: str = column("such as records_dropped, launch_event_cost_ns")
    value: float | None = column("the number; NULL: not measured, the note says why")
    unit: str = column("ns, records, bytes, fraction")
    method: str = column("measured, derived or estimated, and how")


@table("note", primary_key=("note_id",))
class Note:
    """A sentence about a run that its reader must know: what is missing, and why."""

    note_id: int = column("ours, unique in the file", key="note")
    run_id: int = column("the run", key="run")
    kind: str = column("warning, limit, information, or damage: what was unreadable")
    text: str = column("the sentence")
