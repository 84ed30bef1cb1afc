"""Reads a DOT dump of the CUDA driver, of AMD's HIP runtime, or of gviz, into values.

HIP prints the same clusters and node names, without spaces between attributes.

References
----------
ROCm/clr, hipamd/src/hip_graph_internal.hpp, ``GenerateDOT`` and ``GetLabel`` (ROCm 5.7 to 7).
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from gviz.cuda import NodeType
from gviz.errors import DotError, no_file
from gviz.formats.dot.label import Field, parse_label, topo_id
from gviz.formats.dot.lexer import (
    Statement,
    lex_statements,
    line_of,
    parse_attributes,
    to_nobody,
)
from gviz.formats.dot.model import (
    UNKNOWN_TYPE,
    Dim3,
    DotConditional,
    DotEdge,
    DotGraph,
    DotKernel,
    DotMemcpy,
    DotMemory,
    DotMemset,
    DotNode,
)
from gviz.formats.dot.own import is_own, parse_own
from gviz.system import ShareRead

#: Numbers of more digits than this do not fit a signed 64-bit integer.
_NODE = re.compile(r"graph_(\d{1,18})_node_(\d{1,18})")
_GRAPH = re.compile(r"graph_(\d{1,18})")
_CLUSTER = re.compile(r"cluster_(\d{1,18})")
_DIM = r"[{(]?([\d,]{1,60})[})]?"
#: AMD's runtime writes (1,2,3) for {1,2,3}, and threads beyond whole blocks between block and size.
_LAUNCH = re.compile(rf"(.*)<<<{_DIM},{_DIM}(?:,\([\d,]{{1,60}}\))?,(\d{{1,18}})>>>", re.DOTALL)
_CLUSTER_DIM = re.compile(r"\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)")
_NULL = re.compile(r"0x0+")

#: Kinds as printed. GRAPH is not among them: a child graph node prints its cluster's name.
_KINDS = {t.name: t for t in NodeType if t is not NodeType.GRAPH} | {
    "EVENT_WAIT": NodeType.WAIT_EVENT
}
#: The shape that plain dumps draw around kernels, and around nothing else.
_PLAIN_KERNEL_SHAPE = "octagon"
_SIDES = {"HOST": "H", "DEVICE": "D", "ARRAY": "A"}
_NEXT_STEP = "give a file that cudaGraphDebugDotPrint or 'gviz export --format dot' wrote"

#: AMD's runtime leaves the style of kernels open where their parameters are requested.
_OPEN_STYLE = re.compile(r'style="(\w*)\nshape="')

Fields = dict[str, str]


def read_dot(path: Path, progress: ShareRead = to_nobody) -> tuple[str, tuple[DotGraph, ...]]:
    """Read a dump; return its text and its graph levels in the order of the text.

    Raises
    ------
    DotError
        If the file cannot be read or is not a dump of the CUDA driver.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise DotError(no_file(path)) from None
    except OSError as error:
        raise DotError(f"cannot read {path}: {error.strerror}; check its permissions") from error
    try:
        text = data.decode("utf-8-sig")
        return text, parse_dot(text, progress)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DotError(f"{path}, line {line}: this is not text; {_NEXT_STEP}") from error
    except DotError as error:
        raise DotError(f"{path}, {error}") from error


def parse_dot(text: str, progress: ShareRead = to_nobody) -> tuple[DotGraph, ...]:
    """Parse a dump into its graph levels: top-level graphs, child graphs and bodies.

    Nodes of unknown kinds are kept with the kind's printed name; rows of a label that are
    not known are kept in ``DotNode.fields``.

    Raises
    ------
    DotError
        With the line and the next step: the text is empty, is not DOT, is DOT of another
        program, is cut short, or contradicts itself.
    """
    if not text.strip():
        raise DotError(f"line 1: the text is empty; {_NEXT_STEP}")
    if "\0" in text:
        line = line_of(text, text.index("\0"))
        raise DotError(f"line {line}: this is not text; {_NEXT_STEP}")
    if is_own(text):
        return parse_own(text, progress)
    text = _OPEN_STYLE.sub(r'style="\1"\nshape="', text)
    reader = _Reader(text)
    for statement in lex_statements(text, progress):
        reader.take(statement)
    return reader.finish()


