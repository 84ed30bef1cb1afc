"""Dependencies between the executions of a launch: which waited for which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gviz.dag import cover_graph
from gviz.model import Owner, edge_indices
from gviz.recording import rows
from gviz.stats import IntArray

if TYPE_CHECKING:
    from gviz.recording import Recording

_NONE = -1


@dataclass(frozen=True, slots=True)
class LaunchTimes:
    """The spans of a launch, by node and iteration; int64 arrays of one length, ns.

    ``exec_id`` is the id of the node that ran, as spans carry it.
    """

    exec_id: IntArray
    start_ns: IntArray
    end_ns: IntArray


class Dependencies:
    """The edges of a graph and of its bodies, asked launch by launch.

    Parameters
    ----------
    recording, graph
        A graph that is launched.
    owners
        As of :func:`gviz.model.owners.span_owners`.

    Attributes
    ----------
    chain
        int64, the chain of each node of the outermost level, of a cover of that level.
    """

    def __init__(
        self, recording: Recording, graph: rows.Graph, owners: Mapping[int, Owner]
    ) -> None:
        ids = _node_ids(recording, graph.graph_id)
        self._edges = edge_indices(recording, graph, ids[0])
        self._node_count = len(ids[0])
        known = sorted(owners)
        self._known = np.array(known, np.int64)
        self._owner = np.array([owners[i].node for i in known], np.int64)
        cover = cover_graph(self._node_count, self._edges.source, self._edges.target)
        self.chain = cover.chain
        self._order = np.argsort(cover.row, kind="stable")
        by_head = np.argsort(self._edges.target, kind="stable")
        self._before = self._edges.source[by_head]
        self._ends = np.searchsorted(self._edges.target[by_head], np.arange(self._node_count + 1))
        self._inner = self._find_inner(recording, graph)

    def _find_inner(self, recording: Recording, graph: rows.Graph) -> tuple[IntArray, IntArray]:
        """Return the edges between timed nodes of bodies, by ids in the executable."""
        tails, heads = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        inside = {graph.graph_id}
        # A body's number is above that of the graph around it.
        for body in recording.fetch_graphs(graph.run_id):
            if body.parent_graph_id not in inside:
                continue
            inside.add(body.graph_id)
            node_ids, exec_ids = _node_ids(recording, body.graph_id)
            edges = edge_indices(recording, body, node_ids)
            tails.append(exec_ids[edges.source])
            heads.append(exec_ids[edges.target])
        return np.concatenate(tails), np.concatenate(heads)

    def pairs(self, times: LaunchTimes) -> tuple[IntArray, IntArray]:
        """Return indices of spans: of what was waited for, and of what waited.

        An edge from or to a node that holds bodies is one from the last, or to the first, span
        inside. One through nodes without spans comes from the last to end of those before them.
        """
        outer = self._outer_pairs(times)
        inner = self._inner_pairs(times)
        return np.concatenate((outer[0], inner[0])), np.concatenate((outer[1], inner[1]))

    def _outer_pairs(self, times: LaunchTimes) -> tuple[IntArray, IntArray]:
        if not len(self._known) or not len(times.exec_id):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        at = np.minimum(np.searchsorted(self._known, times.exec_id), len(self._known) - 1)
        mine = np.flatnonzero(self._known[at] == times.exec_id)
        node = self._owner[at[mine]]
        first = np.full(self._node_count, _NONE, np.int64)
        last = np.full(self._node_count, _NONE, np.int64)
        # Written in this order so that the earliest start and the latest end stay.
        by_start = np.argsort(times.start_ns[mine], kind="stable")[::-1]
        first[node[by_start]] = mine[by_start]
        by_end = np.argsort(times.end_ns[mine], kind="stable")
        last[node[by_end]] = mine[by_end]
        # Nodes without a span, in an order of the graph.
        for bridge in self._order[last[self._order] < 0].tolist():
            reached = last[self._before[self._ends[bridge] : self._ends[bridge + 1]]]
            reached = reached[reached >= 0]
            if len(reached):
                last[bridge] = reached[np.argmax(times.end_ns[reached])]
        tail, head = last[self._edges.source], first[self._edges.target]
        both = (tail >= 0) & (head >= 0)
        return tail[both], head[both]

    def _inner_pairs(self, times: LaunchTimes) -> tuple[IntArray, IntArray]:
        """Pair the k-th execution of one node with the k-th of the other."""
        ids, begin, count = np.unique(times.exec_id, return_index=True, return_counts=True)
        tail, has_tail = _find(ids, self._inner[0])
        head, has_head = _find(ids, self._inner[1])
        both = has_tail & has_head
        tail, head = tail[both], head[both]
        turns = np.minimum(count[tail], count[head]) if len(tail) else np.zeros(0, np.int64)
        turn = np.arange(int(turns.sum())) - np.repeat(np.cumsum(turns) - turns, turns)
        return np.repeat(begin[tail], turns) + turn, np.repeat(begin[head], turns) + turn


def _node_ids(recording: Recording, graph_id: int) -> tuple[IntArray, IntArray]:
    """Return the ids of a level's nodes, ascending, and those in the executable (-1: none)."""
    names = ("node_id", "exec_node_id")
    found = recording.fetch_arrays(rows.Node, {"graph_id": graph_id}, names)
    return found.integers("node_id"), found.integers("exec_node_id", _NONE)


def _find(ids: IntArray, wanted: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    if not len(ids):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return at, ids[at] == wanted
