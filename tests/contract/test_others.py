"""Other profilers in the process: gviz gives way, says who is there, and leaves nothing behind.

The real torch.profiler and jax.profiler are tried in tests/gpu/test_others.py. Here small modules
of their names stand in: they take CUPTI's one subscription as those do, PyTorch's for good and
JAX's until its trace is over.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from contract.backend import Backend, preloading
from contract.scripts import PREAMBLE, QUERY_FAKE, run_script

from gviz.collectors.others import cupti_user
from gviz.recording.reader import Recording

RUN = 1

SUBSCRIBE = """
import ctypes, os
cupti = ctypes.CDLL(os.environ["GVIZ_CUPTI"])
callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p)(
    lambda *arguments: None
)
def subscribe():
    subscriber = ctypes.c_void_p()
    return cupti.cuptiSubscribe(ctypes.byref(subscriber), callback, None), subscriber
"""
STAND_INS = {
    "torch/__init__.py": "import torch.compiler",
    "torch/compiler.py": "def is_compiling():\n    return False",
    "torch/autograd/__init__.py": "",
    "torch/autograd/profiler.py": SUBSCRIBE
    + """
import contextlib
import torch
_is_profiler_enabled = False
class record_function:
    def __enter__(self):
        return self
    def __exit__(self, *error):
        pass
results = []
def _prepare_profiler(config, activities):
    results.append(subscribe()[0])
def _enable_profiler(config, activities):
    pass
@contextlib.contextmanager
def profile():
    global _is_profiler_enabled
    _prepare_profiler("kineto", {"cuda"})
    _enable_profiler("kineto", {"cuda"})
    _is_profiler_enabled = True
    yield
    _is_profiler_enabled = False
@contextlib.contextmanager
def emit_nvtx():
    _enable_profiler("nvtx", set())
    yield
""",
    "jax/__init__.py": "from jax._src import profiler",
    "jax/_src/__init__.py": "",
    "jax/_src/profiler.py": SUBSCRIBE
    + """
class _ProfileState:
    profile_session = None
_profile_state = _ProfileState()
class _profiler:
    class ProfilerSession:
        def __init__(self):
            self.result, self.subscriber = subscribe()
        def stop_and_export(self, folder):
            assert cupti.cuptiUnsubscribe(self.subscriber) == 0
            return folder
    def start_server(port):
        return subscribe()
def start_trace(folder):
    _profile_state.profile_session = _profiler.ProfilerSession()
    return _profile_state.profile_session.result
def stop_trace():
    _profile_state.profile_session.stop_and_export("folder")
    _profile_state.profile_session = None
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for a script, with the stand-ins beside it."""
    for name, text in STAND_INS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def script(text: str) -> str:
    """Return a script that finds the stand-ins."""
    return "import os, sys\nsys.path.insert(0, os.getcwd())\n" + PREAMBLE + QUERY_FAKE + text


def counts(path: Path) -> list[int]:
    """Return how many launches of each graph are recorded."""
    with Recording(path) as recording:
        return [len(recording.fetch_launches(graph.graph_id)) for graph in recording.fetch_graphs()]


def periods(path: Path) -> list[tuple[str, str | None, str | None]]:
    """Return why each period began and ended, and whom CUPTI was left to."""
    with Recording(path) as recording:
        return [(p.start_reason, p.end_reason, p.left_to) for p in recording.fetch_periods(RUN)]


def notes(path: Path) -> list[str]:
    """Return the notes of a recording."""
    with Recording(path) as recording:
        return [note.text for note in recording.fetch_notes(RUN)]


TORCH_INSIDE = """
with gviz.profile("x.gviz"):
    early = chain()
    launch(early, 3)
    {imported}
    with profiler.profile():
        print(profiler.results, enabled()["kinds"])
        launch(early, 4)
        launch(chain(), 2)
    with profiler.profile():
        launch(early, 4)
print(profiler._prepare_profiler.__name__, hasattr(profiler._prepare_profiler, "__wrapped__"))
"""


@pytest.mark.parametrize("when", ["before", "inside"])
def test_torch_profiler_started_inside_gets_cupti(fake: Backend, folder: Path, when: str) -> None:
    imported = "from torch.autograd import profiler"
    text = TORCH_INSIDE.replace("{imported}", imported if when == "inside" else "pass")
    text = (imported + "\n" if when == "before" else "") + text
    process = run_script(fake, folder, script(text))
    assert process.returncode == 0, process.stderr
    assert process.stdout == "[0] 0\n_prepare_profiler False\n"
    assert process.stderr.count("gviz leaves CUPTI to it") == 1
    path = folder / "x.gviz"
    assert counts(path) == [3]
    followed = ("followed", "end", None)
    assert periods(path) == [("attached", "left", "torch.profiler"), followed]
    assert any("gviz left CUPTI to it" in note for note in notes(path))
    with Recording(path) as recording:
        (graph,) = recording.fetch_graphs()
        assert [la.span_count for la in recording.fetch_launches(graph.graph_id)] == [4, 4, 4]
        assert recording.fetch_runs()[0].state == "completed"


def test_torch_profiler_after_gviz_gets_cupti(fake: Backend, folder: Path) -> None:
    text = """
