"""Records of node times between CUDA events, and of what such a time is wrong by."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from gviz.spool.records.structure import I32, I64, U32, U64, Tail, Text, U32x3


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


class Operation(NamedTuple):
    """A call outside graphs, and when its work ran by two events, in an OPERATIONS record.

    Attributes
    ----------
    type
        CUgraphNodeType of the same work
    stream_id
        0xffffffff: not known
    copy_kind
        CUpti_ActivityMemcpyKind, 0: not known
    bytes
        -1: not known, or it moves none
    function
        key of a FUNCTION record; 0: it is no kernel
    start_ns
        host time of the event before the call, or when the call had handed the work over
    end_ns
        of the event after the call
    after_call
        1: start_ns is the latter
    """

    correlation: U32
    type: I32
    stream_id: U32
    device_id: I32
    grid: U32x3
    block: U32x3
    shared_mem_bytes: U32
    copy_kind: U32
    after_call: U32
    function: U64
    bytes: I64
    start_ns: U64
    end_ns: U64


class OperationsRecord(NamedTuple):
    """Work outside graphs with its times by events.

    Attributes
    ----------
    work
        struct operation; decoded, an array of dtype OPERATION
    """

    operations: U32
    reserved: U32
    work: Annotated[Any, Tail()] = b""


class CalibrationRecord(NamedTuple):
    """Time between two events around a node of a type beyond the node's own, on private chains.

    Attributes
    ----------
    type
        CUgraphNodeType; OUTSIDE_GRAPHS: of kernels that are launched on a stream
    bias_ns
        ``raw_ns - chain_ns``
    early_bias_ns
        of nodes that ran while the launch call had not returned
    spread_ns
        median deviation from ``raw_ns``
    raw_ns
        median time between the two events
    chain_ns
        time of a node and the way to the next, in the same chain without events
    """

    device_id: I32
    type: I32
    bias_ns: I64
    early_bias_ns: I64
    spread_ns: I64
    raw_ns: I64
    chain_ns: I64
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
