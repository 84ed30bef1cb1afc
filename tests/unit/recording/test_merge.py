"""Merging recordings: every run's rows stay equal, only ids of ours are new."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from places import TESTS
from recording_equality import normal_run
from recordings import fork_join_shape, wide_shape, write_loop_recording, write_recording
from valued_recordings import keep_values

from gviz.errors import RecordingError
from gviz.recording import rows
from gviz.recording.merge import merge_recordings
from gviz.recording.output import contents_folder
from gviz.recording.reader import Recording
from gviz.recording.rows.schema import all_tables
from gviz.recording.salvage import DAMAGE
from gviz.recording.writer import RecordingWriter

GOLDEN = TESTS / "golden"
#: Ids that CUDA, CUPTI or the operating system gives: they stay as they are.
FOREIGN_IDS = {
    "process_id", "device_id", "thread_id", "capture_thread_id", "created_thread_id",
    "cuda_graph_id", "cuda_exec_id", "node_id", "exec_node_id", "parent_node_id",
    "stream_id", "capture_stream_id", "correlation_id", "instantiate_thread_id", "error_thread_id",
    "error_stream_id", "failing_node_id", "free_node_id", "to_node_id",
}  # fmt: skip
#: Numbers from 0 within their run.
COUNTED_IN_THE_RUN = {"window_id", "period_id"}


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """Three recordings that share nothing but the builder."""
    return [
        write_recording(tmp_path / "fork.gviz", fork_join_shape(), launches=3),
        write_loop_recording(tmp_path / "loop.gviz"),
        write_recording(tmp_path / "wide.gviz", wide_shape(8, 3), launches=2, eager=False),
    ]


def _runs(paths: Sequence[Path]) -> Iterator[dict[str, list[object]]]:
    for path in paths:
        with Recording(path) as recording:
            for run in recording.fetch_runs():
                yield normal_run(recording, run.run_id)


def test_every_integer_id_is_of_a_table_or_known_to_be_foreign() -> None:
    unknown = [
        f"{table.name}.{column.name}"
        for table in all_tables()
        for column in table.columns
        if column.name.endswith("_id") and column.sql_type == "INTEGER" and column.key is None
        if column.name not in FOREIGN_IDS | COUNTED_IN_THE_RUN
    ]
    assert not unknown, "give them column(key=...), or name them above: merging must know"


def test_every_key_names_a_table_that_numbers_its_rows_so() -> None:
    tables = {table.name: table for table in all_tables()}
    for table in all_tables():
        for column in table.columns:
            if column.key is None:
                continue
            assert column.sql_type == "INTEGER"
            owner = tables[column.key]
            numbered = {c.name: c.key for c in owner.columns}[owner.primary_key[0]]
            assert numbered == column.key, f"{table.name}.{column.name}"


def test_foreign_ids_are_columns() -> None:
    names = {column.name for table in all_tables() for column in table.columns}
    assert names >= FOREIGN_IDS | COUNTED_IN_THE_RUN


def test_merged_runs_are_equal_but_for_their_ids(tmp_path: Path, sources: list[Path]) -> None:
    merged = merge_recordings(sources, tmp_path / "all.gviz")
    assert merged == tmp_path / "all.gviz"
    assert list(_runs([merged])) == list(_runs(sources))
    with Recording(merged) as recording:
        assert [run.run_id for run in recording.fetch_runs()] == [1, 2, 3]


@pytest.mark.thorough
def test_recordings_of_a_real_gpu_merge(tmp_path: Path) -> None:
    folder = GOLDEN.parent.parent / "assets" / "recordings"
    bundled = [folder / "decode_step.gviz", folder / "cupy_pipeline.gviz"]
    merged = merge_recordings(bundled, tmp_path / "all.gviz")
    assert list(_runs([merged])) == list(_runs(bundled))


def test_merged_recordings_merge_again(tmp_path: Path, sources: list[Path]) -> None:
    first = merge_recordings(sources[:2], tmp_path / "first.gviz")
    second = merge_recordings([sources[2], first], tmp_path / "second.gviz")
    expected = [*_runs(sources[2:]), *_runs(sources[:2])]
    assert list(_runs([second])) == expected


@pytest.mark.thorough
def test_more_recordings_than_sqlite_holds_at_once_merge(tmp_path: Path) -> None:
    paths = [write_loop_recording(tmp_path / f"{i}.gviz", iterations=i) for i in range(1, 25)]
    merged = merge_recordings(paths, tmp_path / "all.gviz")
    assert list(_runs([merged])) == list(_runs(paths))


def test_equal_topologies_are_stored_once(tmp_path: Path) -> None:
    paths = [
        write_recording(tmp_path / f"{i}.gviz", fork_join_shape(), launches=1, seed=i)
        for i in range(3)
    ]
    merged = merge_recordings(
        [*paths, write_loop_recording(tmp_path / "loop.gviz")], tmp_path / "m"
    )
    with Recording(merged) as recording:
        topologies = {graph.topology_id for graph in recording.fetch_graphs()}
        assert len(topologies) == 1 + 2
        assert len({recording.fetch_topology(t or 0).hash for t in topologies}) == 3
    with sqlite3.connect(merged) as database:
        assert database.execute("SELECT count(*) FROM topology").fetchone() == (3,)


def test_topologies_of_one_hash_but_other_edges_stay_apart(tmp_path: Path) -> None:
    paths = []
    for name, to_node in (("a.gviz", 2), ("b.gviz", 3)):
        with RecordingWriter(tmp_path / name) as writer:
            writer.insert(
                rows.Run(run_id=1, name=name, state="completed", source="import"),
                rows.Graph(graph_id=1, run_id=1, name="g", origin="dot", topology_id=1),
                rows.Topology(topology_id=1, hash="0" * 64, node_count=3, edge_count=1),
                rows.Edge(
                    topology_id=1, from_node=1, to_node=to_node, type=0, from_port=0, to_port=0
                ),
            )
        paths.append(tmp_path / name)
    merged = merge_recordings(paths, tmp_path / "all.gviz")
    assert list(_runs([merged])) == list(_runs(paths))


def test_reference_without_its_row_does_not_come_to_mean_another_runs_row(tmp_path: Path) -> None:
    for name, stack_id in (("a.gviz", 1), ("b.gviz", 9)):
        with RecordingWriter(tmp_path / name) as writer:
            writer.insert(
                rows.Run(run_id=1, name=name, state="completed", source="import"),
                rows.Graph(graph_id=1, run_id=1, name="g", origin="dot"),
                rows.Node(
                    graph_id=1, node_id=1, exec_node_id=1, type=0, name="k", stack_id=stack_id
                ),
            )
    with RecordingWriter(tmp_path / "c.gviz") as writer:
        writer.insert(
            rows.Run(run_id=1, name="c", state="completed", source="import"),
            rows.StackFrame(stack_id=1, depth=0, location_id=1),
            rows.Location(location_id=1, file="x.py", line=1, function="f"),
        )
    merged = merge_recordings([tmp_path / f"{n}.gviz" for n in "abc"], tmp_path / "all.gviz")
    with Recording(merged) as recording:
        stacks = [recording.fetch_nodes(g.graph_id)[0].stack_id for g in recording.fetch_graphs()]
        assert [recording.fetch_stack(s or 0) for s in stacks] == [[], []]


def test_output_may_be_a_source_that_is_replaced(tmp_path: Path, sources: list[Path]) -> None:
    expected = list(_runs(sources))
    with pytest.raises(RecordingError, match="exists"):
        merge_recordings(sources, sources[0])
    merge_recordings(sources, sources[0], overwrite=True)
    assert list(_runs([sources[0]])) == expected


def test_sources_are_not_changed(tmp_path: Path, sources: list[Path]) -> None:
    before = [path.read_bytes() for path in sources]
    folder = sorted(os.listdir(tmp_path))
    merge_recordings(sources, tmp_path / "all.gviz")
    assert [path.read_bytes() for path in sources] == before
    assert sorted([*folder, "all.gviz"]) == sorted(os.listdir(tmp_path))


def test_names_that_sqlite_would_read_as_addresses_are_fine(
    tmp_path: Path, sources: list[Path]
) -> None:
    expected = list(_runs(sources[:2]))
    names = [tmp_path / "50% of ?mode=rwc#a.gviz", tmp_path / "file:b 'c'.gviz"]
    for old, new in zip(sources, names, strict=False):
        old.rename(new)
    assert list(_runs([merge_recordings(names, tmp_path / "file:x?y.gviz")])) == expected


# -- sources that are no good ------------------------------------------------------------


def _refused(tmp_path: Path, paths: Sequence[Path], says: str) -> None:
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(RecordingError, match=says):
        merge_recordings(paths, tmp_path / "all.gviz")
    assert sorted(os.listdir(tmp_path)) == before


def test_nothing_to_merge_is_an_error(tmp_path: Path) -> None:
    _refused(tmp_path, [], "nothing to merge")


def test_older_source_names_the_upgrade(tmp_path: Path, sources: list[Path]) -> None:
    old = GOLDEN / "recordings" / "schema_1.gviz"
    _refused(tmp_path, [*sources, old], f"gviz upgrade {old}")


def test_source_given_twice_is_refused(tmp_path: Path, sources: list[Path]) -> None:
    (tmp_path / "again.gviz").symlink_to(sources[0])
    _refused(tmp_path, [*sources, tmp_path / "again.gviz"], "again.gviz is the same file as")


def test_missing_source_is_refused(tmp_path: Path, sources: list[Path]) -> None:
    _refused(tmp_path, [*sources, tmp_path / "none.gviz"], "there is no file")


def test_damaged_source_is_merged_without_what_is_damaged(
    tmp_path: Path, sources: list[Path]
) -> None:
    with sqlite3.connect(sources[1]) as database:
        database.execute("UPDATE node SET stack_id='x' WHERE node_id = 1001")
        database.execute("DROP TABLE window")
    database.close()
    with Recording(merge_recordings(sources, tmp_path / "out.gviz")) as merged:
        notes = [merged.fetch_notes(run.run_id)[0] for run in merged.fetch_runs()]
    assert [note.kind == DAMAGE for note in notes] == [False, True, False]
    assert "1 table and 1 value unreadable" in notes[1].text


def test_source_with_ids_beyond_the_largest_is_refused(tmp_path: Path, sources: list[Path]) -> None:
    with sqlite3.connect(sources[1]) as database:
        database.execute("UPDATE node SET stack_id=?", (2**63 - 1,))
        database.execute("INSERT INTO stack VALUES (1, 0, 1)")
    database.close()
    with sqlite3.connect(sources[0]) as database:
        database.execute("INSERT INTO stack VALUES (7, 0, 1)")
    database.close()
    _refused(tmp_path, sources, r"loop\.gviz is damaged: an id of table stack")


def test_source_with_damaged_pages_is_refused(tmp_path: Path, sources: list[Path]) -> None:
    content = bytearray(sources[0].read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    sources[0].write_bytes(content)
    _refused(tmp_path, sources, "damaged: no run and no graph")


@pytest.mark.thorough
def test_normal_run_sees_every_column(tmp_path: Path) -> None:
    """The comparison itself: a change of any value of a run shows."""
    # The tables that have rows are those of a larger one.
    source = write_recording(tmp_path / "source.gviz", fork_join_shape(1, 2, 1), launches=2)
    with Recording(source) as recording:
        before = normal_run(recording, 1)
    content = source.read_bytes()
    changed = tmp_path / "changed.gviz"
    for table in all_tables():
        for column in table.columns:
            if column.name in table.primary_key or column.key is not None:
                continue
            changed.write_bytes(content)
            with sqlite3.connect(changed) as database:
                new = "x'00'" if column.sql_type == "BLOB" else "'77777'"
                done = database.execute(f"UPDATE {table.name} SET {column.name}={new}")
            database.close()
            if done.rowcount == 0:  # a table without rows: the file is as it was
                continue
            with Recording(changed) as recording:
                assert normal_run(recording, 1) != before, f"{table.name}.{column.name}"


def test_contents_of_memory_are_copied_beside_the_merged_file(
    sources: list[Path], tmp_path: Path
) -> None:
    kept = [keep_values(path, (float(at), 1.0)) for at, path in enumerate(sources[:2])]
    merged = merge_recordings(sources, tmp_path / "all.gviz")
    folder = contents_folder(merged)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == {
        file.name: file.read_bytes() for file in kept
    }
    modes = {file.stat().st_mode & 0o777 for file in folder.iterdir()}
    assert (folder.stat().st_mode & 0o777, modes) == (0o700, {0o600})


def test_contents_of_a_recording_that_is_replaced_go_and_those_of_a_source_stay(
    sources: list[Path],
) -> None:
    first, second, third = sources[:3]
    keep_values(first, (1.0, 1.0))
    kept = keep_values(second, (2.0, 1.0))
    merge_recordings([second, third], first, overwrite=True)
    assert [file.name for file in contents_folder(first).iterdir()] == [kept.name]
    merge_recordings([second, third], second, overwrite=True)
    assert [file.name for file in contents_folder(second).iterdir()] == [kept.name]


def test_merged_recordings_without_contents_have_no_folder(
    sources: list[Path], tmp_path: Path
) -> None:
    merged = merge_recordings(sources, tmp_path / "all.gviz")
    assert not contents_folder(merged).exists()
