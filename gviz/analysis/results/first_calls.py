"""First launch calls of each executable, beside later calls of the same kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from gviz.analysis.sound_times import span_ns
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
    by_exec: dict[int | None, list[rows.Launch]] = {}
    for launch in subject.launch_rows:
        by_exec.setdefault(launch.graph_exec_id, []).append(launch)
    for graph_exec in subject.execs:
        launches = by_exec.get(graph_exec.graph_exec_id, [])
        first = call_ns(launches[0]) if launches else None
        alike = [x for x in launches[1:] if x.node_level == launches[0].node_level]
        later = [ns for x in alike if (ns := call_ns(x)) is not None]
        if first is not None and later:
            yield FirstLaunch(graph_exec, first, float(median(later)), len(later))


def call_ns(launch: rows.Launch) -> int | None:
    """Return the host time of a launch call; None: not known."""
    return span_ns(launch.host_start_ns, launch.host_end_ns)
