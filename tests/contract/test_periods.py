"""Periods of recording: delay, duration, number of launches, calls, a signal."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from contract.backend import Backend
from contract.scripts import PREAMBLE, QUERY_FAKE, environment, run_script

from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.spool import CONTROL_SOCKET, spool_of

RUN = 1
Gviz = Callable[..., "subprocess.CompletedProcess[str]"]


def periods(path: Path) -> list[rows.Period]:
    """Return the periods of a recording."""
    with Recording(path) as recording:
        return recording.fetch_periods(RUN)


def reasons(path: Path) -> list[tuple[str, str | None]]:
    """Return why each period began and ended."""
    return [(period.start_reason, period.end_reason) for period in periods(path)]


def spans(path: Path) -> list[list[int]]:
    """Return how many spans each recorded launch of each graph has."""
    with Recording(path) as recording:
        return [
            [launch.span_count for launch in recording.fetch_launches(graph.graph_id)]
            for graph in recording.fetch_graphs()
        ]


def done(process: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """Return a process that must have succeeded."""
    assert process.returncode == 0, process.stderr
    return process


def test_whole_run_is_one_period(backend: Backend, tmp_path: Path) -> None:
    text = PREAMBLE + "with gviz.profile('x.gviz'):\n    launch(chain(), 2)\n"
    done(run_script(backend, tmp_path, text))
    (period,) = periods(tmp_path / "x.gviz")
    assert (period.start_reason, period.end_reason, period.left_to) == ("attached", "end", None)
    with Recording(tmp_path / "x.gviz") as recording:
        assert not any("recorded in" in note.text for note in recording.fetch_notes(RUN))


#: How the program says what of it is to be recorded: the option, the begin, the end.
RANGES = {
    "cudaProfilerApi": ("cuda.call('cuProfilerStart')", "cuda.call('cuProfilerStop')"),
    "nvtx:decode": ("native.nvtx_push('decode')", "native.nvtx_pop()"),
}


@pytest.mark.parametrize("collector", ["cupti", "topology"])
@pytest.mark.parametrize("capture_range", RANGES)
def test_ranges_of_the_program_are_periods(
    backend: Backend, tmp_path: Path, capture_range: str, collector: str
) -> None:
    begin, end = RANGES[capture_range]
    text = (
        f"{PREAMBLE}from gviz.collectors import native\ngraph = chain()\nlaunch(graph, 2)\n"
        f"native.nvtx_push('other')\n{begin}\nlaunch(graph, 3)\n{end}\nlaunch(graph, 2)\n"
        f"{begin}\nlaunch(graph, 1)\n"
    )
    options = ("--capture-range", capture_range, "--collector", collector, "-o", "x.gviz")
    done(run_script(backend, tmp_path, text, *options))
    with Recording(tmp_path / "x.gviz") as recording:
        (graph,) = recording.fetch_graphs()
        assert recording.count_launches(graph.graph_id)[0] == 4
    assert reasons(tmp_path / "x.gviz") == [("range", "range"), ("range", "end")]


def test_stop_and_start_leave_out_what_is_between(backend: Backend, tmp_path: Path) -> None:
    text = """
with gviz.profile("x.gviz", node_launches=2) as profile:
    early = chain()
    launch(early, 4)
    profile.stop()
    profile.stop()
    launch(early, 5)
    made_meanwhile = chain()
    launch(made_meanwhile, 5)
    import time
    time.sleep(0.01)
    profile.start()
    profile.start()
    launch(early, 3)
    launch(made_meanwhile, 3)
try:
    profile.start()
except gviz.GvizError as error:
    print(error)
