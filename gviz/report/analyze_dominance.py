"""The text of ``gviz analyze`` about what dominates a launch, and how full the GPU was."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gviz.analysis import Dominance, Fullness, LayerTime, TimeShares
from gviz.stats import NotComputed
from gviz.text import counted, duration, percent, render_table, rounded, shorten, wrapped

#: Rows of a list that the text shows.
_LISTED = 3
#: Kinds and ranges in running text.
_NAMED = 4
#: A kernel's name in running text.
_NAME = 36
#: Layers below this share of the node time are not worth a line.
_LEAST_LAYER = 0.02


def render_dominance(result: Dominance, width: int) -> Iterator[str]:
    """Yield the lines about totals by name, kind, range and layer, and about waves."""
    yield from _names(result.by_name, width)
    yield from wrapped(f"by kind: {_shares(result.by_kind)} [derived]", width)
    if not isinstance(result.by_range, NotComputed):
        yield from wrapped(f"by innermost NVTX range: {_shares(result.by_range)} [derived]", width)
    if not isinstance(result.layers, NotComputed):
        for layer in [x for x in result.layers if x.fraction >= _LEAST_LAYER][:_LISTED]:
            yield from wrapped(_describe_layer(layer), width)
    if isinstance(result.fullness, NotComputed):
        yield from wrapped(f"how full the GPU was: not computed: {result.fullness.not_computed}",
                           width)  # fmt: skip
    else:
        yield from wrapped(_describe_fullness(result.fullness), width)


def _names(found: TimeShares, width: int) -> Iterator[str]:
    head = ["node time by name", "nodes", "derived", "share", "together"]
    columns = [
        found.name,
        [f"{count:,}" for count in found.executions],
        [duration(ns) for ns in found.total_ns],
        [percent(share) for share in found.fraction],
        [percent(share) for share in found.cumulative_fraction],
    ]
    if found.path_ns is not None:
        head.append("on the path")
        columns.append([duration(ns) for ns in found.path_ns])
    body = [list(row) for row in zip(*columns, strict=True)][:_LISTED]
    yield from render_table(head, body, width=width, elastic=0, indent=4).split("\n")


def _shares(found: TimeShares) -> str:
    rows = list(zip(found.name, found.fraction, strict=True))
    parts = [f"{shorten(name, _NAME)} {percent(share)}" for name, share in rows[:_NAMED]]
    more = len(rows) + found.left_out_count - _NAMED
    return ", ".join(parts) + (f" and {more:,} more" if more > 0 else "")


def _describe_layer(layer: LayerTime) -> str:
    around = ""
    if not math.isclose(layer.least_ns, layer.most_ns):
        around = f" ({duration(layer.least_ns)} to {duration(layer.most_ns)})"
    return (
        f"{layer.repeats:,} equal blocks of {counted(layer.period, 'node')} from "
        f"{layer.first.node_id} on take {percent(layer.fraction)}, {duration(layer.median_ns)} "
        f"each{around}, most of it {shorten(layer.longest_name, _NAME)} [derived]"
    )


def _describe_fullness(found: Fullness) -> str:
    text = f"each alone, kernels fill {percent(found.filled_fraction)} of their waves by time"
    if found.occupancy_fraction is not None:
        text += f" at a theoretical occupancy of {percent(found.occupancy_fraction)}"
    if found.below_one_wave_ns:
        text += f"; {duration(found.below_one_wave_ns)} run with less than a wave of blocks"
    text += " [derived]"
    if found.tail_ns:
        text += f"; last waves that are not full cost {duration(found.tail_ns)} [estimated]"
    first = found.kernels[0]
    if first.filled_fraction < 1:
        text += (
            f"; emptiest for longest: {counted(first.executions, 'execution')} of "
            f"{shorten(first.name, _NAME)}, {first.blocks:,} blocks where "
            f"{first.blocks_at_once:,} fit at once ({rounded(first.waves)} waves)"
        )
    return text
