"""One layer of the model before beside the same layer after, node by node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from dash.development.base_component import Component

from gviz.app.components import elements as html
from gviz.app.inspector import section
from gviz.app.pages.compare.comparison import Comparison
from gviz.app.views import Verdict, node_verdicts
from gviz.comparison import GraphComparison, LayerPair, LayerRow, layer_rows, layer_times
from gviz.families import kernel_label
from gviz.stats import FloatArray
from gviz.text import counted, duration, signed_duration, signed_percent

#: Rows that are shown; of more those first that are not the same.
_MOST = 60
_MARKS = {"faster": "▼", "slower": "▲"}
#: In place of a partner, by the side that has none.
_NONE = ("new", "gone")


def layer_block(found: Comparison) -> Component | None:
    """Return a typical layer of both graphs, whose nodes a click selects; None: none repeats."""
    layers = found.pair.layers
    if layers is None:
        return None
    comparison = found.level(layers.level)
    block = layers.blocks[layers.typical]
    rows = _Rows(found, layers.level, comparison)
    every = layer_rows(comparison, block)
    shown = rows.chosen(every)
    more = len(every) - len(shown)
    return section(
        f"One of {counted(len(layers.blocks), 'layer')}: {block.name}",
        html.Div(
            [
                html.P(_sums(comparison, block), className="gv-muted"),
                html.Div(
                    [_head(), *(rows.render(row) for row in shown)],
                    className="gv-layer",
                ),
                html.P(f"and {counted(more, 'node')} that are the same", className="gv-muted")
                if more
                else None,
            ]
        ),
    )


def _sums(comparison: GraphComparison, block: LayerPair) -> str:
    nodes = f"{len(block.before):,} nodes → {len(block.after):,}"
    before, after = layer_times(comparison, block)
    if np.isnan(before) or np.isnan(after):
        return f"{nodes}."
    share = f", {signed_percent((after - before) / before)}" if before else ""
    change = f"{signed_duration(after - before)}{share}"
    return f"{nodes}; {duration(before)} → {duration(after)} ({change}), sums of medians."


def _head() -> Component:
    names = ("A", "time", "B", "time")
    return html.Div([html.Span(name) for name in names], className="gv-layer-head")


class _Rows:
    """The rows of a level's layers.

    Parameters
    ----------
    found, at, comparison
        The comparison, which of its levels, and that level.
    """

    def __init__(self, found: Comparison, at: int, comparison: GraphComparison) -> None:
        self._comparison = comparison
        self._stands_for = {
            int(comparison.pairs[one.pairs[0], 1]): len(one.before)
            for one in comparison.replacements
            if len(one.before) > 1
        }
        self._verdicts = node_verdicts(comparison)
        places = found.page.levels[at].places
        self._numbers = [
            found.keys.of_side(side)[found.trees[side].levels[place or 0].part]
            for side, place in enumerate(places)
        ]

    def chosen(self, rows: Sequence[LayerRow]) -> list[LayerRow]:
        """Return the rows that are shown, in order."""
        order = sorted(range(len(rows)), key=lambda at: (self._is_same(rows[at]), at))
        return [rows[at] for at in sorted(order[:_MOST])]

    def _is_same(self, row: LayerRow) -> bool:
        return self._state(row) in ("noise", "untested", "untimed")

    def _state(self, row: LayerRow) -> Verdict:
        if row.before is None or row.after is None:
            return "added" if row.before is None else "removed"
        return self._verdicts[row.after]

    def render(self, row: LayerRow) -> Component:
        """Return a row: a button that selects its node."""
        comparison, state = self._comparison, self._state(row)
        sides = (
            (row.before, comparison.first.title, comparison.before.typical),
            (row.after, comparison.second.title, comparison.after.typical),
        )
        parts: list[Component] = []
        for side, (node, titles, times) in enumerate(sides):
            if node is None:
                parts += [html.Span(_NONE[side], className="gv-muted"), html.Span("")]
            else:
                label = kernel_label(titles[node])
                if side and node in self._stands_for:
                    label += f", in place of {self._stands_for[node]:,}"
                parts.append(html.Span(label, className="gv-ellipsis", title=titles[node]))
                parts.append(_time(times, node, _MARKS.get(state, "") if side else ""))
        side = 0 if row.after is None else 1
        number = int(self._numbers[side][sides[side][0]])
        return html.Button(
            parts,
            type="button",
            className=f"gv-pick gv-layer-row gv-layer-{state}",
            **{"data-node": str(number)},
        )


def _time(times: FloatArray, node: int, mark: str) -> Component:
    ns = float(times[node])
    text = "" if np.isnan(ns) else duration(ns)
    return html.Span(f"{mark} {text}".strip(), className="gv-pick-value")
