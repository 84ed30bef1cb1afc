"""Breakdowns of a graph's median launch: three rows for a strip, and all rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gviz.analysis.evidence import span_evidence
from gviz.analysis.launch import Breakdown, break_down, parts_of_launch
from gviz.analysis.node_families import NamedFamilies
from gviz.analysis.node_levels import node_levels
from gviz.analysis.results.launch_sums import bounds_of, column_sums
from gviz.analysis.subject import GraphSubject
from gviz.dataclass import dataclass
from gviz.model import LaunchSpans
from gviz.stats import Evidence, Interval, NotComputed, figure

#: Rows of the short form, families included.
_STRIP_ROWS = 3


@dataclass(frozen=True, slots=True)
class StripIntervals:
    """The 95% intervals of the blocks of a strip: of each row its blocks', and of idle time."""

    rows: tuple[tuple[Interval, ...], ...]
    idle: Interval


@dataclass(frozen=True, slots=True)
class LaunchBreakdown:
    """The time of the median launch in blocks."""

    strip: Breakdown = figure(
        "derived", "in three rows: the two coarsest levels there are, and families"
    )
    whole: Breakdown = figure("derived", "by phase, layers, layer, module, operation and family")
    has_gaps: bool = figure(
        "stated",
        "whether starts are the graph's own; else blocks are sums of durations, without idle time",
    )
    families: NamedFamilies = figure("stated", "families of all nodes, timed or not")
    evidence: Evidence = figure("stated", "what it rests on")


def launch_breakdown(subject: GraphSubject) -> LaunchBreakdown | NotComputed:
    """Return the breakdown of a graph's median launch."""
    if subject.why_no_times:
        return NotComputed(subject.why_no_times)
    levels = node_levels(subject)
    has_gaps = subject.why_no_order is None
    spans = subject.spans if has_gaps else _end_to_end(subject.spans)
    # Single layers are many and narrow: the strip has them together.
    coarse = [level for level in levels[:-1] if level.name != "layer"][: _STRIP_ROWS - 1]
    return LaunchBreakdown(
        strip=break_down((*coarse, levels[-1]), spans),
        whole=break_down(levels, spans),
        has_gaps=has_gaps,
        families=subject.named_families,
        evidence=subject.once(span_evidence),
    )


def strip_intervals(subject: GraphSubject, found: LaunchBreakdown) -> StripIntervals:
    """Return the intervals of the blocks of a graph's strip, from its launches one by one."""
    strip, launches = found.strip, subject.timed_launches
    each = np.zeros((len(launches), len(subject.graph)))
    idle = np.zeros((len(launches), 1))
    for at, launch in enumerate(launches):
        spans = launch.spans if found.has_gaps else _end_to_end(launch.spans)
        width, idle[at] = parts_of_launch(spans)
        each[at] = np.bincount(spans.node, width, minlength=len(subject.graph))
        if subject.is_timed_by_copy:  # it may have timed a part of the nodes
            each[at, np.setdiff1d(strip.node, spans.node)] = np.nan
    rows = []
    for row in strip.rows:
        block = np.repeat(np.arange(len(row)), row.end - row.first)
        rows.append(bounds_of(column_sums(each[:, strip.node], block), row.width_ns).each())
    (of_idle,) = bounds_of(idle, np.array([strip.idle_ns])).each()
    return StripIntervals(tuple(rows), of_idle)


def _end_to_end(spans: LaunchSpans) -> LaunchSpans:
    """Return spans one after the other: their starts are those of an instrumented copy."""
    length = spans.end_ns - spans.start_ns
    end = np.cumsum(length)
    return replace(spans, start_ns=end - length, end_ns=end)
