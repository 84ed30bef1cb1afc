"""A real export of Nsight Systems with nodes' times, alone and with dumps of the same graphs."""

import lzma
import sqlite3
from collections import Counter
from pathlib import Path

import pytest
from places import TESTS

from gviz.cuda.node_type import NodeType
from gviz.formats.importer import import_files
from gviz.model.nvtx_paths import nvtx_texts
from gviz.recording import rows
from gviz.recording.arrays import SpanArrays
from gviz.recording.reader import Recording

GOLDEN = TESTS / "golden" / "traces"
#: CUPTI's numbers of the executables: one of the copies, one that runs them twice.
COPIES, NESTED = 2, 7
LAUNCHES = 7
#: Nodes of the copies' graph by the range that was open when they were captured.
CAPTURED_IN = {
    "capture › load": [0, 1],
    "capture › side": [2, 3],
    "capture": [4],
    "capture › store": [5, 6, 7],
}

Work = tuple[str, int, int, int, int]


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nsys") / "copies.sqlite"
    path.write_bytes(lzma.decompress((GOLDEN / "copies_nsys_2023.4.sqlite.xz").read_bytes()))
    return path


def reported(export: Path, exec_id: int | None) -> "Counter[Work]":
    """Return (kind, start, duration, stream, node) of an executable's work; None: of no graph."""
    db = sqlite3.connect(export)
    ((base,),) = db.execute("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")
    found: Counter[Work] = Counter()
    for kind in ("KERNEL", "MEMCPY", "MEMSET"):
        found_rows = db.execute(
            "SELECT start + ?, end - start, streamId, coalesce(graphNodeId & 0xffffffff, -1) "
            f"FROM CUPTI_ACTIVITY_KIND_{kind} WHERE graphNodeId >> 32 IS ?",
            (base, exec_id),
        )
        found.update((kind, *row) for row in found_rows)
    db.close()
    return found


def nodes_of(recording: Recording, graph_id: int) -> dict[int, str]:
    return {n.node_id: NodeType(n.type).name for n in recording.fetch_nodes(graph_id)}


def test_each_record_is_a_span_of_its_node_or_an_operation(export: Path, tmp_path: Path) -> None:
    import_files([export], tmp_path / "x.gviz")
    with Recording(tmp_path / "x.gviz") as recording:
        graphs = recording.fetch_graphs()
        assert [g.name for g in graphs] == [f"graph {COPIES}", f"graph {NESTED}"]
        for graph, exec_id, count in zip(graphs, (COPIES, NESTED), (8, 18), strict=True):
            kinds = nodes_of(recording, graph.graph_id)
            assert len(kinds) == count
            launches = recording.fetch_launches(graph.graph_id)
            assert len(launches) == LAUNCHES
            found: Counter[Work] = Counter()
            for launch in launches:
                assert launch.gpu_start_ns is not None
                assert launch.host_start_ns is not None
                assert launch.host_start_ns < launch.gpu_start_ns
                spans = recording.fetch_spans(launch.launch_id)
                columns = (spans.node_id, spans.start_ns, spans.duration_ns, spans.stream_id)
                for node, start, length, stream in zip(*(c.tolist() for c in columns), strict=True):
                    at = launch.gpu_start_ns + start
                    found[kinds[node], at, length, stream, node] += 1
            assert found == reported(export, exec_id)
        operations = Counter(
            (NodeType(x.type).name, x.start_ns, x.duration_ns, x.stream_id, -1)
            for x in recording.fetch_run_stream_operations(1)
        )
        assert operations == reported(export, None)


def test_nodes_know_the_ranges_in_which_they_were_captured(export: Path, tmp_path: Path) -> None:
    import_files([export], tmp_path / "x.gviz")
    with Recording(tmp_path / "x.gviz") as recording:
        texts = nvtx_texts(recording.fetch_nvtx_paths(1))
        found: dict[str, list[int]] = {}
        for node in recording.fetch_nodes(1):
            assert node.created_ns is not None
            assert node.nvtx_path_id is not None
            found.setdefault(texts[node.nvtx_path_id], []).append(node.node_id)
    assert found == CAPTURED_IN


def test_dumps_give_it_dependencies_and_bodies(export: Path, tmp_path: Path) -> None:
    # The dumps are of another process that ran the same code: equal but for addresses.
    dumps = [GOLDEN / f"{name}_torch_2.11.dot" for name in ("copies", "nested")]
    import_files([export, *dumps], tmp_path / "x.gviz")
    with Recording(tmp_path / "x.gviz") as recording:
        notes = [note.text for note in recording.fetch_notes(1)]
        assert any("8 nodes were matched (8 by their ids), 0 timed" in text for text in notes)
        assert any("18 nodes were matched" in text and ", 0 timed" in text for text in notes)
        graphs = recording.fetch_graphs()
        assert [len(recording.fetch_nodes(g.graph_id)) for g in graphs] == [8, 4, 8, 8]
        assert [g.parent_node_id for g in graphs] == [None, None, 1, 2]
        for graph in graphs:
            top = recording.fetch_outermost(graph)
            launches = recording.fetch_launches(top.graph_id)
            assert len(launches) == LAUNCHES
            for launch in launches:
                check_order(recording, graph, recording.fetch_spans(launch.launch_id))


def check_order(recording: Recording, graph: rows.Graph, spans: SpanArrays) -> None:
    """Assert that each dependent of a node ran after it."""
    columns = (spans.graph_id, spans.node_id, spans.start_ns, spans.duration_ns)
    when = {
        node: (start, start + length)
        for level, node, start, length in zip(*(c.tolist() for c in columns), strict=True)
        if level == graph.graph_id
    }
    assert len(when) == (2 if graph.parent_node_id is None and len(spans) == 18 else 8)
    assert graph.topology_id is not None
    edges = recording.fetch_edges(graph.topology_id)
    assert len(edges) in (3, 8)
    for tail, head in zip(edges.from_node.tolist(), edges.to_node.tolist(), strict=True):
        if tail in when and head in when:
            assert when[tail][1] <= when[head][0]
