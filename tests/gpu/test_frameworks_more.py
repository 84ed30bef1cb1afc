"""Names, ranges, nodes and times of more frameworks on a real GPU, and gviz.compare_stream."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from framework_programs import PROGRAMS, profiled, run_script
from framework_recordings import Record, launched, nodes_with_nested, recorder

from gviz.cuda.node_type import NodeType
from gviz.recording import rows
from gviz.recording.reader import Recording

pytestmark = pytest.mark.gpu

#: Warp is no part of a machine for these tests; where it is, it is tested.
NAMES = [n for n in PROGRAMS if n != "warp" or importlib.util.find_spec("warp") is not None]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Record]:
    """Record one of the programs, by the context manager or by gviz run; each once."""
    with recorder(PROGRAMS, tmp_path_factory) as record:
        yield record


def functions_of(recording: Recording, stack_id: int | None) -> list[str]:
    """Return the functions of a stack, innermost first."""
    return [f.function for f in recording.fetch_stack(stack_id)] if stack_id else []


def ranges_of(recording: Recording, node: rows.Node) -> list[str]:
    """Return the ranges open when a node was created, outermost first."""
    paths = recording.fetch_nvtx_paths(1)
    path, texts = node.nvtx_path_id, []
    while path is not None:
        texts.append(paths[path].text)
        path = paths[path].parent_id
    return texts[::-1]


# -- every framework -----------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["profile", "run"])
@pytest.mark.parametrize("name", NAMES)
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
            if n.not_timed_reason is None and n.exec_node_id is not None
        )
        recorded = [x for x in recording.fetch_launches(graph.graph_id) if x.node_level]
        assert recorded
        for launch in recorded:
            spans = recording.fetch_spans(launch.launch_id)
            keys = zip(spans.graph_id.tolist(), spans.node_id.tolist(), strict=True)
            assert sorted(keys) == timed
            assert (spans.duration_ns > 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_graph_has_a_name_of_its_own_and_leads_to_the_program(
    record: Record, name: str
) -> None:
    recording = record(name)
    graphs = launched(recording)
    names = [g.name for g in graphs]
    assert len(set(names)) == len(names)
    for graph in graphs:
        if "backward" in graph.name or name in ("jax", "compile_training"):
            continue  # made on a thread of the library
        assert not re.fullmatch(r"graph \d+", graph.name), "something is known of every one"
        assert graph.capture_stack_id is not None
        files = {f.file for f in recording.fetch_stack(graph.capture_stack_id)}
        assert any(file.endswith("program.py") for file in files)


@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_has_a_readable_short_name(record: Record, name: str) -> None:
    recording = record(name)
    functions = recording.fetch_functions(1)
    for graph in launched(recording):
        for node in nodes_with_nested(recording, graph):
            if node.type == NodeType.KERNEL:
                assert node.name
                assert not node.name.startswith("_Z")
                assert node.function_id is not None
                assert functions[node.function_id].mangled_name


# -- what is special to each ----------------------------------------------------------------------


@pytest.mark.parametrize("how", ["profile", "run"])
def test_numba_kernels_lead_to_their_lines(record: Record, how: str) -> None:
    recording = record("numba", how)
    (graph,) = launched(recording)
    nodes = recording.fetch_nodes(graph.graph_id)
    assert [n.type for n in nodes] == [NodeType.KERNEL] * 2
    assert all("add_one" in n.name for n in nodes)
    assert graph.origin == "capture"
    assert graph.name.startswith("program.py:")
    sources = {
        f.source
        for n in nodes
        for f in recording.fetch_stack(n.stack_id or 0)
        if f.file.endswith("program.py")
    }
    assert "add_one[8, 128, builder](a)" in sources


def test_core_builder_keeps_its_fork_and_join(record: Record) -> None:
    recording = record("core_builder")
    (graph,) = launched(recording)
    nodes = recording.fetch_nodes(graph.graph_id)
    assert [n.name for n in nodes] == ["add_one"] * 4
    assert graph.topology_id is not None
    edges = recording.fetch_edges(graph.topology_id)
    found = set(zip(edges.from_node.tolist(), edges.to_node.tolist(), strict=True))
    assert found == {(0, 1), (0, 2), (1, 3), (2, 3)}


def test_core_definition_is_named_after_the_line_that_instantiates(record: Record) -> None:
    recording = record("core_definition")
    (graph,) = launched(recording)
    assert graph.origin == "explicit"
    assert graph.capture_stack_id is not None
    innermost = next(
        f for f in recording.fetch_stack(graph.capture_stack_id) if f.file.endswith("program.py")
    )
    assert innermost.source == "graph = definition.instantiate()"
    assert graph.name == f"program.py:{innermost.line}"
    kinds = [n.type for n in recording.fetch_nodes(graph.graph_id)]
    assert kinds == [NodeType.MEMSET, NodeType.KERNEL, NodeType.KERNEL]


def test_triton_kernels_keep_their_names(record: Record) -> None:
    recording = record("triton")
    (graph,) = launched(recording)
    names = [n.name for n in recording.fetch_nodes(graph.graph_id)]
    assert "scale_kernel" in names
    assert graph.name.startswith("program.py:")


@pytest.mark.parametrize("how", ["profile", "run"])
def test_compiled_graphs_are_named_by_function_and_shape(record: Record, how: str) -> None:
    names = [g.name for g in launched(record("compile", how))]
    for shape in ("8x64", "16x64"):
        pattern = rf"program\.py:\d+ scaled_tanh \[{shape}\]( \(\d+\))?"
        assert any(re.fullmatch(pattern, name) for name in names), names


def test_compiled_training_names_forward_and_backward(record: Record) -> None:
    names = [g.name for g in launched(record("compile_training"))]
    assert any(re.match(r"program\.py:\d+ Block\.forward \[8x64\]", name) for name in names), names
    # Which of the two is the backward PyTorch 2.11 does not tell: both have the forward's name.
    assert len(names) >= 2
    assert all(name.startswith("program.py:") for name in names), names


def test_graphed_callables_make_a_forward_and_a_backward_graph(record: Record) -> None:
    graphs = launched(record("graphed"))
    assert len(graphs) == 2
    first, second = (g.name for g in graphs)
    assert first.startswith("program.py:")
    assert second == f"{first} (2)"


@pytest.mark.parametrize("how", ["profile", "run"])
def test_record_function_is_a_range(record: Record, how: str) -> None:
    recording = record("torch", how)
    (graph,) = launched(recording)
    nodes = recording.fetch_nodes(graph.graph_id)
    forward = [n for n in nodes if "forward" in ranges_of(recording, n)]
    assert len(forward) >= 4
    # torch.optim marks its own step so.
    assert any("Optimizer.step#SGD.step" in ranges_of(recording, n) for n in nodes)
    assert {p.text for p in recording.fetch_nvtx_paths(1).values()} >= {"forward"}


@pytest.mark.parametrize("how", ["profile", "run"])
def test_time_range_is_a_range(record: Record, how: str) -> None:
    recording = record("cupy", how)
    (graph,) = launched(recording)
    texts = [ranges_of(recording, n) for n in recording.fetch_nodes(graph.graph_id)]
    assert texts == [[], ["scale"], [], []]


def test_time_range_is_a_range_after_calls_before_gviz(tmp_path: Path) -> None:
    pytest.importorskip("cupy")
    before = "from cupyx.profiler import time_range\nwith time_range('before'): pass\n"
    output = tmp_path / "out.gviz"
    done = run_script(tmp_path, before + profiled(PROGRAMS["cupy"].text, output))
    assert done.returncode == 0, done.stderr
    with Recording(output) as recording:
        (graph,) = launched(recording)
        texts = [ranges_of(recording, n) for n in recording.fetch_nodes(graph.graph_id)]
        assert texts == [[], ["scale"], [], []]


def test_record_function_goes_through_the_compilers_as_before(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = """
    import torch
    def marked(x):
        with torch.profiler.record_function("inside"):
            return torch.tanh(x) + 1
    @torch.profiler.record_function("decorated")
    def decorated(x):
        return marked(x) * 2
    def scripted(x: torch.Tensor) -> torch.Tensor:
        with torch.autograd.profiler.record_function("scripted"):
            return x + 1
    x = torch.ones(8, device="cuda")
    def outcomes():
        found = {}
        for name, make in {
            "compile": lambda: torch.compile(marked)(x),
            "compile fullgraph": lambda: torch.compile(marked, fullgraph=True)(x),
            "decorated": lambda: torch.compile(decorated)(x),
            "eager": lambda: decorated(x),
            "script": lambda: torch.jit.script(scripted)(x),
        }.items():
            torch._dynamo.reset()
            try:
                found[name] = make().sum().item()
            except Exception as error:
                found[name] = type(error).__name__
        return found
    """
    text = "\n".join(line[4:] for line in text.splitlines())
    output = tmp_path / "out.gviz"
    program = (
        f"{text}\nimport gviz, json\nbefore = outcomes()\n"
        f"with gviz.profile({str(output)!r}):\n    inside = outcomes()\n"
        "print(json.dumps([before, inside, outcomes()]))\n"
    )
    done = run_script(tmp_path, program)
    assert done.returncode == 0, done.stderr
    before, inside, after = json.loads(done.stdout.splitlines()[-1])
    assert inside == before
    assert after == before
    with Recording(output) as recording:
        texts = {p.text for p in recording.fetch_nvtx_paths(1).values()}
        assert {"decorated", "inside"} <= texts, "the eager calls"


# -- one graph of several -------------------------------------------------------------------

_TWO = """
import torch
x = torch.ones(1024, device="cuda")
def capture():
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x.add_(1.0)
    return graph
