"""Spools from a real GPU: what folding gives, against reviewed text and the raw records."""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from golden_spools import FOLDER, NAMES, SUFFIX, dump

from gviz.cuda.node_type import TIMED_TYPES, node_type_name
from gviz.dag.contradicted import TOLERANCE_NS
from gviz.formats.dot.export import to_dot
from gviz.formats.dot.parse import parse_dot
from gviz.recording import rows
from gviz.recording.arrays import EdgeArrays
from gviz.recording.reader import Recording
from gviz.spool.folding.recording_fold import fold, read_contents
from gviz.spool.records.activity import decode_buffer, join
from gviz.spool.records.format import SPOOL_SUFFIX, RecordType
from gviz.spool.records.reader import SpoolReader
from gviz.spool.streams.contents import Contents
from gviz.stats import UNKNOWN

#: Nodes shown of each end of a graph.
SHOWN_NODES = 20
#: The programs stand in this folder; the innermost line in it is the user's line.
PROGRAMS = "/assets/recordings/"


@dataclass(frozen=True, slots=True)
class Folded:
    """An unpacked spool, what it holds, and the recording of it."""

    name: str
    spool: Path
    contents: Contents
    recording: Recording

    def activities(self) -> npt.NDArray[np.void]:
        """Every activity record of the spool, ordered by start."""
        records = SpoolReader(self.spool).records()
        return join([decode_buffer(r.payload) for r in records if r.type == RecordType.BUFFER])


@pytest.fixture(scope="module", params=NAMES)
def folded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Folded]:
    name = request.param
    output = tmp_path_factory.mktemp(name) / f"{name}.gviz"
    spool = Path(f"{output}{SPOOL_SUFFIX}")
    with tarfile.open(FOLDER / f"{name}{SUFFIX}") as tar:
        tar.extractall(spool, filter="data")
    contents = read_contents(spool)
    with Recording(fold(contents, spool, output)) as recording:
        yield Folded(name, spool, contents, recording)


# -- the reviewed text -------------------------------------------------------------------------


def describe(recording: Recording) -> Iterator[str]:
    (run,) = recording.fetch_runs()
    yield f"run {run.name!r} {run.state} {run.source} by {run.collector}"
    yield f"  python {run.python_version} driver {run.driver_version} cupti {run.cupti_version}"
    yield f"  node launches {run.node_launches}"
    for device in recording.fetch_devices(1):
        yield (
            f"  device {device.device_id} {device.name} {device.compute_capability} "
            f"{device.multiprocessor_count} multiprocessors"
        )
    for library in recording.fetch_libraries(1):
        yield f"  library {library.name} {library.version}"
    yield "  windows " + " ".join(w.reason for w in recording.fetch_windows(1))
    for graph in recording.fetch_graphs():
        yield from describe_graph(recording, graph)
    for measurement in recording.fetch_measurements(1):
        yield f"measurement {measurement.name} [{measurement.unit}]"
    for note in recording.fetch_notes(1):
        yield f"{note.kind}: {note.text}"


def describe_graph(recording: Recording, graph: rows.Graph) -> Iterator[str]:
    inside = f" in {graph.parent_graph_id}" if graph.parent_graph_id else ""
    text = " with text" if graph.dot else ""
    yield f"graph {graph.graph_id} {graph.name!r} {graph.origin}{inside}{text}"
    nodes = recording.fetch_nodes(graph.graph_id)
    kinds = Counter(node_type_name(node.type) for node in nodes)
    yield "  kinds " + " ".join(f"{kind}={n}" for kind, n in sorted(kinds.items()))
    yield f"  arguments {sum(count_arguments(recording, node) for node in nodes)}"
    paths = recording.fetch_nvtx_paths(1)
    for number, node in enumerate(nodes):
        if number < SHOWN_NODES or number >= len(nodes) - SHOWN_NODES:
            yield "  " + describe_node(recording, node, paths)
    if graph.topology_id is not None:
        edges = recording.fetch_edges(graph.topology_id)
        columns = (edges.from_node, edges.to_node, edges.type, edges.from_port, edges.to_port)
        digest = hashlib.sha256(np.stack(columns).astype("<i8").tobytes()).hexdigest()
        types = sorted(Counter(edges.type.tolist()).items())
        shown = " ".join(f"type {kind}: {count}" for kind, count in types)
        yield f"  edges {len(edges)} ({shown}) {digest[:16]}"
        yield f"  topology {recording.fetch_topology(graph.topology_id).hash[:16]}"
    for execution in recording.fetch_graph_execs(graph.graph_id):
        yield f"  executable with {execution.launch_count} launches"
    launches = recording.fetch_launches(graph.graph_id)
    for alike, group in groupby(launches, lambda launch: (launch.span_count, launch.node_level)):
        ordinals = [launch.ordinal for launch in group]
        yield f"  launches {ordinals[0]}..{ordinals[-1]}: {alike[0]} spans, node level {alike[1]}"
    for cost in recording.fetch_launch_costs(graph.graph_id):
        yield f"  launch cost, node level {cost.node_level}: {cost.count} launches timed"
    by_id = {node.node_id: node for node in nodes}
    for launch in recording.fetch_launches(graph.graph_id, "stream"):
        yield f"  stream {launch.ordinal} matched {launch.span_count}"
        for operation in recording.fetch_stream_operations(launch.launch_id):
            assert operation.node_id is not None
            node = by_id[operation.node_id]
            if operation.function_id != node.function_id:
                yield f"    replaced {node.node_id} {node.name} by {operation.name}"


