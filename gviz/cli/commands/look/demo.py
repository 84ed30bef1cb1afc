"""gviz demo: open the bundled recordings of a real GPU."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.commands.look.view import VIEW_VERSION, add_server_options, serve_files
from gviz.cli.output import WRITTEN_KEYS, print_json, written_file
from gviz.cli.recording_path import file_path
from gviz.errors import REINSTALL, GvizError, RecordingError, cannot_write
from gviz.system import create_folder, inform, written_aside
from gviz.text import counted

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "demo",
        help="open the bundled recordings in the browser",
        description="Show recordings made on a real GPU that come with gviz; needs no GPU.",
    )
    parser.add_argument(
        "--to",
        type=file_path,
        metavar="FOLDER",
        help="copy them into this new folder instead, to be read in the terminal",
    )
    add_server_options(parser, f"; with --to: files ({WRITTEN_KEYS})")


def run(args: argparse.Namespace) -> int:
    """Serve the bundled recordings."""
    folder = files("gviz.assets") / "recordings"
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".gviz")), key=lambda f: f.name)
    if not found:
        raise RecordingError(f"this installation holds no bundled recordings; {REINSTALL}")
    with ExitStack() as stack:
        paths = [stack.enter_context(as_file(f)) for f in found]
        return serve_files(paths, args) if args.to is None else _copy(paths, args)


def _copy(paths: Sequence[Path], args: argparse.Namespace) -> int:
    """Copy the recordings, and say it; return 0."""
    outputs = [args.to / path.name for path in paths]
    if os.path.lexists(args.to):
        raise GvizError(f"{args.to} exists; name a folder that does not")
    try:
        create_folder(args.to)
        for path, output in zip(paths, outputs, strict=True):
            with written_aside(output) as part:
                part.write_bytes(path.read_bytes())
    except FileNotFoundError as error:
        raise GvizError(f"there is no folder {args.to.parent}; create it") from error
    except OSError as error:
        raise GvizError(cannot_write(args.to, error)) from error
    inform(f"wrote {counted(len(outputs), 'recording')} to {args.to}; 'gviz info FILE' reads one")
    if args.json:
        print_json({"view_version": VIEW_VERSION, "files": [written_file(o) for o in outputs]})
    return 0
