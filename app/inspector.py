"""The inspector: everything known about the selected node, or sums over several."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import partial

from dash import dcc, html
from dash.development.base_component import Component

from gviz.app.address import Addresses
from gviz.app.graph_view import GraphView
from gviz.app.library import Library
from gviz.app.life import why_no_edges
from gviz.app.neighbours import eager_durations, neighbours
from gviz.app.node_facts import (
    allocation_facts,
    argument_table,
    launch_facts,
    memory_facts,
    parameter_facts,
    placement_facts,
)
from gviz.app.node_json import node_json
from gviz.app.node_memory import node_memory
from gviz.app.node_origin import stack_view
from gviz.app.node_times import eager_facts, histogram, time_facts
from gviz.app.quantity import MISSING, counted, duration, microseconds, percent, sentence
from gviz.app.shell import facts
from gviz.life_summary import is_failed
from gviz.node_type import node_type_name, not_timed_reason
from gviz.recording import rows

_SLOWEST = 8
#: Longer names of kernels are shown on request.
_LONG_NAME = 160
#: Neighbours listed by name; a join of hundreds says its count and lists the first.
_LISTED = 12


def render_inspector(
    library: Library, file: str, view: GraphView, selected: Sequence[int], addresses: Addresses
) -> Component:
    """Return what the inspector says about a selection; unknown node ids are ignored."""
    nodes = [view.nodes[n] for n in dict.fromkeys(selected) if n in view.nodes]
    if not nodes:
        return _nothing_selected(view)
    if len(nodes) > 1:
        return _several(view, nodes)
    return _one(library, file, view, nodes[0], addresses)


def _one(
    library: Library, file: str, view: GraphView, node: rows.Node, addresses: Addresses
) -> Component:
    recording = library.file(file).recording
    function = view.functions.get(node.function_id) if node.function_id is not None else None
    stack = recording.fetch_stack(node.stack_id) if node.stack_id is not None else []
    arguments = recording.fetch_arguments(view.graph.graph_id, node.node_id)
    parameters = recording.fetch_node_parameters(view.graph.graph_id, node.node_id)
    picks = partial(_picks, view)
    nvtx = view.nvtx.get(node.nvtx_path_id) if node.nvtx_path_id is not None else None
    what = [
        *launch_facts(node, function),
        *memory_facts(node),
        *allocation_facts(node, recording.fetch_allocations(view.run.run_id)),
        *parameter_facts(parameters),
        *placement_facts(node),
    ]
    return html.Div(
        [
            _heading(node, function, node_json(view, node, arguments, parameters, stack)),
            _bodies(file, view, node, addresses),
            *_times(library, file, view, node),
            _section("Launch" if function else "Operation", facts(what)) if what else None,
            _section("Python", stack_view(stack, node.stack_reason)),
            _section("NVTX", html.P(nvtx)) if nvtx else None,
            _section(f"Arguments ({len(arguments)})", argument_table(arguments))
            if arguments
            else None,
            _section("Memory", node_memory(library, file, view, node.node_id, picks)),
            _neighbour_section(library, file, view, node),
        ]
    )


def _heading(node: rows.Node, function: rows.KernelFunction | None, as_json: str) -> Component:
    whole = function.name if function else node.name
    return html.Div(
        className="gv-inspector-head",
        children=[
            html.Div(
                [
                    html.Span(node_type_name(node.type), className="gv-kind"),
                    html.Span(f"node {node.node_id}", className="gv-muted"),
                    html.Div(className="gv-grow"),
                    html.Button(
                        "Copy JSON",
                        type="button",
                        className="gv-button gv-copy",
                        title="Copy all that is recorded of this node as JSON",
                        **{"data-copy": as_json},
                    ),
                ],
                className="gv-inspector-line",
            ),
            html.H2(node.name, className="gv-clamp"),
            _whole_name(whole) if whole != node.name or len(whole) > _LONG_NAME else None,
        ],
    )


def _whole_name(name: str) -> Component:
    """Return a node's whole name, folded where it would push everything else away."""
    text = html.P(name, className="gv-mono gv-muted gv-break gv-full-name")
    if len(name) <= _LONG_NAME:
        return text
    return html.Details([html.Summary("Whole name"), text], className="gv-whole")


