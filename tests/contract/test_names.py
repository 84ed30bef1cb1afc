"""Names of graphs, and the graphs that are timed when a pattern of names is given."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from contract.backend import Backend
from contract.recorded import RUN, launch_ids, span_counts, top_graphs

from gviz.recording.reader import Recording

_TESTS = Path(__file__).parent.parent

#: Two captures on one line, one on another, a graph built node by node, one inside ranges, one
#: with a name of its own; each is launched twice.
PROGRAM = """
import sys
from contract.driver import Driver
from contract.cases import spin
import gviz
from gviz.collectors import native

cuda = Driver()
stream = cuda.stream()

def launch(graph):
    graph_exec = cuda.instantiate(graph)
    for _ in range(2):
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)

def capture(grid):
    from ctypes import c_void_p, c_int, byref
    out = c_void_p()
    cuda.library.cuStreamBeginCapture_v2(c_void_p(stream), c_int(2))  # the line
    cuda.launch("spin", spin(2), stream, grid=(grid, 1, 1))
    cuda.library.cuStreamEndCapture(c_void_p(stream), byref(out))
    return out.value

class Model:
    def forward(self):
        return capture(1)

with gviz.profile(sys.argv[1], **eval(sys.argv[2])):
    if len(sys.argv) > 3:  # as in a program without Python: the native library decides alone
        native.set_graph_choice(sys.argv[3], None)
    cuda.launch("spin", spin(2), stream)  # a window is open when the first graph is launched
    first = capture(1)
    second = Model().forward()
    launch(second)
    launch(first)
    built = cuda.graph()
    cuda.add_kernel(built, [], "spin", spin(2), grid=(3, 1, 1))
    launch(built)
    native.nvtx_push("decode")
    native.nvtx_push("attention")
    ranged = capture(4)
    native.nvtx_pop()
    native.nvtx_pop()
    launch(ranged)
    native.nvtx_push("decode")
    native.name_graphs(1, "given")
    given = capture(5)
    native.name_graphs(0, "")
    native.nvtx_pop()
    launch(given)
    native.nvtx_push("decode")
    native.name_graphs(2, "framework's")
    under = capture(6)
    native.nvtx_pop()
    launch(under)
    framework = capture(7)
    native.name_graphs(0, "")
    launch(framework)
    launch(given)
"""

_LINE = 1 + next(i for i, s in enumerate(PROGRAM.splitlines()) if s.endswith("# the line"))
_CALL = f"program.py:{_LINE} capture"

Run = Callable[..., Recording]


@pytest.fixture
def run(backend: Backend, tmp_path: Path) -> Iterator[Run]:
    """Run the program under gviz.profile with given options; open its recording."""
    opened: list[Recording] = []

    def record(
        options: str = "{}", *more: str, text: str = PROGRAM, command: tuple[str, ...] = ()
    ) -> Recording:
        program, output = tmp_path / "program.py", tmp_path / "out.gviz"
        program.write_text(text)
        path = os.pathsep.join(filter(None, [str(_TESTS), os.environ.get("PYTHONPATH")]))
        if command:
            command = (*command, "-o", str(output))
        done = subprocess.run(
            [sys.executable, "-P", *command, str(program), str(output), options, *more],
            env={**backend.environment, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        opened.append(Recording(output))
        return opened[-1]

    yield record
    for recording in opened:
        recording.close()


#: A capture into a graph that is there, ended without asking which graph it was.
INTO_GRAPH = """
import sys
from ctypes import c_int, c_size_t, c_void_p
from contract.driver import Driver
from contract.cases import spin
import gviz

cuda = Driver()
stream = cuda.stream()
with gviz.profile(sys.argv[1]):
    graph = cuda.graph()
    code = cuda.library.cuStreamBeginCaptureToGraph(
        c_void_p(stream), c_void_p(graph), None, None, c_size_t(0), c_int(1)
    )
    assert code == 0, code
    cuda.launch("spin", spin(2), stream)
    code = cuda.library.cuStreamEndCapture(c_void_p(stream), None)
    assert code == 0, code
    graph_exec = cuda.instantiate(graph)
    cuda.launch_graph(graph_exec, stream)
    cuda.wait(stream)
