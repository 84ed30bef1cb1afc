"""``gviz trend``: the launch times of one graph through any number of runs."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING

from gviz.cli.output import print_json, print_text, terminal_width
from gviz.cli.progress import shown_progress
from gviz.cli.recording_path import file_path, find_recordings
from gviz.comparison import build_trend, trend_to_json
from gviz.recording import Recording
from gviz.report import MOST_SERIES, document_to_json, render_text, trend_document

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz trend``."""
    parser = subparsers.add_parser(
        "trend",
        help="show the launch times of graphs through any number of runs",
        description="Show how the launch time of each graph went on through any number of runs, "
        "with the commit of each and whether the change from the run before is more than noise.",
    )
    parser.add_argument(
        "recordings",
        type=file_path,
        nargs="+",
        metavar="recording",
        help=".gviz files, in any order; a folder means its *.gviz",
    )
    parser.add_argument(
        "--all", action="store_true", help=f"all graphs (default: {MOST_SERIES}; with --json all)"
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON; docs/comparing.md has the keys"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the trend; return 0."""
    paths = find_recordings(arguments.recordings)
    with shown_progress("following") as progress, ExitStack() as stack:
        opened = [stack.enter_context(Recording(path)) for path in paths]
        found = build_trend(opened, progress)
    if arguments.json:
        report = document_to_json(trend_document(found, None))
        print_json({**trend_to_json(found), "report": report})
    else:
        document = trend_document(found, None if arguments.all else MOST_SERIES)
        print_text(render_text(document, terminal_width()))
    return 0
