"""Times of a recording that step back, left out."""

from __future__ import annotations

import dataclasses

from gviz.recording import rows


def steps_back(start_ns: int | None, end_ns: int | None) -> bool:
    """Return whether an end lies before its start."""
    return start_ns is not None and end_ns is not None and end_ns < start_ns


def span_ns(start_ns: int | None, end_ns: int | None) -> int | None:
    """Return what lies between two times; None: one is not known, or they step back."""
    if start_ns is None or end_ns is None or end_ns < start_ns:
        return None
    return end_ns - start_ns


def sound_launch(row: rows.Launch) -> rows.Launch:
    """Return a launch without times that step back."""
    if steps_back(row.host_start_ns, row.host_end_ns):
        row = dataclasses.replace(row, host_start_ns=None, host_end_ns=None)
    if steps_back(row.gpu_start_ns, row.gpu_end_ns):
        row = dataclasses.replace(row, gpu_start_ns=None, gpu_end_ns=None)
    return row