class _Reader:
    """Collects statements by graph number."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[int | None] = []
        self._names: dict[int, str] = {}
        self._offsets: dict[int, int] = {}
        self._nodes: dict[int, dict[int, DotNode]] = {}
        self._edges: dict[int, list[tuple[DotEdge, int]]] = {}
        self._is_directed = False

    def take(self, statement: Statement) -> None:
        if statement.kind == "node":
            self._take_node(statement)
        elif statement.kind == "edge":
            self._take_edge(statement)
        elif statement.kind == "open":
            self._open_graph(statement)
        elif statement.kind == "close":
            self._open.pop()
        elif statement.first == "label" and self._open[-1] is not None:
            self._names[self._open[-1]] = statement.second

    def finish(self) -> tuple[DotGraph, ...]:
        if not self._offsets:
            raise DotError(
                "line 1: this DOT is not from the CUDA driver, it has no subgraph "
                f"cluster_<number>; {_NEXT_STEP}"
            )
        return tuple(self._graph(number) for number in self._offsets)

    def _graph(self, number: int) -> DotGraph:
        nodes = self._nodes[number]
        for edge, offset in self._edges[number]:
            for end in (edge.from_node, edge.to_node):
                if end not in nodes:
                    raise self._error(
                        offset,
                        f"an edge names graph_{number}_node_{end}, which is not described; "
                        "the dump is damaged, write it again",
                    )
        edges = dict.fromkeys(edge for edge, _ in self._edges[number])
        return DotGraph(
            number=number,
            name=self._names.get(number, f"graph_{number}"),
            line=line_of(self._text, self._offsets[number]),
            nodes=tuple(nodes[i] for i in sorted(nodes)),
            edges=tuple(edges),
        )

    def _open_graph(self, statement: Statement) -> None:
        if not self._open and not statement.second:
            raise self._error(
                statement.offset, f"a subgraph stands outside of any digraph; {_NEXT_STEP}"
            )
        match = _CLUSTER.fullmatch(statement.first)
        number = int(match[1]) if match else None
        self._open.append(number)
        if number is None:
            return
        if number in self._offsets:
            raise self._error(
                statement.offset,
                f"cluster_{number} appears twice, first in line "
                f"{line_of(self._text, self._offsets[number])}; import each dump by itself",
            )
        self._offsets[number] = statement.offset
        self._nodes[number] = {}
        self._edges[number] = []

    def _take_node(self, statement: Statement) -> None:
        match = _NODE.fullmatch(statement.first)
        if match is None:
            if statement.first in ("graph", "node", "edge"):
                return  # default attributes
            raise self._foreign(statement)
        graph, node_id = int(match[1]), int(match[2])
        nodes = self._nodes.get(graph)
        if nodes is None:
            raise self._foreign(statement)
        if node_id in nodes:
            raise self._error(
                statement.offset,
                f"{statement.first} is described twice; import each dump by itself",
            )
        nodes[node_id] = build_node(node_id, parse_attributes(statement.attributes))

    def _take_edge(self, statement: Statement) -> None:
        first, second = _NODE.fullmatch(statement.first), _NODE.fullmatch(statement.second)
        if first is None or second is None or int(first[1]) not in self._edges:
            raise self._foreign(statement)
        if int(first[1]) != int(second[1]):
            raise self._error(
                statement.offset,
                f"an edge leads from {statement.first} to {statement.second}, out of its graph; "
                "the dump is damaged, write it again",
            )
        attributes = parse_attributes(statement.attributes) if statement.attributes else {}
        position = _integer(attributes.pop("headlabel", None))
        edge = DotEdge(int(first[2]), int(second[2]), position, tuple(attributes.items()))
        self._edges[int(first[1])].append((edge, statement.offset))

    def _foreign(self, statement: Statement) -> DotError:
        return self._error(
            statement.offset,
            f"this DOT is not from the CUDA driver, which names nodes graph_<n>_node_<n> inside "
            f"subgraph cluster_<n>, not {statement.first[:40]!r}; {_NEXT_STEP}",
        )

    def _error(self, offset: int, message: str) -> DotError:
        return DotError(f"line {line_of(self._text, offset)}: {message}")


def build_node(node_id: int, attributes: dict[str, str]) -> DotNode:
    """Build a node from its attributes; what is not understood stays in ``fields``."""
    first, pairs = parse_label(attributes.get("label", ""))
    fields: Fields = dict(reversed(pairs))  # of a repeated name the first counts
    child: int | None = None
    if attributes.get("shape") == _PLAIN_KERNEL_SHAPE:
        kind, node_type = "KERNEL", int(NodeType.KERNEL)
        fields.setdefault("launch", first)
    elif match := _GRAPH.fullmatch(first):
        kind, node_type, child = "GRAPH", int(NodeType.GRAPH), int(match[1])
    else:
        kind, node_type = first, int(_KINDS.get(first, UNKNOWN_TYPE))
    return DotNode(
        node_id=node_id,
        type=node_type,
        kind=kind,
        topo_id=topo_id(fields.get("ID", "")),
        handle=_integer(fields.get("node handle")),
        kernel=_kernel(fields) if node_type == NodeType.KERNEL else None,
        memcpy=_memcpy(fields) if node_type == NodeType.MEMCPY else None,
        memset=_memset(fields) if node_type == NodeType.MEMSET else None,
        memory=_memory(fields) if node_type in (NodeType.MEM_ALLOC, NodeType.MEM_FREE) else None,
        conditional=_conditional(fields, pairs) if node_type == NodeType.CONDITIONAL else None,
        child_graph=child,
        event=_integer(fields.get("event")),
        host_function=_integer(fields.get("fn")),
        user_data=_integer(fields.get("userData")),
        fields=pairs,
    )


def _kernel(fields: Fields) -> DotKernel:
    launch = fields.get("launch", "")
    match = _LAUNCH.fullmatch(launch)
    cluster = _CLUSTER_DIM.match(fields.get("cluster dim", ""))
    return DotKernel(
        mangled_name=match[1] if match else launch,
        grid_dim=_dim3(match[2]) if match else None,
        block_dim=_dim3(match[3]) if match else None,
        shared_mem_bytes=int(match[4]) if match else None,
        function_handle=_integer(fields.get("func handle")),
        cooperative=_integer(fields.get("cooperative")),
        priority=_integer(fields.get("priority")),
        cluster_dim=(int(cluster[1]), int(cluster[2]), int(cluster[3])) if cluster else None,
    )


def _memcpy(fields: Fields) -> DotMemcpy:
    if "plain" in fields:
        direction, _, size = fields["plain"].partition(",")
        return DotMemcpy(direction=direction.strip() or None, bytes=_integer(size))
    width = _integer(fields.get("Extent.Width", fields.get("Extent.WidthInBytes")))
    height, depth = _integer(fields.get("Extent.Height")), _integer(fields.get("Extent.Depth"))
    extent = None if width is None or height is None or depth is None else (width, height, depth)
    return DotMemcpy(
        direction=_direction(fields),
        bytes=math.prod(extent) if extent else None,
        extent=extent,
        source_address=_end_address(fields, "src"),
        destination_address=_end_address(fields, "dst"),
    )


def _direction(fields: Fields) -> str | None:
    """Return the direction as plain dumps print it, from whichever row has it."""
    if "kind" in fields:
        return fields["kind"].split(" ")[0] or None
    ends = [fields.get(f"{end}.MemoryType", "").split(" ")[0] for end in ("src", "dst")]
    letters = [_SIDES.get(end) for end in ends]
    return None if None in letters else f"{letters[0]}to{letters[1]}"


def _end_address(fields: Fields, end: str) -> int | None:
    """Return the address of one end: a pointer, or host, device or array of a 3D copy."""
    values = [fields.get(f"{end}Ptr.ptr")] + [
        fields.get(f"{end}.{place}") for place in ("Device", "Host", "Array")
    ]
    given = [v for v in values if v is not None and not _NULL.fullmatch(v)]
    return _integer(given[0]) if given else None


def _memset(fields: Fields) -> DotMemset:
    if "plain" in fields:
        value, _, size = fields["plain"].partition(",")
        return DotMemset(value=_integer(value), bytes=_integer(size))
    parts = [_integer(fields.get(name)) for name in ("elementSize", "width", "height")]
    known = [p for p in parts if p is not None]
    layers = _integer(fields.get("depth")) or 1  # AMD's only
    return DotMemset(
        value=_integer(fields.get("value")),
        bytes=math.prod([*known, layers]) if len(known) == len(parts) else None,
        address=_integer(fields.get("dptr")),
        element_bytes=parts[0],
        width=parts[1],
        height=parts[2],
        pitch_bytes=_integer(fields.get("pitch")),
    )


def _memory(fields: Fields) -> DotMemory:
    return DotMemory(_integer(fields.get("dptr")), _integer(fields.get("bytesize")))


def _conditional(fields: Fields, pairs: tuple[Field, ...]) -> DotConditional:
    bodies = [_GRAPH.fullmatch(value) for _, value in pairs]
    return DotConditional(
        type=fields.get("Conditional Type"),
        handle=_integer(fields.get("Conditional Handle")),
        bodies=tuple(int(b[1]) for b in bodies if b),
    )


def _integer(text: str | None) -> int | None:
    """Return a decimal or hexadecimal number, None if the text is none."""
    if text is None:
        return None
    try:
        return int(text, 16) if text.startswith("0x") else int(text)
    except ValueError:
        return None


def _dim3(text: str) -> Dim3 | None:
    """Return the dimensions in ``16``, ``16,10`` or ``16,10,2``; those not printed are 1."""
    parts = [_integer(part) for part in text.split(",")]
    if len(parts) > 3 or None in parts:
        return None
    x, y, z = [p or 0 for p in parts] + [1] * (3 - len(parts))
    return x, y, z
