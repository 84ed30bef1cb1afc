"""Values of nodes as the inspector is sent them: assets/web/inspector/values.js says them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gviz.cuda import ElementType
from gviz.model import GivenMemory, GraphTree, GraphValues, MemoryContents, read_histogram

#: Nodes that are named beside memory.
_NAMED = 4


def value_records(tree: GraphTree, values: GraphValues, node: int) -> list[dict[str, Any]]:
    """Return the memory that a node is given, with what it held; empty where none was read."""
    return [_record(tree, values, memory) for memory in values.by_node.get(node, ())]


def _record(tree: GraphTree, values: GraphValues, memory: GivenMemory) -> dict[str, Any]:
    return {
        "position": memory.position,
        "parameter": memory.parameter_text,
        "start": memory.start,
        "bytes": memory.bytes,
        "at_most": memory.is_at_most,
        "element": None if memory.element == ElementType.BYTES else memory.element.text,
        "use": memory.use_text,
        "before": _held(values, memory, memory.before),
        "after": _held(values, memory, memory.after) if memory.is_changed else None,
        "writers": _named(tree, values.writers(memory)),
        "readers": _named(tree, values.readers(memory)),
    }


def _named(tree: GraphTree, nodes: Sequence[int]) -> dict[str, Any]:
    return {"count": len(nodes), "keys": [int(tree.key[node]) for node in nodes[:_NAMED]]}


def _held(values: GraphValues, memory: GivenMemory, contents: MemoryContents) -> dict[str, Any]:
    kept = values.kept_file(memory, contents)
    return {
        "hash": contents.hash_text,
        "varies": contents.varies,
        "nan": contents.nan_count,
        "infinite": contents.infinite_count,
        "zero": contents.zero_count,
        "finite": contents.finite_count,
        "least": contents.least,
        "greatest": contents.greatest,
        "mean": contents.mean,
        "histogram": None if kept is None else read_histogram(kept),
    }
