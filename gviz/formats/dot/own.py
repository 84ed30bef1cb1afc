"""Facts that gviz writes into DOT text besides its picture, and that text read back.

Graphviz keeps attributes that it does not know. A graph has ``gviz_format``, ``gviz_name`` and,
where it is so, ``gviz_edges`` (``unknown``, ``inferred``); a body, a cluster inside the level that
runs it, ``gviz_parent`` (the node) and ``gviz_branch``. A node has attributes named after columns
of table node, grid and block as three numbers, and ``gviz_symbol``; an edge ``gviz_type``,
``gviz_from_port`` and ``gviz_to_port`` where they are not 0. Texts are escaped as in JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from gviz.cuda import NodeType, node_type_name
from gviz.dataclass import dataclass
from gviz.errors import DotError
from gviz.formats.dot.lexer import (
    Statement,
    lex_statements,
    line_of,
    parse_attributes,
    to_nobody,
)
from gviz.formats.dot.model import (
    DotEdge,
    DotGraph,
    DotKernel,
    DotMemcpy,
    DotMemory,
    DotMemset,
    DotNode,
    Parent,
)
from gviz.recording import number_range, rows
from gviz.system import ShareRead

FORMAT = 1
_START = re.compile(r"\s*digraph graph_\d{1,18} \{\s*gviz_format=")
_LEVEL = re.compile(r"(?:cluster_)?graph_(\d{1,18})")
_NODE = re.compile(r"graph_(\d{1,18})_node_(\d{1,18})")
#: Stands in the frame of a body without nodes.
_EMPTY = re.compile(r"graph_\d{1,18}_node_none")
_NUMBER = re.compile(r"-?\d{1,19}")
_TEXTS = ("name", "conditional_type")
_INTEGERS = (
    "type", "device_id", "shared_mem_bytes", "priority", "cooperative", "copy_kind", "bytes",
    "source_address", "destination_address", "memset_value", "memset_element_bytes",
)  # fmt: skip
_TRIPLES = ("grid", "block")
_PORTS = ("type", "from_port", "to_port")
_AGAIN = "export the recording again"


class NodeToWrite(NamedTuple):
    """A node by the columns of table node that are written."""

    node_id: int
    type: int
    name: str
    function_id: int | None
    conditional_type: str | None
    device_id: int | None
    grid_x: int | None
    grid_y: int | None
    grid_z: int | None
    block_x: int | None
    block_y: int | None
    block_z: int | None
    shared_mem_bytes: int | None
    priority: int | None
    cooperative: int | None
    copy_kind: int | None
    bytes: int | None
    source_address: int | None
    destination_address: int | None
    memset_value: int | None
    memset_element_bytes: int | None


# -- writing -----------------------------------------------------------------------------


def graph_attributes(graph: rows.Graph) -> dict[str, str]:
    """Return what a level says of itself, as DOT attributes."""
    found = {"gviz_name": _text(graph.name)}
    if graph.topology_id is None:
        found["gviz_edges"] = "unknown"
    elif graph.edges_inferred:
        found["gviz_edges"] = "inferred"
    return found


def body_attributes(body: rows.Graph) -> dict[str, str]:
    """Return what a body says of its place, besides :func:`graph_attributes`."""
    found = {"gviz_parent": str(body.parent_node_id)}
    if body.branch is not None:
        found["gviz_branch"] = str(body.branch)
    return found


def node_attributes(node: NodeToWrite, symbol: str | None) -> dict[str, str]:
    """Return the columns of a node that are known, as DOT attributes."""
    found = {}
    for name in (*_INTEGERS, *_TEXTS):
        value = getattr(node, name)
        if value is not None:
            found[f"gviz_{name}"] = _text(value) if name in _TEXTS else str(value)
    for name in _TRIPLES:
        values = [getattr(node, f"{name}_{axis}") for axis in "xyz"]
        if any(value is not None for value in values):
            found[f"gviz_{name}"] = f'"{",".join("?" if v is None else str(v) for v in values)}"'
    if symbol is not None:
        found["gviz_symbol"] = _text(symbol)
    return found


def edge_attributes(*numbers: int) -> dict[str, str]:
    """Return type and ports of an edge, as DOT attributes; those that are 0 are left out."""
    named = zip(_PORTS, numbers, strict=True)
    return {f"gviz_{name}": str(number) for name, number in named if number != 0}


def _text(text: str) -> str:
    """Return a quoted DOT string; a backslash before anything but a quote is DOT's as it is."""
    return json.dumps(text, ensure_ascii=False)


