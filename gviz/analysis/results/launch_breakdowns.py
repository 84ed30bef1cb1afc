"""Breakdowns of a graph's median launch: three rows for a strip, and all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gviz.analysis.evidence import span_evidence
from gviz.analysis.launch import Breakdown, break_down
from gviz.analysis.node_families import NamedFamilies
from gviz.analysis.node_levels import node_levels
from gviz.analysis.subject import GraphSubject
from gviz.model import LaunchSpans
from gviz.stats import Evidence, NotComputed, figure

#: Rows of the short form, families included.
_STRIP_ROWS = 3


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


def _end_to_end(spans: LaunchSpans) -> LaunchSpans:
    """Return spans one after the other: their starts are those of an instrumented copy."""
    length = spans.end_ns - spans.start_ns
    end = np.cumsum(length)
    return replace(spans, start_ns=end - length, end_ns=end)
