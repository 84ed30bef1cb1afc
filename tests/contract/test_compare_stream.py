"""gviz.compare_stream on the driver itself: a library that captures through the test's binding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contract.backend import Backend
from contract.recorded import RUN, launch_ids, top_graphs

from gviz.recording.reader import Recording

_TESTS = Path(__file__).parent.parent

#: A library that captures on ``stream``, for gviz.compare_stream; ``capturing`` says that it does.
LIBRARY = """
from contextlib import contextmanager
from time import perf_counter_ns
import numpy as np
from gviz.collectors.comparing import both_ways
capturing = False

class Place:
    def __init__(self, address, count):
        self.address, self.count = address, count

class Library:
    name = "driver"
    @contextmanager
    def scope(self):
        yield
    def synchronize(self):
        cuda.wait(stream)
    def capture(self, function):
        global capturing
        cuda.begin_capture(stream)
        capturing = True
        results = function()
        capturing = False
        graph_exec = cuda.instantiate(cuda.end_capture(stream))
        return (lambda: cuda.launch_graph(graph_exec, stream)), results
    def time(self, call):
        begin, end = cuda.event(), cuda.event()
        self.synchronize()
        cuda.record(begin, stream)
        started = perf_counter_ns()
        call()
        host = perf_counter_ns() - started
        cuda.record(end, stream)
        cuda.wait(stream)
        return cuda.elapsed_ns(begin, end), float(host)
    def to_host(self, value):
        if isinstance(value, Place):
            return np.array(cuda.download_floats(value.address, value.count))
    def random_state(self):
        return None
    def set_random_state(self, state):
        raise AssertionError("there is none")
    def same_random_state(self, state):
        return True

both_ways.choose = lambda capture, function: Library()
"""

#: y = 3 x from a cleared y, twice; ``mode`` says what is odd about the function.
PROGRAM = f"""
import json, sys
from ctypes import c_float, c_uint, c_ulonglong
import gviz
from contract.driver import Arguments, Driver

output, mode = sys.argv[1], sys.argv[2]
options = json.loads(sys.argv[3])
cuda = Driver()
stream = cuda.stream()
N = 1024
x, y = cuda.allocate(4 * N), cuda.allocate(4 * N)
cuda.upload_floats(x, [float(i) for i in range(N)])
axpy = Arguments(c_uint(N), c_float(3.0), c_ulonglong(x), c_ulonglong(y))

def work():
    if mode != "stateful":
        cuda.set32(y, 0, N, stream)
    cuda.launch("axpy", axpy, stream, grid=(8, 1, 1), block=(128, 1, 1))
    if mode == "differing" and capturing:
        cuda.launch("axpy", axpy, stream, grid=(8, 1, 1), block=(128, 1, 1))
    return None if mode == "silent" else {{"y": Place(y, N)}}

{LIBRARY}
where = {{}} if options.pop("temporary", False) else {{"path": output}}
inside = options.pop("inside", False)
try:
    if inside:
        with gviz.profile(output):
            found = gviz.compare_stream(work, **options)
    else:
        found = gviz.compare_stream(work, **where, **options)
except gviz.GvizError as error:
    print(json.dumps({{"error": str(error)}}))
else:
    sides = {{s: {{f: getattr(getattr(found, s), f) for f in found.graph.__dataclass_fields__}}
             for s in ("graph", "stream")}}
    print(json.dumps({{
        "name": found.name, "path": str(found.path), "node_count": found.node_count,
        "agrees": found.agrees, "differences": found.differences, "notes": found.notes,
        "text": str(found), "speedup": found.speedup, **sides}}))
