"""Changes of times as parts of lines: by how much, by what share, and whether beyond noise."""

from __future__ import annotations

from dataclasses import replace

from gviz.comparison import GraphDiff, TimeChange
from gviz.report.document import Content, Quantity, change, line, ns
from gviz.stats import CuptiState, Evidence, worst_of
from gviz.text import MISSING


def launch_evidence(graph: GraphDiff) -> Evidence:
    """Return what the times of launches of both sides rest on."""
    sides = [x for x in (graph.before_evidence, graph.after_evidence) if x is not None]
    return worst_of(sides) if sides else Evidence("derived", 0)


def node_evidence(graph: GraphDiff) -> Evidence:
    """Return what the times of nodes of both sides rest on."""
    found = graph.first_to_last
    counts = (
        (found.launches_before, found.launches_after)
        if isinstance(found, TimeChange)
        else (launch_evidence(graph).n,)
    )
    return Evidence("derived", min(counts), state=CuptiState.RECORDED)


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
    tested = _tested(time)
    return line(tested, _share(time.change_ns, time.before_ns, tested.n))


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
    n = min(time.launches_before, time.launches_after) or None
    return Quantity(time.change_ns, "ns", "derived", n, interval=ends, is_change=True)


def _share(change_ns: float, before_ns: float | None, n: int | None = None) -> Content:
    if not before_ns:
        return ""
    return (" (", replace(change(change_ns / before_ns, "fraction"), n=n), ")")