"""
    process = done(run_script(backend, tmp_path, PREAMBLE + text))
    assert "is not active" in process.stdout
    path = tmp_path / "x.gviz"
    assert reasons(path) == [("attached", "call"), ("call", "end")]
    # Each executable has two launches with node times in each period. While there is budget for
    # eager work a window stays open a little longer, so one more may have them.
    early, meanwhile = spans(path)
    assert len(early) == 4 + 3
    assert len(meanwhile) == 3
    assert early[:2] == early[4:6] == meanwhile[:2] == [4, 4]
    with Recording(path) as recording:
        assert [graph.origin for graph in recording.fetch_graphs()] == ["explicit", "explicit"]
        first, second = recording.fetch_periods(RUN)
        assert first.end_ns is not None
        for graph in recording.fetch_graphs():
            for launch in recording.fetch_launches(graph.graph_id):
                assert launch.host_start_ns is not None
                assert not first.end_ns < launch.host_start_ns < second.start_ns
        for window in recording.fetch_windows(RUN):
            assert window.end_ns is not None
            assert window.end_ns <= first.end_ns + 2e9 or window.start_ns >= second.start_ns
        (note,) = [n.text for n in recording.fetch_notes(RUN) if "recorded in" in n.text]
        assert note.startswith("recorded in 2 periods of ")


def test_paused_profile_waits_for_start(backend: Backend, tmp_path: Path) -> None:
    text = """
with gviz.profile("x.gviz", paused=True):
    graph_exec = chain()
    launch(graph_exec, 5)
    gviz.start()
    launch(graph_exec, 2)
    gviz.stop()
    launch(graph_exec, 5)
gviz.start()
"""
    done(run_script(backend, tmp_path, PREAMBLE + text))
    assert reasons(tmp_path / "x.gviz") == [("call", "call")]
    assert spans(tmp_path / "x.gviz") == [[4, 4]]


def test_recording_that_never_begins_knows_the_graphs(backend: Backend, tmp_path: Path) -> None:
    text = "with gviz.profile('x.gviz', paused=True):\n    launch(chain(), 3)\n"
    done(run_script(backend, tmp_path, PREAMBLE + text))
    path = tmp_path / "x.gviz"
    assert reasons(path) == []
    assert spans(path) == [[]]
    with Recording(path) as recording:
        (graph,) = recording.fetch_graphs()
        assert len(recording.fetch_nodes(graph.graph_id)) == 4
        assert any("never began" in note.text for note in recording.fetch_notes(RUN))


def test_max_launches_ends_after_so_many(backend: Backend, tmp_path: Path) -> None:
    text = """
with gviz.profile("x.gviz", max_launches=3) as profile:
    graph_exec = chain()
    for _ in range(20):
        cuda.launch_graph(graph_exec, stream)  # in flight together
    cuda.wait(stream)
    launch(graph_exec, 20)
    profile.start()
    launch(graph_exec, 20)
"""
    done(run_script(backend, tmp_path, PREAMBLE + text))
    path = tmp_path / "x.gviz"
    assert reasons(path) == [("attached", "launches"), ("call", "launches")]
    assert spans(path) == [[4] * 6]


#: Waits for what another thread brings about.
AWAITED = """
from gviz.collectors import native
def until(question):
    end = time.monotonic() + 60
    while not question():
        assert time.monotonic() < end
        time.sleep(0.005)
"""


def test_delay_and_duration_are_kept(backend: Backend, tmp_path: Path) -> None:
    text = """
print(time.time_ns())
def launched(question):
    launch(graph_exec, 1)
    return question()
with gviz.profile("x.gviz", delay_s=0.4, duration_s=0.6):
    graph_exec = chain()
    until(lambda: launched(native.is_on))
    until(lambda: launched(lambda: not native.is_on()))
    launch(graph_exec, 5)
