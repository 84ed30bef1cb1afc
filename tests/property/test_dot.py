"""Random graphs printed in the driver's dialect are read back; random bytes only raise DotError."""

from __future__ import annotations

import contextlib
import re
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gviz.cuda.node_type import NodeType
from gviz.errors import DotError
from gviz.formats.dot.model import (
    DotConditional,
    DotEdge,
    DotGraph,
    DotKernel,
    DotMemcpy,
    DotMemory,
    DotMemset,
    DotNode,
)
from gviz.formats.dot.parse import parse_dot, read_dot

_POINTER = st.integers(1, 2**47)
_DIM = st.tuples(st.integers(1, 2**31 - 1), st.integers(1, 65535), st.integers(1, 65535))
_SYMBOL = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,30}", fullmatch=True)
_BYTES = st.integers(1, 2**40)
_TYPES = [
    NodeType.KERNEL,
    NodeType.MEMCPY,
    NodeType.MEMSET,
    NodeType.HOST,
    NodeType.EMPTY,
    NodeType.WAIT_EVENT,
    NodeType.EVENT_RECORD,
    NodeType.MEM_ALLOC,
    NodeType.MEM_FREE,
    NodeType.CONDITIONAL,
    NodeType.GRAPH,
]


@st.composite
def nodes(draw: st.DrawFn, node_id: int) -> DotNode:
    """Draw a node as a verbose dump tells it."""
    kind = draw(st.sampled_from(_TYPES))
    printed = "EVENT_WAIT" if kind is NodeType.WAIT_EVENT else kind.name
    values: dict[str, object] = {"topo_id": draw(st.integers(0, 99)), "handle": draw(_POINTER)}
    if kind is NodeType.KERNEL:
        values["kernel"] = DotKernel(
            draw(_SYMBOL),
            draw(_DIM),
            draw(_DIM),
            draw(st.integers(0, 2**18)),
            draw(_POINTER),
            draw(st.integers(0, 1)),
            draw(st.integers(-5, 0)),
        )
    elif kind is NodeType.MEMCPY:
        extent = (draw(_BYTES), draw(st.integers(1, 64)), draw(st.integers(1, 8)))
        direction = draw(st.sampled_from(["HtoD", "DtoH", "DtoD", "HtoH"]))
        size = extent[0] * extent[1] * extent[2]
        values["memcpy"] = DotMemcpy(direction, size, extent, draw(_POINTER), draw(_POINTER))
    elif kind is NodeType.MEMSET:
        element, width, height = draw(st.sampled_from([1, 2, 4])), draw(_BYTES), draw(_BYTES)
        values["memset"] = DotMemset(
            draw(st.integers(0, 2**32 - 1)),
            element * width * height,
            draw(_POINTER),
            element,
            width,
            height,
            draw(st.integers(0, 4096)),
        )
    elif kind in (NodeType.MEM_ALLOC, NodeType.MEM_FREE):
        allocated = draw(_BYTES) if kind is NodeType.MEM_ALLOC else None
        values["memory"] = DotMemory(draw(_POINTER), allocated)
    elif kind is NodeType.CONDITIONAL:
        form, count = draw(st.sampled_from([("IF", 1), ("IF", 2), ("WHILE", 1), ("SWITCH", 4)]))
        bodies = tuple(draw(st.integers(100, 999)) for _ in range(count))
        values["conditional"] = DotConditional(form, draw(st.integers(1, 9)), bodies)
    elif kind is NodeType.GRAPH:
        values["child_graph"] = draw(st.integers(100, 999))
    elif kind is NodeType.HOST:
        values |= {"host_function": draw(_POINTER), "user_data": draw(_POINTER)}
    elif kind in (NodeType.WAIT_EVENT, NodeType.EVENT_RECORD):
        values["event"] = draw(_POINTER)
    return DotNode(node_id, int(kind), printed, **values)  # type: ignore[arg-type]


@st.composite
def dumps(draw: st.DrawFn) -> tuple[DotGraph, ...]:
    """Draw a few levels of random DAGs."""
    found = []
    line = 2
    for number in draw(st.lists(st.integers(1, 99), min_size=1, max_size=3, unique=True)):
        count = draw(st.integers(0, 6))
        pairs = [(a, b) for b in range(count) for a in range(b)]
        chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
        places = [sum(e[1] == b for e in chosen[:i]) for i, (_, b) in enumerate(chosen)]
        edges = tuple(DotEdge(a, b, p) for (a, b), p in zip(chosen, places, strict=True))
        level = tuple(draw(nodes(i)) for i in range(count))
        found.append(DotGraph(number, f"graph_{number}", line, level, edges))
        line += print_level(found[-1], verbose=True).count("\n")
    return tuple(found)


