"""DOT text that gviz exports is imported again as it was."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from dot_round_trip import drawn
from nested_recordings import layered, write_nested_recording
from places import ROOT
from recordings import write_loop_recording

from gviz.cli.command_line import main
from gviz.errors import DotError
from gviz.formats.dot.export import to_dot
from gviz.formats.dot.importer import import_dot
from gviz.formats.dot.parse import parse_dot
from gviz.formats.importer import import_files
from gviz.recording.reader import Recording

BUNDLED = sorted((ROOT / "assets" / "recordings").glob("*.gviz"))
GOLDEN = ROOT / "tests" / "golden"
DOT_PROGRAM = shutil.which("dot")


def exported(path: Path, folder: Path) -> str:
    """Return what the command writes of all graphs of a file."""
    output = folder / "out.dot"
    assert main(["export", str(path), "-o", str(output)]) == 0
    return output.read_text()


def again(path: Path, folder: Path) -> Path:
    exported(path, folder)
    return import_dot(folder / "out.dot", folder / "again.gviz")


@pytest.mark.parametrize("path", BUNDLED, ids=lambda p: p.stem)
def test_a_bundled_recording_comes_back_with_its_topology(path: Path, tmp_path: Path) -> None:
    with Recording(path) as was, Recording(again(path, tmp_path)) as got:
        # DOT has to name a graph: one without a name comes back as its number.
        nameless = [g.graph_id for g in was.fetch_graphs() if not (g.name or g.parent_graph_id)]
        expected = [
            graph if graph[0] else (f"graph_{nameless.pop(0)}", *graph[1:]) for graph in drawn(was)
        ]
        assert drawn(got) == sorted(expected, key=repr)
        hashes = [
            sorted(r.fetch_topology(g.topology_id).hash for g in r.fetch_graphs() if g.topology_id)
            for r in (was, got)
        ]
        assert hashes[0] == hashes[1]


def write_layered(path: Path) -> Path:
    return write_nested_recording(path, layered(3))


@pytest.mark.parametrize("write", [write_loop_recording, write_layered])
def test_bodies_come_back_inside_their_nodes(write: Callable[[Path], Path], tmp_path: Path) -> None:
    path = write(tmp_path / "nested.gviz")
    with Recording(path) as was, Recording(again(path, tmp_path)) as got:
        assert drawn(got) == drawn(was)
        assert any(g.parent_graph_id is not None for g in got.fetch_graphs())


@pytest.mark.parametrize("dump", sorted((GOLDEN / "dot").glob("*.dot")), ids=lambda p: p.stem)
def test_what_the_driver_wrote_comes_back_over_our_text(dump: Path, tmp_path: Path) -> None:
    path = import_dot(dump, tmp_path / "dump.gviz")
    with Recording(path) as was, Recording(again(path, tmp_path)) as got:
        assert drawn(got) == drawn(was)


def test_inferred_edges_stay_inferred(tmp_path: Path) -> None:
    trace = GOLDEN / "traces" / "encoder_torch_2.11.json.gz"
    import_files([trace], tmp_path / "trace.gviz")
    imported = again(tmp_path / "trace.gviz", tmp_path)
    with Recording(tmp_path / "trace.gviz") as was, Recording(imported) as got:
        assert drawn(got) == drawn(was)
        assert all(g.edges_inferred for g in got.fetch_graphs())


def test_our_text_joins_a_trace_as_the_dump_does(tmp_path: Path) -> None:
    trace = GOLDEN / "traces" / "encoder_torch_2.11.json.gz"
    import_dot(GOLDEN / "traces" / "encoder_torch_2.11.dot", tmp_path / "dump.gviz")
    exported(tmp_path / "dump.gviz", tmp_path)
    notes = import_files([trace, tmp_path / "out.dot"], tmp_path / "joined.gviz")
    assert any("46 nodes were matched" in note for note in notes)


@pytest.mark.skipif(DOT_PROGRAM is None, reason="Graphviz is not installed")
def test_graphviz_draws_none_of_what_is_only_read_again(tmp_path: Path) -> None:
    path = write_layered(tmp_path / "nested.gviz")
    with Recording(path) as recording:
        text = to_dot(recording, 1)
    done = subprocess.run(
        [str(DOT_PROGRAM), "-Tsvg"], input=text, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert "gviz_" in text
    assert "gviz_" not in done.stdout


GOOD = (
    'digraph graph_1 {\ngviz_format=1;\ngviz_name="g";\n'
    'graph_1_node_0 [gviz_type=5, gviz_name="EMPTY"];\n'
    'graph_1_node_1 [gviz_type=4, gviz_name="GRAPH"];\n'
    "graph_1_node_0 -> graph_1_node_1;\n"
    'subgraph cluster_graph_2 {\ngviz_name="b";\ngviz_parent=1;\n}\n}\n'
)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("gviz_format=1", "gviz_format=2", 2, "format 2 of gviz"),
        ("gviz_type=5", "gviz_type=x", 4, "no type that can be"),
        ('gviz_type=5, gviz_name="EMPTY"', "label=x", 4, "gviz_type or gviz_name is missing"),
        ("gviz_type=5", "gviz_type=5, gviz_bytes=-3", 4, "no bytes that can be"),
        ("gviz_type=5", 'gviz_type=5, gviz_grid="1,2"', 4, "argument 2"),
        ('"EMPTY"', r'"\q"', 4, "not escaped"),
        ("node_1 [", "node_0 [", 5, "described twice"),
        ("graph_1_node_1 [", "graph_3_node_1 [", 5, "no node of this graph"),
        ("-> graph_1_node_1", "-> graph_1_node_7", 11, "graph_1_node_7, which is not described"),
        ("-> graph_1_node_1", "-> graph_2_node_1", 6, "out of its graph"),
        ("node_1;", "node_1 [gviz_type=z];", 6, "no type that can be"),
        ("gviz_parent=1", "gviz_parent=9", 10, "no node that runs it"),
        ("cluster_graph_2", "cluster_graph_1", 7, "appears twice"),
        ("cluster_graph_2", "cluster_x", 7, "no graph of gviz"),
        ("}\n}\n", "}\n", 11, "cut short"),
    ],
)
def test_text_that_was_changed_is_refused_with_its_line(
    old: str, new: str, line: int, words: str
) -> None:
    assert len(parse_dot(GOOD)) == 2
    changed = GOOD.replace(old, new)
    assert changed != GOOD
    with pytest.raises(DotError, match=rf"line {line}: .*") as raised:
        parse_dot(changed)
    assert words in str(raised.value)
