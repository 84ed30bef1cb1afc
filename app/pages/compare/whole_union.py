"""Both graphs with all levels in one DAG, out of which a browser makes what is visible and lays it
out.

assets/web/layout makes of it what :func:`gviz.app.pages.compare.union_dag.union_dag` makes for a
request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.compare.open_union import UnionLevel, every_level, union_parents
from gviz.app.pages.compare.union_dag import (
    both_header,
    both_slots,
    edges_known,
    joined,
    level_reader,
    node_changes,
    requested_header,
)
from gviz.app.views import (
    SIGNIFICANT,
    VERDICTS,
    Arrays,
    Strings,
    labels_of,
    layout_header,
    pack,
    whole_parents,
)
from gviz.dag import cover_graph
from gviz.recording import Recording


def whole_union(
    found: Comparison, recordings: tuple[Recording, Recording], names: tuple[str, str]
) -> bytes:
    """Return both graphs as one DAG with all bodies in it, as :mod:`gviz.app.views.wire` has it.

    Arrays are those of :func:`gviz.app.pages.compare.union_dag.union_dag`, of all levels of the
    page, one after the other; ``levels`` in the header says which part is whose. They are like
    those of :func:`gviz.app.views.dag_source.whole_dag`, folds, launches and memory aside. Edges
    lead as they are laid out; runs_back (u1, one an edge) marks those that lead the other way.

    Parameters
    ----------
    recordings, names
        Before and after.
    """
    levels = every_level(found, level_reader(found, recordings))
    strings = Strings()
    parts = [node_changes(found, level, strings) for level in levels]
    arrays = joined(parts) | joined([_edge_arrays(level) for level in levels])
    arrays["critical"] = np.zeros(0, np.uint32)
    arrays |= _parent_arrays(found, levels, strings)
    slots = both_slots(found, strings)
    texts = strings.to_list()
    header = {
        **layout_header(),
        "shown": both_header(found, names),
        "significant": [VERDICTS.index(verdict) for verdict in SIGNIFICANT],
        "levels": _about(found, levels),
        "launches": [],
        "node_arrays": list(parts[0]),
        **slots,
        "labels": labels_of(texts, [arrays["name"]]),
        "strings": texts,
    }
    return pack(header, arrays)


def _edge_arrays(level: UnionLevel) -> Arrays:
    """Return the edges of a level as they are laid out, and the rows and chains of its items."""
    union = level.union
    source, target = union.forward()
    cover = cover_graph(len(level), source, target)
    return {
        "edge_from": source.astype(np.uint32),
        "edge_to": target.astype(np.uint32),
        "edge_type": union.edge_type.astype(np.uint8),
        "edge_origin": union.edge_origin,
        "runs_back": union.runs_back.astype(np.uint8),
        "row": cover.row.astype(np.uint32),
        "chain": cover.chain.astype(np.uint32),
    }


def _parent_arrays(found: Comparison, levels: Sequence[UnionLevel], strings: Strings) -> Arrays:
    numbers = np.concatenate([level.numbers for level in levels])
    parents = list(union_parents(found, levels))
    inside = [at for parent in parents for at in found.page.bodies[int(numbers[parent.item])]]
    return whole_parents(parents, inside, strings)


def _about(found: Comparison, levels: Sequence[UnionLevel]) -> list[dict[str, Any]]:
    """Return of each level its parts of the arrays, its parent node, and what its header has."""
    numbers = np.concatenate([level.numbers for level in levels])
    item_of = {number: item for item, number in enumerate(numbers.tolist())}
    parents = [page.parent for page in found.page.levels]
    ends = np.cumsum([len(level.union.source) for level in levels]).tolist()
    return [
        {
            "first": level.first,
            "end": level.first + len(level),
            "parent": -1 if parent is None else item_of[parent],
            "edges": [end - len(level.union.source), end],
            "critical": [0, 0],
            "edges_known": edges_known(level),
            "shown": requested_header(level),
        }
        for level, parent, end in zip(levels, parents, ends, strict=True)
    ]
