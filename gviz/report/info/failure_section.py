"""Failures in a run: captures and instantiations, and what an update would have saved."""

from __future__ import annotations

from collections.abc import Iterator

from gviz.model import FailedCapture
from gviz.recording import InstantiateFailure
from gviz.report.document import Sentence, ns, say
from gviz.report.summary import RunSummary
from gviz.text import counted


def failures(summary: RunSummary) -> Iterator[Sentence]:
    """Yield what failed, the most important first."""
    for capture in summary.capture_failures:
        yield from _capture(capture)
    for failure in summary.instantiate_failures:
        yield _instantiation(failure)
    if summary.reinstantiations is not None:
        count = counted(summary.reinstantiations.count, "instantiation")
        host = ns(summary.reinstantiations.total_ns, "measured")
        yield say(
            f"{count} (", host, " of host time) made an executable that an update of an earlier "
            "one would have given.",
        )  # fmt: skip


def _capture(capture: FailedCapture) -> Iterator[Sentence]:
    failure = capture.failure
    captured = counted(capture.node_count, "node")
    kept = f", kept as graph {failure.graph_id}" if failure.graph_id is not None else ""
    yield say(f"A capture failed: {failure.rule} ({captured} captured until then{kept}).")
    name = failure.error_api or failure.error_call
    if name is not None:
        yield say(f"Broken by {name} ({failure.error_result_name or 'no result'}).")
    if capture.place is not None:
        source = f": {capture.place.source.strip()}" if capture.place.source else ""
        yield say(f"At {capture.place.file}:{capture.place.line}{source}")
    elif failure.stack_reason is not None:
        yield say(f"No Python line: {failure.stack_reason}.")
    yield say(failure.explanation)
    yield say(f"Fix: {failure.fix}")


def _instantiation(failure: InstantiateFailure) -> Sentence:
    graph = f" of graph {failure.graph_id}" if failure.graph_id is not None else ""
    return say(f"An instantiation{graph} failed: {failure.explanation}")
