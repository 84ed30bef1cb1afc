"""``gviz fleet build``: recordings of many ranks as a data set of Parquet files."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING

from gviz.cli.file_mode import add_mode
from gviz.cli.output import add_json, print_json, print_text
from gviz.cli.progress import shown_progress
from gviz.fleet import Built, build_fleet, dask_mapper, find_sources
from gviz.text import counted

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Raised when a key of the JSON goes away or changes its meaning; new keys do not raise it.
BUILD_VERSION = 1
#: Failures that are printed; the manifest and the JSON have all.
_MOST_FAILURES = 20


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz fleet build``."""
    parser = subparsers.add_parser(
        "build",
        help="put recordings in a data set",
        description="Put recordings of a job's ranks in a data set of Parquet files, read by Dask: "
        "processes of this machine, or a cluster. Recordings that are in it already are left as "
        "they are; one that cannot be read is listed and the others are added. It can be killed at "
        "any time, and goes on where it was.",
    )
    parser.add_argument(
        "recordings",
        nargs="+",
        metavar="recording",
        help=".gviz files, patterns, folders (their *.gviz), or addresses that fsspec knows, such "
        "as s3://bucket/job/",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="FLEET", help="the data set's folder, or address"
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a Dask scheduler, or a scheduler file (default: DASK_SCHEDULER_ADDRESS, else "
        "processes of this machine)",
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes of this machine (default: one a core)"
    )
    parser.add_argument(
        "--anew", action="store_true", help="leave out what is in the data set so far"
    )
    add_mode(parser)
    add_json(
        parser,
        "path, build (0: nothing was new), added_count, known_count, recording_count, failures "
        "(url, reason)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Build; print what was added and what was not; return 0."""
    sources = find_sources(arguments.recordings)
    open_mapper = partial(dask_mapper, arguments.scheduler, arguments.workers)
    with shown_progress("reading") as progress:
        built = build_fleet(
            sources, arguments.output, open_mapper, anew=arguments.anew, progress=progress
        )
    if arguments.json:
        print_json(_to_json(arguments.output, built))
    else:
        print_text(_describe(arguments.output, built))
        _list_failures(built)
    return 0


def _to_json(target: str, built: Built) -> dict[str, object]:
    return {
        "build_version": BUILD_VERSION,
        "path": target,
        "build": built.build,
        "added_count": built.added_count,
        "known_count": built.known_count,
        "recording_count": len(built.manifest.recordings),
        "failures": [{"url": one.source.url, "reason": one.reason} for one in built.failures],
    }


def _describe(target: str, built: Built) -> str:
    there = counted(len(built.manifest.recordings), "recording")
    graphs = counted(len(built.manifest.structures), "structure")
    known = f", {built.known_count:,} were there" if built.known_count else ""
    left_out = f", {len(built.failures):,} left out" if built.failures else ""
    return (
        f"{target}: {there} of {graphs}; {built.added_count:,} added{known}{left_out}\n"
        f"'gviz fleet report {target}' says who is slow, 'gviz fleet query {target}' answers SQL"
    )


def _list_failures(built: Built) -> None:
    for one in built.failures[:_MOST_FAILURES]:
        print(f"gviz: left out {one.source.url}: {one.reason}", file=sys.stderr)
    more = len(built.failures) - _MOST_FAILURES
    if more > 0:
        print(f"gviz: and {more:,} more; --json lists all", file=sys.stderr)
