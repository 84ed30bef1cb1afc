"""``gviz info``: what is in a recording, as text for people or JSON for programs."""

from __future__ import annotations

import argparse
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from gviz.cli.recording_path import file_path, find_recording
from gviz.cuda import WHOLE_ONLY
from gviz.errors import NO_GRAPH
from gviz.recording import Recording, rows
from gviz.report import (
    SLOWEST_COUNT,
    GraphSummary,
    LaunchSummary,
    RecordingSummary,
    RunSummary,
    StreamSummary,
    describe_failures,
    describe_life,
    summarize,
)
from gviz.text import byte_size, counted, duration, percent, render_table, with_unit, wrapped

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Nodes whose parameters are listed; a captured loop may hold thousands of host functions.
_PARAMETER_LINES = 8
#: What a launch's two sides are called on the screen.
_SIDES = {"graph": "graph launches", "stream": "the same work by stream calls"}


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz info``."""
    parser = subparsers.add_parser(
        "info",
        help="say what is in a recording",
        description="Say what is in a recording: runs, graphs, launches, slowest nodes, and "
        "what measuring cost. The spool left over by a process that was killed is turned "
        "into a recording first.",
    )
    parser.add_argument("recording", type=file_path, help="a .gviz file, or a left-over spool")
    parser.add_argument(
        "--slowest",
        type=_count,
        default=SLOWEST_COUNT,
        metavar="N",
        help=f"how many of each graph's slowest nodes to list (default {SLOWEST_COUNT})",
    )
    parser.add_argument("--json", action="store_true", help="print JSON; docs/info.md has the keys")


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Print the summary of a recording; return 0."""
    with Recording(find_recording(arguments.recording)) as recording:
        summary = summarize(recording, slowest=arguments.slowest)
    if arguments.json:
        print(json.dumps(to_json(summary), indent=2))
    else:
        print(render(summary, shutil.get_terminal_size((100, 24)).columns))
    return 0


def to_json(summary: RecordingSummary) -> dict[str, object]:
    """Return the summary as JSON values; the keys are the field names of gviz.report.summary."""
    return asdict(summary)


def render(summary: RecordingSummary, width: int) -> str:
    """Return the summary as text, no line longer than ``width`` where that can be."""
    size = byte_size(summary.size_bytes)
    lines = [f"{summary.path}: {counted(len(summary.runs), 'run')}, {size}"]
    for run_summary in summary.runs:
        lines += ["", *_render_run(run_summary, width)]
    return "\n".join(lines)


def _render_run(summary: RunSummary, width: int) -> Iterator[str]:
    run = summary.run
    yield f"run {run.run_id}: {run.name} ({run.state})"
    yield from _wrapped(_facts_of(summary), width)
    failed = list(describe_failures(summary))
    if failed:
        yield ""
        yield "  what failed, or could be saved"
        yield from _wrapped(failed, width, indent=4)
    for graph in summary.graphs:
        yield ""
        yield from _render_graph(graph, width)
    if not summary.graphs:
        yield f"  {NO_GRAPH}"
    if summary.graph_memory:
        yield ""
        yield from _wrapped([_describe_graph_memory(s) for s in summary.graph_memory], width)
    if summary.stream_operations is not None:
        yield ""
        yield from _wrapped([_describe_stream(summary.stream_operations)], width)
    yield ""
    yield from _render_trust(summary, width)


def _facts_of(summary: RunSummary) -> list[str]:
    run = summary.run
    facts = []
    if run.command is not None:
        facts.append(f"command: {run.command}")
    where = [f"on {run.host}"] if run.host else []
    where += [f"process {run.process_id}"] if run.process_id is not None else []
    where += [f"rank {run.rank}"] if run.rank is not None else []
    where += [f"took {duration(summary.duration_ns)}"] if summary.duration_ns is not None else []
    where += [f"exit code {run.exit_code}"] if run.exit_code is not None else []
    if where:
        facts.append(", ".join(where))
    facts += [f"GPU {device.device_id}: {device.name}" for device in summary.devices]
    versions = [f"CUDA {run.driver_version}"] if run.driver_version else []
    versions += [f"{name} {version}" for name, version in summary.libraries.items()]
    if versions:
        facts.append(f"versions: {', '.join(versions)}")
    if run.git_revision is not None:
        changed = " with uncommitted changes" if run.git_dirty else ""
        facts.append(f"git: {run.git_revision}{changed}")
    return facts


def _render_graph(graph: GraphSummary, width: int) -> Iterator[str]:
    edges = "edges unknown" if graph.edge_count is None else counted(graph.edge_count, "edge")
    if graph.edges_inferred:
        edges += " inferred from stream order"
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in graph.node_kinds.items())
    bodies = f", {counted(graph.body_count, 'body', 'bodies')}" if graph.body_count else ""
    yield f"  graph {graph.graph_id}: {graph.name} ({graph.origin})"
    what = f"{counted(graph.node_count, 'node')}, {edges}{bodies}"
    if graph.origin == "trace" and graph.edge_count is None:
        what = f"nodes and edges unknown: {WHOLE_ONLY}"
    yield from _wrapped([f"{what}: {kinds}" if kinds else what], width, indent=4)
    yield from _wrapped(list(describe_life(graph.life)), width, indent=4)
    yield from _wrapped([_describe_launches(side) for side in graph.launches], width, indent=4)
    yield from _wrapped(list(_describe_parameters(graph)), width, indent=4)
    if graph.inflation is not None:
        yield from _wrapped([graph.inflation], width, indent=4)
    if graph.slowest_nodes:
        yield ""
        yield _render_slowest(graph, width)


