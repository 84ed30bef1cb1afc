"""The records of nodes inside nodes, of node parameters and of graphs' memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from gviz.spool import format as f
from gviz.spool.format import RecordType
from gviz.spool.payload import check_sizes, check_time

if TYPE_CHECKING:
    from gviz.spool.contents import Contents


class ConditionalRecord(NamedTuple):
    """A conditional node; ``bodies`` counts those known, ``size`` all."""

    type: int
    size: int
    handle: int
    bodies: int


class GraphMemoryRecord(NamedTuple):
    """Memory of alloc nodes on a device, in bytes."""

    time_ns: int
    device_id: int
    used: int
    used_high: int
    reserved: int
    reserved_high: int


def _conditional(c: Contents, p: bytes) -> None:
    graph_id, node_id, *rest = f.CONDITIONAL.unpack(p)
    if graph_id in c.walk_of:
        c.walk_of[graph_id].conditionals[node_id] = ConditionalRecord(*rest)


def _parameter(c: Contents, p: bytes) -> None:
    graph_id, node_id = f.PARAMETER.unpack_from(p)
    name, _, value = p[f.PARAMETER.size :].decode("utf-8", "replace").partition("\n")
    if graph_id in c.walk_of:
        c.walk_of[graph_id].parameters.append((node_id, name, value))


def _graph_memory(c: Contents, p: bytes) -> None:
    record = GraphMemoryRecord(*f.GRAPH_MEMORY.unpack(p))
    check_time(record.time_ns)
    check_sizes(record.used, record.used_high, record.reserved, record.reserved_high)
    c.graph_memory.append(record)


def _freed(c: Contents, p: bytes) -> None:
    _, address, call, _ = f.FREED.unpack(p)
    c.freed[address] = call


NESTING_TAKERS: dict[int, Callable[[Contents, bytes], None]] = {
    RecordType.CONDITIONAL: _conditional,
    RecordType.PARAMETER: _parameter,
    RecordType.GRAPH_MEMORY: _graph_memory,
    RecordType.FREED: _freed,
}