# -- a printer of the driver's dialect ---------------------------------------------------


def print_dump(graphs: tuple[DotGraph, ...], *, verbose: bool) -> str:
    levels = "".join(print_level(graph, verbose=verbose) for graph in graphs)
    return f"digraph dot {{\n{levels}}}\n"


def print_level(graph: DotGraph, *, verbose: bool) -> str:
    name = f"graph_{graph.number}"
    lines = [f"subgraph cluster_{graph.number} {{", f'label="{name}" graph[style="dashed"];']
    for node in graph.nodes:
        attributes = print_verbose(node) if verbose else print_plain(node)
        lines.append(f'"{name}_node_{node.node_id}"[{attributes}];\n')
    for edge in graph.edges:
        tail = f" [headlabel={edge.position}]" if verbose else ""
        lines.append(f'"{name}_node_{edge.from_node}" -> "{name}_node_{edge.to_node}"{tail};')
    return "\n".join([*lines, "}\n"])


def hexadecimal(value: int | None) -> str:
    return f"0x{value or 0:016X}"


def dimensions(value: tuple[int, int, int]) -> str:
    while len(value) > 1 and value[-1] == 1:
        value = value[:-1]  # type: ignore[assignment]
    text = ",".join(map(str, value))
    return text if len(value) == 1 else f"\\{{{text}\\}}"


def record(*rows: str, style: str = "solid") -> str:
    body = "\n| ".join(rows)
    return f'style="{style}" shape="record" label="{{{body}\n}}"'


def print_verbose(node: DotNode) -> str:
    number = f"{node.node_id} (topoId: {node.topo_id})"
    handle = hexadecimal(node.handle)
    head = f"{{{{ID | node handle}} | {{{number} | {handle}}}}}"
    if k := node.kernel:
        assert k.grid_dim is not None
        assert k.block_dim is not None
        launch = f"{dimensions(k.grid_dim)},{dimensions(k.block_dim)},{k.shared_mem_bytes}"
        return record(
            "KERNEL",
            f"{{ID | {number} | {k.mangled_name}\\<\\<\\<{launch}\\>\\>\\>}}",
            f"{{{{node handle | func handle}} | {{{handle} | {hexadecimal(k.function_handle)}}}}}",
            "{accessPolicyWindow | {base_ptr | hitProp} | {0x0000000000000000 | N}}",
            f"{{cooperative | {k.cooperative}}}",
            f"{{priority | {k.priority}}}",
            style="bold",
        )
    if c := node.memcpy:
        assert c.extent is not None
        ends = f"0 | {hexadecimal(c.source_address)} | 0 | {hexadecimal(c.destination_address)}"
        width, height, depth = c.extent
        return record(
            "\nMEMCPY",
            head,
            f"{{kind | {c.direction} (X to Y)}}",
            f"{{{{srcPtr | dstPtr}} | {{pitch | ptr | pitch | ptr}} | {{{ends}}}}}",
            f"{{{{srcPos | {{{{x | 0}} | {{y | 0}} | {{z | 0}}}}}} | {{Extent | "
            f"{{{{Width | {width}}} | {{Height | {height}}} | {{Depth | {depth}}}}}}}}}",
        )
    if s := node.memset:
        values = (
            f"{number} | {handle} | {hexadecimal(s.address)} | {s.pitch_bytes} | {s.value} | "
            f"{s.element_bytes} | {s.width} | {s.height}"
        )
        names = "ID | node handle | dptr | pitch | value | elementSize | width | height"
        return 'style="solid" ' + record("MEMSET", f"{{{{{names}}} | {{{values}}}}}")
    if m := node.memory:
        address = hexadecimal(m.address)
        if m.bytes is None:
            return record("\nMEM_FREE", head, f"{{{{dptr}} | {{{address}}}}}")
        return record("\nMEM_ALLOC", head, f"{{{{bytesize | dptr}} | {{{m.bytes} | {address}}}}}")
    if node.conditional:
        return print_conditional(node, number, handle)
    kind = f"graph_{node.child_graph}" if node.child_graph is not None else node.kind
    lines = [number, kind, f"node handle: {handle}"]
    if node.event is not None:
        lines.append(f"event: {hexadecimal(node.event)}")
    if node.host_function is not None:
        lines.append(f"fn: {hexadecimal(node.host_function)}")
        lines.append(f"userData: {hexadecimal(node.user_data)}")
    return 'style="solid" shape="rectangle" label="' + "\n".join(lines) + '\n"'


