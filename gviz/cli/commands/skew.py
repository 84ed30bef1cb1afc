"""``gviz skew``: how far the ranks of a job are apart, as text or JSON."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from gviz.cli.commands.merge import in_order
from gviz.cli.recording_path import file_path, find_recordings
from gviz.comparison import (
    BodySkew,
    CollectiveSkew,
    GraphSkew,
    NodeSkew,
    RankRef,
    RankTime,
    Skew,
    read_skew,
    skew_to_json,
)
from gviz.model import telling_parts
from gviz.recording import Recording, merge_recordings
from gviz.text import MISSING, counted, duration, integer, percent, render_table, wrapped

if TYPE_CHECKING:
    from gviz.cli.command_line import Subparsers

#: Nodes and collectives of a graph that the text lists unless asked otherwise.
MOST_NODES = 10
_RANGE_WIDTH = 24


def add_parser(subparsers: Subparsers) -> None:
    """Add the parser of ``gviz skew``."""
    parser = subparsers.add_parser(
        "skew",
        help="compare the ranks of a job",
        description="Say how far the ranks of a job are apart: launches and nodes that one rank is "
        "slower in than the others, beyond noise, and how long ranks wait in collectives for "
        "the one that comes last. Of a file with several runs, such as gviz merge writes.",
    )
    parser.add_argument(
        "recording", type=file_path, help="a .gviz file with several runs, or a folder of files"
    )
    parser.add_argument(
        "--all", action="store_true", help=f"all nodes (default: {MOST_NODES}; with --json all)"
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON; docs/merging.md has the keys"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the skew of a recording's ranks; return 0."""
    found = _read(find_recordings([arguments.recording]))
    if arguments.json:
        print(json.dumps(skew_to_json(found)))
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        print("\n".join(render_skew(found, width, None if arguments.all else MOST_NODES)))
    return 0


def _read(paths: Sequence[Path]) -> Skew:
    """Return the skew of a recording, or of several, which are merged for it."""
    with TemporaryDirectory(prefix="gviz-skew-") as folder:
        path = paths[0]
        if len(paths) > 1:
            path = Path(folder) / "merged.gviz"
            merge_recordings(in_order(paths), path)
        with Recording(path) as recording:
            return read_skew(recording)


def render_skew(skew: Skew, width: int, most_nodes: int | None) -> Iterator[str]:
    """Yield the lines of a text; ``most_nodes`` None: all of them."""
    yield counted(len(skew.ranks), "rank")
    rows = [[_rank(r), r.name, r.host or MISSING, r.gpus or MISSING] for r in skew.ranks]
    yield render_table(
        ["rank", "run", "host", "GPU"], rows, width=width, elastic=1, left=frozenset({2, 3}),
        indent=2,
    )  # fmt: skip
    told = "on one clock" if skew.clock.is_one else "not on one clock"
    yield from wrapped(f"{told}: {skew.clock.reason}", width, 2)
    for remark in skew.remarks:
        yield from wrapped(f"note: {remark}", width, 2)
    for graph in skew.graphs:
        yield ""
        yield from _render_graph(graph, skew.ranks, width, most_nodes)
    if not skew.graphs:
        yield "no graph has launches with node times on every rank"


def _rank(ref: RankRef) -> str:
    return f"run {ref.run_id}" if ref.rank is None else f"{ref.rank}"


def _render_graph(
    graph: GraphSkew, ranks: Sequence[RankRef], width: int, most_nodes: int | None
) -> Iterator[str]:
    by_run = {ref.run_id: ref for ref in ranks}
    yield f"{graph.name}: {counted(graph.launch_count, 'launch', 'launches')} on every rank"
    yield render_table(
        ["rank", "graph", "launch", "slowest in", "starts after", "last in"],
        [_rank_row(time, by_run[time.run_id]) for time in graph.ranks],
        width=width,
        elastic=1,
        indent=2,
    )
    if graph.rate is None:
        yield "  launches: too few to tell a slow rank from noise"
    else:
        yield f"  launches: {_beyond(graph.significant)}"
    if graph.start_spread_ns is not None:
        yield f"  first to last start: {duration(graph.start_spread_ns)} (median)"
    if graph.collectives:
        yield "  waiting in collectives (longest first)"
        yield _collective_table(graph.collectives[:most_nodes], ranks, width)
    shown = graph.nodes if most_nodes is None else [n for n in graph.nodes if n.significant]
    if shown:
        yield "  nodes that one rank is slower in"
        yield _node_table(shown[:most_nodes], ranks, width)
    else:
        yield "  no node is slower on one rank by more than noise (--all lists them)"
    yield from _render_bodies(graph.bodies, width, most_nodes)


