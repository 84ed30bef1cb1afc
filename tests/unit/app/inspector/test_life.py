"""Faults of a run, and its executables: what their updates came to, and why some were refused."""

from __future__ import annotations

from pathlib import Path

from app_tree import texts
from life_recordings import write_life_recording
from spool_writing import FoldRecords, graph_records

from gviz.app.components.addresses import Addresses
from gviz.app.files.library import Library
from gviz.app.server.application import render_page
from gviz.cuda.node_type import NodeType
from gviz.spool.records import table
from gviz.spool.records.enums import FaultKind
from gviz.spool.records.format import RecordType


def test_refused_update_has_its_reason(tmp_path: Path) -> None:
    library = Library([write_life_recording(tmp_path / "life.gviz")])
    page, *_ = render_page(library, Addresses("/"), "/run", "?file=life&run=1")
    reason = "the new graph has 2 nodes, the executable 1 (TOPOLOGY_CHANGED)"
    assert f"2,954, 1 refused: {reason}" in texts(page)
    titles = [getattr(part, "title", None) for part in page._traverse()]
    assert reason in titles


def test_fault_of_the_black_box_stands_among_what_failed(fold_records: FoldRecords) -> None:
    chain = graph_records(5, 9, [NodeType.KERNEL] * 2, [(0, 1)])
    fault = table.FAULT.pack(77, FaultKind.ERROR, 700, 0, 0)
    with fold_records([*chain, (RecordType.FAULT, fault)]) as recording:
        library = Library([recording.path])
        page, *_ = render_page(library, Addresses("/"), "/run", f"?file={recording.path.stem}")
    assert "Black box" in texts(page)
    assert "The GPU failed: a kernel used an address that is not its own" in "".join(texts(page))