"""
    done_by = done(run_script(backend, tmp_path, PREAMBLE + AWAITED + text))
    began_ns = int(done_by.stdout.split()[0])
    path = tmp_path / "x.gviz"
    (period,) = periods(path)
    assert (period.start_reason, period.end_reason) == ("delay", "duration")
    assert period.end_ns is not None
    assert period.end_ns - period.start_ns > 0.55e9
    with Recording(path) as recording:
        assert period.start_ns - began_ns >= 0.4e9
        (graph,) = recording.fetch_graphs()
        launches = recording.fetch_launches(graph.graph_id)
        assert launches
        for launch in launches:
            assert launch.host_start_ns is not None
            assert period.start_ns <= launch.host_start_ns < period.end_ns


def test_nothing_is_watched_outside_periods_but_topology(fake: Backend, tmp_path: Path) -> None:
    text = """
import json
seen = []
with gviz.profile("x.gviz") as profile:
    graph_exec = chain()
    launch(graph_exec, 2)
    seen.append(enabled())
    profile.stop()
    seen.append(enabled())
    launch(graph_exec, 2)
    seen.append(enabled())
    profile.start()
    launch(graph_exec, 1)
    seen.append(enabled())
seen.append(enabled())
print(json.dumps(seen))
"""
    process = done(run_script(fake, tmp_path, PREAMBLE + QUERY_FAKE + text))
    on, stopped, later, again, over = json.loads(process.stdout)
    assert on == again
    assert on["launches"] == 2
    assert on["operations"] == 1
    assert on["kinds"] == 4
    assert stopped == later
    assert (stopped["launches"], stopped["operations"], stopped["kinds"]) == (0, 0, 0)
    assert 0 < stopped["callbacks"] < on["callbacks"]
    assert over == {"callbacks": -2, "launches": 0, "operations": 0, "kinds": 0}


def test_period_that_ends_by_itself_leaves_nothing_on(fake: Backend, tmp_path: Path) -> None:
    # The window is open when the time is up; the next operation closes it, then all is off.
    text = """
import json
with gviz.profile("x.gviz", duration_s=0.3, eager_operations=0):
    graph_exec = chain()
    launch(graph_exec, 3)
    before = enabled()
    until(lambda: enabled()["operations"])
    between = enabled()
    cuda.launch("empty", Arguments(), stream)
    cuda.wait(stream)
    until(lambda: not enabled()["operations"])
    print(json.dumps([before, between, enabled()]))
"""
    text = PREAMBLE + AWAITED + QUERY_FAKE + "from contract.driver import Arguments\n" + text
    before, between, after = json.loads(done(run_script(fake, tmp_path, text)).stdout)
    assert (before["kinds"], before["operations"], before["launches"]) == (4, 0, 2)
    assert (between["kinds"], between["operations"], between["launches"]) == (4, 1, 2)
    assert (after["kinds"], after["operations"], after["launches"]) == (0, 0, 0)
    assert reasons(tmp_path / "x.gviz") == [("attached", "duration")]


# -- the signal ----------------------------------------------------------------------------------

TOGGLED = """
def toggle():
    was_on = native.is_on()
    os.kill(os.getpid(), signal.SIGUSR2)
    rest(was_on)
with gviz.profile("x.gviz", paused=True, toggle_signal="SIGUSR2"):
    graph_exec = chain()
    launch(graph_exec, 3)
    toggle()
    launch(graph_exec, 2)
    toggle()
    launch(graph_exec, 3)
    toggle()
    launch(graph_exec, 1)
"""


def test_signal_starts_and_stops(backend: Backend, tmp_path: Path) -> None:
    rest = "def rest(was_on):\n    until(lambda: native.is_on() != was_on)\n"
    text = f"{PREAMBLE}{AWAITED}{rest}{TOGGLED}os.kill(os.getpid(), signal.SIGUSR2)\n"
    process = run_script(backend, tmp_path, text)
    # After the block the signal means again what it means without gviz.
    assert process.returncode == -signal.SIGUSR2, process.stderr
    path = tmp_path / "x.gviz"
    assert reasons(path) == [("signal", "signal"), ("signal", "end")]
    assert spans(path) == [[4, 4, 4]]


def test_signal_of_the_program_is_left_alone(backend: Backend, tmp_path: Path) -> None:
    text = """
