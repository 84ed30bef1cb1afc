"""``gviz values``: the data of a graph's nodes, as text or JSON."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np

from gviz.analysis import GraphData, GraphSubject, NodeData, read_graph_data, read_node_data
from gviz.cli.graph_choice import GRAPH, GRAPH_MEANS, find_graph, only_graph
from gviz.cli.output import print_json, print_text, terminal_width
from gviz.cli.progress import shown_progress
from gviz.cli.recording_path import file_path, find_recording
from gviz.comparison import ValuesDiff, compare_eager_values
from gviz.errors import UsageError
from gviz.recording import Recording
from gviz.report import (
    eager_values_document,
    graph_values_document,
    node_values_document,
    render_text,
)
from gviz.stats import NotComputed, to_document

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz values``."""
    parser = subparsers.add_parser(
        "values",
        help="say what went into nodes and came out of them",
        description="Say what the memory that nodes are given held before and after them, where "
        "NaN begin, what varies from launch to launch, and which nodes may race. Recorded by "
        "'gviz run --values'.",
    )
    parser.add_argument("recording", type=file_path, help="a .gviz file, or a left-over spool")
    parser.add_argument(
        "node_id",
        type=int,
        nargs="?",
        metavar="NODE",
        help="its number, as pages show it (default: the graph as a whole)",
    )
    parser.add_argument(
        "--graph",
        metavar=GRAPH,
        help=f"the graph that is launched (default: the only one): {GRAPH_MEANS}",
    )
    parser.add_argument(
        "--eager",
        action="store_true",
        help="compare with the same work by stream calls, which gviz.compare_stream(values=True) "
        "had read: where a launch parts from it",
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON; docs/values.md has the keys"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the data of a graph, or of one of its nodes; return 0."""
    if arguments.eager and arguments.node_id is not None:
        raise UsageError("--eager is about all nodes of a graph: give no number of a node")
    path = find_recording(arguments.recording)
    with shown_progress("reading") as progress, ExitStack() as stack:
        progress.at(0.0, path.name)
        recording = stack.enter_context(Recording(path))
        wanted = arguments.graph
        graph_id = only_graph(recording) if wanted is None else find_graph(recording, wanted)
        subject = _subject(recording, graph_id)
        title = f"graph {graph_id} ({subject.title})"
        found: GraphData | NodeData | ValuesDiff | NotComputed
        if arguments.eager:
            found = diff = compare_eager_values(subject)
            document = eager_values_document(diff, title)
        elif arguments.node_id is None:
            found = of_graph = read_graph_data(subject, progress)
            document = graph_values_document(of_graph, title)
        else:
            found = of_node = read_node_data(subject, _node(subject, arguments.node_id), progress)
            document = node_values_document(of_node, f"node {arguments.node_id} of {title}")
        if arguments.json:
            print_json(to_document(found))
        else:
            print_text(render_text(document, terminal_width()))
    return 0


def _subject(recording: Recording, graph_id: int) -> GraphSubject:
    row = recording.fetch_graph(graph_id)
    if row.parent_graph_id is not None:
        raise UsageError(
            f"graph {graph_id} is the body of a node of graph {row.parent_graph_id}, and is read "
            f"with that: give --graph {row.parent_graph_id} and the number that pages show"
        )
    return GraphSubject(recording, row)


def _node(subject: GraphSubject, number: int) -> int:
    """Return the index of the node of a page's number."""
    node = subject.graph.index_of(number)
    if node is None:
        keys = np.sort(subject.graph.key)
        raise UsageError(
            f"graph {subject.row.graph_id} has no node {number}: they are numbered from "
            f"{keys[0]} to {keys[-1]}"
        )
    return node
