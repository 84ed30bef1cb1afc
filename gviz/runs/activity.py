"""GPU work as CUPTI's activity records report it: one structure for spools and for traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gviz.stats import UNKNOWN, IntArray

#: A kernel, copy, memset or host node that ran. All fields are int64: values of 32 bits can be
#: shifted and subtracted as they are. What a record does not report is UNKNOWN.
ACTIVITY = np.dtype(
    [
        ("type", "<i8"),  # CUgraphNodeType of the same work
        ("name", "<i8"),  # kernels: number of the name, which the records' source has the text of
        ("start_ns", "<i8"),
        ("end_ns", "<i8"),
        ("device_id", "<i8"),
        ("stream_id", "<i8"),
        ("correlation_id", "<i8"),  # of the call; 0 in bodies of conditional nodes
        ("exec_id", "<i8"),  # UNKNOWN outside graphs, as is the next
        ("node_id", "<i8"),  # in the executable
        ("grid", "<i8", 3),  # kernels, as are the next four
        ("block", "<i8", 3),
        ("shared_mem_bytes", "<i8"),  # dynamic
        ("static_shared_mem_bytes", "<i8"),
        ("registers", "<i8"),
        ("bytes", "<i8"),  # copies and memsets
        ("copy_kind", "<i8"),  # CUpti_ActivityMemcpyKind
    ]
)
_OF_SPANS = ("start_ns", "end_ns", "exec_id", "node_id", "correlation_id", "stream_id")
#: The fields of ACTIVITY that differ between records of one node: what spans are made of.
SPAN_ACTIVITY = np.dtype([(name, ACTIVITY[name]) for name in _OF_SPANS])
#: Rows of ACTIVITY or SPAN_ACTIVITY. Choose among them by ``take`` and ``compress``, which copy a
#: row as a whole; an index copies it field by field, in ten times the time.
Activities = npt.NDArray[np.void]

_Ids = TypeVar("_Ids", int, IntArray)


def blank_activities(count: int) -> Activities:
    """Return rows of ACTIVITY in which nothing is known."""
    found = np.empty(count, ACTIVITY)
    found.view(np.int64).fill(UNKNOWN)
    return found


def join_activities(parts: Sequence[Activities]) -> Activities:
    """Return the rows of several arrays of one dtype, at least one array, as one.

    They are joined as integers: of structures numpy copies field by field.
    """
    return np.concatenate([part.view(np.int64) for part in parts]).view(parts[0].dtype)


def span_activities(records: Activities) -> Activities:
    """Return of these records (ACTIVITY) what spans are made of (SPAN_ACTIVITY)."""
    found = np.empty(len(records), SPAN_ACTIVITY)
    for name in _OF_SPANS:
        found[name] = records[name]
    return found


def node_key(exec_id: _Ids, node_id: _Ids) -> _Ids:
    """Return one number for executable and node (of 32 bits each), as CUPTI's graphNodeId is."""
    return exec_id << 32 | node_id