got = []
signal.signal(signal.SIGUSR2, lambda number, frame: got.append(number))
def rest(was_on):
    time.sleep(1.2)  # two flushes, one of which would see to it
"""
    text = f"{PREAMBLE}{AWAITED}{text}{TOGGLED}print(len(got))\n"
    process = done(run_script(backend, tmp_path, text))
    assert process.stdout == "3\n"
    assert process.stderr.count("handles signal") == 1
    assert reasons(tmp_path / "x.gviz") == []
    with Recording(tmp_path / "x.gviz") as recording:
        assert any("itself" in note.text for note in recording.fetch_notes(RUN))


def test_signal_taken_over_later_is_reported(backend: Backend, tmp_path: Path) -> None:
    text = """
with gviz.profile("x.gviz", toggle_signal="SIGUSR2"):
    launch(chain(), 1)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
os.kill(os.getpid(), signal.SIGUSR2)
print(signal.getsignal(signal.SIGUSR2) is signal.SIG_IGN)
"""
    process = done(run_script(backend, tmp_path, PREAMBLE + text))
    assert process.stdout == "True\n"
    with Recording(tmp_path / "x.gviz") as recording:
        assert any("took signal" in note.text for note in recording.fetch_notes(RUN))


def test_signal_reaches_neither_errno_nor_system_calls(fake: Backend, tmp_path: Path) -> None:
    text = """
import ctypes, threading
libc = ctypes.CDLL(None, use_errno=True)
with gviz.profile("x.gviz", toggle_signal="SIGUSR2"):
    launch(chain(), 1)
    readable, writable = os.pipe()
    main = threading.get_ident()
    def interrupt():
        time.sleep(0.3)
        signal.pthread_kill(main, signal.SIGUSR2)
        time.sleep(0.3)
        os.write(writable, b"x")
    threading.Thread(target=interrupt).start()
    ctypes.set_errno(77)
    buffer = ctypes.create_string_buffer(1)
    print(libc.read(readable, buffer, 1), ctypes.get_errno())
"""
    assert done(run_script(fake, tmp_path, PREAMBLE + text)).stdout == "1 77\n"


def test_signal_in_a_forked_child_is_the_programs(fake: Backend, tmp_path: Path) -> None:
    text = """
with gviz.profile("x.gviz", toggle_signal="SIGUSR2"):
    launch(chain(), 1)
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGUSR2)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGUSR2)
"""
    assert done(run_script(fake, tmp_path, PREAMBLE + text)).stdout == "True\n"


# -- gviz run ------------------------------------------------------------------------------------

#: It says when a period begins and ends. An alarm ends it where none does, and whoever reads it.
SERVER = f"""{PREAMBLE}{AWAITED}
signal.alarm(120)
graph_exec, was_on = chain(), False
print("ready", flush=True)
while True:
    launch(graph_exec, 1)
    if native.is_on() != was_on:
        was_on = not was_on
        print("on" if was_on else "off", flush=True)
    time.sleep(0.002)
