"""Overlays of the DAG: values on a scale, and categories, that colour its nodes.

The header of the DAG's payload says for each overlay that this graph has where its values are
(an array of the payload), and what they mean; assets/web/dag/overlay draws from that alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from gviz.app.components import OVERLAYS, Overlay
from gviz.app.views.change_overlay import is_significant
from gviz.app.views.wire import Arrays, Strings
from gviz.formats import ColourScale
from gviz.model import TimedLevel
from gviz.stats import FloatArray

#: Categories of which there may be many, and neighbours matter: the colours repeat.
_CYCLING = frozenset({"lane", "nvtx", "module"})


def overlay_arrays(level: TimedLevel, strings: Strings) -> Arrays:
    """Return the arrays of overlays that need more than a node's own times.

    slack_ns, occupancy (f4, NaN: none), nvtx, device (i4, string or -1), critical (u4,
    node indices of the structural critical path, in order).
    """
    path = level.critical_path()
    slack = path.slack_ns if path is not None else np.full(len(level.nodes), np.nan)
    return {
        "slack_ns": slack.astype(np.float32),
        "critical": (path.nodes if path is not None else np.zeros(0)).astype(np.uint32),
        "occupancy": level.nodes.numbers("occupancy_fraction").astype(np.float32),
        "nvtx": _texts(level.tree.nvtx, level.nodes.integers("nvtx_path_id", -1), strings),
        "device": _texts(level.tree.devices, level.nodes.integers("device_id", -1), strings),
    }


def _texts(
    texts: Mapping[int, str], keys: npt.NDArray[np.int64], strings: Strings
) -> npt.NDArray[np.int32]:
    used, which = np.unique(keys, return_inverse=True)
    index = [strings.add(texts[key]) if key in texts else -1 for key in used.tolist()]
    return np.array(index, np.int32)[which.reshape(-1)]


def describe_overlays(arrays: Arrays) -> dict[str, dict[str, Any]]:
    """Return, by name, the overlays for which these arrays hold anything."""
    found: dict[str, dict[str, Any]] = {}
    for overlay in OVERLAYS:
        values = arrays.get(overlay.array)
        if values is None or not _has_values(overlay, values):
            continue
        found[overlay.name] = _entry(overlay)
        if overlay.unit is not None:
            found[overlay.name]["scale"] = _scale(overlay, arrays)
    return found


def all_overlays() -> list[dict[str, Any]]:
    """Return each overlay that there may be: its name, its array, and what is told of it but its
    scale (``entry``).
    """
    return [{"name": o.name, "array": o.array, "entry": _entry(o)} for o in OVERLAYS]


def _entry(overlay: Overlay) -> dict[str, Any]:
    entry: dict[str, Any] = {"label": overlay.label, "array": overlay.array}
    if overlay.unit is None:
        return entry | {"cycles": overlay.name in _CYCLING}
    return entry | {"unit": overlay.unit, "missing": overlay.missing, "signed": overlay.signed}


def _scale(overlay: Overlay, arrays: Arrays) -> dict[str, Any]:
    values = arrays[overlay.array].astype(np.float64)
    if overlay.signed:
        return change_scale(values, is_significant(arrays["verdict"]))
    return value_scale(values)


def _has_values(overlay: Overlay, values: npt.NDArray[Any]) -> bool:
    if overlay.unit is not None:
        return bool(np.isfinite(values).any())
    return bool((values >= 0).any()) if values.dtype.kind == "i" else bool(len(values))


def value_scale(values: FloatArray) -> dict[str, Any]:
    """Return how values map to colours: least and most, and log where their ratio is high.

    Both are None when no value is above zero.
    """
    return asdict(ColourScale.of(values))


def change_scale(values: FloatArray, counted: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Return how values on both sides of zero map to colours, as :func:`value_scale`.

    ``most`` is the greatest change that counts, ``least`` the smallest; where none counts, all
    do.
    """
    chosen = values[counted] if np.isfinite(values[counted]).any() else values
    return value_scale(np.abs(chosen))