x.add_(1.0)
with torch.cuda.nvtx.range("prefill"):
    prefill = capture()
with torch.cuda.nvtx.range("decode"):
    decode = capture()
for _ in range(30):
    prefill.replay()
    decode.replay()
torch.cuda.synchronize()
"""


@pytest.mark.parametrize("how", ["profile", "run"])
def test_only_the_graph_requested_gets_node_times(tmp_path: Path, how: str) -> None:
    pytest.importorskip("torch")
    output = tmp_path / "out.gviz"
    if how == "profile":
        done = run_script(tmp_path, profiled(_TWO, output, "graph='dec*'"))
    else:
        command = ("-m", "gviz", "run", "-o", str(output), "--graph", "dec*")
        done = run_script(tmp_path, _TWO, *command)
    assert done.returncode == 0, done.stderr
    with Recording(output) as recording:
        graphs = {g.name: g for g in launched(recording)}
        assert set(graphs) == {"prefill", "decode"}
        spans = {n: len(recording.fetch_graph_spans(g.graph_id)) for n, g in graphs.items()}
        assert spans["prefill"] == 0
        assert spans["decode"] >= 20
        launches = recording.fetch_launches(graphs["prefill"].graph_id)
        assert len(launches) == 30
        assert any(launch.event_duration_ns for launch in launches)


# -- gviz.compare_stream --------------------------------------------------------------------

_COMPARE = """
import json, sys
import gviz
{body}
try:
    found = gviz.compare_stream(work, path={output!r}, launches=10{options})
