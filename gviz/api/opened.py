"""``gviz.open``: a recording as objects of Python, for scripts and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from gviz.analysis import (
    GraphData,
    GraphSubject,
    NodeData,
    PartRanking,
    analyze,
    rank_parts,
    read_graph_data,
    read_node_data,
)
from gviz.api.analyzed_graph import AnalyzedGraph
from gviz.api.frame import Frame, from_rows, table_kinds
from gviz.api.graph_frames import FRAMES
from gviz.api.notebook import summary_html
from gviz.api.recorded_graph import RecordedGraph
from gviz.api.showing import show
from gviz.comparison import Diff, compare_recordings
from gviz.errors import GvizError, RecordingError, UsageError
from gviz.model import is_failed, read_bodies
from gviz.recording import Recording, all_tables, rows
from gviz.report import launch_text
from gviz.stats import NotComputed
from gviz.whatif import WhatIf, parse_edits, read_what_if

if TYPE_CHECKING:
    import networkx
    import pandas
    import polars

_R = TypeVar("_R")


def open(path: str | PathLike[str]) -> Opened:
    """Open a recording for reading.

    Parameters
    ----------
    path
        A ``.gviz`` file.

    Returns
    -------
    Opened
        Its runs and graphs; close it, or use it in a ``with`` statement.

    Raises
    ------
    RecordingError
        If it cannot be read, or was written by another version of gviz; the message says what to
        do.
    """
    return Opened.at(path)


class Opened:
    """A recording that stays open until :meth:`close`.

    Parameters
    ----------
    recording
        The gate to the file, for what is not offered here.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    @classmethod
    def at(cls, path: str | PathLike[str]) -> Opened:
        """Open a file; see :func:`open`."""
        return cls(Recording(str(path)))

    def __enter__(self) -> Opened:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; nothing can be read after that."""
        self.recording.close()

    @cached_property
    def runs(self) -> tuple[OpenedRun, ...]:
        """The runs, in order of run_id."""
        return tuple(OpenedRun(self.recording, run) for run in self.recording.fetch_runs())

    @property
    def graphs(self) -> tuple[OpenedGraph, ...]:
        """The graphs of all runs that could be launched, bodies of others left out."""
        return tuple(graph for run in self.runs for graph in run.graphs)

    def graph(self, which: int | str) -> OpenedGraph:
        """Return the one graph of an id, or of a name or pattern of names (``*`` and ``?``).

        Raises
        ------
        GvizError
            If there is none, or more than one.
        """
        found = [graph for graph in self.graphs if _is(graph, which)]
        if len(found) != 1:
            known = ", ".join(f"{g.row.graph_id} {g.name!r}" for g in found or self.graphs)
            raise GvizError(
                f"{self.recording.path}: {len(found)} graphs are {which!r}; there are: "
                f"{known or 'none'}"
            )
        return found[0]

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables of a recording (docs/recording.md)."""
        return tuple(table.name for table in all_tables())

    def frame(self, table: str) -> Frame:
        """Return a whole table of the file; GvizError if there is none of that name."""
        for known in all_tables():
            if known.name == table:
                kinds = table_kinds(known)
                order = known.columns[0].name
                found = self.recording.fetch_columns(known.row, tuple(kinds), {}, order)
                return from_rows(kinds, found)
        raise GvizError(f"there is no table {table!r}; there are {', '.join(self.tables)}")

    def to_pandas(self, table: str) -> pandas.DataFrame:
        """Return a whole table of the file as a pandas DataFrame."""
        return self.frame(table).to_pandas()

    def to_polars(self, table: str) -> polars.DataFrame:
        """Return a whole table of the file as a polars DataFrame."""
        return self.frame(table).to_polars()

    def diff(self, after: Opened) -> Diff:
        """Return what became of this recording's graphs in another, as ``gviz diff`` reports it."""
        return compare_recordings(self.recording, after.recording)

    def __repr__(self) -> str:
        lines = [f"<gviz recording {self.recording.path}"]
        for run in self.runs:
            lines.append(f"  {run!r}")
            lines += [f"    {graph!r}" for graph in run.graphs]
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        """Return the summary that notebooks show."""
        return summary_html(
            self.recording.path.name, [(r.row.name, r.devices, r.graphs) for r in self.runs]
        )

    def show(
        self, graph: int | str | None = None, *, server: bool = False, height: int = 720
    ) -> None:
        """Show the view: in a notebook inside the cell, else in the browser as ``gviz view`` does.

        Parameters
        ----------
        graph
            Only this one, by id, name or pattern; None: all, as far as a notebook holds them.
        server
            Also in a notebook: serve it to a browser of this machine until interrupted.
        height
            Of the frame in a notebook, in pixels.

        Raises
        ------
        GvizError
            If there is no such graph, or the view is too large for a notebook.
        """
        chosen = self.graphs if graph is None else (self.graph(graph),)
        show(self.recording.path, [g.row.graph_id for g in chosen], server=server, height=height)


class OpenedRun:
    """One run of a recording.

    Attributes
    ----------
    row
        What is recorded of it.
    """

    def __init__(self, recording: Recording, row: rows.Run) -> None:
        self._recording = recording
        self.row = row

    @cached_property
    def graphs(self) -> tuple[OpenedGraph, ...]:
        """Its graphs that could be launched, in order of graph_id."""
        found = self._recording.fetch_graphs(self.row.run_id)
        return tuple(
            OpenedGraph(self._recording, graph)
            for graph in found
            if graph.parent_graph_id is None and not is_failed(graph)
        )

    @property
    def all_graphs(self) -> tuple[OpenedGraph, ...]:
        """All its graphs, also bodies and those that failed, in order of graph_id."""
        found = self._recording.fetch_graphs(self.row.run_id)
        return tuple(OpenedGraph(self._recording, graph) for graph in found)

    @property
    def devices(self) -> list[rows.Device]:
        """The GPUs it used."""
        return self._recording.fetch_devices(self.row.run_id)

    def __repr__(self) -> str:
        return f"<run {self.row.run_id}: {self.row.name}>"


