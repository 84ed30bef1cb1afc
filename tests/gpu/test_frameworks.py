"""Recordings of CuPy, PyTorch, torch.compile and JAX on a real GPU.

Each program runs in a process of its own, as a user's would.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from framework_programs import PROGRAMS as FRAMEWORKS
from framework_programs import Program, profiled, run_script
from framework_recordings import Record, launched, nodes_with_nested, recorder

from gviz.cuda.node_type import NodeType
from gviz.dag.contradicted import TOLERANCE_NS
from gviz.recording.reader import Recording

pytestmark = pytest.mark.gpu

CUPY = """
import cupy as cp
import nvtx
def work(stream, a, b):
    with stream:
        b.data.memset_async(0, b.nbytes, stream)
        with nvtx.annotate("outer"), nvtx.annotate("inner"):
            cp.multiply(a, cp.float32(2), out=b)
        cp.add(a, b, out=b)
stream = cp.cuda.Stream(non_blocking=True)
a = cp.ones(1 << 16, dtype=cp.float32)
b = cp.empty_like(a)
for _ in range(2):
    work(stream, a, b)
with stream:
    stream.begin_capture()
    work(stream, a, b)
    graph = stream.end_capture()
for _ in range(30):
    graph.launch(stream)
stream.synchronize()
assert float(b[0]) == 3.0
"""

TORCH = """
import torch
model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(4)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
x = torch.randn(8, 64, device="cuda")
def step():
    with torch.cuda.nvtx.range("forward"):
        loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    for _ in range(3):
        step()
side.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for _ in range(30):
    graph.replay()
torch.cuda.synchronize()
"""

COMPILE = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU()).cuda()
compiled = torch.compile(model, mode="reduce-overhead")
x = torch.randn(8, 64, device="cuda")
with torch.no_grad():
    for _ in range(8):
        torch.compiler.cudagraph_mark_step_begin()
        y = compiled(x)
torch.cuda.synchronize()
assert torch.allclose(y, model(x), atol=1e-2)
"""

PROGRAMS = {
    "cupy": Program("CuPy, NVTX ranges", ("cupy", "nvtx"), CUPY),
    "torch": Program("PyTorch, a training step", ("torch",), TORCH),
    "compile": Program("torch.compile, inference", ("torch",), COMPILE),
    "jax": FRAMEWORKS["jax"],
}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Record]:
    """Record one of the programs, by the context manager or by gviz run; each once."""
    with recorder(PROGRAMS, tmp_path_factory) as record:
        yield record


