"""``gviz info``: what is in a recording, as text for people or JSON for programs."""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING

from gviz.cli.recording_path import file_path, find_recording
from gviz.recording import Recording
from gviz.report import SLOWEST_COUNT, RecordingSummary, info_document, render_text, summarize

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz info``."""
    parser = subparsers.add_parser(
        "info",
        help="say what is in a recording",
        description="Say what is in a recording: runs, graphs, launches, slowest nodes, and "
        "what measuring cost. The spool left over by a process that was killed is turned "
        "into a recording first.",
    )
    parser.add_argument("recording", type=file_path, help="a .gviz file, or a left-over spool")
    parser.add_argument(
        "--slowest",
        type=_count,
        default=SLOWEST_COUNT,
        metavar="N",
        help=f"how many of each graph's slowest nodes to list (default {SLOWEST_COUNT})",
    )
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="also what measuring cost, and what was counted",
    )
    parser.add_argument("--json", action="store_true", help="print JSON; docs/info.md has the keys")


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Print the summary of a recording; return 0."""
    with Recording(find_recording(arguments.recording)) as recording:
        summary = summarize(recording, slowest=arguments.slowest)
    if arguments.json:
        print(json.dumps(to_json(summary), indent=2))
    else:
        document = info_document(summary, counters=arguments.verbose)
        print(render_text(document, shutil.get_terminal_size((100, 24)).columns))
    return 0


def to_json(summary: RecordingSummary) -> dict[str, object]:
    """Return the summary as JSON values; the keys are the field names of gviz.report.summary."""
    return asdict(summary)
