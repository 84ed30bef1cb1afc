"""A recording in a notebook: a verdict, and a table of its graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gviz.api.recorded_graph import RecordedGraph
from gviz.recording import rows
from gviz.report import GraphEntry, graphs_document, render_html, summarize_launches

#: Kernels named of each graph.
_MOST_KERNELS = 3


def summary_html(
    title: str,
    runs: Sequence[tuple[str, Sequence[rows.Device], Sequence[RecordedGraph]]],
) -> str:
    """Return a recording's runs and graphs as HTML; all names are escaped.

    Parameters
    ----------
    title
        The file's name.
    runs
        Of each its name, the GPUs it used and its graphs.
    """
    entries = [_entry(name, devices, graph) for name, devices, found in runs for graph in found]
    return render_html(graphs_document(title, [name for name, _, _ in runs], entries))


def _entry(run: str, devices: Sequence[rows.Device], graph: RecordedGraph) -> GraphEntry:
    gpus = Counter(device.name for device in devices)
    sides = (
        summarize_launches(graph.recording, graph.row.graph_id, side)
        for side in ("graph", "stream")
    )
    return GraphEntry(
        run=run,
        graph_id=graph.row.graph_id,
        name=graph.name,
        gpus=", ".join(name if n == 1 else f"{n} × {name}" for name, n in gpus.items()),
        node_count=graph.node_count,
        launch_count=graph.launch_count,
        launch_ns=graph.launch_times.median_ns,
        kernels=tuple(_kernels(graph)),
        launches=tuple(side for side in sides if side is not None),
    )


def _kernels(graph: RecordedGraph) -> Iterator[tuple[str, float]]:
    """Yield the names of nodes that took most time, with their share of all node time."""
    recording, run_id = graph.recording, graph.row.run_id
    total: Counter[str] = Counter()
    inside = {graph.row.graph_id}
    for level in recording.fetch_graphs(run_id):
        if level.graph_id not in inside and level.parent_graph_id not in inside:
            continue
        inside.add(level.graph_id)
        key = {"graph_id": level.graph_id}
        names = dict(recording.fetch_columns(rows.Node, ("node_id", "name"), key, "node_id"))
        columns = ("node_id", "total_ns")
        for node_id, total_ns in recording.fetch_columns(
            rows.NodeStatistics, columns, key, "node_id"
        ):
            total[names.get(node_id, f"node {node_id}")] += total_ns
    whole = sum(total.values())
    for name, ns in total.most_common(_MOST_KERNELS):
        if whole:
            yield name, ns / whole
