"""The spans of one launch, read once for all views of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gviz.model.tree.keep import Keep, build_anew

if TYPE_CHECKING:
    from gviz.recording import Recording, SpanArrays


def read_launch_spans(recording: Recording, launch_id: int, keep: Keep = build_anew) -> SpanArrays:
    """Return the spans of one launch."""
    return keep(("spans", launch_id), lambda: recording.fetch_spans(launch_id))