"""

Compare = Callable[..., dict[str, Any]]


@pytest.fixture
def compare(backend: Backend, tmp_path: Path) -> Compare:
    """Run the program in one mode; return what it printed."""

    def run(mode: str = "plain", **options: Any) -> dict[str, Any]:
        program = tmp_path / "program.py"
        program.write_text(PROGRAM)
        path = os.pathsep.join(filter(None, [str(_TESTS), os.environ.get("PYTHONPATH")]))
        done = subprocess.run(
            [sys.executable, "-P", str(program), "out.gviz", mode, json.dumps(options)],
            env={**backend.environment, "PYTHONPATH": path, "TMPDIR": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run


class TestCompareStream:
    """On the fake driver and on the real one."""

    def test_both_sides_are_timed_and_agree(self, compare: Compare) -> None:
        found = compare(launches=5)
        assert (found["name"], found["node_count"]) == ("work", 2)
        assert (found["agrees"], found["differences"]) == (True, [])
        for side in (found["graph"], found["stream"]):
            assert side["gpu_ns"] > 0
            assert side["host_ns"] > 0
            assert side["recorded_ns"] > 0
            assert 0 <= side["idle_fraction"] < 1
        # Of both sides the first is left out; of eager iterations one is recorded after it.
        assert [found[s]["recorded_count"] for s in ("graph", "stream")] == [5, 1]
        assert found["notes"] == []
        assert found["speedup"] == found["stream"]["gpu_ns"] / found["graph"]["gpu_ns"]
        assert "results agree" in found["text"]
        text = "5 launches and eager iterations, timed alternately in one process, plain"
        assert text in found["text"]

    def test_recording_holds_the_graph_by_name_and_both_sides(
        self, compare: Compare, tmp_path: Path
    ) -> None:
        compare(launches=5, name="twice")
        with Recording(tmp_path / "out.gviz") as recording:
            (graph,) = top_graphs(recording)
            assert graph.name == "twice"
            assert len(launch_ids(recording, graph)) == 6
            assert all(x.span_count == 2 for x in recording.fetch_launches(graph.graph_id))
            assert len(recording.fetch_launches(graph.graph_id, "stream")) == 2
            texts = {p.text for p in recording.fetch_nvtx_paths(RUN).values()}
            assert texts == {"twice by stream", "twice capture", "twice as graph"}

    def test_temporary_recording_is_kept(self, compare: Compare, tmp_path: Path) -> None:
        found = compare(launches=1, temporary=True)
        path = Path(found["path"])
        assert path.name == "work.gviz"
        assert tmp_path in path.parents
        with Recording(path) as recording:
            assert [g.name for g in top_graphs(recording)] == ["work"]

    def test_different_results_are_reported_not_raised(self, compare: Compare) -> None:
        found = compare("differing", launches=2)
        assert found["agrees"] is False
        (sentence,) = found["differences"]
        assert sentence.startswith("result['y'] differs in 1,023 of 1,024 values")
        assert "DIFFER" in found["text"]

    def test_different_results_raise_when_strict(self, compare: Compare, tmp_path: Path) -> None:
        found = compare("differing", launches=2, strict=True)
        assert "gives other results as a graph" in found["error"]
        assert (tmp_path / "out.gviz").exists()

    def test_function_with_a_state_cannot_be_judged(self, compare: Compare) -> None:
        found = compare("stateful", launches=2)
        assert found["agrees"] is None
        assert any("different results" in note for note in found["notes"])

    def test_function_without_results_cannot_be_judged(self, compare: Compare) -> None:
        found = compare("silent", launches=2)
        assert found["agrees"] is None
        assert any("returns nothing" in note for note in found["notes"])

    def test_inside_a_profile_it_goes_into_that_recording(
        self, compare: Compare, tmp_path: Path
    ) -> None:
        found = compare(launches=3, inside=True)
        assert Path(found["path"]).name == "out.gviz"
        assert found["graph"]["gpu_ns"] > 0
        assert found["graph"]["recorded_ns"] is None
        assert any("active profile ends" in note for note in found["notes"])
        with Recording(tmp_path / "out.gviz") as recording:
            (graph,) = top_graphs(recording)
            assert graph.name == "work"
            assert recording.fetch_launches(graph.graph_id, "stream")

    def test_existing_recording_is_refused_before_anything_runs(
        self, compare: Compare, tmp_path: Path
    ) -> None:
        (tmp_path / "out.gviz").write_bytes(b"mine")
        found = compare(launches=1)
        assert "exists" in found["error"]
        assert (tmp_path / "out.gviz").read_bytes() == b"mine"
        assert compare(launches=1, overwrite=True)["node_count"] == 2

    @pytest.mark.parametrize("options", [{"warmup": -1}, {"launches": 0}])
    def test_counts_that_make_no_sense_are_refused(
        self, compare: Compare, options: dict[str, int]
    ) -> None:
        assert "give a number from" in compare(**options)["error"]
