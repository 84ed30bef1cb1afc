"""The inspector of no node or of several: what is slowest, and sums; of one: node_records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from dash.development.base_component import Component

from gviz.app.components import elements as html
from gviz.app.components import facts
from gviz.app.inspector.picks import pick_buttons, section
from gviz.app.views import GraphView
from gviz.cuda import node_type_name
from gviz.families import kernel_label
from gviz.model import GraphTree
from gviz.text import counted, duration, percent

_SLOWEST = 8
_SUMMED = (
    "Derived: sum of medians; of nodes in bodies, of the mean of their time in a launch, "
    "all iterations"
)


def render_sums(view: GraphView, nodes: Sequence[int]) -> Component:
    """Return what is said of several nodes, or of the graph where there are none.

    ``nodes`` are indices of the tree.
    """
    return _several(view, nodes) if nodes else _nothing_selected(view)


def _several(view: GraphView, nodes: Sequence[int]) -> Component:
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
                [
                    html.H2(f"{counted(len(nodes), 'node')} selected"),
                    html.P(layers, className="gv-muted")
                    if (layers := view.parts.layers_of(np.array(nodes, np.int64)))
                    else None,
                ],
                className="gv-inspector-head",
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
                            "Share of time",
                            percent(share) if len(timed) else "no times",
                            "Derived: node time over the launch's GPU time, of event copies "
                            "over all node times",
                        ),
                        ("Timed", f"{len(timed)} of {len(outer)}", "Nodes with spans"),
                        *((node_type_name(kind), str(count), None) for kind, count in kinds),
                    ]
                ),
            ),
            section("Slowest of them", pick_buttons(tree, slow))
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


def _nothing_selected(view: GraphView) -> Component:
    slowest = _slowest(view, np.arange(len(view.tree.nodes)))
    hint = "Click a node in the graph, the timeline or the table."
    return html.Div(
        [
            html.Div(
                [html.H2("No node selected"), html.P(hint, className="gv-muted")],
                className="gv-inspector-head",
            ),
            section("Slowest nodes, by median", pick_buttons(view.tree, slowest))
            if slowest
            else None,
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
