"""``gviz stop``: end recording in a program that runs under gviz run --paused."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gviz.cli.commands.record.requests import add_arguments, send_requests
from gviz.collectors import Request

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Version of the keys of its JSON.
STOP_VERSION = 1


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz stop``."""
    parser = subparsers.add_parser(
        "stop",
        help="end recording in a program that runs under gviz run --paused",
        description="End recording in a program that was started by 'gviz run --paused', within "
        "half a second. The program goes on, 'gviz start' records again, and the recording is "
        "written when the program ends.",
    )
    add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Send the request; return 0."""
    return send_requests(arguments, Request.STOP, version=STOP_VERSION)
