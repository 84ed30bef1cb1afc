"""Importing a dump: rows of the recording, parents of bodies, refusals, the command."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from places import TESTS

from gviz.cli.command_line import main
from gviz.errors import DotError, RecordingError, UsageError
from gviz.formats.dot.importer import find_parents, import_dot
from gviz.formats.dot.parse import parse_dot
from gviz.recording.reader import Recording

GOLDEN = TESTS / "golden" / "dot"


def level(number: int, *nodes: str, edges: str = "") -> str:
    """Return a digraph of one cluster; a node is the text of its label after the id line."""
    body = "\n".join(
        f'"graph_{number}_node_{i}"[shape="rectangle" label="{i}\n{text}\n"];'
        for i, text in enumerate(nodes)
    )
    return f"digraph dot {{\nsubgraph cluster_{number} {{\n{body}\n{edges}\n}}\n}}\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_run_says_that_it_is_an_import_without_times(tmp_path: Path) -> None:
    path = import_dot(GOLDEN / "node_types_verbose.dot", tmp_path / "a.gviz", name="my graph")
    with Recording(path) as recording:
        (run,) = recording.fetch_runs()
        assert (run.name, run.state, run.source, run.collector) == (
            "my graph",
            "completed",
            "import",
            "dot",
        )
        nodes = [n for g in recording.fetch_graphs() for n in recording.fetch_nodes(g.graph_id)]
    assert {n.not_timed_reason for n in nodes} == {"imported from DOT: no times"}
    assert {n.exec_node_id for n in nodes} == {None}


def test_run_is_named_after_the_dump(tmp_path: Path) -> None:
    with Recording(import_dot(GOLDEN / "edges_plain.dot", tmp_path / "a.gviz")) as recording:
        assert recording.fetch_runs()[0].name == "edges_plain"


def test_equal_levels_share_a_topology_and_kernels_are_stored_once(tmp_path: Path) -> None:
    path = import_dot(GOLDEN / "nested_verbose.dot", tmp_path / "a.gviz")
    with Recording(path) as recording:
        graphs = {g.name: g for g in recording.fetch_graphs()}
        assert len(recording.fetch_functions(1)) == 1
    alone = {graphs[name].topology_id for name in ("graph_8", "graph_9", "graph_10", "graph_12")}
    assert len(alone) == 1
    assert graphs["graph_7"].topology_id not in alone


def test_several_top_level_graphs_are_imported_and_the_text_is_kept_once(tmp_path: Path) -> None:
    text = level(1, "EMPTY") + level(5, "EMPTY", "HOST")
    path = import_dot(write(tmp_path / "two.dot", text), tmp_path / "a.gviz")
    with Recording(path) as recording:
        graphs = recording.fetch_graphs()
    assert [(g.name, g.origin) for g in graphs] == [("graph_1", "dot"), ("graph_5", "dot")]
    assert graphs[0].dot is not None
    assert zlib.decompress(graphs[0].dot).decode() == text
    assert graphs[1].dot is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (level(1, "graph_2") + level(2, "EMPTY"), {2: (1, 0, None)}),
        (level(2, "EMPTY") + level(1, "graph_2"), {2: (1, 0, None)}),
        (level(1, "graph_2", "graph_2") + level(2), {2: (1, 0, None)}),
        (level(1, "graph_1"), {}),
        (level(1, "graph_2") + level(2, "graph_1"), {2: (1, 0, None)}),
        (level(1, "graph_9"), {}),
    ],
    ids=["child", "child first", "named twice", "itself", "circle", "not described"],
)
def test_parent_of_a_level_is_the_first_node_that_runs_it(
    text: str, expected: dict[int, tuple[int, int, int | None]]
) -> None:
    assert find_parents(parse_dot(text)) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (level(1, "WARP_DRIVE"), "does not know, shown by name only: WARP_DRIVE."),
        (level(1, "graph_9"), "names graph_9 as a body but does not describe it"),
        (level(1, "graph_2", "graph_2") + level(2), "named by several nodes"),
    ],
)
def test_what_is_missing_becomes_a_note(tmp_path: Path, text: str, words: str) -> None:
    path = import_dot(write(tmp_path / "x.dot", text), tmp_path / "a.gviz")
    with Recording(path) as recording:
        warnings = [n.text for n in recording.fetch_notes(1) if n.kind == "warning"]
    assert len(warnings) == 1
    assert words in warnings[0]


def test_number_too_large_for_the_recording_is_left_out(tmp_path: Path) -> None:
    text = level(1, "EMPTY").replace(
        '[shape="rectangle" label="0\nEMPTY\n"]',
        '[shape="record" label="{\nMEM_FREE\n| {{dptr} | {0xFFFFFFFFFFFFFFFF}}\n}"]',
    )
    path = import_dot(write(tmp_path / "x.dot", text), tmp_path / "a.gviz")
    with Recording(path) as recording:
        (node,) = recording.fetch_nodes(1)
    assert (node.name, node.destination_address) == ("MEM_FREE", None)


def test_cycle_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    edges = "\n".join(f'"graph_1_node_{a}" -> "graph_1_node_{1 - a}";' for a in (0, 1))
    dump = write(tmp_path / "x.dot", level(1, "EMPTY", "EMPTY", edges=edges))
    cycle = r"x\.dot, line 2: graph_1 has a cycle, EMPTY \(node 0\) → EMPTY \(node 1\) → EMPTY"
    with pytest.raises(DotError, match=cycle):
        import_dot(dump, tmp_path / "a.gviz")
    assert not (tmp_path / "a.gviz").exists()


def test_existing_recording_is_replaced_only_on_request(tmp_path: Path) -> None:
    output = import_dot(GOLDEN / "edges_plain.dot", tmp_path / "a.gviz")
    with pytest.raises(RecordingError, match="exists"):
        import_dot(GOLDEN / "shapes_plain.dot", output)
    import_dot(GOLDEN / "shapes_plain.dot", output, overwrite=True)
    with Recording(output) as recording:
        assert len(recording.fetch_nodes(1)) == 6


def test_dump_is_never_replaced_by_its_recording(tmp_path: Path) -> None:
    dump = write(tmp_path / "x.dot", level(1, "EMPTY"))
    with pytest.raises(UsageError, match="would replace the dump"):
        import_dot(dump, dump, overwrite=True)
    assert dump.read_text() == level(1, "EMPTY")


def test_command_writes_beside_the_dump_and_speaks_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = write(tmp_path / "x.dot", level(1, "EMPTY"))
    assert main(["import", str(dump), "--name", "mine"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert str(tmp_path / "x.gviz") in err
    with Recording(tmp_path / "x.gviz") as recording:
        assert recording.fetch_runs()[0].name == "mine"


def test_command_refuses_what_is_no_dump(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = write(tmp_path / "x.dot", "")
    assert main(["import", str(dump), "-o", str(tmp_path / "a.gviz")]) == 1
    assert "line 1: the text is empty" in capsys.readouterr().err
