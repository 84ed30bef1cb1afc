"""Changes of durations as a person reads them."""

from __future__ import annotations

from gviz.comparison import TimeChange
from gviz.report.quantity import format_ns


def format_signed_ns(ns: float) -> str:
    """Return a duration with its sign; nothing changed has none."""
    if not ns:
        return "0 ns"
    return f"{'-' if ns < 0 else '+'}{format_ns(abs(ns))}"


def format_change(change: TimeChange) -> str:
    """Return by how much something changed, and by what share; ``-`` where that is not known."""
    return "-" if change.change_ns is None else format_shift(change.change_ns, change.before_ns)


def format_shift(ns: float, before_ns: float | None) -> str:
    """Return a change with its share of the time before."""
    share = f" {ns / before_ns:+.1%}" if before_ns else ""
    return format_signed_ns(ns) + share


def describe_noise(change: TimeChange) -> str:
    """Return whether a change is more than noise, with its interval."""
    if change.low_ns is None or change.high_ns is None:
        return "not tested"
    interval = f"{format_signed_ns(change.low_ns)} to {format_signed_ns(change.high_ns)}"
    return interval if change.significant else f"{interval}: noise"