"""


def test_minute_of_a_server(backend: Backend, tmp_path: Path) -> None:
    path, script = tmp_path / "x.gviz", tmp_path / "server.py"
    script.write_text(SERVER)
    options = ["-o", str(path), "--paused", "--toggle-signal", "USR2", "--duration", "1.5"]
    run = subprocess.Popen(
        [sys.executable, "-P", "-m", "gviz", "run", *options, "--collector", "cupti", str(script)],
        env=environment(backend),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n", run.communicate()[1]
    for _ in range(2):
        run.send_signal(signal.SIGUSR2)  # to gviz run, which hands it on
        assert [run.stdout.readline(), run.stdout.readline()] == ["on\n", "off\n"]
    run.send_signal(signal.SIGTERM)
    _, stderr = run.communicate(timeout=120)
    assert run.returncode == -signal.SIGTERM, stderr
    found = periods(path)
    assert [(p.start_reason, p.end_reason) for p in found] == [("signal", "duration")] * 2
    with Recording(path) as recording:
        launches = recording.fetch_launches(recording.fetch_graphs()[0].graph_id)
    for period in found:
        assert period.end_ns is not None
        began = [x for x in launches if period.start_ns <= (x.host_start_ns or 0) < period.end_ns]
        assert any(launch.span_count == 4 for launch in began)
        launches = [launch for launch in launches if launch not in began]
    assert launches == []


#: A server that closes what it does not know, and has a socket of its own under that number.
CLOSING = """
import os, socket, sys
print("begun", flush=True)
sys.stdin.readline()
{preamble}
graph_exec = chain()
known = max(int(name) for name in os.listdir("/proc/self/fd"))
os.closerange(3, 4096)
mine, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
os.dup2(mine.fileno(), known)
other.send(b"stop")
print("ready", known, flush=True)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(mine.recv(9) != b"stop"))
while True:
    launch(graph_exec, 1)
    time.sleep(0.002)
"""


@contextmanager
def _paused(
    backend: Backend, path: Path, text: str, *before: str
) -> Iterator[subprocess.Popen[str]]:
    """Run a script under ``gviz run --paused``; whatever fails, nothing of it is left behind.

    ``before``: the command that starts it.
    """
    script = path.with_name("server.py")
    script.write_text(text)
    gviz_run = [sys.executable, "-P", "-m", "gviz", "run"]
    with subprocess.Popen(
        [*before, *gviz_run, "-o", str(path), "--paused", str(script)],
        env=environment(backend),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        try:
            yield run
        finally:
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)


def _send_as(user: int, word: str, control: Path) -> None:
    """Send a request as some user, through a connection that this one has made."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ours:
        ours.connect(str(control))
        subprocess.run(["printf", word], check=True, stdout=ours, user=user, cwd="/")


def _stderr_as(user: int, gviz_here: Gviz, *words: str) -> str:
    """Return what ``gviz`` says on stderr to another user, who may not read this interpreter.

    So it is a copy of this process, which has loaded it.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        try:
            os.write(writing, gviz_here(*words, cwd="/").stderr.encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as said:
        text = said.read()
    os.waitpid(child, 0)
    return text


def test_other_process_starts_and_stops(
    backend: Backend, tmp_path: Path, gviz_here: Gviz, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ("x" * 150 + ".gviz")  # longer than an address may be
    with _paused(backend, path, CLOSING.format(preamble=PREAMBLE)) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        assert run.stderr is not None

        def answer(command: str) -> str:
            found = json.loads(gviz_here(command, str(run.pid), "--json").stdout)
            assert next(iter(found.items())) == (f"{command}_version", 1)
            assert [one["process_id"] for one in found["processes"]] == [process_id]
            return str(found["processes"][0]["answer"])

        said = run.stderr.readline()
        process_id = int(said.partition("gviz start ")[2].partition("'")[0])
        assert run.stdout.readline() == "begun\n"
        assert [answer("start"), answer("stop")] == ["waiting", "paused"]
        print(file=run.stdin, flush=True)
        assert run.stdout.readline().startswith("ready ")
        assert [answer("start"), answer("start")] == ["started", "recording"]
        control = spool_of(path) / CONTROL_SOCKET
        assert stat.S_IMODE(control.stat().st_mode) == 0o600
        short = tmp_path / "spool"
        short.symlink_to(control.parent)
        if os.geteuid() == 0:  # who may be another
            _send_as(65534, "stop", short / CONTROL_SOCKET)
            refused = _stderr_as(65534, gviz_here, "stop", str(process_id))
            assert f"process {process_id} cannot be looked into: it is another user's" in refused
        text = gviz_here("start", str(process_id)).stdout
        assert text == f"process {process_id} records already; 'gviz stop {process_id}' ends that\n"
        _send_as(os.geteuid(), "stop", short / CONTROL_SOCKET)
        assert [answer("stop"), answer("start"), answer("stop")] == ["paused", "started", "stopped"]
        os.kill(process_id, signal.SIGSTOP)
        monkeypatch.setattr("gviz.collectors.requests._ANSWER_S", 0.2)
        deaf = gviz_here("start", str(process_id))
        assert "has not answered within" in deaf.stderr
        os.kill(process_id, signal.SIGCONT)
        os.kill(process_id, signal.SIGTERM)
        _, stderr = run.communicate(timeout=120)
        assert run.returncode == 0, stderr
    assert reasons(path)[:2] == [("request", "request")] * 2
    assert not spool_of(path).exists()


#: It launches until a line comes.
SERVING = """
import select, sys
launch(graph, 1)
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0.002)[0]:
    launch(graph, 1)
