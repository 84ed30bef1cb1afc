"""``gviz start``: begin recording in a program that runs, paused, under gviz run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gviz.cli.commands.record.requests import add_arguments, send_requests
from gviz.collectors import Request

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Version of the keys of its JSON.
START_VERSION = 1


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz start``."""
    parser = subparsers.add_parser(
        "start",
        help="begin recording in a program that runs, paused, under gviz run",
        description="Begin recording in a program that was started by 'gviz run --paused', within "
        "half a second: from the next graph launch on. Where it has not used CUDA so far, the "
        "request waits for that. 'gviz stop' ends the recording, and 'gviz start' may begin again.",
    )
    add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Send the request; return 0."""
    return send_requests(arguments, Request.START, version=START_VERSION)
