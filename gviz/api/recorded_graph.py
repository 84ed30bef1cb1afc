"""One graph of a recording, read when it is asked for."""

from __future__ import annotations

from functools import cached_property

from gviz.model import LaunchTimes, launch_times
from gviz.recording import EdgeArrays, LaunchArrays, Recording, SpanArrays, rows


class RecordedGraph:
    """A graph, or the body of a node.

    Attributes
    ----------
    row
        Its row.
    recording
        The gate to the file.
    """

    def __init__(self, recording: Recording, row: rows.Graph) -> None:
        self.recording = recording
        self.row = row

    @property
    def name(self) -> str:
        """The name shown."""
        return self.row.name

    @cached_property
    def nodes(self) -> list[rows.Node]:
        """Its nodes, in order of creation."""
        return self.recording.fetch_nodes(self.row.graph_id)

    @property
    def node_count(self) -> int:
        """Return the number of nodes of this level."""
        key = {"graph_id": self.row.graph_id}
        return len(self.recording.fetch_arrays(rows.Node, key, ("node_id",)))

    @cached_property
    def edges(self) -> EdgeArrays | None:
        """Its dependencies as arrays; None: not known."""
        if self.row.topology_id is None:
            return None
        return self.recording.fetch_edges(self.row.topology_id)

    @cached_property
    def launches(self) -> LaunchArrays:
        """Its launches that are known one by one, as arrays."""
        return self.recording.fetch_launch_arrays(self.row.graph_id)

    @property
    def launch_count(self) -> int:
        """Its launches, recorded one by one or not."""
        return self.recording.count_launches(self.row.graph_id)[0]

    @property
    def launch_times(self) -> LaunchTimes:
        """The median GPU time of its launches, and how it was measured."""
        return launch_times(self.recording, self.row.graph_id)

    @cached_property
    def spans(self) -> SpanArrays:
        """The spans of all its recorded launches, as arrays; also those of nodes in bodies."""
        return self.recording.fetch_graph_spans(self.row.graph_id)
