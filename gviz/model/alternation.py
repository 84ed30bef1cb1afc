"""A graph and the same work eagerly, timed alternately while no node times were taken.

``gviz.compare_stream`` times one launch and one eager iteration next to each other, again and
again: what drifts meanwhile (clocks, temperature, what else the host does) drifts on both sides,
and is in no difference of two neighbours. A recording holds means and deviations of these
readings in its table cost_figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.stats import CuptiState, FloatArray, Interval, describe_readings, student_interval

if TYPE_CHECKING:
    from gviz.recording import Recording

#: What stands before a graph's name in cost_figure.experiment.
_EXPERIMENT = "compare_stream: "
_SUBJECTS = ("graph", "eager", "saved")
#: Between events around the work on an idle GPU, and of the host in calls.
_QUANTITIES = ("elapsed", "host")


@dataclass(frozen=True, slots=True)
class AlternatingTimes:
    """One quantity of both sides, and what the graph saves of it.

    Attributes
    ----------
    graph_ns, eager_ns
        Means over launches and over iterations.
    saved_ns, deviation_ns
        Mean and standard deviation of what each launch took less than the iteration next to it.
    count
        Launches, and as many iterations.
    """

    graph_ns: float
    eager_ns: float
    saved_ns: float
    deviation_ns: float
    count: int

    @property
    def interval(self) -> Interval:
        """The 95% interval of what the graph saves, by Student's t."""
        return student_interval(self.saved_ns, self.deviation_ns, self.count)


@dataclass(frozen=True, slots=True)
class Alternation:
    """A graph and its work eagerly, timed alternately.

    Attributes
    ----------
    elapsed
        Between an event before and one after, on an idle GPU.
    host
        From the call's entry to its return.
    state
        Plain, or attached where CUPTI was in the process.
    """

    elapsed: AlternatingTimes
    host: AlternatingTimes
    state: CuptiState


@dataclass(frozen=True, slots=True)
class AlternatingReadings:
    """Readings of both sides as they were taken; float64 arrays of one length, ns.

    Attributes
    ----------
    name
        Of the graph.
    state
        Plain, or attached where CUPTI was in the process.
    graph, eager
        Shape (n, 2): elapsed and host time of each launch, and of the iteration next to it.
    """

    name: str
    state: CuptiState
    graph: FloatArray
    eager: FloatArray

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> AlternatingReadings:
        """Return what :meth:`to_json` wrote; ValueError or TypeError for anything else."""
        name, state = found["name"], CuptiState(found["state"])
        graph, eager = (np.asarray(found[side], np.float64) for side in ("graph", "eager"))
        sound = graph.shape == eager.shape and graph.ndim == 2 and graph.shape[1] == 2
        if not isinstance(name, str) or not sound or not len(graph):
            raise ValueError(f"readings of {name!r:.40} of shape {graph.shape} and {eager.shape}")
        if not (np.isfinite(graph).all() and np.isfinite(eager).all()):
            raise ValueError(f"a reading of {name!r:.40} is no time")
        return cls(name, state, graph, eager)

    def to_json(self) -> dict[str, Any]:
        """Return them as JSON values."""
        sides = {"graph": self.graph.tolist(), "eager": self.eager.tolist()}
        return {"name": self.name, "state": self.state.value, **sides}

    def summarize(self) -> Alternation:
        """Return means, and what the graph saves."""
        saved = self.eager - self.graph
        found = [
            AlternatingTimes(
                graph_ns=float(self.graph[:, at].mean()),
                eager_ns=float(self.eager[:, at].mean()),
                saved_ns=float(saved[:, at].mean()),
                deviation_ns=float(saved[:, at].std(ddof=1)) if len(saved) > 1 else 0.0,
                count=len(saved),
            )
            for at in range(len(_QUANTITIES))
        ]
        return Alternation(found[0], found[1], self.state)

    def to_rows(self, run_id: int, first_id: int) -> list[rows.CostFigure]:
        """Return their figures as rows, numbered from ``first_id``."""
        sides = (self.graph, self.eager, self.eager - self.graph)
        found: list[rows.CostFigure] = []
        for subject, readings in zip(_SUBJECTS, sides, strict=True):
            for quantity, values in zip(_QUANTITIES, readings.T, strict=True):
                found.append(
                    rows.CostFigure(
                        cost_figure_id=first_id + len(found),
                        run_id=run_id,
                        experiment=f"{_EXPERIMENT}{self.name}",
                        subject=subject,
                        quantity=quantity,
                        parameter=self.state.value,
                        unit="ns",
                        outlier_count=0,
                        warm_up_count=0,
                        **describe_readings(values),
                    )
                )
        return found


def read_alternation(recording: Recording, graph: rows.Graph) -> Alternation | None:
    """Return how a graph and its work eagerly were timed alternately.

    None: they were not, or the run has several graphs or comparisons of that name.
    """
    wanted = f"{_EXPERIMENT}{graph.name}"
    figures = [f for f in recording.fetch_cost_figures(graph.run_id) if f.experiment == wanted]
    if len(figures) != len(_SUBJECTS) * len(_QUANTITIES):
        return None
    same = [g for g in recording.fetch_graphs() if g.name == graph.name and g.origin != "body"]
    if sum(g.run_id == graph.run_id for g in same) != 1:
        return None
    by_name = {(f.subject, f.quantity): f for f in figures}
    elapsed, host = (_times(by_name, quantity) for quantity in _QUANTITIES)
    return Alternation(elapsed, host, CuptiState(figures[0].parameter or CuptiState.ATTACHED))


def _times(figures: Mapping[tuple[str, str], rows.CostFigure], quantity: str) -> AlternatingTimes:
    graph, eager, saved = (figures[subject, quantity] for subject in _SUBJECTS)
    return AlternatingTimes(
        graph_ns=graph.mean,
        eager_ns=eager.mean,
        saved_ns=saved.mean,
        deviation_ns=saved.deviation,
        count=saved.reading_count,
    )
