"""The run around a graph: whether a graph would help, and how much of the run lies in graphs."""

from __future__ import annotations

from gviz.analysis import EagerForecast, GraphShare, RunForecast
from gviz.report.document import (
    Block,
    Content,
    Sentence,
    average,
    caveat_text,
    change,
    column,
    line,
    not_computed,
    ns,
    number,
    numbers,
    say,
    share,
    table,
    times,
)
from gviz.stats import NotComputed
from gviz.text import counted

#: Kinds of eager iterations that are listed, and those of the short form.
_LISTED, _BRIEF = 12, 8


def forecast(found: RunForecast) -> list[Block]:
    """Return what graphs of the run's eager iterations would take."""
    # Cells that each said so would not fit beside each other.
    is_at_most = any(one.evidence.is_at_most for one in found.passes)
    eager, gain = ("At most", "Gain at most") if is_at_most else ("Measured", "Gain")
    took = any(one.measured_graph_ns is not None for one in found.passes)
    columns = [
        column("Eager iterations"), numbers("Operations"),
        numbers(eager, "First operation's start to last one's end, median"),
        numbers("As a graph", "Gaps closed to what lies between a graph's nodes"),
        numbers(gain), numbers("Launch call", "At least", detail=True),
        numbers("Then took", "The graph as it was recorded", detail=not took),
        numbers("Error", "Of the forecast; below 0 it is too low", detail=not took),
    ]  # fmt: skip
    listed = found.passes[:_LISTED]
    blocks: list[Block] = [
        table(
            "What graphs of the eager iterations would take",
            columns,
            [_row(x) for x in listed],
            brief=_BRIEF,
            left_out=len(found.passes) - len(listed),
            row_noun=("more kind of iterations", "more kinds of iterations"),
        ),
        say(
            f"{eager}: the median iteration as it was recorded. As a graph: its busy time, with "
            "every gap closed to what the launch costs have between the nodes of a graph.",
            note=True,
        ),
    ]
    if any(one.collective_count for one in found.passes):
        waits = (
            "At least: a collective counts with what the shortest equal one took; what others took "
            "longer is taken for waiting for other processes, which 'gviz skew' shows."
        )
        blocks.append(say(waits, note=True))
    if found.left_over_count:
        left = counted(found.left_over_count, "operation")
        outside = f"{left} outside graphs are in no iteration with a kernel."
        blocks.append(say(outside, note=True))
    return blocks


def _row(found: EagerForecast) -> list[Content]:
    name = f"{found.pass_count:,}"
    if found.graph_id is not None:
        name += f" over the work of graph {found.graph_id}"
    if found.range is not None:
        name += f", {found.range}"
    elif found.graph_id is None:
        name += f" of {counted(found.block_count, 'block')}"
    caveat = caveat_text(found.evidence)
    if found.collective_count:
        waits = counted(found.collective_count, "collective")
        caveat += f"; {waits}, whose waiting for other processes is left out"
    graph = ns(found.graph_ns, "estimated", n=found.evidence.n, caveat=caveat)
    bound = _bound(is_above=found.evidence.is_cold, is_below=bool(found.collective_count))
    return [
        name, number(found.operation_count), ns(found.stream_ns, "measured"),
        line(bound, graph), times(found.gain, "estimated"),
        ns(found.graph_host_ns, "estimated"), ns(found.measured_graph_ns, "measured"),
        change(found.error_fraction, "fraction"),
    ]  # fmt: skip


def _bound(*, is_above: bool, is_below: bool) -> str:
    """Return how a forecast lies to the truth: a cold iteration above, one without waits below."""
    if is_above == is_below:
        return ""
    return "at most " if is_above else "at least "


def graph_share(found: GraphShare | NotComputed) -> Sentence:
    """Return how much of the run lies in graphs, and what that leaves to gain."""
    if isinstance(found, NotComputed):
        return not_computed(found, "share of the run in graphs")
    parts = line(
        "Launches fill ", share(found.gpu_fraction, "estimated"), " of the run's ",
        ns(found.run_ns, "stated"), " on the GPU, their calls, with what "
        "they wait for a full queue, ", share(found.host_fraction, "estimated"), " on the host",
    )  # fmt: skip
    if found.most_speedup is not None:
        parts = line(
            parts, "; if launches took no time at all the run would be ",
            average(found.most_speedup, "estimated"), " times as fast (Amdahl)",
        )  # fmt: skip
    parts = line(parts, ".")
    if found.recorded_fraction is not None:
        parts = line(
            parts, " Of the node time in recorded windows ", share(found.recorded_fraction),
            " lies in graphs; windows are open while a program warms up, so that is no share of "
            "the run.",
        )  # fmt: skip
    return say(parts)
