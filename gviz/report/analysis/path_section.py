"""The bounds of a launch: the structural and the observed critical path, and their nodes."""

from __future__ import annotations

from gviz.analysis import CriticalPathResult, NodeRef
from gviz.dataclass import dataclass
from gviz.report.document import (
    Block,
    Content,
    NodeLink,
    Quantity,
    Section,
    Sentence,
    column,
    contradictions_text,
    line,
    nodes,
    ns,
    number,
    numbers,
    say,
    section,
    share,
    table,
)
from gviz.stats import NotComputed
from gviz.text import counted

_STRUCTURAL = "By dependencies alone (structural)"
_OBSERVED = "As it ran (observed)"


@dataclass(frozen=True, slots=True)
class PathLine:
    """One of the critical paths in a line.

    Attributes
    ----------
    name
        Which it is.
    length
        How long it takes in the median launch.
    nodes
        Its nodes in order, each once.
    """

    name: str
    length: Quantity
    nodes: tuple[NodeRef, ...]


def critical_path_lines(found: CriticalPathResult | NotComputed) -> tuple[PathLine, ...]:
    """Return the structural path, and the observed one; none where they are not computed."""
    if isinstance(found, NotComputed):
        return ()
    structural = tuple(dict.fromkeys(found.structural))
    paths = [PathLine(_STRUCTURAL, _structural(found), structural)]
    if found.observed_ns is not None:
        observed = tuple(dict.fromkeys(x.node for x in found.observed))
        paths.append(PathLine(_OBSERVED, _observed(found), observed))
    return tuple(paths)


def _structural(found: CriticalPathResult) -> Quantity:
    return ns(found.structural_ns, interval=found.structural_interval)


def _observed(found: CriticalPathResult) -> Quantity:
    return ns(found.observed_ns, interval=found.observed_interval)


def critical_path(found: CriticalPathResult) -> list[Block]:
    """Return both paths, and what their longest nodes would give back."""
    structural = found.structural
    rows: list[list[Content]] = [
        [_STRUCTURAL, _structural(found), number(len(structural)),
         "", nodes(structural)]
    ]  # fmt: skip
    if found.observed_ns is not None:
        queued = nodes(x.node for x in found.observed if x.held_by == "queue")
        rows.append(
            [_OBSERVED, _observed(found), number(len(found.observed)),
             queued or "none", nodes(x.node for x in found.observed)]
        )  # fmt: skip
    columns = [
        column("Path"), numbers("Time"), numbers("Executions"),
        column("Behind others on their queue"), column("Nodes", detail=True),
    ]  # fmt: skip
    launches = counted(found.launch_count, "launch", "launches")
    blocks: list[Block] = [
        say(f"Of the median launch, from {launches}.", note=True, detail=True),
        table("Critical paths", columns, rows),
        _in_words(found),
    ]
    return [*blocks, _faster(found)] if found.faster else blocks


def _in_words(found: CriticalPathResult) -> Sentence:
    if found.observed_ns is None:
        return say(f"As it ran: not computed: {found.why_not_observed}.")
    part = found.structural_ns / found.observed_ns if found.observed_ns else 1.0
    return say(
        "The structural path is ", share(part), " of the median launch: no other order of the "
        "same nodes, on any number of queues, takes less",
        f"{contradictions_text(found.evidence)}.",
    )  # fmt: skip


def _faster(found: CriticalPathResult) -> Section:
    wanted = {x.node.node_id for x in found.faster}
    held = {(x.node, x.iteration): x.held_by for x in found.observed if x.node.node_id in wanted}
    whole = found.observed_ns or 0.0
    columns = [
        column("Node"), numbers("Duration"),
        numbers("Alike", "Executions on the path of nodes of this name"), numbers("Together"),
        numbers("Share"),
        numbers("Launch shorter by", "If the node took no time; less than its duration where "
                "another path becomes the longest"),
        column("Waited last for"),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            line(NodeLink(x.node), f" · execution {x.iteration + 1}" if x.iteration else ""),
            ns(x.duration_ns, interval=x.interval),
            number(x.alike_count, "derived"),
            ns(x.alike_ns, interval=x.alike_interval),
            share(x.alike_ns / whole) if whole else "",
            ns(x.gain_ns, "estimated"),
            held.get((x.node, x.iteration), ""),
        ]
        for x in found.faster
    ]
    heading = f"Longest nodes of the {'observed' if found.observed else 'structural'} path"
    return section("faster", heading, table(heading, columns, rows), detail=True)
