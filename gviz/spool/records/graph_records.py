"""Records of graphs: their levels, nodes, edges and parameters, and where they come from."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import gviz.spool.records.structure as s
from gviz.spool.records.structure import I32, U8, U16, U32, U64, Tail, Text


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
    start
        one more than where it stands in the memory that the parameters take; 0: not recorded
    allocation
        that it points into; 0: none
    """

    size: U32
    padded: U16
    start: U16
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
    """The time and place of a node's creation.

    Attributes
    ----------
    node_id
        its graph's id << 32 | its own
    stack
        > 0: of a STACK or AUTOGRAD record, else enum stack_reason
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
    """The place where a graph's capture began, or where it was instantiated.

    Attributes
    ----------
    exec_id
        0: of its capture
    kind
        ORIGIN_CAPTURE or ORIGIN_INSTANTIATE
    stack
        as of struct created_record
    name_kind
        enum name_kind
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
