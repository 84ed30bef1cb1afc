"""Nodes of a dump as columns of table node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gviz.cuda import CopyKind, node_type_name, short_name
from gviz.formats.dot.model import UNKNOWN_TYPE, DotNode
from gviz.recording import number_range, rows
from gviz.runs import Rows, blank_rows, integers
from gviz.stats import UNKNOWN, IntArray

_NOT_TIMED = "imported from DOT: no times"
_NO_SHAPE = (None, None, None)
#: What SQLite can store in an INTEGER.
_LEAST, _MOST = 1 - 2**63, 2**63 - 1


def node_columns(nodes: Sequence[DotNode], graph_id: int, function_ids: IntArray) -> Rows:
    """Return columns of rows.Node.

    Parameters
    ----------
    function_ids
        Kernel function of each; UNKNOWN: it has none.
    """
    found = blank_rows(
        rows.Node,
        len(nodes),
        graph_id=graph_id,
        node_id=integers(node.node_id for node in nodes),
        type=integers(node.type for node in nodes),
        name=[shown_name(node) for node in nodes],
        function_id=function_ids,
        not_timed_reason=_NOT_TIMED,
    )
    _fill_kernels(found, nodes)
    _fill_copies(found, nodes)
    _fill_memory(found, nodes)
    at, conditionals = _parts(nodes, "conditional")
    found["conditional_type"][at] = [c.type.lower() if c.type else None for c in conditionals]
    _fill_written(found, nodes)
    return found


def shown_name(node: DotNode) -> str:
    """Return the name of a node as it is shown."""
    if node.columns:
        return str(dict(node.columns)["name"])
    if node.kernel is not None:
        return short_name(node.kernel.mangled_name)
    if node.type == UNKNOWN_TYPE:
        return node.kind
    name = node_type_name(node.type)
    if node.memcpy is not None and node.memcpy.direction:
        return f"{name} {node.memcpy.direction}"
    if node.conditional is not None and node.conditional.type:
        return f"{name} {node.conditional.type}"
    return name


def _parts(nodes: Sequence[DotNode], name: str) -> tuple[IntArray, list[Any]]:
    """Return where nodes have a part, such as ``kernel``, and these parts.

    Nodes of text that gviz wrote have none here: their columns say more.
    """
    parts = [None if node.columns else getattr(node, name) for node in nodes]
    at = integers(i for i, part in enumerate(parts) if part is not None)
    return at, [part for part in parts if part is not None]


def _fill_kernels(found: Rows, nodes: Sequence[DotNode]) -> None:
    at, kernels = _parts(nodes, "kernel")
    for name, of in (("grid", "grid_dim"), ("block", "block_dim")):
        shapes = [getattr(kernel, of) or _NO_SHAPE for kernel in kernels]
        for axis, place in zip("xyz", range(3), strict=True):
            _fill(found, at, f"{name}_{axis}", (shape[place] for shape in shapes))
    for name in ("shared_mem_bytes", "priority", "cooperative"):
        _fill(found, at, name, (getattr(kernel, name) for kernel in kernels))


def _fill_copies(found: Rows, nodes: Sequence[DotNode]) -> None:
    at, copies = _parts(nodes, "memcpy")
    kinds = CopyKind.__members__
    found["copy_kind"][at] = [
        kinds.get((copy.direction or "").upper(), CopyKind.UNKNOWN) for copy in copies
    ]
    for name in ("bytes", "source_address", "destination_address"):
        _fill(found, at, name, (getattr(copy, name) for copy in copies))


def _fill_memory(found: Rows, nodes: Sequence[DotNode]) -> None:
    """Fill in memsets, allocations and frees."""
    for kind in ("memset", "memory"):
        at, parts = _parts(nodes, kind)
        _fill(found, at, "bytes", (part.bytes for part in parts))
        _fill(found, at, "destination_address", (part.address for part in parts))
    at, memsets = _parts(nodes, "memset")
    _fill(found, at, "memset_value", (memset.value for memset in memsets))
    _fill(found, at, "memset_element_bytes", (memset.element_bytes for memset in memsets))


def _fill(found: Rows, at: IntArray, column: str, numbers: Iterable[int | None]) -> None:
    """Fill in numbers; what no real dump has is not known."""
    least, most = number_range(column) or (_LEAST, _MOST)
    missing = None if found.dtype[column].kind == "O" else UNKNOWN
    found[column][at] = [
        number if number is not None and least <= number <= most else missing for number in numbers
    ]


def _fill_written(found: Rows, nodes: Sequence[DotNode]) -> None:
    """Fill in the columns of nodes that gviz wrote."""
    given: dict[str, tuple[list[int], list[int | str]]] = {}
    for place, node in enumerate(nodes):
        for name, value in node.columns:
            places, values = given.setdefault(name, ([], []))
            places.append(place)
            values.append(value)
    for name, (places, values) in given.items():
        found[name][places] = values
