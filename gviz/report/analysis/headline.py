"""The headline of a graph: its time and where that goes, the best finding, eager, in one line."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from gviz.analysis import (
    Breakdown,
    GraphAnalysis,
    LaunchBreakdown,
    StreamResult,
    StripIntervals,
)
from gviz.dataclass import dataclass
from gviz.report.analysis.verdict import best_finding, data_finding, gain_basis
from gviz.report.document import (
    Content,
    Line,
    based_line,
    basis_text,
    bounded,
    caveat_text,
    contradictions_text,
    count_text,
    give_or_take,
    line,
    ns,
    plain,
    resting_on,
    share,
    times,
)
from gviz.stats import Evidence, NotComputed
from gviz.text import counted, duration

#: What a part is about that is no node.
About = Literal["", "idle", "eager"]
#: Blocks that are named; the others are one.
_NAMED = 4


@dataclass(frozen=True, slots=True)
class HeadlinePart:
    """A part of a headline, and what it is about.

    Attributes
    ----------
    content
        Its text, which joins the next one's.
    block
        Row and block of the breakdown's strip; None: of none.
    places
        Nodes, by their places in the graph's tree.
    about
        What it is about that is no node: ``idle`` time, or ``eager`` work; empty: neither.
    """

    content: Line
    block: tuple[int, int] | None = None
    places: tuple[int, ...] = ()
    about: About = ""


@dataclass(frozen=True, slots=True)
class GraphHeadline:
    """The first line on a graph.

    Attributes
    ----------
    parts
        In the order in which they are read.
    caveats
        What in its records makes it doubtful, one sentence each.
    """

    parts: tuple[HeadlinePart, ...]
    caveats: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the line as text."""
        return "".join(plain(part.content) for part in self.parts)


def headline_of(
    graph: GraphAnalysis,
    found: LaunchBreakdown | NotComputed,
    intervals: StripIntervals | None = None,
) -> GraphHeadline:
    """Return the headline of a graph.

    Parameters
    ----------
    graph
        Its analysis.
    found
        The breakdown of its median launch.
    intervals
        Of the strip's blocks, to stand behind their times; None: not computed.
    """
    if isinstance(found, NotComputed):
        parts = [HeadlinePart(_undivided(graph, found))]
    else:
        length = _length(graph, found, has_intervals=intervals is not None)
        blocks = [HeadlinePart(length), *_blocks(found, intervals)]
        parts = [replace(x, content=based_line(x.content, found.evidence)) for x in blocks]
        parts += _finding(graph)
    parts += _against_eager(graph.stream_comparison)
    parts += _data(graph)
    return GraphHeadline(tuple(parts), graph.doubts)


def _undivided(graph: GraphAnalysis, found: NotComputed) -> Line:
    why = f"Where the time of a launch goes is not known: {found.not_computed}."
    if isinstance(graph.launch, NotComputed):
        return line(why)
    evidence = graph.launch.evidence
    length = resting_on(ns(graph.launch.median_ns, evidence.how), evidence)
    return line(length, f" ({basis_text(evidence)}). ", why)


def _length(graph: GraphAnalysis, found: LaunchBreakdown, *, has_intervals: bool) -> Line:
    """Return how long a launch takes; its noise is its interval, or stands in its basis."""
    reach = graph.noise_ns if has_intervals else None
    noise = "" if has_intervals or graph.noise_ns is None else f", ±{duration(graph.noise_ns)}"
    caveats = _caveats(found.evidence)
    if found.has_gaps:
        basis = f"{basis_text(found.evidence)}{noise}{caveats}"
        return line(give_or_take(ns(found.strip.launch_ns), reach), f" ({basis}): ")
    nodes = f"nodes by event copies ({count_text(found.evidence)}{caveats}): "
    launch = graph.launch
    if isinstance(launch, NotComputed):
        return line(nodes)
    length = give_or_take(ns(launch.median_ns, launch.evidence.how), reach)
    basis = f"{basis_text(launch.evidence)}{noise}"
    return line(resting_on(length, launch.evidence), f" ({basis}); {nodes}")


