"""Real traces of graphs with copies, memsets and child graphs, and the dumps of those graphs.

What ran and what depends on what is read here by a few lines of their own.
"""

import gzip
import json
import re
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from places import TESTS

from gviz.cuda.node_type import CopyKind, NodeType
from gviz.formats.importer import import_files
from gviz.recording.reader import Recording

GOLDEN = TESTS / "golden" / "traces"
WORK = ("kernel", "gpu_memcpy", "gpu_memset")
DUMP = {name: GOLDEN / f"{name}_torch_2.11.dot" for name in ("copies", "nested")}
#: Graphs of a dump and their nodes: what is timed, and what runs a child graph.
TIMED = {"copies": {1: range(8)}, "nested": {4: (0, 3), 5: range(8), 6: range(8)}}
HELD = {"copies": {}, "nested": {5: (4, 1), 6: (4, 2)}}
#: (start, end, stream) of a record, in ns of the trace's clock.
Interval = tuple[int, int, int]
DotKey = tuple[int, int]


def trace(name: str) -> Path:
    return GOLDEN / f"{name}_torch_2.11.json.gz"


def records(name: str) -> dict[int, dict[Interval, dict[str, Any]]]:
    """Return the records of each launch, by correlation id in order of the calls."""
    reported = json.loads(gzip.decompress(trace(name).read_bytes()), parse_float=Decimal)
    events = reported["traceEvents"]
    calls = [e for e in events if e["name"] == "cudaGraphLaunch"]
    found: dict[int, dict[Interval, dict[str, Any]]] = {
        e["args"]["correlation"]: {} for e in sorted(calls, key=lambda e: e["ts"])
    }
    for event in events:
        if event.get("cat") in WORK:
            start = reported["baseTimeNanoseconds"] + int(event["ts"] * 1000)
            at = (start, start + int(event["dur"] * 1000), event["args"]["stream"])
            found[event["args"]["correlation"]][at] = event
    return found


def ancestors(name: str) -> dict[DotKey, set[DotKey]]:
    """Return what each timed node of a dump comes after, in the dump's own words."""
    before: dict[DotKey, set[DotKey]] = defaultdict(set)
    arrow = re.compile(r'"graph_(\d+)_node_(\d+)" -> "graph_(\d+)_node_(\d+)"')
    for graph, tail, _, head in arrow.findall(DUMP[name].read_text()):
        before[int(graph), int(head)].add((int(graph), int(tail)))

    def above(key: DotKey) -> set[DotKey]:
        own = set(before[key])
        held_by = HELD[name].get(key[0])
        found = set(above(held_by)) if held_by is not None else set()
        for one in own:
            inside = [g for g, parent in HELD[name].items() if parent == one]
            found |= {(g, n) for g in inside for n in TIMED[name][g]} or {one}
            found |= above(one)
        return {k for k in found if k[1] in TIMED[name][k[0]]}

    return {(g, n): above((g, n)) for g, nodes in TIMED[name].items() for n in nodes}


def intervals(recording: Recording, graph_id: int) -> list[dict[int, Interval]]:
    """Return when and where each node ran, by its id in the executable, launch by launch."""
    exec_ids = {
        (level.graph_id, node.node_id): node.exec_node_id or 0
        for level in recording.fetch_graphs()
        for node in recording.fetch_nodes(level.graph_id)
    }
    found = []
    for launch in recording.fetch_launches(graph_id, "graph"):
        origin = launch.gpu_start_ns
        assert origin is not None
        spans = recording.fetch_spans(launch.launch_id)
        keys = zip(spans.graph_id.tolist(), spans.node_id.tolist(), strict=True)
        columns = (spans.start_ns, spans.duration_ns, spans.stream_id)
        times = zip(*(column.tolist() for column in columns), strict=True)
        found.append(
            {
                exec_ids[key]: (origin + start, origin + start + took, stream)
                for key, (start, took, stream) in zip(keys, times, strict=True)
            }
        )
    return found


def exec_nodes(recording: Recording, name: str, graphs: list[int]) -> dict[DotKey, int]:
    """Return by node of a dump the executable's; ``graphs``: the recording's, level by level."""
    return {
        (level, node.node_id): node.exec_node_id
        for level, graph_id in zip(TIMED[name], graphs, strict=True)
        for node in recording.fetch_nodes(graph_id)
        if node.exec_node_id is not None
    }


