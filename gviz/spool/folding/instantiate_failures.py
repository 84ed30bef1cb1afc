"""Instantiations that the driver refused."""

from __future__ import annotations

from gviz.cuda import explain_instantiate, instantiate_result_name, node_type_name
from gviz.recording import InstantiateFailure
from gviz.spool.folding.graphs import FAILED_INSTANTIATION, GraphFolder
from gviz.spool.records import NO_NODE, GraphWalk, InstantiateFailedRecord
from gviz.spool.streams import Contents


def fold_instantiate_failures(contents: Contents, folder: GraphFolder) -> list[InstantiateFailure]:
    """Return a row for each refused instantiation, in order; graphs seen only there are added."""
    added: dict[int, int] = {}
    found: list[InstantiateFailure] = []
    for record, walks in contents.life.instantiates_failed:
        graph_id = _known(folder, record.graph_id) or added.get(record.graph_id)
        if graph_id is None and walks:
            graph_id = folder.add_failed(walks, FAILED_INSTANTIATION, edges_known=True)
            added[record.graph_id] = graph_id
        node_id = None if record.error_node == NO_NODE else record.error_node & 0xFFFFFFFF
        detail = None if record.detail < 0 else record.detail
        found.append(
            InstantiateFailure(
                instantiate_failure_id=len(found) + 1,
                run_id=folder.graphs.run_id,
                graph_id=graph_id,
                call=contents.call_names.get(record.call, f"driver call {record.call}"),
                start_ns=record.start_ns,
                end_ns=record.end_ns,
                thread_id=record.thread_id,
                flags=record.flags,
                result=record.result,
                detail=detail,
                detail_name=instantiate_result_name(detail),
                node_id=node_id,
                explanation=explain_instantiate(
                    record.result,
                    detail,
                    _node_in_words(folder, graph_id, node_id),
                    _types(folder, graph_id, walks),
                    _living(folder, graph_id, record),
                ),
            )
        )
    return found


def _known(folder: GraphFolder, cuda_graph_id: int) -> int | None:
    """Return the id of a graph that was instantiated as well."""
    found = [
        level.row.graph_id
        for level in folder.graphs.levels.values()
        if cuda_graph_id and level.row.cuda_graph_id == cuda_graph_id
    ]
    return found[-1] if found else None


def _node_in_words(folder: GraphFolder, graph_id: int | None, node_id: int | None) -> str | None:
    if node_id is None:
        return None
    level = folder.graphs.levels.get(graph_id) if graph_id is not None else None
    node = level.find(node_id) if level else None
    if node is None:
        return f"node {node_id}"
    return f"node {node_id} ({node_type_name(int(node['type']))} {node['name']})"


def _types(folder: GraphFolder, graph_id: int | None, walks: list[GraphWalk]) -> frozenset[int]:
    types = {node.type for walk in walks for node in walk.nodes}
    if graph_id is not None:
        family = folder.graphs.family(graph_id)
        types |= {kind for level in family for kind in level.nodes["type"].tolist()}
    return frozenset(types)


def _living(folder: GraphFolder, graph_id: int | None, record: InstantiateFailedRecord) -> int:
    """Return how many executables of a graph existed when another one was refused."""
    return sum(
        row.graph_id == graph_id
        and (row.instantiate_end_ns or 0) <= record.start_ns
        and (row.destroyed_ns is None or row.destroyed_ns > record.start_ns)
        for row in folder.graphs.execs.values()
    )
