"""``gviz diff``: what became of the graphs of one recording in another, as text or JSON."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.graph_choice import GRAPH, GRAPH_MEANS, find_graph, is_graph
from gviz.cli.output import print_json, print_text, terminal_width
from gviz.cli.progress import shown_progress
from gviz.cli.recording_path import file_path, find_recording, find_recordings
from gviz.comparison import (
    RequestedPair,
    ValuesDiff,
    compare_recordings,
    compare_values,
    diff_to_json,
    likeliest_pair,
)
from gviz.errors import UsageError
from gviz.recording import Recording
from gviz.report import (
    diff_documents,
    document_to_json,
    render_text,
    render_texts,
    values_diff_document,
)
from gviz.spool import SPOOL_SUFFIX
from gviz.stats import to_document
from gviz.system import inform

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Graphs of a run that the text has in full unless more are requested.
MOST_GRAPHS = 3


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz diff``."""
    parser = subparsers.add_parser(
        "diff",
        help="say what changed from one recording to another",
        description="Compare the graphs of two recordings: nodes added, removed and changed, "
        "edges, lanes and times, with where the time changed and whether that is more than noise.",
    )
    parser.add_argument(
        "before",
        type=file_path,
        help="a .gviz file, or a left-over spool; a folder alone means two of its *.gviz with a "
        "graph in common: of one GPU and one program where there are such, then the newest",
    )
    parser.add_argument(
        "after",
        type=file_path,
        nargs="?",
        help="another, made later or with something changed",
    )
    parser.add_argument("more", type=file_path, nargs="*", default=[], help=argparse.SUPPRESS)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--graph",
        metavar=f"{GRAPH}[:{GRAPH}]",
        help="only this graph of the first recording, and the graph of the second to compare it "
        f"with (default: the one that is found); each {GRAPH_MEANS}",
    )
    which.add_argument(
        "--all",
        action="store_true",
        help=f"all graphs in full (default: of each run the {MOST_GRAPHS} whose launches changed "
        "most; with --json all)",
    )
    parser.add_argument(
        "--values",
        action="store_true",
        help="compare the values of nodes that 'gviz run --values' read, instead of times: the "
        "first node that outputs something else; of two ranks in one file give it twice, and "
        "--graph",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON; docs/comparing.md has the keys, of --values docs/values.md",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison of two recordings; return 0."""
    if arguments.more:
        raise UsageError("gviz diff compares two recordings; 'gviz trend FILE...' takes any number")
    paths = _find_paths(arguments.before, arguments.after)
    with (
        shown_progress("comparing") as progress,
        Recording(paths[0]) as before,
        Recording(paths[1]) as after,
    ):
        wanted = arguments.graph
        requested = None if wanted is None else _find_pair(before, after, wanted)
        if arguments.values:
            _print_values(
                compare_values(before, after, requested, progress), as_json=arguments.json
            )
            return 0
        found = compare_recordings(before, after, requested, progress)
    if arguments.json:
        report = [document_to_json(document) for document in diff_documents(found, None)]
        print_json({**diff_to_json(found), "report": report})
    else:
        most = None if arguments.all or arguments.graph else MOST_GRAPHS
        print_text(render_texts(diff_documents(found, most), terminal_width()))
    return 0


def _find_paths(before: Path, after: Path | None) -> tuple[Path, Path]:
    """Return the recordings to compare; of a folder those that correspond, which are named."""
    if after is not None:
        return find_recording(before), find_recording(after)
    if before.name.endswith(SPOOL_SUFFIX) or not before.is_dir():
        raise UsageError(
            f"gviz diff compares two recordings: name the one to compare {before} with, or a folder"
        )
    found_paths = find_recordings([before])
    with shown_progress("pairing") as progress, ExitStack() as stack:
        opened = [stack.enter_context(Recording(path)) for path in found_paths]
        found = likeliest_pair(opened, progress)
        if found is None:
            raise UsageError(
                f"no two recordings of {before} have a graph in common; name the two to compare"
            )
        paths = found[0].path, found[1].path
    inform(f"gviz: comparing {paths[0].name} (before) with {paths[1].name} (after)")
    return paths


def _print_values(found: ValuesDiff, *, as_json: bool) -> None:
    if as_json:
        print_json(to_document(found))
    else:
        print_text(render_text(values_diff_document(found), terminal_width()))


def _find_pair(before: Recording, after: Recording, wanted: str) -> RequestedPair:
    """Return the graphs of ``A:B``, or of ``A`` alone; names may hold colons themselves."""
    if ":" not in wanted or is_graph(before, wanted):
        return RequestedPair(find_graph(before, wanted), None)
    ends = [at for at, character in enumerate(wanted) if character == ":"]
    end = next((at for at in ends if is_graph(before, wanted[:at])), ends[0])
    return RequestedPair(find_graph(before, wanted[:end]), find_graph(after, wanted[end + 1 :]))
