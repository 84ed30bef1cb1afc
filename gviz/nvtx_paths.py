"""NVTX paths as text."""

from __future__ import annotations

from collections.abc import Mapping

from gviz.recording import rows

#: Stands between a range and the one inside it.
SEPARATOR = " › "


def nvtx_texts(paths: Mapping[int, rows.NvtxPath]) -> dict[int, str]:
    """Return each NVTX path as text, outermost range first, by nvtx_path_id."""
    found: dict[int, str] = {}
    for key in paths:
        parts: list[str] = []
        step: int | None = key
        while step is not None and step in paths and len(parts) <= len(paths):
            path = paths[step]
            parts.append(f"{path.domain}: {path.text}" if path.domain else path.text)
            step = path.parent_id
        found[key] = SEPARATOR.join(reversed(parts))
    return found
