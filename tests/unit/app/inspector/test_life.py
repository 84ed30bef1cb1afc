"""The table of executables: what their updates came to, and why some were refused."""

from __future__ import annotations

from pathlib import Path

from app_tree import texts
from life_recordings import write_life_recording

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.server.application import render_page


def test_refused_update_has_its_reason(tmp_path: Path) -> None:
    library = Library([write_life_recording(tmp_path / "life.gviz")])
    page, *_ = render_page(library, Addresses("/"), "/run", "?file=life&run=1")
    reason = "the new graph has 2 nodes, the executable 1 (TOPOLOGY_CHANGED)"
    assert f"2,954, 1 refused: {reason}" in texts(page)
    titles = [getattr(part, "title", None) for part in page._traverse()]
    assert reason in titles