# -- reading -----------------------------------------------------------------------------


def is_own(text: str) -> bool:
    """Return whether gviz wrote a DOT text."""
    return _START.match(text) is not None


def parse_own(text: str, progress: ShareRead = to_nobody) -> tuple[DotGraph, ...]:
    """Parse DOT text that gviz wrote into its graph levels.

    Raises
    ------
    DotError
        With the line and the next step: the text is cut short or was changed.
    """
    reader = _Reader(text)
    for statement in lex_statements(text, progress):
        reader.take(statement)
    return tuple(level.to_graph() for level in reader.levels.values())


@dataclass(slots=True)
class _Level:
    number: int
    line: int
    around: int | None
    facts: dict[str, str] = field(default_factory=dict)
    nodes: dict[int, DotNode] = field(default_factory=dict)
    edges: dict[tuple[int, ...], DotEdge] = field(default_factory=dict)

    def to_graph(self) -> DotGraph:
        edges_recorded = self.facts.get("gviz_edges")
        parent = _integer(self.facts.get("gviz_parent"))
        return DotGraph(
            number=self.number,
            name=_plain(self.facts.get("gviz_name")) or f"graph_{self.number}",
            line=self.line,
            nodes=tuple(self.nodes[i] for i in sorted(self.nodes)),
            edges=tuple(self.edges.values()),
            is_own=True,
            parent=None
            if self.around is None or parent is None
            else Parent(self.around, parent, _integer(self.facts.get("gviz_branch"))),
            edges_known=edges_recorded != "unknown",
            edges_inferred=edges_recorded == "inferred",
        )