def _bodies(file: str, view: GraphView, node: rows.Node, addresses: Addresses) -> Component | None:
    bodies = view.bodies.get(node.node_id, ())
    if not bodies:
        return None
    links = [
        html.Li(
            dcc.Link(
                body.name,
                href=addresses.graph(file, body.graph_id),
            )
        )
        for body in bodies
    ]
    return _section("Body graph" if len(bodies) == 1 else "Body graphs", html.Ul(links))


def _times(library: Library, file: str, view: GraphView, node: rows.Node) -> list[Component | None]:
    found = view.statistics.get(node.node_id)
    if found is None or node.exec_node_id is None:
        return [
            _section("Time", html.P(_why_untimed(view, node), className="gv-muted")),
            _nested_time(view, node),
        ]
    recording = library.file(file).recording
    spans = recording.fetch_node_durations(view.root.graph_id, node.exec_node_id).tolist()
    eager = eager_durations(library, file, view).get(node.node_id, ())
    pairs = time_facts(found, view.share_of_launch(node.node_id))
    chart = histogram(spans, node.name)
    return [
        _section(
            "Time",
            html.Div(
                [
                    facts([*pairs, *eager_facts(eager, found.median_ns)]),
                    None
                    if view.inflation is None
                    else html.P(sentence(view.inflation.to_text()), className="gv-muted"),
                ]
            ),
        ),
        _section("Distribution over launches", chart) if chart is not None else None,
    ]


def _nested_time(view: GraphView, node: rows.Node) -> Component | None:
    total = view.nested_total_ns.get(node.node_id)
    if total is None:
        return None
    return facts(
        [
            (
                "Body, a launch",
                duration(total / view.timed_count) if view.timed_count else MISSING,
                "Derived: times of the nodes inside, all iterations, mean over recorded launches",
            ),
            (
                "Share of launch",
                percent(view.share_of_launch(node.node_id)),
                "Derived: that time over the launch's GPU time",
            ),
        ]
    )


def _why_untimed(view: GraphView, node: rows.Node) -> str:
    reason = node.not_timed_reason or not_timed_reason(node.type)
    if reason is not None:
        return f"Not timed: {reason}."
    if view.root.origin == "dot":
        return "No times: this graph was imported from a DOT dump, which carries none."
    if is_failed(view.root):
        return f"No times: there is no executable of this graph ({view.root.origin})."
    if not view.timed_count:
        return "No times: no launch of this graph was recorded with node times."
    if view.in_branch and not view.statistics:
        return "No times: the branch was not taken in any recorded launch."
    return "No times: this node did not run in any recorded launch."


def _neighbour_section(
    library: Library, file: str, view: GraphView, node: rows.Node
) -> Component | None:
    if view.edge_count is None:
        return _section(
            "Edges",
            html.P(f"Unknown: {why_no_edges(view.root)}.", className="gv-muted"),
        )
    found = neighbours(library, file, view)
    before = found.dependencies.get(node.node_id, ())
    after = found.dependents.get(node.node_id, ())
    return html.Div(
        [
            _section(f"Depends on ({len(before)})", _picks(view, before, "before"))
            if before
            else _section("Depends on", html.P("Nothing: a root node.", className="gv-muted")),
            _section(f"Dependents ({len(after)})", _picks(view, after, "after")) if after else None,
        ]
    )


def _picks(view: GraphView, node_ids: Sequence[int], where: str) -> Component:
    """Return buttons that select a node; ``where`` keeps their ids apart."""
    lines = [_pick(view.nodes[n], view, where) for n in node_ids[:_LISTED] if n in view.nodes]
    more = len(node_ids) - len(lines)
    if more > 0:
        lines.append(html.Li(f"and {counted(more, 'more', 'more')}", className="gv-muted"))
    return html.Ul(lines, className="gv-picks")


