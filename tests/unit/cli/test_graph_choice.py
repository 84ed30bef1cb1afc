"""``--graph``: one meaning in all commands that read a recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gviz.cli.command_line import main
from gviz.cli.graph_choice import find_graph, is_graph, only_graph
from gviz.errors import RecordingError, UsageError
from gviz.recording import Recording, RecordingWriter, rows

NAMES = ["decode", "prefill", "decode", "3", "prefill [long]", "a:b"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "r.gviz"
    with RecordingWriter(path) as writer:
        writer.insert(rows.Run(run_id=1, name="r", state="completed", source="import"))
        for graph_id, name in enumerate(NAMES, start=1):
            writer.insert(rows.Graph(graph_id=graph_id, run_id=1, name=name, origin="capture"))
    return path


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("2", 2),
        ("prefill", 2),
        ("prefill [[]*", 5),
        ("3", 3),  # a number before the graph that is called so
        ("a*", 6),
        ("prefill [long]", 5),  # a name before the pattern that it also is
    ],
)
def test_a_graph_has_a_number_a_name_and_patterns(path: Path, wanted: str, found: int) -> None:
    with Recording(path) as recording:
        assert find_graph(recording, wanted) == found
        assert is_graph(recording, wanted)


@pytest.mark.parametrize(
    ("wanted", "stated"),
    [
        ("decode", "graphs 1, 3 are called 'decode'; give one of the numbers"),
        ("p*", "graphs 2, 5 are called 'p*'; give one of the numbers"),
        ("7", "r.gviz has no graph 7; 'gviz info' lists them"),
        ("Prefill", "no graph is called 'Prefill'; did you mean prefill?"),
        ("x", "no graph is called 'x'; 'gviz info' lists them"),
    ],
)
def test_none_and_several_are_refused(path: Path, wanted: str, stated: str) -> None:
    with Recording(path) as recording, pytest.raises(RecordingError) as refused:
        find_graph(recording, wanted)
    assert str(refused.value).endswith(stated)


@pytest.mark.parametrize("command", [["analyze", "{}"], ["diff", "{}", "{}"]])
@pytest.mark.parametrize("wanted", ["fork-join 3x4", "fork*"])
def test_commands_take_names(
    small_recording: Path, capsys: pytest.CaptureFixture[str], command: list[str], wanted: str
) -> None:
    line = [part.format(small_recording) for part in command]
    found = []
    for graph in ("1", wanted):
        assert main([*line, "--json", "--graph", graph]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]


@pytest.mark.parametrize("pair", ["fork-join 3x4:1", "1:fork*"])
def test_diff_takes_a_pair(
    small_recording: Path, capsys: pytest.CaptureFixture[str], pair: str
) -> None:
    line = ["diff", str(small_recording), str(small_recording), "--json", "--graph"]
    assert main([*line, "1:1"]) == 0
    by_number = json.loads(capsys.readouterr().out)
    assert main([*line, pair]) == 0
    assert json.loads(capsys.readouterr().out) == by_number


@pytest.mark.parametrize("command", [["analyze", "{}"], ["diff", "{}", "{}"]])
@pytest.mark.parametrize(
    ("wanted", "stated"), [("", "no graph is called ''"), ("9", "no graph 9;")]
)
def test_commands_refuse_what_is_not_there(
    small_recording: Path,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    wanted: str,
    stated: str,
) -> None:
    line = [part.format(small_recording) for part in command]
    assert main([*line, "--graph", wanted]) == 1
    assert stated in capsys.readouterr().err
    if command[0] == "diff":
        assert main([*line, "--graph", f"{wanted}:1"]) == 1
        assert stated in capsys.readouterr().err


def test_diff_takes_names_with_colons(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for pair in ("a:b", "a:b:6", "a:b:a:b"):
        assert main(["diff", str(path), str(path), "--graph", pair]) == 0
        assert "graph 6 → graph 6: a:b" in capsys.readouterr().out


def test_the_only_graph_must_be_the_only_one(path: Path, tmp_path: Path) -> None:
    with Recording(path) as recording, pytest.raises(UsageError, match="give --graph: there are"):
        only_graph(recording)
    empty = tmp_path / "empty.gviz"
    with RecordingWriter(empty) as writer:
        writer.insert(rows.Run(run_id=1, name="r", state="completed", source="import"))
    with Recording(empty) as recording, pytest.raises(RecordingError, match="has no graph; 'gviz"):
        only_graph(recording)
