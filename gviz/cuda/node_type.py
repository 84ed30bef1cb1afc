"""The kinds of CUDA graph nodes, memory copies and edges, numbered as in cuda.h."""

from __future__ import annotations

from enum import IntEnum


class NodeType(IntEnum):
    """Kind of a graph node.

    Same names and numbers as ``CUgraphNodeType``. A number that is not listed is
    kept as a plain integer everywhere: :func:`node_type_name` names it.

    References
    ----------
    cuda.h, CUDA 13.0, ``CUgraphNodeType_enum``; 14, 17 and 18 are from CUDA 13.5.
    """

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    HOST = 3
    GRAPH = 4
    EMPTY = 5
    WAIT_EVENT = 6
    EVENT_RECORD = 7
    EXT_SEMAS_SIGNAL = 8
    EXT_SEMAS_WAIT = 9
    MEM_ALLOC = 10
    MEM_FREE = 11
    BATCH_MEM_OP = 12
    CONDITIONAL = 13
    MEMCPY_BATCH = 14
    EXTERNAL_ENGINE = 17
    FABRIC_CPY_BATCH = 18


class EdgeType(IntEnum):
    """Kind of a dependency (``CUgraphDependencyType``), and one of gviz's own below 0."""

    #: Not reported by CUDA: inferred from the order of work on a stream in an imported trace.
    INFERRED = -1
    DEFAULT = 0
    PROGRAMMATIC = 1


class CopyKind(IntEnum):
    """Direction of a memory copy.

    References
    ----------
    cupti_activity.h, CUPTI 13.0, ``CUpti_ActivityMemcpyKind``.
    """

    UNKNOWN = 0
    HTOD = 1
    DTOH = 2
    HTOA = 3
    ATOH = 4
    ATOA = 5
    ATOD = 6
    DTOA = 7
    DTOD = 8
    HTOH = 9
    PTOP = 10


class ConditionalType(IntEnum):
    """Types of conditional nodes (``CUgraphConditionalNodeType``)."""

    IF = 0
    WHILE = 1
    SWITCH = 2


#: Node types for which CUPTI 13.0 delivers an activity record, and so a time.
TIMED_TYPES = frozenset({NodeType.KERNEL, NodeType.MEMCPY, NodeType.MEMSET})
#: CUPTI_API_VERSION from which on host nodes have a record too.
HOST_NODE_CUPTI_VERSION = 130100


def node_type_name(number: int) -> str:
    """Return CUDA's name of a node type, or ``type <number>`` for an unknown one."""
    try:
        return NodeType(number).name
    except ValueError:
        return f"type {number}"


def conditional_type_name(number: int) -> str:
    """Return ``if``, ``while`` or ``switch``, or ``type <number>`` for an unknown one."""
    try:
        return ConditionalType(number).name.lower()
    except ValueError:
        return f"type {number}"


#: Why a child graph has no time of its own.
TIMED_IN_BODY = "its time is that of the nodes of its body"


def not_timed_reason(number: int, cupti_version: int | None = None) -> str | None:
    """Return why nodes of this type carry no time, or None when they do.

    Parameters
    ----------
    number
        CUgraphNodeType.
    cupti_version
        CUPTI_API_VERSION of the recording, such as 130001; None: unknown.
    """
    if number in TIMED_TYPES:
        return None
    if number in (NodeType.GRAPH, NodeType.CONDITIONAL):
        return TIMED_IN_BODY
    if number == NodeType.HOST:
        if cupti_version is not None and cupti_version >= HOST_NODE_CUPTI_VERSION:
            return None
        return "CUPTI reports host nodes only from version 13.1"
    return f"CUPTI has no record for {node_type_name(number)} nodes"


#: Why there are no nodes, where a trace records launches as a whole only.
WHOLE_ONLY = (
    "the trace has the graph's launches as a whole only; nsys profile --cuda-graph-trace=node "
    "has its nodes"
)
