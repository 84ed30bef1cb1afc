"""Both versions of a graph on one time axis: the median launch of each, from its first node."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.components import Sides
from gviz.app.files import split_version
from gviz.app.pages.compare.comparison import Comparison
from gviz.app.pages.compare.span_changes import changes_header, span_changes
from gviz.app.views import (
    Arrays,
    SideArrays,
    ViewWindow,
    median_side,
    nested_arrays,
    pack_sides,
    read_arrays,
    value_scale,
)
from gviz.cuda import node_type_name
from gviz.model import Keep, read_level
from gviz.recording import Recording
from gviz.stats import distinct_values

#: Sides of the view, by whose launch they show: A above B.
_PLACES = ("graph", "stream")
_LETTERS = ("A", "B")


def both_timelines(
    found: Comparison,
    recordings: tuple[Recording, Recording],
    versioned: Sides,
    window: ViewWindow | None,
    keep: tuple[Keep, Keep],
    *,
    whole: bool = False,
) -> bytes:
    """Return the payload of a timeline whose sides are the launches before and after.

    Arrays are those of :func:`gviz.app.views.payload.timeline_payload` for median launches, nodes
    by their numbers on the Compare page, and those of
    :func:`gviz.app.pages.compare.span_changes.span_changes`. ``header["sides"]`` says for each
    side what it is called, what stands in place of its launch, and what its length is compared
    with.

    Parameters
    ----------
    recordings
        Before and after.
    versioned
        Both files as ``key@version``.
    window
        The part that is wanted where there is too much.
    keep
        Remember what was read of each file.
    whole
        Send all spans, however many.
    """
    graph, stream = (
        keep[side](
            ("compared side", side, versioned, found.pair.pair),
            partial(_side, found, recordings[side], side),
        )
        for side in (0, 1)
    )
    names = tuple(split_version(file)[0] for file in (versioned.before, versioned.after))
    sides = {"graph": graph, "stream": stream.after(len(graph.strings))}
    kinds = distinct_values(np.concatenate([t.nodes.integers("type") for t in found.trees]))
    durations = np.concatenate([tree.times.median_ns for tree in found.trees])
    scale = value_scale(durations)
    # Of a large pair a window is requested with each step of the wheel.
    changes = keep[1](("span changes", versioned, found.pair.pair), lambda: span_changes(found))
    header: dict[str, Any] = {
        "kind": "timeline",
        "graph_id": found.trees[1].graph.graph_id,
        "graph_name": f"{names[0]} and {names[1]}",
        "graph": graph.header,
        "stream": stream.header,
        "kinds": {t: node_type_name(t) for t in kinds.tolist()},
        "scale": {"least_ns": scale["least"], "most_ns": scale["most"], "log": scale["log"]},
        "changes": changes_header(changes),
        "sides": {
            place: {
                "title": f"{letter} · {name}",
                "letter": letter,
                "missing": f"No launch of {letter} was recorded with node times, so there are no "
                "spans to show: launch the graph inside the profile.",
                "against": other,
            }
            for place, letter, other, name in zip(
                _PLACES, _LETTERS, _LETTERS[::-1], names, strict=True
            )
        },
    }  # fmt: skip
    before, after = (tree.parent for tree in found.trees)
    nested = nested_arrays((before, found.keys.before), (after, found.keys.after))
    more = nested | changes
    return pack_sides(header, sides, window or ViewWindow(), more, whole=whole)


def _side(found: Comparison, recording: Recording, side: int) -> SideArrays:
    tree = found.trees[side]
    level = read_level(recording, tree)
    slots = found.families[side].slots()
    read = read_arrays("graph", lambda strings: median_side(recording, level, strings, slots))
    place = _PLACES[side]
    arrays: Arrays = {place + n.removeprefix("graph"): a for n, a in read.arrays.items()}
    if read.header is not None:
        arrays[f"{place}_node_id"] = _numbers(found, side, arrays[f"{place}_node_id"])
    return read._replace(name=place, arrays=arrays)


def _numbers(found: Comparison, side: int, keys: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return the page's numbers for those that nodes have in their own tree."""
    tree = found.trees[side]
    numbers = found.keys.of_side(side)
    return numbers[np.searchsorted(tree.key, keys)].astype(np.uint32)
