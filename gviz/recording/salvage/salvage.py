"""Salvage: what is sound of a damaged recording, written as one that is whole."""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from gviz.errors import RecordingError
from gviz.recording import rows
from gviz.recording.identity import check_kind
from gviz.recording.int_column import decode
from gviz.recording.output import check_output
from gviz.recording.rows import (
    OLDEST_ALIKE,
    SCHEMA_VERSION,
    Column,
    Table,
    all_tables,
    table_of,
)
from gviz.recording.salvage.losses import DAMAGE, noun_of, unreadable_sentence
from gviz.recording.salvage.raw_rows import write_raw_rows
from gviz.recording.salvage.soundness import (
    TREES,
    default_sql,
    is_sound_file,
    node_there,
    references,
    refers_to_nodes,
    sound_value,
    unrooted,
)
from gviz.recording.writer import SOURCE, RecordingWriter
from gviz.system import NO_PROGRESS, Progress

#: The share of the time in which a damaged file is read.
_READ = 0.85
#: The noun of values that are missing of rows that are there.
_VALUE = "value"
#: Tables in whose rows a number that refers to nothing makes the row another one, not a lesser one.
_NEEDED = frozenset({("graph", "parent_graph_id")})


def recover_recording(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    progress: Progress = NO_PROGRESS,
) -> str:
    """Write what can be read of a damaged recording to one of this schema; return what was lost.

    Rows that are damaged, or that belong to one which is, are left out; damaged values that may
    be missing are. Each run of the new recording has a note that counts them.

    Parameters
    ----------
    path
        The recording; it is only read.
    output
        Where the new one goes.
    overwrite
        Replace an existing file at ``output``.
    progress
        Told what is read and written.

    Returns
    -------
    str
        The sentence of the note; "" where nothing was lost.

    Raises
    ------
    RecordingError
        If ``path`` is no recording of this schema or of the two before it, nothing of it can be
        read, or ``output`` cannot be written.
    """
    from tempfile import TemporaryDirectory  # few files are damaged

    source, target = Path(path), Path(output)
    is_older = check_kind(source, oldest=OLDEST_ALIKE) < SCHEMA_VERSION
    check_output(target, overwrite=overwrite)
    with TemporaryDirectory(prefix="gviz-") as folder:
        raw = Path(folder) / "raw"
        try:
            unreadable = write_raw_rows(
                source, raw, is_older=is_older, progress=progress.part(0.0, _READ)
            )
        except (OSError, sqlite3.Error) as error:
            raise RecordingError(
                f"cannot make room for what can be read of {source}: {error}; "
                f"set TMPDIR to a folder with room"
            ) from error
        with RecordingWriter(target, overwrite=overwrite) as writer:
            with writer.reading(raw) as database:
                _copy_all(database, source, unreadable, progress.part(_READ, 1.0))
            if not unreadable and (is_older or is_sound_file(source)):
                return ""
            sentence = unreadable_sentence("the file", unreadable)
            _note(writer, raw, sentence)
    return sentence


def _copy_all(
    database: sqlite3.Connection, source: Path, unreadable: Counter[str], progress: Progress
) -> None:
    """Copy the sound rows of every table, those that others refer to first."""
    database.create_function("is_int_column", 1, _is_int_column, deterministic=True)
    tables = _in_order()
    # Raw rows are numbered from 1.
    last = ", ".join(f"(SELECT max(rowid) FROM {SOURCE}.{table.name})" for table in tables)
    weights = [rows_of or 1 for rows_of in database.execute(f"SELECT {last}").fetchone()]
    for table, _ in progress.each(tables, lambda table: table.name, weights):
        _copy(database, table, unreadable)
        if table is table_of(rows.Run):
            _replace_lost_runs(database, source, unreadable)
        if table.name in TREES:
            _drop_unrooted(database, table, unreadable)
        _forget_lost(database, table, unreadable)
    database.execute(
        "UPDATE main.launch SET span_count = "
        "(SELECT count(*) FROM main.span WHERE span.launch_id = launch.launch_id) "
        "WHERE side = 'graph'"
    )
    ((runs, graphs),) = database.execute(
        "SELECT (SELECT count(*) FROM main.run), (SELECT count(*) FROM main.graph)"
    )
    if not runs and not graphs:
        raise RecordingError(
            f"{source} is damaged: no run and no graph in it can be read; "
            "copy it again from its origin, or record again"
        )


def _in_order() -> Sequence[Table]:
    """Return all tables, each behind those that it refers to."""
    found: list[Table] = []
    left = list(all_tables())
    while left:
        ready = [t for t in left if all(target in found for target in _targets(t))]
        found += ready
        left = [t for t in left if t not in ready]
    return found


def _targets(table: Table) -> Iterator[Table]:
    """Yield the other tables that a table refers to."""
    yield from (target for _, target in references(table) if target is not table)
    if refers_to_nodes(table):
        yield table_of(rows.Node)


