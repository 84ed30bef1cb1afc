"""The records of the events collector: node times, their calibration, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from gviz.spool.records import table
from gviz.spool.records.event_records import CalibrationRecord, NodeTimesRecord
from gviz.spool.records.format import RecordType
from gviz.spool.records.payload import check_time, read_text


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


def _node_times(c: EventContents, p: bytes) -> None:
    record = table.NODE_TIMES.unpack(p)
    times = np.frombuffer(p, table.NODE_TIME.dtype, record.nodes, table.NODE_TIMES.size)
    check_time(record.position_ns, record.extent_ns)
    if len(times):
        check_time(int(times["start_ns"].max()), int(times["between_ns"].max()))
    c.node_times.append(record._replace(times=times))


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
    RecordType.CALIBRATION: _calibration,
    RecordType.COLLECTOR: _collector,
    RecordType.REFUSED: _refused,
}
