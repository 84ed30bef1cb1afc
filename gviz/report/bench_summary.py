"""The text of ``gviz bench``: the figures that decide whether a graph pays."""

from __future__ import annotations

from collections.abc import Iterable

from gviz.analysis import Figure, Figures
from gviz.text import MISSING, duration, multiple, percent, render_table

_WIDTH = 100
_LAUNCHES = (
    ("host", "stream"),
    ("host", "first"),
    ("host", "relaunch"),
    ("device", "stream"),
    ("device", "first"),
    ("device", "relaunch"),
)
_LIFE = (
    "capture",
    "instantiate",
    "upload and wait",
    "update",
    "update every node",
    "disable every node",
    "destroy",
)


def summarize_bench(figures: Iterable[Figure]) -> str:
    """Return the tables of a bench as text; parts that were not measured are left out."""
    found = Figures(figures)
    parts = [_launch_table(found), _life_table(found), _loop_table(found), _gain(found)]
    return "\n\n".join(part for part in parts if part)


def _launch_table(found: Figures) -> str:
    counts = found.node_counts("launch", "relaunch", "host")
    if not counts:
        return ""
    even = {entry.node_count: entry.found.launches for entry in found.break_evens()}
    head = ["kernels in a line", *(f"{subject} {q}" for q, subject in _LAUNCHES), "break-even"]
    body = []
    for nodes in counts:
        cells = [found.one("launch", subject, q, nodes) for q, subject in _LAUNCHES]
        times = [duration(cell.median / nodes) if cell else MISSING for cell in cells]
        launches = even.get(nodes)
        body.append([f"{nodes:,}", *times, f"{launches:,}" if launches else MISSING])
    title = (
        "Time a kernel: in the launch calls (host), and on the GPU with all of it queued (device)"
    )
    return f"{title}\n" + render_table(head, body, width=_WIDTH + 20, elastic=0)


def _life_table(found: Figures) -> str:
    counts = found.node_counts("life", "instantiate", "host")
    subjects = [s for s in _LIFE if found.select("life", s)]
    if not counts:
        return ""
    body = []
    for subject in subjects:
        cells = [found.one("life", subject, "host", nodes) for nodes in counts]
        body.append([subject, *(duration(cell.median) if cell else MISSING for cell in cells)])
    head = ["host time, nodes:", *(f"{n:,}" for n in counts)]
    chosen = [0, *range(1, len(head), max(1, len(counts) // 6))]
    table = [[row[i] for i in chosen] for row in [head, *body]]
    title = "Life of a graph"
    return f"{title}\n" + render_table(table[0], table[1:], width=_WIDTH + 20, elastic=0)


def _loop_table(found: Figures) -> str:
    subjects = found.subjects("loop")
    counts = found.node_counts("loop", "stream", "finish")
    if not counts:
        return ""
    body = [
        [
            subject,
            *(
                duration(cell.median)
                if (cell := found.one("loop", subject, "finish", nodes))
                else MISSING
                for nodes in counts
            ),
        ]
        for subject in subjects
    ]
    head = ["an iteration, nodes:", *(f"{n:,}" for n in counts)]
    return "The same loop\n" + render_table(head, body, width=_WIDTH, elastic=0)


def _gain(found: Figures) -> str:
    lines = []
    gains = found.ratios("kernel_time", ("stream", "relaunch"), "finish")
    if gains:
        text = ", ".join(f"{duration(1e3 * x)}: {multiple(ratio)}" for x, ratio in gains)
        lines.append(f"Stream / graph by kernel duration (50 in a line): {text}")
    batches = found.ratios("batch", ("stream", "graph"), "elapsed")
    if batches:
        text = ", ".join(f"{x:g}: {multiple(ratio)}" for x, ratio in batches)
        lines.append(f"Stream / graph of a small transformer by batch size: {text}")
    idle = found.select("idle", quantity="idle share")
    if idle:
        text = ", ".join(f"{figure.subject} {percent(figure.median)}" for figure in idle)
        lines.append(f"Idle share of three 2 µs kernels: {text}")
    return "\n".join(lines)
