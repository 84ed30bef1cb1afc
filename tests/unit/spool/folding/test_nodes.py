"""Nodes as columns: from walks, and what records add to them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from spool_writing import FoldRecords, graph_records, node_record

from gviz.cuda import CopyKind, NodeType
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.runs import blank_activities, blank_rows
from gviz.spool.folding.graphs import FoldedGraph, Graphs
from gviz.spool.folding.recorded_facts import take_copy_kinds, take_recorded_devices
from gviz.spool.records import table
from gviz.spool.records.format import RecordType
from gviz.spool.streams import Samples
from gviz.stats import UNKNOWN

KERNEL, MEMCPY = NodeType.KERNEL, NodeType.MEMCPY
Fold = Callable[[list[tuple[int, bytes]]], Recording]


@pytest.fixture
def folded(fold_records: FoldRecords) -> Fold:
    """Fold records."""
    return fold_records


def function(key: int, registers: int, name: str = "_Z1av") -> tuple[int, bytes]:
    """Return the record of a kernel."""
    return RecordType.FUNCTION, table.FUNCTION.pack(key, registers, 0, 0, 1024, name)


def walk(*nodes: tuple[int, bytes]) -> list[tuple[int, bytes]]:
    """Return the walk of a graph of these nodes."""
    head, *_ = graph_records(1, 2, [])
    return [head, *nodes]


def test_kernels_are_numbered_in_order_and_the_last_of_a_name_says_its_resources(
    folded: Fold,
) -> None:
    recording = folded([
        function(7, 10), function(8, 20), function(9, 30, "_Z1bv"),
        *walk(*(node_record(1, n, KERNEL, function=key) for n, key in enumerate((9, 7, 8, 7)))),
    ])  # fmt: skip
    functions = recording.fetch_functions(1)
    assert [(f.mangled_name, f.registers) for f in functions.values()] == [
        ("_Z1bv", 30), ("_Z1av", 10),
    ]  # fmt: skip
    assert [n.function_id for n in recording.fetch_nodes(1)] == [1, 2, 2, 2]


def test_occupancy_is_known_where_the_device_and_the_blocks_are(folded: Fold) -> None:
    device = table.DEVICE.pack(0, 9, 0, 132, 2048, 1 << 36, b"", "GPU")
    recording = folded([
        (RecordType.DEVICE, device),
        *walk(
            node_record(1, 0, KERNEL, max_blocks=8, block=(128, 2, 1)),
            node_record(1, 1, KERNEL, max_blocks=-1),
            node_record(1, 2, KERNEL, max_blocks=8, device_id=3),
        ),
    ])  # fmt: skip
    found = [(n.max_blocks_per_multiprocessor, n.occupancy_fraction)
             for n in recording.fetch_nodes(1)]  # fmt: skip
    assert found == [(8, 1.0), (None, None), (8, None)]


def copies(*exec_node_id: int) -> Graphs:
    """Return a graph of copies whose direction is open, with executable 5."""
    count = len(exec_node_id)
    nodes = blank_rows(
        rows.Node, count, graph_id=1, node_id=np.arange(count), type=MEMCPY, name="MEMCPY",
        exec_node_id=exec_node_id, device_id=0,
    )  # fmt: skip
    graphs = Graphs(1)
    row = rows.Graph(graph_id=1, run_id=1, name="g", origin="capture")
    graphs.add(FoldedGraph(row, nodes, np.zeros((0, 5), np.int64), nodes["exec_node_id"].copy()))
    graphs.execs[5] = rows.GraphExec(graph_exec_id=1, run_id=1, graph_id=1, cuda_exec_id=5)
    return graphs


def test_id_behind_the_last_is_of_no_node() -> None:
    level = copies(0, 1).levels[1]
    place, is_node = level.places(np.array([1, 2, 99]))
    assert (place[0], is_node.tolist()) == (1, [True, False, False])
    assert level.find(99) is None


def sample(node_id: int) -> Samples:
    """Return the record of a copy to the host on device 2, by executable 5."""
    record = blank_activities(1)
    record["exec_id"], record["node_id"], record["device_id"] = 5, node_id, 2
    record["copy_kind"] = CopyKind.DTOH
    found = Samples()
    found.add(record)
    return found


def test_direction_and_device_of_a_copy_are_those_of_its_own_record() -> None:
    graphs = copies(4, UNKNOWN, 0)
    take_copy_kinds(graphs, sample(0))
    take_recorded_devices(graphs, sample(0))
    nodes = graphs.levels[1].nodes
    # The second has no number: the record of node 0 is not its.
    assert nodes["copy_kind"].tolist() == [UNKNOWN, UNKNOWN, CopyKind.DTOH]
    assert nodes["name"].tolist() == ["MEMCPY", "MEMCPY", "MEMCPY DtoH"]
    assert nodes["device_id"].tolist() == [0, 0, 2]
