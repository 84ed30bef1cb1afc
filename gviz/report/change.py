"""Changes of durations as a person reads them."""

from __future__ import annotations

from gviz.comparison import TimeChange
from gviz.text import MISSING, signed_duration, signed_percent


def format_change(change: TimeChange) -> str:
    """Return by how much something changed, and by what share."""
    return MISSING if change.change_ns is None else format_shift(change.change_ns, change.before_ns)


def format_shift(ns: float, before_ns: float | None) -> str:
    """Return a change with its share of the time before."""
    share = f" {signed_percent(ns / before_ns)}" if before_ns else ""
    return signed_duration(ns) + share


def describe_noise(change: TimeChange) -> str:
    """Return whether a change is more than noise, with its interval."""
    if change.low_ns is None or change.high_ns is None:
        return "not tested"
    interval = f"{signed_duration(change.low_ns)} to {signed_duration(change.high_ns)}"
    return interval if change.significant else f"{interval}: noise"
