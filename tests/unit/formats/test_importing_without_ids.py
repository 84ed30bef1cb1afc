"""Traces without node ids, joined with dumps.

Where nodes have other numbers in the dump the truth is known: a recording of a real GPU is written
as the trace that Kineto would have made of it, and its graph as a dump whose nodes are numbered in
another order that respects the edges.
"""

from __future__ import annotations

import lzma
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from inspected import record_of
from kineto_traces import trace_of, write_trace
from places import ROOT, TESTS
from renumbered_dumps import Level, order_by_chance

from gviz.app.files.library import Library
from gviz.app.views.graph_data import graph_view
from gviz.formats.importer import import_files
from gviz.recording.reader import Recording
from gviz.recording.upgrades import upgrade_recording
from gviz.report.info.recording_document import info_document
from gviz.report.renderers.text_form import render_text
from gviz.report.summary import summarize

GOLDEN = TESTS / "golden" / "traces"
RECORDINGS = ROOT / "assets" / "recordings"
#: Launches in a trace; of graph_lives all, for each of its graphs is in some.
LAUNCHES = {"graph_lives": 200}
#: Recording, graph, and nodes that times and dependencies leave exchangeable, at most.
GRAPHS = [
    ("cupy_pipeline", 1, 12),
    ("decode_step", 1, 32),
    ("decode_step_h200", 1, 32),
    ("decode_step_h200_fused", 1, 32),
    ("graph_lives", 4, 0),
    ("graph_lives", 5, 0),
    ("nested_torch", 1, 0),
    ("ranks_h200", 1, 0),
    ("token_step_1", 1, 0),
    ("token_step_2", 1, 0),
    ("token_step_3", 1, 0),
    ("token_step_4", 1, 0),
    ("token_step_5", 1, 0),
    ("training_step", 1, 0),
]


def truth_of(path: Path) -> dict[tuple[int, int], tuple[int, int]]:
    """Return graph and node of each execution, by its start and end."""
    found = {}
    with Recording(path) as recording:
        for graph in recording.fetch_graphs():
            for launch in recording.fetch_launches(graph.graph_id):
                if not launch.span_count or launch.gpu_start_ns is None:
                    continue
                spans = recording.fetch_spans(launch.launch_id)
                start = (launch.gpu_start_ns + spans.start_ns).tolist()
                end = (launch.gpu_start_ns + spans.start_ns + spans.duration_ns).tolist()
                nodes = zip(spans.graph_id.tolist(), spans.node_id.tolist(), strict=True)
                found |= dict(zip(zip(start, end, strict=True), nodes, strict=True))
    return found


@dataclass(frozen=True, slots=True)
class Subject:
    """A graph of a recording, the trace of its launches, and which node each execution is of."""

    level: Level
    trace: Path
    truth: dict[tuple[int, int], tuple[int, int]]

    @classmethod
    def write(cls, path: Path, graph_id: int, folder: Path) -> Subject:
        """Write the trace of a graph's recording into a folder."""
        trace = trace_of(path, node_ids=False, launches=LAUNCHES.get(path.stem, 6))
        with Recording(path) as recording:
            level = Level.read(recording, graph_id)
        return cls(level, write_trace(trace, folder / "t.json"), truth_of(path))

    def check_seed(self, most: int, seed: int) -> list[str]:
        """Import one renumbering; check that times are on their nodes or these are marked."""
        folder = self.trace.parent
        numbers = self.level.renumber(folder / "g.dot", seed)
        output = folder / "out.gviz"
        notes = import_files([self.trace, folder / "g.dot"], output, overwrite=True)
        with Recording(output) as got:
            top = next(g for g in got.fetch_graphs() if g.origin == "dot")
            marked = {
                (node.graph_id, node.node_id)
                for graph in got.fetch_graphs()
                for node in got.fetch_nodes(graph.graph_id)
                if node.match_class is not None
            }
            launches = got.fetch_launches(top.graph_id)
            assert launches
            for launch in launches:
                assert launch.gpu_start_ns is not None
                spans = got.fetch_spans(launch.launch_id)
                columns = (spans.graph_id, spans.node_id, spans.start_ns, spans.duration_ns)
                for graph, node, start, duration in zip(
                    *(c.tolist() for c in columns), strict=True
                ):
                    begin = launch.gpu_start_ns + start
                    level, number = self.truth[begin, begin + duration]
                    if graph == top.graph_id:
                        place = (level, numbers[number])
                        assert place == (self.level.graph_id, node) or (graph, node) in marked
        assert len(marked) <= most
        return notes


