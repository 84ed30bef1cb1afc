"""Parallel work: what could run side by side, what did, and where that was lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gviz.analysis import (
    BarrierResult,
    LevelShape,
    Overlap,
    Parallelism,
    SmallBranchResult,
    TurnTaking,
)
from gviz.report.document import (
    Block,
    Content,
    EdgeLink,
    GraphLink,
    NodeLink,
    Section,
    Sentence,
    TableBlock,
    average,
    capitalized,
    column,
    joined,
    line,
    nodes,
    not_computed,
    ns,
    number,
    numbers,
    say,
    section,
    table,
)
from gviz.stats import NotComputed
from gviz.text import MISSING, counted, integer

_T = TypeVar("_T")

#: Levels and kinds of waits that are listed, and those of the short form.
_LISTED, _BRIEF = 12, 3
#: Edges that are named.
_PAIRS = 3


def parallelism(found: Parallelism) -> list[Block]:
    """Return what the edges allow, the overlap, and what stood in its way."""
    return [
        _levels(found.levels),
        section("overlap", "Overlap", _overlap(found.overlap)),
        _turn_taking(found.turn_taking),
        _loss("joins", "Joins at which branches wait for each other", found.barriers, _barriers),
        _loss("small", "Branches too small to be worth their fork", found.small_branches, _small),
    ]


def _loss(
    key: str, heading: str, found: _T | NotComputed | None, sentence: Callable[[_T], Sentence]
) -> Section:
    """Return where parallel work was lost; None: nowhere."""
    if isinstance(found, NotComputed):
        return section(key, heading, not_computed(found), detail=True)
    if found is None:
        return section(key, heading, say("There are none."), detail=True)
    return section(key, heading, sentence(found))


def _levels(found: tuple[LevelShape, ...]) -> TableBlock:
    columns = [
        column("Level"), numbers("Nodes"),
        numbers("Width", "Most nodes of which none depends on another: largest antichain"),
        column("Such nodes"),
        numbers("Lanes", "Chains of a greedy cover: lanes that show them all"),
        column("Redundant edges", "Edges without which everything depends on the same nodes"),
    ]  # fmt: skip
    listed = found[:_LISTED]
    return table(
        "What the edges of each level allow",
        columns,
        [_level(x) for x in listed],
        brief=_BRIEF,
        left_out=len(found) - len(listed),
        row_noun=("more body", "more bodies"),
    )


def _level(found: LevelShape) -> list[Content]:
    width = integer(found.width)
    if found.width_at_most > found.width:
        width += f" to {integer(found.width_at_most)}"
    redundant: Content = integer(found.redundant_edge_count)
    if found.redundant_edge_count is None:
        redundant = "too wide to say"
    elif found.redundant_edges:
        shown = [EdgeLink(*pair) for pair in found.redundant_edges[:_PAIRS]]
        more = found.redundant_edge_count - len(shown)
        rest = f" and {integer(more)} more" if more else ""
        redundant = line(f"{integer(found.redundant_edge_count)}: ", joined(shown), rest)
    return [
        GraphLink(found.graph_id), number(found.node_count), width,
        nodes(found.widest, found.width) or MISSING, number(found.lane_count), redundant,
    ]  # fmt: skip


def _overlap(found: Overlap | NotComputed) -> Sentence:
    if isinstance(found, NotComputed):
        return not_computed(found)
    allowed: Content = ""
    if found.possible is not None:
        allowed = ("; dependencies alone allow ", average(found.possible), " on average")
    return say(
        "While anything ran, ",
        average(found.achieved),
        f" nodes ran at once on average, {integer(found.most_at_once)} at most",
        allowed,
        " (node time ",
        ns(found.node_ns),
        ", of which something ran in ",
        ns(found.busy_ns),
        ").",
    )


def _turn_taking(found: tuple[TurnTaking, ...] | NotComputed) -> Section:
    heading = "Independent nodes that took turns"
    if isinstance(found, NotComputed):
        return section("turns", heading, not_computed(found), detail=True)
    if not found:
        none = say("No node waited for one that it does not depend on.")
        return section("turns", heading, none)
    columns = [
        column("Likely reason"), numbers("Nodes"), numbers("Waited", "Summed over the nodes"),
        numbers("Launch shorter by", "At most, if none waited and nothing ran slower for it"),
        numbers("Ever overlapped", "Launches in which any of the pairs overlapped at all",
                detail=True),
        column("Such as"), column("They and what ran meanwhile", detail=True),
    ]  # fmt: skip
    listed = table(
        heading,
        columns,
        [_turn_taking_row(x) for x in found[:_LISTED]],
        brief=_BRIEF,
        left_out=max(0, len(found) - _LISTED),
        row_noun=("more kind of waits", "more kinds of waits"),
    )
    note = (
        "Each could have started: all it depends on had ended. The reason and what it could give "
        "back are estimated, the rest is derived."
    )
    return section("turns", heading, say(note, note=True, detail=True), listed)


def _turn_taking_row(found: TurnTaking) -> list[Content]:
    pairs = list(zip(found.waiting, found.meanwhile, strict=True))
    gain: Content = ns(found.gain_ns, "estimated")
    if found.gain_ns is None:
        gain = "not looked at"
    elif found.gain_ns == 0:
        gain = "nothing"
    such: Content = ""
    if pairs:
        such = line(NodeLink(pairs[0][0]), " waited for ", NodeLink(pairs[0][1]))
    of = counted(found.launch_count, "launch", "launches")
    return [
        capitalized(found.reason), number(found.count), ns(found.waited_ns), gain,
        f"{integer(found.overlapped_launches)} of {of}", such,
        nodes(ref for pair in pairs for ref in pair),
    ]  # fmt: skip


def _barriers(found: BarrierResult) -> Sentence:
    return say(
        f"{counted(found.count, 'join')}: ",
        nodes(found.waiting),
        " wait for ",
        nodes(found.waited_for),
        ". A launch is shorter by at most ",
        ns(found.gain_ns, "estimated"),
        " if each waits only for the branch that it goes on with.",
    )


def _small(found: SmallBranchResult) -> Sentence:
    return say(
        f"{counted(found.count, 'branch', 'branches')} of ",
        ns(found.work_ns),
        " of work begin at ",
        nodes(found.nodes, found.count),
        ". In series they take ",
        ns(found.serial_ns, "estimated"),
        ", and a launch is shorter by at least ",
        ns(found.gain_ns, "estimated"),
        ".",
    )
