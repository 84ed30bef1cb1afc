"""``gviz upgrade``: bring recordings of older gviz versions up to date."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.output import add_json, print_json
from gviz.cli.progress import shown_progress
from gviz.cli.recording_path import file_path
from gviz.dataclass import dataclass
from gviz.errors import RecordingError, UsageError
from gviz.recording import SCHEMA_VERSION, check_output, read_version, upgrade_recording
from gviz.system import inform

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


#: Version of the keys of its JSON.
UPGRADE_VERSION = 1


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
    add_json(parser, "files (path, from_schema, to_schema, error)")


@dataclass(frozen=True, slots=True)
class _Upgraded:
    """The end of one file; its fields are keys of the JSON.

    ``from_schema`` is None where it could not be read, and ``error`` says why.
    """

    path: str
    from_schema: int | None
    to_schema: int
    error: str | None = None


def run(arguments: argparse.Namespace) -> int:
    """Upgrade each recording; return 1 if one of several could not be."""
    paths: list[Path] = arguments.recording
    output: Path | None = arguments.output
    if output is not None and len(paths) > 1:
        raise UsageError("-o takes one recording; upgrade the others in place or one by one")
    found = []
    for path in paths:
        try:
            found.append(_upgrade(path, output or path, overwrite=arguments.overwrite))
        except RecordingError as error:
            if len(paths) == 1:
                raise
            print(f"gviz: {error}", file=sys.stderr)
            found.append(_Upgraded(str(path), None, SCHEMA_VERSION, str(error)))
    if arguments.json:
        print_json({"upgrade_version": UPGRADE_VERSION, "files": [asdict(one) for one in found]})
    return int(any(one.error for one in found))


def _upgrade(path: Path, output: Path, *, overwrite: bool) -> _Upgraded:
    """Upgrade a file, to another or in place.

    In place one that is current is left alone, so that a whole folder can be given.
    """
    in_place = output == path
    if in_place and read_version(path) == SCHEMA_VERSION:
        inform(f"gviz: {path}: has schema {SCHEMA_VERSION} already")
        return _Upgraded(str(path), SCHEMA_VERSION, SCHEMA_VERSION)
    is_same = in_place or (output.exists() and path.exists() and output.samefile(path))
    if not is_same:
        check_output(output, overwrite=overwrite)
    with shown_progress("upgrading") as progress:
        version = upgrade_recording(path, output, progress)
    inform(f"gviz: {output}: schema {version} -> {SCHEMA_VERSION}")
    return _Upgraded(str(output), version, SCHEMA_VERSION)
