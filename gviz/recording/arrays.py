"""Spans and edges as arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.recording.column_reading import read_columns, read_page, rows_of_page
from gviz.recording.columns import Page, join_pages
from gviz.recording.integrity import check_rows
from gviz.recording.rows import table_of

if TYPE_CHECKING:
    from gviz.recording.database import Database, Execute
    from gviz.stats import IntArray

#: A node: graph_id of the level that holds it, and its node_id there.
NodeKey = tuple[int, int]
_EVERY_NODE: tuple[NodeKey, NodeKey] = ((-(2**63), -(2**63)), (2**63 - 1, 2**63 - 1))


@dataclass(frozen=True, slots=True)
class SpanArrays:
    """Spans as arrays of one length, in order of (launch, graph, node, iteration).

    Attributes
    ----------
    launch_id, graph_id, node_id, iteration, start_ns, duration_ns, stream_id
        int64 arrays, the columns of table ``span``. ``graph_id`` is the level that holds the
        node, and ``node_id`` the node in it; ``start_ns`` is relative to the first span of its
        launch.
    """

    launch_id: IntArray
    graph_id: IntArray
    node_id: IntArray
    iteration: IntArray
    start_ns: IntArray
    duration_ns: IntArray
    stream_id: IntArray

    def __len__(self) -> int:
        return len(self.node_id)


@dataclass(frozen=True, slots=True)
class EdgeArrays:
    """Edges of a topology as arrays of one length: node ids, type and ports (int64)."""

    from_node: IntArray
    to_node: IntArray
    type: IntArray
    from_port: IntArray
    to_port: IntArray

    def __len__(self) -> int:
        return len(self.from_node)


def read_edges(database: Database, topology_id: int) -> EdgeArrays:
    """Return the edges of a topology, by (from_node, to_node)."""
    names = [f.name for f in fields(EdgeArrays)]
    found = read_columns(database, rows.Edge, names, {"topology_id": topology_id})
    return EdgeArrays(*(found.integers(name) for name in names))


def read_spans(database: Database, launch_id: int) -> SpanArrays:
    """Return the spans of one launch."""
    names = [f.name for f in fields(SpanArrays)]
    counted = database.execute("SELECT span_count FROM launch WHERE launch_id=?", launch_id)
    check_rows(table_of(rows.Launch), ["span_count"], counted)
    count = counted[0][0] if counted else None
    found = read_columns(database, rows.Span, names, {"launch_id": launch_id}, count=count)
    return SpanArrays(*(found.integers(name) for name in names))


def read_graph_spans(
    database: Database,
    graph_id: int,
    nodes: tuple[NodeKey, NodeKey] | None,
    chosen: Collection[int] | None,
) -> SpanArrays:
    """Return the spans of recorded launches of a graph.

    ``nodes``: of those from the first to the second, in order of (graph, node); None: of all.
    ``chosen``: launches, by their ids; None: all.
    """
    sql = (
        "SELECT launch_id, span_count FROM launch "
        "WHERE graph_id=? AND side='graph' AND span_count > 0"
    )
    launches = database.execute(sql, graph_id)
    check_rows(table_of(rows.Launch), ["launch_id", "span_count"], launches)
    if chosen is not None:
        launches = [launch for launch in launches if launch[0] in chosen]
    launches.sort()
    names = [f.name for f in fields(SpanArrays)]
    source = (
        f"SELECT {', '.join(f'span.{name}' for name in names)} "
        "FROM launch CROSS JOIN span USING (launch_id) "
        "WHERE launch_id BETWEEN ? AND ? AND +launch.graph_id=? AND side='graph' "
        "AND span_count > 0 AND (span.graph_id, span.node_id) >= (?, ?) "
        "AND (span.graph_id, span.node_id) <= (?, ?) "
        f"{_among(chosen)}"
        "ORDER BY launch_id, span.graph_id, span.node_id, iteration"
    )
    first, last = _EVERY_NODE if nodes is None else nodes

    def read(execute: Execute, part: tuple[int, int]) -> Page:
        return read_page(execute, rows.Span, names, source, (*part, graph_id, *first, *last))

    most = rows_of_page(rows.Span, names)
    pages = [read(database.execute, part) for part in _page_launches(launches, most)]
    found = join_pages(names, pages)
    return SpanArrays(*(found.integers(name) for name in names))


def _among(launches: Collection[int] | None) -> str:
    if launches is None:
        return ""
    return f"AND launch_id IN ({', '.join(str(int(one)) for one in launches)}) "


def _page_launches(
    launches: Sequence[tuple[int, int]], rows_at_once: int
) -> Iterator[tuple[int, int]]:
    """Yield first and last id of launches (id, spans) whose spans make a page together."""
    page: list[int] = []
    count = 0
    for launch_id, span_count in launches:
        if page and count + span_count > rows_at_once:
            yield page[0], page[-1]
            page, count = [], 0
        page.append(launch_id)
        count += span_count
    # Also without launches: a page of no rows has the right columns.
    yield (page[0], page[-1]) if page else (0, 0)
