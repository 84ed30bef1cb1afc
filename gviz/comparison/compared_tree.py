"""A graph with the bodies in it as they are compared, each level read when it is used."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from gviz.comparison.changes import (
    DETAIL_COLUMNS,
    DurationReader,
    LevelDetails,
    NodeDurations,
    read_details,
)
from gviz.comparison.pairing import COMPARED_COLUMNS, ComparedGraph, read_compared_graph
from gviz.model import Keep, TreeLevel, TreeSpans, build_anew, read_spans, read_timed_tree

if TYPE_CHECKING:
    from gviz.recording import Recording


class ComparedTree:
    """A graph that is launched, with the bodies in it.

    Parameters
    ----------
    recording
        Stays open as long as the tree is used.
    graph_id
        The graph, or a body in it.
    keep
        Remembers the tree, and what graphs of a run have in common.

    Attributes
    ----------
    tree
        The graph that is launched.

    Raises
    ------
    RecordingError
        If there is no such graph.
    """

    def __init__(self, recording: Recording, graph_id: int, keep: Keep = build_anew) -> None:
        self.recording = recording
        launched = recording.fetch_outermost(recording.fetch_graph(graph_id))
        columns = (*COMPARED_COLUMNS, *DETAIL_COLUMNS)
        self.tree = read_timed_tree(recording, launched.graph_id, keep, columns)
        self._levels = {level.graph.graph_id: level for level in self.tree.levels}
        self._functions = recording.fetch_functions(launched.run_id)

    @cached_property
    def spans(self) -> TreeSpans:
        """The spans of all recorded launches."""
        return read_spans(self.recording, self.tree)

    def level(self, graph_id: int) -> TreeLevel:
        """Return the level that a graph or body is."""
        return self._levels[graph_id]

    def graph(self, graph_id: int) -> ComparedGraph:
        """Return what nodes of a level do and wait for."""
        level = self.level(graph_id)
        return read_compared_graph(self.recording, self.tree, level, self._functions)

    def details(self, graph_id: int) -> LevelDetails:
        """Return the nodes of a level with their parameters."""
        return read_details(self.recording, self.tree, self.level(graph_id), self._functions)

    def durations(self, graph_id: int) -> NodeDurations:
        """Return the durations of the nodes of a level."""
        return self._durations.read(self.level(graph_id))

    @cached_property
    def _durations(self) -> DurationReader:
        return DurationReader(self.recording, self.tree, self.spans)
