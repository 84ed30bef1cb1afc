"""``gviz fleet view``: a data set in the browser."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gviz.cli.commands.look import add_server_options, serve_files
from gviz.cli.recording_path import file_path, find_sources

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz fleet view``."""
    parser = subparsers.add_parser(
        "view",
        help="show a data set in the browser",
        description="Serve a data set to the browser of this machine until Ctrl-C: the report, "
        "maps of ranks by layer and of waits in collectives, slow ranks over time. A click on a "
        "rank opens its graph, where its recording is on this machine.",
    )
    parser.add_argument("fleet", metavar="FLEET", help="the data set's folder, or address")
    parser.add_argument(
        "file",
        nargs="*",
        default=[],
        type=file_path,
        metavar="FILE",
        help="recordings to open beside it",
    )
    add_server_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve the data set, with recordings if there are any; return 0."""
    return serve_files(find_sources(arguments.file), arguments, fleet=arguments.fleet)
