"""Lines of ``gviz info`` about graphs' lives."""

from __future__ import annotations

from collections.abc import Iterator

from gviz.model import ExecLife, FailedCapture, GraphLife, flag_names
from gviz.recording import GraphUpdate, InstantiateFailure
from gviz.report.summary import RunSummary
from gviz.text import byte_size, counted, duration

#: Executables of a graph, and updates of an executable, that are listed one by one.
_LISTED = 8
_KINDS = {"graph": "whole-graph", "node": "node", "enable": "enabling", "disable": "disabling"}


def describe_life(life: GraphLife) -> Iterator[str]:
    """Yield a graph's capture, executables and end."""
    if life.capture_ns is not None:
        where = f", {life.capture_mode} mode" if life.capture_mode else ""
        thread = f", thread {life.capture_thread_id}" if life.capture_thread_id else ""
        yield f"captured in {duration(life.capture_ns)}{where}{thread}"
    for graph_exec in life.execs[:_LISTED]:
        yield from _describe_exec(graph_exec)
    rest = life.execs[_LISTED:]
    if rest:
        total = sum(e.instantiate_ns or 0 for e in rest)
        count = counted(len(rest), "more executable")
        yield f"and {count}, instantiated in {duration(total)} altogether"
    if life.relaunch_median_ns is not None:
        yield f"launched again: host {duration(life.relaunch_median_ns)} (median)"
    if life.destroyed_ns is not None:
        yield "the graph was destroyed while gviz watched"


def _describe_exec(graph_exec: ExecLife) -> Iterator[str]:
    flags = ", ".join(flag_names(graph_exec.flags))
    parts = [
        f"instantiate {duration(graph_exec.instantiate_ns)}" + (f" ({flags})" if flags else ""),
        f"upload {duration(graph_exec.upload_ns)}",
        f"first launch {duration(graph_exec.first_launch_ns)}",
        f"launched {counted(graph_exec.launch_count, 'time')}",
    ]
    if graph_exec.device_memory_bytes:
        parts.append(f"about {byte_size(graph_exec.device_memory_bytes)} of device memory")
    if graph_exec.destroyed_ns is not None:
        parts.append("destroyed")
    yield f"executable {graph_exec.graph_exec_id}: {', '.join(parts)}"
    if graph_exec.could_update_graph_exec_id is not None:
        yield (
            f"  an update of executable {graph_exec.could_update_graph_exec_id} would have done "
            "(cuGraphExecUpdate)"
        )
    for update in graph_exec.updates[:_LISTED]:
        yield f"  {_describe_update(update)}"
    if len(graph_exec.updates) > _LISTED:
        yield f"  and {len(graph_exec.updates) - _LISTED:,} more kinds of updates"


def _describe_update(update: GraphUpdate) -> str:
    what = _KINDS.get(update.kind, update.kind)
    node = f" of node {update.node_id}" if update.node_id is not None else ""
    line = f"{counted(update.count, f'{what} update')}{node}"
    if update.count:
        line += f", {duration(update.total_ns / update.count)} each"
    if update.result == 0:
        return line
    name = update.detail_name or f"CUresult {update.result}"
    return f"{line}, refused: {update.difference or name}"


def describe_failures(summary: RunSummary) -> Iterator[str]:
    """Yield what failed, the most important first."""
    for capture in summary.capture_failures:
        yield from _describe_capture(capture)
    for failure in summary.instantiate_failures:
        yield _describe_instantiation(failure)
    if summary.reinstantiations is not None:
        count = counted(summary.reinstantiations.count, "instantiation")
        yield (
            f"{count} ({duration(summary.reinstantiations.total_ns)} of host time) made an "
            "executable that an update of an earlier one would have given"
        )


def _describe_capture(capture: FailedCapture) -> Iterator[str]:
    failure = capture.failure
    nodes = counted(capture.node_count, "node")
    kept = f", kept as graph {failure.graph_id}" if failure.graph_id is not None else ""
    yield f"a capture failed: {failure.rule} ({nodes} captured until then{kept})"
    name = failure.error_api or failure.error_call
    if name is not None:
        result = failure.error_result_name or "no result"
        yield f"  broken by {name} ({result})"
    if capture.place is not None:
        source = f": {capture.place.source.strip()}" if capture.place.source else ""
        yield f"  at {capture.place.file}:{capture.place.line}{source}"
    elif failure.stack_reason is not None:
        yield f"  no Python line: {failure.stack_reason}"
    yield f"  {failure.explanation}"
    yield f"  fix: {failure.fix}"


def _describe_instantiation(failure: InstantiateFailure) -> str:
    graph = f" of graph {failure.graph_id}" if failure.graph_id is not None else ""
    return f"an instantiation{graph} failed: {failure.explanation}"
