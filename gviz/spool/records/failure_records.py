"""Records of updates, of what of them, captures and instantiations failed, and of faults."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from gviz.spool.records.structure import I32, U32, U64, Tail, Text


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


class UpdatesPassedRecord(NamedTuple):
    """Updates of a node that nobody was told of: their number, for equal ones that were told.

    Attributes
    ----------
    graph_id
        of the node
    to_ns
        none of them is later
    """

    exec_id: U32
    graph_id: U32
    node_id: U32
    call: U32
    updates: U64
    to_ns: U64


class UpdateFailedRecord(NamedTuple):
    """The driver's report on a whole-graph update that failed.

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
    """The driver's report on an instantiation that failed.

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


class Crumb(NamedTuple):
    """A node whose end leaves a crumb, in a CRUMBS record."""

    graph_id: U32
    node_id: U32


class CrumbsRecord(NamedTuple):
    """The words of file ``crumbs`` that launches of an executable write.

    A launch clears them when it begins. The first is written when it ends, the others when their
    nodes have ended.

    Attributes
    ----------
    first
        place of the first word
    crumb_count
        of struct crumb that follow: of the words after the first
    """

    graph_id: U32
    exec_id: U32
    first: U32
    crumb_count: U32
    crumbs: Annotated[Any, Tail()] = b""


class CrumbsRefusedRecord(NamedTuple):
    """Launches of an executable leave no crumbs, or no more of them.

    Attributes
    ----------
    why
        in words
    """

    graph_id: U32
    exec_id: U32
    why: Text = ""


class FaultRecord(NamedTuple):
    """The GPU failed, or a launch makes no progress.

    Attributes
    ----------
    kind
        enum fault_kind
    result
        CUresult
    exec_id
        of the executable whose launch was seen to fail or to stall; 0: not known
    """

    time_ns: U64
    kind: U32
    result: I32
    exec_id: U32
    reserved: U32 = 0
