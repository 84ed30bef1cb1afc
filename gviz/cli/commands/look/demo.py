"""gviz demo: open the bundled recordings of a real GPU."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from gviz.cli.commands.look.view import add_server_options, serve_files
from gviz.errors import REINSTALL, RecordingError

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "demo",
        help="open the bundled recordings in the browser",
        description="Show recordings made on a real GPU that come with gviz; needs no GPU.",
    )
    add_server_options(parser)


def run(args: argparse.Namespace) -> int:
    """Serve the bundled recordings."""
    folder = files("gviz.assets") / "recordings"
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".gviz")), key=lambda f: f.name)
    if not found:
        raise RecordingError(f"this installation holds no bundled recordings; {REINSTALL}")
    with ExitStack() as stack:
        return serve_files([stack.enter_context(as_file(f)) for f in found], args)
