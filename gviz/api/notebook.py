"""A recording in a notebook: a table of its graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from gviz.api.recorded_graph import RecordedGraph
from gviz.errors import NO_GRAPH
from gviz.recording import rows
from gviz.text import duration, percent

#: Graphs of a summary; a notebook's cell is no place for hundreds.
_MOST_GRAPHS = 20
#: Kernels named of each graph.
_MOST_KERNELS = 3
#: Characters of a name; the whole one is its tooltip.
_LONGEST = 48
_HEAD = ("graph", "GPU", "nodes", "launches", "launch", "most node time")
# Colours are the notebook's own, so that it is read on dark and on light.
_STYLE = "border-collapse: collapse; color: inherit; background: none"
_CELL = "padding: 2px 10px; border-bottom: 1px solid rgba(128, 128, 128, 0.4); text-align: "


def summary_html(
    title: str,
    runs: Sequence[tuple[str, Sequence[rows.Device], Sequence[RecordedGraph]]],
) -> str:
    """Return a recording's runs and graphs as an HTML table; all names are escaped.

    Parameters
    ----------
    title
        The file's name.
    runs
        Of each its name, the GPUs it used and its graphs.
    """
    graphs = [(name, devices, graph) for name, devices, found in runs for graph in found]
    several = len(runs) > 1
    head = ("run", *_HEAD) if several else _HEAD
    lines = [
        _row("th", head),
        *(
            _row("td", ([_named(name)] if several else []) + _cells(devices, graph))
            for name, devices, graph in graphs[:_MOST_GRAPHS]
        ),
    ]
    title = f"{title}: " + (f"{len(runs)} runs" if several else ", ".join(r[0] for r in runs))
    more = len(graphs) - _MOST_GRAPHS
    rest = f"<p>… and {more:,} more graphs</p>" if more > 0 else ""
    none = "" if graphs else f"<p>{NO_GRAPH}</p>"
    return (
        f'<div><table style="{_STYLE}"><caption style="text-align: left; color: inherit">'
        f"{escape(title)}</caption>{''.join(lines)}</table>{rest}{none}"
        "<p>.show() embeds the view</p></div>"
    )


def _row(tag: str, cells: Sequence[str]) -> str:
    inner = "".join(
        f'<{tag} style="{_CELL}{"right" if cell[:1].isdigit() else "left"}">{cell}</{tag}>'
        for cell in cells
    )
    return f"<tr>{inner}</tr>"


def _cells(devices: Sequence[rows.Device], graph: RecordedGraph) -> list[str]:
    median = graph.launch_times.median_ns
    gpus = Counter(device.name for device in devices)
    named = ", ".join(name if n == 1 else f"{n} × {name}" for name, n in gpus.items())
    return [
        _named(graph.name),
        escape(named),
        f"{graph.node_count:,}",
        f"{graph.launch_count:,}",
        "not timed" if median is None else duration(median),
        "<br>".join(_kernels(graph)),
    ]


def _named(text: str) -> str:
    short = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return f'<span title="{escape(text)}">{escape(short)}</span>'


def _kernels(graph: RecordedGraph) -> Iterator[str]:
    """Yield the names of nodes that took most time, with their share of all node time."""
    recording, run_id = graph.recording, graph.row.run_id
    names: dict[int, str] = {}
    inside = {graph.row.graph_id}
    for level in recording.fetch_graphs(run_id):
        if level.graph_id not in inside and level.parent_graph_id not in inside:
            continue
        inside.add(level.graph_id)
        key = {"graph_id": level.graph_id}
        columns = ("exec_node_id", "name")
        names |= dict(recording.fetch_columns(rows.Node, columns, key, "node_id"))
    key = {"graph_id": graph.row.graph_id}
    times = recording.fetch_columns(rows.NodeStatistics, ("node_id", "total_ns"), key, "node_id")
    total: Counter[str] = Counter()
    for node_id, total_ns in times:
        total[names.get(node_id, f"node {node_id}")] += total_ns
    whole = sum(total.values())
    for name, ns in total.most_common(_MOST_KERNELS):
        if whole:
            yield f"{percent(ns / whole)} {_named(name)}"
