"""``gviz query``: rows of a recording by SQL, as a table, JSON or CSV."""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

from gviz.cli.recording_path import file_path, find_recording
from gviz.recording import QueryResult, Recording, queried_columns, run_query
from gviz.text import MISSING, counted, render_table

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
QUERY_VERSION = 1
_MOST_ROWS = 1000
_SECONDS = 30.0


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz query``."""
    parser = subparsers.add_parser(
        "query",
        help="print rows of a recording, by SQL",
        description="Print the rows of a SELECT on the views and tables of a recording, which "
        "docs/recording.md describes; without SQL, list them with their columns. Nothing can be "
        "written, and no other file be read.",
    )
    parser.add_argument("recording", type=file_path, help="a .gviz file, or a left-over spool")
    parser.add_argument("sql", nargs="?", metavar="SQL", help="one SELECT")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_true",
        help="print JSON: query_version, columns, rows (blobs in hexadecimal), is_cut (whether "
        "there are more rows)",
    )
    form.add_argument("--csv", action="store_true", help="print CSV; what is NULL is empty")
    parser.add_argument(
        "--limit",
        type=int,
        default=_MOST_ROWS,
        metavar="N",
        help="so many rows at most; 0: all (default: %(default)s)",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=_SECONDS,
        metavar="S",
        help="give up after so long (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the rows, or what can be queried; return 0."""
    path = find_recording(arguments.recording)
    width = shutil.get_terminal_size((100, 24)).columns
    if arguments.sql is None:
        with Recording(path):  # it says what is wrong with the file
            print(_render_columns(width))
        return 0
    most = arguments.limit if arguments.limit > 0 else None
    found = run_query(path, arguments.sql, most_rows=most, seconds=arguments.seconds)
    if arguments.json:
        print(json.dumps(_to_json(found)))
    elif arguments.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(found.columns)
        writer.writerows([_plain(value) for value in row] for row in found.rows)
    else:
        print(_render(found, width))
    if found.is_cut:
        print(f"gviz: the first {counted(len(found.rows), 'row')}; --limit N gives more, 0 all",
              file=sys.stderr)  # fmt: skip
    return 0


def _to_json(found: QueryResult) -> dict[str, object]:
    return {
        "query_version": QUERY_VERSION,
        "columns": found.columns,
        "rows": [[_plain(value) for value in row] for row in found.rows],
        "is_cut": found.is_cut,
    }


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value


def _render(found: QueryResult, width: int) -> str:
    body = [[_text(value) for value in row] for row in found.rows]
    places = range(len(found.columns))
    texts = [at for at in places if any(isinstance(row[at], str | bytes) for row in found.rows)]
    widest = max(texts, key=lambda at: max(len(row[at]) for row in body), default=0)
    return render_table(found.columns, body, width=width, elastic=widest, left=frozenset(texts))


def _text(value: object) -> str:
    return MISSING if value is None else str(_plain(value))


def _render_columns(width: int) -> str:
    lines = [
        textwrap.fill(f"{name}: {', '.join(columns)}", width, subsequent_indent="    ")
        for name, columns in queried_columns().items()
    ]
    return "\n".join(lines)
