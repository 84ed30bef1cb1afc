"""A recording in a notebook: a verdict, and a table of its graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gviz.api.recorded_graph import RecordedGraph
from gviz.model import graph_title, read_statistics, read_tree
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
        name=graph_title(graph.recording, graph.row),
        gpus=", ".join(name if n == 1 else f"{n} × {name}" for name, n in gpus.items()),
        node_count=graph.node_count,
        launch_count=graph.launch_count,
        launch=graph.launch_times,
        kernels=tuple(_kernels(graph)),
        launches=tuple(side for side in sides if side is not None),
    )


def _kernels(graph: RecordedGraph) -> Iterator[tuple[str, float]]:
    """Yield the names of nodes that took most time, with their share of all node time."""
    recording = graph.recording
    tree = read_tree(recording, graph.row.graph_id, columns=())
    total: Counter[str] = Counter()
    times = read_statistics(recording, tree, ("total_ns",)).listed("total_ns")
    for name, ns in zip(tree.nodes.listed("name"), times, strict=True):
        if ns is not None:
            total[name] += ns
    whole = sum(total.values())
    for name, ns in total.most_common(_MOST_KERNELS):
        if whole:
            yield name, ns / whole
