"""Trials behind the gate: what they find and refuse, and that the program goes on as without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from contract.backend import Backend
from contract.scripts import PREAMBLE, run_script

from gviz.recording import rows
from gviz.recording.reader import Recording

#: Kernels that add to one sum, in an order with dependencies that others imply. What a launch
#: leaves depends on what the launch before it left: one too many or too few shows.
SUMS = f"""{PREAMBLE}
import json
from contract.watched import Sum
work, graph = Sum(cuda), cuda.graph()
nodes = []
def add(after, factor=3.0):
    nodes.append(work.add(graph, [nodes[i] for i in after], factor))
def report(**more):
    print(json.dumps({{"sums": work.result(), **more}}))
def launches(graph_exec, times):
    for _ in range(times):
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)
        time.sleep(0.002)
"""
CHAIN = "add([])\nadd([0])\nadd([0, 1])\nadd([0, 1, 2])\n"


def run_plain_and_tried(
    fake: Backend, folder: Path, text: str, *options: str
) -> tuple[object, Recording]:
    """Run a script plainly and with trials; return what it printed, the same in both."""
    plain, tried = folder / "plain", folder / "tried"
    plain.mkdir()
    tried.mkdir()
    expected = run_script(fake, plain, text)
    assert expected.returncode == 0, expected.stderr
    done = run_script(fake, tried, text, "--trials", *options, "-o", "x.gviz")
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr
    return json.loads(done.stdout), Recording(tried / "x.gviz")


def trials_of(recording: Recording) -> list[rows.GraphTrial]:
    (graph,) = (g for g in recording.fetch_graphs() if g.origin == "explicit")
    return recording.fetch_trials(graph.graph_id)


def test_implied_dependencies_are_left_out_and_the_sums_stay(fake: Backend, tmp_path: Path) -> None:
    text = f"{SUMS}{CHAIN}launches(cuda.instantiate(graph), 60)\nreport()\n"
    printed, recording = run_plain_and_tried(fake, tmp_path, text)
    assert printed == {"sums": [0.0, 720.0, 1440.0, 2160.0]}
    with recording:
        made = trials_of(recording)
        edits = recording.fetch_trial_edits(made[-1].trial_id)
    assert [(t.kind, t.count, t.results, t.refusal) for t in made] == [
        (kind, 40, "equal", None) for kind in ("executable", "control", "implied")
    ]
    cuts = [(e.kind, e.node_id, e.to_node_id) for e in edits]
    assert sorted(cuts) == [("cut", 0, 2), ("cut", 0, 3), ("cut", 1, 3)]
    assert all(t.saved_bytes == 2 * 4 * 256 for t in made)


#: Graphs at random, from the same seed in both runs: kernels that add, copies and memsets, with
#: about half of the dependencies that could be, so that many are implied.
RANDOM = f"""{SUMS}
import random
rng = random.Random(27)
room = [cuda.allocate(1024) for _ in range(4)]
for at in room:
    cuda.upload_floats(at, [float(i % 7) for i in range(256)])
def add_random(graph, made):
    after = [node for node in made if rng.random() < 0.5]
    kind = rng.random()
    one, other = rng.sample(room, 2)
    if kind < 0.2:
        return cuda.add_memcpy(graph, after, (2, one), (2, other), 512)
    if kind < 0.3:
        return cuda.add_memset(graph, after, one, rng.randrange(9), 256)
    return work.add(graph, after, rng.choice([1.0, 2.0, -3.0]))
for _ in range(GRAPHS):
    graph, made = cuda.graph(), []
    for _ in range(rng.randrange(2, 9)):
        made.append(add_random(graph, made))
    graph_exec = cuda.instantiate(graph)
    launches(graph_exec, 14)
    cuda.destroy_exec(graph_exec)
report(room=[cuda.download_floats(at, 256) for at in room])
"""


def test_random_graphs_leave_what_they_leave_without_trials(fake: Backend, tmp_path: Path) -> None:
    text = RANDOM.replace("GRAPHS", "120")
    printed, recording = run_plain_and_tried(fake, tmp_path, text)
    assert isinstance(printed, dict)
    assert any(printed["sums"])
    with recording:
        made = [t for g in recording.fetch_graphs() for t in recording.fetch_trials(g.graph_id)]
    done = [t for t in made if t.refusal is None]
    assert {t.results for t in done} == {"equal"}
    # On a loaded machine the quiet moments of some graphs do not suffice.
    assert sum(t.kind == "executable" for t in done) >= 60
    assert sum(t.kind == "implied" for t in done) >= 30


#: What a graph has that is not tried, and the reason; `graph` is added to, `nodes` are its.
REFUSED = {
    "host function": (
        "from contract.params import HOST_FUNCTION, HostParams\ncalled = []\n"
        "function = HOST_FUNCTION(lambda _: called.append(1))\n"
        "cuda.add_host(graph, [nodes[-1]], function)\n",
        "it calls functions of the host",
    ),
    "copy to the host": (
        "out = cuda.allocate_pinned(1024)\n"
        "cuda.add_memcpy(graph, [nodes[-1]], (1, out), (2, work.y), 1024)\n",
        "a copy of it writes to host memory",
    ),
    "kernel with host memory": (
        "from contract.driver import Arguments\nfrom ctypes import c_uint, c_float, c_ulonglong\n"
        "pinned = cuda.allocate_pinned(1024)\n"
        "given = Arguments(c_uint(4), c_float(1), c_ulonglong(work.x), c_ulonglong(pinned))\n"
        "cuda.add_kernel(graph, [nodes[-1]], 'axpy', given)\n",
        "a kernel of it is given host memory",
    ),
    "event": (
        "from ctypes import c_void_p\n"
        "cuda.add('EventRecordNode', graph, [nodes[-1]], c_void_p(cuda.event()))\n",
        "it records events of the program or waits for them",
    ),
}


@pytest.mark.parametrize(("added", "why"), REFUSED.values(), ids=REFUSED)
def test_graph_that_reaches_more_than_is_saved_is_refused(
    fake: Backend, tmp_path: Path, added: str, why: str
) -> None:
    text = f"{SUMS}{CHAIN}{added}launches(cuda.instantiate(graph), 20)\nreport()\n"
    _, recording = run_plain_and_tried(fake, tmp_path, text)
    with recording:
        assert [(t.kind, t.refusal) for t in trials_of(recording)] == [("any", why)]