def print_conditional(node: DotNode, number: str, handle: str | None) -> str:
    c = node.conditional
    assert c is not None
    names = [f"{i}| " for i in range(len(c.bodies))]
    if c.type != "SWITCH":
        names = ["True |", "False|"][: len(c.bodies)]
    rows = [] if handle is None else [f"{{node handle| {handle}}}"]
    rows += [] if handle is None else [f"{{Conditional Handle|{c.handle}}}"]
    rows.append(f"{{Conditional Type| {c.type}}}")
    rows += [f"{{{name} graph_{body}}}" for name, body in zip(names, c.bodies, strict=True)]
    return record("\nCONDITIONAL", f"{{ID | {number}}}", *rows, style="bold")


def print_plain(node: DotNode) -> str:
    if node.conditional:
        return print_conditional(node, str(node.node_id), None)
    shape, lines = "rectangle", [str(node.node_id), node.kind]
    if node.kernel:
        shape, lines[1] = "octagon", node.kernel.mangled_name
    elif node.child_graph is not None:
        lines[1] = f"graph_{node.child_graph}"
    elif node.memcpy:
        shape = "trapezium"
        lines.append(f"({node.memcpy.direction},{node.memcpy.bytes})")
    elif node.memset:
        shape = "invtrapezium"
        lines.append(f"({node.memset.value},{node.memset.bytes})")
    space = "" if node.memset else " "
    return f'style="solid" shape="{shape}"{space}label="' + "\n".join(lines) + '\n"'


# -- properties --------------------------------------------------------------------------


def without_text(node: DotNode) -> DotNode:
    return replace(node, fields=())


def plain_part(node: DotNode) -> DotNode:
    """Return what a plain dump tells of a node."""
    c, s, k = node.memcpy, node.memset, node.kernel
    cond = node.conditional
    return DotNode(
        node.node_id,
        node.type,
        node.kind,
        kernel=DotKernel(k.mangled_name) if k else None,
        memcpy=DotMemcpy(c.direction, c.bytes) if c else None,
        memset=DotMemset(s.value, s.bytes) if s else None,
        memory=DotMemory(None, None) if node.memory else None,
        conditional=DotConditional(cond.type, None, cond.bodies) if cond else None,
        child_graph=node.child_graph,
    )


@given(dumps())
@settings(max_examples=150, deadline=None)
def test_verbose_dump_is_read_back(graphs: tuple[DotGraph, ...]) -> None:
    found = parse_dot(print_dump(graphs, verbose=True))
    assert [(g.number, g.name, g.line, g.edges) for g in found] == [
        (g.number, g.name, g.line, g.edges) for g in graphs
    ]
    assert [tuple(map(without_text, g.nodes)) for g in found] == [g.nodes for g in graphs]


@given(dumps())
@settings(max_examples=100, deadline=None)
def test_plain_dump_is_read_back(graphs: tuple[DotGraph, ...]) -> None:
    found = parse_dot(print_dump(graphs, verbose=False))
    assert [[(e.from_node, e.to_node) for e in g.edges] for g in found] == [
        [(e.from_node, e.to_node) for e in g.edges] for g in graphs
    ]
    nodes = [tuple(map(without_text, g.nodes)) for g in found]
    assert nodes == [tuple(map(plain_part, g.nodes)) for g in graphs]


def refusal(text: str) -> str:
    """Return the message of the DotError that a text causes, "" if it is read."""
    try:
        parse_dot(text)
    except DotError as error:
        return str(error)
    return ""


_PIECES = st.sampled_from(
    ["digraph dot {", "subgraph cluster_1 {", "}", '"graph_1_node_0"', "[", "]", "label=", '"',
     "{", "|", "\\", "KERNEL", "->", ";", "\n", "=", "-", "graph_2", "/*", "//", "0 (topoId: 1)",
     "9" * 30, "\\<\\<\\<", "(1,2,3)", "é"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=40).map("".join) | st.text(max_size=60))
@settings(max_examples=500, deadline=None)
def test_any_text_is_read_or_refused_with_a_line(text: str) -> None:
    assert re.match(r"line \d+: |$", refusal(text))


@given(dumps(), st.data())
@settings(max_examples=100, deadline=None)
def test_damaged_dump_is_read_or_refused(graphs: tuple[DotGraph, ...], data: st.DataObject) -> None:
    text = print_dump(graphs, verbose=True)
    place = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 5))
    damaged = text[:place] + data.draw(_PIECES) + text[place + length :]
    assert re.match(r"line \d+: |$", refusal(damaged))


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.dot"
        path.write_bytes(content)
        with contextlib.suppress(DotError):
            text, graphs = read_dot(path)
            assert text.encode() == content.removeprefix(b"\xef\xbb\xbf")
            assert graphs
