"""Changes of the nodes of two graphs, in all levels, for the colours of their spans."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.pages.compare.comparison import Comparison
from gviz.app.views import (
    VERDICTS,
    Arrays,
    Strings,
    change_arrays,
    change_scale,
    is_significant,
    lone_arrays,
)

_NAMES = ("change_ns", "change_log2", "verdict")


def span_changes(found: Comparison) -> Arrays:
    """Return one value a node of both sides, partners once.

    change_node (u4: its number on the page), change_ns, change_log2 (f4, NaN: none),
    change_verdict (u1, index into :data:`gviz.app.views.change_overlay.VERDICTS`).
    """
    numbers: list[npt.NDArray[Any]] = []
    parts: list[Arrays] = []
    for at, level in enumerate(found.page.levels):
        if level.alone:
            parts.append(_lone(found, at))
            numbers.append(_numbers(found, level.side, level.place))
            continue
        comparison = found.level(at)
        before, after = (_numbers(found, side, level.places[side] or 0) for side in (0, 1))
        parts.append(change_arrays(comparison, Strings()))
        numbers.append(after)
        gone = comparison.removed
        parts.append(lone_arrays(np.full(len(gone), np.nan, np.float32), "removed"))
        numbers.append(before[gone])
    joined = {name: np.concatenate([part[name] for part in parts]) for name in _NAMES}
    return {
        "change_node": np.concatenate(numbers).astype(np.uint32),
        "change_ns": joined["change_ns"],
        "change_log2": joined["change_log2"],
        "change_verdict": joined["verdict"],
    }


def _numbers(found: Comparison, side: int, place: int) -> npt.NDArray[np.int64]:
    """Return the page's numbers of a level's nodes."""
    level = found.trees[side].levels[place]
    return found.keys.of_side(side)[level.first : level.end]


def _lone(found: Comparison, at: int) -> Arrays:
    level = found.page.levels[at]
    median = np.full(found.item_count(at), np.nan, np.float32)
    return lone_arrays(median, "added" if level.side else "removed")


def changes_header(arrays: Arrays) -> dict[str, Any]:
    """Return what verdicts are called, and the scales of both colours."""
    counted = is_significant(arrays["change_verdict"])
    scales = {
        by: change_scale(arrays[name].astype(np.float64), counted)
        for by, name in (("change", "change_ns"), ("ratio", "change_log2"))
    }
    return {"verdicts": VERDICTS, **scales}
