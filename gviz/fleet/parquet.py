"""Parquet files, written by pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gviz.fleet.extra import load_alone

#: Zstandard's level: higher ones take longer and give a few percent.
_LEVEL = 3
#: Rows that are held before they are written; readers take so many at once.
_ROWS_AT_ONCE = 65_536


def require_parquet() -> None:
    """Raise GvizError, which says what to install, where no Parquet can be written."""
    load_alone("pyarrow")


def pack_pieces(schema: Any, pieces: Sequence[Mapping[str, Any]]) -> bytes:
    """Return rows as a Parquet file.

    Parameters
    ----------
    schema
        A pyarrow.Schema.
    pieces
        Columns by name, some rows at a time.
    """
    arrow, parquet = load_alone("pyarrow"), load_alone("pyarrow.parquet")
    arrays = [
        arrow.chunked_array(
            [arrow.array(piece[field.name], field.type, from_pandas=True) for piece in pieces],
            field.type,
        )
        for field in schema
    ]
    sink = arrow.BufferOutputStream()
    parquet.write_table(
        arrow.Table.from_arrays(arrays, schema=schema).combine_chunks(), sink,
        compression="zstd", compression_level=_LEVEL,
    )  # fmt: skip
    found: bytes = sink.getvalue().to_pybytes()
    return found


def join_files(contents: Sequence[bytes]) -> bytes:
    """Return Parquet files of one schema as one file."""
    arrow, parquet = load_alone("pyarrow"), load_alone("pyarrow.parquet")
    tables = [parquet.read_table(arrow.BufferReader(content)) for content in contents]
    sink = arrow.BufferOutputStream()
    parquet.write_table(
        arrow.concat_tables(tables).combine_chunks(), sink,
        compression="zstd", compression_level=_LEVEL,
    )  # fmt: skip
    found: bytes = sink.getvalue().to_pybytes()
    return found


def write_rows(
    path: Path, types: Mapping[str, str], pages: Iterable[Sequence[Sequence[Any]]]
) -> int:
    """Write rows to a Parquet file as they come; return their number.

    Parameters
    ----------
    types
        Arrow's name of the type of each column, by its name.
    pages
        Rows, some at a time, their values in the order of the columns.

    Raises
    ------
    GvizError
        If pyarrow is not installed.
    """
    arrow, parquet = load_alone("pyarrow"), load_alone("pyarrow.parquet")
    schema = arrow.schema([(name, arrow.type_for_alias(kind)) for name, kind in types.items()])
    held: list[Sequence[Any]] = []
    count = 0
    with parquet.ParquetWriter(
        path, schema, compression="zstd", compression_level=_LEVEL
    ) as writer:

        def write() -> None:
            columns = zip(*held, strict=True) if held else ((),) * len(schema)
            arrays = [
                arrow.array(values, field.type)
                for values, field in zip(columns, schema, strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
            held.clear()

        for page in pages:
            held.extend(page)
            count += len(page)
            if len(held) >= _ROWS_AT_ONCE:
                write()
        if held or not count:
            write()
    return count