def _pick(node: rows.Node, view: GraphView, where: str) -> Component:
    found = view.statistics.get(node.node_id)
    return html.Li(
        html.Button(
            id={"type": "pick", "node": node.node_id, "where": where},
            className="gv-pick",
            children=[
                html.Span(node.name, className="gv-ellipsis"),
                html.Span(
                    microseconds(found.median_ns) if found else node_type_name(node.type),
                    className="gv-pick-value",
                ),
            ],
        )
    )


def _several(view: GraphView, nodes: Sequence[rows.Node]) -> Component:
    timed = [n for n in nodes if n.node_id in view.statistics]
    kinds = Counter(node_type_name(n.type) for n in nodes)
    shares = [view.share_of_launch(n.node_id) for n in timed]
    total = sum(view.statistics[n.node_id].median_ns for n in timed)
    return html.Div(
        [
            html.Div(
                [html.H2(f"{counted(len(nodes), 'node')} selected")], className="gv-inspector-head"
            ),
            _section(
                "Sums",
                facts(
                    [
                        (
                            "Time",
                            duration(total) if timed else "no times",
                            "Derived: sum of medians",
                        ),
                        (
                            "Share of launch",
                            percent(sum(s for s in shares if s is not None))
                            if timed
                            else "no times",
                            "Derived: node time over the launch's GPU time",
                        ),
                        ("Timed", f"{len(timed)} of {len(nodes)}", "Nodes with spans"),
                        *((kind, str(count), None) for kind, count in kinds.most_common()),
                    ]
                ),
            ),
            _section("Slowest of them", _picks(view, _slowest(view, timed), "several"))
            if timed
            else None,
        ]
    )


def _nothing_selected(view: GraphView) -> Component:
    slowest = _slowest(view, view.nodes.values())
    hint = "Click a node in the graph, the timeline or the table."
    return html.Div(
        [
            html.Div(
                [html.H2("No node selected"), html.P(hint, className="gv-muted")],
                className="gv-inspector-head",
            ),
            _section("Slowest nodes, by median", _picks(view, slowest, "slowest"))
            if slowest
            else None,
            _section("Most time, by kernel name", _totals(view)) if slowest else None,
        ]
    )


def _totals(view: GraphView) -> Component:
    """Return what nodes of one name take together in a launch: the names of most time."""
    total: dict[str, float] = defaultdict(float)
    count: Counter[str] = Counter()
    for node in view.nodes.values():
        if node.node_id in view.statistics:
            total[node.name] += view.statistics[node.node_id].median_ns
            count[node.name] += 1
    whole = sum(total.values())
    head = html.Tr(
        [
            html.Th("Name"),
            html.Th("Nodes", className="gv-number"),
            html.Th("Sum", className="gv-number", title="Derived: sum of medians"),
            html.Th("Of node time", className="gv-number"),
        ]
    )
    lines = [
        html.Tr(
            [
                html.Td(name, className="gv-break"),
                html.Td(str(count[name]), className="gv-number"),
                html.Td(duration(time), className="gv-number"),
                html.Td(percent(time / whole if whole else None), className="gv-number"),
            ]
        )
        for name, time in sorted(total.items(), key=lambda item: -item[1])[:_SLOWEST]
    ]
    return html.Table([html.Thead(head), html.Tbody(lines)], className="gv-table gv-table-tight")


def _slowest(view: GraphView, nodes: Iterable[rows.Node]) -> list[int]:
    timed = [n.node_id for n in nodes if n.node_id in view.statistics]
    return sorted(timed, key=lambda n: -view.statistics[n].median_ns)[:_SLOWEST]


def _section(title: str, body: Component | None) -> Component | None:
    if body is None:
        return None
    return html.Section([html.H3(title), body], className="gv-inspector-section")
