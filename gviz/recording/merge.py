"""Merge recordings: the runs of several files in one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from gviz.errors import RecordingError
from gviz.recording import rows
from gviz.recording.kept_contents import copy_contents
from gviz.recording.output import check_output, forget_contents
from gviz.recording.reader import Recording
from gviz.recording.row_counts import row_counts
from gviz.recording.rows import Column, Table, all_tables, table_of
from gviz.recording.salvage import sound_file
from gviz.recording.writer import SOURCE, RecordingWriter
from gviz.system import NO_PROGRESS, Progress

_LARGEST_ID = 2**63 - 1
#: Topologies of the source that the output has already: (id in the source, id in the output).
_SHARED = "temp.shared_topology"


def merge_recordings(
    sources: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    progress: Progress = NO_PROGRESS,
) -> Path:
    """Write the runs of several recordings, in their order, to one; return its path.

    Every id of ours gets the next free number, so that ids stay unique in the file; equal
    topologies are stored once. CUDA's own ids, times and everything else stay as they are.
    Contents that were kept beside a source are copied beside the output.
    Nothing is left at ``output`` when it fails, and the sources are only read.

    Parameters
    ----------
    sources
        Finished recordings of the current schema, each with any number of runs.
    output
        Where the merged recording goes; may be one of the sources if ``overwrite``.
    overwrite
        Replace an existing file at ``output``.
    progress
        Told which file is read, and the share that is done.

    Raises
    ------
    RecordingError
        If there is no source, a source is given twice, is no recording, is damaged or of
        another schema (an older one: the message names ``gviz upgrade``), or ``output``
        cannot be written.
    """
    paths = [Path(source) for source in sources]
    check_output(Path(output), overwrite=overwrite)
    _check_sources(paths)
    is_source = os.path.exists(output) and any(path.samefile(output) for path in paths)
    with RecordingWriter(output, overwrite=overwrite) as writer:
        for path, part in progress.each(paths, lambda path: path.name):
            _add(writer, path, part)
    if not is_source:
        forget_contents(Path(output))  # of the recording that was replaced
    for path in paths:
        copy_contents(path, Path(output))
    return Path(output)


def _check_sources(paths: Sequence[Path]) -> None:
    """Open every source before anything is written; raise RecordingError if one is no good."""
    if not paths:
        raise RecordingError("there is nothing to merge; name at least one recording")
    seen: dict[tuple[int, int], Path] = {}
    for path in paths:
        Recording(path).close()
        status = path.stat()
        first = seen.setdefault((status.st_dev, status.st_ino), path)
        if first is not path:
            raise RecordingError(f"{path} is the same file as {first}; name each recording once")


def _add(writer: RecordingWriter, path: Path, progress: Progress) -> None:
    """Add every row of a recording, under new ids."""
    try:
        with writer.reading(sound_file(path)) as database:
            shifts = _shifts(database)
            _find_shared_topologies(database)
            tables = list(all_tables())
            counts = row_counts(database, tables, SOURCE)
            for table, _ in progress.each(tables, lambda table: path.name, counts):
                database.execute(_copy_sql(table, shifts))
    except sqlite3.OperationalError:
        raise  # the output cannot be written: the writer says it
    except (sqlite3.DatabaseError, _DamagedError) as error:
        raise RecordingError(f"{path} is damaged: {error}") from error


class _DamagedError(Exception):
    """Damage in a source that is valid SQLite."""


# -- ids ---------------------------------------------------------------------------------


def _shifts(database: sqlite3.Connection) -> dict[str, int]:
    """Return what is added to the source's ids of each table to make them new ones.

    References count like the rows they mean, so that one whose row is missing cannot come
    to mean another run's row.
    """
    here, there = _id_ranges(database, "main"), _id_ranges(database, SOURCE)
    shifts = {}
    for key, (least, most) in there.items():
        shift = here[key][1] + 1 - least if key in here else 0
        if most + shift > _LARGEST_ID:
            raise _DamagedError(f"an id of table {key} is {most}")
        shifts[key] = shift
    return shifts


def _id_ranges(database: sqlite3.Connection, schema: str) -> dict[str, tuple[int, int]]:
    """Return the smallest and the largest id of each table that has any or is referred to."""
    ranges: dict[str, tuple[int, int]] = {}
    for table, column, key in _id_columns():
        # Two statements: SQLite answers one of them from an index, both together from a scan.
        sql = f"FROM {schema}.{table.name}"
        ((least,),) = database.execute(f"SELECT min({column.name}) {sql}")
        ((most,),) = database.execute(f"SELECT max({column.name}) {sql}")
        if least is None:
            continue
        if not (isinstance(least, int) and isinstance(most, int)):
            raise _DamagedError(f"{table.name}.{column.name} holds {most!r}, which is no id")
        known = ranges.get(key, (least, most))
        ranges[key] = (min(least, known[0]), max(most, known[1]))
    return ranges


def _id_columns() -> Iterator[tuple[Table, Column, str]]:
    for table in all_tables():
        for column in table.columns:
            if column.key is not None:
                yield table, column, column.key


# -- topologies --------------------------------------------------------------------------


def _find_shared_topologies(database: sqlite3.Connection) -> None:
    """Fill the list of the source's topologies that the output has.

    Equal means the same hash and the same edges: a hash that was computed in another way
    must not cost a graph its edges.
    """
    topology, edge = table_of(rows.Topology).name, table_of(rows.Edge).name
    edges = ", ".join(c.name for c in table_of(rows.Edge).columns if c.name != "topology_id")
    database.execute(f"DROP TABLE IF EXISTS {_SHARED}")
    database.execute(f"CREATE TABLE {_SHARED} (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
    same_hash = database.execute(
        f"SELECT theirs.topology_id, ours.topology_id FROM {SOURCE}.{topology} AS theirs "
        f"JOIN main.{topology} AS ours ON ours.hash = theirs.hash "
        "AND ours.node_count = theirs.node_count AND ours.edge_count = theirs.edge_count "
        "ORDER BY ours.topology_id DESC"
    ).fetchall()
    for old, new in same_hash:
        theirs = f"SELECT {edges} FROM {SOURCE}.{edge} WHERE topology_id = {old}"
        ours = f"SELECT {edges} FROM main.{edge} WHERE topology_id = {new}"
        ((differ,),) = database.execute(
            f"SELECT EXISTS ({theirs} EXCEPT {ours}) OR EXISTS ({ours} EXCEPT {theirs})"
        )
        if not differ:
            database.execute(f"INSERT OR REPLACE INTO {_SHARED} VALUES (?, ?)", (old, new))


# -- rows --------------------------------------------------------------------------------


def _copy_sql(table: Table, shifts: dict[str, int]) -> str:
    """Return the statement that copies a table of the source with new ids."""
    columns = ", ".join(_new_value(column, shifts) for column in table.columns)
    where = ""
    if "topology_id" in table.primary_key:
        where = f" WHERE topology_id NOT IN (SELECT old FROM {_SHARED})"
    order = f" ORDER BY {', '.join(table.primary_key)}" if table.primary_key else ""
    return (
        f"INSERT INTO main.{table.name} SELECT {columns} FROM {SOURCE}.{table.name}{where}{order}"
    )


def _new_value(column: Column, shifts: dict[str, int]) -> str:
    shift = shifts.get(column.key, 0) if column.key is not None else 0
    value = f"{column.name} + {shift}" if shift else column.name
    if column.key != "topology":
        return value
    return f"coalesce((SELECT new FROM {_SHARED} WHERE old = {column.name}), {value})"
