"""The memory view of the graph page: what was measured, in words, over the canvas."""

from __future__ import annotations

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from gviz.app.components import address, facts
from gviz.app.files import Library
from gviz.app.views import GraphView, kept_memory, why_no_lifetimes
from gviz.recording import rows
from gviz.text import byte_size, counted

#: Allocations in the table; the table of nodes has them all.
_MOST = 200


def render_memory_facts(library: Library, file: str, view: GraphView) -> Component:
    """Return the recorded facts of a graph's memory, apart from times along the launch."""
    recording = library.file(file).recording
    samples = recording.fetch_graph_memory(view.run.run_id)
    execs = recording.fetch_graph_execs(view.root.graph_id)
    allocated = recording.fetch_allocations(view.run.run_id)
    mine = [a for a in allocated if view.graph.graph_id in (a.graph_id, a.free_graph_id)]
    found = [*_pool_facts(samples), _executables(execs)]
    names = {g.graph_id: g.name for g in recording.fetch_graphs(view.run.run_id)}
    memory = kept_memory(library, file, view)
    note = why_no_lifetimes(memory, allocated, samples)
    return html.Div(
        className="gv-memory-facts",
        children=[
            html.P(note, className="gv-muted") if note else None,
            facts([fact for fact in found if fact is not None], className="gv-facts gv-facts-line"),
            _table(view, mine, names) if mine else None,
        ],
    )


def _pool_facts(samples: Sequence[rows.GraphMemory]) -> list[tuple[str, str, str]]:
    last = {s.device_id: s for s in samples}
    found = []
    for device, sample in last.items():
        count = sum(s.device_id == device for s in samples)
        method = (
            f"Measured: cuDeviceGetGraphMemAttribute, the last of {counted(count, 'sample')}. "
            f"Most used {byte_size(sample.used_high_bytes)}, most reserved "
            f"{byte_size(sample.reserved_high_bytes)}. Memory of alloc nodes of all graphs of the "
            "process"
        )
        now = f"{byte_size(sample.used_bytes)} used of {byte_size(sample.reserved_bytes)}"
        found.append((f"Pool, GPU {device}", f"{now} reserved", method))
    return found


def _executables(execs: Sequence[rows.GraphExec]) -> tuple[str, str, str] | None:
    if not execs:
        return None
    known = [e.device_memory_bytes for e in execs if e.device_memory_bytes is not None]
    if not known:
        return (
            "Executables",
            "memory not queried",
            "Free device memory was not queried around instantiation, upload and first launch",
        )
    text = " + ".join(byte_size(n) for n in known[:4])
    if len(known) > 4:
        text = f"{byte_size(sum(known))} for {len(known)}"
    if len(known) < len(execs):
        text += f" ({len(known)} of {len(execs)})"
    return (
        "Executable" if len(execs) == 1 else "Executables",
        text,
        "Estimated: what free device memory (cuMemGetInfo) fell by around instantiation, upload "
        "and first launch; the driver takes memory in pools, so the first seems large",
    )


def _table(
    view: GraphView, allocations: Sequence[rows.Allocation], names: dict[int, str]
) -> Component:
    def place(graph_id: int | None, node_id: int | None) -> str:
        if graph_id is None or node_id is None:
            return ""
        here = graph_id == view.graph.graph_id
        return f"node {node_id}" if here else f"node {node_id} of {names.get(graph_id, graph_id)}"

    head = html.Tr([html.Th(t) for t in ("Allocated by", "Bytes", "Address", "Freed", "by")])
    lines = [
        html.Tr(
            [
                html.Td(place(a.graph_id, a.node_id)),
                html.Td(byte_size(a.bytes), className="gv-number"),
                html.Td(address(a.address), className="gv-mono"),
                html.Td(a.freed),
                html.Td(place(a.free_graph_id, a.free_node_id)),
            ]
        )
        for a in allocations[:_MOST]
    ]
    more = len(allocations) - len(lines)
    return html.Details(
        className="gv-how",
        children=[
            html.Summary(counted(len(allocations), "allocation")),
            html.Div(
                [
                    html.Table(
                        [html.Thead(head), html.Tbody(lines)], className="gv-table gv-table-tight"
                    ),
                    html.P(f"and {counted(more, 'more', 'more')}") if more > 0 else None,
                ],
                className="gv-how-body",
                tabIndex="0",
            ),
        ],
    )
