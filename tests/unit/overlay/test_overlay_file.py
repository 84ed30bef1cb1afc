"""Files of overlays are checked before a page gets them, by the cases that the page has too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

from gviz.cli.command_line import main
from gviz.errors import GvizError, UsageError
from gviz.overlay import read_overlay, read_overlays

CASES = json.loads((Path(__file__).parents[2] / "overlays.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["title"])
def test_a_file_is_taken_or_refused_as_the_page_does(tmp_path: Path, case: dict[str, Any]) -> None:
    path = tmp_path / case["file"]
    path.write_bytes(case["text"].encode())
    if "error" in case:
        with pytest.raises(GvizError) as raised:
            read_overlay(path)
        assert str(raised.value) == f"{path}: {case['error']}"
    else:
        found = read_overlay(path)
        assert (found.name, found.text) == (case["file"], case["text"].encode())


def test_parquet_becomes_csv(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    path = tmp_path / "counters.parquet"
    polars.DataFrame({"node": [1, 2], "note": ['say "hi"', None]}).write_parquet(path)
    assert read_overlay(path).text == b'node,note\n1,"say ""hi"""\n2,\n'
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(GvizError, match="cannot be read as Parquet"):
        read_overlay(path)


def test_more_rows_than_are_taken_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text("node,x\n" + "1,2\n" * 1_000_001)
    with pytest.raises(GvizError, match="more than 1,000,000 rows"):
        read_overlay(path)


def test_what_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with pytest.raises(GvizError, match="cannot read the overlay"):
        read_overlay(path)
    path.write_bytes("node,x\n1,2\n".encode("utf-16"))
    with pytest.raises(GvizError, match="UTF-8"):
        read_overlay(path)


@pytest.mark.parametrize("value", ["[" * 100_000, "9" * 5_000])
def test_json_that_python_does_not_read_is_refused(tmp_path: Path, value: str) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"node": ' + value)
    with pytest.raises(GvizError, match="no JSON that can be read"):
        read_overlay(path)


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "a.csv" for folder in ("x", "y")]
    for path in paths:
        path.parent.mkdir()
        path.write_text("node,x\n1,2\n")
    with pytest.raises(UsageError, match="two overlays are called a"):
        read_overlays(paths)
    about = [Path(f"{name}={path}") for name, path in zip(("one", "two"), paths, strict=True)]
    assert [(x.name, x.file) for x in read_overlays(about)] == [("a.csv", "one"), ("a.csv", "two")]
    with pytest.raises(UsageError, match="two overlays are called a"):
        read_overlays([paths[0], about[1]])
    graphs = [Path(f"one:{n}={path}") for n, path in zip((4, 6), paths, strict=True)]
    assert [(x.file, x.graph_id) for x in read_overlays(graphs)] == [("one", 4), ("one", 6)]
    with pytest.raises(UsageError, match="two overlays are called a"):
        read_overlays([graphs[0], Path(f"one={paths[1]}")])
    # A file may have the sign in its name.
    odd = tmp_path / "x=1.csv"
    odd.write_text("node,x\n1,2\n")
    assert [(x.name, x.file) for x in read_overlays([odd])] == [("x=1.csv", None)]


def test_commands_say_what_is_wrong_with_an_overlay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("node,x\n1\n")
    recording = ROOT / "assets" / "recordings" / "cupy_pipeline.gviz"
    view = ["view", "--no-browser", "--port", "0", str(recording), "--overlay", str(path)]
    assert main(view) == 1
    assert "a.csv: line 2: 1 cells, where the header in line 1 has 2" in capsys.readouterr().err
    assert main(["export", str(recording), "--overlay", str(path)]) == 2
    assert "--overlay is for html" in capsys.readouterr().err
