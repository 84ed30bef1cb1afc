"""The inspector: everything recorded of the selected node, or sums over several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from dash import dcc
from dash.development.base_component import Component

from gviz.app.components import Addresses, facts, sentence
from gviz.app.components import elements as html
from gviz.app.files import Library
from gviz.app.inspector.life import edges_note, why_no_edges
from gviz.app.inspector.node_facts import (
    allocation_facts,
    argument_table,
    launch_facts,
    memory_facts,
    parameter_facts,
    placement_facts,
)
from gviz.app.inspector.node_json import node_json
from gviz.app.inspector.node_memory import Picks, node_memory
from gviz.app.inspector.node_origin import forward_operation, origin_line, stack_view
from gviz.app.inspector.node_times import body_facts, eager_facts, histogram, time_facts
from gviz.app.inspector.picks import pick_buttons, section
from gviz.app.views import (
    GraphView,
    body_view,
    eager_durations,
    eager_ranges,
    iteration_words,
    neighbours,
    shared_ranges,
)
from gviz.cuda import node_type_name, not_timed_reason
from gviz.families import kernel_label
from gviz.model import GraphTree, is_failed, read_node, read_node_durations
from gviz.recording import Recording, rows
from gviz.text import counted, duration, percent

_SLOWEST = 8
_SUMMED = (
    "Derived: sum of medians; of nodes in bodies, of the mean of their time in a launch, "
    "all iterations"
)
#: Longer names of kernels are shown on request.
_LONG_NAME = 160
_EXCHANGEABLE = (
    "Exchangeable (class {}): these times may be those of another node of the class, for all "
    "dependencies would hold."
)


def render_inspector(
    library: Library,
    file: str,
    view: GraphView,
    selected: Sequence[int],
    addresses: Addresses,
    picks: Picks | None = None,
) -> Component:
    """Return the inspector's facts about a selection.

    ``selected`` are numbers of nodes on the page, see
    :class:`gviz.model.tree.graph_tree.GraphTree`; unknown ones are ignored. ``picks`` makes what
    other nodes, by these numbers, are chosen by; None:
    :func:`gviz.app.inspector.picks.pick_buttons`.
    """
    picks = picks or partial(pick_buttons, view.tree)
    found = (view.tree.index_of(key) for key in dict.fromkeys(selected))
    nodes = [node for node in found if node is not None]
    if not nodes:
        return _nothing_selected(view, picks)
    if len(nodes) > 1:
        return _several(view, nodes, picks)
    return _one(library, file, view, nodes[0], addresses, picks)


def _one(
    library: Library,
    file: str,
    page: GraphView,
    index: int,
    addresses: Addresses,
    of_page: Picks,
) -> Component:
    recording = library.file(file).recording
    view = body_view(library, file, page, int(page.tree.level[index]))
    node = view.nodes[int(page.tree.nodes.integers("node_id")[index])]

    def picks(node_ids: Sequence[int]) -> Component:
        return of_page(view.tree.keys_in(view.at, node_ids).tolist())

    function = view.functions.get(node.function_id) if node.function_id is not None else None
    stack = recording.fetch_stack(node.stack_id) if node.stack_id is not None else []
    arguments = recording.fetch_arguments(view.graph.graph_id, node.node_id)
    parameters = recording.fetch_node_parameters(view.graph.graph_id, node.node_id)
    path_id = page.tree.nodes[index].nvtx_path_id
    nvtx = None if path_id is None else view.nvtx.get(path_id)
    what = [
        *launch_facts(node, function),
        *memory_facts(node),
        *allocation_facts(node, recording.fetch_allocations(view.run.run_id)),
        *parameter_facts(parameters),
        *placement_facts(node),
    ]
    as_json = node_json(view, node, nvtx, arguments, parameters, stack)
    forward = _read_forward(recording, page.tree, index)
    return html.Div(
        [
            _heading(
                node,
                function,
                as_json,
                _place(file, view, addresses),
                origin_line(stack, node.stack_reason, () if forward is None else forward.stack),
            ),
            _not_drawn(page.tree, index),
            _bodies(file, view, index, addresses),
            *_times(library, file, view, node),
            section("Launch" if function else "Operation", facts(what)) if what else None,
            section("Python", stack_view(stack, node.stack_reason)) if stack else None,
            None if forward is None else _forward(page.tree, index, node, forward),
            section("NVTX", _ranges(page.tree, index, nvtx)) if nvtx else None,
            _eager_call(eager_ranges(library, file, view).get(node.node_id, ()), nvtx),
            section(f"Arguments ({len(arguments)})", argument_table(arguments))
            if arguments
            else None,
            section("Memory", node_memory(library, file, view, node.node_id, picks)),
            _neighbour_section(library, file, view, node, picks),
        ]
    )


@dataclass(frozen=True, slots=True)
class _Forward:
    """The first node of the operation whose backward pass a node is, and its Python stack."""

    node: rows.Node
    stack: Sequence[rows.Location]


def _read_forward(recording: Recording, tree: GraphTree, index: int) -> _Forward | None:
    """Return the operation of the forward pass whose backward pass a node is; None: not known."""
    first = int(tree.operations.forward[index])
    if first < 0:
        return None
    node = read_node(recording, tree, first)
    return _Forward(node, [] if node.stack_id is None else recording.fetch_stack(node.stack_id))


def _forward(tree: GraphTree, index: int, node: rows.Node, forward: _Forward) -> Component:
    path_id = tree.nodes[int(tree.operations.forward[index])].nvtx_path_id
    content = forward_operation(
        forward.node,
        node.autograd_name,
        None if path_id is None else tree.nvtx.get(path_id),
        forward.stack,
        is_exact=bool(tree.operations.is_exact[index]),
    )
    return section("Forward operation", content)


def _ranges(tree: GraphTree, index: int, nvtx: str) -> Component:
    if tree.has_range_of_forward[index]:
        return html.P(f"{nvtx} (autograd: sequence, of the forward operation)")
    if tree.has_range_of_capture[index]:
        why = "open on the capturing thread when this node was made on a thread without ranges"
        return html.P(f"{nvtx} (by time: {why})")
    return html.P(nvtx)


def _eager_call(called_in: Sequence[str], nvtx: str | None) -> Component | None:
    """Return the ranges in which the same work was called outside the graph, unless they are known.

    Of several iterations: what is the same of all, as their steps are not.
    """
    ranges = shared_ranges(called_in)
    if ranges is None or ranges == nvtx:
        return None
    meaning = (
        "Ranges, and PyTorch's operators in imported traces, that were open on the host when the "
        "matched operations outside the graph were called, outermost first: those that all "
        "iterations share"
    )
    return section("Eager call in", html.P(ranges, title=meaning))


def _place(file: str, view: GraphView, addresses: Addresses) -> Component | None:
    """Return which body a node is in; None in the level shown."""
    if not view.at:
        return None
    href = addresses.graph(file, view.tree.levels[view.at].graph.graph_id)
    link = dcc.Link(view.tree.path_of(view.at), href=href)
    return html.Span(["in ", link], className="gv-muted gv-ellipsis")


def _not_drawn(tree: GraphTree, index: int) -> Component | None:
    """Return why the graph has no place for a node; None: it has one.

    Only table and timeline have the nodes of a body graph without a known parent node.
    """
    if tree.top[index] >= 0:
        return None
    return html.P(
        "Not drawn in this graph, because the parent node of its body graph is not recorded; the "
        "page of the body graph draws it.",
        className="gv-muted",
    )


def _heading(
    node: rows.Node,
    function: rows.KernelFunction | None,
    as_json: str,
    place: Component | None,
    origin: Component,
) -> Component:
    whole = function.name if function else node.name
    label = kernel_label(node.name)
    return html.Div(
        className="gv-inspector-head",
        children=[
            html.Div(
                [
                    html.Span(node_type_name(node.type), className="gv-kind"),
                    html.Span(f"node {node.node_id}", className="gv-muted"),
                    place,
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
            html.H2(label, className="gv-clamp"),
            origin,
            _whole_name(whole) if whole != label or len(whole) > _LONG_NAME else None,
        ],
    )


def _whole_name(name: str) -> Component:
    """Return a node's whole name, folded where it would push everything else away."""
    text = html.P(name, className="gv-mono gv-muted gv-break gv-full-name")
    if len(name) <= _LONG_NAME:
        return text
    return html.Details([html.Summary("Whole name"), text], className="gv-whole")


