"""The records of nodes inside nodes, of node parameters and of graphs' memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from gviz.spool.records import format as f
from gviz.spool.records.format import RecordType
from gviz.spool.records.graph_records import ConditionalRecord, GraphWalk
from gviz.spool.records.payload import check_sizes, check_time


class GraphMemoryRecord(NamedTuple):
    """Memory of alloc nodes on a device, in bytes."""

    time_ns: int
    device_id: int
    used: int
    used_high: int
    reserved: int
    reserved_high: int


class NestingContents(Protocol):
    """The part of a spool's contents that these records fill.

    Attributes
    ----------
    walk_of
        The latest walk of each graph, by CUDA graph id.
    freed
        By address, the call that freed it.
    """

    walk_of: dict[int, GraphWalk]
    graph_memory: list[GraphMemoryRecord]
    freed: dict[int, int]


def _conditional(c: NestingContents, p: bytes) -> None:
    graph_id, node_id, *rest = f.CONDITIONAL.unpack(p)
    if graph_id in c.walk_of:
        c.walk_of[graph_id].conditionals[node_id] = ConditionalRecord(*rest)


def _parameter(c: NestingContents, p: bytes) -> None:
    graph_id, node_id = f.PARAMETER.unpack_from(p)
    name, _, value = p[f.PARAMETER.size :].decode("utf-8", "replace").partition("\n")
    if graph_id in c.walk_of:
        c.walk_of[graph_id].parameters.append((node_id, name, value))


def _graph_memory(c: NestingContents, p: bytes) -> None:
    record = GraphMemoryRecord(*f.GRAPH_MEMORY.unpack(p))
    check_time(record.time_ns)
    check_sizes(record.used, record.used_high, record.reserved, record.reserved_high)
    c.graph_memory.append(record)


def _freed(c: NestingContents, p: bytes) -> None:
    _, address, call, _ = f.FREED.unpack(p)
    c.freed[address] = call


NESTING_TAKERS: dict[int, Callable[[NestingContents, bytes], None]] = {
    RecordType.CONDITIONAL: _conditional,
    RecordType.PARAMETER: _parameter,
    RecordType.GRAPH_MEMORY: _graph_memory,
    RecordType.FREED: _freed,
}
