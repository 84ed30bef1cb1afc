"""The gate of this process, through ctypes, for programs of tests that run behind it."""

from __future__ import annotations

import ctypes
import time

ANSWERS = ("ran", "busy", "backing off", "forbidden", "unknown", "taken", "overran")


class _Counts(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("closed", "busy", "held", "overrun")),
        *((name, ctypes.c_uint64) for name in ("longest_hold_ns", "polled")),
        *((name, ctypes.c_uint64) for name in ("without_stub", "without_mark")),
        ("busy_with", ctypes.c_char * 64),
    ]


class _Api(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("run_closed", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("is_inside", ctypes.CFUNCTYPE(ctypes.c_bool)),
        ("read_counts", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Counts))),
    ]


class Gate:
    """The gate that was preloaded."""

    def __init__(self) -> None:
        process = ctypes.CDLL(None)
        self._api = _Api.in_dll(process, "gviz_gate")
        self._work = ctypes.cast(process.sched_yield, ctypes.c_void_p)

    def close(self) -> str:
        """Close it for a moment; return how that went: ran, or what was in the way."""
        answer = "backing off"
        while answer == "backing off":
            time.sleep(0.001)
            answer = ANSWERS[self._api.run_closed(self._work, None)]
        return self.counts.busy_with.decode() if answer == "busy" else answer

    def close_within(self, seconds: float) -> str:
        """Try until it has closed, or that long; return how the last one went."""
        end = time.monotonic() + seconds
        answer = self.close()
        while answer != "ran" and time.monotonic() < end:
            answer = self.close()
        return answer

    @property
    def counts(self) -> _Counts:
        """Counts of what the gate did."""
        counts = _Counts()
        self._api.read_counts(ctypes.byref(counts))
        return counts
