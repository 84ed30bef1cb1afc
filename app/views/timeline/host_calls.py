"""The host's driver calls while a side of the timeline lasts: launches, and graphs' lives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gviz.app.views.wire import Arrays, Strings
from gviz.dataclass import dataclass
from gviz.recording import rows

if TYPE_CHECKING:
    from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class TimelineCall:
    """A driver call: when, which, and, of a graph's launch, of which graph and launch."""

    start_ns: int
    end_ns: int
    name: str
    graph_id: int | None = None
    ordinal: int | None = None


def find_calls(recording: Recording, run_id: int, begin_ns: int, end_ns: int) -> list[TimelineCall]:
    """Return the recorded driver calls of a run that overlap an interval, in order of start.

    These are cuGraphLaunch of any graph, as far as launches have a row, and the calls of graphs'
    lives (captures, instantiations, uploads, updates). Calls that launch single kernels are
    known as the stream operations they made.
    """
    found = [
        call
        for call in (*_launches(recording, run_id), *_life(recording, run_id))
        if call.start_ns < end_ns and call.end_ns > begin_ns
    ]
    return sorted(found, key=lambda call: (call.start_ns, call.end_ns))


def _launches(recording: Recording, run_id: int) -> Iterator[TimelineCall]:
    names = ("side", "host_start_ns", "host_end_ns", "graph_id", "ordinal")
    found = recording.fetch_columns(rows.Launch, names, {"run_id": run_id}, "ordinal")
    for side, start, end, graph_id, ordinal in found:
        if side == "graph" and start is not None and end is not None:
            yield TimelineCall(start, end, "cuGraphLaunch", graph_id, ordinal)


def _life(recording: Recording, run_id: int) -> Iterator[TimelineCall]:
    for call in recording.fetch_api_calls(run_id):
        yield TimelineCall(call.start_ns, call.end_ns, call.name)


def call_arrays(
    recording: Recording, launch: rows.Launch, zero_ns: int, total_ns: float, strings: Strings
) -> Arrays:
    """Return the calls from a launch's zero to its end, as the arrays of its side.

    ``_call_start_ns`` and ``_call_end_ns`` (f8) count from the zero and may lie outside;
    ``_call_name`` (string) says of a graph's launch which one it is.
    """
    calls = find_calls(recording, launch.run_id, zero_ns, zero_ns + int(total_ns))
    graphs = {g.graph_id: g.name for g in recording.fetch_graphs(launch.run_id)}
    names = [_title(call, launch, graphs) for call in calls]
    return {
        f"{launch.side}_call_start_ns": np.array([c.start_ns - zero_ns for c in calls], np.float64),
        f"{launch.side}_call_end_ns": np.array([c.end_ns - zero_ns for c in calls], np.float64),
        f"{launch.side}_call_name": strings.indices(names),
    }


def _title(call: TimelineCall, launch: rows.Launch, graphs: dict[int, str]) -> str:
    if call.ordinal is None or call.graph_id is None:
        return call.name
    if call.graph_id != launch.graph_id:
        return f"{call.name} of {graphs.get(call.graph_id, 'another graph')} #{call.ordinal}"
    own = launch.side == "graph" and call.ordinal == launch.ordinal
    return call.name if own else f"{call.name} #{call.ordinal}"
