"""The records of a graph's life beyond its plain calls: failures, updates, memory."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import field
from typing import NamedTuple

from gviz.dataclass import dataclass
from gviz.spool.records import table
from gviz.spool.records.failure_records import (
    CaptureErrorRecord,
    CaptureFailedRecord,
    InstantiateFailedRecord,
    UpdateFailedRecord,
    UpdatesRecord,
)
from gviz.spool.records.format import RecordType
from gviz.spool.records.graph_walk import GraphWalk
from gviz.spool.records.memory_records import DeviceMemoryRecord
from gviz.spool.records.payload import check_sizes, check_time


class UpdatesPassed(NamedTuple):
    """A number of updates, none of them later than ``to_ns``."""

    updates: int
    to_ns: int


@dataclass(slots=True)
class LifeContents:
    """These records, in order of arrival.

    Attributes
    ----------
    updates_passed
        Those that nobody was told of, by executable, node, call, and graph of the node.
    failed_walks
        Levels of graphs that were read because something about them failed.
    captures_failed, updates_failed, instantiates_failed
        Each with the levels of its graph, the top one first; empty: not read.
    """

    capture_errors: list[CaptureErrorRecord] = field(default_factory=list)
    captures_failed: list[tuple[CaptureFailedRecord, list[GraphWalk]]] = field(default_factory=list)
    updates: list[UpdatesRecord] = field(default_factory=list)
    updates_passed: dict[tuple[int, int, int, int], UpdatesPassed] = field(default_factory=dict)
    updates_failed: list[tuple[UpdateFailedRecord, list[GraphWalk]]] = field(default_factory=list)
    instantiates_failed: list[tuple[InstantiateFailedRecord, list[GraphWalk]]] = field(
        default_factory=list
    )
    device_memory: list[DeviceMemoryRecord] = field(default_factory=list)
    runtime_call_names: dict[int, str] = field(default_factory=dict)
    failed_walks: list[GraphWalk] = field(default_factory=list)

    def forget_unknown_paths(self, known: Collection[int]) -> None:
        """Leave out references to NVTX ranges that are not known."""
        self.capture_errors = [
            error if error.nvtx_path in known else error._replace(nvtx_path=0)
            for error in self.capture_errors
        ]

    def take_walk(self, graph_id: int, walked: int) -> list[GraphWalk]:
        """Return the levels of the last failed walk of a graph, and forget them."""
        starts = [
            i
            for i, walk in enumerate(self.failed_walks)
            if walk.parent_graph_id == 0 and walk.graph_id == graph_id
        ]
        if not walked or not starts:
            return []
        begin = end = starts[-1]
        end += 1
        while end < len(self.failed_walks) and self.failed_walks[end].parent_graph_id != 0:
            end += 1
        levels = self.failed_walks[begin:end]
        del self.failed_walks[begin:end]
        return levels


def _capture_error(life: LifeContents, p: bytes) -> None:
    record = table.CAPTURE_ERROR.unpack(p)
    check_time(record.start_ns, record.time_ns)
    life.capture_errors.append(record)


def _capture_failed(life: LifeContents, p: bytes) -> None:
    record = table.CAPTURE_FAILED.unpack(p)
    check_time(record.start_ns, record.end_ns)
    life.captures_failed.append((record, life.take_walk(record.graph_id, record.flags)))


def _updates(life: LifeContents, p: bytes) -> None:
    record = table.UPDATES.unpack(p)
    check_time(record.first_ns, record.last_ns, record.total_ns)
    life.updates.append(record)


def _updates_passed(life: LifeContents, p: bytes) -> None:
    record = table.UPDATES_PASSED.unpack(p)
    key = (record.exec_id, record.node_id, record.call, record.graph_id)
    check_time(record.to_ns)
    known = life.updates_passed.get(key, UpdatesPassed(0, 0))
    life.updates_passed[key] = UpdatesPassed(
        known.updates + record.updates, max(known.to_ns, record.to_ns)
    )


def _update_failed(life: LifeContents, p: bytes) -> None:
    record = table.UPDATE_FAILED.unpack(p)
    check_time(record.start_ns, record.end_ns)
    life.updates_failed.append((record, life.take_walk(record.graph_id, record.walked)))


def _instantiate_failed(life: LifeContents, p: bytes) -> None:
    record = table.INSTANTIATE_FAILED.unpack(p)
    check_time(record.start_ns, record.end_ns)
    life.instantiates_failed.append((record, life.take_walk(record.graph_id, record.walked)))


def _device_memory(life: LifeContents, p: bytes) -> None:
    record = table.DEVICE_MEMORY.unpack(p)
    check_sizes(record.free_before, record.free_after)
    life.device_memory.append(record)


def _runtime_call_name(life: LifeContents, p: bytes) -> None:
    record = table.RUNTIME_CALL_NAME.unpack(p)
    life.runtime_call_names[record.call] = record.name


LIFE_TAKERS: dict[int, Callable[[LifeContents, bytes], None]] = {
    RecordType.CAPTURE_ERROR: _capture_error,
    RecordType.CAPTURE_FAILED: _capture_failed,
    RecordType.UPDATES: _updates,
    RecordType.UPDATES_PASSED: _updates_passed,
    RecordType.UPDATE_FAILED: _update_failed,
    RecordType.INSTANTIATE_FAILED: _instantiate_failed,
    RecordType.DEVICE_MEMORY: _device_memory,
    RecordType.RUNTIME_CALL_NAME: _runtime_call_name,
}
