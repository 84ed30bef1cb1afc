"""The program of graphs that live more than one life, beside the bundled recordings."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gviz.cuda.node_type import NodeType
from gviz.model.life_summary import failed_captures, graph_life
from gviz.recording import rows
from gviz.recording.reader import Recording

pytestmark = pytest.mark.gpu

PROGRAM = Path(__file__).parents[2] / "assets" / "recordings" / "graph_lives.py"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    output = tmp_path_factory.mktemp("lives") / "graph_lives.gviz"
    done = subprocess.run(
        [sys.executable, "-P", str(PROGRAM), str(output)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "a capture failed, as it should" in done.stdout
    with Recording(output) as opened:
        yield opened


def graph_named(recording: Recording, name: str) -> rows.Graph:
    (found,) = [graph for graph in recording.fetch_graphs(1) if graph.name == name]
    return found


def test_bodies_ran_as_often_as_the_plate_needed(recording: Recording) -> None:
    solve = graph_named(recording, "solve")
    bodies = [g for g in recording.fetch_graphs(1) if g.parent_graph_id == solve.graph_id]
    assert len(bodies) == 2
    loop, rest = (body.graph_id for body in bodies)
    sweeps, smoothed = set(), set()
    for launch in recording.fetch_launches(solve.graph_id):
        spans = recording.fetch_spans(launch.launch_id)
        if len(spans):
            sweeps.add(len(set(spans.iteration[spans.graph_id == loop].tolist())))
            smoothed.add(bool((spans.graph_id == rest).any()))
    assert len(sweeps) > 1, "a hotter edge takes more sweeps"
    assert smoothed == {False, True}


def test_allocations_lie_in_the_pool(recording: Recording) -> None:
    nodes = recording.fetch_nodes(graph_named(recording, "filter").graph_id)
    kinds = [node.type for node in nodes]
    assert (kinds.count(NodeType.MEM_ALLOC), kinds.count(NodeType.MEM_FREE)) == (3, 3)


def test_update_is_taken_once_and_refused_once(recording: Recording) -> None:
    tune = graph_named(recording, "tune")
    (executable,) = graph_life(recording, tune, recording.fetch_graph_updates(1)).execs
    updates = sorted(executable.updates, key=lambda update: update.result)
    assert [update.count for update in updates] == [1, 1]
    assert updates[0].result == 0
    assert "MEMSET added" in (updates[1].difference or "")
    remade = [
        e.could_update_graph_exec_id is not None
        for graph in recording.fetch_graphs(1)
        if (graph.name or "").startswith("tune, cleared")
        for e in recording.fetch_graph_execs(graph.graph_id)
    ]
    assert remade == [False, True, True]


def test_capture_that_waits_fails(recording: Recording) -> None:
    (failure,) = failed_captures(recording, 1)
    assert failure.failure.rule == "synchronising call"
    assert failure.place is not None
    assert failure.place.function.endswith("impatient")
