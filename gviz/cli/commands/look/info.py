"""``gviz info``: what is in a recording, as text for people or JSON for programs."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from gviz.cli.output import print_json, print_text, terminal_width
from gviz.cli.progress import shown_progress
from gviz.cli.recording_path import file_path, find_recording
from gviz.recording import Recording
from gviz.report import SLOWEST_COUNT, RecordingSummary, info_document, render_text, summarize

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


#: Version of the keys of its JSON.
INFO_VERSION = 1


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz info``."""
    parser = subparsers.add_parser(
        "info",
        help="say what is in a recording",
        description="Say what is in a recording: runs, graphs, launches, slowest nodes, and "
        "what measuring cost; with -v also what was counted. The spool left over by a process that "
        "was killed is turned into a recording first.",
    )
    parser.add_argument("recording", type=file_path, help="a .gviz file, or a left-over spool")
    parser.add_argument(
        "--slowest",
        type=count,
        default=SLOWEST_COUNT,
        metavar="N",
        help=f"how many of each graph's slowest nodes to list (default: {SLOWEST_COUNT})",
    )
    parser.add_argument("--json", action="store_true", help="print JSON; docs/info.md has the keys")


def count(text: str) -> int:
    """Return a number that is not negative, as argparse's ``type``, whose errors have its name."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Print the summary of a recording; return 0."""
    path = find_recording(arguments.recording)
    with shown_progress("reading") as progress, Recording(path) as recording:
        summary = summarize(recording, slowest=arguments.slowest, progress=progress)
    if arguments.json:
        print_json(to_json(summary), indent=2)
    else:
        document = info_document(summary, counters=arguments.verbose)
        print_text(render_text(document, terminal_width()))
    return 0


def to_json(summary: RecordingSummary) -> dict[str, object]:
    """Return the summary as JSON values; the others are the field names of gviz.report.summary."""
    return {"info_version": INFO_VERSION, **asdict(summary)}
