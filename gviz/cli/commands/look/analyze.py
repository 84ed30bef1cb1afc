"""``gviz analyze``: what a recording means, as text for people or JSON for programs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gviz.analysis import analysis_to_json, analyze
from gviz.checks import read_ignored
from gviz.cli.garbage import collection_paused
from gviz.cli.graph_choice import GRAPH, GRAPH_MEANS, find_graph
from gviz.cli.output import print_json, print_text, terminal_width
from gviz.cli.progress import shown_progress
from gviz.cli.recording_path import file_path, find_recording
from gviz.recording import Recording
from gviz.report import analysis_documents, document_to_json, render_texts
from gviz.system import DEFAULT_NAME

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Graphs of a run that the text is about unless more are requested.
MOST_GRAPHS = 3


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz analyze``."""
    parser = subparsers.add_parser(
        "analyze",
        help="say what bounds a graph's launches and what could be gained",
        description="Say where the time of a graph's launches goes, what bounds them, what "
        "could run side by side, and what to change. Every number says whether it was "
        "measured, derived from measured ones, or estimated.",
    )
    parser.add_argument("recording", type=file_path, help="a .gviz file, or a left-over spool")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--graph", metavar=GRAPH, help=f"only this graph: {GRAPH_MEANS}")
    which.add_argument(
        "--all",
        action="store_true",
        help=f"all graphs (default: of each run the {MOST_GRAPHS} whose launches took longest "
        "together; with --json all)",
    )
    parser.add_argument(
        "--config",
        type=file_path,
        metavar="FILE",
        help=f"findings to leave out (default: {DEFAULT_NAME} here); docs/analysis.md has the form",
    )
    parser.add_argument(
        "--costs",
        type=file_path,
        metavar="FILE",
        help="launch costs to use, a recording of 'gviz bench' (default: what fits the GPU best "
        "among those in the recording, those that 'gviz bench' kept, and an H100's)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON; docs/analysis.md has the keys"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the analysis of a recording; return 0."""
    with collection_paused():
        _report(arguments)
    return 0


def _report(arguments: argparse.Namespace) -> None:
    """Print the analysis as text or JSON."""
    ignored = read_ignored(arguments.config)
    few = not (arguments.all or arguments.json) and arguments.graph is None
    path = find_recording(arguments.recording)
    with shown_progress("analyzing") as progress, Recording(path) as recording:
        wanted = arguments.graph
        found = analyze(
            recording,
            graph_id=None if wanted is None else find_graph(recording, wanted),
            most_graphs=MOST_GRAPHS if few else None,
            ignored=ignored,
            costs_path=arguments.costs,
            progress=progress,
        )
    documents = analysis_documents(found)
    if arguments.json:
        reports = [document_to_json(document) for document in documents]
        print_json({**analysis_to_json(found), "report": reports})
    else:
        print_text(render_texts(documents, terminal_width()))
