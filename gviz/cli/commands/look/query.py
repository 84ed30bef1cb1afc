"""``gviz query``: rows of a recording by SQL, as a table, JSON or CSV."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gviz.cli.found_rows import add_forms, most_rows, print_columns, print_rows, shown_query
from gviz.cli.recording_path import file_path, find_recording
from gviz.recording import Recording, queried_columns, run_query

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
QUERY_VERSION = 1


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
    add_forms(parser, "query_version")


def run(arguments: argparse.Namespace) -> int:
    """Print the rows, or what can be queried; return 0."""
    path = find_recording(arguments.recording)
    if arguments.sql is None:
        with Recording(path):  # it says what is wrong with the file
            print_columns(queried_columns(), arguments, {"query_version": QUERY_VERSION})
        return 0
    with shown_query(path.name, arguments):
        found = run_query(
            path, arguments.sql, most_rows=most_rows(arguments), seconds=arguments.seconds
        )
    print_rows(found, arguments, {"query_version": QUERY_VERSION})
    return 0
