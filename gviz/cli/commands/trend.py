"""``gviz trend``: the launch times of one graph through any number of runs."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gviz.cli.recording_path import file_path, find_recordings
from gviz.comparison import (
    Trend,
    TrendPoint,
    TrendRun,
    TrendSeries,
    build_trend,
    remarks,
    trend_to_json,
)
from gviz.recording import Recording
from gviz.report import format_shift
from gviz.text import MISSING, counted, duration, render_table, wrapped

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Series that the text shows unless asked otherwise.
MOST_SERIES = 5
#: Hexadecimal digits of a commit that are shown.
_COMMIT = 10


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz trend``."""
    parser = subparsers.add_parser(
        "trend",
        help="show the launch times of graphs through any number of runs",
        description="Show how the launch time of each graph went on through any number of runs, "
        "with the commit of each and whether the change from the run before is more than noise.",
    )
    parser.add_argument(
        "recordings",
        type=file_path,
        nargs="+",
        metavar="recording",
        help=".gviz files, in any order; a folder means its *.gviz",
    )
    parser.add_argument(
        "--all", action="store_true", help=f"all graphs (default: {MOST_SERIES}; with --json all)"
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON; docs/comparing.md has the keys"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the trend; return 0."""
    with ExitStack() as stack:
        opened = [
            stack.enter_context(Recording(path)) for path in find_recordings(arguments.recordings)
        ]
        found = build_trend(opened)
    if arguments.json:
        print(json.dumps(trend_to_json(found)))
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        print(render_trend(found, width, None if arguments.all else MOST_SERIES))
    return 0


def render_trend(trend: Trend, width: int, most_series: int | None) -> str:
    """Return a trend as text; ``most_series`` None: all graphs."""
    order = "by when they were recorded" if trend.order == "recorded" else "as given"
    lines = [f"{counted(len(trend.runs), 'run')}, {order}"]
    lines += _render_runs(trend.runs, width)
    for series in trend.series[:most_series]:
        lines += ["", *_render_series(series, width)]
    left = len(trend.series) - len(trend.series[:most_series])
    if left:
        lines += ["", f"and {counted(left, 'more graph')} (--all)"]
    if not trend.series:
        lines.append("none of them has a graph that was instantiated while gviz watched")
    return "\n".join(lines)


def _render_runs(runs: Sequence[TrendRun], width: int) -> Iterator[str]:
    rows = [
        [
            f"{number}",
            Path(run.run.path).name,
            _date(run.run.started_ns),
            (run.run.git_revision or MISSING)[:_COMMIT] + ("+" if run.run.git_dirty else ""),
            run.gpus or MISSING,
        ]
        for number, run in enumerate(runs, start=1)
    ]
    yield from render_table(
        ["run", "file", "recorded", "commit", "GPU"], rows, width=width, elastic=1,
        left=frozenset({2, 3, 4}), indent=2,
    ).split("\n")  # fmt: skip


def _render_series(series: TrendSeries, width: int) -> Iterator[str]:
    yield series.name
    before = (None, *series.points)
    rows = [_row(*pair) for pair in zip(series.points, before, strict=False)]
    head = ["run", "graph", "nodes", "launch", "host", "change", ""]
    yield from render_table(
        head, rows, width=width, elastic=6, left=frozenset({6}), indent=2
    ).split("\n")
    methods = dict.fromkeys(point.method for point in series.points)
    yield from wrapped(f"launch: {'; '.join(methods)}", width, indent=2)


def _row(point: TrendPoint, before: TrendPoint | None) -> list[str]:
    change = ""
    if point.change_ns is not None and point.launch_ns is not None:
        change = format_shift(point.change_ns, point.launch_ns - point.change_ns)
    return [
        f"{point.run + 1}",
        f"{point.graph_id}",
        f"{point.node_count:,}",
        duration(point.launch_ns),
        duration(point.host_ns),
        change,
        ", ".join(remarks(point, before)),
    ]


def _date(started_ns: int | None) -> str:
    if started_ns is None:
        return MISSING
    return datetime.fromtimestamp(started_ns // 1_000_000_000, UTC).strftime("%Y-%m-%d %H:%M")