def _bodies(file: str, view: GraphView, index: int, addresses: Addresses) -> Component | None:
    """Return the bodies of a node, with what is in them and how often they ran."""
    tree = view.tree
    found = tree.bodies(index)
    if not found:
        return None
    lines = []
    for at in found:
        level = tree.levels[at]
        words = [counted(level.end - level.first, "node"), iteration_words(tree, view.nested, at)]
        href = addresses.graph(file, level.graph.graph_id)
        link = dcc.Link(level.graph.name, href=href)
        line = " · ".join(word for word in words if word)
        lines.append(html.Li([link, html.Span(f" {line}", className="gv-muted")]))
    title = "Body graph" if len(found) == 1 else "Body graphs"
    hint = html.P("A double click in the graph, or o, opens it there.", className="gv-muted")
    return section(title, html.Div([html.Ul(lines), hint]))


def _times(library: Library, file: str, view: GraphView, node: rows.Node) -> list[Component | None]:
    found = view.statistics_of(node)
    key = view.key_of(node.node_id)
    if found is None:
        return [
            section("Time", html.P(_why_untimed(view, node), className="gv-muted")),
            body_facts(view, key),
        ]
    recording = library.file(file).recording
    spans = read_node_durations(recording, view.tree, view.index_of(node.node_id)).tolist()
    eager = eager_durations(library, file, view).get(node.node_id, ())
    pairs = time_facts(found, view.share_of_launch(key), view.timed_count)
    chart = histogram(spans, node.name)
    return [
        section(
            "Time",
            html.Div(
                [
                    facts([*pairs, *eager_facts(eager, found.median_ns)]),
                    None
                    if node.match_class is None
                    else html.P(_EXCHANGEABLE.format(node.match_class), className="gv-muted"),
                    None
                    if view.inflation is None
                    else html.P(sentence(view.inflation.to_text()), className="gv-muted"),
                ]
            ),
        ),
        section("Distribution over launches", chart) if chart is not None else None,
    ]


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
    level = view.tree.levels[view.at]
    timed = np.isfinite(view.tree.times.median_ns[level.first : level.end])
    if view.in_branch and not timed.any():
        return "No times: the branch was not taken in any recorded launch."
    return "No times: this node did not run in any recorded launch."


