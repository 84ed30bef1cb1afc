"""A graph's life with no CUPTI in the process: the gate tells of the driver's calls."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from contract import test_events, test_launches, test_life
from contract.backend import Backend, preloading
from contract.recorded import RUN, TURN, Record, methods, top_graphs
from contract.scripts import PREAMBLE, run_script
from contract.test_failures import without_cupti
from fake.build import Fakes, compiler

from gviz.collectors import native
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.report.summary import summarize


@pytest.fixture(scope="session")
def backend(fakes: Fakes, tmp_path_factory: pytest.TempPathFactory) -> Backend:
    """The fake driver behind the gate, with no CUPTI to be had."""
    path = native.gate_path()
    assert path is not None
    environment = {**fakes.environment(), "GVIZ_CUPTI": "/nowhere", "LD_PRELOAD": preloading(path)}
    return Backend("told", environment, tmp_path_factory.mktemp("told"), measured_by="topology")


class TestCaptures(test_life.TestCaptures):
    """The contract, without the runtime's calls and node times, which only CUPTI has."""

    test_runtime_function_is_named = None  # type: ignore[assignment]
    test_capture_after_broken_ones_is_recorded = None  # type: ignore[assignment]


class TestUpdates(test_life.TestUpdates):
    """The contract."""


class TestEager(test_launches.TestEager):
    """The contract, with times by events around each call."""

    @pytest.fixture
    def record(self, record: Record) -> Record:
        return partial(record, measured_by="events")


class TestInstantiation(test_life.TestInstantiation):
    """The contract."""


class TestCopies(test_events.TestEvents):
    """The contract of copies, in place of launches that the gate tells of."""

    test_nodes_and_edges_are_those_that_cupti_sees = None  # type: ignore[assignment]
    test_topology_takes_no_node_times = None  # type: ignore[assignment]
    test_recording_goes_on_without_cupti = None  # type: ignore[assignment]
    # The copies themselves are those of the events collector.
    test_events_stay_off_programmatic_edges = None  # type: ignore[assignment]
    test_policy_is_followed = None  # type: ignore[assignment]
    test_large_graphs_are_timed_slice_by_slice = None  # type: ignore[assignment]
    test_each_node_of_slices_is_timed_as_often_as_requested = None  # type: ignore[assignment]

    @pytest.mark.parametrize("program", test_events.PROGRAMS)
    @pytest.mark.parametrize("measured_by", ["events"])
    def test_program_does_what_it_does_without_gviz(
        self, backend: Backend, program: str, measured_by: str
    ) -> None:
        super().test_program_does_what_it_does_without_gviz(backend, program, measured_by)

    def test_run_says_what_measured(self, record: Record) -> None:
        (run,) = record("watched", measured_by="events").fetch_runs()
        expected = ("events", "requested; the gate tells of the driver's calls")
        assert (run.collector, run.collector_reason) == expected

    def test_graph_that_may_change_is_not_copied(self, record: Record) -> None:
        # That its node is updated is seen, and the copy is updated too.
        recording = record("watched_changing", measured_by="events")
        (graph,) = top_graphs(recording)
        assert methods(recording, graph) == [None, *TURN, "events"]
        assert recording.fetch_notes(RUN) == []

    @pytest.mark.parametrize("program", ["watched_following", "watched_following_rest"])
    def test_copies_follow_updates_of_nodes(self, backend: Backend, program: str) -> None:
        plain = backend.run(program, "none")
        told = backend.run(program, measured_by="events", node_launches="all")
        assert (plain.returncode, told.returncode) == (0, 0), told.stderr
        assert told.facts["effects"] == plain.facts["effects"]
        with told.recording() as recording:
            (graph,) = top_graphs(recording)
            launches = recording.fetch_launches(graph.graph_id)
            kernel = recording.fetch_nodes(graph.graph_id)[0]
            assert recording.fetch_notes(RUN) == []
            spans = [recording.fetch_spans(x.launch_id).node_id.tolist() for x in launches]
        assert [x.node_method for x in launches] == [None] + ["events"] * (len(launches) - 1)
        assert kernel.name == "axpy"
        # Switched off, it has no time: three launches.
        without = [i for i, nodes in enumerate(spans) if i and kernel.node_id not in nodes]
        assert without == [24, 25, 26]

    def test_copies_catch_up_with_updates_made_meanwhile(self, backend: Backend) -> None:
        plain = backend.run("watched_overtaken", "none")
        told = backend.run("watched_overtaken", measured_by="events", node_launches="all")
        assert (plain.returncode, told.returncode) == (0, 0), told.stderr
        assert told.facts["result"] == plain.facts["result"]
        with told.recording() as recording:
            (graph,) = top_graphs(recording)
            launches = recording.fetch_launches(graph.graph_id)
            notes = [note.text for note in recording.fetch_notes(RUN)]
        # Where each update waits for a core, following so many is more than its budget.
        is_slow = any("so often that following it would slow it down" in note for note in notes)
        assert is_slow or sum(x.node_method == "events" for x in launches) > 5, notes
        assert not [note for note in notes if "while copies of it are made" in note]

    def test_copies_end_with_updates_that_they_do_not_follow(self, backend: Backend) -> None:
        plain = backend.run("watched_changed", "none")
        told = backend.run("watched_changed", measured_by="events", node_launches="all")
        assert (plain.returncode, told.returncode) == (0, 0), told.stderr
        assert told.facts["result"] == plain.facts["result"]
        with told.recording() as recording:
            launched = [recording.fetch_launches(g.graph_id) for g in top_graphs(recording)]
            methods = [[x.node_method for x in launches] for launches in launched if launches]
            notes = [note.text for note in recording.fetch_notes(RUN)]
        assert methods == [[None, "events", "events", None, None, None]] * 3, notes
        assert sum("as a whole, which copies do not follow" in note for note in notes) == 2
        assert sum("in a way that copies do not follow" in note for note in notes) == 1


