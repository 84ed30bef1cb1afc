"""Parallel work: what could run side by side, what did, and where that was lost."""

from __future__ import annotations

from dash.development.base_component import Component

from gviz.analysis import (
    BarrierResult,
    LevelShape,
    Overlap,
    Parallelism,
    SmallBranchResult,
    TurnTaking,
)
from gviz.app.components import sentence
from gviz.app.pages.report.node_links import NodeLinks
from gviz.app.pages.report.parts import (
    Column,
    Content,
    heading,
    how,
    number,
    said,
    table,
    why_not,
)
from gviz.stats import NotComputed
from gviz.text import MISSING, counted, duration, integer, rounded

#: Levels and kinds of waits that are listed.
_LISTED = 12
#: Pairs of a kind of waits that are named.
_PAIRS = 3


def parallelism(found: Parallelism, links: NodeLinks) -> list[Component]:
    """Return what the edges allow, the overlap, and what stood in its way."""
    return [
        *_levels(found.levels, links),
        heading("Overlap"),
        _overlap(found.overlap),
        heading("Independent nodes that took turns"),
        *_turns(found.turn_taking, links),
        heading("Joins at which branches wait for each other"),
        _barriers(found.barriers, links),
        heading("Branches too small to be worth their fork"),
        _small(found.small_branches, links),
    ]


def _levels(found: tuple[LevelShape, ...], links: NodeLinks) -> list[Component]:
    columns = [
        Column("Level"), number("Nodes"),
        number("Width", "Most nodes of which none depends on another: largest antichain"),
        Column("Such nodes"), number("Lanes", "Chains of a greedy cover: lanes that show them all"),
        Column("Redundant edges", "Edges without which everything depends on the same nodes"),
        Column("How"),
    ]  # fmt: skip
    rows = [_level(x, links) for x in found[:_LISTED]]
    more = len(found) - len(rows)
    rest = [said(f"And {counted(more, 'more body', 'more bodies')}.", muted=True)] if more else []
    return [table(columns, rows, "What the edges of each level allow"), *rest]


def _level(found: LevelShape, links: NodeLinks) -> list[Content]:
    width = integer(found.width)
    if found.width_at_most > found.width:
        width += f" to {integer(found.width_at_most)}"
    redundant: Content = integer(found.redundant_edge_count)
    if found.redundant_edge_count is None:
        redundant = "too wide to say"
    elif found.redundant_edges:
        shown = [links.edge(*pair) for pair in found.redundant_edges[:_PAIRS]]
        listed = [part for at, one in enumerate(shown) for part in (", " if at else "", one)]
        more = found.redundant_edge_count - len(shown)
        redundant = [f"{integer(found.redundant_edge_count)}: ", *listed,
                     f" and {integer(more)} more" if more else ""]  # fmt: skip
    return [
        links.body(found.graph_id),
        integer(found.node_count),
        width,
        links.nodes(found.widest, found.width) if found.widest else MISSING,
        integer(found.lane_count),
        redundant,
        how("derived"),
    ]


def _overlap(found: Overlap | NotComputed) -> Component:
    if isinstance(found, NotComputed):
        return why_not(found)
    return said(
        f"While anything ran, {rounded(found.achieved)} nodes ran at once on average, "
        f"{integer(found.most_at_once)} at most; dependencies alone allow "
        f"{rounded(found.possible)} on average (node time {duration(found.node_ns)}, of which "
        f"something ran in {duration(found.busy_ns)}) ",
        how("derived"),
        ".",
    )


def _turns(found: tuple[TurnTaking, ...] | NotComputed, links: NodeLinks) -> list[Component]:
    if isinstance(found, NotComputed):
        return [why_not(found)]
    if not found:
        return [said("No node waited for one that it does not depend on.")]
    columns = [
        Column("Likely reason"), number("Nodes"), number("Waited", "Summed over the nodes"),
        number("Launch shorter by", "At most, if none waited and nothing ran slower for it"),
        number("Ever overlapped", "Launches in which any of the pairs overlapped at all"),
        Column("Such as"), Column("They and what ran meanwhile"),
    ]  # fmt: skip
    rows = [_turn(x, links) for x in found[:_LISTED]]
    more = len(found) - len(rows)
    rest = [said(f"And {counted(more, 'more kind')} of waits.", muted=True)] if more > 0 else []
    return [
        said("Each could have started: all it depends on had ended. The reason and what it could "
             "give back are estimated, the rest is derived.", muted=True),
        table(columns, rows, "Independent nodes that took turns"),
        *rest,
    ]  # fmt: skip


def _turn(found: TurnTaking, links: NodeLinks) -> list[Content]:
    pairs = list(zip(found.waiting, found.meanwhile, strict=True))
    gain = "not looked at" if found.gain_ns is None else duration(found.gain_ns)
    if found.gain_ns == 0:
        gain = "nothing"
    both = [ref for pair in pairs for ref in pair]
    such: list[str | Component] = []
    if pairs:
        such = [links.node(pairs[0][0]), " waited for ", links.node(pairs[0][1])]
    of = counted(found.launch_count, "launch", "launches")
    return [
        sentence(found.reason),
        integer(found.count),
        duration(found.waited_ns),
        gain,
        f"{integer(found.overlapped_launches)} of {of}",
        such,
        links.nodes(both) if both else "",
    ]


def _barriers(found: BarrierResult | NotComputed | None, links: NodeLinks) -> Component:
    if isinstance(found, NotComputed):
        return why_not(found)
    if found is None:
        return said("There are none.")
    return said(
        f"{counted(found.count, 'join')}: ",
        links.nodes(found.waiting),
        " wait for ",
        links.nodes(found.waited_for),
        f". A launch is shorter by at most {duration(found.gain_ns)} if each waits only for the "
        "branch that it goes on with ",
        how("estimated"),
        ".",
    )


def _small(found: SmallBranchResult | NotComputed | None, links: NodeLinks) -> Component:
    if isinstance(found, NotComputed):
        return why_not(found)
    if found is None:
        return said("There are none.")
    return said(
        f"{counted(found.count, 'branch', 'branches')} of {duration(found.work_ns)} of work "
        "begin at ",
        links.nodes(found.nodes, found.count),
        f". In series they take {duration(found.serial_ns)}, and a launch is shorter by at least "
        f"{duration(found.gain_ns)} ",
        how("estimated"),
        ".",
    )
