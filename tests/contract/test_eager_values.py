"""Values of stream calls beside those of a graph's nodes: faults of the graph are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from contract.backend import Backend
from contract.scripts import run_script
from contract.test_compare_stream import LIBRARY
from contract.test_values import MIXES, WITHOUT_LIMIT

from gviz.analysis import GraphSubject
from gviz.comparison import GraphValuesDiff, compare_eager_values
from gviz.recording.reader import Recording
from gviz.stats import NotComputed

#: Five calls, of which each is given what the one before wrote; ``FAULT`` is what the capture, or
#: the host beside it, does otherwise.
PROGRAM = f"""{MIXES}
{LIBRARY}
mix = "_Z3mixPfPKfS1_fj"
def call_mix(out, a, b, factor):
    pieces = [c_ulonglong(at(piece)) for piece in (out, a, b)]
    cuda.launch(mix, Arguments(*pieces, c_float(factor), c_uint(COUNT)), stream)
def work():
    if FAULT == "host code" and not capturing:
        cuda.upload_floats(at(3), [5.0] * COUNT)
    cuda.set32(at(8), 0, COUNT, stream)
    call_mix(8, 1 if FAULT == "stale input" and capturing else 0, 1, 2.0)
    if FAULT != "skipped call" or not capturing:
        call_mix(9, 8, 2, 3.0 if FAULT == "baked constant" and capturing else 1.0)
    if FAULT == "host function":
        cuda.host_function(stream, callback)
    cuda.copy_on_device(at(10), at(9), 4 * COUNT, stream)
    call_mix(11, 10, 3, 0.5)
    if FAULT == "other memory" and not capturing:
        call_mix(12 + next(turns) % 3, 10, 3, 0.5)
    if FAULT == "host code":
        cuda.wait(stream) if not capturing else None
        cuda.upload_floats(at(3), [1.0] * COUNT) if not capturing else None
    return {{"y": Place(at(11), COUNT)}}
import itertools
from ctypes import CFUNCTYPE, c_void_p
turns = itertools.count()
callback = CFUNCTYPE(None, c_void_p)(lambda data: None)
for _ in range(2):  # outputs hold what an iteration leaves, not what was there before
    work()
    cuda.wait(stream)
try:
    found = gviz.compare_stream(work, launches=40, values=True)
except gviz.GvizError as error:
    print(json.dumps({{"error": str(error)}}))
else:
    print(json.dumps({{"agrees": found.agrees, "notes": found.notes}}))
