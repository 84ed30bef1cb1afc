"""``gviz merge``: the recordings of a job's processes in one file."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gviz.cli.file_mode import add_mode
from gviz.cli.output import (
    WRITTEN_KEYS,
    add_json,
    print_json,
    print_text,
    terminal_width,
    written_file,
)
from gviz.cli.progress import shown_progress
from gviz.cli.rank_order import in_order
from gviz.cli.recording_path import file_path, find_recordings
from gviz.recording import Recording, merge_recordings, rows
from gviz.system import inform
from gviz.text import MISSING, counted, render_table, wrapped

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


#: Version of the keys of its JSON.
MERGE_VERSION = 1


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz merge``."""
    parser = subparsers.add_parser(
        "merge",
        help="put the recordings of a job's ranks in one file",
        description="Put the runs of several recordings in one file, as gviz run does with the "
        "processes of a job on one machine. Says whether their times are on one clock; gviz skew "
        "then compares the ranks. The files given stay as they are.",
    )
    parser.add_argument(
        "recordings",
        type=file_path,
        nargs="+",
        metavar="recording",
        help=".gviz files, by rank or not; a folder means its *.gviz",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=file_path,
        required=True,
        metavar="FILE.gviz",
        help="the file to write",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an existing recording")
    add_mode(parser)
    add_json(parser, f"{WRITTEN_KEYS}, runs (run_id, name, rank, host, graph_count), clock")


def run(arguments: argparse.Namespace) -> int:
    """Merge; print the runs and their clock; return 0."""
    paths = in_order(find_recordings(arguments.recordings))
    with shown_progress("merging") as progress:
        merge_recordings(paths, arguments.output, overwrite=arguments.overwrite, progress=progress)
    with Recording(arguments.output) as recording:
        if arguments.json:
            print_json(_to_json(recording))
        else:
            print_text("\n".join(_describe(recording, terminal_width())))
    inform(
        f"wrote {arguments.output}; 'gviz skew {arguments.output}' compares its ranks, "
        f"'gviz view {arguments.output}' shows them",
    )
    return 0


def _to_json(recording: Recording) -> dict[str, object]:
    from gviz.comparison import judge_clock

    runs = recording.fetch_runs()
    clock = judge_clock(runs) if len(runs) > 1 else None
    return {
        "merge_version": MERGE_VERSION,
        **written_file(recording.path),
        "runs": [
            {
                "run_id": run.run_id,
                "name": run.name,
                "rank": run.rank,
                "host": run.host,
                "graph_count": _graph_count(recording, run),
            }
            for run in runs
        ],
        "clock": None if clock is None else {"is_one": clock.is_one, "reason": clock.reason},
    }


def _describe(recording: Recording, width: int) -> Iterator[str]:
    from gviz.comparison import judge_clock

    runs = recording.fetch_runs()
    yield counted(len(runs), "run")
    yield render_table(
        ["run", "name", "rank", "host", "graphs"],
        [_row(recording, run) for run in runs],
        width=width,
        elastic=1,
        left=frozenset({3}),
        indent=2,
    )
    if len(runs) > 1:
        clock = judge_clock(runs)
        clocks = "on one clock" if clock.is_one else "not on one clock"
        yield from wrapped(f"{clocks}: {clock.reason}", width, 0)


def _row(recording: Recording, run: rows.Run) -> list[str]:
    rank = MISSING if run.rank is None else f"{run.rank}"
    return [
        f"{run.run_id}",
        run.name,
        rank,
        run.host or MISSING,
        f"{_graph_count(recording, run):,}",
    ]


def _graph_count(recording: Recording, run: rows.Run) -> int:
    return sum(g.parent_graph_id is None for g in recording.fetch_graphs(run.run_id))
