"""The identity of a graph's shape: equal graphs share one topology in a recording."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence

#: Raised when the meaning of the hash changes: it is part of what is hashed.
_VERSION = b"gviz topology 1"


def topology_hash(
    types: Sequence[int], names: Sequence[str], edges: Iterable[Sequence[int]]
) -> str:
    """Return the SHA-256 (hex) of a graph level's shape; it holds no address and no time.

    Parameters
    ----------
    types
        Node types, in order of node_id.
    names
        Mangled kernel names in the same order; "" for nodes that are no kernels.
    edges
        Rows (from_node, to_node, type, from_port, to_port) in any order, with node ids
        as the recording stores them: graphs that share a hash share the edge rows.

    Raises
    ------
    ValueError
        If ``types`` and ``names`` differ in length.
    """
    if len(types) != len(names):
        raise ValueError(f"{len(types)} types but {len(names)} names; give one name a node")
    digest = hashlib.sha256(_VERSION)
    digest.update(struct.pack(f"<q{len(types)}q", len(types), *map(int, types)))
    encoded = [name.encode("utf-8", "surrogateescape") for name in names]
    digest.update(struct.pack(f"<{len(encoded)}q", *map(len, encoded)))
    digest.update(b"".join(encoded))
    for edge in sorted(tuple(map(int, e)) for e in edges):
        digest.update(struct.pack("<5q", *edge))
    return digest.hexdigest()
