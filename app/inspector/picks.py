"""Lists of nodes in the inspector: a click selects one. And its sections."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
from dash.development.base_component import Component

from gviz.app.components import elements as html
from gviz.cuda import node_type_name
from gviz.families import kernel_label
from gviz.model import TimedTree
from gviz.text import counted, duration

#: Nodes listed by name; a join of hundreds says its count and lists the first.
LISTED = 12


def pick_buttons(
    tree: TimedTree, keys: Sequence[int], values: Mapping[int, str] | None = None
) -> Component:
    """Return buttons that select nodes (assets/web/page/inspector.js).

    Parameters
    ----------
    tree
        What is shown.
    keys
        The nodes' numbers on the page.
    values
        What stands beside each node; None: its median time, or else its kind.
    """
    lines = [_pick(tree, key, values) for key in keys[:LISTED]]
    more = len(keys) - len(lines)
    if more > 0:
        lines.append(html.Li(f"and {counted(more, 'more', 'more')}", className="gv-muted"))
    return html.Ul(lines, className="gv-picks")


def _pick(tree: TimedTree, key: int, values: Mapping[int, str] | None) -> Component:
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
                html.Span(own if values is None else values[key], className="gv-pick-value"),
            ],
            **{"data-node": str(key)},
        )
    )


def node_list(node_ids: Sequence[int]) -> Component:
    """Return a list of nodes to choose from in a saved file, whose table has their names.

    Stands in for :func:`pick_buttons`.
    """
    shown = list(node_ids[:LISTED])
    return html.Ul(
        className="gv-picks",
        **{"data-nodes": json.dumps(shown), "data-more": str(len(node_ids) - len(shown))},
    )


def section(title: str, body: Component | None) -> Component | None:
    """Return a titled section of the inspector; None without a body."""
    if body is None:
        return None
    return html.Section([html.H3(title), body], className="gv-inspector-section")
