"""The records of the events collector: node times, their calibration, and what it refuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gviz.recording import LATEST_NS, MOST_BYTES
from gviz.spool.records import table
from gviz.spool.records.event_records import CalibrationRecord, NodeTimesRecord
from gviz.spool.records.format import RecordType
from gviz.spool.records.payload import check_time, read_text


class OperationTaker(Protocol):
    """Taker of operations (dtype OPERATION)."""

    def add(self, operations: npt.NDArray[Any]) -> None:
        """Take some in."""


class EventContents(Protocol):
    """The part of a spool's contents that these records fill.

    Attributes
    ----------
    collectors
        (name, why) of each collector that measured.
    refusals
        By CUDA graph id, why nodes of the graph are not timed.
    """

    node_times: list[NodeTimesRecord]
    calibrations: list[CalibrationRecord]
    collectors: list[tuple[str, str]]
    refusals: dict[int, str]
    unreadable: Counter[str]

    @property
    def operation_stream(self) -> OperationTaker:
        """Work outside graphs."""


def _node_times(c: EventContents, p: bytes) -> None:
    record = table.NODE_TIMES.unpack(p)
    times = np.frombuffer(p, table.NODE_TIME.dtype, record.nodes, table.NODE_TIMES.size)
    check_time(record.position_ns, record.extent_ns)
    if len(times):
        check_time(int(times["start_ns"].max()), int(times["between_ns"].max()))
    c.node_times.append(record._replace(times=times))


def _operations(c: EventContents, p: bytes) -> None:
    record = table.OPERATIONS.unpack(p)
    work = np.frombuffer(p, table.OPERATION.dtype, record.operations, table.OPERATIONS.size)
    sound = (work["end_ns"] >= work["start_ns"]) & (work["end_ns"] <= LATEST_NS)
    sound &= (work["bytes"] >= -1) & (work["bytes"] <= MOST_BYTES)
    if not sound.all():
        c.unreadable["operation"] += int((~sound).sum())
    c.operation_stream.add(work[sound])


def _calibration(c: EventContents, p: bytes) -> None:
    c.calibrations.append(table.CALIBRATION.unpack(p))


def _collector(c: EventContents, p: bytes) -> None:
    name, _, why = read_text(p).partition("\n")
    c.collectors.append((name, why))


def _refused(c: EventContents, p: bytes) -> None:
    record = table.REFUSED.unpack(p)
    c.refusals[record.graph_id] = record.why


EVENT_TAKERS: dict[int, Callable[[EventContents, bytes], None]] = {
    RecordType.NODE_TIMES: _node_times,
    RecordType.OPERATIONS: _operations,
    RecordType.CALIBRATION: _calibration,
    RecordType.COLLECTOR: _collector,
    RecordType.REFUSED: _refused,
}
