"""Bodies that only one of two graphs has: nothing corresponds to what is in them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from gviz.analysis import NodeRef
from gviz.comparison.diff_result import LoneBody
from gviz.model import Bodies
from gviz.recording import DamagedError, rows

if TYPE_CHECKING:
    from gviz.recording import Recording


def lone_bodies(
    recording: Recording,
    graph_id: int,
    bodies: Bodies,
    compared: Collection[int],
) -> tuple[LoneBody, ...]:
    """Return the bodies nested in a graph that are not compared, at any depth, outermost first.

    Parameters
    ----------
    recording, graph_id
        Where from, and in which graph.
    bodies
        Of the run.
    compared
        The graph_ids of levels that have a counterpart.

    Raises
    ------
    DamagedError
        If the node that a body is in is not there.
    """
    found: list[LoneBody] = []
    waiting = [graph_id]
    while waiting:
        outer = waiting.pop(0)
        held = bodies.of(outer)
        waiting += [body.graph_id for body in held]
        lone = [body for body in held if body.graph_id not in compared]
        if not lone:
            continue
        holders: dict[int | None, NodeRef] = {ref.node_id: ref for ref in _refs(recording, outer)}
        for body in lone:
            if body.parent_node_id not in holders:
                what = f"graph {body.graph_id} is said to be in a node that graph {outer} has not"
                raise DamagedError(what)
            found.append(
                LoneBody(
                    graph_id=body.graph_id,
                    holder=holders[body.parent_node_id],
                    branch=body.branch,
                    nodes=tuple(_refs(recording, body.graph_id)),
                )
            )
    return tuple(found)


def _refs(recording: Recording, graph_id: int) -> Iterator[NodeRef]:
    columns = ("node_id", "name")
    for node_id, name in recording.fetch_columns(
        rows.Node, columns, {"graph_id": graph_id}, "node_id"
    ):
        yield NodeRef(graph_id, node_id, name)