def count_arguments(recording: Recording, node: rows.Node) -> int:
    return len(recording.fetch_arguments(node.graph_id, node.node_id))


def describe_node(recording: Recording, node: rows.Node, paths: dict[int, rows.NvtxPath]) -> str:
    parts = [f"{node.node_id} {node.name}"]
    if node.grid_x is not None:
        grid = f"({node.grid_x},{node.grid_y},{node.grid_z})"
        block = f"({node.block_x},{node.block_y},{node.block_z})"
        parts.append(f"<<<{grid}, {block}, {node.shared_mem_bytes}>>>")
        parts.append(f"occupancy {node.occupancy_fraction}")
    if node.bytes is not None:
        parts.append(f"{node.bytes} bytes")
    texts: list[str] = []
    at = node.nvtx_path_id
    while at is not None:
        texts.insert(0, paths[at].text)
        at = paths[at].parent_id
    parts.append("/".join(texts) or "no range")
    if node.stack_id is None:
        return " | ".join([*parts, node.stack_reason or "?"])
    frames = recording.fetch_stack(node.stack_id)
    users = [place for place in frames if PROGRAMS in place.file] or frames[:1]
    for place in users[:1]:
        parts.append(f"{Path(place.file).name}:{place.line} {place.function}")
    return " | ".join(parts)


def test_fold_equals_the_reviewed_text(folded: Folded) -> None:
    found = "\n".join(describe(folded.recording)) + "\n"
    expected = FOLDER / f"{folded.name}.txt"
    if os.environ.get("GVIZ_UPDATE_GOLDEN") == "1":
        expected.write_text(found)
    assert found == expected.read_text()


def test_every_spool_is_named_in_the_provenance() -> None:
    readme = (FOLDER / "README.md").read_text()
    assert NAMES
    assert [name for name in NAMES if name not in readme] == []


def test_spools_name_no_folder_of_the_recording_machine(folded: Folded) -> None:
    files = {frame[0] for stack in folded.contents.stacks.values() for frame in stack}
    outside = [file for file in files if not file.startswith(("/home/user/", "/usr/lib/", "<"))]
    assert outside == []
    assert folded.contents.metadata["host"] == "host"


# -- against the raw records -------------------------------------------------------------------


def test_spool_holds_only_records_that_this_gviz_knows(folded: Folded) -> None:
    assert folded.contents.unknown_records == 0
    assert folded.contents.ended
    counters = {name: value for name, value, _, _ in folded.contents.counters}
    assert len(folded.activities()) == counters["activity_records"]


def test_recorded_launches_have_one_span_for_each_timed_node(folded: Folded) -> None:
    (walk,) = folded.contents.walks
    timed = sorted(node.node_id for node in walk.nodes if node.type in TIMED_TYPES)
    with_times = 0
    for launch in folded.recording.fetch_launches(1):
        spans = folded.recording.fetch_spans(launch.launch_id)
        assert len(spans) == launch.span_count
        if launch.span_count:
            with_times += 1
            assert spans.node_id.tolist() == timed
            assert not spans.iteration.any()
    assert with_times >= int(folded.contents.metadata["node_launches"])


def test_spans_are_the_records_of_their_launch(folded: Folded) -> None:
    records = folded.activities()
    (walk,) = folded.contents.walks
    of_graph = records[records["exec_id"] == walk.exec_id]
    launches = folded.contents.launch_stream.rows.to_array()
    correlations = set(launches["correlation"].tolist())
    assert set(of_graph["correlation_id"].tolist()) <= correlations
    assert len(folded.recording.fetch_graph_spans(1)) == len(of_graph)
    for launch in folded.recording.fetch_launches(1):
        if not launch.span_count:
            continue
        mine = of_graph[of_graph["correlation_id"] == launch.correlation_id]
        mine = mine[np.argsort(mine["node_id"])]
        spans = folded.recording.fetch_spans(launch.launch_id)
        start = mine["start_ns"]
        assert launch.gpu_start_ns == start.min()
        assert launch.gpu_end_ns == mine["end_ns"].max()
        assert (spans.start_ns == start - start.min()).all()
        assert (spans.duration_ns == mine["end_ns"] - mine["start_ns"]).all()
        assert (spans.stream_id == mine["stream_id"]).all()
        assert spans.start_ns.min() == 0
        assert (spans.duration_ns > 0).all()


def test_host_call_of_a_launch_begins_before_its_work(folded: Folded) -> None:
    for launch in folded.recording.fetch_launches(1):
        assert launch.host_start_ns is not None
        assert launch.host_end_ns is not None
        assert launch.host_start_ns < launch.host_end_ns
        if launch.gpu_start_ns is not None:
            assert launch.host_start_ns < launch.gpu_start_ns


