"""``gviz node``: what is recorded of one node, as text and as JSON."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from places import ROOT

from gviz.recording import Recording

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]

DECODE = ROOT / "assets" / "recordings" / "decode_step.gviz"
NESTED = ROOT / "assets" / "recordings" / "nested_torch.gviz"


def test_json_has_the_rows_of_the_node(gviz_here: Gviz) -> None:
    found = json.loads(gviz_here("node", DECODE, "1", "--json").stdout)
    with Recording(DECODE) as recording:
        node = recording.fetch_node(1, 1)
        times = recording.fetch_statistics_of((1, 1))
        arguments = recording.fetch_arguments(1, 1)
        edges = recording.fetch_edges(recording.fetch_graph(1).topology_id or 0)
    assert found["node_version"] == 1
    assert (found["kind"], found["node"]["name"]) == ("KERNEL", node.name)
    assert times is not None
    assert found["statistics"]["median_ns"] == times.median_ns
    assert [x["value"] for x in found["arguments"]] == [x.value.hex() for x in arguments]
    assert found["signature"] == "nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_NNT(1.68 KiB)"
    assert [x["node_id"] for x in found["dependents"]] == edges.to_node[
        edges.from_node == 1
    ].tolist()
    assert [x["node_id"] for x in found["dependencies"]] == [0]


def test_text_says_time_shape_origin_and_neighbours(gviz_here: Gviz) -> None:
    lines = gviz_here("node", DECODE, "1").stdout.splitlines()
    assert lines[0] == "Node 1 of graph 1 (decode_step.py:106 main): GEMM f16 nnt 64x8 4x1"
    text = " ".join(" ".join(lines).split())
    assert "It takes 4.13 µs (median of 24 executions; 5th to 95th percentile 4.06 µs to" in text
    assert "KERNEL: nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_NNT." in text
    assert "Grid 4 × 4 × 1; block 384 × 1 × 1; dynamic shared memory 164,308 bytes" in text
    assert "NVTX: layer 0 › attention" in text
    assert "decode_step.py:56 Layer.attention" in text
    assert "It waits for Node Name 0 layer norm f16" in text


def test_text_has_the_call_with_types_and_values(gviz_here: Gviz) -> None:
    text = " ".join(gviz_here("node", DECODE, "0").stdout.split())
    assert "norm_kernel<Half, float>(int = 1024, float = 1e-05, const half*, const half*" in text
    assert "2 const half* 8 0 B into 2.00 MiB at 0x7f13cf400000" in text
    assert "3 const half* 8 nullptr" in text


def test_node_without_time_says_why(gviz_here: Gviz) -> None:
    text = gviz_here("node", NESTED, "1").stdout
    assert "It has no time: its time is that of the nodes of its body." in text


def test_graph_must_be_named_where_there_are_several(
    gviz_here: Gviz, small_recording: Path
) -> None:
    lives = ROOT / "assets" / "recordings" / "graph_lives.gviz"
    done = gviz_here("node", lives, "0")
    assert done.returncode == 2
    assert done.stderr.startswith("gviz: give --graph: there are graphs 1 solve, 4 filter")
    assert gviz_here("node", lives, "0", "--graph", "solve").stdout.startswith("Node 0 of graph 1")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [(["999"], "has no node 999 in graph 1"), (["0", "--graph", "7"], "has no graph 7")],
)
def test_what_is_not_there_is_said(
    gviz_here: Gviz, small_recording: Path, arguments: list[str], why: str
) -> None:
    done = gviz_here("node", small_recording, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert why in done.stderr


def test_name_in_place_of_a_number_is_answered_with_the_way_to_numbers(
    gviz_here: Gviz, small_recording: Path
) -> None:
    done = gviz_here("node", small_recording, "gemm")
    assert done.returncode == 2
    assert "'gemm' is no number of a node; 'gviz query FILE" in done.stderr
    assert gviz_here("node", NESTED, "#1").stdout.startswith("Node 1 of ")
