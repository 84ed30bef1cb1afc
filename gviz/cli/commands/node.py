"""``gviz node``: all that is recorded of one node, as text or JSON."""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING

from gviz.cli.graph_choice import GRAPH, GRAPH_MEANS, find_graph
from gviz.cli.recording_path import file_path, find_recording
from gviz.errors import NO_GRAPH, UsageError
from gviz.model import graph_titles
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
    parser.add_argument("node_id", type=int, metavar="NODE", help="its number, as pages show it")
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


def run(arguments: argparse.Namespace) -> int:
    """Print the node; return 0."""
    with Recording(find_recording(arguments.recording)) as recording:
        wanted = arguments.graph
        graph_id = _only_graph(recording) if wanted is None else find_graph(recording, wanted)
        found = summarize_node(recording, graph_id, arguments.node_id)
    if arguments.json:
        print(json.dumps(asdict(found), default=bytes.hex, indent=2))
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        print(render_text(node_document(found), width))
    return 0


def _only_graph(recording: Recording) -> int:
    graphs = [graph for graph in recording.fetch_graphs() if graph.parent_graph_id is None]
    if not graphs:
        raise UsageError(f"{recording.path}: {NO_GRAPH}")
    if len(graphs) > 1:
        titles = graph_titles(recording, graphs)
        named = ", ".join(f"{x.graph_id} {titles[x.graph_id]}" for x in graphs)
        raise UsageError(f"give --graph: there are graphs {named}")
    return graphs[0].graph_id
