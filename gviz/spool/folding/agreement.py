"""Agreement of the records of nested nodes with the nodes they are given to.

The numbers of nested nodes follow a rule that is measured, not documented. A driver that
numbers otherwise shows here: its records would be of other kernels.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gviz.cuda import NodeType
from gviz.runs import Activities, KernelFunctions, Rows
from gviz.spool.folding.graphs import FoldedGraph, Graphs
from gviz.spool.streams import Contents, Samples
from gviz.stats import UNKNOWN

_GRID = ["grid_x", "grid_y", "grid_z"]

#: node.not_timed_reason of nested nodes whose records contradict them.
CONTRADICTED = "its recorded times could not be distinguished from those of other nodes"


def give_up_contradicted(
    graphs: Graphs, contents: Contents, kernels: KernelFunctions
) -> dict[int, int]:
    """Take the executable ids from nested nodes that recorded work contradicts.

    Their records then stand as nodes of bodies, unattributed.

    Returns
    -------
    dict
        How many nodes were contradicted, by graph_id of the top-level graph.
    """
    nested = {
        exec_id: graphs.family(row.graph_id)[1:]
        for exec_id, row in graphs.execs.items()
        if len(graphs.family(row.graph_id)) > 1
    }
    if not nested:
        return {}
    seen = contents.activity_stream.samples
    updated = _updated(contents)
    found: dict[int, int] = {}
    for exec_id, levels in nested.items():
        check = _Check(levels, contents, kernels, updated=exec_id in updated)
        count = sum(
            not check.agrees(node, record)
            for level in levels
            for node, record in _recorded(level, exec_id, seen)
        )
        if count:
            top = graphs.execs[exec_id].graph_id
            found[top] = max(found.get(top, 0), count)
    for top in found:
        for level in graphs.family(top)[1:]:
            _forget(level)
    return found


def _updated(contents: Contents) -> set[int]:
    """Return the executables whose nodes may have been given other work than the template's."""
    lives = {
        life.exec_id
        for life in contents.lives
        if life.result == 0 and "Update" in contents.call_names.get(life.call, "")
    }
    return lives | {update.exec_id for update in contents.life.updates if update.result == 0}


def _recorded(
    level: FoldedGraph, exec_id: int, samples: Samples
) -> Iterator[tuple[Rows, Activities]]:
    """Yield the numbered nodes of a level that have a record, with that, one by one."""
    numbered = np.flatnonzero(level.numbers != UNKNOWN)
    records, has_one = samples.of(exec_id, level.numbers[numbered])
    yield from zip(level.nodes[numbered[has_one]], records, strict=True)


class _Check:
    """Compares records with the nodes of their number, for one executable."""

    def __init__(
        self,
        levels: list[FoldedGraph],
        contents: Contents,
        kernels: KernelFunctions,
        *,
        updated: bool,
    ) -> None:
        self._contents = contents
        self._kernels = kernels
        self._updated = updated
        self._grids = {grid for level in levels for grid in level.nodes[_GRID].tolist()}

    def agrees(self, node: Rows, record: Activities) -> bool:
        kind, expected = int(record["type"]), int(node["type"])
        if node["exec_node_id"] == UNKNOWN:
            return False  # a node of this kind gets no record
        if kind != expected:
            # The driver may run copies and memsets as kernels.
            return kind == NodeType.KERNEL and expected in (NodeType.MEMCPY, NodeType.MEMSET)
        if kind != NodeType.KERNEL or self._updated:
            return True
        name = self._contents.strings.get(int(record["name"]))
        function = int(node["function_id"])
        known = None if function == UNKNOWN else self._kernels.symbol(function)
        if name is not None and known not in (None, "?", name):
            return False
        # Another grid may come from an update that was not seen; one of another nested node's
        # comes from that node.
        grid = tuple(record["grid"].tolist())
        return grid == node[_GRID].item() or grid not in self._grids


def _forget(level: FoldedGraph) -> None:
    timed = level.nodes["exec_node_id"] != UNKNOWN
    level.nodes["exec_node_id"][timed] = UNKNOWN
    level.nodes["not_timed_reason"][timed] = CONTRADICTED
