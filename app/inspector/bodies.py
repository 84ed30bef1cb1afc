"""Bodies of a node: what is in them, how often they ran, and how long that took."""

from __future__ import annotations

import numpy as np

from gviz.app.components import Addresses
from gviz.app.views import GraphView, iteration_words
from gviz.text import MISSING, counted, duration, integer, percent

#: Label, value, how it was measured; None: needs no word.
Fact = tuple[str, str, str | None]


def body_lines(
    file: str, view: GraphView, index: int, addresses: Addresses
) -> list[tuple[str, str, str]]:
    """Return the name, the address and a word of each body of a node of the tree."""
    tree = view.tree
    lines = []
    for at in tree.bodies(index):
        level = tree.levels[at]
        words = [counted(level.end - level.first, "node"), iteration_words(tree, view.nested, at)]
        href = addresses.graph(file, level.graph.graph_id)
        lines.append((level.graph.name, href, " · ".join(word for word in words if word)))
    return lines


def body_times(view: GraphView, node: int) -> list[Fact]:
    """Return the times of what is inside a node; empty where nothing inside has a time."""
    times = view.tree.times
    if np.isnan(times.total_ns[node]):
        return []
    nested, count = view.nested, view.timed_count
    inside = nested.bodies
    ran = int(inside.launches[node])
    pairs: list[Fact] = []
    if ran:
        over = f"median over the {counted(ran, 'launch', 'launches')} in which anything inside ran"
        low, high = float(inside.p5_ns[node]), float(inside.p95_ns[node])
        least, most = float(inside.min_ns[node]), float(inside.max_ns[node])
        pairs = [
            (
                "Inside, a launch",
                duration(float(inside.median_ns[node])),
                f"Derived: durations of the nodes inside, all iterations, summed; {over}",
            ),
            ("p5 – p95", f"{duration(low)} – {duration(high)}", "Of these sums"),
            ("Min – max", f"{duration(least)} – {duration(most)}", "Of these sums"),
            ("Ran in", f"{integer(ran)} of {integer(nested.kept_count)} launches", None),
        ]
    if ran and not np.isnan(inside.running_ns[node]):
        running = duration(float(inside.running_ns[node]))
        method = (
            "Derived: time in which anything inside ran, in one iteration of the graph around; on "
            "the critical path it counts as this"
        )
        pairs.append(("Running", running, method))
    mean = duration(float(times.total_ns[node]) / count) if count else MISSING
    share = float(times.share[node])
    pairs += [
        ("Mean of a launch", mean, "Derived: over all recorded launches, with those without it"),
        (
            "Share of time",
            percent(None if np.isnan(share) else share),
            "Derived: the time inside over the launch's GPU time",
        ),
    ]
    return pairs
