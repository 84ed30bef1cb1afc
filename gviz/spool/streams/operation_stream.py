"""Work outside graphs that events timed, as it comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.cuda import CopyKind, NodeType
from gviz.runs import Activities, blank_activities
from gviz.spool.records import OUTSIDE_GRAPHS, CalibrationRecord, FunctionRecord
from gviz.stats import UNKNOWN, BoolArray, distinct_values

_SAME = (
    "type", "device_id", "grid", "block", "shared_mem_bytes", "bytes", "start_ns", "end_ns",
)  # fmt: skip


class OperationStream:
    """Operations of OPERATIONS records: the first ``limit`` of them.

    Attributes
    ----------
    left_out
        Operations beyond those.
    """

    def __init__(self, limit: int) -> None:
        self.left_out = 0
        self._room = limit
        self._parts: list[npt.NDArray[Any]] = []

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    @property
    def at_most(self) -> int:
        """Number that began when their call had returned: the GPU waited for the host."""
        return sum(int((part["after_call"] != 0).sum()) for part in self._parts)

    def add(self, operations: npt.NDArray[Any]) -> None:
        """Take the operations of a record in (dtype OPERATION)."""
        kept = operations[: self._room]
        self.left_out += len(operations) - len(kept)
        self._room -= len(kept)
        if len(kept):
            self._parts.append(kept)

    def activities(
        self, functions: Mapping[int, FunctionRecord], calibrations: Sequence[CalibrationRecord]
    ) -> Activities:
        """Return them as ACTIVITY, ordered by start; of kernels ``name`` is the function's key.

        What two events around a call add is taken off: of a kernel on that GPU, as measured.
        """
        if not self._parts:
            return blank_activities(0)
        given = np.concatenate(self._parts)
        found = blank_activities(len(given))
        for name in _SAME:
            found[name] = given[name]
        for name, missing in (("stream_id", 0xFFFFFFFF), ("copy_kind", CopyKind.UNKNOWN)):
            found[name] = np.where(given[name] == missing, UNKNOWN, given[name].astype(np.int64))
        found["correlation_id"] = given["correlation"]
        self._describe_kernels(found, given["function"], functions)
        _take_off_bias(found, given["after_call"] != 0, calibrations)
        return found.take(np.argsort(found["start_ns"], kind="stable"))

    @staticmethod
    def _describe_kernels(
        found: Activities, keys: npt.NDArray[Any], functions: Mapping[int, FunctionRecord]
    ) -> None:
        is_kernel = found["type"] == NodeType.KERNEL
        found["name"][is_kernel] = keys[is_kernel].astype(np.int64)
        for name in ("grid", "block", "shared_mem_bytes"):
            found[name][~is_kernel] = UNKNOWN
        for key in distinct_values(keys[is_kernel]).tolist():
            function = functions.get(key)
            if function is not None:
                mine = is_kernel & (keys == key)
                found["registers"][mine] = function.registers
                found["static_shared_mem_bytes"][mine] = function.static_shared_bytes


def _take_off_bias(
    found: Activities, is_after_call: BoolArray, calibrations: Sequence[CalibrationRecord]
) -> None:
    """Take off what the event after the work adds, and the one before it where it counts."""
    for calibration in calibrations:
        if calibration.type == OUTSIDE_GRAPHS:
            mine = found["device_id"] == calibration.device_id
            before_ns = calibration.bias_ns // 2
            start = found["start_ns"] + np.where(is_after_call, 0, before_ns)
            end = np.maximum(found["end_ns"] - (calibration.bias_ns - before_ns), start)
            found["start_ns"] = np.where(mine, start, found["start_ns"])
            found["end_ns"] = np.where(mine, end, found["end_ns"])
