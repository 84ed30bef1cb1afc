"""The tables of a recording as files that other programs read: CSV, or Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from gviz.api.frame import Kind, table_kinds
from gviz.api.graph_frames import KINDS
from gviz.api.opened import Opened, OpenedGraph
from gviz.dataclass import dataclass
from gviz.errors import RecordingError, cannot_write
from gviz.fleet import require_parquet, write_rows
from gviz.recording import NodeValue, ValueReading, all_tables
from gviz.system import NO_PROGRESS, Progress, create_folder, written_aside

#: Formats, and the suffix of their files.
TableFormat = Literal["csv", "parquet"]
#: Arrow's names of types.
_ARROW: Mapping[Kind, str] = {
    "INTEGER": "int64", "REAL": "double", "TEXT": "string", "BLOB": "binary",
}  # fmt: skip
#: Rows of what the memory of nodes held.
_OF_VALUES = (ValueReading, NodeValue)
#: Rows in the order of the columns.
Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class WrittenTables:
    """The tables written: the folder, and the number of files, rows and bytes."""

    folder: Path
    file_count: int
    row_count: int
    size_bytes: int


class _Source(NamedTuple):
    """A table: its name, the types of its columns, and its rows, some at a time."""

    name: str
    kinds: Mapping[str, Kind]
    pages: Iterable[Rows]


def write_tables(
    path: Path,
    folder: Path,
    form: TableFormat,
    *,
    values: bool = True,
    overwrite: bool = False,
    progress: Progress = NO_PROGRESS,
) -> WrittenTables:
    """Write every table of a recording, and views of nodes and launches, one file each.

    Nothing is rounded and nothing filled in. In CSV NULL is an empty field and an empty text
    ``""``; numbers are as Python writes them, floating point ones in as many digits as give the
    same number again; bytes are hexadecimal. In Parquet they are int64, double, string and binary.

    Parameters
    ----------
    path, folder
        From where to where; the folder is made.
    form
        What to write.
    values
        Also the tables of what the memory of nodes held.
    overwrite
        Replace files of these names.
    progress
        Told which is written, and the share that is.

    Raises
    ------
    GvizError
        If pyarrow is not installed (Parquet only).
    RecordingError
        If the recording cannot be read, or the files cannot be written.

    References
    ----------
    CSV: RFC 4180.
    """
    if form == "parquet":
        require_parquet()
    with Opened.at(path) as opened:
        sources = [*_tables(opened, values=values), *_views(opened)]
        targets = [folder / f"{source.name}.{form}" for source in sources]
        _check_folder(folder, targets, overwrite=overwrite)
        write = _write_csv if form == "csv" else _write_parquet
        try:
            create_folder(folder)
            counts = [
                _write_aside(target, partial(write, source))
                for (target, source), _ in progress.each(
                    list(zip(targets, sources, strict=True)), lambda pair: pair[0].name
                )
            ]
        except OSError as error:
            raise RecordingError(cannot_write(folder, error)) from error
    size = sum(target.stat().st_size for target in targets)
    return WrittenTables(folder, len(targets), sum(counts), size)


def _check_folder(folder: Path, targets: Sequence[Path], *, overwrite: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise RecordingError(f"cannot write into {folder}: it is a file; name a folder")
    if not folder.absolute().parent.is_dir():
        raise RecordingError(
            f"cannot make {folder}: there is no directory {folder.absolute().parent}; create it"
        )
    there = [target for target in targets if target.exists()]
    if there and not overwrite:
        raise RecordingError(f"{there[0]} exists; choose another folder or give --overwrite")


def _tables(opened: Opened, *, values: bool) -> Iterator[_Source]:
    for table in all_tables():
        if not values and table.row in _OF_VALUES:
            continue
        yield _Source(table.name, table_kinds(table), opened.recording.fetch_pages(table.row))


def _views(opened: Opened) -> Iterator[_Source]:
    """Yield what is spread over several tables: nodes with names and times, all launches."""
    graphs = [graph for run in opened.runs for graph in run.all_graphs]
    yield _view("view_nodes", "nodes", graphs)
    yield _view("view_edges", "edges", graphs)
    yield _view("view_launches", "launches", [g for g in graphs if g.row.parent_graph_id is None])


def _view(name: str, what: str, graphs: Sequence[OpenedGraph]) -> _Source:
    kinds: dict[str, Kind] = {"graph_id": "INTEGER", "graph_name": "TEXT"}
    kinds |= KINDS[what]

    def pages() -> Iterator[Rows]:
        for graph in graphs:
            frame = graph.frame(what)
            first = {"graph_id": graph.row.graph_id, "graph_name": graph.name}
            columns = [
                [first[kind]] * len(frame) if kind in first else _plain(frame.values[kind])
                for kind in kinds
            ]
            yield list(zip(*columns, strict=True))

    return _Source(name, kinds, pages())


def _plain(values: Any) -> Sequence[Any]:
    return values.tolist() if hasattr(values, "tolist") else cast(Sequence[Any], values)


def _write_aside(target: Path, write: partial[int]) -> int:
    with written_aside(target) as part:
        return write(part)


# -- CSV ----------------------------------------------------------------------------------


def _write_csv(source: _Source, path: Path) -> int:
    count = 0
    # surrogateescape never happens: SQLite's texts are UTF-8.
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(source.kinds) + "\r\n")
        for page in source.pages:
            file.writelines(",".join(map(_field, row)) + "\r\n" for row in page)
            count += len(page)
    return count


def _field(value: object) -> str:
    """Return a field. Texts and bytes always have quotes: an empty one is not NULL.

    The csv module of Python 3.11 cannot write that.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        doubled = value.replace('"', '""')
        return f'"{doubled}"'
    return f'"{value.hex()}"' if isinstance(value, bytes) else repr(value)


# -- Parquet ------------------------------------------------------------------------------


def _write_parquet(source: _Source, path: Path) -> int:
    types = {name: _ARROW[kind] for name, kind in source.kinds.items()}
    return write_rows(path, types, source.pages)