def _neighbour_section(
    library: Library, file: str, view: GraphView, node: rows.Node, picks: Picks
) -> Component | None:
    if view.edge_count is None:
        return section(
            "Edges",
            html.P(f"Unknown: {why_no_edges(view.root)}.", className="gv-muted"),
        )
    found = neighbours(library, file, view)
    before = found.dependencies.get(node.node_id, ())
    after = found.dependents.get(node.node_id, ())
    inferred = edges_note(view.graph)
    return html.Div(
        [
            html.P(inferred.capitalize(), className="gv-muted") if inferred else None,
            section(f"Depends on ({len(before)})", picks(before))
            if before
            else section("Depends on", html.P("Nothing: a root node.", className="gv-muted")),
            section(f"Dependents ({len(after)})", picks(after)) if after else None,
        ]
    )


def _several(view: GraphView, nodes: Sequence[int], picks: Picks) -> Component:
    tree, times = view.tree, view.tree.times
    types = np.unique(tree.nodes.integers("type")[nodes], return_counts=True)
    kinds = sorted(zip(*(found.tolist() for found in types), strict=True), key=lambda t: -t[1])
    # What is nested in a selected node counts with that node.
    chosen = set(nodes)
    outer = np.array([n for n in nodes if not _is_within(tree, n, chosen)], np.int64)
    typical = view.nested.typical_ns
    timed = outer[~np.isnan(typical[outer])]
    total, share = float(typical[timed].sum()), float(times.share[timed].sum())
    return html.Div(
        [
            html.Div(
                [html.H2(f"{counted(len(nodes), 'node')} selected")], className="gv-inspector-head"
            ),
            section(
                "Sums",
                facts(
                    [
                        (
                            "Time",
                            duration(total) if len(timed) else "no times",
                            _SUMMED,
                        ),
                        (
                            "Share of launch",
                            percent(share) if len(timed) else "no times",
                            "Derived: node time over the launch's GPU time",
                        ),
                        ("Timed", f"{len(timed)} of {len(outer)}", "Nodes with spans"),
                        *((node_type_name(kind), str(count), None) for kind, count in kinds),
                    ]
                ),
            ),
            section("Slowest of them", picks(slow))
            if (slow := _slowest(view, np.array(nodes, np.int64)))
            else None,
        ]
    )


