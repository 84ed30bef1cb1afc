"""Values of nodes as the inspector is sent them: assets/web/inspector/values.js says them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gviz.cuda import ElementType
from gviz.model import GivenMemory, GraphTree, GraphValues, MemoryContents

#: Nodes that are named beside memory.
_NAMED = 4


def value_records(tree: GraphTree, values: GraphValues, node: int) -> list[dict[str, Any]]:
    """Return the memory that a node is given, with what it held; empty where none was read."""
    return [_record(tree, values, memory) for memory in values.by_node.get(node, ())]


def _record(tree: GraphTree, values: GraphValues, memory: GivenMemory) -> dict[str, Any]:
    at = values.places[memory.key]

    def keys(places: Iterable[int]) -> list[int]:
        nodes = dict.fromkeys(values.given[place].node for place in places)
        found: list[int] = tree.key[list(nodes)].tolist() if nodes else []
        return found

    writers, readers = keys(values.flow.sources[at]), keys(values.flow.readers[at])
    return {
        "position": memory.position,
        "parameter": memory.parameter_text,
        "start": memory.start,
        "bytes": memory.bytes,
        "element": None if memory.element == ElementType.BYTES else memory.element.text,
        "use": memory.use_text,
        "before": _held(memory.before),
        "after": _held(memory.after) if memory.is_changed else None,
        "writers": {"count": len(writers), "keys": writers[:_NAMED]},
        "readers": {"count": len(readers), "keys": readers[:_NAMED]},
    }


def _held(contents: MemoryContents) -> dict[str, Any]:
    return {
        "hash": contents.hash_text,
        "varies": contents.varies,
        "nan": contents.nan_count,
        "infinite": contents.infinite_count,
        "zero": contents.zero_count,
        "least": contents.least,
        "greatest": contents.greatest,
        "mean": contents.mean,
    }