from torch.autograd import profiler
with gviz.profile("x.gviz"):
    launch(chain(), 2)
with profiler.profile():
    pass
print(profiler.results)
"""
    process = run_script(fake, folder, script(text))
    assert (process.returncode, process.stdout, process.stderr) == (0, "[0]\n", "")


@pytest.mark.parametrize("still", [True, False], ids=["recording", "ended"])
def test_torch_profiler_before_gviz_is_named(fake: Backend, folder: Path, still: bool) -> None:
    indent, body = ("    ", "") if still else ("", "    pass\n")
    text = f"""
from torch.autograd import profiler
with profiler.profile():
{body}{indent}with gviz.profile("x.gviz"):
{indent}    launch(chain(), 2)
print(profiler.results)
"""
    process = run_script(fake, folder, script(text))
    assert (process.returncode, process.stdout) == (0, "[0]\n"), process.stderr
    assert process.stderr.count("gviz:") == 1
    assert "another profiler holds CUPTI" in process.stderr
    assert ("torch.profiler is recording" in process.stderr) == still
    assert "fresh process" in process.stderr
    with Recording(folder / "x.gviz") as recording:
        (run,) = recording.fetch_runs()
    assert run.collector == "events"
    assert "fresh process" in (run.collector_reason or "")


def test_nvtx_of_torch_is_no_reason_to_leave(fake: Backend, folder: Path) -> None:
    text = """
from torch.autograd import profiler
with gviz.profile("x.gviz"), profiler.emit_nvtx():
    launch(chain(), 2)
"""
    process = run_script(fake, folder, script(text))
    assert (process.returncode, process.stderr) == (0, "")
    assert counts(folder / "x.gviz") == [2]


JAX_INSIDE = """
import jax, json
with gviz.profile("x.gviz"):
    early = chain()
    launch(early, 3)
    for _ in range(2):
        print(jax.profiler.start_trace("folder"))
        launch(early, 4)
        unseen = chain()
        jax.profiler.stop_trace()
    launch(early, 2)
    launch(unseen, 2)
    launch(chain(), 2)
    print(json.dumps(enabled()))
print(type(jax.profiler._profiler).__name__)
"""


def test_gviz_returns_after_a_trace_of_jax(fake: Backend, folder: Path) -> None:
    process = run_script(fake, folder, script(JAX_INSIDE))
    assert process.returncode == 0, process.stderr
    first, second, state, name = process.stdout.splitlines()
    assert (first, second, name) == ("0", "0", "type")
    assert json.loads(state)["launches"] == 2
    assert process.stderr.count("leaves CUPTI to it") == 2
    assert process.stderr.count("gviz records again") == 2
    path = folder / "x.gviz"
    assert periods(path) == [
        ("attached", "left", "jax.profiler"),
        ("returned", "left", "jax.profiler"),
        ("returned", "end", None),
    ]
    with Recording(path) as recording:
        found = sorted(
            (graph.origin, len(recording.fetch_launches(graph.graph_id)))
            for graph in recording.fetch_graphs()
        )
        assert found == [("explicit", 2), ("explicit", 3 + 2), ("late", 2)]
        for graph in recording.fetch_graphs():
            for launch in recording.fetch_launches(graph.graph_id):
                assert launch.span_count == 4
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
        assert measured["activity_records"] == (5 + 2 + 2) * 4  # counted on, not anew
        assert "records_without_launch" not in measured


def test_jax_server_keeps_gviz_away(fake: Backend, folder: Path) -> None:
    text = """
import jax
with gviz.profile("x.gviz"):
    launch(chain(), 1)
    jax.profiler._profiler.start_server(9999)
    launch(chain(), 1)
"""
    process = run_script(fake, folder, script(text))
    assert process.returncode == 0, process.stderr
    left = ("attached", "left", "jax.profiler's server")
    assert periods(folder / "x.gviz") == [left, ("followed", "end", None)]
    assert counts(folder / "x.gviz") == [1]


def test_profiler_before_the_driver_gets_cupti_under_gviz_run(fake: Backend, folder: Path) -> None:
    text = """
import os, sys
sys.path.insert(0, os.getcwd())
from torch.autograd import profiler
with profiler.profile():
    print(profiler.results)
"""
    path = folder / "x.gviz"
    process = run_script(fake, folder, text + PREAMBLE + "launch(chain(), 2)", "-o", str(path))
    assert (process.returncode, process.stdout) == (0, "[0]\n"), process.stderr
    assert "gviz leaves CUPTI to it" in process.stderr
    assert counts(path) == []
    assert any("gviz left CUPTI to it" in note for note in notes(path))


def test_work_in_flight_when_leaving_is_recorded_whole(fake: Backend, folder: Path) -> None:
    text = """