def nodes_of(recording: Recording) -> list[list[rows.Node]]:
    """Return the nodes of each graph; of what differs between two runs, whether it is known."""

    def known(value: int | None) -> int | None:
        return None if value is None else 1

    return [
        [
            replace(
                node,
                stack_id=known(node.stack_id),
                created_ns=known(node.created_ns),
                created_thread_id=known(node.created_thread_id),
                source_address=known(node.source_address),
                destination_address=known(node.destination_address),
            )
            for node in recording.fetch_nodes(graph.graph_id)
        ]
        for graph in recording.fetch_graphs()
    ]


@pytest.mark.parametrize("program", ["captured", "shapes", "fake_kinds", "children", "mixed"])
def test_nodes_are_those_of_cupti(backend: Backend, fake: Backend, program: str) -> None:
    with backend.run(program).recording() as told, fake.run(program).recording() as seen:
        assert nodes_of(told) == nodes_of(seen)


def test_run_behind_the_gate_loads_no_cupti(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{PREAMBLE}launch(chain(), 5)\nassert 'libcupti' not in open('/proc/self/maps').read()\n"
    )
    done = run_script(fake, tmp_path, text, "--collector", "topology", "-o", "x.gviz")
    assert done.returncode == 0, done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        (graph,) = recording.fetch_graphs()
        launches = recording.fetch_launches(graph.graph_id)
        (run,) = recording.fetch_runs()
        measured = {m.name: m.value for m in recording.fetch_measurements(run.run_id)}
    assert (run.collector, run.collector_reason) == (
        "topology",
        "requested; the gate tells of the driver's calls",
    )
    # Nothing closes it: nobody is held.
    assert {name: value for name, value in measured.items() if name.startswith("gate_")} == {
        "gate_holes": 0,
        "gate_closings": 0,
        "gate_closings_given_up": 0,
        "gate_calls_held": 0,
        "gate_longest_hold_ns": 0,
        "gate_closings_overrun": 0,
        "gate_waits_polled": 0,
    }
    assert [launch.event_duration_ns is not None for launch in launches] == [True] * 5
    assert not any(launch.node_level for launch in launches)


def test_program_that_launches_by_itself_gets_node_times(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{PREAMBLE}{SETTLED}graph = chain()\nother = chain()\nlaunch_settled(graph, 40)\n"
        "cuda.destroy_exec(graph)\nlaunch_settled(other, 3)\n"
        "assert 'libcupti' not in open('/proc/self/maps').read()\n"
    )
    options = ("--collector", "events", "--node-launches", "6", "-o", "x.gviz")
    done = run_script(fake, tmp_path, text, *options)
    assert done.returncode == 0, done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        first, second = (recording.fetch_launches(g.graph_id) for g in recording.fetch_graphs())
        copies = [g.event_copies for g in summarize(recording).runs[0].graphs]
        notes = recording.fetch_notes(RUN)
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
    assert [c and c.launch_count for c in copies] == [6, 2]
    assert measured["launches_by_copy"] == 8
    assert measured["launch_event_share_limit"] == 0.001
    assert not {"activity_records", "activity_records_dropped", "recording_number"} & set(measured)
    # The first launch uploads; plain ones come between and follow, timed as a whole.
    assert [x.node_method for x in first] == [None, *TURN, *TURN[:3]] + [None] * 32
    assert all(x.event_duration_ns for x in first[:15])
    assert {x.span_count for x in first} == {0, 4}
    assert [x.node_method for x in second] == [None, "events", "events"]
    assert notes == []


def test_busy_moments_delay_the_copies_and_end_them_not(fake: Backend, tmp_path: Path) -> None:
    text = f"{PREAMBLE}{SETTLED}graph = chain()\nlaunch_settled(graph, 8)\n"
    options = ("--collector", "events", "--node-launches", "6", "-o", "x.gviz")
    done = run_script(fake, tmp_path, text, *options, FAKE_EVENTS_LATE_MS="400")
    assert done.returncode == 0, done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        (graph,) = recording.fetch_graphs()
        launches = recording.fetch_launches(graph.graph_id)
        assert recording.fetch_notes(RUN) == []
    assert [x.node_method for x in launches] == [None, *TURN, *TURN[:3]]


def test_no_copy_is_made_while_a_capture_is_open(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{PREAMBLE}{SETTLED}from contract.driver import CAPTURE_RELAXED\n"
        "cuda.begin_capture(stream, CAPTURE_RELAXED)\ngraph, other = chain(), cuda.stream()\n"
        "for _ in range(3):\n    cuda.launch_graph(graph, other)\n    cuda.wait(other)\n"
        "assert not watch_native.await_copies(0.2)\n"
        "cuda.end_capture(stream)\nlaunch_settled(graph, 3)\n"
    )
    done = run_script(fake, tmp_path, text, "--collector", "events", "-o", "x.gviz")
    assert done.returncode == 0, done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        (launches,) = filter(
            None, (recording.fetch_launches(g.graph_id) for g in top_graphs(recording))
        )
    # The fourth is the first in its stream.
    assert [x.node_method for x in launches] == [None] * 4 + ["events"] * 2


def test_no_copy_is_made_where_memory_is_short(fake: Backend, tmp_path: Path) -> None:
    text = f"{PREAMBLE}graph = chain()\nlaunch(graph, 3)\ntime.sleep(0.2)\nlaunch(graph, 3)\n"
    options = ("--collector", "events", "-o", "x.gviz")
    done = run_script(fake, tmp_path, text, *options, FAKE_MEMORY_MB="32")
    assert done.returncode == 0, done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        (graph,) = recording.fetch_graphs()
        methods = {x.node_method for x in recording.fetch_launches(graph.graph_id)}
        note, advice = (note.text for note in recording.fetch_notes(RUN))
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
    assert methods == {None}
    assert "the GPU has little free memory" in note
    assert advice.endswith("gviz run --collector cupti")
    assert measured["copies_made"] == 0


