"""The document of a recording's contents: verdict, what failed, graphs, how it was measured."""

from __future__ import annotations

from collections.abc import Iterator

from gviz.errors import NO_GRAPH
from gviz.report.document import (
    Block,
    Content,
    Document,
    Section,
    Sentence,
    Verdict,
    capitalized,
    column,
    joined,
    ns,
    number,
    numbers,
    say,
    section,
    table,
)
from gviz.report.info.failure_section import failures
from gviz.report.info.graph_section import graph_section
from gviz.report.info.info_verdict import info_verdict
from gviz.report.info.watching_cost import watching_cost
from gviz.report.summary import RecordingSummary, RunSummary, StreamSummary
from gviz.text import byte_size, counted, duration


def info_document(summary: RecordingSummary, *, counters: bool = False) -> Document:
    """Return the document of a recording's contents.

    ``counters``: whether the short form has what measuring cost, and what was counted.
    """
    size = byte_size(summary.size_bytes)
    title = f"{summary.path}: {counted(len(summary.runs), 'run')}, {size}"
    sections: list[Section] = []
    for run in summary.runs:
        parts = tuple(_run_sections(run, None if counters else 0))
        if len(summary.runs) > 1:
            sections.append(Section(f"run-{run.run.run_id}", capitalized(_name_of(run)), parts))
        else:
            sections += parts
    return Document(title, tuple(_verdict(run) for run in summary.runs), tuple(sections))


def _name_of(summary: RunSummary) -> str:
    run = summary.run
    counts = {
        "capture": len(summary.capture_failures),
        "instantiation": len(summary.instantiate_failures),
    }
    failed = [f", {counted(count, what)} failed" for what, count in counts.items() if count]
    return f"run {run.run_id}: {run.name} ({run.state}{''.join(failed)})"


def _verdict(summary: RunSummary) -> Verdict:
    caveats = tuple(note.text.rstrip(".") for note in summary.notes)
    return Verdict(_name_of(summary), info_verdict(summary), caveats)


def _run_sections(summary: RunSummary, counters: int | None) -> Iterator[Section]:
    failed = list(failures(summary))
    if failed:
        yield section("failed", "What failed, or could be saved", *failed)
    for graph in summary.graphs:
        yield graph_section(graph)
    if not summary.graphs:
        yield section("graphs", "Graphs", say(f"{capitalized(NO_GRAPH)}."))
    beside = list(_beside_graphs(summary))
    if beside:
        yield section("beside", "Beside graphs", *beside)
    facts = list(_facts_of(summary))
    if facts:
        yield section("run", "The run", *facts)
    trust = list(_trust(summary, counters))
    if trust:
        yield section("measured", "How it was measured", *trust)


def _facts_of(summary: RunSummary) -> Iterator[Sentence]:
    run = summary.run
    if run.command is not None:
        yield say(f"Command: {run.command}")
    where: list[Content] = [f"On {run.host}"] if run.host else []
    if run.process_id is not None:
        where.append(f"process {run.process_id}")
    if run.rank is not None:
        where.append(f"rank {run.rank}")
    if summary.duration_ns is not None:
        where.append(f"took {duration(summary.duration_ns)}")
    if run.exit_code is not None:
        where.append(f"exit code {run.exit_code}")
    if where:
        yield say(joined(where), ".")
    conditions = {one.device_id: one.to_text() for one in summary.gpu_conditions}
    for device in summary.devices:
        state = conditions.get(device.device_id)
        yield say(f"GPU {device.device_id}: {device.name}{f', {state}' if state else ''}.")
    versions = [f"CUDA {run.driver_version}"] if run.driver_version else []
    versions += [f"{name} {version}" for name, version in summary.libraries.items()]
    if versions:
        yield say(f"Versions: {', '.join(versions)}.")
    if run.git_revision is not None:
        changed = " with uncommitted changes" if run.git_dirty else ""
        yield say(f"Git: {run.git_revision}{changed}.")


def _beside_graphs(summary: RunSummary) -> Iterator[Block]:
    for sample in summary.graph_memory:
        yield say(
            f"Graph memory of GPU {sample.device_id}: "
            f"used {byte_size(sample.used_bytes)} (most {byte_size(sample.used_high_bytes)}), "
            f"reserved {byte_size(sample.reserved_bytes)} "
            f"(most {byte_size(sample.reserved_high_bytes)})."
        )
    if summary.stream_operations is not None:
        yield _outside(summary.stream_operations)


def _outside(stream: StreamSummary) -> Sentence:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in stream.kinds.items())
    return say(
        f"Outside graphs: {counted(stream.count, 'operation')} ({kinds}), ",
        ns(stream.total_ns, "measured"),
        f" of GPU time, {stream.matched_count:,} matched to nodes of a graph.",
    )


def _trust(summary: RunSummary, counters: int | None) -> Iterator[Block]:
    """Yield how the numbers were taken: collector, periods, windows, cost of measuring.

    ``counters``: so many of them are in the short form; None: all.
    """
    run = summary.run
    if run.collector is not None:
        reason = f" ({run.collector_reason})" if run.collector_reason else ""
        yield say(f"Collector: {run.collector}{reason}.")
    yield from _periods(summary)
    if summary.windows.count:
        count = counted(summary.windows.count, "window")
        length = ns(summary.windows.total_ns, "measured")
        yield say(f"Node times were recorded in {count}, ", length, ".")
    measured = {one.name: one.value for one in summary.measurements if one.value is not None}
    yield from watching_cost(measured)
    rows: list[list[Content]] = [
        [
            one.name,
            "not measured" if one.value is None else number(one.value, unit=one.unit or "number"),
            one.method,
        ]
        for one in summary.measurements
    ]
    if rows:
        columns = [column("Measurement"), numbers("Value"), column("Method")]
        yield table("What measuring cost, and what was counted", columns, rows, brief=counters)


def _periods(summary: RunSummary) -> Iterator[Sentence]:
    """Yield a line a period, unless the run was recorded from its start to its end."""
    if [(p.start_reason, p.end_reason) for p in summary.periods] == [("attached", "end")]:
        return
    for period in summary.periods:
        length = "unknown length"
        if period.end_ns is not None:
            length = duration(period.end_ns - period.start_ns)
        end = f"{period.end_reason} to {period.left_to}" if period.left_to else period.end_reason
        yield say(
            f"Period {period.period_id}: {length}; began: {period.start_reason}, "
            f"ended: {end or 'with the process'}."
        )
