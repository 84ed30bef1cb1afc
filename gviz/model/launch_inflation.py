"""The price of node times: a launch with them over one without, on the GPU and in its call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gviz.dataclass import dataclass
from gviz.model.launch_calls import LaunchCalls, read_launch_calls
from gviz.model.launch_time import timed_by_copy
from gviz.text import multiple

if TYPE_CHECKING:
    from gviz.recording import Recording, rows


@dataclass(frozen=True, slots=True)
class Inflation:
    """The lengthening of launches while node times were taken.

    Attributes
    ----------
    gpu_ratio, host_ratio
        Median with node times over median without, of the executable with most launches of
        both kinds; None: one of them was not measured.
    reason
        Why not; empty when both were.
    is_of_copies
        True where instrumented copies ran in place of the launches with node times.
    """

    gpu_ratio: float | None
    host_ratio: float | None
    reason: str
    is_of_copies: bool = False

    def to_text(self) -> str:
        """Return a line for people."""
        if self.gpu_ratio is None:
            return f"what node times cost this graph was not measured: {self.reason}"
        host = "" if self.host_ratio is None else f", host call {multiple(self.host_ratio)}"
        timed = "a copy with events" if self.is_of_copies else "with node times a launch"
        return f"{timed} takes {multiple(self.gpu_ratio)} the time of a plain one{host}"


def inflation(recording: Recording, graph_id: int) -> Inflation | None:
    """Return what node level cost a graph's launches; None: no node times were taken."""
    costs: dict[int, dict[int, rows.LaunchCost]] = {}
    for cost in recording.fetch_launch_costs(graph_id):
        costs.setdefault(cost.graph_exec_id, {})[cost.node_level] = cost
    recorded = [sides for sides in costs.values() if 1 in sides]
    if not recorded:
        return None
    best = max(recorded, key=lambda s: min((s[i].count if i in s else 0) for i in (0, 1)))
    plain, slow = best.get(0), best[1]
    if plain is None or plain.gpu_median_ns is None or slow.gpu_median_ns is None:
        missing = plain if plain is None or plain.gpu_median_ns is None else slow
        why = missing.method if missing else "no launch without node level"
        return Inflation(None, None, why.removeprefix("not measured: "))
    gpu = slow.gpu_median_ns / plain.gpu_median_ns if plain.gpu_median_ns else None
    run_id = recording.fetch_graph(graph_id).run_id
    host = _host_ratio(read_launch_calls(recording, run_id), slow.graph_exec_id)
    return Inflation(gpu, host, "", timed_by_copy(recording, graph_id))


def _host_ratio(calls: LaunchCalls, graph_exec_id: int) -> float | None:
    """Return launch calls with node times over those without, none that waited for a queue."""
    mine = (calls.graph_exec_id == graph_exec_id) & (calls.ordinal > 0) & calls.is_alone
    plain, recorded = (calls.call_ns[mine & (calls.node_level == level)] for level in (0, 1))
    if not len(plain) or not len(recorded) or not np.median(plain):
        return None
    return float(np.median(recorded) / np.median(plain))