def test_one_launch_in_a_second_is_copied(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{PREAMBLE}{SETTLED}graph = chain()\nlaunch_settled(graph, 3)\ntime.sleep(2)\n"
        "launch(graph, 1)\nlaunch_settled(graph, 3)\n"
    )
    options = ("--collector", "events", "--every", "1s", "-o", "x.gviz")
    done = run_script(fake, tmp_path, text, *options)
    assert done.returncode == 0, done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        (run,) = recording.fetch_runs()
        (graph,) = recording.fetch_graphs()
        launches = recording.fetch_launches(graph.graph_id)
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
    assert run.node_launches == "every:1s"
    copied = [x for x in launches if x.node_method == "events"]
    starts = [x.host_start_ns or 0 for x in copied]
    # A copy that was not launched for a second is gone: the launch that wants one does without.
    assert launches[3] not in copied
    assert {launches[1], launches[4]} <= set(copied)
    # Others are copied only where the machine took a second from one to the next.
    assert all(after - before > 0.99e9 for before, after in pairwise(starts))
    assert measured["copies_made"] >= 2


@pytest.mark.parametrize("kernels", [40, 4])
def test_kernels_of_gviz_go_where_the_program_has_its_own(
    fake: Backend, tmp_path: Path, kernels: int
) -> None:
    # On a GPU the sixth or seventh on a second stream slows each node of every graph.
    text = (
        f"{PREAMBLE}{SETTLED}import ctypes\ndriver = ctypes.CDLL('libcuda.so.1')\n"
        "from contract.cases import spin\n"
        f"for _ in range({kernels}):\n"
        "    cuda.launch('spin', spin(2), stream)\n    cuda.wait(stream)\n"
        "graph = chain()\nlaunch_settled(graph, 30)\n"
        f"assert driver.fake_streams_with_kernels() == 1\n"
    )
    done = run_script(fake, tmp_path, text, "--collector", "events", "-o", "x.gviz")
    assert done.returncode == 0, done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        measured = {m.name: m for m in recording.fetch_measurements(RUN)}
        operations = recording.fetch_run_stream_operations(RUN)
    assert len(operations) == kernels
    bias = measured["event_bias_outside_graphs_device_0_ns"]
    assert bias.method.startswith("measured: median of 64 readings")


#: Launches after each of which gviz makes the copy it wants, or reads the one that ran.
SETTLED = """
from gviz.collectors.watching import watch_native
def launch_settled(graph_exec, times):
    for _ in range(times):
        assert watch_native.await_copies(20.0)
        launch(graph_exec, 1)
"""

#: Launches in quick succession, and what is recorded of them.
MANY = 3_000


def run_many(fake: Backend, folder: Path, *options: str) -> tuple[list[int], list[int]]:
    """Launch a chain many times; return the ordinals of rows and of those by copies.

    Few have a row, as those between pass: one in 5 ms, and a few more after each that took longer.
    """
    text = (
        f"{PREAMBLE}{SETTLED}graph = chain()\nlaunch_settled(graph, 2)\nlaunch(graph, 498)\n"
        f"for _ in range({MANY // 500 - 1}):\n"
        "    launch_settled(graph, 1)\n    launch(graph, 499)\n"
    )
    done = run_script(fake, folder, text, *options, "-o", "x.gviz")
    assert done.returncode == 0, done.stderr
    with Recording(folder / "x.gviz") as recording:
        (graph,) = recording.fetch_graphs()
        launches = recording.fetch_launches(graph.graph_id)
        (graph_exec,) = recording.fetch_graph_execs(graph.graph_id)
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
        assert recording.count_launches(graph.graph_id)[0] == graph_exec.launch_count == MANY
    assert len(launches) + (measured.get("launches_counted") or 0) == MANY
    took_ns = (launches[-1].host_start_ns or 0) - (launches[0].host_start_ns or 0)
    assert len(launches) <= 200 + 4 * took_ns / 5_000_000
    ordinals = [launch.ordinal for launch in launches]
    return ordinals, [launch.ordinal for launch in launches if launch.node_method == "events"]


def test_launches_in_quick_succession_are_counted(fake: Backend, tmp_path: Path) -> None:
    ordinals, _ = run_many(fake, tmp_path, "--collector", "topology")
    assert ordinals[:100] == list(range(100))
    assert ordinals == sorted(set(ordinals))
    assert ordinals[-1] < MANY


def test_launches_pass_once_the_first_have_their_node_times(fake: Backend, tmp_path: Path) -> None:
    # The copies come one after the other, and the plain launches that they are held against last.
    _, copied = run_many(fake, tmp_path, "--collector", "events")
    assert len(copied) == 20


#: Whose calls the gate's listener hears: gviz's own is put aside.
HEARING = """
import ctypes
api = (ctypes.c_void_p * 8).in_dll(ctypes.CDLL(None), "gviz_gate")  # in gate.h
Listener = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
listen = ctypes.CFUNCTYPE(None, Listener)(api[6])
heard = []
hears = Listener(heard.append)
device = ctypes.c_int()
def count_told():
    heard.clear()
    listen(hears)
    cuda.call("cuCtxGetDevice", ctypes.byref(device))
    listen(ctypes.cast(None, Listener))
    return len(heard)
"""


