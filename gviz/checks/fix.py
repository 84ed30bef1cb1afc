"""A change held against the recording before it: faster, the same, slower, or not to be told."""

from __future__ import annotations

from typing import Literal

from gviz.comparison import (
    GraphDiff,
    RequestedPair,
    TimeChange,
    compare_recordings,
    devices_text,
)
from gviz.dataclass import dataclass
from gviz.errors import UsageError
from gviz.recording import Recording
from gviz.text import percent

FixResult = Literal["faster", "same", "slower", "cannot tell"]
#: A launch is the same if its 95% interval lies within this share of the time before: changes that
#: matter to nobody, and twice what durations must change by to count.
SAME_FRACTION = 0.01


@dataclass(frozen=True, slots=True)
class FixVerdict:
    """The verdict on a change.

    Attributes
    ----------
    result
        Of the launch.
    reason
        Why it cannot be told, else empty.
    graph
        The graph before and after, with all that changed.
    """

    result: FixResult
    reason: str
    graph: GraphDiff


def judge_fix(baseline: Recording, candidate: Recording, requested: RequestedPair) -> FixVerdict:
    """Return whether a graph's launches became faster.

    Parameters
    ----------
    baseline
        Recorded before the change.
    candidate
        Recorded after it.
    requested
        The graph.

    Raises
    ------
    UsageError
        If the candidate has no graph that corresponds.
    RecordingError
        If there is no such graph, or a file is damaged.
    """
    found = compare_recordings(baseline, candidate, requested)
    for run in found.runs:
        for graph in run.graphs:
            other = _other_gpu(baseline, run.before.run_id, candidate, run.after.run_id)
            if other:
                return FixVerdict("cannot tell", other, graph)
            return FixVerdict(*_judge(graph.launch), graph)
    raise UsageError(
        f"graph {requested.before} of {baseline.path.name} corresponds to none of "
        f"{candidate.path.name}; compare says what both have"
    )


def _other_gpu(first: Recording, first_run: int, second: Recording, second_run: int) -> str:
    gpus = devices_text(first, first_run), devices_text(second, second_run)
    if gpus[0] == gpus[1]:
        return ""
    before, after = (gpu or "an unknown GPU" for gpu in gpus)
    return f"the recordings are of other GPUs: {before}, then {after}"


def _judge(launch: TimeChange) -> tuple[FixResult, str]:
    before, low, high = launch.before_ns, launch.low_ns, launch.high_ns
    if launch.change_ns is None or not before:
        return "cannot tell", "launches were not timed in both recordings"
    if launch.untested or low is None or high is None:
        return "cannot tell", launch.untested or "whether it is noise was not tested"
    if launch.significant:
        return ("slower" if launch.change_ns > 0 else "faster"), ""
    most = max(abs(low), abs(high))
    if most <= SAME_FRACTION * before:
        return "same", ""
    return (
        "cannot tell",
        f"the change is within noise, and noise reaches {percent(most / before)} of a launch: "
        "record more launches of both",
    )
