"""``gviz what-if``: what a launch would take with edits made to its graph."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gviz.cli.graph_choice import GRAPH, GRAPH_MEANS, find_graph, only_graph
from gviz.cli.output import print_json, print_text, terminal_width
from gviz.cli.progress import shown_progress
from gviz.cli.recording_path import file_path, find_recording
from gviz.errors import UsageError
from gviz.recording import Recording
from gviz.report import document_to_json, render_text, what_if_document
from gviz.stats import to_document
from gviz.whatif import Edit, EditKind, ask_recording, parse_edit

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: The form of each edit's value, and what it asks for.
_EDITS = {
    EditKind.OFF: ("PATTERN", "nodes take no time"),
    EditKind.SCALE: ("PATTERN=FACTOR", "nodes take so many times their time: attention=0.5"),
    EditKind.CUT: ("A:B", "nodes B no longer wait for nodes A"),
    EditKind.FUSE: (
        "A-B",
        "nodes A, the nearest B behind each, and what lies between become one kernel of their "
        "summed time, without the gaps",
    ),
    EditKind.ORDER: ("priority", "nodes start in the order of their priority"),
    EditKind.DELAY: ("PATTERN=TIME", "a pause stands behind each node: GEMM=2us"),
}


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz what-if``."""
    parser = subparsers.add_parser(
        "what-if",
        help="say what a launch would take if nodes were faster, gone, fused or independent",
        description="Compute what a launch would take with edits made to its graph, without a "
        "GPU. Edits are made together. Without any, rank kernel families and layers by what 10% "
        "off would bring. A PATTERN is numbers of nodes (12, 3,10-40), or a shell pattern of "
        "names of nodes, families (attention), kinds, layers ('layer 17') or NVTX ranges, as "
        "pages show them.",
    )
    parser.add_argument("recording", type=file_path, help="a .gviz file, or a left-over spool")
    parser.add_argument(
        "--graph", metavar=GRAPH, help=f"the graph (default: the only one): {GRAPH_MEANS}"
    )
    for kind, (value, meaning) in _EDITS.items():
        parser.add_argument(
            f"--{kind}",
            dest="edits",
            action="append",
            type=_edit(kind),
            metavar=value,
            help=meaning,
        )
    parser.add_argument(
        "--json", action="store_true", help="print JSON; docs/what_if.md has the keys"
    )


def _edit(kind: EditKind) -> Callable[[str], Edit]:
    def parse(text: str) -> Edit:
        try:
            return parse_edit(kind, text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parse


def run(arguments: argparse.Namespace) -> int:
    """Print what a launch would take; return 0."""
    path = find_recording(arguments.recording)
    edits: Sequence[Edit] = arguments.edits or ()
    with shown_progress("computing") as progress, Recording(path) as recording:
        wanted = arguments.graph
        graph_id = only_graph(recording) if wanted is None else find_graph(recording, wanted)
        found = ask_recording(recording, graph_id, edits, progress)
    document = what_if_document(found)
    if arguments.json:
        print_json({**to_document(found), "report": document_to_json(document)})
    else:
        print_text(render_text(document, terminal_width()))
    return 0
