"""Trace events exported and imported again: nodes, times and operations come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings import fork_join_shape, write_recording

from gviz.assets import recordings as bundled
from gviz.formats.importer import import_kineto
from gviz.formats.perfetto.export import write_trace
from gviz.recording.reader import Recording

BUNDLED = sorted(Path(next(iter(bundled.__path__))).glob("*.gviz"))
Launch = list[tuple[Any, ...]]


def timed_launches(recording: Recording, run_id: int) -> list[Launch]:
    """Return each launch with node times: its nodes by start, relative to the first."""
    functions = {k: f.name for k, f in recording.fetch_functions(run_id).items()}
    found = []
    graphs = recording.fetch_graphs(run_id)
    nodes = {
        (level.graph_id, node.node_id): node
        for level in graphs
        for node in recording.fetch_nodes(level.graph_id)
    }
    for graph in graphs:
        for launch in recording.fetch_launches(graph.graph_id):
            spans = recording.fetch_spans(launch.launch_id)
            if not len(spans):
                continue
            first = int(spans.start_ns.min())
            found.append(
                sorted(
                    (start - first, duration, *identity(nodes[graph_id, node_id], functions))
                    for graph_id, node_id, start, duration in zip(
                        spans.graph_id.tolist(),
                        spans.node_id.tolist(),
                        spans.start_ns.tolist(),
                        spans.duration_ns.tolist(),
                        strict=True,
                    )
                )
            )
    return found


def identity(node: Any, functions: dict[int, str]) -> tuple[Any, ...]:
    """Return what a node is: a kernel with its shape, or how much is copied or set."""
    if node.function_id is not None:
        shape = (node.grid_x, node.grid_y, node.grid_z, node.block_x, node.block_y, node.block_z)
        return (node.type, functions[node.function_id], *shape)
    return (node.type, node.bytes)


def operations(recording: Recording) -> list[tuple[Any, ...]]:
    """Return the operations outside graphs of all runs, by start, relative to the first."""
    runs = recording.fetch_runs()
    found = [o for run in runs for o in recording.fetch_run_stream_operations(run.run_id)]
    first = min((o.start_ns for o in found), default=0)
    return sorted((o.start_ns - first, o.duration_ns, o.type, o.stream_id) for o in found)


def there_and_back(path: Path, run_id: int, folder: Path) -> Path:
    trace, back = folder / f"trace{run_id}.json.gz", folder / f"back{run_id}.gviz"
    with Recording(path) as recording:
        ids = [g.graph_id for g in recording.fetch_graphs(run_id) if g.parent_graph_id is None]
        write_trace(recording, trace, ids)
    import_kineto(trace, back)
    return back


def assert_equal(path: Path, folder: Path) -> None:
    with Recording(path) as before:
        for run in before.fetch_runs():
            with Recording(there_and_back(path, run.run_id, folder)) as after:
                (of,) = after.fetch_runs()
                there = timed_launches(before, run.run_id)
                assert there
                assert timed_launches(after, of.run_id) == there
                assert operations(after) == operations(before)


def test_written_recording_comes_back(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "a.gviz", fork_join_shape(2, 3), launches=5)
    assert_equal(path, tmp_path)


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_bundled_recording_comes_back(path: Path, tmp_path: Path) -> None:
    assert_equal(path, tmp_path)
