"""The graph that ``--graph`` means in every command that reads a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from gviz.errors import RecordingError, UsageError
from gviz.recording import Recording, rows
from gviz.text import likely_meant

#: What help calls the value of ``--graph``, and says of it.
GRAPH = "ID|NAME"
GRAPH_MEANS = "its number, its name, or a shell pattern of names; 'gviz info' lists them"
_LISTED = "; 'gviz info' lists them"


def find_graph(recording: Recording, wanted: str) -> int:
    """Return the graph_id of the graph of a number, else of a name, else of a pattern of names.

    Raises
    ------
    RecordingError
        If there is none, or several.
    """
    graphs = _matches(recording, wanted)
    found = [graph.graph_id for graph in graphs]
    if len(found) == 1:
        return found[0]
    if found:
        numbers = ", ".join(map(str, found))
        raise RecordingError(f"graphs {numbers} are called {wanted!r}; give one of the numbers")
    if _is_number(wanted):
        return recording.fetch_graph(int(wanted)).graph_id  # it says that there is none
    near = likely_meant(wanted, _names(recording))
    raise RecordingError(f"no graph is called {wanted!r}{near or _LISTED}")


def is_graph(recording: Recording, wanted: str) -> bool:
    """Return whether there is a graph that :func:`find_graph` would take, or several."""
    return bool(_matches(recording, wanted))


def top_graphs(recording: Recording) -> list[int]:
    """Return the graphs that are no bodies of others.

    Raises
    ------
    RecordingError
        If there is none.
    """
    found = [g.graph_id for g in recording.fetch_graphs() if g.parent_graph_id is None]
    if not found:
        raise RecordingError(f"{recording.path} has no graph; 'gviz info' says why")
    return found


def only_graph(recording: Recording) -> int:
    """Return the graph of a recording that has one.

    Raises
    ------
    RecordingError
        If there is none.
    UsageError
        If there are several.
    """
    found = top_graphs(recording)
    if len(found) > 1:
        from gviz.model import graph_titles

        titles = graph_titles(recording, recording.fetch_graphs())
        named = ", ".join(f"{graph_id} {titles[graph_id]}" for graph_id in found)
        raise UsageError(f"give --graph: there are graphs {named}")
    return found[0]


def _names(recording: Recording) -> set[str]:
    from gviz.model import graph_titles

    graphs = recording.fetch_graphs()
    named = {graph.name for graph in graphs if graph.name}
    return named | set(graph_titles(recording, graphs).values())


def _matches(recording: Recording, wanted: str) -> list[rows.Graph]:
    from gviz.model import graph_titles

    graphs = recording.fetch_graphs()
    found = _named(graphs, wanted, {graph.graph_id: graph.name for graph in graphs})
    return found or _named(graphs, wanted, graph_titles(recording, graphs))


def _named(graphs: Sequence[rows.Graph], wanted: str, names: Mapping[int, str]) -> list[rows.Graph]:
    return (
        [graph for graph in graphs if _is_number(wanted) and graph.graph_id == int(wanted)]
        or [graph for graph in graphs if names[graph.graph_id] == wanted]
        or [graph for graph in graphs if fnmatchcase(names[graph.graph_id], wanted)]
    )


def _is_number(wanted: str) -> bool:
    return wanted.isascii() and wanted.isdigit()
