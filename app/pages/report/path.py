"""The bounds of a launch: the structural and the observed critical path, and their nodes."""

from __future__ import annotations

from dash.development.base_component import Component

from gviz.analysis import CriticalPathResult, FasterNode, PathNode
from gviz.app.pages.report.node_links import NodeLinks
from gviz.app.pages.report.parts import Column, heading, how, number, said, table
from gviz.text import counted, duration, integer, percent


def critical_path(found: CriticalPathResult, links: NodeLinks) -> list[Component]:
    """Return both paths, and what their longest nodes would give back."""
    rows = [
        [
            "By dependencies alone (structural)",
            duration(found.structural_ns),
            integer(len(found.structural)),
            "",
            links.nodes(found.structural) if found.structural else "",
            how("derived"),
        ]
    ]
    if found.observed_ns is not None:
        queued = [x.node for x in found.observed if x.held_by == "queue"]
        rows.append(
            [
                "As it ran (observed)",
                duration(found.observed_ns),
                integer(len(found.observed)),
                links.nodes(queued) if queued else "none",
                links.nodes(x.node for x in found.observed),
                how("derived"),
            ]
        )
    columns = [
        Column("Path"), number("Time"), number("Executions"),
        Column("Behind others on their queue"), Column("Nodes"), Column("How"),
    ]  # fmt: skip
    launches = counted(found.launch_count, "launch", "launches")
    parts: list[Component] = [
        said(f"Of the median launch, from {launches}.", muted=True),
        table(columns, rows, "Critical paths"),
        said(_in_words(found)),
    ]
    if found.faster:
        parts += [
            heading("Longest nodes of the observed path"),
            _faster(found.faster, found.observed, found.observed_ns or 0.0, links),
        ]
    return parts


def _in_words(found: CriticalPathResult) -> str:
    if found.observed_ns is None:
        return f"As it ran: not computed: {found.why_not_observed}."
    share = found.structural_ns / found.observed_ns if found.observed_ns else 1.0
    return (
        f"The structural path is {percent(share)} of the median launch: no other order of the "
        "same nodes, on any number of queues, takes less."
    )


def _faster(
    found: tuple[FasterNode, ...], path: tuple[PathNode, ...], whole_ns: float, links: NodeLinks
) -> Component:
    held = {(x.node, x.iteration): x.held_by for x in path}
    columns = [
        Column("Node"), number("Duration"), number("Share"),
        number("Launch shorter by", "If the node took no time; less than its duration where "
               "another path becomes the longest"),
        Column("Waited last for"), Column("How"),
    ]  # fmt: skip
    rows = [
        [
            [links.node(x.node), f" · execution {x.iteration + 1}" if x.iteration else ""],
            duration(x.duration_ns),
            percent(x.duration_ns / whole_ns) if whole_ns else "",
            duration(x.gain_ns),
            held.get((x.node, x.iteration), ""),
            how("estimated"),
        ]
        for x in found
    ]
    return table(columns, rows, "Longest nodes of the observed path")
