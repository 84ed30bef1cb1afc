"""Figures of real traces, computed twice: by gviz and by tests/oracle from the raw files."""

from __future__ import annotations

import lzma
import tarfile
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from golden_spools import FOLDER as SPOOLS
from golden_spools import NAMES as SPOOL_NAMES
from golden_spools import SUFFIX
from kineto_traces import trace_of, write_trace
from oracle.dot import read_edges
from oracle.kineto import read_kineto
from oracle.nsys import read_nsys
from oracle.paths import Shape, flatten
from oracle.raw import Raw, launches_of
from oracle.recorded import read_recording
from oracle.spool import read_spool
from oracle_agreement import (
    analysis_agrees,
    idle_shares_agree,
    launches_agree,
    sums_agree,
    top_graphs,
    work_of_nodes,
)
from places import BY_COPIES, ROOT, TESTS

from gviz.formats.importer import import_files
from gviz.recording.reader import Recording
from gviz.spool.folding.recording_fold import fold, read_contents
from gviz.spool.records.format import SPOOL_SUFFIX

TRACES = TESTS / "golden" / "traces"
RECAPTURES = TESTS / "golden" / "recaptures"
BUNDLED = ROOT / "assets" / "recordings"
#: By dump, the nodes of each of its graphs, and the node that runs each child graph.
NODES = {
    "encoder": {1: range(46)},
    "copies": {1: range(8)},
    "nested": {4: range(4), 5: range(8), 6: range(8)},
}
PARENTS = {"encoder": {}, "copies": {}, "nested": {5: (4, 1), 6: (4, 2)}}


def raw_of(path: Path, folder: Path) -> tuple[Raw, Path]:
    """Return what a golden trace says, and its place, unpacked where gviz does not unpack it."""
    if path.suffix == ".xz":
        unpacked = folder / path.stem
        unpacked.write_bytes(lzma.decompress(path.read_bytes()))
        path = unpacked
    return (read_nsys if path.suffix == ".sqlite" else read_kineto)(path), path


def as_captured(raw: Raw) -> Raw:
    """Return a trace with the driver's own kernels as the copies and fills that a dump calls them.

    The driver runs copies on the device and fills as kernels, memcpy128 and memset32. Joined with a
    dump gviz counts them by what was captured.
    """
    kinds = {"memcpy128": "memcpy", "memset32": "memset"}
    work = [replace(w, kind=kinds.get(w.name, w.kind)) for w in raw.work]
    return Raw(work, raw.launches, raw.edges)


def shapes_of(recording: Recording, dumps: list[str]) -> dict[int, Shape]:
    """Return the shapes of graphs that were joined with dumps, in the order of these."""
    found = {}
    levels = iter(recording.fetch_graphs())
    for dump in dumps:
        of = {number: next(levels).graph_id for number in NODES[dump]}
        edges = read_edges(TRACES / f"{dump}_torch_2.11.dot")
        parents = {of[level]: (of[outer], node) for level, (outer, node) in PARENTS[dump].items()}
        found[next(iter(of.values()))] = flatten(
            {of[level]: NODES[dump][level] for level in of},
            {of[level]: edges.get(level, []) for level in of},
            parents,
        )
    return found


@pytest.mark.parametrize(
    ("trace", "dumps", "launches"),
    [
        ("eager_torch_2.11.json.xz", [], 0),
        ("encoder_torch_2.11.json.gz", [], 10),
        ("encoder_torch_2.11.json.gz", ["encoder"], 10),
        ("copies_torch_2.11.json.gz", [], 6),
        ("copies_torch_2.11.json.gz", ["copies"], 6),
        ("nested_torch_2.11.json.gz", [], 6),
        ("nested_torch_2.11.json.gz", ["nested"], 6),
        ("both_torch_2.11.json.gz", [], 10),
        ("both_torch_2.11.json.gz", ["copies", "nested"], 10),
        ("copies_nsys_2023.4.sqlite.xz", [], 14),
        ("copies_nsys_2023.4.sqlite.xz", ["copies", "nested"], 14),
    ],
)
def test_figures_of_golden_traces_are_those_of_the_records(
    trace: str, dumps: list[str], launches: int, tmp_path: Path
) -> None:
    raw, path = raw_of(TRACES / trace, tmp_path)
    raw = as_captured(raw) if dumps else raw
    texts = [TRACES / f"{dump}_torch_2.11.dot" for dump in dumps]
    import_files([path, *texts], tmp_path / "out.gviz")
    with Recording(tmp_path / "out.gviz") as recording:
        ran = work_of_nodes(recording, launches_agree(recording, raw))
        assert len(ran) == len(launches_of(raw)) == launches
        sums_agree(recording, raw, are_spelled_alike=not dumps and path.suffix != ".sqlite")
        idle_shares_agree(recording, ran)
        compared = analysis_agrees(recording, ran, shapes_of(recording, dumps))
        assert compared == (launches if dumps else 0)