def test_calls_that_are_told_of_for_a_capture_are_not_after_it(
    fake: Backend, tmp_path: Path
) -> None:
    begun = f"{PREAMBLE}{HEARING}cuda.begin_capture(stream)\n"
    during = f"{begun}print(count_told())\n"
    after = f"{begun}cuda.end_capture(stream)\nprint(count_told())\n"
    options = ("--collector", "events", "-o", "x.gviz", "--overwrite")
    told = [run_script(fake, tmp_path, text, *options).stdout for text in (during, after)]
    assert told == ["2\n", "0\n"]  # its beginning and its end


def test_every_kth_launch_is_copied_where_those_between_pass(fake: Backend, tmp_path: Path) -> None:
    _, copied = run_many(fake, tmp_path, "--collector", "events", "--every", "500")
    # The first uploads the graph: the second takes its turn.
    assert copied == [1, 500, 1_000, 1_500, 2_000, 2_500]


def test_records_of_a_sampled_executable_grow_slower_and_slower(
    fake: Backend, tmp_path: Path
) -> None:
    text = (
        f"{PREAMBLE}graph, end = chain(), time.monotonic() + 4\n"
        "while time.monotonic() < end:\n    launch(graph, 10)\n    time.sleep(0.0005)\n"
    )
    options = ("--collector", "events", "--every", "1min", "-o", "x.gviz")
    done = run_script(fake, tmp_path, text, *options)
    assert done.returncode == 0, done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        (graph,) = recording.fetch_graphs()
        starts = [x.host_start_ns or 0 for x in recording.fetch_launches(graph.graph_id)]
        (graph_exec,) = recording.fetch_graph_execs(graph.graph_id)
    # One in 5 ms would be 400 in two seconds; 200 ln 2 are wanted.
    later = [start for start in starts if start >= starts[0] + 2_000_000_000]
    assert 2 < len(later) < 250
    assert (graph_exec.launch_count or 0) > len(starts)


def test_launches_outside_periods_pass_uncounted(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{PREAMBLE}{SETTLED}graph = chain()\nlaunch(graph, {MANY})\ngviz.start()\n"
        "launch(graph, 1)\nlaunch_settled(graph, 4)\n"
    )
    options = ("--collector", "events", "--paused", "-o", "x.gviz")
    done = run_script(fake, tmp_path, text, *options)
    assert done.returncode == 0, done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        (graph,) = recording.fetch_graphs()
        launches = recording.fetch_launches(graph.graph_id)
        (graph_exec,) = recording.fetch_graph_execs(graph.graph_id)
    assert [launch.ordinal for launch in launches] == [0, 1, 2, 3, 4]
    # The order of those before is not known: the first one is the executable's own. Until then no
    # copy was made.
    assert [launch.node_method for launch in launches] == [None, *TURN]
    assert graph_exec.launch_count == 5


def record_windows(
    fake: Backend, folder: Path, text: str, *options: str, **environment: str
) -> Path:
    """Run a program with windows of CUPTI, which it must end well with; return its recording."""
    output = ("--node-times", "cupti", *options, "-o", "x.gviz")
    done = run_script(fake, folder, text, *output, **environment)
    assert done.returncode == 0, done.stderr
    return folder / "x.gviz"


def test_cupti_comes_for_windows_and_goes(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{PREAMBLE}import ctypes\ncupti = ctypes.CDLL(os.environ['GVIZ_CUPTI'])\n"
        "graph, end = chain(), time.monotonic() + 20\n"
        "while not cupti.fake_finalized() and time.monotonic() < end:\n    launch(graph, 1)\n"
        "launch(graph, 300)\n"
        "from gviz.collectors import native\nassert not native.was_subscribed()\n"
        "assert cupti.fake_finalized() >= 1 and cupti.fake_finalized_beside_others() == 0\n"
        "assert cupti.fake_enabled_callbacks(1) == -1 and cupti.fake_enabled_kinds() == 0\n"
    )
    path = record_windows(fake, tmp_path, text, "--node-launches", "6")
    with Recording(path) as recording:
        (run,) = recording.fetch_runs()
        (graph,) = recording.fetch_graphs()
        launches = recording.fetch_launches(graph.graph_id)
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
        notes = [note.text for note in recording.fetch_notes(RUN)]
        windows = recording.fetch_windows(RUN)
    timed = [launch for launch in launches if launch.node_method == "cupti"]
    assert notes == []
    assert run.collector == "cupti-windows"
    assert run.collector_reason == "requested; the gate tells of the driver's calls"
    assert len(timed) >= 6
    assert [launch.span_count for launch in timed[:6]] == [4] * 6
    assert measured["cupti_windows"] == len(windows) >= 1
    assert measured["cupti_window_holes"] == measured["gate_closings_overrun"] == 0
    # What is outside of windows is plain, and of that most passes.
    assert measured["launches_counted"] > 0
    # The first launch of an executable is kept out of windows.
    assert launches[0].node_method is None


#: Graphs that copies cannot take the place of: one allocates and frees, one has a body.
NOT_COPIED = """
from ctypes import c_ulonglong
from contract.cases import spin
def allocating():
    graph = cuda.graph()
    node, address = cuda.add_alloc(graph, [], 1 << 20)
    kernel = cuda.add_kernel(graph, [node], "spin", spin(2))
    cuda.add("MemFreeNode", graph, [kernel], c_ulonglong(address))
    return graph
def branching():
    graph = cuda.graph()
    first = cuda.add_kernel(graph, [], "spin", spin(2))
    _, (body,) = cuda.add_conditional(graph, [first], 0, 1, 1)
    cuda.add_kernel(body, [], "spin", spin(2))
    return graph
"""


