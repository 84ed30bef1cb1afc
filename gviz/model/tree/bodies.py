"""Bodies of a run's graphs: which of them belong to which node, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from gviz.model.tree.keep import Keep, build_anew
from gviz.recording import rows

if TYPE_CHECKING:
    from gviz.recording import Recording


class Bodies:
    """Bodies by the graph and the node that they belong to.

    No order among the ids of graphs is taken for granted: a body may be numbered before the graph
    that its node is in.

    Parameters
    ----------
    graphs
        All of a run.
    """

    def __init__(self, graphs: Iterable[rows.Graph]) -> None:
        self._of: dict[int, dict[int | None, list[rows.Graph]]] = {}
        for graph in graphs:
            if graph.parent_graph_id is not None:
                of_graph = self._of.setdefault(graph.parent_graph_id, {})
                of_graph.setdefault(graph.parent_node_id, []).append(graph)
        for of_graph in self._of.values():
            for bodies in of_graph.values():
                bodies.sort(key=lambda body: (body.branch or 0, body.graph_id))

    def by_node(self, graph_id: int) -> Mapping[int | None, Sequence[rows.Graph]]:
        """Return the bodies of each node of a graph, by branch.

        Of None: those whose node is not recorded. Nodes of a graph that was instantiated before
        gviz attached may be of the body of any of its conditional nodes.
        """
        return self._of.get(graph_id, {})

    def of(self, graph_id: int) -> list[rows.Graph]:
        """Return the bodies of a graph's nodes, in the order of the nodes, by branch."""
        found = self.by_node(graph_id)
        last = max((node for node in found if node is not None), default=0) + 1
        return [
            body
            for node in sorted(found, key=lambda n: last if n is None else n)
            for body in found[node]
        ]

    def nested(self, graph_id: int) -> list[rows.Graph]:
        """Return the bodies in a graph at any depth, each followed by those in it."""
        found, waiting = [], self.of(graph_id)[::-1]
        while waiting:
            body = waiting.pop()
            found.append(body)
            waiting += self.of(body.graph_id)[::-1]
        return found


def in_nested_order(graphs: Sequence[rows.Graph]) -> list[rows.Graph]:
    """Return the graphs of a run: each that is launched, by number, then the bodies in it."""
    bodies = Bodies(graphs)
    outer = [graph for graph in graphs if graph.parent_graph_id is None]
    return [g for graph in outer for g in (graph, *bodies.nested(graph.graph_id))]


def read_bodies(recording: Recording, run_id: int, keep: Keep = build_anew) -> Bodies:
    """Return the bodies of a run's graphs. ``keep`` remembers them."""
    return keep(("bodies", run_id), lambda: Bodies(recording.fetch_graphs(run_id)))
