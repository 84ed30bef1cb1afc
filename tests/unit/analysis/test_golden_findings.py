"""Recordings of a real GPU with a planted fault: the finding, and the gain that was measured."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest
from places import TESTS

from gviz.analysis.advice import advise_graph
from gviz.analysis.rules.rule import Finding
from gviz.analysis.subject import GraphSubject
from gviz.recording.identity import read_version
from gviz.recording.reader import Recording
from gviz.recording.rows.versions import SCHEMA_VERSION
from gviz.recording.upgrades import upgrade_recording

_FOLDER = TESTS / "golden" / "findings"
#: What repairing the fault gained on the same GPU, without gviz (README.md beside the recordings).
_MEASURED_NS = {
    ("serialised_branches-faulty", "single-stream-capture"): 122_880,
    ("host_nodes-faulty", "host-node-on-path"): 119_768,
}


def _open(name: str, folder: Path) -> Recording:
    path = folder / f"{name}.gviz"
    path.write_bytes(lzma.decompress((_FOLDER / f"{name}.gviz.xz").read_bytes()))
    if read_version(path) < SCHEMA_VERSION:
        upgrade_recording(path, path)
    return Recording(path)


def _subject(recording: Recording) -> GraphSubject:
    (graph,) = (g for g in recording.fetch_graphs() if g.parent_graph_id is None)
    return GraphSubject(recording, graph, recording.fetch_devices(graph.run_id))


def _findings(recording: Recording) -> tuple[Finding, ...]:
    return advise_graph(_subject(recording)).findings


@pytest.mark.parametrize(("name", "rule"), _MEASURED_NS)
def test_the_planted_fault_is_the_only_finding(name: str, rule: str, tmp_path: Path) -> None:
    with _open(name, tmp_path) as recording:
        (found,) = _findings(recording)
    assert found.rule == rule
    assert found.gain_bound == "at most"
    measured = _MEASURED_NS[name, rule]
    # As a bound says, above what was measured or at most a quarter below it.
    assert found.gain_ns > 0.75 * measured


def test_the_gain_of_branches_is_what_was_measured(tmp_path: Path) -> None:
    key = ("serialised_branches-faulty", "single-stream-capture")
    with _open(key[0], tmp_path) as recording:
        (found,) = _findings(recording)
    assert found.gain_ns == pytest.approx(_MEASURED_NS[key], rel=0.25)


def test_the_measured_gain_is_below_the_range_of_one_that_is_at_most_so_much(
    tmp_path: Path,
) -> None:
    key = ("host_nodes-faulty", "host-node-on-path")
    with _open(key[0], tmp_path) as recording:
        (found,) = _findings(recording)
    assert found.gain_low_ns is not None
    assert found.gain_high_ns is not None
    assert found.gain_low_ns < found.gain_ns == found.gain_high_ns
    assert found.gain_high_ns >= _MEASURED_NS[key]


def test_the_gain_of_host_nodes_is_what_the_gpu_waited_in_the_recording(tmp_path: Path) -> None:
    """The recorded program paused between launches, and its first host node waits longest."""
    with _open("host_nodes-faulty", tmp_path) as recording:
        subject = _subject(recording)
        waits = subject.held.gap_ns[subject.held.gap_ns > 10_000]
        (found,) = _findings(recording)
    assert len(waits) == 3
    assert waits[0] > 1.25 * max(waits[1:])
    assert found.gain_ns == pytest.approx(waits.sum(), rel=0.1)


def test_memsets_with_gaps_like_those_of_kernels_are_no_finding(tmp_path: Path) -> None:
    with _open("memsets_between_kernels-faulty", tmp_path) as recording:
        subject = _subject(recording)
        usual = subject.usual.of(crossing=False)
        assert _findings(recording) == ()
        gaps = subject.held.gap_ns[1:]
    assert usual is not None
    assert float(np.median(gaps)) == pytest.approx(usual, abs=64)
    assert int(gaps.max()) < 200
