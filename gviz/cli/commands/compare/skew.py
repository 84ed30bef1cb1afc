"""``gviz skew``: how far the ranks of a job are apart, as text or JSON."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from gviz.cli.output import print_json, print_text, terminal_width
from gviz.cli.progress import shown_progress
from gviz.cli.rank_order import in_order
from gviz.cli.recording_path import file_path, find_recordings
from gviz.comparison import Skew, read_skew, skew_to_json
from gviz.recording import Recording, merge_recordings
from gviz.report import MOST_NODES, document_to_json, render_text, skew_document

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz skew``."""
    parser = subparsers.add_parser(
        "skew",
        help="compare the ranks of a job",
        description="Say how far the ranks of a job are apart: launches and nodes that one rank is "
        "slower in than the others, beyond noise, and how long ranks wait in collectives for "
        "the one that comes last. Of a file with several runs, such as gviz merge writes.",
    )
    parser.add_argument(
        "recording", type=file_path, help="a .gviz file with several runs, or a folder of files"
    )
    parser.add_argument(
        "--all", action="store_true", help=f"all nodes (default: {MOST_NODES}; with --json all)"
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON; docs/merging.md has the keys"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the skew of a recording's ranks; return 0."""
    found = _read(find_recordings([arguments.recording]))
    if arguments.json:
        report = document_to_json(skew_document(found, None))
        print_json({**skew_to_json(found), "report": report})
    else:
        document = skew_document(found, None if arguments.all else MOST_NODES)
        print_text(render_text(document, terminal_width()))
    return 0


def _read(paths: Sequence[Path]) -> Skew:
    """Return the skew of a recording, or of several, which are merged for it."""
    with TemporaryDirectory(prefix="gviz-skew-") as folder:
        path = paths[0]
        if len(paths) > 1:
            path = Path(folder) / "merged.gviz"
            with shown_progress("merging") as progress:
                merge_recordings(in_order(paths), path, progress=progress)
        with shown_progress("comparing") as progress, Recording(path) as recording:
            return read_skew(recording, progress)
