"""``gviz export``: a recording's graphs as text that other programs read."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.dot.export import to_dot
from gviz.errors import GvizError, RecordingError
from gviz.recording.reader import Recording

if TYPE_CHECKING:
    from gviz.cli.main import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz export``."""
    parser = subparsers.add_parser(
        "export",
        help="write a recording's graphs in another format",
        description="Write graphs for other programs, on stdout unless -o names a file. "
        "dot: Graphviz text, coloured by median duration; 'dot -Tsvg' draws it.",
    )
    parser.add_argument("recording", type=Path, metavar="FILE", help="a .gviz file")
    parser.add_argument(
        "--format", choices=["dot"], default="dot", help="what to write (default: dot)"
    )
    parser.add_argument(
        "--graph",
        type=int,
        metavar="ID",
        help="the graph; 'gviz info' lists them (default: every top-level graph)",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="the file to write")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the graphs; return 0."""
    with Recording(arguments.recording) as recording:
        if arguments.graph is None:
            found = [g.graph_id for g in recording.fetch_graphs() if g.parent_graph_id is None]
        else:
            found = [arguments.graph]
        if not found:
            raise RecordingError(
                f"{arguments.recording} has no graph to export; 'gviz info' says why"
            )
        text = "".join(to_dot(recording, graph_id) for graph_id in found)
    if arguments.output is None:
        sys.stdout.write(text)
        return 0
    try:
        arguments.output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise GvizError(
            f"cannot write {arguments.output}: {error.strerror}; choose another place"
        ) from error
    print(f"wrote {arguments.output}; 'dot -Tsvg {arguments.output}' draws it", file=sys.stderr)
    return 0
