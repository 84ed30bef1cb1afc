"""``gviz merge``: the recordings of a job's processes in one file."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.file_mode import add_mode
from gviz.cli.recording_path import file_path, find_recordings
from gviz.errors import RecordingError
from gviz.recording import Recording, merge_recordings, rows
from gviz.system import inform
from gviz.text import MISSING, counted, render_table, wrapped

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers


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


def run(arguments: argparse.Namespace) -> int:
    """Merge; print the runs and their clock; return 0."""
    paths = in_order(find_recordings(arguments.recordings))
    merge_recordings(paths, arguments.output, overwrite=arguments.overwrite)
    width = shutil.get_terminal_size((100, 24)).columns
    with Recording(arguments.output) as recording:
        print("\n".join(_describe(recording, width)))
    inform(
        f"wrote {arguments.output}; 'gviz skew {arguments.output}' compares its ranks, "
        f"'gviz view {arguments.output}' shows them",
    )
    return 0


def in_order(paths: Sequence[Path]) -> list[Path]:
    """Return recordings by the rank of their first run; refuse a run that is in two of them."""
    seen: dict[tuple[object, ...], Path] = {}
    ranks: list[float] = []
    for path in paths:
        with Recording(path) as recording:
            runs = recording.fetch_runs()
        for run in runs:
            found = (run.host, run.process_id, run.started_ns, run.name)
            if run.started_ns is None:
                continue
            other = seen.setdefault(found, path)
            if other is not path and not other.samefile(path):
                raise RecordingError(
                    f"{path} and {other} hold the same run, {run.name} (process "
                    f"{run.process_id} of {run.host}); leave one of them out"
                )
        recorded = [run.rank for run in runs if run.rank is not None]
        ranks.append(min(recorded, default=float("inf")))
    # Files of equal rank stay in the order given.
    return [paths[i] for i in sorted(range(len(paths)), key=lambda i: ranks[i])]


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
    graphs = [g for g in recording.fetch_graphs(run.run_id) if g.parent_graph_id is None]
    rank = MISSING if run.rank is None else f"{run.rank}"
    return [f"{run.run_id}", run.name, rank, run.host or MISSING, f"{len(graphs):,}"]
