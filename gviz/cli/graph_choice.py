"""The graph that ``--graph`` means in every command that reads a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from gviz.errors import RecordingError
from gviz.recording import Recording, rows

#: What help calls the value of ``--graph``, and says of it.
GRAPH = "ID|NAME"
GRAPH_MEANS = "its number, its name, or a shell pattern of names; 'gviz info' lists them"


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
    raise RecordingError(f"no graph is called {wanted!r}; 'gviz info' lists them")


def is_graph(recording: Recording, wanted: str) -> bool:
    """Return whether there is a graph that :func:`find_graph` would take, or several."""
    return bool(_matches(recording, wanted))


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