"""


#: It uses CUDA once it is told to, and so does a process that it starts.
LATE = """
import subprocess, sys
print("begun", flush=True)
sys.stdin.readline()
TEXT = {text!r}
exec(TEXT)
subprocess.run([sys.executable, "-c", TEXT], check=True)
"""


def test_request_before_the_first_use_of_cuda_waits_for_it(
    backend: Backend, tmp_path: Path, gviz_here: Gviz
) -> None:
    path = tmp_path / "x.gviz"
    text = f"{PREAMBLE}launch(chain(), 3)\n"
    with _paused(backend, path, LATE.format(text=text)) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "begun\n"
        said = gviz_here("start", str(run.pid)).stdout
        assert "has not used CUDA so far; it, and what it starts, records from" in said
        _, stderr = run.communicate("now", timeout=120)
        assert run.returncode == 0, stderr
    with Recording(path) as recording:
        found = [recording.fetch_periods(one.run_id) for one in recording.fetch_runs()]
        launches = [recording.count_launches(one.graph_id)[0] for one in recording.fetch_graphs()]
    ends = [[(one.start_reason, one.end_reason) for one in periods] for periods in found]
    assert ends == [[("request", "end")]] * 2
    assert launches == [3, 3]
    assert not spool_of(path).exists()


#: A namespace of its own for processes, mounts and the network, as a container has.
_CONTAINER = ("unshare", "--pid", "--fork", "--mount-proc", "--net", "--kill-child")


def _can_make_containers() -> bool:
    with suppress(FileNotFoundError):
        done = subprocess.run([*_CONTAINER, "true"], capture_output=True, check=False)
        return done.returncode == 0
    return False


@pytest.mark.skipif(not _can_make_containers(), reason="no namespaces can be made here")
def test_program_in_a_container_is_reached_from_outside(
    backend: Backend, tmp_path: Path, gviz_here: Gviz
) -> None:
    path = tmp_path / "x.gviz"
    text = f"print('begun', flush=True)\ninput()\n{PREAMBLE}graph = chain()\n{SERVING}"
    with _paused(backend, path, text, *_CONTAINER) as run:
        assert run.stdin is not None
        assert run.stdout is not None

        def answers(command: str) -> list[str]:
            done = gviz_here(command, str(run.pid), "--json")
            assert done.stderr == ""
            return [one["answer"] for one in json.loads(done.stdout)["processes"]]

        assert run.stdout.readline() == "begun\n"
        assert [*answers("start"), *answers("stop"), *answers("start")] == [
            "waiting", "paused", "waiting",
        ]  # fmt: skip
        print(file=run.stdin, flush=True)
        assert run.stdout.readline() == "ready\n"
        assert [*answers("start"), *answers("stop"), *answers("start")] == [
            "recording", "stopped", "started",
        ]  # fmt: skip
        _, stderr = run.communicate("end\n", timeout=120)
        assert run.returncode == 0, stderr
    assert reasons(path) == [("request", "request"), ("request", "end")]


#: A launcher that leaves CUDA to two others.
LAUNCHER = """
import subprocess, sys
both = [subprocess.Popen([sys.executable, "-c", TEXT], stdin=subprocess.PIPE) for _ in range(2)]
sys.stdin.readline()
for one in both:
    one.communicate(b"now")
