"""Launches that waited for the one before them: their time counts from that one's end."""

from __future__ import annotations

from gviz.recording import rows


def waited_until(launch: rows.Launch, before: rows.Launch | None) -> int | None:
    """Return when the launch before ended, if this one was called earlier; None: it was not.

    A program that launches without waiting puts launches in a queue. The time in the queue is
    that of the launches before, not of this one.
    """
    if before is None or launch.host_start_ns is None or before.gpu_end_ns is None:
        return None
    return before.gpu_end_ns if before.gpu_end_ns > launch.host_start_ns else None


def may_have_waited(launch: rows.Launch, before: rows.Launch | None) -> bool:
    """Return whether a launch waited, or the one before may have been running for all we know."""
    if before is None or launch.host_start_ns is None:
        return False
    if before.gpu_end_ns is not None:
        return before.gpu_end_ns > launch.host_start_ns
    if before.host_end_ns is None or not before.event_duration_ns:
        return False
    # It ended no earlier than its own time after its call.
    return before.host_end_ns + before.event_duration_ns > launch.host_start_ns