def test_dependencies_run_in_order(folded: Folded) -> None:
    (walk,) = folded.contents.walks
    full = walk.edges[walk.edges[:, 2] == 0]
    assert len(full)
    checked = 0
    for launch in folded.recording.fetch_launches(1):
        spans = folded.recording.fetch_spans(launch.launch_id)
        start = dict(zip(spans.node_id.tolist(), spans.start_ns.tolist(), strict=True))
        duration = dict(zip(spans.node_id.tolist(), spans.duration_ns.tolist(), strict=True))
        for before, after in full[:, :2].tolist():
            if before in start and after in start:
                checked += 1
                assert start[after] >= start[before] + duration[before] - TOLERANCE_NS
    assert checked >= len(full)


def test_statistics_are_those_of_numpy(folded: Folded) -> None:
    spans = folded.recording.fetch_graph_spans(1)
    found = folded.recording.fetch_statistics(1)
    assert [s.node_id for s in found] == sorted(set(spans.node_id.tolist()))
    for statistics in found:
        mine = spans.node_id == statistics.node_id
        durations = spans.duration_ns[mine]
        assert statistics.count == len(durations)
        assert statistics.total_ns == durations.sum()
        assert statistics.median_ns == np.median(durations)
        assert statistics.p5_ns == pytest.approx(np.percentile(durations, 5), abs=1e-6)
        assert statistics.p95_ns == pytest.approx(np.percentile(durations, 95), abs=1e-6)
        assert (statistics.min_ns, statistics.max_ns) == (durations.min(), durations.max())
        assert statistics.mad_ns == np.median(np.abs(durations - np.median(durations)))
        assert statistics.start_median_ns == np.median(spans.start_ns[mine])


def test_stream_operations_are_the_records_outside_graphs(folded: Folded) -> None:
    records = folded.activities()
    outside = records[records["node_id"] == UNKNOWN]
    operations = folded.recording.fetch_run_stream_operations(1)
    assert [op.start_ns for op in operations] == outside["start_ns"].tolist()
    calls = {call["correlation"]: call for call in folded.contents.calls.to_array()}
    with_call = 0
    for operation in operations:
        call = calls.get(operation.correlation_id)
        if call is None:
            assert operation.host_start_ns is None
            continue
        with_call += 1
        times = call[["start_ns", "end_ns"]].tolist()
        assert (operation.host_start_ns, operation.host_end_ns) == times
        assert call["start_ns"] < operation.start_ns
    assert with_call > 0.9 * len(operations)


def test_matched_operations_do_the_work_of_their_nodes(folded: Folded) -> None:
    nodes = {node.node_id: node for node in folded.recording.fetch_nodes(1)}
    launches = folded.recording.fetch_launches(1, "stream")
    assert launches
    for launch in launches:
        matched = folded.recording.fetch_stream_operations(launch.launch_id)
        assert len({op.node_id for op in matched}) == len(matched) == launch.span_count
        replaced = 0
        for operation in matched:
            assert operation.node_id is not None
            node = nodes[operation.node_id]
            assert operation.type == node.type
            replaced += operation.function_id != node.function_id
        assert replaced <= 0.05 * len(matched)


# -- the same again ----------------------------------------------------------------------------


def test_folding_twice_gives_the_same_tables(folded: Folded, tmp_path: Path) -> None:
    contents = read_contents(folded.spool)
    again = fold(contents, folded.spool, tmp_path / folded.recording.path.name)
    assert dump(again) == dump(folded.recording.path)


def pairs(edges: EdgeArrays) -> set[tuple[int, int]]:
    return set(zip(edges.from_node.tolist(), edges.to_node.tolist(), strict=True))


def test_drawn_graph_has_the_nodes_and_edges(folded: Folded) -> None:
    (graph,) = folded.recording.fetch_graphs()
    text = to_dot(folded.recording, graph.graph_id)
    assert graph.topology_id is not None
    edges = pairs(folded.recording.fetch_edges(graph.topology_id))
    lines = [line.rstrip(";") for line in text.splitlines() if line.startswith("graph_1_node_")]
    arrows = {line.partition(" [")[0] for line in lines if " -> " in line.partition(" [")[0]}
    drawn = {line.partition(" [")[0] for line in lines} - arrows
    nodes = folded.recording.fetch_nodes(1)
    assert drawn == {f"graph_1_node_{node.node_id}" for node in nodes}
    assert arrows == {f"graph_1_node_{a} -> graph_1_node_{b}" for a, b in edges}


def test_drivers_own_text_shows_the_same_graph(folded: Folded) -> None:
    (graph,) = folded.recording.fetch_graphs()
    texts = sorted(folded.spool.glob("graph_*.dot"))
    assert bool(graph.dot) == bool(texts)
    nodes = folded.recording.fetch_nodes(1)
    for path in texts:
        (level,) = parse_dot(path.read_text())
        assert {n.node_id: n.type for n in level.nodes} == {n.node_id: n.type for n in nodes}
        assert graph.topology_id is not None
        edges = pairs(folded.recording.fetch_edges(graph.topology_id))
        assert {(e.from_node, e.to_node) for e in level.edges} == edges