"""


def test_launcher_has_its_processes_listed(
    backend: Backend, tmp_path: Path, gviz_here: Gviz
) -> None:
    text = f"{PREAMBLE}launch(chain(), 1)\nos.write(1, b'ready\\n')\nsys.stdin.readline()\n"
    with _paused(backend, tmp_path / "x.gviz", f"TEXT = {text!r}\n{LAUNCHER}") as run:
        assert run.stdout is not None
        assert [run.stdout.readline(), run.stdout.readline()] == ["ready\n"] * 2
        refused = gviz_here("start", str(run.pid)).stderr
        assert "2 that are recorded: " in refused
        assert f"'gviz start --all {run.pid}'" in refused
        found = json.loads(gviz_here("start", "--all", str(run.pid), "--json").stdout)["processes"]
        assert [one["answer"] for one in found] == ["started", "started", "waiting"]
        assert all(f"{one['process_id']}" in refused for one in found[:2])
        _, stderr = run.communicate("now", timeout=120)
        assert run.returncode == 0, stderr
    with Recording(tmp_path / "x.gviz") as recording:
        runs = recording.fetch_runs()
        found = [period for one in runs for period in recording.fetch_periods(one.run_id)]
        ends = [(period.start_reason, period.end_reason) for period in found]
    assert ends == [("request", "end")] * 2


def test_program_that_is_not_paused_takes_no_requests(backend: Backend, tmp_path: Path) -> None:
    text = """
from gviz.collectors import Request, find_recorded
with gviz.profile("x.gviz"):
    launch(chain(), 1)
    try:
        find_recorded(os.getpid())[0].send(Request.STOP)
    except gviz.GvizError as error:
        print(error)
"""
    process = done(run_script(backend, tmp_path, PREAMBLE + text))
    assert "takes no requests: only one that 'gviz run --paused' started does" in process.stdout
    assert reasons(tmp_path / "x.gviz") == [("attached", "end")]


def test_inner_profile_controls_gviz_run(backend: Backend, tmp_path: Path) -> None:
    text = """
graph_exec = chain()
launch(graph_exec, 5)
with gviz.profile("inner.gviz") as profile:
    profile.start()
    launch(graph_exec, 2)
    profile.stop()
    launch(graph_exec, 5)
gviz.start()
launch(graph_exec, 1)
gviz.stop()
"""
    path = tmp_path / "x.gviz"
    options = ("-o", str(path), "--paused", "--collector", "cupti")
    process = run_script(backend, tmp_path, PREAMBLE + text, *options)
    done(process)
    assert "nothing is written to inner.gviz" in process.stderr
    assert reasons(path) == [("call", "call")] * 2
    assert spans(path) == [[4, 4, 4]]


def test_start_before_the_driver_is_there(backend: Backend, tmp_path: Path) -> None:
    text = "import gviz\ngviz.start()\n" + PREAMBLE + "launch(chain(), 2)\n"
    path = tmp_path / "x.gviz"
    options = ("-o", str(path), "--paused", "--collector", "cupti")
    done(run_script(backend, tmp_path, text, *options))
    assert reasons(path) == [("attached", "end")]
    assert spans(path) == [[4, 4]]


def test_ctrl_c_while_paused_keeps_the_recording(backend: Backend, tmp_path: Path) -> None:
    text = """
import gviz
with gviz.profile("x.gviz") as profile:
    launch(chain(), 2)
    profile.stop()
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
"""
    process = run_script(backend, tmp_path, PREAMBLE + text)
    assert process.returncode == -signal.SIGINT
    assert reasons(tmp_path / "x.gviz") == [("attached", "call")]
    assert spans(tmp_path / "x.gviz") == [[4, 4]]


def test_interpreter_may_end_while_paused(backend: Backend, tmp_path: Path) -> None:
    text = """
