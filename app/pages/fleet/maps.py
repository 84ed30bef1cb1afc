"""Heat maps of ranks by layer, as plotly.js draws them; a click opens the rank's graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dash.development.base_component import Component

from gviz.app.components import COLOURS, Addresses, plot
from gviz.fleet import FleetGraph, FleetRank, HeatMap, SampledRank
from gviz.text import with_unit

#: Pixels of a row, least and most of all rows, and of what is above and below them.
_ROW, _LEAST, _MOST, _AROUND = 14, 120, 560, 96
#: Nearly the page, light or dark.
_NEUTRAL = "rgba(127, 127, 127, 0.12)"
#: The end of the colours is where all but so many percent of the values are.
_BEYOND = 0.5
#: A map of nothing but noise is pale: its colours end here at least (shares, ns).
_LEAST_SHARE, _LEAST_WAIT_NS = 0.05, 1_000.0


def draw_work(
    found: HeatMap, graph: FleetGraph, ranks: Sequence[SampledRank], addresses: Addresses
) -> Component:
    """Return the map of work by rank and layer: blue is faster than the middle rank, red slower."""
    end = 100 * max(_end(np.abs(found.values)), _LEAST_SHARE)
    return _draw(
        "fleet-work", found, graph, ranks, addresses,
        values=100 * found.values,
        label="Map of work by rank and layer: how much longer than on the middle rank. The tables "
        "below have the slow ranks",
        unit="% more",
        across="layer",
        hover="%{z:.1f}% more than on the middle rank",
        colorscale=[[0, COLOURS[0]], [0.5, _NEUTRAL], [1, COLOURS[1]]],
        zmin=-end, zmax=end,
    )  # fmt: skip


def draw_waits(
    found: HeatMap, graph: FleetGraph, ranks: Sequence[SampledRank], addresses: Addresses
) -> Component:
    """Return the map of waits by rank and collective: who waits is blue, who is awaited pale."""
    end = max(_end(found.values), _LEAST_WAIT_NS) / 1e3
    return _draw(
        "fleet-waits", found, graph, ranks, addresses,
        values=found.values / 1e3,
        label="Map of waits by rank and collective: how long each waits for the last one. The "
        "table below has the ranks that others wait for",
        unit="µs",
        across="collective of",
        hover="waits %{z:.2f} µs for the last one",
        colorscale=[[0, _NEUTRAL], [1, COLOURS[0]]],
        zmin=0, zmax=end,
    )  # fmt: skip


def _draw(
    name: str,
    found: HeatMap,
    graph: FleetGraph,
    ranks: Sequence[SampledRank],
    addresses: Addresses,
    *,
    values: Any,
    label: str,
    unit: str,
    across: str,
    hover: str,
    **colours: Any,
) -> Component:
    height = _AROUND + min(max(_ROW * len(found.rows), _LEAST), _MOST)
    trace: dict[str, Any] = {
        "type": "heatmap",
        # plotly draws null as a gap.
        "z": [[None if np.isnan(x) else round(x, 3) for x in row] for row in values.tolist()],
        "x": list(range(len(found.columns))),
        "y": list(range(len(found.rows))),
        "customdata": _by_cell(found, [f"{x.rank.recording_id}.{x.rank.run_id}" for x in ranks]),
        "text": [
            [f"{rank}, {column}" for rank, column in zip(row, found.columns, strict=True)]
            for row in _by_cell(found, [_name(one.rank) for one in ranks])
        ],
        "hovertext": _by_cell(found, [_state(one) for one in ranks]),
        "hovertemplate": f"%{{text}}: {hover}<br>%{{hovertext}}<extra></extra>",
        "colorbar": {"title": {"text": unit, "side": "right"}, "thickness": 10, "outlinewidth": 0},
        **colours,
    }
    return plot(
        name,
        [trace],
        label=label,
        numbers=None,
        height=height,
        margin={"l": 62, "r": 12, "t": 8, "b": 64},
        open=addresses.fleet_rank(None, None, graph.graph_key, graph.nth),
        xaxis={"title": {"text": across}, **_ticks(found.columns, 16)},
        yaxis={
            "title": {"text": "rank"},
            **_ticks(found.rows, height // 24),
            "autorange": "reversed",
        },
    )


def _by_cell(found: HeatMap, of_rank: Sequence[str]) -> list[list[str]]:
    """Return of each cell what is said of its rank."""
    return [[of_rank[at] for at in row] for row in found.rank.tolist()]


def _name(rank: FleetRank) -> str:
    return f"rank {rank.name}" + (f" on {_plain(rank.host)}" if rank.host else "")


def _state(one: SampledRank) -> str:
    """Return the state of a rank's GPU in words."""
    sampled = ((one.sm_clock_mhz, "MHz"), (one.temperature_celsius, "°C"))
    known = [with_unit(value, unit) for value, unit in sampled if value is not None]
    if not known:
        return "its GPU's clock was not sampled"
    lowered = f"; clock lowered by {_plain(one.slowed_by)}" if one.slowed_by else ""
    return f"its GPU while busy: {', '.join(known)}{lowered}"


def _plain(text: str) -> str:
    """Return a text in which plotly.js sees no elements."""
    return text.replace("<", "‹")


def _ticks(names: tuple[str, ...], most: int) -> dict[str, Any]:
    """Return the names of some rows or columns, evenly among all."""
    step = -(-len(names) // most)
    return {
        "tickvals": list(range(0, len(names), step)),
        "ticktext": [_plain(name) for name in names[::step]],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }


def _end(values: Any) -> float:
    known = values[~np.isnan(values)]
    return float(np.percentile(known, 100 - _BEYOND)) if len(known) else 0.0
