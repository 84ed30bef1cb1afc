"""``gviz mcp``: answers for programs that read profiles, by the Model Context Protocol."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.recording_path import file_path

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz mcp``."""
    parser = subparsers.add_parser(
        "mcp",
        help="answer programs that read profiles, by the Model Context Protocol",
        description="Serve recordings to a program that reads profiles, such as an agent with a "
        "language model, by the Model Context Protocol on standard input and output: the client "
        "starts it. docs/agents.md describes the verbs. Nothing but these recordings can be read. "
        "Needs the library of the extra mcp.",
    )
    parser.add_argument(
        "file",
        nargs="*",
        type=file_path,
        metavar="FILE",
        help="recording (.gviz); a folder means its *.gviz, also those that come later (default: "
        "this folder)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client ends; return 0."""
    from gviz.agents import Allowed, Desk, RecordingSet, all_verbs, serve_stdio

    recordings = RecordingSet(arguments.file or [Path()])
    return serve_stdio(Desk(recordings, all_verbs(Allowed())))
