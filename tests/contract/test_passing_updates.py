"""Updates of nodes that pass behind the gate: counted, and never where a copy would miss them."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract.backend import Backend
from contract.recorded import RUN
from contract.scripts import PREAMBLE, run_script
from contract.test_told import SETTLED

from gviz.recording.reader import Recording

#: Graphs of kernels that add to one sum, and new factors for them.
UPDATING = f"""{PREAMBLE}{SETTLED}
from contract.watched import Sum
work, graph = Sum(cuda), cuda.graph()
nodes = [work.add(graph, [])]
def update(graph_exec, node, factor):
    cuda.set_kernel_params(graph_exec, node, "axpy", work.arguments(factor), (2, 1, 1))
"""
Counts = list[tuple[int | None, int]]


def run_updates(
    fake: Backend, folder: Path, text: str, *options: str
) -> tuple[Counts, float, list[str | None]]:
    """Return nodes and counts of updates by row, how many passed, and how launches were timed."""
    done = run_script(fake, folder, f"{UPDATING}{text}", *options, "-o", "x.gviz")
    assert done.returncode == 0, done.stderr
    with Recording(folder / "x.gviz") as recording:
        rows = [u for u in recording.fetch_graph_updates(RUN) if u.kind == "node"]
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
        (graph,) = (g for g in recording.fetch_graphs() if g.origin == "explicit")
        methods = [x.node_method for x in recording.fetch_launches(graph.graph_id)]
        (run,) = recording.fetch_runs()
    # The mean of those that passed is that of the others; on a loaded machine these take long.
    assert run.started_ns is not None
    assert run.ended_ns is not None
    assert all(0 < row.total_ns / row.count < run.ended_ns - run.started_ns for row in rows)
    return [(row.node_id, row.count) for row in rows], measured.get("updates_counted", 0), methods


def test_each_update_of_several_threads_is_counted(fake: Backend, tmp_path: Path) -> None:
    text = (
        "import threading\nnodes += [work.add(graph, []) for _ in range(3)]\n"
        "graph_exec = cuda.instantiate(graph)\n"
        "def work_on():\n    cuda.make_current()\n"
        "    for i in range(3000):\n        update(graph_exec, nodes[i % 4], 1.0)\n"
        "threads = [threading.Thread(target=work_on) for _ in range(3)]\n"
        "for thread in threads:\n    thread.start()\n"
        "for thread in threads:\n    thread.join()\n"
    )
    rows, passed, _ = run_updates(fake, tmp_path, text, "--collector", "topology")
    assert sorted(rows) == [(node, 2250) for node in range(4)]
    assert 4500 < passed <= 9000 - 4 * 16


def test_updates_are_counted_for_the_executable_that_they_are_of(
    fake: Backend, tmp_path: Path
) -> None:
    text = (
        "for _ in range(20):\n    graph_exec = cuda.instantiate(graph)\n"
        "    for i in range(100):\n        update(graph_exec, nodes[0], 1.0)\n"
        "    cuda.destroy_exec(graph_exec)\n"
    )
    rows, passed, _ = run_updates(fake, tmp_path, text, "--collector", "topology")
    assert rows == [(0, 100)] * 20
    assert passed > 1000


def test_updates_while_something_is_captured_are_told_of(fake: Backend, tmp_path: Path) -> None:
    text = (
        "from contract.driver import CAPTURE_RELAXED\ngraph_exec = cuda.instantiate(graph)\n"
        "for i in range(17):\n    update(graph_exec, nodes[0], 1.0)\n"
        "cuda.begin_capture(stream, CAPTURE_RELAXED)\n"
        "for i in range(500):\n    update(graph_exec, nodes[0], 1.0)\n"
        "cuda.end_capture(stream)\n"
    )
    rows, passed, _ = run_updates(fake, tmp_path, text, "--collector", "topology")
    assert (rows, passed) == ([(0, 517)], 0)


@pytest.mark.parametrize("options", [("--node-launches", "3"), ("--every", "500")])
def test_copies_made_after_many_updates_have_the_last_parameters(
    fake: Backend, tmp_path: Path, options: tuple[str, ...]
) -> None:
    # With its times an executable rests: until the next period no copy of it is there. Following
    # so many updates is within its budget on any machine.
    text = (
        "graph_exec = cuda.instantiate(graph)\n"
        "gviz.start()\nlaunch_settled(graph_exec, 12)\ngviz.stop()\n"
        "for i in range(200):\n    update(graph_exec, nodes[0], float(i % 7))\n"
        "gviz.start()\nlaunch_settled(graph_exec, 600)\n"
        "assert work.result()[1] == 12 * 3.0 + 600 * float(199 % 7), work.result()\n"
    )
    rows, passed, methods = run_updates(
        fake, tmp_path, text, "--collector", "events", "--paused", *options
    )
    assert (rows, passed) == ([(0, 200)], 0)
    assert "events" in methods[:12]
    assert "events" in methods[12:]


def test_updates_of_what_copies_do_not_follow_any_more_pass(fake: Backend, tmp_path: Path) -> None:
    text = (
        "graph_exec = cuda.instantiate(graph)\nlaunch_settled(graph_exec, 3)\n"
        "assert cuda.update(graph_exec, graph) == 0\nlaunch_settled(graph_exec, 1)\n"
        "for i in range(1000):\n    update(graph_exec, nodes[0], float(i % 7))\n"
        "    launch(graph_exec, 1)\n"
        "total = 4 * 3.0 + sum(float(i % 7) for i in range(1000))\n"
        "assert work.result()[1] == total, work.result()\n"
    )
    rows, passed, methods = run_updates(
        fake, tmp_path, text, "--collector", "events", "--node-launches", "all"
    )
    assert rows == [(0, 1000)]
    assert passed > 500
    assert "events" in methods[:3]
    assert "events" not in methods[4:]


def test_updates_pass_where_events_can_time_no_node(fake: Backend, tmp_path: Path) -> None:
    # As in JAX: each kernel is an end of a programmatic edge.
    text = (
        "from ctypes import byref, c_size_t, c_void_p\nfrom contract.params import EdgeData\n"
        "nodes.append(work.add(graph, []))\none = c_void_p * 1\n"
        "cuda.call('cuGraphAddDependencies_v2', c_void_p(graph), one(nodes[0]), one(nodes[1]),\n"
        "          byref(EdgeData(from_port=1, type=1)), c_size_t(1))\n"
        "graph_exec = cuda.instantiate(graph)\n"
        "for i in range(1000):\n"
        "    for node in nodes:\n        update(graph_exec, node, float(i % 7))\n"
        "    launch(graph_exec, 1)\n"
        "total = sum(2 * float(i % 7) for i in range(1000))\n"
        "assert work.result()[1] == total, work.result()\n"
    )
    rows, passed, methods = run_updates(fake, tmp_path, text, "--collector", "events")
    assert sorted(rows) == [(0, 1000), (1, 1000)]
    assert passed > 1000
    assert "events" not in methods
