"""``gviz fleet report``: who is slow, who waits for whom, who launches something else."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gviz.cli.output import print_json, print_text, terminal_width
from gviz.cli.progress import shown_progress
from gviz.fleet import read_report, report_to_json
from gviz.report import MOST_RANKS, document_to_json, fleet_document, render_text

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz fleet report``."""
    parser = subparsers.add_parser(
        "report",
        help="say which ranks of a data set are slow",
        description="Say which ranks of a data set are slower than the others beyond what ranks "
        "vary by, and in which layer; whom the others wait for in collectives; who launches other "
        "graphs; and how far the machines' clocks are apart.",
    )
    parser.add_argument("fleet", metavar="FLEET", help="the data set's folder, or address")
    parser.add_argument(
        "--all",
        action="store_true",
        help=f"all ranks (default: {MOST_RANKS} in a table; with --json all)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON; docs/fleet.md has the keys"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the report; return 0."""
    with shown_progress("reading") as progress:
        report = read_report(arguments.fleet, progress)
    if arguments.json:
        whole = document_to_json(fleet_document(report, None))
        print_json({**report_to_json(report), "report": whole})
    else:
        document = fleet_document(report, None if arguments.all else MOST_RANKS)
        print_text(render_text(document, terminal_width()))
    return 0