profile = gviz.profile("x.gviz", toggle_signal="SIGUSR2")
profile.__enter__()
launch(chain(), 2)
profile.stop()
"""
    done(run_script(backend, tmp_path, PREAMBLE + text))
    with Recording(tmp_path / "x.gviz") as recording:
        assert recording.fetch_runs()[0].state == "completed"
    assert spans(tmp_path / "x.gviz") == [[4, 4]]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--delay", "-1"], "delay is -1.0 s"),
        (["--duration", "0"], "duration is 0 s"),
        (["--max-launches", "0"], "max_launches is 0"),
        (["--toggle-signal", "SIGKILL"], "no signal that a program can catch"),
        (["--paused", "--delay", "2"], "exclude each other"),
    ],
)
def test_senseless_options_are_one_sentence(
    fake: Backend, tmp_path: Path, option: list[str], message: str
) -> None:
    process = run_script(fake, tmp_path, "", "-o", str(tmp_path / "x.gviz"), *option)
    assert process.returncode == 2
    assert message in process.stderr
    assert len(process.stderr.splitlines()) == 1


# -- many threads --------------------------------------------------------------------------------

CROWD = """
import threading
from contract.cases import spin
over = threading.Event()
failures = []
def guarded(work):
    def run():
        try:
            cuda.make_current()
            work(cuda.stream())
        except BaseException as error:
            failures.append(error)
    return threading.Thread(target=run)
def launching(mine):
    graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["chain"]))
    while not over.is_set():
        for _ in range(3):
            cuda.launch_graph(graph_exec, mine)
        cuda.wait(mine)
def capturing(mine):
    while not over.is_set():
        cuda.begin_capture(mine)
        for _ in range(4):
            cuda.launch("spin", spin(2), mine)
        graph_exec = cuda.instantiate(cuda.end_capture(mine))
        cuda.launch_graph(graph_exec, mine)
        cuda.wait(mine)
        cuda.destroy_exec(graph_exec)
def eager(mine):
    while not over.is_set():
        cuda.launch("spin", spin(2), mine)
        cuda.wait(mine)
threads = [guarded(work) for work in (launching, launching, capturing, eager)]
with gviz.profile("x.gviz", node_launches=5, toggle_signal="SIGUSR2") as profile:
    for thread in threads:
        thread.start()
    for i in range(25):
        time.sleep(0.01)
        profile.stop()
        time.sleep(0.005)
        if i % 6 == 0:
            os.kill(os.getpid(), signal.SIGUSR2)
        profile.start()
    over.set()
    for thread in threads:
        thread.join()
print(failures)
"""


#: Launches of these threads that can be under way at a moment: of two, three each, and of one, one.
IN_FLIGHT = 7


def test_periods_change_while_threads_launch_and_capture(backend: Backend, tmp_path: Path) -> None:
    process = done(run_script(backend, tmp_path, PREAMBLE + CROWD))
    assert process.stdout == "[]\n", process.stdout
    path = tmp_path / "x.gviz"
    found = periods(path)
    assert len(found) >= 25
    for before, after in itertools.pairwise(found):
        assert before.end_ns is not None
        assert before.start_ns <= before.end_ns <= after.start_ns
    with Recording(path) as recording:
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
        # A window that ends with its period may close on launches of other threads: counted.
        assert (measured["launches_without_node_times"] or 0) <= IN_FLIGHT * len(found)
        assert (measured["launches_with_impossible_times"] or 0) <= IN_FLIGHT * len(found)
        # Nor is a launch recorded that another thread makes while the window of a period that has
        # ended is closing; CUPTI records its nodes.
        homeless = measured.get("records_without_launch") or 0
        assert homeless <= 4 * IN_FLIGHT * len(found)
        for graph in recording.fetch_graphs():
            assert graph.origin in ("explicit", "capture")
            for launch in recording.fetch_launches(graph.graph_id):
                assert launch.span_count in (0, 4)
