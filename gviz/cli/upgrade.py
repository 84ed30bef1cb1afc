"""``gviz upgrade``: bring recordings of older gviz versions up to date."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.errors import RecordingError
from gviz.recording.schema import SCHEMA_VERSION
from gviz.recording.upgrade import upgrade_recording

if TYPE_CHECKING:
    from gviz.cli.main import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz upgrade``."""
    parser = subparsers.add_parser(
        "upgrade",
        help="bring recordings of older gviz versions up to date",
        description="Rewrite recordings made by an older gviz in the current schema, in place "
        "or to another file. What the older gviz did not record stays unknown.",
    )
    parser.add_argument("recording", type=Path, nargs="+", help="a .gviz file")
    parser.add_argument("-o", "--output", type=Path, help="write here and keep the old file")


def run(arguments: argparse.Namespace) -> int:
    """Upgrade each recording; return 0."""
    if arguments.output is not None and len(arguments.recording) > 1:
        raise RecordingError("-o takes one recording; upgrade the others in place or one by one")
    for path in arguments.recording:
        output = arguments.output or path
        version = upgrade_recording(path, output)
        print(f"gviz: {output}: schema {version} -> {SCHEMA_VERSION}", file=sys.stderr)
    return 0
