"""The breakdown of a graph's median launch as a payload: rows of blocks, in short and whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gviz.analysis import Breakdown, GraphSubject, LaunchBreakdown, launch_breakdown
from gviz.app.views.family_colours import read_family_colours
from gviz.app.views.wire import Arrays, Strings, pack
from gviz.model import read_timed_tree
from gviz.stats import IntArray, NotComputed

if TYPE_CHECKING:
    from gviz.model import Keep
    from gviz.recording import Recording


def read_breakdown(
    recording: Recording, graph_id: int, keep: Keep, subject: GraphSubject | None = None
) -> LaunchBreakdown | NotComputed:
    """Return the breakdown of a graph that is launched; RecordingError if there is none such.

    ``subject`` is the graph where it is analysed anyway.
    """
    graph = recording.fetch_graph(graph_id)
    return keep(
        ("breakdown", graph_id),
        lambda: launch_breakdown(subject or GraphSubject(recording, graph)),
    )


def breakdown_payload(recording: Recording, graph_id: int, keep: Keep) -> bytes:
    """Return the breakdown of a graph's median launch.

    Arrays, each once with ``strip_`` and once with ``whole_`` before its name: node (u4, numbers on
    the page of the timed nodes, in the order of the last row's blocks); one value a block, the rows
    behind each other: row (u1), label (string), parent (u4, a block of the row above, counted from
    that row's first), first, end (u4, its nodes), executions (u4), total_ns, cover_ns, width_ns
    (f8, see :mod:`gviz.analysis.launch.breakdown`), slot (u1, the colour of a family; 255
    elsewhere).
    Header: ``strip`` and ``whole`` name their rows, ``launch_ns``, ``idle_ns``, ``has_gaps``,
    ``not_computed`` (why there are no blocks; null: there are).
    """
    found = read_breakdown(recording, graph_id, keep)
    strings = Strings()
    arrays: Arrays = {}
    header: dict[str, object] = {"kind": "breakdown", "graph_id": graph_id, "not_computed": None}
    if isinstance(found, NotComputed):
        header |= {"not_computed": found.not_computed, "strip": [], "whole": []}
    else:
        tree = read_timed_tree(recording, graph_id, keep)
        slots = read_family_colours(recording, tree, keep).slot_of
        header |= {"launch_ns": found.strip.launch_ns, "idle_ns": found.strip.idle_ns}
        header["has_gaps"] = found.has_gaps
        for name, form in (("strip", found.strip), ("whole", found.whole)):
            header[name] = [row.name for row in form.rows]
            own = _arrays(form, tree.key, slots, strings)
            arrays |= {f"{name}_{array}": values for array, values in own.items()}
    return pack({**header, "strings": strings.to_list()}, arrays)


def _arrays(form: Breakdown, key: IntArray, slots: Mapping[str, int], strings: Strings) -> Arrays:
    rows = form.rows
    labels = [label for row in rows for label in row.labels]
    sizes = [len(row) for row in rows]
    is_family = np.repeat([row.name == "family" for row in rows], sizes)
    slot = [slots.get(label, 255) for label in labels]
    # The first row has none above it.
    parent = np.concatenate([row.parent for row in rows]).clip(0)
    return {
        "node": key[form.node].astype(np.uint32),
        "row": np.repeat(np.arange(len(rows)), sizes).astype(np.uint8),
        "label": strings.indices(labels),
        "parent": parent.astype(np.uint32),
        "slot": np.where(is_family, slot, 255).astype(np.uint8),
        **{
            name: np.concatenate([getattr(row, name) for row in rows]).astype(np.uint32)
            for name in ("first", "end", "executions")
        },
        **{
            name: np.concatenate([getattr(row, name) for row in rows])
            for name in ("total_ns", "cover_ns", "width_ns")
        },
    }
