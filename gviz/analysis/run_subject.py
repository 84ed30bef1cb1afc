"""One run of a recording with what rules about whole runs need of it, read once."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gviz.analysis.launch_costs import LaunchCosts, costs_for_run
from gviz.analysis.node_families import SYMBOLS
from gviz.analysis.own_time import OwnTime, own_time
from gviz.analysis.sound_launches import SoundLaunches, join_launches, read_sound_launches
from gviz.analysis.sound_times import span_ns
from gviz.analysis.stream_operations import STREAM_OPERATIONS, read_stream_operations
from gviz.model import OF_RUN, is_failed, keeper
from gviz.recording import Columns, rows

if TYPE_CHECKING:
    from gviz.recording import Recording


class RunSubject:
    """One run; what is expensive is read when it is first used.

    Parameters
    ----------
    recording
        Stays open as long as the subject is used.
    run
        The run.
    costs_path
        Recording whose launch costs are to be used; None: those that fit its GPU best.
    """

    def __init__(
        self, recording: Recording, run: rows.Run, *, costs_path: Path | None = None
    ) -> None:
        self.recording = recording
        self.run = run
        self._costs_path = costs_path
        #: Remembers what its graphs have in common.
        self.keep = keeper(OF_RUN | {STREAM_OPERATIONS, SYMBOLS})

    @cached_property
    def costs(self) -> LaunchCosts | None:
        """Launch costs of its GPU; None: there are none at all."""
        return costs_for_run(self.recording, self.run, named=self._costs_path)

    @cached_property
    def all_graphs(self) -> list[rows.Graph]:
        """Graphs and bodies, failed ones too."""
        return self.recording.fetch_graphs(self.run.run_id)

    @cached_property
    def graphs(self) -> dict[int, rows.Graph]:
        """The top-level graphs that were instantiated, by graph_id."""
        return {
            g.graph_id: g for g in self.all_graphs if g.parent_graph_id is None and not is_failed(g)
        }

    @cached_property
    def execs(self) -> dict[int, rows.GraphExec]:
        """Their executables, by graph_exec_id."""
        found = [e for g in self.graphs for e in self.recording.fetch_graph_execs(g)]
        return {e.graph_exec_id: e for e in found}

    @cached_property
    def launches(self) -> SoundLaunches | None:
        """The graph launches that have a row, of all graphs, by when they were called.

        Without those of which that is not known; None: the run has no graph.
        """
        if not self.graphs:
            return None
        found = join_launches([read_sound_launches(self.recording, g) for g in self.graphs])
        known = np.flatnonzero(found.has_call)
        return found.take(known[np.argsort(found.host_start_ns[known], kind="stable")])

    @cached_property
    def own_time(self) -> OwnTime:
        """Return gviz's own part of captures and instantiations."""
        return own_time(self.recording, self.run.run_id)

    @property
    def stream_operations(self) -> Columns:
        """The operations outside graphs, by number."""
        return read_stream_operations(self.recording, self.run.run_id, self.keep)

    @cached_property
    def updates(self) -> list[rows.GraphUpdate]:
        """Updates of executables."""
        return self.recording.fetch_graph_updates(self.run.run_id)

    @cached_property
    def node_counts(self) -> dict[int, int]:
        """Nodes of each graph's outermost level, by graph_id; 0 where edges are not known."""
        return {
            g.graph_id: 0
            if g.topology_id is None
            else self.recording.fetch_topology(g.topology_id).node_count
            for g in self.graphs.values()
        }

    @cached_property
    def duration_ns(self) -> int | None:
        """Return the length of the recorded run; None: it did not end, or before it began."""
        return span_ns(self.run.started_ns, self.run.ended_ns)
