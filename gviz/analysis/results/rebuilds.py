"""The cost of executables that were made although an earlier one would have done."""

from __future__ import annotations

from collections.abc import Sequence

from gviz.analysis.run_subject import RunSubject
from gviz.analysis.sound_times import span_ns
from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.stats import How


@dataclass(frozen=True, slots=True)
class RebuildCost:
    """Host time of rebuilds, summed over their executables.

    Attributes
    ----------
    made_ns, captured_ns
        Their instantiations, and the captures before where those were for nothing (measured), less
        ``own_ns``.
    own_ns
        What gviz's own callbacks took of both (measured). None: the recording does not say, and it
        is in both times still.
    update_ns, update_how
        Updates in their place: as long as those in the run, else by the launch costs.
    first_launch_ns
        What first launches take longer than later ones, by the launch costs (estimated).
    destroy_ns
        Destroying those that were replaced, by the launch costs (estimated).
    least_ns
        Instantiations and captures by the launch costs, which are of empty kernels launched from
        native code: the least that they can take (estimated). None: there are no such lines.
    """

    made_ns: float
    captured_ns: float
    own_ns: float | None
    update_ns: float
    update_how: How
    first_launch_ns: float
    destroy_ns: float
    least_ns: float | None

    @property
    def saved_ns(self) -> float:
        """Return what reusing the earlier executables saves."""
        return self._saved_ns(self.made_ns + self.captured_ns)

    @property
    def least_saved_ns(self) -> float | None:
        """The same with ``least_ns`` for what was measured; None: there are no such lines."""
        return None if self.least_ns is None else max(0.0, self._saved_ns(self.least_ns))

    def _saved_ns(self, made_ns: float) -> float:
        return made_ns + self.first_launch_ns + self.destroy_ns - self.update_ns


def rebuild_cost(run: RunSubject, again: Sequence[rows.GraphExec], *, is_same: bool) -> RebuildCost:
    """Return what executables cost that an earlier one could have been turned into.

    Parameters
    ----------
    run
        Their run.
    again
        The executables, not empty.
    is_same
        The earlier one could have been launched as it was: no capture and no update is needed.
    """
    made = sum(_instantiate_ns(e) for e in again)
    captured = sum(_capture_ns(run, e) for e in again) if is_same else 0
    own_made = run.own_time.instantiate
    own_captured = run.own_time.capture if captured else 0.0
    own: float | None = None
    if own_made is not None and own_captured is not None:
        own = made * own_made + captured * own_captured
        made, captured = made * (1 - own_made), captured * (1 - own_captured)
    update, how = _update_ns(run, [] if is_same else again)
    lines = [_by_line(run, "instantiate", again)]
    if is_same:
        lines.append(_by_line(run, "capture", again))
    first, later = (
        _by_line(run, who, [e for e in again if e.launch_count]) for who in ("first", "relaunch")
    )
    replaced = {e.could_update_graph_exec_id for e in again}
    gone = [e for e in run.execs.values() if e.graph_exec_id in replaced and e.destroyed_ns]
    return RebuildCost(
        made_ns=made,
        captured_ns=captured,
        own_ns=own,
        update_ns=update,
        update_how=how,
        first_launch_ns=0.0 if first is None or later is None else max(0.0, first - later),
        destroy_ns=_by_line(run, "destroy", gone) or 0.0,
        least_ns=None if None in lines else sum(x for x in lines if x is not None),
    )


def _update_ns(run: RunSubject, again: Sequence[rows.GraphExec]) -> tuple[float, How]:
    """Return what updates take, by the mean of those in the run, else by the launch costs."""
    updates = [u for u in run.updates if u.kind == "graph" and u.result == 0]
    calls = sum(u.count for u in updates)
    if calls:
        return sum(u.total_ns for u in updates) / calls * len(again), "measured"
    return _by_line(run, "update", again) or 0.0, "estimated"


def _by_line(run: RunSubject, who: str, execs: Sequence[rows.GraphExec]) -> float | None:
    """Return host time by the launch costs of graphs of so many nodes; None: there is no line."""
    line = None if run.costs is None else run.costs.line(who, "host")
    if line is None:
        return None
    return sum(max(line.cost_ns(run.node_counts.get(e.graph_id, 0)), 0.0) for e in execs)


def _instantiate_ns(graph_exec: rows.GraphExec) -> float:
    return float(span_ns(graph_exec.instantiate_start_ns, graph_exec.instantiate_end_ns) or 0)


def _capture_ns(run: RunSubject, graph_exec: rows.GraphExec) -> float:
    graph = run.graphs.get(graph_exec.graph_id)
    if graph is None:
        return 0.0
    return float(span_ns(graph.capture_start_ns, graph.capture_end_ns) or 0)