def _caveats(evidence: Evidence) -> str:
    """Return what may make the times wrong besides the state they were taken in."""
    rest = caveat_text(replace(evidence, state=None, contradiction_count=0))
    return (f"; {rest}" if rest else "") + contradictions_text(evidence)


def _blocks(found: LaunchBreakdown, intervals: StripIntervals | None) -> list[HeadlinePart]:
    """Return the widest blocks of the first row that divides the launch, and what is idle."""
    strip = found.strip
    parts: list[HeadlinePart] = []
    row = next((at for at, row in enumerate(strip.rows) if len(row) > 1), len(strip.rows) - 1)
    blocks = strip.rows[row]
    order = sorted(range(len(blocks)), key=lambda at: -blocks.width_ns[at])
    for at in order[:_NAMED]:
        known = None if intervals is None else intervals.rows[row][at]
        width = ns(float(blocks.width_ns[at]), interval=known)
        parts += [HeadlinePart(line(", "))] if parts else []
        parts.append(HeadlinePart(line(_label(strip, row, at), " ", width), block=(row, at)))
    others = order[_NAMED:]
    if others:
        rest = float(sum(blocks.width_ns[at] for at in others))
        parts.append(HeadlinePart(line(f", {counted(len(others), 'other')} ", ns(rest))))
    if found.has_gaps:
        idle = strip.idle_ns / strip.launch_ns if strip.launch_ns else 0.0
        known = None if intervals is None else intervals.idle
        content = line("idle ", ns(strip.idle_ns, interval=known), " (", share(idle), ")")
        parts += [HeadlinePart(line(", ")), HeadlinePart(content, about="idle")]
    parts.append(HeadlinePart(line(". ")))
    return parts


def _label(strip: Breakdown, row: int, at: int) -> str:
    """Return the label of a block; of one without that of the block above."""
    label = strip.rows[row].labels[at]
    if label or not row:
        return label or "the rest"
    return f"the rest of {_label(strip, row - 1, int(strip.rows[row].parent[at]))}"


def _finding(graph: GraphAnalysis) -> list[HeadlinePart]:
    content: Content = best_finding(graph).content
    found = graph.findings.findings
    if not found:
        return [HeadlinePart(line(content, " "))]
    return [
        HeadlinePart(line(content), places=found[0].places),
        HeadlinePart(line(" ")),
    ]


def _data(graph: GraphAnalysis) -> list[HeadlinePart]:
    """Return what is wrong with its data; nothing where that is not known."""
    found = data_finding(graph)
    if found is None or isinstance(graph.data_findings, NotComputed):
        return []
    places = tuple(place for one in graph.data_findings for place in one.places)
    return [HeadlinePart(line(" ")), HeadlinePart(line(found.content), places=places)]


def _against_eager(found: StreamResult | NotComputed) -> list[HeadlinePart]:
    """Return how much faster than eager the graph is; nothing where eager is not recorded."""
    if isinstance(found, NotComputed) or not found.headline.graph_ns:
        return []
    gain, basis = found.headline, f" ({gain_basis(found)})."
    low, high = gain.saved.interval.low, gain.saved.interval.high
    if low is not None and high is not None and low <= 0 <= high:
        return [HeadlinePart(line("It is as fast as eager within noise", basis), about="eager")]
    if gain.saved.mean_ns < 0:
        slower = times(gain.graph_ns / gain.eager_ns if gain.eager_ns else None)
        return [HeadlinePart(line("It is ", slower, " slower than eager", basis), about="eager")]
    faster = bounded(times(gain.eager_ns / gain.graph_ns), gain.evidence)
    content = line("It is ", resting_on(faster, gain.evidence), " faster than eager", basis)
    return [HeadlinePart(content, about="eager")]