def _copy(database: sqlite3.Connection, table: Table, unreadable: Counter[str]) -> None:
    raw = f"{SOURCE}.{table.name}"
    ((count,),) = database.execute(f"SELECT count(*) FROM {raw}")
    if not count:
        return
    kept = {c.name: _kept_value(table, c) for c in table.columns}
    where = " AND ".join(_needs(table)) or "1"
    lost = ", ".join(
        f"sum({c.name} IS NOT {kept[c.name]})" for c in table.columns if kept[c.name] != c.name
    )
    if lost:
        ((*values,),) = database.execute(f"SELECT {lost} FROM {raw} WHERE {where}")
        if any(values):
            unreadable[_VALUE] += sum(v or 0 for v in values)
    order = ", ".join(table.primary_key)
    database.execute(
        f"INSERT OR IGNORE INTO main.{table.name} SELECT {', '.join(kept.values())} FROM {raw} "
        f"WHERE {where}" + (f" ORDER BY {order}" if order else "")
    )
    ((copied,),) = database.execute(f"SELECT count(*) FROM main.{table.name}")
    if copied < count:
        unreadable[noun_of(table.name)] += count - copied


def _kept_value(table: Table, column: Column) -> str:
    """Return the expression of what is kept of a value: itself, or NULL, or what it is else."""
    default = default_sql(table, column)
    if default is None:
        return column.name
    condition = sound_value(column)
    for own, target in references(table):
        if own is column and (table.name, column.name) not in _NEEDED and target is not table:
            condition += f" AND {column.name} IN {_there(target)}"
    return f"CASE WHEN {condition} THEN {column.name} ELSE {default} END"


def _needs(table: Table) -> Iterator[str]:
    """Yield the conditions of rows that are kept."""
    for column in table.columns:
        if default_sql(table, column) is None:
            yield sound_value(column)
            if column.sql_type == "BLOB" and column.name.startswith("bucket"):
                yield f"is_int_column({column.name})"
        elif (table.name, column.name) in _NEEDED:
            yield f"({column.name} IS NULL OR {sound_value(column)})"
    for column, target in references(table):
        # A run that is lost gets another row: what is known of its graphs is kept.
        if not column.nullable and target is not table_of(rows.Run):
            yield f"{column.name} IN {_there(target)}"
    if refers_to_nodes(table):
        yield node_there("main")


def _there(target: Table) -> str:
    return f"(SELECT {target.primary_key[0]} FROM main.{target.name})"


def _is_int_column(blob: object) -> bool:
    try:
        return isinstance(blob, bytes) and decode(blob) is not None
    except RecordingError:
        return False


def _replace_lost_runs(
    database: sqlite3.Connection, source: Path, unreadable: Counter[str]
) -> None:
    """Add a row for each run of which there are graphs or notes, but no row."""
    referring = [t.name for t in all_tables() if any(c.name == "run_id" for c in t.columns)]
    found = " UNION ".join(
        f"SELECT run_id FROM {SOURCE}.{name} WHERE typeof(run_id) = 'integer'"
        for name in referring
        if name != "run"
    )
    replaced = database.execute(
        "INSERT INTO main.run (run_id, name, state, source) "
        f"SELECT run_id, ?, 'aborted', 'profile' FROM ({found}) "
        "WHERE run_id NOT IN (SELECT run_id FROM main.run)",
        (source.stem,),
    ).rowcount
    if replaced > unreadable[noun_of("run")]:
        unreadable[noun_of("run")] = replaced


def _drop_unrooted(database: sqlite3.Connection, table: Table, unreadable: Counter[str]) -> None:
    lost = unrooted(database, table)
    key = table.primary_key[0]
    database.executemany(f"DELETE FROM main.{table.name} WHERE {key} = ?", [(n,) for n in lost])
    if lost:
        unreadable[noun_of(table.name)] += len(lost)


def _forget_lost(database: sqlite3.Connection, table: Table, unreadable: Counter[str]) -> None:
    """Clear what refers to rows of the same table that are not there."""
    for column, target in references(table):
        if target is table and (table.name, column.name) not in _NEEDED:
            changed = database.execute(
                f"UPDATE main.{table.name} SET {column.name} = NULL "
                f"WHERE {column.name} NOT IN {_there(table)}"
            ).rowcount
            if changed:
                unreadable[_VALUE] += changed


def _note(writer: RecordingWriter, raw: Path, sentence: str) -> None:
    with writer.reading(raw) as database:
        used = {note for (note,) in database.execute("SELECT note_id FROM main.note")}
        runs = [run for (run,) in database.execute("SELECT run_id FROM main.run ORDER BY run_id")]
    # Not behind the last: that may be the largest number there is.
    free = (number for number in itertools.count(1) if number not in used)
    notes = [
        rows.Note(note_id=number, run_id=run, kind=DAMAGE, text=sentence)
        for run, number in zip(runs, free, strict=False)
    ]
    writer.insert(*notes)
