"""Decoded records of a run: devices, periods, and driver calls."""

from __future__ import annotations

from typing import NamedTuple


class DeviceRecord(NamedTuple):
    """A GPU."""

    ordinal: int
    major: int
    minor: int
    multiprocessors: int
    max_threads: int
    memory_bytes: int
    bus_id: str
    name: str


class PeriodRecord(NamedTuple):
    """gviz begins or ends to record; ``profiler``: whom CUPTI was left to."""

    time_ns: int
    begins: int
    reason: int
    profiler: str


class LifeRecord(NamedTuple):
    """A driver call of a graph's life."""

    call: int
    correlation: int
    start_ns: int
    end_ns: int
    thread_id: int
    result: int
    graph_id: int
    exec_id: int
    flags: int
    stream_id: int
    mode: int


class CallRecord(NamedTuple):
    """A launch, copy or memset call."""

    call: int
    correlation: int
    start_ns: int
    end_ns: int
    thread_id: int
    result: int
