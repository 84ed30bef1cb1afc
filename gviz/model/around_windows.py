"""Plain launches of a graph before, between and after the windows of its run.

What recording costs the launches that are not recorded shows in them: where a window leaves nothing
behind, they take as long after it as before.
"""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections.abc import Sequence

from gviz.dataclass import dataclass
from gviz.recording import Recording, rows

#: Next to the edges of a window CUPTI comes and goes (5 to 20 ms): launches there count as neither
#: plain nor recorded.
EDGE_NS = 20_000_000


@dataclass(frozen=True, slots=True)
class PlainLaunches:
    """A graph's plain launches at one time of its run.

    Attributes
    ----------
    when
        ``before`` the first window, ``between`` two, or ``after`` the last.
    count
        How many launches were timed as a whole.
    median_ns
        GPU time between two events around them, in nanoseconds (measured).
    """

    when: str
    count: int
    median_ns: float


def plain_launches(
    recording: Recording, graph: rows.Graph, windows: Sequence[rows.Window]
) -> tuple[PlainLaunches, ...]:
    """Return the plain launches around windows; nothing where there was no window.

    Parameters
    ----------
    recording
        An open recording.
    graph
        A top-level graph of it.
    windows
        Those of the graph's run, in order of time.
    """
    if not windows:
        return ()
    key = {"graph_id": graph.graph_id, "node_level": 0}
    columns = ("host_start_ns", "event_duration_ns", "side")
    found: dict[str, list[int]] = {"before": [], "between": [], "after": []}
    starts = [window.start_ns - EDGE_NS for window in windows]
    for start_ns, duration_ns, side in recording.fetch_columns(
        rows.Launch, columns, key, "ordinal"
    ):
        if start_ns is None or duration_ns is None or side != "graph":
            continue
        begun = bisect_right(starts, start_ns)
        end_ns = windows[begun - 1].end_ns if begun else 0
        if end_ns is None or (begun and start_ns < end_ns + EDGE_NS):
            continue
        when = "before" if not begun else "after" if begun == len(windows) else "between"
        found[when].append(duration_ns)
    return tuple(
        PlainLaunches(when, len(times), float(statistics.median(times)))
        for when, times in found.items()
        if times
    )
