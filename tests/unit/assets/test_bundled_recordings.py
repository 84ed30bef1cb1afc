"""The recordings that gviz brings along: what each is of, and that it can be made again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from golden_spools import dump
from places import ROOT

from gviz.cuda.node_type import NodeType
from gviz.formats.importer import import_files
from gviz.recording.reader import Recording

FOLDER = ROOT / "assets" / "recordings"
TRACES = ROOT / "tests" / "golden" / "traces"
NESTED = [TRACES / f"nested_torch_2.11.{suffix}" for suffix in ("json.gz", "dot")]


def test_each_is_in_the_provenance() -> None:
    reported = re.findall(r"^\| (\w+\.gviz) \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(reported) == sorted(path.name for path in FOLDER.glob("*.gviz"))


def test_imported_one_is_what_the_golden_trace_gives(tmp_path: Path) -> None:
    again = tmp_path / "nested_torch.gviz"
    import_files(NESTED, again, name="Child graphs")
    assert dump(again) == dump(FOLDER / "nested_torch.gviz")


def test_imported_one_has_child_graphs_whose_nodes_have_times() -> None:
    with Recording(FOLDER / "nested_torch.gviz") as recording:
        top, *bodies = recording.fetch_graphs()
        children = [n for n in recording.fetch_nodes(top.graph_id) if n.type == NodeType.GRAPH]
        assert len(children) == len(bodies) == 2
        for body in bodies:
            assert body.parent_graph_id == top.graph_id
            assert body.parent_node_id in {node.node_id for node in children}
            assert len(recording.fetch_nodes(body.graph_id)) == 8
        launches = recording.fetch_launches(top.graph_id)
        assert [launch.span_count for launch in launches] == [18] * 6


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.gviz")), ids=lambda path: path.stem)
def test_no_folder_of_the_recording_machine_is_named(path: Path) -> None:
    with Recording(path) as recording:
        (run, *_) = recording.fetch_runs()
        assert run.host in (None, "host")
    places = set(re.findall(r"/(?:root|tmp|work|opt)/[\w./-]+", dump(path)))
    assert places == set()