def _render_bodies(bodies: Sequence[BodySkew], width: int, most: int | None) -> Iterator[str]:
    """Yield what is left out of bodies."""
    left_out = [body for body in bodies if body.reason is not None]
    if not left_out:
        return
    yield "  bodies not compared in full"
    for body in left_out[:most]:
        yield from wrapped(f"{body.body}: {body.reason}", width, 4)
    if most is not None and len(left_out) > most:
        yield f"    and {len(left_out) - most} more (--all lists them)"


def _beyond(significant: bool) -> str:
    return (
        "one rank is slower by more than noise"
        if significant
        else "no rank is slower by more than noise"
    )


def _rank_row(time: RankTime, ref: RankRef) -> list[str]:
    return [
        _rank(ref),
        f"{time.graph_id}",
        duration(time.launch_ns),
        f"{time.slowest_count:,}",
        duration(time.late_ns),
        integer(time.last_count),
    ]


def _node_table(nodes: Sequence[NodeSkew], ranks: Sequence[RankRef], width: int) -> str:
    return _table(
        ["node", "in range", "fastest", "median", "slowest", "rank", "in", "start spread", ""],
        nodes,
        [
            [
                node.name,
                where,
                duration(node.low_ns),
                duration(node.median_ns),
                duration(node.high_ns),
                _rank(ranks[node.slowest]),
                percent(node.slowest_fraction),
                duration(node.start_spread_ns),
                "" if node.significant else "not tested" if node.rate is None else "noise",
            ]
            for node, where in zip(nodes, _ranges(nodes), strict=True)
        ],
        width,
    )


def _collective_table(found: Sequence[CollectiveSkew], ranks: Sequence[RankRef], width: int) -> str:
    return _table(
        ["collective", "in range", "arrivals apart", "longest wait", "of rank", "last rank", "in"],
        found,
        [
            [
                collective.name,
                where,
                duration(collective.arrival_ns),
                duration(max(w or 0.0 for w in collective.waited_ns)),
                _rank(ranks[_longest(collective)]),
                _rank(ranks[collective.last]),
                percent(collective.last_fraction),
            ]
            for collective, where in zip(found, _ranges(found), strict=True)
        ],
        width,
    )


_Found: TypeAlias = Sequence[NodeSkew] | Sequence[CollectiveSkew]


def _table(columns: list[str], found: _Found, rows: list[list[str]], width: int) -> str:
    """Return a table of nodes or collectives, with the bodies that they are in if any is in one."""
    left = frozenset({1})
    if any(node.body for node in found):
        left = frozenset({1, 2})
        columns = [*columns[:2], "in body", *columns[2:]]
        bodies = [_ending(node.body) for node in found]
        rows = [[*row[:2], body, *row[2:]] for row, body in zip(rows, bodies, strict=True)]
    return render_table(columns, rows, width=width, elastic=0, left=left, indent=4)


def _ranges(found: _Found) -> list[str]:
    """Return what tells the NVTX ranges of listed nodes apart, short enough for a column."""
    return [_ending(text) for text in telling_parts([node.context for node in found])]


def _ending(text: str) -> str:
    return text if len(text) <= _RANGE_WIDTH else f"…{text[1 - _RANGE_WIDTH :]}"


def _longest(collective: CollectiveSkew) -> int:
    waits = [w or 0.0 for w in collective.waited_ns]
    return waits.index(max(waits))