"""


class TestNames:
    """On the fake driver and on the real one."""

    def test_graphs_are_called_by_name_range_or_line(self, run: Run) -> None:
        graphs = top_graphs(run())
        # In order of instantiation; the frame that instantiates names what was not captured.
        instantiate = next(g.name for g in graphs if g.origin == "explicit")
        assert instantiate.startswith("driver.py:")
        assert instantiate.endswith(" Driver.call")
        assert [g.name for g in graphs] == [
            _CALL,
            f"{_CALL} (2)",
            instantiate,
            "decode/attention",
            "given",
            "decode",
            "framework's",
        ]

    def test_capture_into_a_graph_names_it(self, run: Run) -> None:
        (graph,) = top_graphs(run(text=INTO_GRAPH))
        line = 1 + INTO_GRAPH.splitlines().index(
            "    code = cuda.library.cuStreamBeginCaptureToGraph("
        )
        assert graph.name == f"program.py:{line}"

    def test_graph_is_chosen_under_gviz_run(self, run: Run) -> None:
        # Windows time the second launch; event copies may come to be later.
        gviz_run = ("-m", "gviz", "run", "--collector", "cupti")
        recording = run(command=(*gviz_run, "--graph", "decode*"))
        found = [g.name for g in top_graphs(recording) if span_counts(recording, g)]
        assert found == ["decode/attention", "decode"]

    def test_graphs_lead_to_the_source_of_their_capture(self, run: Run) -> None:
        recording = run()
        first, second, built, ranged, *_ = top_graphs(recording)
        assert first.capture_stack_id is not None
        frames = recording.fetch_stack(first.capture_stack_id)
        assert [f.function for f in frames][:2] == ["capture", "Model.forward"]
        assert second.capture_stack_id is not None
        assert [f.function for f in recording.fetch_stack(second.capture_stack_id)] == [
            "capture",
            "<module>",
        ]
        assert built.capture_stack_id is not None
        assert built.capture_nvtx_path_id is None
        assert ranged.capture_nvtx_path_id is not None
        paths = recording.fetch_nvtx_paths(RUN)
        assert paths[ranged.capture_nvtx_path_id].text == "attention"

    @pytest.mark.parametrize(
        ("pattern", "timed"),
        [
            ("decode*", ["decode/attention", "decode"]),
            ("given", ["given"]),
            ("program.py:*capture", [_CALL, f"{_CALL} (2)"]),
            ("framework?s", ["framework's"]),
            ("*", None),
        ],
    )
    def test_only_graphs_that_match_get_node_times(
        self, run: Run, pattern: str, timed: list[str] | None
    ) -> None:
        recording = run(repr({"graph": pattern}))
        graphs = top_graphs(recording)
        found = [g.name for g in graphs if span_counts(recording, g)]
        assert found == ([g.name for g in graphs] if timed is None else timed)
        for graph in graphs:
            expected = 4 if graph.name == "given" else 2
            assert len(launch_ids(recording, graph)) == expected, "all launches are known"
            launches = recording.fetch_launches(graph.graph_id)
            assert all(launch.event_duration_ns for launch in launches), "and timed as a whole"
            assert len(recording.fetch_nodes(graph.graph_id)) == 1
        losses = {m.name: m.value for m in recording.fetch_measurements(RUN)}
        assert losses["launches_without_node_times"] == 0
        assert not any("is called" in note.text for note in recording.fetch_notes(RUN))

    @pytest.mark.parametrize(
        ("pattern", "timed"),
        [
            ("decode/*", ["decode/attention"]),
            ("[dg]*", ["decode/attention", "given", "decode"]),
            # Without stacks, what is in no range is called as the program.
            ("*python*", [_CALL, f"{_CALL} (2)", "driver.py"]),
        ],
    )
    def test_native_library_chooses_alone_where_there_is_no_python(
        self, run: Run, pattern: str, timed: list[str]
    ) -> None:
        recording = run("{}", pattern)
        found = [g.name for g in top_graphs(recording) if span_counts(recording, g)]
        assert [n.partition(":")[0] if n.startswith("driver") else n for n in found] == timed

    def test_pattern_that_matches_nothing_lists_the_names(self, run: Run) -> None:
        recording = run(repr({"graph": "prefill"}))
        assert not any(span_counts(recording, g) for g in top_graphs(recording))
        (text,) = [n.text for n in recording.fetch_notes(RUN) if "prefill" in n.text]
        assert "decode/attention" in text
        assert "given" in text
        assert _CALL in text
