"""``gviz node``: all that is recorded of one node, as text or JSON."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING

from gviz.cli.graph_choice import GRAPH, GRAPH_MEANS, find_graph, only_graph
from gviz.cli.output import print_json, print_text, terminal_width
from gviz.cli.progress import shown_progress
from gviz.cli.recording_path import file_path, find_recording
from gviz.recording import Recording
from gviz.report import node_document, render_text, summarize_node

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz node``."""
    parser = subparsers.add_parser(
        "node",
        help="say all that is recorded of one node",
        description="Say all that is recorded of one node: what it takes, its launch shape and "
        "arguments, the line of Python that made it, and its dependencies.",
    )
    parser.add_argument("recording", type=file_path, help="a .gviz file, or a left-over spool")
    parser.add_argument(
        "node_id", type=_node_number, metavar="NODE", help="its number, as pages show it"
    )
    parser.add_argument(
        "--graph",
        metavar=GRAPH,
        help=f"the graph or body that it is in (default: the only one): {GRAPH_MEANS}",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON: rows of tables that docs/recording.md describes, bytes in hexadecimal",
    )


def _node_number(text: str) -> int:
    try:
        return int(text.removeprefix("#"))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no number of a node; 'gviz query FILE \"SELECT node_id, name FROM "
            "v_node\"' lists numbers and names"
        ) from None


def run(arguments: argparse.Namespace) -> int:
    """Print the node; return 0."""
    path = find_recording(arguments.recording)
    with shown_progress("reading") as progress, ExitStack() as stack:
        recording = stack.enter_context(Recording(path))
        wanted = arguments.graph
        graph_id = only_graph(recording) if wanted is None else find_graph(recording, wanted)
        found = summarize_node(recording, graph_id, arguments.node_id, progress)
    if arguments.json:
        print_json(asdict(found), default=bytes.hex, indent=2)
    else:
        print_text(render_text(node_document(found), terminal_width()))
    return 0
