"""First launch calls of each executable, beside later calls of the same kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gviz.analysis.sound_launches import UNKNOWN
from gviz.analysis.subject import GraphSubject
from gviz.recording import rows


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
        Median host time of its later calls, with node times if the first had them; calls.
    """

    graph_exec: rows.GraphExec
    first_ns: int
    later_ns: float
    later_count: int

    @property
    def surplus_ns(self) -> float:
        """Return what the first call took longer; 0 where it did not."""
        return max(0.0, self.first_ns - self.later_ns)


def first_launches(subject: GraphSubject) -> Iterator[FirstLaunch]:
    """Yield the first launch of each executable that was launched more than once."""
    launches = subject.launches
    call_ns = launches.call_ns
    by_exec = np.argsort(launches.graph_exec_id, kind="stable")
    ids = launches.graph_exec_id[by_exec]
    for graph_exec in subject.execs:
        begin, end = np.searchsorted(ids, [graph_exec.graph_exec_id, graph_exec.graph_exec_id + 1])
        own = by_exec[begin:end]
        if len(own) < 2 or call_ns[own[0]] == UNKNOWN:
            continue
        alike = own[1:][launches.node_level[own[1:]] == launches.node_level[own[0]]]
        later = call_ns[alike][call_ns[alike] != UNKNOWN]
        if len(later):
            first = int(call_ns[own[0]])
            yield FirstLaunch(graph_exec, first, float(np.median(later)), len(later))
