"""The records of the events collector: node times, their calibration, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gviz.spool.records import format as f
from gviz.spool.records.format import RecordType
from gviz.spool.records.payload import check_time

#: One NODE_TIME of a NODE_TIMES record.
NODE_TIME = np.dtype([("graph", "<u4"), ("node", "<u4"), ("start", "<u8"), ("between", "<u8")])


class NodeTimesRecord(NamedTuple):
    """The events of one launch that an instrumented copy made; ``times`` has dtype NODE_TIME."""

    correlation: int
    exec_id: int
    slices: int
    device_id: int
    position_ns: int
    extent_ns: int
    times: npt.NDArray[np.void]


class CalibrationRecord(NamedTuple):
    """What two events around a node of a type measure beside the node.

    ``early_bias_ns``: of nodes that ran while the launch call had not returned.
    """

    device_id: int
    type: int
    bias_ns: int
    early_bias_ns: int
    spread_ns: int
    raw_ns: int
    reference_ns: int
    more_ns: int
    early_more_ns: int
    samples: int
    early_samples: int


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
    v = f.NODE_TIMES.unpack_from(p)
    times = np.frombuffer(p, NODE_TIME, v[2], f.NODE_TIMES.size)
    check_time(v[5], v[6])
    if len(times):
        check_time(int(times["start"].max()), int(times["between"].max()))
    c.node_times.append(NodeTimesRecord(v[0], v[1], v[3], v[4], v[5], v[6], times))


def _calibration(c: EventContents, p: bytes) -> None:
    c.calibrations.append(CalibrationRecord(*f.CALIBRATION.unpack(p)))


def _collector(c: EventContents, p: bytes) -> None:
    name, _, why = _text(p).partition("\n")
    c.collectors.append((name, why))


def _refused(c: EventContents, p: bytes) -> None:
    graph_id, _exec_id = f.REFUSED.unpack_from(p)
    c.refusals[graph_id] = _text(p[f.REFUSED.size :])


def _text(payload: bytes) -> str:
    return payload.decode("utf-8", "replace")


EVENT_TAKERS: dict[int, Callable[[EventContents, bytes], None]] = {
    RecordType.NODE_TIMES: _node_times,
    RecordType.CALIBRATION: _calibration,
    RecordType.COLLECTOR: _collector,
    RecordType.REFUSED: _refused,
}
