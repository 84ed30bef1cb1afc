"""A graph's life with no CUPTI in the process: the gate tells of the driver's calls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from contract import test_life
from contract.backend import Backend
from contract.scripts import PREAMBLE, run_script
from fake.build import Fakes

from gviz.collectors import native
from gviz.recording import rows
from gviz.recording.reader import Recording


@pytest.fixture(scope="session")
def backend(fakes: Fakes, tmp_path_factory: pytest.TempPathFactory) -> Backend:
    """The fake driver behind the gate, with no CUPTI to be had."""
    path = native.gate_path()
    assert path is not None
    environment = {**fakes.environment(), "GVIZ_CUPTI": "/nowhere", "LD_PRELOAD": str(path)}
    return Backend("told", environment, tmp_path_factory.mktemp("told"), measured_by="topology")


class TestCaptures(test_life.TestCaptures):
    """The contract, without the runtime's calls and node times, which only CUPTI has."""

    test_runtime_function_is_named = None  # type: ignore[assignment]
    test_capture_after_broken_ones_is_recorded = None  # type: ignore[assignment]


class TestUpdates(test_life.TestUpdates):
    """The contract."""


class TestInstantiation(test_life.TestInstantiation):
    """The contract."""


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
    done = run_script(
        fake, tmp_path, text, "--collector", "topology", "-o", "x.gviz", GVIZ_GATE="1"
    )
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
    # Nothing closes it yet: nobody is held.
    assert {name: value for name, value in measured.items() if name.startswith("gate_")} == {
        "gate_closings": 0,
        "gate_closings_given_up": 0,
        "gate_calls_held": 0,
        "gate_longest_hold_ns": 0,
        "gate_closings_overrun": 0,
        "gate_waits_polled": 0,
    }
    assert [launch.event_duration_ns is not None for launch in launches] == [True] * 5
    assert not any(launch.node_level for launch in launches)


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
