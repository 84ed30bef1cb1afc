"""The reader of the driver's DOT dialect: kinds, oddities of the dialect, and damage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from places import TESTS

from gviz.cuda.node_type import NodeType
from gviz.errors import DotError
from gviz.formats.dot.model import (
    UNKNOWN_TYPE,
    DotConditional,
    DotEdge,
    DotKernel,
    DotMemcpy,
    DotMemory,
    DotMemset,
    DotNode,
)
from gviz.formats.dot.parse import parse_dot, read_dot

GOLDEN = TESTS / "golden" / "dot"
OWN_NODES = "".join(f'graph_1_node_{n} [gviz_type=5, gviz_name="n"];\n' for n in range(20))
OWN = f"digraph graph_1 {{\ngviz_format=1;\n{OWN_NODES}}}\n"


def golden_node(name: str, graph: int, node_id: int) -> DotNode:
    _, graphs = read_dot(GOLDEN / f"{name}.dot")
    (found,) = [n for g in graphs if g.number == graph for n in g.nodes if n.node_id == node_id]
    return found


def kernel(name: str, **values: object) -> DotKernel:
    base = DotKernel(name, (1, 1, 1), (32, 1, 1), 0, None, 0, 0)
    return replace(base, **values)  # type: ignore[arg-type]


#: Every kind of node in the recordings: (file, graph, node, what must be read of it).
KINDS: list[tuple[str, int, int, dict[str, object]]] = [
    (
        "node_types_verbose",
        1,
        0,
        {
            "type": NodeType.KERNEL,
            "kind": "KERNEL",
            "topo_id": 8,
            "handle": 0x1DC46440,
            "kernel": kernel("spin", function_handle=0x1DC1D040),
        },
    ),
    (
        "node_types_verbose",
        1,
        3,
        {
            "type": NodeType.MEMSET,
            "topo_id": 7,
            "memset": DotMemset(7, 4096, 0x7F59FFE00000, 4, 1024, 1, 0),
        },
    ),
    (
        "node_types_verbose",
        1,
        4,
        {
            "type": NodeType.MEMCPY,
            "topo_id": 5,
            "memcpy": DotMemcpy("DtoD", 4096, (4096, 1, 1), 0x7F59FFE00000, 0x7F59FFE01000),
        },
    ),
    (
        "node_types_verbose",
        1,
        5,
        {
            "type": NodeType.HOST,
            "topo_id": 4,
            "handle": 0x1DC48948,
            "host_function": 0x7F5C8671E010,
            "user_data": 0,
        },
    ),
    ("node_types_verbose", 1, 6, {"type": NodeType.EMPTY, "topo_id": 3, "handle": 0x1DC490B0}),
    ("node_types_verbose", 1, 7, {"type": NodeType.EVENT_RECORD, "event": 0x1DC42E40}),
    (
        "node_types_verbose",
        1,
        8,
        {"type": NodeType.WAIT_EVENT, "kind": "EVENT_WAIT", "event": 0x1DC42F70},
    ),
    (
        "node_types_verbose",
        1,
        9,
        {"type": NodeType.GRAPH, "kind": "GRAPH", "topo_id": 0, "child_graph": 3},
    ),
    (
        "mem_alloc_free_verbose",
        10,
        0,
        {"type": NodeType.MEM_ALLOC, "memory": DotMemory(0x302000000, 1048576)},
    ),
    (
        "mem_alloc_free_verbose",
        10,
        2,
        {"type": NodeType.MEM_FREE, "memory": DotMemory(0x302000000, None)},
    ),
    (
        "cupy_fork_join_verbose",
        1,
        4,
        {
            "type": NodeType.MEMCPY,
            "memcpy": DotMemcpy("DtoH", 262144, (262144, 1, 1), 0x7F14C7E70000, 0x7F14CCC00000),
        },
    ),
    (
        "conditional_if_verbose",
        13,
        1,
        {"type": NodeType.CONDITIONAL, "conditional": DotConditional("IF", 1, (14,))},
    ),
    ("conditional_if_else_verbose", 19, 1, {"conditional": DotConditional("IF", 1, (20, 21))}),
    ("conditional_while_verbose", 7, 0, {"conditional": DotConditional("WHILE", 1, (8,))}),
    (
        "conditional_switch_verbose",
        28,
        1,
        {"conditional": DotConditional("SWITCH", 1, (29, 30, 31, 32))},
    ),
    (
        "nested_plain",
        5,
        2,
        {"type": NodeType.CONDITIONAL, "conditional": DotConditional("SWITCH", None, (10, 11, 12))},
    ),
    (
        "torch_encoder8_verbose",
        1,
        5,
        {
            "kernel": kernel(
                "_ZN2at6native53_GLOBAL__N__21739cd4_20_layer_norm_kernel_cu_9c5ada8a28vectorized_"
                "layer_norm_kernelIN3c104HalfEfLb0EEEviT0_PKT_S8_S8_PS5_S9_PS6_",
                grid_dim=(16, 1, 1),
                block_dim=(32, 4, 1),
                shared_mem_bytes=24,
                function_handle=0x3209BC80,
            )
        },
    ),
    ("shapes_verbose", 2, 0, {"topo_id": 5}),
    (
        "node_types_plain",
        1,
        0,
        {
            "type": NodeType.KERNEL,
            "kind": "KERNEL",
            "topo_id": None,
            "handle": None,
            "kernel": DotKernel("spin"),
        },
    ),
    ("node_types_plain", 1, 3, {"type": NodeType.MEMSET, "memset": DotMemset(7, 4096)}),
    ("node_types_plain", 1, 4, {"type": NodeType.MEMCPY, "memcpy": DotMemcpy("DtoD", 4096)}),
    ("node_types_plain", 1, 5, {"type": NodeType.HOST}),
    ("node_types_plain", 1, 6, {"type": NodeType.EMPTY}),
    ("node_types_plain", 1, 7, {"type": NodeType.EVENT_RECORD}),
    ("node_types_plain", 1, 8, {"type": NodeType.WAIT_EVENT}),
    ("node_types_plain", 1, 9, {"type": NodeType.GRAPH, "child_graph": 3}),
    ("memory_batch_plain", 3, 0, {"type": NodeType.MEM_ALLOC, "memory": DotMemory(None, None)}),
    ("memory_batch_plain", 3, 3, {"type": NodeType.BATCH_MEM_OP}),
    ("memory_batch_verbose", 3, 3, {"type": NodeType.BATCH_MEM_OP, "topo_id": 0}),
]


@pytest.mark.parametrize(
    ("name", "graph", "node_id", "expected"), KINDS, ids=[f"{c[0]}-{c[2]}" for c in KINDS]
)
def test_kind_of_node_is_read_from_a_real_dump(
    name: str, graph: int, node_id: int, expected: dict[str, object]
) -> None:
    node = golden_node(name, graph, node_id)
    assert {field: getattr(node, field) for field in expected} == expected


def test_every_kind_in_the_recordings_is_known() -> None:
    unknown = [
        (path.name, node.kind)
        for path in GOLDEN.glob("*.dot")
        for graph in read_dot(path)[1]
        for node in graph.nodes
        if node.type == UNKNOWN_TYPE
    ]
    assert unknown == []


def test_rows_that_gviz_has_no_field_for_are_kept_as_text() -> None:
    fields = dict(golden_node("memory_batch_verbose", 3, 3).fields)
    assert fields["count"] == "2"
    assert fields["paramArray[1].op"] == "WAIT_VALUE_32"


def test_headlabel_is_the_place_among_the_dependencies() -> None:
    _, (graph, _) = read_dot(GOLDEN / "node_types_verbose.dot")
    joining = [edge for edge in graph.edges if edge.to_node == 5]
    assert joining == [DotEdge(2, 5, 1), DotEdge(4, 5, 0)]


def cluster(body: str, number: int = 1) -> str:
    label = f'label="graph_{number}" graph[style="dashed"];'
    return f"digraph dot {{\nsubgraph cluster_{number} {{\n{label}\n{body}\n}}\n}}\n"


def only_node(body: str) -> DotNode:
    ((node,),) = [graph.nodes for graph in parse_dot(cluster(body))]
    return node


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("| {cluster dim | (2,1,1)}", (2, 1, 1)),
        ("| {cluster dim | (0,0,0)} | {future row | {a | b} | {1 | 2}}", (0, 0, 0)),
        ("", None),
    ],
)
def test_kernel_row_of_a_newer_driver_is_read(row: str, expected: object) -> None:
    node = only_node(
        '"graph_1_node_0"[style="bold" shape="record" label="{KERNEL\n'
        f'| {{ID | 0 (topoId: 0) | k\\<\\<\\<\\{{16,10,2\\}},128,7\\>\\>\\>}}\n{row}\n}}"];'
    )
    assert node.kernel is not None
    assert node.kernel.cluster_dim == expected
    assert (node.kernel.grid_dim, node.kernel.block_dim) == ((16, 10, 2), (128, 1, 1))
    assert node.kernel.shared_mem_bytes == 7


@pytest.mark.parametrize(
    "node",
    [
        '"graph_1_node_0"[style="solid" style="solid" shape="rectangle" label="0\nEMPTY\n"];',
        '"graph_1_node_0"[style="solid" shape="rectangle"label="0\nEMPTY\n"];',
        '  "graph_1_node_0" [ label = "0\r\nEMPTY\r\n", shape = rectangle ] ;',
        'graph_1_node_0 [label="0\nEMPTY\n" shape=rectangle]',
        '/* note */ "graph_1_node_0"[label="0\nEMPTY\n"]; // end',
    ],
    ids=["repeated attribute", "no space", "spaces", "no quotes", "comments"],
)
def test_oddities_of_the_dialect_are_read(node: str) -> None:
    found = only_node(node)
    assert (found.node_id, found.type, found.kind) == (0, NodeType.EMPTY, "EMPTY")


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("0\\nx", ""),
        ("0\nWARP_DRIVE\nspeed: 9\n", "WARP_DRIVE"),
        ("{\nWARP_DRIVE\n| {{ID | node handle} | {0 (topoId: 3) | 0x5}}\n}", "WARP_DRIVE"),
        ("", ""),
        ("{", ""),
    ],
)
def test_unknown_kind_is_kept_by_name(label: str, kind: str) -> None:
    node = only_node(f'"graph_1_node_0"[shape="rectangle" label="{label}"];')
    assert (node.type, node.kind) == (UNKNOWN_TYPE, kind)


def test_plain_kernel_named_like_a_kind_is_a_kernel() -> None:
    node = only_node('"graph_1_node_0"[style="bold" shape="octagon" label="0\nMEMSET\n"];')
    assert node.kernel == DotKernel("MEMSET")


def test_kernel_without_launch_shape_keeps_its_name() -> None:
    node = only_node('"graph_1_node_0"[shape="record" label="{KERNEL | {ID | 0 | axpy}}"];')
    assert node.kernel == DotKernel("axpy")


def test_nested_and_sibling_clusters_are_levels_of_their_own() -> None:
    inner = 'subgraph cluster_2 {\nlabel="graph_2"\n"graph_2_node_0"[label="0\nEMPTY\n"];\n}'
    graphs = parse_dot(cluster(inner) + cluster("", number=7))
    assert [(g.number, g.name, g.line, len(g.nodes)) for g in graphs] == [
        (1, "graph_1", 2, 0),
        (2, "graph_2", 4, 1),
        (7, "graph_7", 13, 0),
    ]


NODE = '"graph_1_node_0"[label="0\nEMPTY\n"];'

#: (what is wrong, the text, the line named, the words of the message)
DAMAGES = [
    ("empty", "", 1, "empty"),
    ("blank", " \n\n", 1, "empty"),
    ("prose", "hello there, this is no DOT", 1, "not DOT as CUDA prints it"),
    ("json", '{"a": 1}', 1, "not DOT as CUDA prints it"),
    ("zero bytes", "digraph dot {\n\0}", 2, "not text"),
    ("other program", "digraph G {\n a -> b;\n}\n", 2, "not from the CUDA driver"),
    ("other program's nodes", 'digraph G {\n\n "main" [label="x"];\n}\n', 3, "not from the CUDA"),
    ("no cluster", "digraph G {\n}\n", 1, "not from the CUDA driver"),
    ("HIP", 'digraph G {\nsubgraph cluster_0 {\n"graph_0" [x=y];\n}}', 3, "not from the CUDA"),
    ("cluster outside", "subgraph cluster_1 {\n}\n", 1, "outside of any digraph"),
    ("text after", cluster(NODE) + "\nwhat", 10, "not DOT as CUDA prints it"),
    ("brace too many", cluster("") + "}", 7, "closes nothing"),
    ("node twice", cluster(NODE + "\n" + NODE), 7, "described twice"),
    ("cluster twice", cluster("") + cluster(""), 8, "appears twice, first in line 2"),
    (
        "edge to nowhere",
        cluster(f'{NODE}\n"graph_1_node_0" -> "graph_1_node_5";'),
        7,
        "graph_1_node_5, which is not described",
    ),
    (
        "edge out of its graph",
        cluster(f'{NODE}\n"graph_1_node_0" -> "graph_2_node_0";'),
        7,
        "out of its graph",
    ),
    ("edge of another program", cluster('"a" -> "b";'), 4, "not from the CUDA driver"),
    ("endless number", cluster('"graph_1_node_' + "9" * 40 + '"[label=""];'), 4, "not from the"),
]


@pytest.mark.parametrize(
    ("text", "line", "words"), [d[1:] for d in DAMAGES], ids=[d[0] for d in DAMAGES]
)
def test_damaged_text_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(DotError) as caught:
        parse_dot(text)
    assert str(caught.value).startswith(f"line {line}: ")
    assert words in str(caught.value)


def test_dump_cut_anywhere_is_called_cut_short() -> None:
    text = (GOLDEN / "node_types_verbose.dot").read_text().rstrip()
    messages = set()
    for length in range(len("digraph dot {"), len(text)):
        with pytest.raises(DotError) as caught:
            parse_dot(text[:length])
        messages.add(str(caught.value).split("; ")[0].split(": ")[1])
    assert messages == {"the text ends inside a graph"}


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\x7fELF\x02\x01\x01\x00\x00", "not text"), (b"digraph\n\xff\xfe", "line 2: this")],
)
def test_binary_file_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "x.dot"
    path.write_bytes(content)
    with pytest.raises(DotError, match=words) as caught:
        read_dot(path)
    assert str(path) in str(caught.value)


def test_missing_file_and_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DotError, match="there is no file"):
        read_dot(tmp_path / "none.dot")
    with pytest.raises(DotError, match="cannot read"):
        read_dot(tmp_path)


def test_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "x.dot"
    path.write_bytes(b"\xef\xbb\xbf" + cluster(NODE).encode())
    _, graphs = read_dot(path)
    assert len(graphs[0].nodes) == 1


@pytest.mark.parametrize("name", ["node_types_verbose", "own"])
def test_share_of_a_long_dump_that_was_read_is_told(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gviz.formats.dot.lexer._REPORTED_EVERY", 100)
    text = OWN if name == "own" else (GOLDEN / f"{name}.dot").read_text()
    told: list[float] = []
    parse_dot(text, told.append)
    assert len(told) > 3
    assert told == sorted(told)
    assert 0 < told[0] < told[-1] <= 1
