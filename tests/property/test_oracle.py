"""Figures of generated traces, computed twice: by gviz and by tests/oracle."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from kineto_traces import write_trace
from nsys_exports import SCHEMAS, export_of
from oracle.generate import GeneratedTrace, generate
from oracle.kineto import read_kineto
from oracle.nsys import read_nsys
from oracle.paths import Shape, flatten
from oracle.raw import Raw
from oracle_agreement import (
    Ran,
    analysis_agrees,
    idle_shares_agree,
    launches_agree,
    sums_agree,
    top_graphs,
    work_of_nodes,
)

from gviz.formats.importer import import_files
from gviz.recording.reader import Recording

# Many made-up cases: these eight files would be a sixth of what the quick tests take.
pytestmark = pytest.mark.thorough

#: Traces of 100, in batches: what a test costs besides is paid once a batch.
_BATCH = 25
_BATCHES = 4


@pytest.mark.parametrize("batch", range(_BATCHES))
def test_figures_of_generated_traces_are_those_of_the_records(batch: int, tmp_path: Path) -> None:
    paths = 0
    for seed in range(batch * _BATCH, (batch + 1) * _BATCH):
        paths += _compare(seed, tmp_path)
    assert paths >= _BATCH, "too few launches with paths to say anything"


def _compare(seed: int, folder: Path) -> int:
    """Compare the figures of one trace; return of how many launches paths were compared."""
    source = random.Random(seed)
    has_ids = source.random() < 0.7
    made = generate(seed, node_ids=has_ids)
    raw, path = _write(made, seed, folder, as_export=has_ids and source.random() < 0.4)
    dumps = []
    for executable, text in made.dots.items():
        if len(made.edges) == 1 or source.random() < 0.8:
            dumps.append(folder / f"{seed}_{executable}.dot")
            dumps[-1].write_text(text)
    output = folder / f"{seed}.gviz"
    import_files([path, *dumps], output)
    with Recording(output) as recording:
        launches = launches_agree(recording, raw)
        ran = work_of_nodes(recording, launches)
        sums_agree(recording, raw)
        idle_shares_agree(recording, ran)
        return analysis_agrees(recording, ran, _shapes(recording, ran, made))


def _write(made: GeneratedTrace, seed: int, folder: Path, *, as_export: bool) -> tuple[Raw, Path]:
    if as_export:
        release = sorted(SCHEMAS)[seed % len(SCHEMAS)]
        path = export_of(made.trace, folder / f"{seed}.sqlite", release)
        return read_nsys(path), path
    path = write_trace(made.trace, folder / f"{seed}.json")
    return read_kineto(path), path


def _shapes(recording: Recording, ran: Ran, made: GeneratedTrace) -> dict[int, Shape]:
    """Return the true shapes of the graphs that were joined with a dump.

    Whatever matched the records to the dump's nodes must have found the node that ran.
    """
    found = {}
    joined = {g.graph_id for g in top_graphs(recording) if not g.edges_inferred}
    for launch_id, work in ran.items():
        graph_id = recording.fetch_launch(launch_id).graph_id
        truth = {key: made.nodes[w.start_ns, w.stream] for key, w in work.items()}
        (executable,) = {executable for executable, _ in truth.values()}
        if graph_id in joined and executable in made.dots:
            assert all(key[:2] == (graph_id, number) for key, (_, number) in truth.items())
            nodes = [node.node_id for node in recording.fetch_nodes(graph_id)]
            found[graph_id] = flatten({graph_id: nodes}, {graph_id: made.edges[executable]}, {})
    return found