class OpenedGraph(RecordedGraph):
    """A graph, or the body of a node.

    Attributes
    ----------
    row
        What is recorded of it.
    recording
        The gate to the file.
    """

    @cached_property
    def bodies(self) -> tuple[OpenedGraph, ...]:
        """The bodies of its nodes, in the order of the nodes, by branch."""
        bodies = read_bodies(self.recording, self.row.run_id).of(self.row.graph_id)
        return tuple(OpenedGraph(self.recording, graph) for graph in bodies)

    def show(self, *, server: bool = False, height: int = 720) -> None:
        """Show it, as :meth:`Opened.show` does."""
        show(self.recording.path, [self.row.graph_id], server=server, height=height)

    def analyze(self) -> AnalyzedGraph:
        """Return what ``gviz analyze`` says of it; print it, or let a notebook show it."""
        (run,) = analyze(self.recording, graph_id=self.row.graph_id).runs
        return AnalyzedGraph.of(run)

    def what_if(self, **edits: str | Sequence[str]) -> WhatIf:
        """Return what a launch would take with edits made together, as ``gviz what-if`` says it.

        Parameters
        ----------
        **edits
            The options of ``gviz what-if`` and their values, one or several each:
            ``off="attention"``, ``scale=["GEMM=0.5", "norm=0.9"]``.

        Raises
        ------
        UsageError
            If there is none, one is not understood, or it finds nothing to change.
        RecordingError
            If nothing can be computed; with the reason.
        """
        found = list(parse_edits(edits))
        if not found:
            raise UsageError('give an edit, as off="attention"; rank_parts() needs none')
        return read_what_if(self.recording, self.row.graph_id).ask(found)

    def rank_parts(self) -> PartRanking:
        """Return kernel families and layers, those first of which 10% off would bring most."""
        return rank_parts(read_what_if(self.recording, self.row.graph_id).subject)

    @cached_property
    def _subject(self) -> GraphSubject:
        return GraphSubject(self.recording, self.row)

    def data(self) -> GraphData:
        """Return its inputs, outputs, and what values of its nodes tell, as ``gviz values`` does.

        Raises
        ------
        RecordingError
            If no values were read; with the reason.
        """
        return _computed(read_graph_data(self._subject))

    def values(self, node: int) -> NodeData:
        """Return what the memory that a node is given held before and after it.

        ``load()`` of a moment (``values.memory[0].after``) returns the elements, where contents
        were kept (``gviz run --dump``).

        Parameters
        ----------
        node
            Its number, as pages show it.

        Raises
        ------
        RecordingError
            If there is no such node, or no values of it were read; with the reason.
        """
        at = self._subject.graph.index_of(node)
        if at is None:
            raise RecordingError(f"graph {self.row.graph_id} has no node {node}: see .nodes")
        return _computed(read_node_data(self._subject, at))

    # -- tables and graphs of other libraries -------------------------------------------

    def frame(self, what: str) -> Frame:
        """Return one of its tables: ``nodes``, ``edges``, ``launches`` or ``spans``.

        Raises
        ------
        GvizError
            If there is none of that name.
        """
        if what not in FRAMES:
            raise GvizError(f"there is no table {what!r} of a graph; there are {', '.join(FRAMES)}")
        return FRAMES[what](self)

    def to_pandas(self, what: str = "nodes") -> pandas.DataFrame:
        """Return one of its tables as a pandas DataFrame; see :meth:`frame`."""
        return self.frame(what).to_pandas()

    def to_polars(self, what: str = "nodes") -> polars.DataFrame:
        """Return one of its tables as a polars DataFrame; see :meth:`frame`."""
        return self.frame(what).to_polars()

    def to_networkx(self) -> networkx.MultiDiGraph[int]:
        """Return nodes and edges as a networkx graph.

        Nodes are node ids, with the columns of ``frame("nodes")`` that are known as attributes;
        edges have type, from_port and to_port. Without known edges there are none.
        """
        import networkx

        found: networkx.MultiDiGraph[int] = networkx.MultiDiGraph(name=self.name)
        frame = self.frame("nodes")
        for values in zip(*frame.values.values(), strict=True):
            known = dict(zip(frame.kinds, values, strict=True))
            node = known.pop("node_id")
            found.add_node(node, **{k: v for k, v in known.items() if v is not None})
        edges = self.frame("edges").values
        for tail, head, kind, out, into in zip(*edges.values(), strict=True):
            attributes = {"type": int(kind), "from_port": int(out), "to_port": int(into)}
            found.add_edge(int(tail), int(head), **attributes)
        return found

    def __repr__(self) -> str:
        took = launch_text(self.launch_times)
        time = f", launch {took}" if took else ""
        return (
            f"<graph {self.row.graph_id}: {self.name}, {self.node_count:,} nodes, "
            f"{self.launch_count:,} launches{time}>"
        )


def _computed(found: _R | NotComputed) -> _R:
    if isinstance(found, NotComputed):
        raise RecordingError(f"no values: {found.not_computed}")
    return found


def _is(graph: OpenedGraph, which: int | str) -> bool:
    if isinstance(which, int):
        return graph.row.graph_id == which
    return graph.name == which or fnmatchcase(graph.name, which)