def _describe_parameters(graph: GraphSummary) -> Iterator[str]:
    """Yield what the graph allocates, and what nodes without columns of their own are told."""
    by_end = Counter(allocation.freed for allocation in graph.allocations)
    if by_end:
        size = byte_size(sum(allocation.bytes for allocation in graph.allocations))
        ends = ", ".join(f"{count:,} freed {end}" for end, count in by_end.most_common())
        yield f"{counted(len(graph.allocations), 'allocation')}, {size}: {ends}"
    by_node: dict[tuple[int, int], list[str]] = {}
    for parameter in graph.parameters:
        told = by_node.setdefault((parameter.graph_id, parameter.node_id), [])
        told.append(f"{parameter.name} {parameter.value}")
    for (graph_id, node_id), told in list(by_node.items())[:_PARAMETER_LINES]:
        place = f"{graph_id}/{node_id}" if graph_id != graph.graph_id else f"{node_id}"
        yield f"node {place}: {', '.join(told)}"
    if len(by_node) > _PARAMETER_LINES:
        yield f"and {len(by_node) - _PARAMETER_LINES:,} more nodes with parameters (--json)"


def _describe_graph_memory(sample: rows.GraphMemory) -> str:
    return (
        f"graph memory of GPU {sample.device_id}: "
        f"used {byte_size(sample.used_bytes)} (most {byte_size(sample.used_high_bytes)}), "
        f"reserved {byte_size(sample.reserved_bytes)} "
        f"(most {byte_size(sample.reserved_high_bytes)})"
    )


def _describe_launches(side: LaunchSummary) -> str:
    parts = [f"host {duration(side.host_median_ns)}"]
    if side.gpu_median_ns is not None:
        parts.append(f"first to last node {duration(side.gpu_median_ns)}")
    if side.event_median_ns is not None:
        parts.append(f"between events {duration(side.event_median_ns)}")
    return (
        f"{_SIDES.get(side.side, side.side)}: {side.count:,} recorded, "
        f"{side.with_node_times:,} with node times; medians: {', '.join(parts)}"
    )


def _render_slowest(graph: GraphSummary, width: int) -> str:
    body = [
        [
            # Ids are unique in their graph: a body's node is named with its graph.
            f"{node.graph_id}/{node.node_id}"
            if node.graph_id != graph.graph_id
            else f"{node.node_id}",
            node.type,
            node.kernel or node.name,
            duration(node.median_ns),
            duration(node.p95_ns),
            f"{node.count:,}",
            percent(node.share_fraction),
        ]
        for node in graph.slowest_nodes
    ]
    head = ["node", "kind", "slowest by total time", "median", "p95", "count", "share"]
    return render_table(head, body, width=width, elastic=2, left=frozenset({1}), indent=4)


def _describe_stream(stream: StreamSummary) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in stream.kinds.items())
    return (
        f"outside graphs: {counted(stream.count, 'operation')} ({kinds}), "
        f"{duration(stream.total_ns)} of GPU time, "
        f"{stream.matched_count:,} matched to nodes of a graph"
    )


def _render_trust(summary: RunSummary, width: int) -> Iterator[str]:
    """Yield how the numbers were taken: collector, windows, cost of measuring, notes."""
    run = summary.run
    lines = []
    if run.collector is not None:
        reason = f" ({run.collector_reason})" if run.collector_reason else ""
        lines.append(f"collector: {run.collector}{reason}")
    lines += _describe_periods(summary)
    if summary.windows.count:
        count = counted(summary.windows.count, "window")
        lines.append(f"node times were recorded in {count}, {duration(summary.windows.total_ns)}")
    for measurement in summary.measurements:
        unit = measurement.unit
        value = "not measured" if measurement.value is None else with_unit(measurement.value, unit)
        lines.append(f"{measurement.name}: {value} [{measurement.method}]")
    lines += [f"{note.kind}: {note.text}" for note in summary.notes]
    if lines:
        yield "  how it was measured"
        yield from _wrapped(lines, width, indent=4)


def _describe_periods(summary: RunSummary) -> Iterator[str]:
    """Yield a line a period, unless the run was recorded from its start to its end."""
    if [(p.start_reason, p.end_reason) for p in summary.periods] == [("attached", "end")]:
        return
    for period in summary.periods:
        length = "unknown length" if period.end_ns is None else None
        length = length or duration((period.end_ns or 0) - period.start_ns)
        end = f"{period.end_reason} to {period.left_to}" if period.left_to else period.end_reason
        yield (
            f"period {period.period_id}: {length}; began: {period.start_reason}, "
            f"ended: {end or 'with the process'}"
        )


def _wrapped(lines: list[str], width: int, indent: int = 2) -> Iterator[str]:
    for line in lines:
        yield from wrapped(line.lstrip(), width, indent + len(line) - len(line.lstrip()))
