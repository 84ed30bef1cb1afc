"""The DOT dialect of AMD's HIP runtime, which prints what CUDA's driver prints in other words."""

from pathlib import Path

import pytest
from places import TESTS

from gviz.cuda.node_type import NodeType
from gviz.formats.dot.importer import import_dot
from gviz.formats.dot.model import DotGraph, DotNode
from gviz.formats.dot.parse import parse_dot
from gviz.recording.reader import Recording

#: Written by hand as hip_graph_internal.hpp of ROCm's clr prints it; no real dump was at hand.
DUMP = TESTS / "golden" / "hip" / "graph_verbose.dot"


@pytest.fixture
def graphs() -> tuple[DotGraph, ...]:
    return parse_dot(DUMP.read_text())


def node(graphs: tuple[DotGraph, ...], node_id: int) -> DotNode:
    return next(n for g in graphs for n in g.nodes if n.node_id == node_id)


def test_levels_and_edges_without_semicolons(graphs: tuple[DotGraph, ...]) -> None:
    assert [g.name for g in graphs] == ["graph_1", "graph_2"]
    pairs = [(e.from_node, e.to_node) for e in graphs[0].edges]
    assert pairs == [(4, 5), (5, 6), (5, 7), (6, 8), (4, 10)]
    assert node(graphs, 8).child_graph == 2


@pytest.mark.parametrize("node_id", [5, 6])
def test_kernels_with_and_without_threads_beyond_whole_blocks(
    node_id: int, graphs: tuple[DotGraph, ...]
) -> None:
    kernel = node(graphs, node_id).kernel
    assert kernel is not None
    assert kernel.mangled_name == "_Z6vectorPfi"
    assert (kernel.grid_dim, kernel.block_dim) == ((4, 2, 1), (256, 1, 1))
    assert kernel.shared_mem_bytes == 64


def test_plain_kernels(graphs: tuple[DotGraph, ...]) -> None:
    plain = node(graphs, 9)
    assert plain.type == NodeType.KERNEL
    assert plain.kernel is not None
    assert plain.kernel.mangled_name == "_Z3addPf"


def test_copies_and_sets(graphs: tuple[DotGraph, ...]) -> None:
    copy, fill = node(graphs, 4).memcpy, node(graphs, 10).memset
    assert copy is not None
    assert (copy.direction, copy.bytes) == ("HtoD", 4096)
    assert fill is not None
    assert (fill.value, fill.bytes, fill.address) == (7, 4 * 16 * 2 * 3, 0x7F1000000000)


def test_the_style_that_is_left_open() -> None:
    text = DUMP.read_text().replace('style="bold"shape="record"', 'style="bold\nshape="record"')
    assert parse_dot(text)[0].nodes == parse_dot(DUMP.read_text())[0].nodes


def test_names_as_newer_releases_print_them() -> None:
    # Demangled names (rocm-systems, 2026), and more of what DEBUG_HIP_GRAPH_DOT_PRINT adds.
    name = "void ns::vector<float, (int)4>(float*, std::pair<int, int>)"
    text = (
        DUMP.read_text()
        .replace("_Z6vectorPfi", name)
        .replace("StreamId:0\n", "StreamId:0\nSegmentId:-1\n")
        .replace("SignalIsRequired: false", "SignalIsRequired: false\nDeviceId:0")
    )
    assert "SegmentId" in text
    assert "DeviceId" in text
    before, after = parse_dot(DUMP.read_text()), parse_dot(text)
    assert [graph.edges for graph in after] == [graph.edges for graph in before]
    for old, new in zip(before[0].nodes, after[0].nodes, strict=True):
        assert (new.node_id, new.type, new.memcpy, new.memset) == (
            old.node_id,
            old.type,
            old.memcpy,
            old.memset,
        )
    kernel, old_kernel = node(after, 5).kernel, node(before, 5).kernel
    assert kernel is not None
    assert old_kernel is not None
    assert kernel.mangled_name == name
    assert (kernel.grid_dim, kernel.block_dim) == (old_kernel.grid_dim, old_kernel.block_dim)
    assert kernel.shared_mem_bytes == old_kernel.shared_mem_bytes


def test_import(tmp_path: Path) -> None:
    with Recording(import_dot(DUMP, tmp_path / "hip.gviz")) as recording:
        assert [g.origin for g in recording.fetch_graphs()] == ["dot", "body"]
        assert recording.fetch_node(1, 5).name == "vector"
