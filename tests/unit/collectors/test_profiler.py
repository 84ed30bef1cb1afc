"""``gviz.profile`` in programs of its own: what it promises to the program around it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fake.build import Fakes
from places import TESTS

import gviz
from gviz.errors import RecordingError, UsageError
from gviz.recording.reader import Recording

_TIMEOUT_S = 120
#: Makes a graph of a chain of nodes, and can launch it.
GPU = """
import os, sys, gviz
from contract import driver
from contract.cases import GRAPH_SHAPES, build_shape
cuda = driver.Driver()
stream = cuda.stream()
def work(launches=2):
    graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["chain"]))
    for _ in range(launches):
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(fakes: Fakes, tmp_path: Path) -> Run:
    """Run a program on the fake driver, in a folder of its own."""

    def start(
        text: str, environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        script = tmp_path / "program.py"
        script.write_text(text)
        paths = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
        base = {k: v for k, v in os.environ.items() if k != "NVTX_INJECTION64_PATH"}
        return subprocess.run(
            [sys.executable, "-P", str(script)],
            env=base | fakes.environment() | {"PYTHONPATH": paths} | (environment or {}),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )

    return start


def launches(output: Path) -> tuple[str, list[int]]:
    """Return the state of a recording, and the spans of each launch of its graphs."""
    with Recording(output) as recording:
        return recording.fetch_runs()[0].state, [
            launch.span_count
            for graph in recording.fetch_graphs()
            for launch in recording.fetch_launches(graph.graph_id)
        ]


# -- arguments, without starting anything --------------------------------------------------------


def test_arguments_are_checked_when_given(tmp_path: Path) -> None:
    (tmp_path / "there.gviz").write_text("precious")
    with pytest.raises(RecordingError, match="exists"):
        gviz.profile(tmp_path / "there.gviz")
    with pytest.raises(UsageError, match="node launches"):
        gviz.profile(tmp_path / "x.gviz", node_launches="some")
    with pytest.raises(UsageError, match="eager_operations"):
        gviz.profile(tmp_path / "x.gviz", eager_operations=-1)
    assert [path.name for path in tmp_path.iterdir()] == ["there.gviz"]


def test_making_a_profile_starts_nothing(tmp_path: Path) -> None:
    profile = gviz.profile(tmp_path / "x.gviz")
    assert profile.path == tmp_path / "x.gviz"
    assert list(tmp_path.iterdir()) == []


# -- on the fake driver ---------------------------------------------------------------------------


def test_profile_is_single_use(run: Run, tmp_path: Path) -> None:
    done = run(
        GPU
        + """
profile = gviz.profile("x.gviz")
with profile:
    work()
try:
    with profile:
        print("entered")
except gviz.GvizError as error:
    print(error)
"""
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "a profile is single-use; make a new gviz.profile(...)\n"
    assert launches(tmp_path / "x.gviz") == ("completed", [4, 4])


def test_second_active_profile_is_an_error_and_the_first_goes_on(run: Run, tmp_path: Path) -> None:
    done = run(
        GPU
        + """
with gviz.profile("first.gviz"):
    try:
        with gviz.profile("second.gviz"):
            print("entered")
    except gviz.GvizError as error:
        print(error)
    work()
with gviz.profile("third.gviz"):
    work(1)
"""
    )
    assert done.returncode == 0, done.stderr
    assert "a profile is active in this process already (it writes first.gviz)" in done.stdout
    assert "entered" not in done.stdout
    assert launches(tmp_path / "first.gviz") == ("completed", [4, 4])
    assert launches(tmp_path / "third.gviz") == ("completed", [4])
    assert not (tmp_path / "second.gviz").exists()


def test_environment_is_as_before(run: Run) -> None:
    done = run(
        GPU
        + """
before = dict(os.environ)
with gviz.profile("x.gviz"):
    print("NVTX_INJECTION64_PATH" in os.environ)
print(dict(os.environ) == before)
"""
    )
    assert done.stdout == "True\nTrue\n", done.stderr


@pytest.mark.parametrize(
    "ending", ["os._exit(0)", "sys.exit(0)", "raise KeyboardInterrupt", "pass"]
)
def test_forked_child_leaves_the_recording_alone(run: Run, tmp_path: Path, ending: str) -> None:
    # From Python 3.12 on, forking a process with threads warns; the driver has threads of its own.
    done = run(
        GPU
        + f"""
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
try:
    with gviz.profile("x.gviz"):
        work(1)
        child = os.fork()
        if child == 0:
            {ending}
        else:
            os.waitpid(child, 0)
            assert os.path.isdir("x.gviz-spool"), "the child ended the recording"
            assert not os.path.exists("x.gviz")
            work(2)
except KeyboardInterrupt:
    pass
"""
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert launches(tmp_path / "x.gviz") == ("completed", [4, 4, 4])


def test_exception_of_the_body_is_passed_on_and_the_recording_kept(
    run: Run, tmp_path: Path
) -> None:
    done = run(
        GPU
        + """
with gviz.profile("x.gviz"):
    work()
    raise LookupError("of the program")
"""
    )
    assert done.returncode == 1
    assert "LookupError: of the program" in done.stderr
    assert "gviz:" not in done.stderr
    assert launches(tmp_path / "x.gviz") == ("completed", [4, 4])


def test_exit_inside_the_block_keeps_the_recording(run: Run, tmp_path: Path) -> None:
    done = run(
        GPU
        + """
profile = gviz.profile("x.gviz")
profile.__enter__()
work()
sys.exit(5)
"""
    )
    assert (done.returncode, done.stderr) == (5, "")
    assert launches(tmp_path / "x.gviz") == ("completed", [4, 4])


def test_end_without_closing_is_folded_by_the_writer(run: Run, tmp_path: Path) -> None:
    done = run(
        GPU
        + """
gviz.profile("x.gviz").__enter__()
work()
import pathlib, time
from gviz.spool.folding.recording_fold import read_contents
def spans():
    contents = read_contents(pathlib.Path("x.gviz-spool"))
    contents.finish()
    return len(contents.activity_stream.take_spans())
while spans() < 8:
    time.sleep(0.05)  # until the next flush
os._exit(6)
"""
    )
    assert done.returncode == 6
    # The writer holds stderr until it ends, so it has ended here.
    assert launches(tmp_path / "x.gviz") == ("aborted", [4, 4])


def test_stacks_name_the_programs_lines(run: Run, tmp_path: Path) -> None:
    done = run(
        GPU
        + """
with gviz.profile("x.gviz"):
    work()
"""
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "program.py").read_text().splitlines()
    with Recording(tmp_path / "x.gviz") as recording:
        (node, *_) = recording.fetch_nodes(1)
        assert node.stack_id is not None
        frames = recording.fetch_stack(node.stack_id)
    mine = [frame for frame in frames if frame.file.endswith("program.py")]
    assert [frame.function for frame in mine] == ["work", "<module>"]
    assert [frame.source for frame in mine] == [text[frame.line - 1].strip() for frame in mine]
    assert not any("collectors" in frame.file for frame in frames)


# -- failures -----------------------------------------------------------------------------------


def test_without_cupti_one_sentence_is_reported_and_the_body_runs(run: Run, tmp_path: Path) -> None:
    # Where there is no CUDA at all, its sentence is of the driver.
    missing = {"LD_LIBRARY_PATH": "", "GVIZ_CUPTI": "/no/such/libcupti.so.13"}
    done = run(
        """
import gviz
with gviz.profile("x.gviz"):
    print("body")
""",
        missing,
    )
    assert (done.returncode, done.stdout) == (0, "body\n")
    assert done.stderr.startswith("gviz: nothing is recorded: ")
    assert len(done.stderr.splitlines()) == 1
    reason = done.stderr.removeprefix("gviz: nothing is recorded: ").strip()
    with Recording(tmp_path / "x.gviz") as recording:
        assert recording.fetch_runs()[0].collector is None
        assert any(reason in note.text for note in recording.fetch_notes(1))


def test_left_over_spool_is_an_error_that_says_what_to_do(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.gviz-spool").mkdir()
    done = run("""
import gviz
try:
    with gviz.profile("x.gviz"):
        print("entered")
except gviz.GvizError as error:
    print(error)
with gviz.profile("y.gviz"):
    print("the next one works")
""")
    assert "gviz info" in done.stdout
    assert "entered" not in done.stdout
    assert "the next one works" in done.stdout


@pytest.mark.parametrize("limit", [4 << 20, 9 << 20], ids=["first segment", "second segment"])
def test_spool_that_cannot_grow_neither_stops_nor_hangs_the_program(
    run: Run, tmp_path: Path, limit: int
) -> None:
    # A limit on the size of files stands for a full disk. The second segment is larger than
    # others are, for one long record.
    done = run(
        GPU
        + f"""
import resource
from gviz.collectors import native
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
with gviz.profile("x.gviz"):
    work(1)
    native.append(999, bytes(10 << 20))
    work(1)
print("done")
"""
    )
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert done.stderr.count("gviz:") == 1
    state, _ = launches(tmp_path / "x.gviz")
    assert state == "aborted"
    assert not (tmp_path / "x.gviz-spool").exists()
