"""Changes of times as parts of lines: by how much, by what share, and whether beyond noise."""

from __future__ import annotations

from gviz.comparison import TimeChange
from gviz.report.document import Content, Quantity, change, line, ns
from gviz.text import MISSING


def before(time: TimeChange) -> Quantity:
    """Return the time before."""
    return ns(time.before_ns, n=time.launches_before or None)


def after(time: TimeChange) -> Quantity:
    """Return the time after."""
    return ns(time.after_ns, n=time.launches_after or None)


def shift(time: TimeChange) -> Content:
    """Return by how much a time changed, and by what share."""
    if time.change_ns is None:
        return change(None)
    return line(_tested(time), _share(time.change_ns, time.before_ns))


def shift_of(change_ns: float, before_ns: float | None) -> Content:
    """Return a change that no test was made of, with its share of the time before."""
    return line(change(change_ns), _share(change_ns, before_ns))


def interval(time: TimeChange) -> str:
    """Return the 95% interval of a change."""
    return _tested(time).interval_text or MISSING


def sign(time: TimeChange) -> str:
    """Return the arrow of a change by more than noise; empty of others."""
    if not time.significant or not time.change_ns:
        return ""
    return "▲ " if time.change_ns > 0 else "▼ "


def change_verdict(time: TimeChange) -> str:
    """Return whether a change is more than noise, in a word or two."""
    if time.change_ns is None:
        return "not timed in both"
    if time.untested:
        return "not tested"
    if not time.significant or not time.change_ns:
        return "within noise"
    return "slower" if time.change_ns > 0 else "faster"


def _tested(time: TimeChange) -> Quantity:
    ends = None
    if time.low_ns is not None and time.high_ns is not None:
        ends = time.low_ns, time.high_ns
    return Quantity(time.change_ns, "ns", "derived", interval=ends, is_change=True)


def _share(change_ns: float, before_ns: float | None) -> Content:
    return (" (", change(change_ns / before_ns, "fraction"), ")") if before_ns else ""
