"""A question of a client: its arguments, what it is about, and the steps that lead on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from gviz.agents.answer import NextStep
from gviz.agents.recording_set import RecordingSet
from gviz.analysis import Analysis, GraphAnalysis, GraphSubject, RunAnalysis, analyze
from gviz.app import graph_page
from gviz.errors import UsageError, no_such_graph
from gviz.recording import Recording

#: Nodes that a page has selected.
_SELECTED = 8


class Question:
    """A question of a client.

    Parameters
    ----------
    recordings
        What it may be about.
    verbs
        Names of the verbs that there are, for steps that lead on.
    arguments
        Checked.
    """

    def __init__(
        self, recordings: RecordingSet, verbs: Iterable[str], arguments: Mapping[str, object]
    ) -> None:
        self.recordings = recordings
        self._verbs = frozenset(verbs)
        self._arguments = arguments

    def has(self, name: str) -> bool:
        """Return whether an argument is there."""
        return name in self._arguments

    def text(self, name: str) -> str | None:
        """Return an argument that is a text; None: it is not there."""
        return cast("str | None", self._arguments.get(name))

    def texts(self, name: str) -> Sequence[str]:
        """Return an argument that is a list of texts; empty: it is not there."""
        return cast("Sequence[str]", self._arguments.get(name, ()))

    def integer(self, name: str) -> int | None:
        """Return an argument that is an integer; None: it is not there."""
        return cast("int | None", self._arguments.get(name))

    def number(self, name: str, default: float) -> float:
        """Return an argument that is a number."""
        return float(cast("float", self._arguments.get(name, default)))

    def flag(self, name: str) -> bool:
        """Return an argument that is true or false; it is false where it is not there."""
        return bool(self._arguments.get(name))

    # -- what it is about ------------------------------------------------------------------

    def file(self, argument: str = "recording") -> tuple[str, Path]:
        """Return name and path of the recording that it is about."""
        return self.recordings.find(self.text(argument))

    @contextmanager
    def opened(self) -> Iterator[Recording]:
        """Open the recording that it is about."""
        with self.recordings.opened(self.file()[1]) as recording:
            yield recording

    def brief(self, path: Path, most_graphs: int) -> Analysis:
        """Return the analysis of the graphs of each run whose launches took longest together."""
        return self.recordings.once(
            path, ("brief", most_graphs), lambda r: analyze(r, most_graphs=most_graphs)
        )

    def graph_id(self, argument: str = "recording") -> int:
        """Return the graph that it is about: the one named, else whose launches took longest.

        Parameters
        ----------
        argument
            The one that names its recording.

        Raises
        ------
        UsageError
            If there is no graph.
        """
        wanted = self.integer("graph")
        if wanted is not None:
            return wanted
        name, path = self.file(argument)
        for run in self.brief(path, 1).runs:
            if run.graphs:
                return run.graphs[0].graph_id
        raise UsageError(f"{name} has no graph that was instantiated; see overview")

    def analysis(self) -> tuple[RunAnalysis, GraphAnalysis]:
        """Return the analysis of the graph that it is about, and of its run with it alone."""
        graph_id = self.graph_id()
        found = self.recordings.once(
            self.file()[1], ("graph", graph_id), lambda r: analyze(r, graph_id=graph_id)
        )
        (run,) = found.runs
        return run, run.graphs[0]

    @contextmanager
    def subject(self) -> Iterator[GraphSubject]:
        """Open the graph that it is about, for an analysis of its own."""
        graph_id = self.graph_id()
        with self.opened() as recording:
            tops = [g for g in recording.fetch_graphs() if g.parent_graph_id is None]
            row = next((g for g in tops if g.graph_id == graph_id), None)
            if row is None:
                raise UsageError(no_such_graph(recording.path.name, graph_id))
            yield GraphSubject(recording, row)

    # -- what the answer leads to -------------------------------------------------------------

    def title(self, graph: GraphAnalysis | None = None) -> str:
        """Return what an answer is about."""
        name = self.file()[0]
        return name if graph is None else f"{name}, graph {graph.graph_id}: {graph.title}"

    def steps(self, *steps: NextStep) -> tuple[NextStep, ...]:
        """Return those steps whose verb there is, about the same recording."""
        several = len(self.recordings.files()) > 1
        about = {"recording": self.file()[0]} if several else {}
        return tuple(
            NextStep(step.verb, step.why, {**about, **step.arguments})
            for step in self.steps_of(*steps)
        )

    def steps_of(self, *steps: NextStep) -> tuple[NextStep, ...]:
        """Return those steps whose verb there is, with the arguments that they have."""
        return tuple(step for step in steps if step.verb in self._verbs)

    def pages(self, graph_id: int, *node_ids: int) -> tuple[str, ...]:
        """Return the page of a graph with nodes selected, as the viewer of this file has it."""
        return (graph_page(self.file()[1], graph_id, node_ids[:_SELECTED]),)
