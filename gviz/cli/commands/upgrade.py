"""``gviz upgrade``: bring recordings of older gviz versions up to date."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.recording_path import file_path
from gviz.errors import RecordingError, UsageError
from gviz.recording import SCHEMA_VERSION, check_output, read_version, upgrade_recording
from gviz.system import inform

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz upgrade``."""
    parser = subparsers.add_parser(
        "upgrade",
        help="bring recordings of older gviz versions up to date",
        description="Rewrite recordings made by an older gviz in the current schema, in place "
        "or to another file. What the older gviz did not record stays unknown. Of several files, "
        "those that cannot be upgraded are named and left as they are; the others are upgraded.",
    )
    parser.add_argument("recording", type=file_path, nargs="+", help="a .gviz file")
    parser.add_argument("-o", "--output", type=file_path, help="write here and keep the old file")
    parser.add_argument("--overwrite", action="store_true", help="replace what is at OUTPUT")


def run(arguments: argparse.Namespace) -> int:
    """Upgrade each recording; return 1 if one of several could not be."""
    paths: list[Path] = arguments.recording
    if arguments.output is not None:
        if len(paths) > 1:
            raise UsageError("-o takes one recording; upgrade the others in place or one by one")
        _upgrade_to(paths[0], arguments.output, overwrite=arguments.overwrite)
        return 0
    if len(paths) == 1:
        _upgrade_in_place(paths[0])
        return 0
    failed = False
    for path in paths:
        try:
            _upgrade_in_place(path)
        except RecordingError as error:
            print(f"gviz: {error}", file=sys.stderr)
            failed = True
    return int(failed)


def _upgrade_to(path: Path, output: Path, *, overwrite: bool) -> None:
    in_place = output.exists() and path.exists() and output.samefile(path)
    if not in_place:
        check_output(output, overwrite=overwrite)
    _say(output, upgrade_recording(path, output))


def _upgrade_in_place(path: Path) -> None:
    """Upgrade a file; one that is current is left alone, so that a whole folder can be given."""
    if read_version(path) == SCHEMA_VERSION:
        inform(f"gviz: {path}: has schema {SCHEMA_VERSION} already")
        return
    _say(path, upgrade_recording(path, path))


def _say(output: Path, version: int) -> None:
    inform(f"gviz: {output}: schema {version} -> {SCHEMA_VERSION}")
