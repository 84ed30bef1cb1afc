"""Priorities of gviz's own threads beside those that somebody waits for."""

from __future__ import annotations

import os
import sys
import threading

#: How much nicer threads are that nobody waits for, and the most that there is (Linux, nice(2)).
_NICER = 10
_NICEST = 19


def lower_priority() -> None:
    """Let other threads go before the calling one, from now on, where cores are few.

    On Linux alone a thread has a priority of its own.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        niceness = os.getpriority(os.PRIO_PROCESS, thread) + _NICER
        os.setpriority(os.PRIO_PROCESS, thread, min(niceness, _NICEST))