@pytest.mark.parametrize(("name", "graph_id", "most"), GRAPHS[:-1])
def test_every_time_is_on_its_node_or_the_node_is_marked(
    name: str, graph_id: int, most: int, tmp_path: Path
) -> None:
    notes = Subject.write(RECORDINGS / f"{name}.gviz", graph_id, tmp_path).check_seed(most, 0)
    assert any("All dependencies of" in note for note in notes)
    assert any("could be exchanged" in note for note in notes) == (most > 0)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "graph_id", "most"), GRAPHS)
def test_renumberings_of_each_recording(
    name: str, graph_id: int, most: int, tmp_path: Path
) -> None:
    subject = Subject.write(RECORDINGS / f"{name}.gviz", graph_id, tmp_path)
    # The training step takes 2 s a time, and none of its nodes is exchangeable. A chain has one
    # order, whatever the seed. Matching alone meets hundreds of orders in tests/property.
    seeds = {
        tuple(order_by_chance(subject.level.before, seed)): seed
        for seed in reversed(range(2 if name == "training_step" else 6))
    }
    for seed in seeds.values():
        subject.check_seed(most, seed)


@pytest.mark.parametrize(
    ("name", "nodes", "groups"),
    [
        # Three equal towers on three streams: what is of one is of any of them.
        ("branches", 185, {3: 38}),
        ("foreach", 409, {}),
    ],
)
def test_all_dependencies_hold_and_only_equal_towers_are_exchangeable(
    name: str, nodes: int, groups: dict[int, int], tmp_path: Path
) -> None:
    trace = tmp_path / "trace.json"
    packed = GOLDEN / f"{name}_torch_2.11.json.xz"
    trace.write_bytes(lzma.decompress(packed.read_bytes()))
    notes = import_files([trace, GOLDEN / f"{name}_torch_2.11.dot"], tmp_path / "out.gviz")
    assert any(f"{nodes} nodes were matched" in note for note in notes)
    assert any("All dependencies of graph_1" in note for note in notes)
    with Recording(tmp_path / "out.gviz") as recording:
        (graph,) = recording.fetch_graphs()
        found = Counter(
            node.match_class
            for node in recording.fetch_nodes(graph.graph_id)
            if node.match_class is not None
        )
    assert Counter(found.values()) == groups


@pytest.mark.parametrize(("name", "most"), [("branches", 114), ("foreach", 0)])
def test_times_of_training_steps_are_on_their_nodes_or_these_are_marked(
    name: str, most: int, tmp_path: Path
) -> None:
    path = tmp_path / f"{name}.gviz"
    packed = GOLDEN / f"{name}_torch_2.11.gviz.xz"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    upgrade_recording(path, path)
    subject = Subject.write(path, 1, tmp_path)
    for seed in range(3):
        subject.check_seed(most, seed)


def test_info_and_inspector_mark_exchangeable_nodes(tmp_path: Path) -> None:
    Subject.write(RECORDINGS / "cupy_pipeline.gviz", 1, tmp_path).check_seed(12, 0)
    with Recording(tmp_path / "out.gviz") as recording:
        graph = next(g for g in recording.fetch_graphs() if g.origin == "dot")
        marked = [n.match_class is not None for n in recording.fetch_nodes(graph.graph_id)]
        shown = render_text(info_document(summarize(recording)), 200)
    assert "12 nodes are exchangeable" in shown
    # Of the ten slowest nodes all but the copy to the host.
    assert shown.count("(exchangeable)") == 9
    library = Library([tmp_path / "out.gviz"])
    view = graph_view(library, "out", graph.graph_id)
    found = [
        "match_class" in record_of(library, "out", view, node)["node"]
        for node in range(len(marked))
    ]
    assert found == marked
