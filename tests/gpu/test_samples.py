"""NVIDIA's CUDA samples about graphs under ``gviz run``: recorded, and unchanged.

GVIZ_CUDA_SAMPLES names a folder with their binaries, built from their public source
(github.com/NVIDIA/cuda-samples): simpleCudaGraphs, jacobiCudaGraphs, graphMemoryNodes,
graphMemoryFootprint, graphConditionalNodes, cudaGraphsPerfScaling.
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from gviz.cuda.node_type import NodeType
from gviz.recording import rows
from gviz.recording.reader import Recording

FOLDER = os.environ.get("GVIZ_CUDA_SAMPLES", "")

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not FOLDER, reason="GVIZ_CUDA_SAMPLES names no folder with CUDA samples"),
]

#: A number that was measured: with a decimal point or an exponent.
_MEASURED = re.compile(r"\d+\.\d+(e[+-]?\d+)?")
_TIMEOUT_S = 300


def plain(sample: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a sample as it is."""
    return subprocess.run(
        [str(Path(FOLDER) / sample), *arguments],
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )


def steady_lines(*outputs: str) -> list[list[str]]:
    """Return the lines of outputs without numbers that were measured."""
    return [_MEASURED.sub("#", output).splitlines() for output in outputs]


def recorded(tmp_path: Path, sample: str, *arguments: str) -> str:
    """Record a sample into out.gviz; return its output, having compared it with plain runs."""
    before, again = plain(sample, *arguments), plain(sample, *arguments)
    assert before.returncode == again.returncode == 0, before.stdout + before.stderr
    output = tmp_path / "out.gviz"
    gviz = [sys.executable, "-P", "-m", "gviz", "run", "-o", str(output)]
    done = subprocess.run(
        [*gviz, str(Path(FOLDER) / sample), *arguments],
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second, ours = steady_lines(before.stdout, again.stdout, done.stdout)
    assert len(ours) == len(first)
    for a, b, found in zip(first, second, ours, strict=True):
        if a == b:  # what differs between two plain runs says nothing about gviz
            assert found == a
    others = [line for line in done.stderr.splitlines() if not line.startswith("gviz: wrote")]
    assert others == before.stderr.splitlines()
    assert not Path(f"{output}-spool").exists()
    with Recording(output) as recording:
        (run,) = recording.fetch_runs()
        assert (run.state, run.exit_code, run.collector) == ("completed", 0, "cupti")
        assert len(recording.fetch_devices(run.run_id)) == 1
    return done.stdout


def tops(recording: Recording) -> list[rows.Graph]:
    return [g for g in recording.fetch_graphs() if g.parent_graph_id is None]


def kinds(recording: Recording, graph: rows.Graph) -> dict[int, int]:
    found: dict[int, int] = {}
    for node in recording.fetch_nodes(graph.graph_id):
        found[node.type] = found.get(node.type, 0) + 1
    return found


def check_no_stack_reasons(recording: Recording) -> None:
    for graph in recording.fetch_graphs():
        for node in recording.fetch_nodes(graph.graph_id):
            assert node.stack_id is None


def test_simple_cuda_graphs(tmp_path: Path) -> None:
    recorded(tmp_path, "simpleCudaGraphs")
    with Recording(tmp_path / "out.gviz") as recording:
        graphs = tops(recording)
        # Built by hand, its clone, captured, its clone.
        assert len(graphs) == 4
        assert [graph.origin for graph in graphs].count("capture") >= 1
        for graph in graphs:
            assert kinds(recording, graph) == {
                NodeType.KERNEL: 2,
                NodeType.MEMCPY: 2,
                NodeType.MEMSET: 2,
                NodeType.HOST: 1,
            }
            launches = recording.fetch_launches(graph.graph_id)
            assert len(launches) == 3
            # The host node has no time before CUPTI 13.1.
            assert {launch.span_count for launch in launches} <= {6, 7}
            names = {n.name for n in recording.fetch_nodes(graph.graph_id) if n.type == 0}
            assert names == {"reduce", "reduceFinal"}
        for graph in (graphs[0], graphs[2]):
            nodes = recording.fetch_nodes(graph.graph_id)
            assert {node.stack_reason for node in nodes} == {"not a Python program"}
        check_no_stack_reasons(recording)


def update_count(path: Path, name: str) -> int:
    """Return how many successful calls of an update function were recorded."""
    with closing(sqlite3.connect(path)) as database:
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
        if "graph_update" in tables:
            sql = "SELECT total(count) FROM graph_update WHERE result=0 AND call LIKE ?"
        else:
            sql = "SELECT count(*) FROM api_call WHERE result=0 AND name LIKE ?"
        ((count,),) = database.execute(sql, (f"{name}%",))
    return int(count)


@pytest.mark.parametrize("method", [0, 1, 2])
def test_jacobi_cuda_graphs(tmp_path: Path, method: int) -> None:
    stdout = recorded(tmp_path, "jacobiCudaGraphs", f"--gpumethod={method}")
    found = re.search(r"GPU iterations : (\d+)", stdout)
    assert found
    iterations = int(found[1])
    assert "PASSED" in stdout
    path = tmp_path / "out.gviz"
    with Recording(path) as recording:
        graphs = [g for g in tops(recording) if recording.fetch_graph_execs(g.graph_id)]
        if method == 2:
            assert graphs == []
            assert recording.fetch_run_stream_operations(1)
            return
        (graph,) = graphs
        assert kinds(recording, graph) == {
            NodeType.KERNEL: 1,
            NodeType.MEMCPY: 1,
            NodeType.MEMSET: 1,
        }
        assert sum(e.launch_count for e in recording.fetch_graph_execs(graph.graph_id)) == (
            iterations
        )
        launches = recording.fetch_launches(graph.graph_id)
        assert sum(launch.span_count == 3 for launch in launches) >= 20
    if method == 1:
        assert update_count(path, "cuGraphExecUpdate") == iterations - 1


def test_graph_memory_nodes(tmp_path: Path) -> None:
    recorded(tmp_path, "graphMemoryNodes")
    with Recording(tmp_path / "out.gviz") as recording:
        allocating = [g for g in tops(recording) if NodeType.MEM_ALLOC in kinds(recording, g)]
        assert len(allocating) >= 3
        freeing = [g for g in tops(recording) if NodeType.MEM_FREE in kinds(recording, g)]
        # One graph frees what another allocated.
        assert any(graph not in allocating for graph in freeing)
        for graph in allocating:
            for node in recording.fetch_nodes(graph.graph_id):
                if node.type == NodeType.MEM_ALLOC:
                    assert node.bytes
                    assert node.destination_address
                    assert node.not_timed_reason
            assert all(x.span_count for x in recording.fetch_launches(graph.graph_id))


def test_graph_memory_footprint(tmp_path: Path) -> None:
    stdout = recorded(tmp_path, "graphMemoryFootprint")
    assert stdout.count("FOOTPRINT") > 10
    with Recording(tmp_path / "out.gviz") as recording:
        counts = [kinds(recording, graph) for graph in tops(recording)]
        assert sum(NodeType.MEM_ALLOC in count for count in counts) >= 10
        assert sum(recording.count_launches(g.graph_id)[0] for g in tops(recording)) > 10


def test_graph_conditional_nodes(tmp_path: Path) -> None:
    stdout = recorded(tmp_path, "graphConditionalNodes")
    assert "simpleSwitchGraph: Complete" in stdout
    with Recording(tmp_path / "out.gviz") as recording:
        graphs = [g for g in tops(recording) if NodeType.CONDITIONAL in kinds(recording, g)]
        assert len(graphs) == 5
        iterations = []
        for graph in graphs:
            spans = recording.fetch_graph_spans(graph.graph_id)
            assert len(spans)
            launches = recording.fetch_launches(graph.graph_id)
            iterations.append(int(spans.iteration.max()) + 1)
            assert all(launch.span_count for launch in launches)
        # if; do-while from 10; a while whose counter goes from 10 to 9 before it; if/else; switch
        assert iterations == [1, 10, 9, 1, 1]
    # Each loop kernel prints its counter.
    doing = section(stdout, "simpleDoWhileGraph")
    assert doing.count("GPU: counter") == 10
    # One print before the loop in each of its two launches.
    assert section(stdout, "capturedWhileGraph").count("GPU: counter") == 2 + 9


def section(stdout: str, graph: str) -> str:
    return stdout.partition(f"{graph}: Building")[2].partition(f"{graph}: Complete")[0]


def test_cuda_graphs_perf_scaling(tmp_path: Path) -> None:
    # Three trials of 10 kernels in each of 4 branches.
    recorded(tmp_path, "cudaGraphsPerfScaling", "3", "3", "10", "4", "1")
    with Recording(tmp_path / "out.gviz") as recording:
        graphs = tops(recording)
        assert len(graphs) == 4  # one to warm up
        paths = recording.fetch_nvtx_paths(1)
        for graph in graphs:
            nodes = recording.fetch_nodes(graph.graph_id)
            assert len(nodes) == 41
            assert {node.name for node in nodes} == {"empty"}
            texts = {paths[n.nvtx_path_id].text for n in nodes if n.nvtx_path_id is not None}
            assert texts == {"capture"}
            execs = recording.fetch_graph_execs(graph.graph_id)
            assert [e.launch_count for e in execs] == [2, 2, 1]
            for launch in recording.fetch_launches(graph.graph_id):
                assert launch.span_count == 41
