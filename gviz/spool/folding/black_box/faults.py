"""Contents of the black box of a process: rows of faults, of nodes and of addresses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gviz.cuda import read_core_dump
from gviz.dag import find_running
from gviz.recording import rows
from gviz.spool.folding.black_box.addresses import HeldBlocks, addresses_of
from gviz.spool.folding.black_box.core_dump import keep_core_dump
from gviz.spool.folding.black_box.words import read_words
from gviz.spool.folding.graphs import FoldedGraph, Graphs
from gviz.spool.records import FaultKind, FaultRecord, word_of
from gviz.spool.streams import Contents, MadeCrumbs

FaultRow = rows.Fault | rows.FaultNode | rows.FaultAddress
#: Nodes of a fault that get rows, and addresses.
_MOST_NODES, _MOST_ADDRESSES = 1000, 1000
CUT_OFF, CORE_DUMP = "cut off", "core dump"


class _Cut(NamedTuple):
    """An executable whose launch was running, and which of its crumbs that launch had left."""

    crumbs: MadeCrumbs
    left: np.ndarray


def fold_faults(
    contents: Contents, graphs: Graphs, spool: Path, *, has_ended: bool
) -> Iterator[FaultRow]:
    """Yield the rows of a process that has gone; none, if nothing failed.

    Parameters
    ----------
    has_ended
        Whether it ended as it should: what was running then is no fault.
    """
    words = read_words(spool)
    dump = keep_core_dump(spool, contents.metadata.get("process_id", 0))
    seen = _cause(contents, dump is not None, has_ended=has_ended)
    if seen is None:
        return
    fault, kind = seen
    known = read_core_dump(dump) if dump is not None else None
    cuts = [cut for cut in _cut_off(contents, words) if cut.crumbs.record.exec_id in graphs.execs]
    if kind == CUT_OFF and not cuts:
        return
    blocks = HeldBlocks(contents.blocks)
    found: list[_Cut | None] = [*cuts] or [None]
    for number, cut in enumerate(found, start=1):
        execution = None if cut is None else graphs.execs[cut.crumbs.record.exec_id]
        yield rows.Fault(
            fault_id=number,
            run_id=graphs.run_id,
            kind=kind,
            result=fault.result if fault is not None and kind == "error" else None,
            time_ns=None if fault is None else fault.time_ns,
            graph_id=None if execution is None else execution.graph_id,
            graph_exec_id=None if execution is None else execution.graph_exec_id,
            crumbs=0 if cut is None else len(cut.left),
            crumbs_left=0 if cut is None else int(cut.left.sum()),
            core_dump=None if dump is None else str(dump),
            kernel=None if known is None else known.kernel,
            program_counter=None if known is None else known.program_counter,
        )
        if cut is not None and execution is not None:
            yield from _nodes(cut, graphs, execution.graph_id, number, blocks)


def _cause(
    contents: Contents, has_dump: bool, *, has_ended: bool
) -> tuple[FaultRecord | None, str] | None:
    """Return what was noticed, and the kind of fault that it is; None: there was none."""
    errors = [one for one in contents.faults if one.kind == FaultKind.ERROR]
    stalls = [one for one in contents.faults if one.kind == FaultKind.STALL]
    if errors:
        return errors[0], word_of(FaultKind, FaultKind.ERROR)
    if has_dump:
        return None, CORE_DUMP
    if stalls:
        return stalls[-1], word_of(FaultKind, FaultKind.STALL)
    return None if has_ended else (None, CUT_OFF)


def _cut_off(contents: Contents, words: np.ndarray) -> Iterator[_Cut]:
    """Yield the executables whose last launch has not written its end."""
    for made in contents.crumbs:
        first = made.record.first
        if made.end <= len(words) and words[first] == 0:
            yield _Cut(made, words[first + 1 : made.end] != 0)


# -- nodes -------------------------------------------------------------------------------


def _nodes(
    cut: _Cut, graphs: Graphs, graph_id: int, fault_id: int, blocks: HeldBlocks
) -> Iterator[FaultRow]:
    left = {
        (int(node["graph_id"]), int(node["node_id"])): bool(is_left)
        for node, is_left in zip(cut.crumbs.nodes, cut.left, strict=True)
    }
    found = list(_Search(graphs, graph_id, left).run(graphs.levels[graph_id]))[:_MOST_NODES]
    for position, (role, level, node_id) in enumerate(found):
        yield rows.FaultNode(
            fault_id=fault_id,
            position=position,
            role=role,
            graph_id=level.row.graph_id,
            node_id=node_id,
        )
    yield from _addresses(found, fault_id, blocks)


def _addresses(
    found: list[tuple[str, FoldedGraph, int]], fault_id: int, blocks: HeldBlocks
) -> Iterator[rows.FaultAddress]:
    position = 0
    for role, level, node_id in found:
        if role != "running":
            continue
        for parameter in addresses_of(level, node_id, blocks):
            if position == _MOST_ADDRESSES:
                return
            place = blocks.place_of(parameter.address)
            yield rows.FaultAddress(
                fault_id=fault_id,
                position=position,
                graph_id=level.row.graph_id,
                node_id=node_id,
                argument=parameter.argument,
                address=parameter.address,
                state=place.state,
                block_address=place.block_address,
                block_bytes=place.block_bytes,
                freed_ns=place.freed_ns,
            )
            position += 1


class _Search:
    """The nodes of a graph and its child graphs that may have been running."""

    def __init__(self, graphs: Graphs, graph_id: int, left: dict[tuple[int, int], bool]) -> None:
        self._left = left
        self._inside: dict[tuple[int, int], list[FoldedGraph]] = {}
        for level in graphs.family(graph_id)[1:]:
            parent = (level.row.parent_graph_id or 0, level.row.parent_node_id or 0)
            self._inside.setdefault(parent, []).append(level)

    def run(self, level: FoldedGraph) -> Iterator[tuple[str, FoldedGraph, int]]:
        """Yield role, level and node."""
        ids = level.nodes["node_id"].astype(np.int64)
        marks = [self._mark(level, node_id) for node_id in ids.tolist()]
        place = {node_id: at for at, node_id in enumerate(ids.tolist())}
        edges = np.array(
            [(place[a], place[b]) for a, b in level.edges[:, :2].tolist()], np.int64
        ).reshape(-1, 2)
        found = find_running(
            len(ids),
            edges[:, 0],
            edges[:, 1],
            np.array([mark is True for mark in marks], bool),
            np.array([mark is False for mark in marks], bool),
        )
        for role, places in (
            ("running", found.possible),
            ("last", found.last),
            ("next", found.next),
        ):
            for at in places.tolist():
                inside = self._inside.get((level.row.graph_id, int(ids[at])), [])
                if not inside:
                    yield role, level, int(ids[at])
                elif role == "running":
                    for body in inside:
                        yield from self.run(body)

    def _mark(self, level: FoldedGraph, node_id: int) -> bool | None:
        """Return whether a node is known to have ended (True), or not to have (False)."""
        inside = self._inside.get((level.row.graph_id, node_id), [])
        if not inside:
            return self._left.get((level.row.cuda_graph_id or 0, node_id))
        marks = [
            mark
            for body in inside
            for one in body.nodes["node_id"].tolist()
            if (mark := self._mark(body, one)) is not None
        ]
        return False if False in marks else None