except gviz.GvizError as error:
    print(json.dumps({{"error": str(error)}}))
else:
    print(found, file=sys.stderr)
    print(json.dumps({{
        "framework": found.framework, "agrees": found.agrees, "differences": found.differences,
        "notes": found.notes, "node_count": found.node_count,
        "graph": [found.graph.gpu_ns, found.graph.host_ns, found.graph.recorded_ns,
                  found.graph.idle_fraction, found.graph.recorded_count],
        "stream": [found.stream.gpu_ns, found.stream.host_ns, found.stream.recorded_ns,
                   found.stream.idle_fraction, found.stream.recorded_count]}}))
"""

_TORCH_WORK = """
import torch
model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(8)]).cuda()
x = torch.randn(8, 64, device="cuda")
def work():
    with torch.no_grad():
        return {"y": model(x), "parts": (x * 2, x.bfloat16())}
"""

_CUPY_WORK = """
import cupy as cp
a = cp.arange(1 << 14, dtype=cp.float32)
def work():
    b = a * 2 + 1
    return cp.sqrt(b), b.sum()
"""


def compare(folder: Path, body: str, options: str = "") -> dict[str, Any]:
    """Run gviz.compare_stream in a program; return what it printed."""
    output = str(folder / "out.gviz")
    done = run_script(folder, _COMPARE.format(body=body, output=output, options=options))
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    ("library", "body"), [("torch", _TORCH_WORK), ("cupy", _CUPY_WORK)], ids=["torch", "cupy"]
)
def test_compare_stream_times_both_sides_and_they_agree(
    tmp_path: Path, library: str, body: str
) -> None:
    pytest.importorskip(library)
    found = compare(tmp_path, body)
    assert found["framework"] == library
    assert (found["agrees"], found["differences"]) == (True, [])
    assert found["node_count"] >= 3
    for side in ("graph", "stream"):
        gpu, host, recorded, idle, count = found[side]
        assert gpu > 0
        assert host > 0
        assert recorded > 0
        assert 0 <= idle < 1
        # Of both sides the first is left out; of eager iterations one is recorded after it.
        assert count == (10 if side == "graph" else 1)
    assert found["graph"][1] < found["stream"][1], "one call costs the host less than many"
    with Recording(tmp_path / "out.gviz") as recording:
        (graph,) = [g for g in launched(recording) if g.name == "work"]
        assert len(recording.fetch_launches(graph.graph_id)) == 11


def test_compare_stream_explains_what_cupy_cannot_capture(tmp_path: Path) -> None:
    pytest.importorskip("cupy")
    body = "import cupy as cp\na = cp.ones((64, 64), dtype=cp.float32)\ndef work(): return a @ a\n"
    found = compare(tmp_path, body)
    assert "CuPy refuses this in a capture" in found["error"]
    assert "PyTorch" in found["error"]


def test_compare_stream_explains_what_torch_cannot_capture(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    body = "import torch\nx = torch.ones(8, device='cuda')\ndef work(): return x * x.sum().item()\n"
    found = compare(tmp_path, body)
    assert "could not capture the function" in found["error"]


def test_compare_stream_gives_both_sides_the_same_random_numbers(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    body = (
        "import torch\nx = torch.ones(4096, device='cuda')\n"
        "def work(): return torch.nn.functional.dropout(x, 0.5)\n"
    )
    found = compare(tmp_path, body)
    assert found["agrees"] is True, found
    assert any("random numbers" in note for note in found["notes"])


def test_compare_stream_cannot_judge_a_training_step(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    body = (
        "import torch\nmodel = torch.nn.Linear(64, 1).cuda()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "x = torch.randn(32, 64, device='cuda')\n"
        "def work():\n"
        "    optimizer.zero_grad(set_to_none=False)\n"
        "    loss = model(x).square().mean()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    return loss.detach()\n"
    )
    found = compare(tmp_path, body, ", capture='torch'")
    assert found["agrees"] is None
    assert any("different results" in note for note in found["notes"])
    assert found["graph"][0] > 0
