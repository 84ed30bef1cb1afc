"""Signatures of nodes of a dump and of a trace: one number where both can be the same work.

They are compared as finely as both sides allow: kernels by name and launch shape, copies and fills
by size and direction. A plain dump has no shapes, dumps and traces spell directions in different
ways, and the driver runs some copies and fills by kernels of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from gviz.cuda import NodeType, demangle
from gviz.formats.dot import DotNode
from gviz.formats.traces.trace import COPY_KINDS
from gviz.runs import Rows
from gviz.stats import UNKNOWN, IntArray

#: Kernels by which the driver runs some copies and memsets: memcpy128 and memset32 were seen.
_OF_DRIVER = re.compile(r"mem(?:cpy|set)[0-9]*(?:_[a-z0-9_]*)?")


def common_tokens(
    dot: Sequence[DotNode], nodes: Rows, names: Sequence[str]
) -> tuple[IntArray, IntArray]:
    """Return a number for each node of either side, equal where both can be the same work.

    Parameters
    ----------
    dot
        Timed nodes of a dump.
    nodes
        Nodes of a trace (columns of rows.Node).
    names
        Names of their kernels; "": of what is none.
    """
    of_dot, of_trace = _fine(dot, nodes, names)
    is_alike = _as_often(of_dot, of_trace)
    of_dot, of_trace = (
        [key if is_alike(key) else _without_direction(key) for key in keys]
        for keys in (of_dot, of_trace)
    )
    for kind in (NodeType.MEMCPY, NodeType.MEMSET):
        of_dot, of_trace = _with_kernels_of_driver(kind, of_dot, of_trace, names)
    numbers: dict[Hashable, int] = {}
    left, right = (
        np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
        for keys in (of_dot, of_trace)
    )
    return left, right


def can_be_same(dot: DotNode, kind: int, symbol: str) -> bool:
    """Return whether a node of a dump can be the work of a trace's by kind and kernel name."""
    if dot.type != kind:
        return kind == NodeType.KERNEL and kind_of_driver(symbol) == dot.type
    if dot.type == NodeType.KERNEL:
        assert dot.kernel is not None
        return demangle(dot.kernel.mangled_name) == demangle(symbol)
    return True


def kind_of_driver(symbol: str) -> NodeType | None:
    """Return which kind of node the driver runs by a kernel; None: it is no such kernel."""
    if _OF_DRIVER.fullmatch(symbol) is None:
        return None
    return NodeType.MEMCPY if symbol.startswith("memcpy") else NodeType.MEMSET


_SHAPE = tuple(f"{of}_{axis}" for of in ("grid", "block") for axis in "xyz")
#: Kind, kernel name, then shape, or size and direction.
_Key = tuple[Hashable, ...]


def _fine(
    dot: Sequence[DotNode], nodes: Rows, names: Sequence[str]
) -> tuple[list[_Key], list[_Key]]:
    """Return what each node does, as finely as the dump has it of its like."""
    plain = {_like(node.type, _dot_name(node)) for node in dot if not _is_shaped(node)}
    of_dot = []
    for node in dot:
        like = _like(node.type, _dot_name(node))
        if node.kernel is not None:
            detail: _Key = (node.kernel.grid_dim, node.kernel.block_dim)
        else:
            direction = node.memcpy.direction if node.memcpy is not None else None
            size = _size(node)
            detail = (
                UNKNOWN if size is None else size,
                COPY_KINDS.get((direction or "").lower(), UNKNOWN),
            )
        of_dot.append(like if like in plain else (*like, *detail))
    of_trace = []
    for name, (kind, *shape, size, copy_kind) in zip(
        names, nodes[["type", *_SHAPE, "bytes", "copy_kind"]].tolist(), strict=True
    ):
        like = _like(kind, name)
        if kind == NodeType.KERNEL:
            detail = (tuple(shape[:3]), tuple(shape[3:]))
        else:
            detail = (size, copy_kind)
        of_trace.append(like if like in plain else (*like, *detail))
    return of_dot, of_trace


def _like(kind: int, name: str) -> _Key:
    return (int(kind), demangle(name) if kind == NodeType.KERNEL else "")


def _dot_name(node: DotNode) -> str:
    return "" if node.kernel is None else node.kernel.mangled_name


def _as_often(of_dot: Sequence[_Key], of_trace: Sequence[_Key]) -> Callable[[_Key], bool]:
    """Return what says whether copies of a size go in the same directions on both sides."""
    left, right = Counter(of_dot), Counter(of_trace)
    unlike = {
        _without_direction(key) for key in left.keys() | right.keys() if left[key] != right[key]
    }
    return lambda key: _without_direction(key) not in unlike


def _without_direction(key: _Key) -> _Key:
    return key if key[0] == NodeType.KERNEL or len(key) < 4 else key[:3]


def _with_kernels_of_driver(
    kind: NodeType, of_dot: list[_Key], of_trace: list[_Key], names: Sequence[str]
) -> tuple[list[_Key], list[_Key]]:
    """Return keys in which nodes of a kind that lack work are like kernels the driver made."""
    left, right = Counter(of_dot), Counter(of_trace)
    made = {
        key
        for key, name in zip(of_trace, names, strict=True)
        if right[key] > left[key] and kind_of_driver(name) == kind
    }
    lacking = {key for key in left if key[0] == kind and left[key] > right[key]}
    if not made or not lacking:
        return of_dot, of_trace
    either = made | lacking
    common: _Key = (kind, "by the driver")
    return (
        [common if key in either else key for key in of_dot],
        [common if key in either else key for key in of_trace],
    )


def _is_shaped(node: DotNode) -> bool:
    return _size(node) is not None if node.kernel is None else node.kernel.grid_dim is not None


def _size(node: DotNode) -> int | None:
    sized = node.memcpy or node.memset
    return None if sized is None else sized.bytes