class _Reader:
    """Collects statements by graph number."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[_Level] = []
        self.levels: dict[int, _Level] = {}

    def take(self, statement: Statement) -> None:
        if statement.kind == "open":
            self._open_level(statement)
        elif statement.kind == "close":
            self._close(statement)
        elif statement.kind == "node":
            self._take_node(statement)
        elif statement.kind == "edge":
            self._take_edge(statement)
        elif statement.first.startswith("gviz_"):
            self._take_fact(statement)

    def _open_level(self, statement: Statement) -> None:
        match = _LEVEL.fullmatch(statement.first)
        if match is None or bool(statement.second) == bool(self._open):
            raise self._error(statement, f"{statement.first!r} is no graph of gviz here")
        number = int(match[1])
        if number in self.levels:
            raise self._error(statement, f"graph_{number} appears twice")
        around = self._open[-1].number if self._open else None
        level = _Level(number, line_of(self._text, statement.offset), around)
        self.levels[number] = level
        self._open.append(level)

    def _close(self, statement: Statement) -> None:
        level = self._open.pop()
        ends = {end for edge in level.edges for end in edge[:2]}
        if missing := ends - set(level.nodes):
            name = f"graph_{level.number}_node_{min(missing)}"
            raise self._error(statement, f"an edge names {name}, which is not described")
        parent = _integer(level.facts.get("gviz_parent"))
        if self._open and parent not in self._open[-1].nodes:
            raise self._error(statement, f"graph_{level.number} has no node that runs it")

    def _take_fact(self, statement: Statement) -> None:
        if statement.first == "gviz_format" and statement.second != str(FORMAT):
            raise self._error(
                statement,
                f"this DOT is of format {statement.second} of gviz, which this version does not "
                f"know; use the gviz that wrote it, or one that writes format {FORMAT}",
                "",
            )
        try:
            _plain(statement.second)
        except ValueError as error:
            raise self._error(statement, str(error)) from None
        self._open[-1].facts[statement.first] = statement.second

    def _take_node(self, statement: Statement) -> None:
        if statement.first in ("graph", "node", "edge") or _EMPTY.fullmatch(statement.first):
            return  # default attributes, and what only draws
        match = _NODE.fullmatch(statement.first)
        level = self._open[-1]
        if match is None or int(match[1]) != level.number:
            raise self._error(statement, f"{statement.first[:40]!r} is no node of this graph")
        node_id = int(match[2])
        if node_id in level.nodes:
            raise self._error(statement, f"{statement.first} is described twice")
        try:
            level.nodes[node_id] = _build_node(node_id, parse_attributes(statement.attributes))
        except ValueError as error:
            raise self._error(statement, f"{statement.first}: {error}") from None

    def _take_edge(self, statement: Statement) -> None:
        attributes = parse_attributes(statement.attributes)
        if "lhead" in attributes:
            return  # from a node to the frame of its body
        first, second = _NODE.fullmatch(statement.first), _NODE.fullmatch(statement.second)
        level = self._open[-1]
        if first is None or second is None or {int(first[1]), int(second[1])} != {level.number}:
            raise self._error(
                statement, f"an edge leads from {statement.first} to {statement.second}, out of its"
                " graph",
            )  # fmt: skip
        try:
            ports = [_checked(name, attributes.get(f"gviz_{name}", "0")) for name in _PORTS]
        except ValueError as error:
            raise self._error(statement, str(error)) from None
        edge = DotEdge(int(first[2]), int(second[2]), None, (), *ports)
        level.edges[edge.from_node, edge.to_node, edge.from_port, edge.to_port] = edge

    def _error(self, statement: Statement, message: str, then: str = _AGAIN) -> DotError:
        line = line_of(self._text, statement.offset)
        end = f"; the text was changed, {then}" if then else ""
        return DotError(f"line {line}: {message}{end}")


def _build_node(node_id: int, attributes: Mapping[str, str]) -> DotNode:
    """Build a node; ValueError: an attribute is not what its column holds."""
    columns: dict[str, int | str] = {}
    for name in _INTEGERS:
        if (text := attributes.get(f"gviz_{name}")) is not None:
            columns[name] = _checked(name, text)
    for name in _TEXTS:
        if (value := _plain(attributes.get(f"gviz_{name}"))) is not None:
            columns[name] = value
    for name in _TRIPLES:
        text = attributes.get(f"gviz_{name}")
        for axis, part in zip("xyz", text.split(",") if text else (), strict=bool(text)):
            if part != "?":
                columns[f"{name}_{axis}"] = _checked(f"{name}_{axis}", part)
    kind = columns.get("type")
    if not isinstance(kind, int) or "name" not in columns:
        raise ValueError("its gviz_type or gviz_name is missing")

    def number(name: str) -> int | None:
        value = columns.get(name)
        return value if isinstance(value, int) else None

    grid, block = (tuple(number(f"{n}_{axis}") for axis in "xyz") for n in _TRIPLES)
    size, target = number("bytes"), number("destination_address")
    return DotNode(
        node_id=node_id,
        type=kind,
        kind=node_type_name(kind),
        kernel=DotKernel(
            mangled_name=_plain(attributes.get("gviz_symbol")) or "",
            grid_dim=None if None in grid else grid,  # type: ignore[arg-type]
            block_dim=None if None in block else block,  # type: ignore[arg-type]
            shared_mem_bytes=number("shared_mem_bytes"),
        )
        if kind == NodeType.KERNEL
        else None,
        memcpy=DotMemcpy(None, size) if kind == NodeType.MEMCPY else None,
        memset=DotMemset(number("memset_value"), size) if kind == NodeType.MEMSET else None,
        memory=DotMemory(target, size) if kind in (NodeType.MEM_ALLOC, NodeType.MEM_FREE) else None,
        columns=tuple(columns.items()),
    )


def _checked(column: str, text: str) -> int:
    """Return a number that its column can hold."""
    number = _integer(text)
    least, most = number_range(column) or (-(2**63), 2**63 - 1)
    if number is None or not least <= number <= most:
        raise ValueError(f"{text[:40]!r} is no {column} that can be")
    return number


def _integer(text: str | None) -> int | None:
    return int(text) if text is not None and _NUMBER.fullmatch(text) else None


def _plain(text: str | None) -> str | None:
    """Return a text without its escapes; None: there is none."""
    if text is None:
        return None
    try:
        found = json.loads(f'"{text}"', strict=False)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not escaped as JSON is") from None
    return str(found).encode("utf-8", "backslashreplace").decode()
