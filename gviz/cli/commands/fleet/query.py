"""``gviz fleet query``: rows of a data set by SQL, as a table, JSON or CSV."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gviz.cli.found_rows import add_forms, most_rows, print_columns, print_rows, shown_query
from gviz.fleet import ask, fleet_columns, open_manifest

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
QUERY_VERSION = 1


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz fleet query``."""
    parser = subparsers.add_parser(
        "query",
        help="print rows of a data set, by SQL",
        description="Print the rows of a SELECT, in DuckDB's SQL, on the views and tables of a "
        "data set, which docs/fleet.md describes; without SQL, list them with their columns. "
        "Nothing can be written, and no other file be read.",
    )
    parser.add_argument("fleet", metavar="FLEET", help="the data set's folder, or address")
    add_forms(parser, "query_version")


def run(arguments: argparse.Namespace) -> int:
    """Print the rows, or what can be queried; return 0."""
    if arguments.sql is None:
        open_manifest(arguments.fleet)  # it says what is wrong with it
        print_columns(fleet_columns(), arguments, {"query_version": QUERY_VERSION})
        return 0
    with shown_query(arguments.fleet, arguments):
        found = ask(
            arguments.fleet,
            arguments.sql,
            most_rows=most_rows(arguments),
            seconds=arguments.seconds,
        )
    print_rows(found, arguments, {"query_version": QUERY_VERSION})
    return 0
