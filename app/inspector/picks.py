"""Lists of nodes in the inspector: a click selects one. And its sections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from dash.development.base_component import Component

from gviz.app.components import elements as html
from gviz.cuda import node_type_name
from gviz.families import kernel_label
from gviz.model import TimedTree
from gviz.text import counted, duration

#: Nodes listed by name; a join of hundreds says its count and lists the first.
LISTED = 12


def pick_buttons(tree: TimedTree, keys: Sequence[int]) -> Component:
    """Return buttons that select nodes (assets/web/page/inspector.js), with their median times.

    ``keys`` are the nodes' numbers on the page. A node without a time has its kind beside it.
    """
    lines = [_pick(tree, key) for key in keys[:LISTED]]
    more = len(keys) - len(lines)
    if more > 0:
        lines.append(html.Li(f"and {counted(more, 'more', 'more')}", className="gv-muted"))
    return html.Ul(lines, className="gv-picks")


def _pick(tree: TimedTree, key: int) -> Component:
    index = tree.index_of(key)
    assert index is not None
    node, median = tree.nodes[index], float(tree.times.median_ns[index])
    own = node_type_name(node.type) if np.isnan(median) else duration(median)
    return html.Li(
        html.Button(
            type="button",
            className="gv-pick",
            children=[
                html.Span(kernel_label(node.name), className="gv-ellipsis", title=node.name),
                html.Span(own, className="gv-pick-value"),
            ],
            **{"data-node": str(key)},
        )
    )


def section(title: str, body: Component | None) -> Component | None:
    """Return a titled section of the inspector; None without a body."""
    if body is None:
        return None
    return html.Section([html.H3(title), body], className="gv-inspector-section")