@pytest.mark.parametrize("node_ids", [True, False])
@pytest.mark.parametrize(
    "name",
    ["cupy_pipeline", "decode_step", pytest.param("training_step", marks=pytest.mark.thorough)],
)
def test_figures_of_traces_made_of_recordings_are_those_of_the_records(
    name: str, node_ids: bool, tmp_path: Path
) -> None:
    # A launch of the training step has as many nodes as seven of a decode step.
    launches = 4 if name == "training_step" else 20
    trace = trace_of(BUNDLED / f"{name}.gviz", node_ids=node_ids, launches=launches)
    path = write_trace(trace, tmp_path / "t.json")
    raw = read_kineto(path)
    files = [path]
    with Recording(BUNDLED / f"{name}.gviz") as recording:
        packed = recording.fetch_graphs()[0].dot
    if node_ids and packed is not None:
        # Without ids equal kernels cannot be told apart: what is then on which node is judged
        # elsewhere (tests of gviz.matching).
        files.append(tmp_path / "graph.dot")
        files[-1].write_bytes(zlib.decompress(packed))
    import_files(files, tmp_path / "out.gviz")
    with Recording(tmp_path / "out.gviz") as recording:
        ran = work_of_nodes(recording, launches_agree(recording, raw))
        assert ran
        sums_agree(recording, raw, are_spelled_alike=len(files) == 1)
        idle_shares_agree(recording, ran)
        shapes = {}
        for graph in top_graphs(recording) if len(files) > 1 else ():
            (edges,) = read_edges(files[-1]).values()
            nodes = [node.node_id for node in recording.fetch_nodes(graph.graph_id)]
            shapes[graph.graph_id] = flatten({graph.graph_id: nodes}, {graph.graph_id: edges}, {})
        assert analysis_agrees(recording, ran, shapes) == (len(ran) if shapes else 0)


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack a spool; return its place."""
    spool = folder / f"x.gviz{SPOOL_SUFFIX}"
    with tarfile.open(archive) as tar:
        tar.extractall(spool, filter="data")
    return spool


@pytest.mark.parametrize(
    "archive",
    [
        pytest.param(path, marks=[pytest.mark.thorough] if path.name.startswith("training") else [],
                     id=path.name.removesuffix(SUFFIX))
        for path in [*(SPOOLS / f"{name}{SUFFIX}" for name in SPOOL_NAMES),
                     *sorted(RECAPTURES.glob(f"*{SUFFIX}"))]
    ],
)  # fmt: skip
def test_figures_of_golden_spools_are_those_of_the_records(archive: Path, tmp_path: Path) -> None:
    spool = unpack(archive, tmp_path)
    raw = read_spool(spool)
    fold(read_contents(spool), spool, tmp_path / "x.gviz")
    with Recording(tmp_path / "x.gviz") as recording:
        ran = work_of_nodes(recording, launches_agree(recording, raw))
        sums_agree(recording, raw, are_spelled_alike=False)
        idle_shares_agree(recording, ran)
        (graph,) = top_graphs(recording)
        (edges,) = (edges for edges in raw.edges.values() if edges)
        nodes = [node.node_id for node in recording.fetch_nodes(graph.graph_id)]
        shape = flatten({graph.graph_id: nodes}, {graph.graph_id: edges}, {})
        assert analysis_agrees(recording, ran, {graph.graph_id: shape}) == len(ran) > 0


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[] if path.stat().st_size < 2_000_000 else [pytest.mark.thorough],
                     id=path.stem)
        for path in sorted(BUNDLED.glob("*.gviz"))
        if path.stem not in BY_COPIES
    ],
)  # fmt: skip
def test_figures_of_bundled_recordings_are_those_of_their_spans(path: Path) -> None:
    graphs = read_recording(path)
    ran = {launch: work for graph in graphs for launch, work in graph.launches.items()}
    shapes = {
        graph.graph_id: Shape(graph.nodes, graph.edges)
        for graph in graphs
        if graph.edges and not graph.has_bodies
    }
    with Recording(path) as recording:
        idle_shares_agree(recording, ran)
        assert analysis_agrees(recording, ran, shapes) == sum(
            len(graph.launches) for graph in graphs if graph.graph_id in shapes
        )