@pytest.mark.parametrize("how", ["profile", "run"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_recorded_launch_has_one_span_for_each_timed_node(
    record: Record, name: str, how: str
) -> None:
    recording = record(name, how)
    graphs = launched(recording)
    assert graphs
    for graph in graphs:
        timed = sorted(
            (n.graph_id, n.node_id)
            for n in nodes_with_nested(recording, graph)
            if n.not_timed_reason is None
        )
        launches = recording.fetch_launches(graph.graph_id)
        recorded = [launch for launch in launches if launch.node_level]
        assert recorded
        for launch in recorded:
            spans = recording.fetch_spans(launch.launch_id)
            keys = zip(spans.graph_id.tolist(), spans.node_id.tolist(), strict=True)
            assert sorted(keys) == timed
            assert launch.gpu_start_ns is not None
            assert launch.host_start_ns is not None
            assert launch.gpu_start_ns > launch.host_start_ns
            assert (spans.duration_ns > 0).all()
            assert spans.start_ns.min() == 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_node_has_kind_name_and_launch_shape(record: Record, name: str) -> None:
    recording = record(name)
    functions = recording.fetch_functions(1)
    for graph in launched(recording):
        nodes = recording.fetch_nodes(graph.graph_id)
        assert nodes
        assert graph.topology_id is not None
        edges = recording.fetch_edges(graph.topology_id)
        assert len(edges) >= len(nodes) - 1 - sum(n.type == NodeType.GRAPH for n in nodes)
        for node in nodes:
            assert node.name
            if node.type == NodeType.KERNEL:
                assert node.function_id is not None
                assert functions[node.function_id].registers
                assert None not in (node.grid_x, node.block_x, node.occupancy_fraction)
                assert recording.fetch_arguments(graph.graph_id, node.node_id)


@pytest.mark.parametrize("name", ["cupy", "torch"])
def test_spans_keep_the_dependencies_in_order(record: Record, name: str) -> None:
    recording = record(name)
    (graph,) = launched(recording)
    left_out = {m.name: m.value for m in recording.fetch_measurements(1)}
    assert left_out["launches_with_impossible_times"] == 0
    assert graph.topology_id is not None
    edges = recording.fetch_edges(graph.topology_id)
    for launch in recording.fetch_launches(graph.graph_id):
        if not launch.span_count:
            continue
        spans = recording.fetch_spans(launch.launch_id)
        start = dict(zip(spans.node_id.tolist(), spans.start_ns.tolist(), strict=True))
        duration = dict(zip(spans.node_id.tolist(), spans.duration_ns.tolist(), strict=True))
        for a, b in zip(edges.from_node.tolist(), edges.to_node.tolist(), strict=True):
            assert start[b] >= start[a] + duration[a] - TOLERANCE_NS


@pytest.mark.quick
def test_launches_past_the_window_have_whole_times_only(record: Record) -> None:
    recording = record("cupy")
    (graph,) = launched(recording)
    launches = recording.fetch_launches(graph.graph_id)
    recorded = sum(launch.span_count == 3 for launch in launches)
    # The window stays open over a few more launches while there is eager budget.
    assert 20 <= recorded <= 24
    assert [launch.span_count for launch in launches] == [3] * recorded + [0] * (30 - recorded)
    timed = [launch.event_duration_ns for launch in launches if launch.event_duration_ns]
    assert timed
    assert min(timed) > 1000


@pytest.mark.parametrize(
    ("policy", "expected"), [("'all'", [3] * 30), ("'every:10'", [0, 10, 20]), ("5", range(5))]
)
def test_node_launches_choose_the_launches(
    record: Record, policy: str, expected: list[int]
) -> None:
    recording = record("cupy", options=f"node_launches={policy}, eager_operations=0")
    (graph,) = launched(recording)
    launches = recording.fetch_launches(graph.graph_id)
    recorded = [i for i, launch in enumerate(launches) if launch.span_count == 3]
    assert recorded == (list(range(30)) if policy == "'all'" else list(expected))


@pytest.mark.quick
def test_eager_work_is_matched_as_stream_side_launches(record: Record) -> None:
    recording = record("cupy")
    (graph,) = launched(recording)
    streams = recording.fetch_launches(graph.graph_id, "stream")
    assert len(streams) == 2
    for launch in streams:
        operations = recording.fetch_stream_operations(launch.launch_id)
        assert sorted(op.node_id for op in operations) == [0, 1, 2]  # type: ignore[type-var]
        assert all(op.host_start_ns is not None for op in operations)
        assert all(op.host_start_ns < op.start_ns for op in operations)  # type: ignore[operator]


@pytest.mark.parametrize("how", ["profile", "run"])
def test_nodes_know_their_nvtx_ranges(record: Record, how: str) -> None:
    recording = record("cupy", how)
    (graph,) = launched(recording)
    paths = recording.fetch_nvtx_paths(1)
    nodes = recording.fetch_nodes(graph.graph_id)
    texts = []
    for node in nodes:
        path, texts_of_node = node.nvtx_path_id, []
        while path is not None:
            texts_of_node.append(paths[path].text)
            path = paths[path].parent_id
        texts.append(texts_of_node)
    assert texts == [[], ["inner", "outer"], []]


def test_torch_ranges_and_stacks_are_those_of_the_forward_pass(record: Record) -> None:
    recording = record("torch", "run")
    (graph,) = launched(recording)
    paths = recording.fetch_nvtx_paths(1)
    nodes = recording.fetch_nodes(graph.graph_id)
    forward = [
        n for n in nodes if n.nvtx_path_id is not None and paths[n.nvtx_path_id].text == "forward"
    ]
    assert len(forward) >= 4
    assert all(n.stack_id is not None for n in forward)
    files = {frame.file for n in forward for frame in recording.fetch_stack(n.stack_id or 0)}
    assert any(file.endswith("program.py") for file in files)
    lines = {
        frame.source
        for n in forward
        for frame in recording.fetch_stack(n.stack_id or 0)
        if frame.file.endswith("program.py")
    }
    assert "loss = model(x).square().mean()" in lines


def test_backward_nodes_say_why_they_have_no_stack(record: Record) -> None:
    recording = record("torch")
    (graph,) = launched(recording)
    reasons = {n.stack_reason for n in recording.fetch_nodes(graph.graph_id) if n.stack_id is None}
    assert len(reasons) == 1
    assert "autograd" in str(reasons.pop())


def test_graph_instantiated_before_is_known_from_its_records(tmp_path: Path) -> None:
    output = tmp_path / "out.gviz"
    body = CUPY.replace("for _ in range(30):", f"import gviz\nwith gviz.profile({str(output)!r}):")
    body = body.replace(
        "    graph.launch(stream)\nstream",
        "    for _ in range(30): graph.launch(stream)\n    stream",
    )
    done = run_script(tmp_path, body)
    assert done.returncode == 0, done.stderr
    with Recording(output) as recording:
        (graph,) = recording.fetch_graphs()
        assert (graph.origin, graph.topology_id) == ("late", None)
        assert len(recording.fetch_nodes(graph.graph_id)) == 3
        assert any("instantiated before" in note.text for note in recording.fetch_notes(1))


@pytest.mark.quick
def test_torch_profiler_works_after_a_profile(tmp_path: Path) -> None:
    output = tmp_path / "out.gviz"
    after = """
from torch.profiler import profile as torch_profile, ProfilerActivity
with torch_profile(activities=[ProfilerActivity.CUDA]) as p:
    graph.replay()
    torch.cuda.synchronize()
assert len([e for e in p.events() if e.device_type.name == "CUDA"]) > 4
"""
    done = run_script(tmp_path, profiled(TORCH, output) + after)
    assert done.returncode == 0, done.stderr


def test_exception_in_the_body_comes_out_and_the_recording_stays(tmp_path: Path) -> None:
    output = tmp_path / "out.gviz"
    done = run_script(tmp_path, profiled(CUPY + "\nraise KeyError('mine')\n", output))
    assert done.returncode == 1
    assert "KeyError: 'mine'" in done.stderr
    with Recording(output) as recording:
        assert recording.fetch_runs()[0].state == "completed"
        assert len(launched(recording)) == 1


def test_exit_inside_the_block_keeps_the_recording(tmp_path: Path) -> None:
    output = tmp_path / "out.gviz"
    text = f"import gviz\nprofile = gviz.profile({str(output)!r})\nprofile.__enter__()\n{CUPY}"
    done = run_script(tmp_path, text)
    assert done.returncode == 0, done.stderr
    with Recording(output) as recording:
        assert recording.fetch_runs()[0].state == "completed"
        (graph,) = launched(recording)
        spans = recording.fetch_graph_spans(graph.graph_id)
        assert np.unique(spans.node_id).tolist() == [0, 1, 2]