def _is_within(tree: GraphTree, node: int, chosen: set[int]) -> bool:
    around = int(tree.parent[node])
    while around >= 0:
        if around in chosen:
            return True
        around = int(tree.parent[around])
    return False


def _nothing_selected(view: GraphView, picks: Picks) -> Component:
    slowest = _slowest(view, np.arange(len(view.tree.nodes)))
    hint = "Click a node in the graph, the timeline or the table."
    return html.Div(
        [
            html.Div(
                [html.H2("No node selected"), html.P(hint, className="gv-muted")],
                className="gv-inspector-head",
            ),
            section("Slowest nodes, by median", picks(slowest)) if slowest else None,
            section("Most time, by kernel name", _totals(view)) if slowest else None,
        ]
    )


def _totals(view: GraphView) -> Component:
    """Return what nodes of one name take together in a launch: the names of most time."""
    tree = view.tree
    timed = np.flatnonzero(~np.isnan(tree.times.median_ns))
    names = tree.nodes.texts("name")
    code, size = names.codes[timed], len(names.values)
    total = np.bincount(code, weights=view.nested.typical_ns[timed], minlength=size)
    count = np.bincount(code, minlength=size)
    most = [i for i in np.argsort(-total, kind="stable").tolist() if count[i]]
    whole = float(total.sum())
    head = html.Tr(
        [
            html.Th("Name"),
            html.Th("Nodes", className="gv-number"),
            html.Th("Sum", className="gv-number", title=_SUMMED),
            html.Th("Of node time", className="gv-number"),
        ]
    )
    lines = [
        html.Tr(
            [
                html.Td(kernel_label(names.values[i]), className="gv-break", title=names.values[i]),
                html.Td(str(count[i]), className="gv-number"),
                html.Td(duration(float(total[i])), className="gv-number"),
                html.Td(percent(float(total[i]) / whole if whole else None), className="gv-number"),
            ]
        )
        for i in most[:_SLOWEST]
    ]
    return html.Table([html.Thead(head), html.Tbody(lines)], className="gv-table gv-table-tight")


def _slowest(view: GraphView, nodes: npt.NDArray[np.int64]) -> list[int]:
    """Return the numbers on the page of the slowest of some nodes, by median."""
    median = view.tree.times.median_ns[nodes]
    timed = np.flatnonzero(~np.isnan(median))
    slowest = timed[np.argsort(-median[timed], kind="stable")][:_SLOWEST]
    found: list[int] = view.tree.key[nodes[slowest]].tolist()
    return found
