"""``gviz export``: which graphs, where to, and what it refuses."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from recordings import write_loop_recording
from saved_file import SavedFile
from trace_checker import read_trace

from gviz.cli.command_line import main
from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    """A recording of graph 1, 'while loop', with its body, graph 2."""
    return write_loop_recording(tmp_path / "loop.gviz")


def write_graphs(path: Path, names: list[str]) -> Path:
    """Write a recording of graphs of one node each."""
    with RecordingWriter(path) as writer:
        writer.insert(rows.Run(run_id=1, name="r", state="completed", source="import"))
        for graph_id, name in enumerate(names, start=1):
            writer.insert(rows.Graph(graph_id=graph_id, run_id=1, name=name, origin="capture"))
            node = rows.Node(graph_id=graph_id, node_id=1, exec_node_id=1, type=0, name="k")
            writer.insert(node)
    return path


def test_html_goes_beside_the_recording(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(loop), "--html"]) == 0
    out, err = capsys.readouterr()
    output = loop.with_suffix(".html")
    assert out == ""
    assert f"wrote {output}, " in err
    assert "2 graphs, 5 nodes, the one recorded launch; open it in a browser" in err
    assert SavedFile.read(output).title == "while loop – gviz"
    assert [path.name for path in loop.parent.iterdir() if path.suffix == ".part"] == []


def test_html_flag_is_a_format(loop: Path) -> None:
    for arguments in (["--html"], ["--format", "html"]):
        output = loop.with_name(f"{len(arguments)}.html")
        assert main(["export", str(loop), *arguments, "-o", str(output)]) == 0
    assert loop.with_name("1.html").read_bytes() == loop.with_name("2.html").read_bytes()


@pytest.mark.parametrize("kind", ["dot", "html"])
def test_existing_file_is_kept_unless_reported_otherwise(
    loop: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    output = loop.with_name("there")
    output.write_text("mine")
    command = ["export", str(loop), "--format", kind, "-o", str(output)]
    assert main(command) == 1
    assert output.read_text() == "mine"
    assert "exists; choose another name or give --overwrite" in capsys.readouterr().err
    assert main([*command, "--overwrite"]) == 0
    assert output.read_text() != "mine"


@pytest.mark.parametrize("kind", ["dot", "html", "perfetto", "svg", "csv", "parquet"])
def test_what_is_written_is_for_its_owner_alone_unless_wished(
    loop: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _modes(loop.parent) == {0o600}, "the recording"
    monkeypatch.setenv("GVIZ_MODE", "")  # so that what --mode sets goes with the test
    wide = loop.with_name("wide.json")
    command = ["export", str(loop), "--format", kind, "-o"]
    assert main([*command, str(wide), "--mode", "0640"]) == 0
    found = [wide] if wide.is_file() else list(wide.iterdir())
    assert {stat.S_IMODE(path.stat().st_mode) for path in found} == {0o640}
    assert stat.S_IMODE(wide.stat().st_mode) == (0o640 if wide.is_file() else 0o750)
    monkeypatch.setenv("GVIZ_MODE", "")
    own = loop.with_name("own")
    own.mkdir()
    assert main([*command, str(own / "there.json")]) == 0
    assert _modes(own) == {0o600}


def _modes(folder: Path) -> set[int]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {stat.S_IMODE(path.stat().st_mode) for path in files}


def test_mode_in_the_configuration_file_is_used(
    loop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(loop.parent)
    monkeypatch.setenv("GVIZ_MODE", "")
    config = Path("gviz.toml")
    config.write_text('[files]\nmode = "0644"\n')
    assert main(["export", str(loop), "--format", "dot", "-o", "a.dot"]) == 0
    assert stat.S_IMODE(Path("a.dot").stat().st_mode) == 0o644
    for text, why in (("mode = 420", "[files] may hold mode"), ('mode = "rw"', "octal digits")):
        monkeypatch.setenv("GVIZ_MODE", "")
        config.write_text(f"[files]\n{text}\n")
        assert main(["export", str(loop), "--format", "dot", "-o", "b.dot"]) != 0
        assert why in capsys.readouterr().err
        assert not Path("b.dot").exists()


@pytest.mark.parametrize(("wanted", "found"), [("2", [2]), ("while loop", [1, 2])])
def test_graph_is_found_by_number_or_name(loop: Path, wanted: str, found: list[int]) -> None:
    assert main(["export", str(loop), "--html", "--graph", wanted]) == 0
    graphs = SavedFile.read(loop.with_suffix(".html")).json("file")["graphs"]
    assert [graph["id"] for graph in graphs] == found


def test_number_goes_before_a_name_that_is_one(tmp_path: Path) -> None:
    path = write_graphs(tmp_path / "r.gviz", ["2", "x"])
    assert main(["export", str(path), "--html", "--graph", "2"]) == 0
    graphs = SavedFile.read(tmp_path / "r.html").json("file")["graphs"]
    assert graphs == [{"id": 2, "name": "x"}]


def test_several_graphs_are_written_once_each(tmp_path: Path) -> None:
    path = write_graphs(tmp_path / "r.gviz", ["a", "b", "c"])
    chosen = ["--graph", "c", "--graph", "1", "--graph", "3"]
    assert main(["export", str(path), "--html", *chosen]) == 0
    graphs = SavedFile.read(tmp_path / "r.html").json("file")["graphs"]
    assert [graph["name"] for graph in graphs] == ["c", "a"]
    assert main(["export", str(path), *chosen, "-o", str(tmp_path / "r.dot")]) == 0
    assert (tmp_path / "r.dot").read_text().count("digraph") == 2


def test_names_that_graphs_share_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_graphs(tmp_path / "r.gviz", ["a", "b", "a"])
    assert main(["export", str(path), "--html", "--graph", "a"]) == 1
    assert "graphs 1, 3 are called 'a'; give one of the numbers" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--graph", "while"], 1, "no graph is called 'while'; did you mean while loop?"),
        (["--launch", "9"], 1, "there is no launch #9 with node times; there are #0"),
        (["--launch", "first"], 2, "--launch first: give a launch's number, 'median' or 'all'"),
        (["-o", "/nowhere/x.html"], 1, "there is no directory /nowhere; create it"),
    ],
)
def test_html_refuses_with_a_sentence(
    loop: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    words: str,
) -> None:
    assert main(["export", str(loop), "--html", *arguments]) == code
    assert words in capsys.readouterr().err
    assert not loop.with_suffix(".html").exists()


def test_state_is_of_html_alone(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(loop), "--state", "node=1"]) == 2
    assert "--state is for html" in capsys.readouterr().err


def test_launch_is_nothing_for_dot(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(loop), "--launch", "0"]) == 2
    assert "--launch is for html, perfetto, svg" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["dot", "html"])
def test_recording_without_graphs_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    path = write_graphs(tmp_path / "r.gviz", [])
    assert main(["export", str(path), "--format", kind]) == 1
    assert "has no graph; 'gviz info' says why" in capsys.readouterr().err


def test_what_is_no_recording_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.gviz").write_text("no")
    assert main(["export", str(tmp_path / "r.gviz"), "--html"]) == 1
    assert "r.gviz" in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()


def test_recording_is_only_read(loop: Path) -> None:
    before = loop.read_bytes()
    assert main(["export", str(loop), "--html"]) == 0
    assert loop.read_bytes() == before
    with Recording(loop) as recording:
        assert len(recording.fetch_graphs()) == 2


# -- trace events -------------------------------------------------------------------------


def test_perfetto_goes_beside_the_recording(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(loop), "--format", "perfetto"]) == 0
    output = loop.with_suffix(".json.gz")
    assert read_trace(output).problems == []
    err = capsys.readouterr().err
    assert f"wrote {output}, " in err
    assert "1 launch, " in err
    assert "open it in ui.perfetto.dev" in err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--launch", "median"], 2, "--launch median: give a launch's number or 'all'"),
        (["--launch", "9"], 1, "no launch #9 of these graphs has node times"),
        (["-o", "x.perfetto-trace"], 2, "name a file that ends with .json or .json.gz"),
        (["--graph", "while"], 1, "no graph is called 'while'; did you mean while loop?"),
        (["-o", "/nowhere/x.json"], 1, "there is no directory /nowhere; create it"),
    ],
)
def test_perfetto_refuses_with_a_sentence(
    loop: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    assert main(["export", str(loop), "--format", "perfetto", *arguments]) == code
    assert words in capsys.readouterr().err
    assert [path.name for path in loop.parent.iterdir()] == [loop.name]


# -- tables -------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_go_to_a_folder(loop: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert main(["export", str(loop), "--format", form]) == 0
    folder = loop.with_name(f"loop-{form}")
    names = {path.name for path in folder.iterdir()}
    assert {f"node.{form}", f"span.{form}", f"view_nodes.{form}"} <= names
    assert f"wrote {folder}, " in capsys.readouterr().err
    assert main(["export", str(loop), "--format", form]) == 1
    assert "exists; choose another folder or give --overwrite" in capsys.readouterr().err
    assert main(["export", str(loop), "--format", form, "--overwrite"]) == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--graph", "1"], 2, "--graph is not for csv: it writes the whole recording"),
        (["--launch", "1"], 2, "--launch is for html, perfetto, svg; csv has no launches"),
        (["-o", "/nowhere/x"], 1, "there is no directory /nowhere; create it"),
    ],
)
def test_tables_refuse_with_a_sentence(
    loop: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    assert main(["export", str(loop), "--format", "csv", *arguments]) == code
    assert words in capsys.readouterr().err


def test_folder_that_is_a_file_is_refused(loop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(loop), "--format", "csv", "-o", str(loop)]) == 1
    assert "it is a file; name a folder" in capsys.readouterr().err
