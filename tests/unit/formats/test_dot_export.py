"""Exported DOT: readable by pydot and by Graphviz, with every node, edge and body."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pydot
import pytest
from places import TESTS
from recordings import fork_join_shape, write_recording

from gviz.cli.command_line import main
from gviz.errors import RecordingError
from gviz.formats.dot.export import to_dot
from gviz.formats.dot.importer import import_dot
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter
from gviz.system import Progress

GOLDEN = TESTS / "golden" / "dot"
DOT_PROGRAM = shutil.which("dot")
#: pydot's parser, which only these tests use, calls old names of pyparsing.
pytestmark = pytest.mark.filterwarnings("ignore:.* deprecated - use :DeprecationWarning")


def parse(text: str) -> pydot.Dot:
    drawings = pydot.graph_from_dot_data(text)
    assert drawings is not None
    (drawing,) = drawings
    return drawing


def all_nodes(level: pydot.Graph) -> dict[str, pydot.Node]:
    """Return the nodes of a drawing, clusters included, by name."""
    found = {n.get_name(): n for n in level.get_nodes() if n.get_name() not in ("node", "edge")}
    for inner in level.get_subgraphs():
        found |= all_nodes(inner)
    return found


def all_edges(level: pydot.Graph) -> set[tuple[str, str]]:
    found = {(str(e.get_source()), str(e.get_destination())) for e in level.get_edges()}
    for inner in level.get_subgraphs():
        found |= all_edges(inner)
    return found


def write_names(path: Path, names: list[str], edges: list[tuple[int, ...]] = []) -> Path:  # noqa: B006
    """Write a recording of one graph whose nodes have the given names."""
    with RecordingWriter(path) as writer:
        writer.insert(rows.Run(run_id=1, name="r", state="completed", source="import"))
        writer.insert(rows.Topology(topology_id=1, hash="", node_count=0, edge_count=0))
        writer.insert_tuples(rows.Edge, [(1, *edge) for edge in edges])
        writer.insert(rows.Graph(graph_id=1, run_id=1, name="g", origin="dot", topology_id=1))
        for i, name in enumerate(names):
            writer.insert(rows.Node(graph_id=1, node_id=i, exec_node_id=None, type=0, name=name))
    return path


@pytest.mark.parametrize("dump", sorted(GOLDEN.glob("*.dot")), ids=lambda path: path.stem)
def test_export_of_an_imported_dump_has_its_nodes_and_edges(dump: Path, tmp_path: Path) -> None:
    with Recording(import_dot(dump, tmp_path / "a.gviz")) as recording:
        drawing = parse(to_dot(recording, 1))
        graphs = recording.fetch_graphs()
        nodes = {
            f"graph_{g.graph_id}_node_{n.node_id}"
            for g in graphs
            for n in recording.fetch_nodes(g.graph_id)
        }
        edges = set()
        for g in graphs:
            assert g.topology_id is not None
            found = recording.fetch_edges(g.topology_id)
            edges |= {
                (f"graph_{g.graph_id}_node_{a}", f"graph_{g.graph_id}_node_{b}")
                for a, b in zip(found.from_node, found.to_node, strict=True)
            }
    drawn = all_nodes(drawing)
    assert set(drawn) == (nodes or {"graph_1_node_none"})
    bodies = sum(g.parent_graph_id is not None for g in graphs)
    assert edges <= all_edges(drawing)
    assert len(all_edges(drawing)) == len(edges) + bodies


@pytest.mark.skipif(DOT_PROGRAM is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("dump", sorted(GOLDEN.glob("*.dot")), ids=lambda path: path.stem)
def test_graphviz_reads_the_export_without_a_word(dump: Path, tmp_path: Path) -> None:
    with Recording(import_dot(dump, tmp_path / "a.gviz")) as recording:
        text = to_dot(recording, 1)
    assert DOT_PROGRAM is not None
    done = subprocess.run(
        [DOT_PROGRAM, "-Tplain"], input=text, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    drawn = [line for line in done.stdout.splitlines() if line.startswith("node ")]
    assert len(drawn) == len(all_nodes(parse(text)))


HOSTILE = [
    'a "quoted" name',
    "back\\slash \\N \\l",
    "<b>not html</b>",
    "{record | fields}",
    "amp & &lt; &amp;",
    "line\nbreak",
    "tab\tbell\x07",
    "semicolon; ] } -> [",
    "ünïcode 核",
    "",
    "node",
    "x" * 500,
]


def test_hostile_names_survive_pydot(tmp_path: Path) -> None:
    path = write_names(tmp_path / "a.gviz", HOSTILE, [(i, i + 1, 0, 0, 0) for i in range(11)])
    with Recording(path) as recording:
        drawing = parse(to_dot(recording, 1))
    assert len(all_nodes(drawing)) == len(HOSTILE)
    assert len(all_edges(drawing)) == 11


@pytest.mark.skipif(DOT_PROGRAM is None, reason="Graphviz is not installed")
def test_graphviz_shows_hostile_names_as_they_are(tmp_path: Path) -> None:
    with Recording(write_names(tmp_path / "a.gviz", HOSTILE[:5])) as recording:
        text = to_dot(recording, 1)
    assert DOT_PROGRAM is not None
    svg = subprocess.run(
        [DOT_PROGRAM, "-Tsvg"], input=text, capture_output=True, text=True, check=True, timeout=120
    ).stdout
    for shown in (
        "a &quot;quoted&quot; name",
        "back\\slash \\N \\l",
        "&lt;b&gt;not html&lt;/b&gt;",
        "{record | fields}",
        "amp &amp; &amp;lt; &amp;amp;",
    ):
        assert f">{shown}</text>" in svg.replace("&#45;", "-")


def test_programmatic_edge_is_dashed(tmp_path: Path) -> None:
    path = write_names(tmp_path / "a.gviz", ["a", "b", "c"], [(0, 1, 1, 1, 0), (1, 2, 0, 2, 0)])
    with Recording(path) as recording:
        edges = {e.get_source(): e for e in parse(to_dot(recording, 1)).get_edges()}
    assert edges["graph_1_node_0"].get("style") == "dashed"
    assert edges["graph_1_node_1"].get("style") == "dotted"


def test_nodes_are_coloured_by_their_median(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "a.gviz", fork_join_shape())
    with Recording(path) as recording:
        nodes = all_nodes(parse(to_dot(recording, 1)))
        medians = {s.node_id: s.median_ns for s in recording.fetch_statistics(1)}
        ids = {n.exec_node_id: n.node_id for n in recording.fetch_nodes(1)}
    slowest = nodes[f"graph_1_node_{ids[max(medians, key=medians.__getitem__)]}"]
    fastest = nodes[f"graph_1_node_{ids[min(medians, key=medians.__getitem__)]}"]
    untimed = [n for e, n in ids.items() if e not in medians]
    assert slowest.get("fillcolor") == '"#620045"'
    assert slowest.get("fontcolor") == "white"
    assert fastest.get("fillcolor") not in (None, slowest.get("fillcolor"))
    assert fastest.get("fontcolor") == "black"
    assert untimed
    assert all(nodes[f"graph_1_node_{n}"].get("fillcolor") is None for n in untimed)


def test_body_can_be_drawn_by_itself(tmp_path: Path) -> None:
    with Recording(import_dot(GOLDEN / "nested_verbose.dot", tmp_path / "a.gviz")) as recording:
        drawing = parse(to_dot(recording, 6))
    assert set(all_nodes(drawing)) == {"graph_6_node_0", "graph_6_node_1", "graph_8_node_0"}


def test_unknown_graph_is_refused(tmp_path: Path) -> None:
    with (
        Recording(import_dot(GOLDEN / "edges_plain.dot", tmp_path / "a.gviz")) as recording,
        pytest.raises(RecordingError, match="no graph 99"),
    ):
        to_dot(recording, 99)


def test_command_writes_every_top_level_graph_to_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [(GOLDEN / f"{name}.dot").read_text() for name in ("edges_plain", "nested_plain")]
    (tmp_path / "two.dot").write_text("".join(texts))
    import_dot(tmp_path / "two.dot", tmp_path / "a.gviz")
    assert main(["export", str(tmp_path / "a.gviz"), "--format", "dot"]) == 0
    out, err = capsys.readouterr()
    assert [d.get_name() for d in pydot.graph_from_dot_data(out) or []] == ["graph_1", "graph_2"]
    assert err == ""


def test_command_writes_one_graph_to_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_dot(GOLDEN / "edges_plain.dot", tmp_path / "a.gviz")
    output = tmp_path / "out.dot"
    assert main(["export", str(tmp_path / "a.gviz"), "--graph", "1", "-o", str(output)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert str(output) in err
    assert len(all_nodes(parse(output.read_text()))) == 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--graph", "99"], "no graph 99"), (["-o", "/nowhere/x.dot"], "cannot write")],
)
def test_command_refuses_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    path = import_dot(GOLDEN / "edges_plain.dot", tmp_path / "a.gviz")
    assert main(["export", str(path), *arguments]) == 1
    assert words in capsys.readouterr().err


def test_drawing_tells_its_shares(tmp_path: Path) -> None:
    shares: list[float] = []
    with Recording(write_names(tmp_path / "x.gviz", ["a", "b"])) as recording:
        to_dot(recording, 1, Progress(lambda share, text: shares.append(share)))
    assert shares == sorted(shares)
    assert len(shares) == 3
    assert shares[-1] == pytest.approx(1.0)
