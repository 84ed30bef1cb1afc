"""Directions of copies, in words."""

from __future__ import annotations

from gviz.cuda import CopyKind

_PLACES = {"H": "host", "D": "device", "A": "array", "P": "peer device"}


def copy_direction(kind: int) -> str:
    """Return a copy kind in words, such as 'host to device'."""
    try:
        name = CopyKind(kind).name
    except ValueError:
        return f"kind {kind}"
    if "TO" not in name or name == "UNKNOWN":
        return "unknown"
    return f"{_PLACES[name[0]]} to {_PLACES[name[-1]]}"