@pytest.mark.parametrize(("made", "spans"), [("allocating", 1), ("branching", 2)])
def test_graphs_that_cannot_be_copied_are_timed_in_windows(
    fake: Backend, tmp_path: Path, made: str, spans: int
) -> None:
    text = (
        f"{PREAMBLE}{NOT_COPIED}import ctypes\ncupti = ctypes.CDLL(os.environ['GVIZ_CUPTI'])\n"
        f"graph, end = cuda.instantiate({made}()), time.monotonic() + 20\n"
        "while not cupti.fake_finalized() and time.monotonic() < end:\n    launch(graph, 1)\n"
    )
    path = record_windows(fake, tmp_path, text, "--node-launches", "6")
    with Recording(path) as recording:
        (graph,) = top_graphs(recording)
        launches = recording.fetch_launches(graph.graph_id)
        timed = [x for x in launches if x.node_method == "cupti"]
        notes = [note.text for note in recording.fetch_notes(RUN)]
        reasons = {n.name: n.not_timed_reason for n in recording.fetch_nodes(graph.graph_id)}
    assert notes == []
    assert len(timed) >= 6
    assert [x.span_count for x in timed[:6]] == [spans] * 6
    assert reasons["spin"] is None


#: Launches of three threads, beside captures, until two windows were there.
STORM = """
import ctypes, threading
def work():
    cuda.make_current()
    mine, graph = cuda.stream(), chain()
    made.wait()  # some of this would break a capture without gviz, too
    while cupti.fake_finalized() < 2 and time.monotonic() < end:
        cuda.launch_graph(graph, mine)
        cuda.wait(mine)
cupti = ctypes.CDLL(os.environ["GVIZ_CUPTI"])
end, memory = time.monotonic() + 30, cuda.allocate(64)
made = threading.Barrier(4)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
made.wait()
while any(thread.is_alive() for thread in threads):
    cuda.begin_capture(stream, 0)  # global: an unsafe call of any thread breaks it
    cuda.set32(memory, 0, 8, stream)
    cuda.end_capture(stream)
    time.sleep(0.01)
for thread in threads:
    thread.join()
"""


def test_windows_of_ranks_begin_in_a_slot_of_the_wall_clock_each(
    fake: Backend, tmp_path: Path
) -> None:
    text = (
        f"{PREAMBLE}import ctypes\ncupti = ctypes.CDLL(os.environ['GVIZ_CUPTI'])\n"
        "graph, end = chain(), time.monotonic() + 60\n"
        "while cupti.fake_finalized() < 4 and time.monotonic() < end:\n    launch(graph, 1)\n"
    )
    path = record_windows(fake, tmp_path, text, "--node-launches", "all", RANK="3")
    with Recording(path) as recording:
        windows = recording.fetch_windows(RUN)
    assert len(windows) >= 4
    # Without a rank the next one begins some milliseconds after the end of one.
    for before, after in pairwise(windows):
        assert after.start_ns // 250_000_000 > (before.end_ns or 0) // 250_000_000


#: Launches in pairs, one late in a period of the wall clock, the other early in the next period.
#: Printed are those that came in time, by the order of the first launch.
PAIRS = f"""{SETTLED}
PERIOD_NS, MOST_NS = 500_000_000, 900_000_000
graph, count, pairs, last_ns = chain(), 0, [], 0
launch_settled(graph, 1)
def launch_at(part):
    global count
    assert watch_native.await_copies(20.0)
    next_ns = time.time_ns() // PERIOD_NS * PERIOD_NS + PERIOD_NS
    time.sleep((next_ns + part * PERIOD_NS - time.time_ns()) / 1e9)
    begin_ns = time.time_ns()
    launch(graph, 1)
    count += 1
    return begin_ns, time.time_ns()
end = time.monotonic() + 60
while len(pairs) < 3 and time.monotonic() < end:
    first, second = launch_at(0.6), launch_at(0.1)
    # A copy that was not launched for a second is gone.
    is_kept = first[1] - last_ns < MOST_NS
    follows = first[1] // PERIOD_NS == first[0] // PERIOD_NS == second[0] // PERIOD_NS - 1
    if is_kept and follows and second[1] - first[0] < PERIOD_NS:
        pairs.append(count - 1)
    last_ns = second[0]
print(*pairs)
"""


def test_ranks_of_a_job_share_the_wall_clock(fake: Backend, tmp_path: Path) -> None:
    options = ("--collector", "events", "--every", "500ms", "-o", "x.gviz")
    done = run_script(fake, tmp_path, f"{PREAMBLE}{PAIRS}", *options, RANK="3")
    assert done.returncode == 0, done.stderr
    pairs = [int(text) for text in done.stdout.split()]
    with Recording(tmp_path / "x.gviz") as recording:
        (graph,) = recording.fetch_graphs()
        launches = recording.fetch_launches(graph.graph_id)
    copied = {launch.ordinal for launch in launches if launch.node_method == "events"}
    assert len(pairs) == 3
    # Without a rank the second is left out: it begins less than a period after the first.
    assert copied >= {ordinal + i for ordinal in pairs for i in (0, 1)}


def test_no_window_opens_outside_periods(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{PREAMBLE}import ctypes\ncupti = ctypes.CDLL(os.environ['GVIZ_CUPTI'])\n"
        "graph, end = chain(), time.monotonic() + 20\nlaunch(graph, 300)\ntime.sleep(0.1)\n"
        "assert cupti.fake_finalized() == 0 and cupti.fake_enabled_callbacks(1) == -1\n"
        "gviz.start()\n"
        "while not cupti.fake_finalized() and time.monotonic() < end:\n    launch(graph, 1)\n"
        "assert cupti.fake_finalized() >= 1\n"
    )
    record_windows(fake, tmp_path, text, "--node-launches", "6", "--paused")


