"""The memory of a recorded graph: read, sent to the browser, and said in the inspector."""

from __future__ import annotations

import dataclasses
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from memory_recordings import (
    IDS,
    MIB,
    POOL,
    SEGMENT,
    with_buffers,
    write_memory_recording,
)
from recordings import transformer_shape, write_loop_recording, write_recording

from gviz.app.views.payload import DagRequest, dag_payload
from gviz.app.views.wire import Arrays, unpack
from gviz.cuda.node_type import NodeType
from gviz.model.memory.edge_data import Common
from gviz.model.memory.level_memory import read_memory
from gviz.model.memory.uses import Access
from gviz.model.tree.graph_level import read_graph_level
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.rows.tables import table_of
from gviz.recording.writer import RecordingWriter


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_memory_recording(tmp_path_factory.mktemp("memory") / "memory.gviz")


@pytest.fixture
def recording(memory: Path) -> Iterator[Recording]:
    with Recording(memory) as opened:
        yield opened


def edge(arrays: Arrays, source: str, target: str) -> int:
    """Return the index of an edge of the memory recording."""
    ids = arrays["node_id"].tolist()
    pairs = zip(arrays["edge_from"].tolist(), arrays["edge_to"].tolist(), strict=True)
    return [(ids[a], ids[b]) for a, b in pairs].index((IDS[source], IDS[target]))


def data(recording: Recording, **requested: object) -> Arrays:
    return unpack(dag_payload(recording, 1, DagRequest(data=True, **requested)))[1]  # type: ignore[arg-type]


def test_payload_has_memory_only_when_it_is_requested(recording: Recording) -> None:
    assert "use_node" not in unpack(dag_payload(recording, 1))[1]
    assert "use_node" in data(recording)


@pytest.mark.parametrize(
    ("source", "target", "common", "moved"),
    [
        ("alloc a", "copy in", Common.ADDRESS, MIB),
        ("copy in", "join", Common.ADDRESS, MIB),
        ("fill b", "join", Common.ALLOCATION, None),
        ("alloc a", "alloc b", Common.NOTHING, None),
        ("free a", "alloc c", Common.NOTHING, None),
        ("alloc c", "reuse", Common.ADDRESS, None),
        ("write d", "copy out", Common.ADDRESS, MIB // 4),
    ],
)
def test_edges_say_what_their_ends_have_in_common(
    recording: Recording, source: str, target: str, common: Common, moved: int | None
) -> None:
    arrays = data(recording)
    at = edge(arrays, source, target)
    assert arrays["data_common"][at] == common
    found = arrays["data_bytes"][at]
    assert np.isnan(found) if moved is None else found == moved


def test_ends_of_an_edge_say_what_they_do(recording: Recording) -> None:
    arrays = data(recording)
    at = edge(arrays, "copy in", "join")
    assert arrays["data_source"][at] == 1 << Access.WRITTEN
    # Its name declares a pointer to const.
    assert arrays["data_target"][at] == 1 << Access.READ_ONLY
    assert arrays["place_low"][arrays["data_place"][at]] == POOL % 2**32
    assert arrays["allocation_bytes"][arrays["data_allocation"][at]] == MIB


def test_a_place_is_called_as_its_kernels_declare_it(recording: Recording) -> None:
    header, arrays = unpack(dag_payload(recording, 1, DagRequest(data=True)))
    at = arrays["data_place"][edge(arrays, "copy in", "join")]
    assert header["strings"][arrays["place_name"][at]] == "float"


def test_folds_join_what_their_edges_carry(tmp_path: Path) -> None:
    shape = with_buffers(transformer_shape(layers=6))
    with Recording(write_recording(tmp_path / "x.gviz", shape, eager=False)) as recording:
        plain, folded = data(recording), data(recording, folding="repeats")
    assert len(folded["edge_from"]) < len(plain["edge_from"])
    assert len(folded["data_common"]) == len(folded["edge_from"])
    assert set(folded["data_common"].tolist()) == {Common.ADDRESS}
    # Uses stay those of nodes, whatever is folded.
    assert folded["use_node"].tolist() == plain["use_node"].tolist()


def test_memory_of_nested_nodes_is_their_parents(tmp_path: Path) -> None:
    path = write_loop_recording(tmp_path / "loop.gviz")
    add_rows(
        path,
        *(
            rows.Argument(
                graph_id=graph,
                node_id=node,
                position=0,
                size_bytes=8,
                value=struct.pack("<Q", SEGMENT),
                allocation_address=SEGMENT,
                allocation_bytes=MIB,
            )
            for graph, node in ((1, 1001), (2, 2002))
        ),
    )
    with Recording(path) as recording:
        arrays = data(recording)
        assert arrays["use_node"].tolist() == [1001, 1002]
        assert arrays["data_common"].tolist() == [Common.ADDRESS, Common.NOTHING]


def add_rows(path: Path, *more: object) -> None:
    """Add rows to a recording that is written already."""
    with closing(sqlite3.connect(path)) as database, database:
        for row in more:
            sql = table_of(type(row)).insert_sql()
            database.execute(sql, dataclasses.astuple(row))  # type: ignore[call-overload]


def test_batch_memory_operations_say_what_they_write(tmp_path: Path) -> None:
    path = tmp_path / "batch.gviz"
    with RecordingWriter(path) as writer:
        writer.insert(
            rows.Run(run_id=1, name="batch", state="completed", source="profile"),
            rows.Graph(graph_id=1, run_id=1, name="batch", origin="explicit"),
            rows.Node(
                graph_id=1, node_id=4, exec_node_id=4, type=NodeType.BATCH_MEM_OP, name="BATCH"
            ),
        )
        reported = (f"WRITE_VALUE_32 {SEGMENT:#x} = 0x1", f"WAIT_VALUE_64 {SEGMENT + 8:#x} >= 0x2")
        for position, value in enumerate((*reported, "BARRIER")):
            name = f"operation {position}"
            writer.insert(
                rows.NodeParameter(graph_id=1, node_id=4, position=position, name=name, value=value)
            )
    with Recording(path) as recording:
        uses = read_memory(recording, read_graph_level(recording, 1)).uses
    assert uses.access.tolist() == [Access.WRITTEN, Access.READ]
    assert uses.address.tolist() == [SEGMENT, SEGMENT + 8]
    assert uses.bytes.tolist() == [4, 8]


def test_without_edges_uses_stand_in_the_order_of_creation(tmp_path: Path) -> None:
    path = write_memory_recording(tmp_path / "memory.gviz")
    with Recording(path) as recording:
        level = read_graph_level(recording, 1)
        assert (read_memory(recording, level).order == level.row).all()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE graph SET topology_id=NULL")
    with Recording(path) as recording:
        level = read_graph_level(recording, 1)
        assert read_memory(recording, level).order.tolist() == list(range(14))
        arrays = data(recording)
        assert len(arrays["data_common"]) == 0
        assert len(arrays["use_node"])
