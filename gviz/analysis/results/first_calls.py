"""First launch calls of each executable, beside later calls of the same kind."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gviz.analysis.subject import GraphSubject
from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.stats import IntArray


@dataclass(frozen=True, slots=True)
class FirstLaunch:
    """The first launch call of an executable (measured).

    Attributes
    ----------
    graph_exec
        The executable.
    first_ns
        Host time of its first launch call.
    later_ns, later_count
        Median host time of its later calls, with node times if the first had them, those that
        waited for a full queue left out; calls.
    """

    graph_exec: rows.GraphExec
    first_ns: int
    later_ns: float
    later_count: int

    @property
    def surplus_ns(self) -> float:
        """Return what the first call took longer; below 0 where it was shorter."""
        return self.first_ns - self.later_ns


def first_launches(subject: GraphSubject) -> Iterator[FirstLaunch]:
    """Yield the first launch of each executable of which it is known what later ones take."""
    calls = subject.launch_calls
    for graph_exec in subject.execs:
        own = np.flatnonzero(calls.graph_exec_id == graph_exec.graph_exec_id)
        if not _is_first(subject, graph_exec, own):
            continue
        first, later = own[0], own[1:]
        later = later[calls.is_alone[later] & (calls.node_level[later] == calls.node_level[first])]
        if calls.is_alone[first] and len(later):
            yield FirstLaunch(
                graph_exec,
                int(calls.call_ns[first]),
                float(np.median(calls.call_ns[later])),
                len(later),
            )


def _is_first(subject: GraphSubject, graph_exec: rows.GraphExec, own: IntArray) -> bool:
    """Return whether the earliest call that has both times is the executable's first launch."""
    launches = subject.launches
    mine = np.flatnonzero(launches.graph_exec_id == graph_exec.graph_exec_id)
    return bool(
        len(own)
        and len(mine)
        and subject.launch_calls.launch_id[own[0]] == launches.launch_id[mine[0]]
    )
