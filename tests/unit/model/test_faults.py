"""Nodes that the black box names, and a file has lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from whole_recording import write_whole_recording

from gviz.model.faults import summarize_faults
from gviz.recording.reader import Recording

RUN = 1


def test_node_that_the_file_has_lost_is_not_named(tmp_path: Path) -> None:
    path = write_whole_recording(tmp_path / "whole.gviz")
    with Recording(path) as recording:
        (whole,) = summarize_faults(recording, RUN)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE fault_node SET node_id=77777 WHERE role='running'")
        database.execute("UPDATE fault_node SET node_id=-5 WHERE role='last' AND position=1")
    with Recording(path) as recording:
        (damaged,) = summarize_faults(recording, RUN)
    assert (len(whole.running), len(damaged.running)) == (1, 0)
    assert damaged.last == (whole.last[0], whole.last[2])
    assert damaged.next == whole.next
    assert damaged.running_count == 0  # the recovered file has no rows of lost nodes


def test_twenty_nodes_of_a_role_are_read_and_all_are_counted(tmp_path: Path) -> None:
    path = write_whole_recording(tmp_path / "whole.gviz")
    with closing(sqlite3.connect(path)) as database, database:
        names = [row[1] for row in database.execute("PRAGMA table_info(fault_node)")]
        columns = ", ".join("position + ?" if name == "position" else name for name in names)
        one = f"SELECT {columns} FROM fault_node WHERE role='running' AND position < 100"
        for further in range(100, 3_000, 100):
            database.execute(f"INSERT INTO fault_node {one}", (further,))
    with Recording(path) as recording:
        (found,) = summarize_faults(recording, RUN)
    assert (len(found.running), found.running_count) == (20, 30)
