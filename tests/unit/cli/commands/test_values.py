"""``gviz values``: the data of a graph and of a node, and what it says where there is none."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from planned_recordings import Plan, Planned
from valued_recordings import Ran, keep_values, write_values

from gviz.cli.command_line import main

RAN = (Ran("f", "CAB"), Ran("g", "DCA", (math.nan, 1.0, 1.0, 1.0)))


def test_graph_says_what_may_be_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_values(tmp_path / "x.gviz", RAN)
    assert main(["values", str(path)]) == 0
    text = capsys.readouterr().out
    assert "1 finding, 0 suspicions: 6 ranges of 2 nodes read." in text
    assert "Finding (nan): Node 1 (g) outputs 1 NaN of 4 elements" in text


def test_node_has_what_it_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_values(tmp_path / "x.gviz", RAN)
    assert main(["values", str(path), "1"]) == 0
    text = capsys.readouterr().out
    assert "3 ranges of memory, of which it changed 1" in text
    assert "at most 16 B of float" in text
    assert "1 const float*: written by 0 f; no later node is given it from here." in text


def test_node_has_the_contents_that_were_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_values(tmp_path / "x.gviz", RAN)
    assert main(["values", str(path), "0"]) == 0
    assert "They were not kept: 'gviz run --dump PATTERN' does that." in capsys.readouterr().out
    kept = keep_values(path, (1.0, 1.0, 1.0, 1.0))
    assert main(["values", str(path), "0"]) == 0
    text = "".join(capsys.readouterr().out.split())
    assert f"0float*after:{kept}" in text
    assert "3othersnotkept." in text
    assert main(["values", str(path), "0", "--json"]) == 0
    memory = json.loads(capsys.readouterr().out)["memory"]
    assert (memory[0]["before"]["contents"], memory[0]["after"]["contents"]) == (None, str(kept))


def test_json_of_graph_and_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_values(tmp_path / "x.gviz", RAN)
    assert main(["values", str(path), "--json"]) == 0
    graph = json.loads(capsys.readouterr().out)
    assert next(iter(graph)) == "values_version"
    assert [x["kind"] for x in graph["findings"]] == ["nan"]
    assert graph["how"]["GraphData"]["findings"] == "derived"
    assert main(["values", str(path), "1", "--json"]) == 0
    node = json.loads(capsys.readouterr().out)
    assert node["memory"][0]["after"]["nan_count"] == 1
    assert len(node["memory"][0]["before"]["hash"]) == 16


@pytest.mark.parametrize("arguments", [[], ["0"]], ids=["graph", "node"])
def test_recording_without_values_says_how_to_record_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    path = Plan([Planned("f", duration_ns=1_000)]).write(tmp_path / "x.gviz")
    assert main(["values", str(path), *arguments]) == 0
    assert "record with 'gviz run --values PROGRAM'" in " ".join(capsys.readouterr().out.split())
    assert main(["values", str(path), *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["not_computed"].startswith("values are read on request")


def test_unknown_node_names_the_known_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_values(tmp_path / "x.gviz", RAN)
    assert main(["values", str(path), "7"]) != 0
    assert "no node 7: they are numbered from 0 to 1" in capsys.readouterr().err


def test_diff_names_the_first_node_that_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = write_values(tmp_path / "a.gviz", (Ran("f", "CAB"), Ran("g", "DCA")))
    paths = [str(plain), str(write_values(tmp_path / "b.gviz", RAN))]
    assert main(["diff", "--values", *paths]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "The first node that outputs something else is node 1 g: argument 0 different" in text
    assert "all that it is given is bit-equal" in text
    assert "different (float: within" in text
    assert "2^-17)" in text
    assert main(["diff", "--values", "--json", *paths]) == 0
    (graph,) = json.loads(capsys.readouterr().out)["graphs"]
    assert graph["first"]["outputs"][0]["before"]["node_id"] == 1
    assert main(["diff", "--values", str(plain), str(plain)]) == 0
    assert "All that nodes left is bit-equal (2 ranges)" in capsys.readouterr().out


def test_eager_says_where_a_launch_parts_from_stream_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    eager = (RAN[0], Ran("g", "DCA", (2.0, 1.0, 1.0, 1.0)))
    path = write_values(tmp_path / "x.gviz", RAN, eager=eager)
    assert main(["values", str(path), "--eager"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "by stream calls (before), as a graph (after)" in text
    assert "something else is node 1 g: argument 0 different; all that it is given is" in text
    assert main(["values", str(path), "--eager", "--json"]) == 0
    (graph,) = json.loads(capsys.readouterr().out)["graphs"]
    assert graph["first"]["outputs"][0]["before"]["node_id"] == 1
    assert (graph["equal_count"], graph["different_count"]) == (1, 1)
    # What the graph itself left is not mixed with it.
    assert main(["values", str(path)]) == 0
    assert "1 finding, 0 suspicions: 6 ranges of 2 nodes read." in capsys.readouterr().out


def test_eager_that_was_not_read_says_how_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_values(tmp_path / "x.gviz", RAN)
    assert main(["values", str(path), "--eager"]) == 0
    assert "gviz.compare_stream(work, values=True)" in capsys.readouterr().out
    assert main(["values", str(path), "1", "--eager"]) == 2
    assert "give no number of a node" in capsys.readouterr().err