def test_windows_of_cupti_close_with_nobody_inside(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{PREAMBLE}{STORM}"
        "assert cupti.fake_finalized() >= 2 and cupti.fake_finalized_beside_others() == 0\n"
    )
    path = record_windows(fake, tmp_path, text, "--node-launches", "all")
    with Recording(path) as recording:
        graphs = [g for g in recording.fetch_graphs() if g.origin == "explicit"]
        methods = [
            {launch.node_method for launch in recording.fetch_launches(g.graph_id)} for g in graphs
        ]
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
    assert len(graphs) == 3
    # One window serves whoever launches in it.
    assert any("cupti" in found for found in methods)
    assert measured["cupti_window_holes"] == 0
    assert measured["gate_closings"] >= 2 * measured["cupti_windows"] >= 2


def test_host_function_that_waits_for_a_launch_is_never_held_up(
    fake: Backend, tmp_path: Path
) -> None:
    # The function of one thread's stream ends once the other thread has launched: were the gate
    # closed beside it, the launch would wait for the function, and it for the launch.
    text = (
        f"{PREAMBLE}import ctypes, threading\n"
        "launched = threading.Event()\n"
        "graph, other, end, late = chain(), chain(), time.monotonic() + 2, []\n"
        "def work():\n"
        "    cuda.make_current()\n    mine = cuda.stream()\n"
        "    while not over:\n"
        "        cuda.launch_graph(other, mine)\n        launched.set()\n"
        "        cuda.wait(mine)\n        time.sleep(0.001)\n"
        "def function(_):\n    late.append(not launched.wait(10))\n"
        "over, thread = False, threading.Thread(target=work)\nthread.start()\n"
        "while time.monotonic() < end:\n"
        "    for _ in range(20):\n"
        "        launched.clear()\n        cuda.host_function(stream, function)\n"
        "        launch(graph, 1)\n"
        "    time.sleep(0.01)\n"
        "over = True\nthread.join()\n"
        "assert late and not any(late)\n"
    )
    path = record_windows(fake, tmp_path, text, "--node-launches", "all")
    with Recording(path) as recording:
        measured = {m.name: m.value or 0 for m in recording.fetch_measurements(RUN)}
    assert measured["gate_closings"] + measured["gate_closings_given_up"] > 0
    assert measured["gate_closings_overrun"] == measured["cupti_window_holes"] == 0


#: A window of which a function of CUPTI never returns.
HANGING = """
import ctypes
cupti = ctypes.CDLL(os.environ["GVIZ_CUPTI"])
graph, end = chain(), time.monotonic() + 20
while not cupti.fake_hangs() and time.monotonic() < end:
    launch(graph, 1)
assert cupti.fake_hangs()
"""


@pytest.mark.parametrize(
    ("function", "then"),
    [
        ("FLUSH", ""),
        # An executable is made once CUPTI has left.
        ("FINALIZE", "launch(chain(), 100)\n"),
        # As another profiler does.
        ("FLUSH", "cupti.cuptiSubscribe(ctypes.byref(ctypes.c_void_p()), None, None)\n"),
    ],
    ids=["end", "call", "profiler"],
)
def test_nobody_waits_for_a_function_of_cupti_that_never_returns(
    fake: Backend, tmp_path: Path, function: str, then: str
) -> None:
    text, hangs = f"{PREAMBLE}{HANGING}{then}", {f"FAKE_CUPTI_{function}_HANGS": "1"}
    path = record_windows(fake, tmp_path, text, "--node-launches", "6", **hangs)
    with Recording(path) as recording:
        notes = [note.text for note in recording.fetch_notes(RUN)]
        graphs = [graph.graph_id for graph in recording.fetch_graphs()]
        counts = [x.launch_count or 0 for each in graphs for x in recording.fetch_graph_execs(each)]
    assert "a function of CUPTI does not return: node times end with its last window" in notes
    assert max(counts) >= 100 or "100" not in then


def test_new_executables_stay_out_of_windows(fake: Backend, tmp_path: Path) -> None:
    # What is made, uploaded or first launched in a window fails after it (here as on a GPU).
    text = (
        f"{PREAMBLE}import ctypes, threading\n"
        "def work(number):\n"
        "    cuda.make_current()\n    mine, execs = cuda.stream(), []\n"
        "    while (cupti.fake_finalized() < 4 or len(execs) < 2) and time.monotonic() < end:\n"
        "        new = chain()\n        execs.append(new)\n"
        "        if number == 0:\n            cuda.upload(new, mine)\n"
        "        for each in execs[-20:]:\n"
        "            cuda.launch_graph(each, mine)\n            cuda.wait(mine)\n"
        "    for each in execs:\n        cuda.launch_graph(each, mine)\n    cuda.wait(mine)\n"
        "    done.append(len(execs))\n"
        "cupti, done = ctypes.CDLL(os.environ['GVIZ_CUPTI']), []\nend = time.monotonic() + 30\n"
        "threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]\n"
        "for thread in threads:\n    thread.start()\n"
        "for thread in threads:\n    thread.join()\n"
        "assert len(done) == 3 and min(done) >= 2, done\nassert cupti.fake_finalized() >= 4\n"
    )
    path = record_windows(fake, tmp_path, text, "--node-launches", "all")
    with Recording(path) as recording:
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
        timed = sum(recording.count_launches(g.graph_id)[1] for g in recording.fetch_graphs())
    assert measured["cupti_window_holes"] == 0
    assert timed > 0


