"""Rows that a query found, printed as a table, JSON or CSV; and what can be queried."""

from __future__ import annotations

import argparse
import csv
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from gviz.cli.output import print_json, print_text, terminal_width
from gviz.cli.progress import shown_progress
from gviz.recording import QueryResult
from gviz.text import MISSING, counted, render_table

_MOST_ROWS = 1000
_SECONDS = 30.0


def add_forms(parser: argparse.ArgumentParser, version_key: str) -> None:
    """Add ``SQL``, the forms that rows are printed in, and limits.

    Parameters
    ----------
    version_key
        The first key of the JSON.
    """
    parser.add_argument("sql", nargs="?", metavar="SQL", help="one SELECT")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_true",
        help=f"print JSON: {version_key}, columns, rows (blobs in hexadecimal), is_cut (whether "
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


@contextmanager
def shown_query(name: str, arguments: argparse.Namespace) -> Iterator[None]:
    """Show that something is queried, and how long at most: how much is left is not known."""
    with shown_progress("querying") as progress:
        progress.at(0.0, f"{name}, for {arguments.seconds:g} s at most")
        yield


def most_rows(arguments: argparse.Namespace) -> int | None:
    """Return how many rows are wanted; None: all."""
    return arguments.limit if arguments.limit > 0 else None


def print_rows(
    found: QueryResult, arguments: argparse.Namespace, version: Mapping[str, int]
) -> None:
    """Print rows in the form that is asked for.

    Parameters
    ----------
    version
        The first key of the JSON, and its value.
    """
    if arguments.json:
        print_json({**version, **_to_json(found)}, default=str)
    elif arguments.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(found.columns)
        writer.writerows([_plain(value) for value in row] for row in found.rows)
    else:
        print_text(_render(found, terminal_width()))
    if found.reads_unchecked:
        print(
            "gviz: a file of so many node times is not looked through for a query: should some be "
            "damaged, they are in its rows as they are; 'gviz recover' finds and leaves them out",
            file=sys.stderr,
        )
    if found.is_cut:
        print(f"gviz: the first {counted(len(found.rows), 'row')}; --limit N gives more, 0 all",
              file=sys.stderr)  # fmt: skip


def print_columns(
    columns: Mapping[str, Sequence[str]], arguments: argparse.Namespace, version: Mapping[str, int]
) -> None:
    """Print what can be queried, tables and views with their columns, as :func:`print_rows`."""
    if arguments.json or arguments.csv:
        pairs = tuple((table, name) for table, names in columns.items() for name in names)
        print_rows(QueryResult(("table", "column"), pairs, is_cut=False), arguments, version)
        return
    width = terminal_width()
    lines = [
        textwrap.fill(f"{name}: {', '.join(names)}", width, subsequent_indent="    ")
        for name, names in columns.items()
    ]
    print_text("\n".join(lines))


def _to_json(found: QueryResult) -> dict[str, object]:
    return {
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
