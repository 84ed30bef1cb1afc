"""Nodes by the names that edits give them."""

from __future__ import annotations

from pathlib import Path

import pytest
from places import ROOT
from planned_recordings import Plan, Planned, chain_edges, in_a_row, subject_of

from gviz.analysis import GraphSubject
from gviz.cuda import NodeType
from gviz.errors import UsageError
from gviz.recording import Recording
from gviz.whatif import NodeNames

GEMM = "sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize64x64x8_stage3"


@pytest.fixture
def names(tmp_path: Path) -> NodeNames:
    nodes = [
        Planned(name, 0, 5_000)
        for name in (GEMM, "flash_fwd_kernel", "mine", GEMM, "flash_fwd_kernel", "other")
    ]
    nodes[2].kind = NodeType.MEMSET
    return NodeNames(subject_of(Plan(in_a_row(*nodes), chain_edges(6)).write(tmp_path / "a.gviz")))


@pytest.mark.parametrize(
    ("pattern", "nodes"),
    [
        ("GEMM", [0, 3]),
        ("gemm*", [0, 3]),
        ("*xmma_gemm*", [0, 3]),
        ("attention", [1, 4]),
        ("memset", [2]),
        ("oth?r", [5]),
        ("2", [2]),
        ("#4", [4]),
        ("4,0-2", [0, 1, 2, 4]),
        ("*", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_pattern_finds_its_nodes(names: NodeNames, pattern: str, nodes: list[int]) -> None:
    assert names.find(pattern).tolist() == nodes


def test_layer_is_found_by_its_name(tmp_path: Path) -> None:
    block = [("norm", 2_000), ("product", 5_000), ("act", 1_000)]
    nodes = [Planned(name, 0, ns) for _ in range(4) for name, ns in block]
    plan = Plan(in_a_row(*nodes), chain_edges(12))
    names = NodeNames(subject_of(plan.write(tmp_path / "a.gviz")))
    assert names.find("layer 2").tolist() == [6, 7, 8]


def test_range_is_found_at_any_depth_and_a_misspelt_one_is_named() -> None:
    with Recording(ROOT / "assets" / "recordings" / "decode_step_h200.gviz") as recording:
        names = NodeNames(GraphSubject(recording, recording.fetch_graph(1)))
        inside, layer = names.find("Attention"), names.find("layer 3")
        assert (len(inside), len(layer)) == (192, 20)
        # Of each layer 12 of the 20 nodes.
        assert len(set(inside.tolist()) & set(layer.tolist())) == 12
        with pytest.raises(UsageError, match="did you mean mlp"):
            names.find("mpl")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("attentio", "did you mean attention"),
        ("99", "no node of the graph matches '99'"),
        ("1,98-99", "no node of the graph matches '98-99'"),
    ],
)
def test_nothing_found_is_an_error_with_the_nearest_name(
    names: NodeNames, pattern: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        names.find(pattern)
