"""Records of the host: calls of the driver and the runtime, launches, NVTX ranges."""

from __future__ import annotations

from typing import NamedTuple

from gviz.spool.records.structure import I32, U32, U64, Text


class CallNameRecord(NamedTuple):
    """The name of a driver call, by its number."""

    call: U32
    name: Text = ""


class RuntimeCallNameRecord(NamedTuple):
    """The name of a runtime call, by its number."""

    call: U32
    name: Text = ""


class CallRecord(NamedTuple):
    """A launch, copy or memset call."""

    call: U32
    correlation: U32
    start_ns: U64
    end_ns: U64
    thread_id: U32
    result: I32


class LifeRecord(NamedTuple):
    """A driver call of a graph's life.

    Attributes
    ----------
    flags
        of cuGraphClone: the id of the copy
    """

    call: U32
    correlation: U32
    start_ns: U64
    end_ns: U64
    thread_id: U32
    result: I32
    graph_id: U32
    exec_id: U32
    flags: U64
    stream_id: U32
    mode: U32


class LaunchRecord(NamedTuple):
    """A cuGraphLaunch call.

    Attributes
    ----------
    flags
        LAUNCH_*
    token
        of the events around it
    """

    exec_id: U32
    correlation: U32
    start_ns: U64
    end_ns: U64
    thread_id: U32
    result: I32
    stream_id: U32
    flags: U32
    token: U64


class LaunchTimeRecord(NamedTuple):
    """GPU time between the events around a launch."""

    token: U64
    duration_ns: U64


class LaunchesPassedRecord(NamedTuple):
    """Launches of an executable of which only the number is known.

    Attributes
    ----------
    from_ns
        when the launch before them was recorded
    to_ns
        none of them is later
    """

    exec_id: U32
    launches: U32
    from_ns: U64
    to_ns: U64


class VisitedRecord(NamedTuple):
    """A launch in a window that CUPTI came for: its ids, and CUPTI's."""

    exec_id: U32
    correlation: U32
    cupti_exec_id: U32
    cupti_correlation: U32


class NvtxPathRecord(NamedTuple):
    """A text of NVTX ranges, below those that were open around it.

    Attributes
    ----------
    text
        domain, newline, text
    """

    path_id: U32
    parent_id: U32
    text: Text = ""


class NvtxRangeRecord(NamedTuple):
    """An NVTX range that has ended."""

    path_id: U32
    thread_id: U32
    start_ns: U64
    end_ns: U64