"""


def compare(fake: Backend, folder: Path, fault: str, *options: str) -> Any:
    text = PROGRAM.replace("FAULT", repr(fault))
    given = (*(options or ("--values",)), *WITHOUT_LIMIT, "-o", "x.gviz")
    done = run_script(fake, folder, text, *given)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def read(folder: Path) -> GraphValuesDiff | NotComputed:
    with Recording(folder / "x.gviz") as recording:
        (graph,) = (g for g in recording.fetch_graphs() if g.parent_graph_id is None)
        found = compare_eager_values(GraphSubject(recording, graph))
    if isinstance(found, NotComputed):
        return found
    (only,) = found.graphs
    assert isinstance(only, GraphValuesDiff)
    return only


#: By fault: the first node, by its place in the capture, that leaves something else; whether what
#: it is given is the same.
FAULTS = {
    "none": (None, True),
    "stale input": (1, False),
    "baked constant": (2, True),
    "host code": (4, False),
}


@pytest.mark.parametrize(("fault", "expected"), FAULTS.items(), ids=FAULTS)
def test_first_node_that_parts_from_its_stream_call(
    fake: Backend, tmp_path: Path, fault: str, expected: tuple[int | None, bool]
) -> None:
    told = compare(fake, tmp_path, fault)
    assert told["agrees"] is (fault == "none")
    assert any("gviz values --eager" in note for note in told["notes"])
    diff = read(tmp_path)
    assert isinstance(diff, GraphValuesDiff)
    first, is_given_the_same = expected
    assert (diff.first is None) == (first is None)
    if diff.first is not None:
        with Recording(tmp_path / "x.gviz") as recording:
            names = sorted(n.node_id for n in recording.fetch_nodes(diff.before_graph_id))
        assert names.index(diff.first.outputs[0].after.node_id) == first
        assert (not diff.first.inputs) == is_given_the_same


def test_call_that_the_graph_lacks_is_counted(fake: Backend, tmp_path: Path) -> None:
    compare(fake, tmp_path, "skipped call")
    diff = read(tmp_path)
    assert isinstance(diff, GraphValuesDiff)
    assert diff.equal_count > 0
    with Recording(tmp_path / "x.gviz") as recording:
        notes = [note.text for note in recording.fetch_notes(1)]
    assert any("1 of 5 stream calls" in n and "the first is call 3" in n for n in notes)


#: What is not read, and why.
REFUSED = {
    "host function": "it calls a function on the host",
    "other memory": "other calls, or gives them other memory",
}


@pytest.mark.parametrize(("fault", "why"), REFUSED.items(), ids=REFUSED)
def test_calls_that_cannot_be_read_say_why(
    fake: Backend, tmp_path: Path, fault: str, why: str
) -> None:
    told = compare(fake, tmp_path, fault)
    assert any(why in note for note in told["notes"])
    found = read(tmp_path)
    assert isinstance(found, NotComputed)
    assert "was not read" in found.not_computed


def test_program_without_values_is_told_how_to_ask(fake: Backend, tmp_path: Path) -> None:
    told = compare(fake, tmp_path, "none", "--paused")
    assert any("'gviz run --values'" in note for note in told["notes"])


#: A function on the host is in flight while a call is read; it waits for what ``WAITS_FOR`` does:
#: another thread, after a stream call of its own, or the thread whose call is read, after it.
ENTANGLED = f"""{MIXES}
import threading
from gviz.collectors import native
mix = "_Z3mixPfPKfS1_fj"
other, third, spare = cuda.stream(), cuda.stream(), cuda.allocate(64)
begun, freed, outcome = threading.Event(), threading.Event(), []
def hold(_):
    begun.set()
    outcome.append(freed.wait(25))
held = cuda.graph()
cuda.add_host(held, [], hold)
held = cuda.instantiate(held)
def call_mix():
    pieces = [c_ulonglong(at(piece)) for piece in (8, 0, 1)]
    cuda.launch(mix, Arguments(*pieces, c_float(2.0), c_uint(COUNT)), stream)
def free():
    cuda.make_current(), begun.wait()
    time.sleep(0.5)  # the other one is waiting by now
    cuda.set32(spare, 0, 4, third)
    freed.set()
if WAITS_FOR == "another thread":
    thread = threading.Thread(target=free)
    thread.start()
why = native.read_calls(native.CALLS_LIST)
call_mix(), call_mix()
cuda.wait(stream)
why = why or native.read_calls(native.CALLS_READ)
call_mix()
cuda.launch_graph(held, other)
call_mix()
freed.set() if WAITS_FOR == "itself" else thread.join()
ended = native.read_calls(native.CALLS_END)
cuda.wait(other), cuda.wait(stream)
print(json.dumps({{"freed": outcome[0], "begin": why, "end": ended}}))
"""
#: Why nothing is read then.
ENTANGLED_WHY = {
    "another thread": "disturbed: 1 call of other threads came while one was looked at, cuM",
    "itself": "work on the GPU did not end within 5 s",
}


@pytest.mark.parametrize(("waits_for", "why"), ENTANGLED_WHY.items(), ids=ENTANGLED_WHY)
def test_program_that_what_is_awaited_waits_for_goes_on(
    fake: Backend, tmp_path: Path, waits_for: str, why: str
) -> None:
    text = ENTANGLED.replace("WAITS_FOR", repr(waits_for))
    done = run_script(fake, tmp_path, text, "--values", *WITHOUT_LIMIT, "-o", "x.gviz")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["begin"] is None
    assert told["freed"]
    assert told["end"].startswith(why)
    with Recording(tmp_path / "x.gviz") as recording:
        notes = [note.text for note in recording.fetch_notes(1)]
    assert f"values of stream calls were not read: {told['end']}" in notes