def test_call_past_the_gate_keeps_cupti_in_the_process(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{PREAMBLE}import ctypes\n"
        "find = ctypes.CDLL('libc.so.6').dlsym\n"
        "find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)\n"
        "address = find(ctypes.CDLL('libcuda.so.1')._handle, b'cuDriverGetVersion')\n"
        "bare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)\n"
        "graph, end, number = chain(), time.monotonic() + 20, ctypes.c_int()\n"
        "from gviz.collectors import native\nleft = 500  # of CUPTI's coming\n"
        "while left and time.monotonic() < end:\n"
        "    launch(graph, 1)\n    bare(ctypes.addressof(number))\n    time.sleep(0.001)\n"
        "    left -= native.was_subscribed()\n"
        "assert ctypes.CDLL(os.environ['GVIZ_CUPTI']).fake_finalized() == 0\n"
        "assert native.was_subscribed()\n"
    )
    path = record_windows(fake, tmp_path, text)
    with Recording(path) as recording:
        notes = [note.text for note in recording.fetch_notes(RUN)]
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
    assert any("does not see calls of cuDriverGetVersion" in note for note in notes)
    assert any("CUPTI stays" in note for note in notes)
    assert measured["cupti_windows"] == 1
    assert (measured["cupti_window_holes"] or 0) > 0


def test_unproven_pair_of_driver_and_cupti_gets_copies(fake: Backend, tmp_path: Path) -> None:
    text = f"{PREAMBLE}{SETTLED}launch_settled(chain(), 30)\n"
    path = record_windows(fake, tmp_path, text, "--node-launches", "6", FAKE_CUPTI_VERSION="130500")
    with Recording(path) as recording:
        (run,) = recording.fetch_runs()
        (graph,) = recording.fetch_graphs()
        methods = [x.node_method for x in recording.fetch_launches(graph.graph_id)]
        (note,) = [note.text for note in recording.fetch_notes(RUN)]
    assert note.endswith("this pair of driver and CUPTI was not tried on a GPU")
    assert run.collector == "events"
    assert methods.count("events") == 6


def test_cupti_that_takes_too_long_comes_for_one_window(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{PREAMBLE}import ctypes\ncupti = ctypes.CDLL(os.environ['GVIZ_CUPTI'])\n"
        "graph, end = chain(), time.monotonic() + 30\n"
        "while not cupti.fake_finalized() and time.monotonic() < end:\n"
        "    launch(graph, 1)\n    time.sleep(0.001)\n"
        "launch(graph, 200)\n"
    )
    slow = {"FAKE_CUPTI_SUBSCRIBE_MS": "2000"}
    path = record_windows(fake, tmp_path, text, "--node-launches", "all", **slow)
    with Recording(path) as recording:
        notes = [note.text for note in recording.fetch_notes(RUN)]
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
    assert any("attaching or finalizing held the program for more than 250 ms" in n for n in notes)
    assert measured["cupti_windows"] == 1
    assert measured["gate_closings_overrun"] == 1
    # The program went on while CUPTI was still on its way.
    assert 250e6 <= (measured["gate_longest_hold_ns"] or 0) < 2000e6


def test_crash_within_cupti_is_a_crash_and_keeps_what_was_recorded(
    fake: Backend, tmp_path: Path
) -> None:
    text = (
        f"{PREAMBLE}graph, end = chain(), time.monotonic() + 20\n"
        "while time.monotonic() < end:\n    launch(graph, 1)\n"
    )
    options = ("--node-times", "cupti", "-o", "x.gviz")
    done = run_script(fake, tmp_path, text, *options, FAKE_CUPTI_CRASHES="1")
    assert done.returncode == -signal.SIGSEGV, done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        (run,) = recording.fetch_runs()
        (graph,) = recording.fetch_graphs()
        assert (run.state, run.exit_code) == ("aborted", 128 + signal.SIGSEGV)
        assert recording.fetch_launches(graph.graph_id)
        (note,) = [note.text for note in recording.fetch_notes(RUN)]
    assert note.startswith("the process ended without closing the recording")


def test_another_profiler_gets_cupti_once_its_windows_are_over(
    fake: Backend, tmp_path: Path
) -> None:
    text = (
        f"{PREAMBLE}import ctypes\nfrom gviz.collectors import native\ngraph = chain()\n"
        "end = time.monotonic() + 0.5\nwhile time.monotonic() < end:\n    launch(graph, 1)\n"
        "native.leave('another', 1.0)\nlaunch(graph, 5)\n"
        "cupti, handle = ctypes.CDLL(os.environ['GVIZ_CUPTI']), ctypes.c_void_p()\n"
        "callback = ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p)\n"
        "assert cupti.cuptiSubscribe(ctypes.byref(handle), callback, None) == 0\n"
        "launch(graph, 5)\n"
    )
    path = record_windows(fake, tmp_path, text, "--node-launches", "all")
    with Recording(path) as recording:
        notes = [note.text for note in recording.fetch_notes(RUN)]
    assert "windows of CUPTI ended: another started" in notes


#: How another profiler comes to cuptiSubscribe, and what the recording calls it.
PROFILERS = {
    "linked": ("ctypes.CDLL('./libprofiler.so').begin()", "libprofiler.so"),
    "looked up": (
        "ctypes.CDLL(os.environ['GVIZ_CUPTI']).cuptiSubscribe("
        "ctypes.byref(ctypes.c_void_p()), ctypes.CFUNCTYPE(None)(print), None)",
        "libffi",
    ),
}


