"""The records of nodes inside nodes, of node parameters and of graphs' memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from gviz.spool.records import table
from gviz.spool.records.format import RecordType
from gviz.spool.records.graph_walk import GraphWalk
from gviz.spool.records.memory_records import GraphMemoryRecord
from gviz.spool.records.payload import check_sizes, check_time


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
    record = table.CONDITIONAL.unpack(p)
    if record.graph_id in c.walk_of:
        c.walk_of[record.graph_id].conditionals[record.node_id] = record


def _parameter(c: NestingContents, p: bytes) -> None:
    record = table.PARAMETER.unpack(p)
    name, _, value = record.text.partition("\n")
    if record.graph_id in c.walk_of:
        c.walk_of[record.graph_id].parameters.append((record.node_id, name, value))


def _graph_memory(c: NestingContents, p: bytes) -> None:
    record = table.GRAPH_MEMORY.unpack(p)
    check_time(record.time_ns)
    check_sizes(record.used, record.used_high, record.reserved, record.reserved_high)
    c.graph_memory.append(record)


def _freed(c: NestingContents, p: bytes) -> None:
    record = table.FREED.unpack(p)
    c.freed[record.address] = record.call


NESTING_TAKERS: dict[int, Callable[[NestingContents, bytes], None]] = {
    RecordType.CONDITIONAL: _conditional,
    RecordType.PARAMETER: _parameter,
    RecordType.GRAPH_MEMORY: _graph_memory,
    RecordType.FREED: _freed,
}