@pytest.mark.parametrize(
    ("name", "nodes", "launches"), [("copies", [8], 6), ("nested", [18], 6), ("both", [8, 18], 5)]
)
def test_each_launch_has_its_records(
    name: str, nodes: list[int], launches: int, tmp_path: Path
) -> None:
    import_files([trace(name)], tmp_path / "out.gviz")
    reported = records(name)
    with Recording(tmp_path / "out.gviz") as got:
        graphs = got.fetch_graphs()
        assert [len(got.fetch_nodes(g.graph_id)) for g in graphs] == nodes
        found: dict[int, set[Interval]] = {}
        for graph in graphs:
            rows = got.fetch_launches(graph.graph_id, "graph")
            assert len(rows) == launches
            for launch, ran in zip(rows, intervals(got, graph.graph_id), strict=True):
                found[launch.correlation_id or 0] = set(ran.values())
        assert found == {correlation: set(work) for correlation, work in reported.items()}
        assert got.fetch_run_stream_operations(1) == []


@pytest.mark.parametrize("name", ["copies", "nested"])
def test_inferred_edges_are_true(name: str, tmp_path: Path) -> None:
    import_files([trace(name)], tmp_path / "alone.gviz")
    import_files([trace(name), DUMP[name]], tmp_path / "joined.gviz")
    with Recording(tmp_path / "joined.gviz") as joined:
        dot_node = {
            n: key
            for key, n in exec_nodes(
                joined, name, [g.graph_id for g in joined.fetch_graphs()]
            ).items()
        }
    with Recording(tmp_path / "alone.gviz") as alone:
        (graph,) = alone.fetch_graphs()
        edges = alone.fetch_edges(graph.topology_id)
        pairs = list(zip(edges.from_node.tolist(), edges.to_node.tolist(), strict=True))
    true = ancestors(name)
    # All on the first stream, one after the other; each copy on a stream of its own has none.
    assert len(pairs) == {"copies": 6, "nested": 15}[name]
    assert all(dot_node[tail] in true[dot_node[head]] for tail, head in pairs)


@pytest.mark.parametrize(
    ("name", "dumps", "graphs"),
    [
        ("copies", ["copies"], {"copies": [1]}),
        ("nested", ["nested"], {"nested": [1, 2, 3]}),
        ("both", ["copies", "nested"], {"copies": [1], "nested": [2, 3, 4]}),
    ],
)
def test_every_node_of_the_dumps_has_the_record_that_is_its(
    name: str, dumps: list[str], graphs: dict[str, list[int]], tmp_path: Path
) -> None:
    notes = import_files([trace(name), *(DUMP[d] for d in dumps)], tmp_path / "out.gviz")
    assert not any("contradict" in note or "unjoined" in note for note in notes)
    reported = records(name)
    with Recording(tmp_path / "out.gviz") as got:
        assert sorted(g.graph_id for g in got.fetch_graphs()) == sorted(
            graph_id for ids in graphs.values() for graph_id in ids
        )
        for dump, ids in graphs.items():
            timed = exec_nodes(got, dump, ids)
            assert set(timed) == set(ancestors(dump))
            rows = got.fetch_launches(ids[0], "graph")
            for launch, ran in zip(rows, intervals(got, ids[0]), strict=True):
                work = reported[launch.correlation_id or 0]
                assert {ran[n] for n in timed.values()} == set(work)
                for key, before in ancestors(dump).items():
                    begin = ran[timed[key]][0]
                    assert all(ran[timed[b]][1] <= begin for b in before), key
                for level, graph_id in zip(TIMED[dump], ids, strict=True):
                    for node in got.fetch_nodes(graph_id):
                        if (level, node.node_id) in timed:
                            event = work[ran[timed[level, node.node_id]]]
                            assert _is_of(node.type, node.copy_kind, node.bytes, event)
                            assert (node.grid_x is None) == (node.type != NodeType.KERNEL)


def _is_of(kind: int, copy_kind: int | None, size: int | None, event: dict[str, Any]) -> bool:
    """Return whether a record is of a node: D2D copies and memsets ran as kernels."""
    if kind == NodeType.MEMSET:
        return bool(event["name"] == "memset32" and size == 16_384)
    if copy_kind == CopyKind.DTOD:
        return bool(event["name"] == "memcpy128" and size == 4_194_304)
    if kind == NodeType.MEMCPY:
        direction = {CopyKind.HTOD: "HtoD", CopyKind.DTOH: "DtoH"}[CopyKind(copy_kind or 0)]
        return f"Memcpy {direction}" in event["name"] and event["args"]["bytes"] == size
    return bool(event["cat"] == "kernel" and "vectorized_elementwise_kernel" in event["name"])


def test_it_is_reported_which_copies_ran_as_kernels(tmp_path: Path) -> None:
    notes = import_files([trace("nested"), DUMP["nested"]], tmp_path / "out.gviz")
    assert any(
        "18 nodes were matched" in note
        and "ran 4 of the dump's copies and memsets as kernels of its own (memcpy128, memset32)"
        in note
        for note in notes
    )
