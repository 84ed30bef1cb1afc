"""One gap on the path of the median launch: how long, held by what, and how many are alike."""

from __future__ import annotations

from itertools import pairwise

from gviz.analysis import GraphAnalysis, PathGap, PathNode
from gviz.errors import UsageError
from gviz.report.answers.basis import basis_sentences
from gviz.report.document import (
    Content,
    Document,
    NodeLink,
    Sentence,
    Verdict,
    based,
    ns,
    number,
    say,
    share,
)
from gviz.stats import Interval, NotComputed

#: Gaps that a refusal offers.
_OFFERED = 3


def gap_document(graph: GraphAnalysis, before: int, after: int, title: str) -> Document:
    """Return what is known of the gap between two nodes that follow each other on the path.

    Parameters
    ----------
    before, after
        Their node ids.

    Raises
    ------
    UsageError
        If no path is known, or they do not follow each other on it; with the longest gaps.
    """
    ledger, path = graph.ledger, graph.critical_path
    for why in (ledger, path):
        if isinstance(why, NotComputed):
            raise UsageError(f"gaps of graph {graph.graph_id} are not known: {why.not_computed}")
    assert not isinstance(ledger, NotComputed)
    assert not isinstance(path, NotComputed)
    ends = [
        at
        for at, (first, second) in enumerate(pairwise(path.observed), start=1)
        if (first.node.node_id, second.node.node_id) == (before, after)
    ]
    if not ends:
        known = ", ".join(
            f"{gap.before.node_id}-{gap.after.node_id}" for gap in ledger.gaps[:_OFFERED]
        )
        raise UsageError(
            f"node {after} does not follow node {before} on the observed path of graph "
            f"{graph.graph_id}; its longest gaps are {known or 'none'}"
        )
    place = max(ends, key=lambda at: path.observed[at].gap_ns)
    first, second = path.observed[place - 1], path.observed[place]
    (gaps,) = path.gap_bounds
    interval = gaps.of(place)
    alike = [gap for gap in ledger.gaps if (gap.before, gap.after) == (first.node, second.node)]
    whole = ledger.median.total_ns
    sentences = [_length(first, second, interval, whole), _held(second)]
    sentences += [_alike(gap) for gap in alike[:1]]
    sentences += basis_sentences(graph)
    verdict = Verdict("", tuple(based(one, ledger.evidence) for one in sentences), graph.doubts)
    return Document(f"{title}: gap {before}-{after}", (verdict,), ())


def _length(first: PathNode, second: PathNode, interval: Interval, whole_ns: float) -> Sentence:
    part: Content = (
        (", ", share(second.gap_ns / whole_ns), " of the median launch") if whole_ns else ""
    )
    return say(
        "From the end of ", NodeLink(first.node), " to the start of ", NodeLink(second.node),
        " pass ", ns(second.gap_ns, interval=interval), part, ".",
    )  # fmt: skip


def _held(second: PathNode) -> Sentence:
    why = {
        "dependency": "Until then it waited for its dependency: what passes is the latency of the "
        "edge, or nodes without a time in between",
        "queue": "Until then it waited for the work ahead on its hardware queue, not for a "
        "dependency",
    }.get(second.held_by, "Nothing that was recorded held it up")
    return say(f"{why}.")


def _alike(gap: PathGap) -> Sentence:
    through: Content = "" if gap.via is None else (", through ", NodeLink(gap.via))
    busy: tuple[Content, ...] = ()
    if gap.busy_ns:
        busy = ("; in ", ns(gap.busy_ns), " of the longest other nodes of the launch ran")
    return say(
        "Between nodes of these names lie ", number(gap.alike_count, "derived"),
        " gaps of the path, ", ns(gap.alike_ns, interval=gap.alike_interval), " together",
        through, *busy, ".",
    )  # fmt: skip
