"""Failures in a run: captures and instantiations, and what an update would have saved."""

from __future__ import annotations

from collections.abc import Iterator

from gviz.model import FailedCapture
from gviz.recording import CaptureFailure, InstantiateFailure
from gviz.report.document import Sentence, ns, say
from gviz.report.info.fault_sentences import fault_paragraph
from gviz.report.summary import RunSummary
from gviz.text import counted


def failures(summary: RunSummary) -> Iterator[Sentence]:
    """Yield what failed, the most important first."""
    for fault in summary.faults:
        yield say(fault_paragraph(fault))
    for capture in summary.capture_failures:
        yield from _capture(capture)
    for failure in summary.instantiate_failures:
        yield _instantiation(failure)
    if summary.reinstantiations is not None:
        yield saved_by_updates(summary.reinstantiations.count, summary.reinstantiations.total_ns)


def _capture(capture: FailedCapture) -> Iterator[Sentence]:
    failure = capture.failure
    captured = counted(capture.node_count, "node")
    kept = f", kept as graph {failure.graph_id}" if failure.graph_id is not None else ""
    yield say(f"A capture failed: {failure.rule} ({captured} captured until then{kept}).")
    broken_by = culprit(failure)
    if broken_by is not None:
        yield say(broken_by)
    if capture.place is not None:
        source = f": {capture.place.source.strip()}" if capture.place.source else ""
        yield say(f"At {capture.place.file}:{capture.place.line}{source}")
    elif failure.stack_reason is not None:
        yield say(without_line(failure.stack_reason))
    yield say(failure.explanation)
    yield say(f"Fix: {failure.fix}")


def culprit(failure: CaptureFailure) -> str | None:
    """Return which call broke a capture; None: not recorded."""
    name = failure.error_api or failure.error_call
    result = failure.error_result_name or "no result"
    return None if name is None else f"Broken by {name} ({result})."


def without_line(reason: str) -> str:
    """Return why no line of a program is known to have broken a capture."""
    return f"No Python line: {reason}."


def saved_by_updates(count: int, total_ns: float) -> Sentence:
    """Return what instantiations cost that updates could have taken the place of."""
    return say(
        f"{counted(count, 'instantiation')} (", ns(total_ns, "measured"), " of host time) made an "
        "executable that an update of an earlier one (cuGraphExecUpdate) would have given.",
    )  # fmt: skip


def _instantiation(failure: InstantiateFailure) -> Sentence:
    graph = f" of graph {failure.graph_id}" if failure.graph_id is not None else ""
    return say(f"An instantiation{graph} failed: {failure.explanation}")
