"""Write a recording: rows in, one finished SQLite file out."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gviz.errors import RecordingError
from gviz.recording.integrity import DamagedError, check_written
from gviz.recording.output import check_output
from gviz.recording.rows import APPLICATION_ID, SCHEMA_VERSION, Table, create_sql, table_of
from gviz.system import FileAside

if TYPE_CHECKING:
    import numpy as np

    from gviz.stats import IntArray

#: Under this schema name, statements reach the recording opened with RecordingWriter.reading.
SOURCE = "source"
#: Values of one INSERT statement: what SQLite takes before 3.32. A statement of 100 rows takes half
#: the time of 100 statements.
_PARAMETERS = 999
#: Statements whose values are Python integers at one time: those take several times the arrays'
#: room.
_STATEMENTS = 400


class RecordingWriter:
    """Builds a recording aside and moves it to its place when finished.

    State: OPEN -> FINISHED (file at ``path``) | DISCARDED (nothing at ``path``).
    While open, rows live in ``<path>.part``; a reader never sees half a recording.

    Parameters
    ----------
    path
        Where the finished recording goes.
    overwrite
        Replace an existing file at ``path``.

    Raises
    ------
    RecordingError
        If ``path`` exists and ``overwrite`` is false, or cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        self.path = Path(path)
        self._check: Callable[[Path], None] | None = None
        check_output(self.path, overwrite=overwrite)
        self._aside = FileAside(self.path)
        try:
            os.close(self._aside.make())
            self._db = sqlite3.connect(_uri(self._aside.path), uri=True, isolation_level=None)
            # A half-written part is thrown away, so durability would only cost time.
            # Tables and rows are one transaction: a script by itself would commit table by table.
            self._db.executescript(
                "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;"
                f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={SCHEMA_VERSION};"
                + create_sql()
            )
        except (OSError, sqlite3.Error) as error:
            with contextlib.suppress(AttributeError, OSError, sqlite3.Error):
                self.discard()
            raise RecordingError(f"cannot write {self.path}: {error}") from error

    def insert(self, *rows: Any) -> None:
        """Insert rows given as instances of the classes in :mod:`gviz.recording.rows.recorded`."""
        for kind, group in groupby(rows, type):
            names = [column.name for column in table_of(kind).columns]
            self.insert_tuples(kind, map(attrgetter(*names), group))

    def insert_tuples(self, row: type, values: Iterable[Sequence[Any]]) -> None:
        """Insert many rows of one table, each a sequence in the order of the row class's fields."""
        table = table_of(row)
        count = _PARAMETERS // len(table.columns)
        rest: list[Sequence[Any]] = []

        def batches() -> Iterator[tuple[Any, ...]]:
            iterator = iter(values)
            while len(batch := list(islice(iterator, count))) == count:
                yield tuple(chain.from_iterable(batch))
            rest.extend(batch)

        with self._storing(table):
            self._db.executemany(table.insert_sql(count), batches())
            self._db.executemany(table.insert_sql(), rest)

    def insert_columns(
        self,
        row: type,
        columns: Sequence[IntArray],
        order: np.ndarray[Any, np.dtype[np.intp]] | None = None,
    ) -> None:
        """Insert many rows of one table, given as columns of integers, none of them NULL.

        Parameters
        ----------
        columns
            int64 arrays of one length, in the order of the row class's fields.
        order
            The places of the rows, as they are to be written; None: as they stand.
        """
        import numpy as np

        table = table_of(row)
        count = _PARAMETERS // len(table.columns)
        rows = len(columns[0])

        def take(first: int, last: int) -> list[list[int]]:
            at = slice(first, last) if order is None else order[first:last]
            found: list[list[int]] = (
                np.stack([column[at] for column in columns], axis=1)
                .reshape(-1, min(count, last - first) * len(columns))
                .tolist()
            )
            return found

        whole = rows - rows % count
        with self._storing(table):
            for first in range(0, whole, count * _STATEMENTS):
                last = min(first + count * _STATEMENTS, whole)
                self._db.executemany(table.insert_sql(count), take(first, last))
            if whole < rows:
                self._db.executemany(table.insert_sql(rows - whole), take(whole, rows))

    @contextlib.contextmanager
    def _storing(self, table: Table) -> Iterator[None]:
        """Raise RecordingError for values that no recording can hold; damaged input has them."""
        try:
            yield
        except (OverflowError, sqlite3.IntegrityError, sqlite3.ProgrammingError) as error:
            raise RecordingError(
                f"cannot write {self.path}: a row of {table.name} cannot be stored ({error}); what "
                "it is made of is damaged"
            ) from error

    def update(self, row: type, key: dict[str, Any], values: dict[str, Any]) -> None:
        """Set columns of the rows of ``row``'s table whose columns equal ``key``."""
        table = table_of(row)
        known = {c.name for c in table.columns}
        if not (set(key) | set(values)) <= known:
            raise KeyError(f"no such column in {table.name}: {sorted(set(key) | set(values))}")
        sets = ", ".join(f"{name}=?" for name in values)
        where = " AND ".join(f"{name}=?" for name in key)
        self._db.execute(
            f"UPDATE {table.name} SET {sets} WHERE {where}", [*values.values(), *key.values()]
        )

    @contextlib.contextmanager
    def reading(self, source: Path) -> Iterator[sqlite3.Connection]:
        """Return the connection with another recording beside it, read-only, as ``source``.

        For the modules of this package that copy rows by statement, from ``source.x`` to
        ``main.x``. The source is not checked here.
        """
        # A database cannot be detached inside a transaction, and only ten can be attached at once.
        self._db.execute("COMMIT")
        attach_source(self._db, source)
        self._db.execute("BEGIN")
        yield self._db
        self._db.execute("COMMIT")
        self._db.execute(f"DETACH {SOURCE}")
        self._db.execute("BEGIN")

    def check_with(self, check: Callable[[Path], None]) -> None:
        """Have the written file checked before it gets its place.

        ``check`` is given the closed part and raises RecordingError where it is not good: then
        nothing changes at ``path``.
        """
        self._check = check

    def finish(self) -> Path:
        """Commit, close and move the recording to its place; return that place.

        Raises
        ------
        RecordingError
            If a number in it cannot be: what it is made of is damaged. The part stays open. Or
            if it fails the check of :meth:`check_with`.
        """
        try:
            check_written(self._db)
        except DamagedError as error:
            raise RecordingError(
                f"cannot write {self.path}: {error.what}; what it is made of is damaged, "
                "export or record it again"
            ) from error
        self._db.execute("COMMIT")
        self._db.execute("ANALYZE")
        self._db.close()
        if self._check is not None:
            self._check(self._aside.path)
        self._aside.place()
        return self.path

    def discard(self) -> None:
        """Close and remove what was written."""
        self._db.close()
        self._aside.remove()

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A full disk shows in a statement of the block, or at the end.
        failure: Exception | None = None
        if isinstance(error, sqlite3.OperationalError):
            failure = error
        if kind is None:
            try:
                self.finish()
                return
            except (OSError, sqlite3.OperationalError) as last:
                failure = last
            except RecordingError:
                self.discard()
                raise
        with contextlib.suppress(OSError, sqlite3.Error):
            self.discard()
        if failure is not None:
            raise RecordingError(
                f"cannot write {self.path}: {failure}; make room and try again"
            ) from failure


def attach_source(database: sqlite3.Connection, source: Path) -> None:
    """Attach a recording, read-only, under the name of SOURCE."""
    database.execute(f"ATTACH ? AS {SOURCE}", (_uri(source) + "?immutable=1",))


def _uri(path: Path) -> str:
    return "file:" + urllib.parse.quote(str(path.absolute()))
