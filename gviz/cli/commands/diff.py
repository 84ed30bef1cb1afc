"""``gviz diff``: what became of the graphs of one recording in another, as text or JSON."""

from __future__ import annotations

import argparse
import json
import re
import shutil
from typing import TYPE_CHECKING

from gviz.cli.recording_path import file_path, find_recording
from gviz.comparison import Asked, compare_recordings, diff_to_json
from gviz.errors import UsageError
from gviz.recording import Recording
from gviz.report import render_diff

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Graphs of a run that the text tells in full unless asked otherwise.
MOST_GRAPHS = 3
_GRAPHS = re.compile(r"(\d+)(?::(\d+))?")


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz diff``."""
    parser = subparsers.add_parser(
        "diff",
        help="say what changed from one recording to another",
        description="Say what became of the graphs of one recording in another: nodes that came, "
        "went and changed, edges, lanes, and times, with where the change of a launch's time "
        "comes from and whether it is more than noise.",
    )
    parser.add_argument("before", type=file_path, help="a .gviz file, or a left-over spool")
    parser.add_argument(
        "after", type=file_path, help="another, made later or with something changed"
    )
    parser.add_argument("more", type=file_path, nargs="*", help=argparse.SUPPRESS)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--graph",
        type=_graphs,
        metavar="ID[:ID]",
        help="only this graph of the first recording, and the graph of the second to compare it "
        "with (default: the one that is found); 'gviz info' lists them",
    )
    which.add_argument(
        "--all",
        action="store_true",
        help=f"all graphs in full (default: of each run the {MOST_GRAPHS} whose launches changed "
        "most; with --json all)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON; docs/comparing.md has the keys"
    )


def _graphs(text: str) -> Asked:
    found = _GRAPHS.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither an id nor two ids such as 1:4")
    return Asked(int(found[1]), None if found[2] is None else int(found[2]))


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison of two recordings; return 0."""
    if arguments.more:
        raise UsageError("gviz diff compares two recordings; 'gviz trend FILE...' takes any number")
    paths = find_recording(arguments.before), find_recording(arguments.after)
    with Recording(paths[0]) as before, Recording(paths[1]) as after:
        found = compare_recordings(before, after, arguments.graph)
    if arguments.json:
        print(json.dumps(diff_to_json(found)))
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        most = None if arguments.all or arguments.graph else MOST_GRAPHS
        print(render_diff(found, width, most))
    return 0