@pytest.mark.parametrize("how", PROFILERS)
def test_profiler_of_the_program_waits_until_cupti_is_free(
    fake: Backend, fakes: Fakes, tmp_path: Path, how: str
) -> None:
    call, caller = PROFILERS[how]
    source = Path(__file__).parent / "gate" / "profiler.c"
    command = [compiler() or "cc", "-shared", "-fPIC", str(source), "-o", "libprofiler.so"]
    subprocess.run([*command, str(fakes.cupti)], cwd=tmp_path, check=True)
    text = (
        f"{PREAMBLE}{SETTLED}import ctypes, threading\ngraph, stop = chain(), threading.Event()\n"
        "cupti = ctypes.CDLL(os.environ['GVIZ_CUPTI'])\n"
        "within, end = threading.Event(), time.monotonic() + 60\n"
        "def window():\n"
        "    return cupti.fake_finalized() if cupti.fake_enabled_kinds() else None\n"
        "def work():\n    cuda.make_current()\n"
        "    while not stop.is_set():\n"
        "        before = window()\n        launch(graph, 1)\n"
        "        if before is not None and before == window():\n            within.set()\n"
        "thread = threading.Thread(target=work)\nthread.start()\n"
        "assert within.wait(60)\n"
        "while window() is None and time.monotonic() < end:\n    time.sleep(0.001)\n"
        f"assert {call} == 0\n"
        "assert cupti.fake_finalized() >= 1 and cupti.fake_finalized_beside_others() == 0\n"
        "stop.set()\nthread.join()\nlaunch(graph, 2)\nlaunch_settled(graph, 12)\n"
    )
    path = record_windows(fake, tmp_path, text, "--node-launches", "all")
    with Recording(path) as recording:
        (run,) = recording.fetch_runs()
        (graph,) = recording.fetch_graphs()
        launches = recording.fetch_launches(graph.graph_id)
        (note,) = [note.text for note in recording.fetch_notes(RUN)]
    assert "cuptiSubscribe" in note
    assert caller in note
    assert run.collector == "cupti-windows+events"
    # Node times go on by copies; "all" leaves five launches plain.
    assert "cupti" in [x.node_method for x in launches]
    by_copies = [x for x in launches[-12:] if x.node_method == "events"]
    assert len(by_copies) >= 6
    assert [x.span_count for x in by_copies] == [4] * len(by_copies)


#: Launches a graph three times, and says whether CUPTI is in the process.
THREE = f"{PREAMBLE}launch(chain(), 3)\nprint('libcupti' in open('/proc/self/maps').read())\n"


@pytest.mark.parametrize(
    ("options", "collector", "has_cupti"),
    [
        ((), "events", False),
        (("--no-gate",), "cupti", True),
        (("--collector", "cupti"), "cupti", True),
    ],
)
def test_run_goes_without_cupti_unless_it_is_requested(
    fake: Backend, tmp_path: Path, options: tuple[str, ...], collector: str, has_cupti: bool
) -> None:
    done = run_script(fake, tmp_path, THREE, *options, "-o", "x.gviz")
    assert (done.returncode, done.stdout) == (0, f"{has_cupti}\n"), done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        (run,) = recording.fetch_runs()
        (graph,) = recording.fetch_graphs()
        assert recording.count_launches(graph.graph_id)[0] == 3
    assert run.collector == collector


def test_without_gate_and_cupti_only_frameworks_are_recorded(
    fake: Backend, fakes: Fakes, tmp_path: Path
) -> None:
    missing = without_cupti(fakes, tmp_path, "GVIZ_CUPTI", "/nowhere")
    done = run_script(fake, tmp_path, THREE, "--no-gate", "-o", "x.gviz", **missing)
    assert done.returncode == 0
    assert "CUPTI cannot be used" in done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        (run,) = recording.fetch_runs()
        assert recording.fetch_graphs() == []
    assert run.collector == "events"


def test_recording_goes_on_where_another_profiler_takes_cupti(
    backend: Backend, tmp_path: Path
) -> None:
    text = (
        f"{PREAMBLE}from gviz.collectors import native\n"
        "graph = chain()\n"
        "with gviz.profile('x.gviz', collector='topology'):\n"
        "    launch(graph, 2)\n    assert not native.leave('another', 1.0)\n"
        "    launch(graph, 2)\n    assert not native.was_subscribed()\n"
    )
    done = run_script(backend, tmp_path, text)
    assert (done.returncode, done.stderr) == (0, "")
    with Recording(tmp_path / "x.gviz") as recording:
        (graph,) = recording.fetch_graphs()
        assert len(recording.fetch_launches(graph.graph_id)) == 4


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        (1, "the export table 000102030405060708090a0b0c0d0e0f, which libffi"),
        (3, "3 export tables of the driver, which libffi"),
    ],
)
def test_what_the_gate_cannot_see_stands_in_the_recording(
    fake: Backend, tmp_path: Path, tables: int, words: str
) -> None:
    text = (
        f"{PREAMBLE}from ctypes import CDLL, byref, c_void_p\nlaunch(chain(), 1)\n"
        "table, driver = c_void_p(), CDLL('libcuda.so.1')\n"
        f"for at in range({tables}):\n"
        "    assert driver.cuGetExportTable(byref(table), bytes(range(at, at + 16))) == 0\n"
    )
    noted = []
    for options in (("--node-times", "cupti"), ()):
        name = f"{len(options)}.gviz"
        done = run_script(fake, tmp_path, text, *options, "-o", name)
        assert done.returncode == 0, done.stderr
        with Recording(tmp_path / name) as recording:
            noted.append([n.text for n in recording.fetch_notes(RUN) if "gate" in n.text])
            measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
        assert measured["gate_holes"] == tables
    # Where nothing closes the gate, they do not matter.
    ((note,), without) = noted
    assert without == []
    assert words in note
    assert " requested" in note


def test_closings_of_the_gate_stand_in_the_recording(backend: Backend, tmp_path: Path) -> None:
    text = (
        f"{PREAMBLE}from contract.closing import Gate\n"
        "gate = Gate()\n"
        "with gviz.profile('x.gviz', collector='topology'):\n"
        "    launch(chain(), 1)\n"
        "    assert gate.close_within(10) == 'ran'\n"
    )
    done = run_script(backend, tmp_path, text)
    assert (done.returncode, done.stderr) == (0, "")
    with Recording(tmp_path / "x.gviz") as recording:
        measured = {m.name: m.value for m in recording.fetch_measurements(1)}
    assert measured["gate_closings"] == 1