from contract.cases import spin
from torch.autograd import profiler
with gviz.profile("x.gviz"):
    graph = cuda.graph()
    cuda.add_kernel(graph, [], "spin", spin(20_000))
    graph_exec = cuda.instantiate(graph)
    for _ in range(5):
        cuda.launch_graph(graph_exec, stream)
    with profiler.profile():
        print(enabled())
"""
    process = run_script(fake, folder, script(text))
    assert process.returncode == 0, process.stderr
    assert "'kinds': 0" in process.stdout
    with Recording(folder / "x.gviz") as recording:
        (graph,) = recording.fetch_graphs()
        launches = recording.fetch_launches(graph.graph_id)
        assert [launch.span_count for launch in launches] == [1] * 5
        assert all(launch.event_duration_ns for launch in launches)
        spans = recording.fetch_graph_spans(graph.graph_id)
        assert (abs(spans.duration_ns - 20e6) < 1e6).all()


def test_profile_after_leaving_works_once_cupti_is_free(fake: Backend, folder: Path) -> None:
    text = """
import jax
for name in ("first.gviz", "second.gviz"):
    with gviz.profile(name):
        launch(chain(), 2)
        jax.profiler.start_trace("folder")
    jax.profiler.stop_trace()
    print(enabled())
"""
    process = run_script(fake, folder, script(text))
    assert process.returncode == 0, process.stderr
    nothing = {"callbacks": -2, "launches": 0, "operations": 0, "kinds": 0}
    assert process.stdout == f"{nothing}\n{nothing}\n"
    for name in ("first.gviz", "second.gviz"):
        assert counts(folder / name) == [2]
        assert periods(folder / name) == [("attached", "left", "jax.profiler")]


def test_stopped_by_the_user_stays_stopped_after_a_trace(fake: Backend, folder: Path) -> None:
    text = """
import jax
with gviz.profile("x.gviz") as profile:
    graph_exec = chain()
    launch(graph_exec, 1)
    profile.stop()
    jax.profiler.start_trace("folder")
    jax.profiler.stop_trace()
    launch(graph_exec, 1)
    profile.start()
    launch(graph_exec, 1)
    jax.profiler.start_trace("folder")
    profile.stop()
    jax.profiler.stop_trace()
    launch(graph_exec, 1)
"""
    process = run_script(fake, folder, script(text))
    assert process.returncode == 0, process.stderr
    assert counts(folder / "x.gviz") == [2]
    assert periods(folder / "x.gviz") == [
        ("attached", "call", None),
        ("call", "left", "jax.profiler"),
    ]


def test_delay_that_passes_while_left_wakes_nobody_up(fake: Backend, folder: Path) -> None:
    library, source = folder / "waits.so", Path(__file__).with_name("counted_waits.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    text = """
import jax
from gviz.collectors import native
with gviz.profile("x.gviz", delay_s=1):
    graph_exec = chain()
    launch(graph_exec, 1)
    jax.profiler.start_trace("folder")
    waits = ctypes.CDLL(None).counted_waits
    before = waits()
    time.sleep(1.5)
    print(waits() - before)
    jax.profiler.stop_trace()
    end = time.monotonic() + 60
    while not native.is_on() and time.monotonic() < end:
        time.sleep(0.01)
    launch(graph_exec, 2)
"""
    process = run_script(fake, folder, script(text), LD_PRELOAD=preloading(library))
    assert process.returncode == 0, process.stderr
    # 3 and a few; were the delay due meanwhile, one a millisecond.
    assert 0 < int(process.stdout) < 100
    assert periods(folder / "x.gviz") == [("delay", "end", None)]
    assert counts(folder / "x.gviz") == [2]


# -- who holds CUPTI -----------------------------------------------------------------------------

NSYS = "7f00 r-xp /opt/nvidia/nsight-systems/2025.3/target-linux-x64/libToolsInjection64.so\n"
NCU = "7f00 r-xp /opt/ncu/target/linux-desktop-glibc_2_11_3-x64/libInterceptorInjectionTarget.so\n"


class _Profiling:
    _is_profiler_enabled = True


@pytest.mark.parametrize(
    ("environment", "libraries", "modules", "words"),
    [
        ({}, NSYS, {}, "Nsight Systems"),
        ({}, NCU, {}, "Nsight Compute"),
        ({"NSYS_PROFILING_SESSION_ID": "7"}, "", {}, "NSYS_PROFILING_SESSION_ID"),
        ({"CUDA_INJECTION64_PATH": "/x/tool.so"}, "", {}, "CUDA_INJECTION64_PATH"),
        ({"CUDA_INJECTION64_PATH": "/x/ours.so"}, "", {}, "run without it"),
        ({}, "", {"torch": object()}, "keeps CUPTI for good"),
        (
            {},
            "",
            {"torch": object(), "torch.autograd.profiler": _Profiling},
            "torch.profiler is recording",
        ),
    ],
)
def test_user_of_cupti_is_named(
    environment: dict[str, str], libraries: str, modules: dict[str, object], words: str
) -> None:
    text = cupti_user(environment, libraries, modules, own_library="/x/ours.so")
    assert words in text
    assert ("fresh process" in text) == ("torch" in modules)
