"""The change of a launch's time: steps from the time before to that after, exactly.

Both median launches are split along their observed critical paths, as the ledger of ``gviz
analyze`` does: nodes on the path, and the gaps before them. What a node adds is its time on the
path after less that before. The launch is measured without node times where that can be had; what
it differs by from the median launch's nodes is one step of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

from gviz.analysis import GraphSubject, gap_ledger
from gviz.comparison.diff_result import RangeStep, Waterfall, WaterfallPart, WaterfallStep
from gviz.dataclass import dataclass
from gviz.model import SEPARATOR
from gviz.stats import NotComputed

#: A node by graph_id and node_id.
NodeKey = tuple[int, int]

#: Causes that are about nodes, in the order of steps.
REPLACED, REMOVED, ADDED, CHANGED, SAME, LEFT, CAME = (
    "kernels replaced",
    "nodes removed",
    "nodes added",
    "nodes changed",
    "same nodes, other time",
    "nodes that left the path",
    "nodes that came onto the path",
)
_GAPS = (
    ("gaps after a dependency ended", "dependency_gap_ns"),
    ("waits for the same hardware queue", "queue_wait_ns"),
    ("until the path's first node", "late_start_ns"),
)
OUTSIDE = "outside of the median launch's nodes"


@dataclass(frozen=True, slots=True)
class Partners:
    """Partners of nodes before and after, over all levels.

    Attributes
    ----------
    after
        Partner of each node before that has one.
    changed
        Nodes before whose partner has another value of a parameter.
    replaced
        Of a node of either side (before, after) that is in a replacement, the name of that.
    context
        Of a node of either side, its NVTX path; ``context[0]`` before, ``context[1]`` after.
    """

    after: Mapping[NodeKey, NodeKey]
    changed: AbstractSet[NodeKey]
    replaced: tuple[Mapping[NodeKey, str], Mapping[NodeKey, str]]
    context: tuple[Mapping[NodeKey, str], Mapping[NodeKey, str]]


@dataclass(frozen=True, slots=True)
class _Step:
    """An execution on an observed path."""

    key: NodeKey
    name: str
    node_ns: float
    gap_ns: float


def build_waterfall(
    before: GraphSubject, after: GraphSubject, partners: Partners, launch_ns: tuple[float, float]
) -> Waterfall | NotComputed:
    """Return where the change of a graph's launch lies.

    Parameters
    ----------
    before, after
        The graph in both recordings.
    partners
        Which node is which.
    launch_ns
        Launch times before and after; NaN: not measured.
    """
    for side, subject in (("before", before), ("after", after)):
        why_not = subject.why_no_model
        if why_not:
            return NotComputed(f"{side}: {why_not}")
    if launch_ns[0] != launch_ns[0] or launch_ns[1] != launch_ns[1]:
        return NotComputed("launches were not timed on both sides")
    paths = _path(before), _path(after)
    ledgers = [gap_ledger(s.held, s.steps) for s in (before, after)]
    changes = [getattr(ledgers[1], field) - getattr(ledgers[0], field) for _, field in _GAPS]
    gaps = [WaterfallStep(c, x, 0, ()) for (c, _), x in zip(_GAPS, changes, strict=True)]
    inside = ledgers[1].total_ns - ledgers[0].total_ns
    outside = launch_ns[1] - launch_ns[0] - inside
    return Waterfall(
        before_ns=launch_ns[0],
        after_ns=launch_ns[1],
        steps=(*_node_steps(*paths, partners), *gaps, WaterfallStep(OUTSIDE, outside, 0, ())),
        ranges=_range_steps(*paths, partners),
        outside_ns=outside,
    )


def _path(subject: GraphSubject) -> dict[tuple[NodeKey, int], _Step]:
    """Return the observed path by node and iteration."""
    steps = subject.steps
    found = {}
    for at, vertex in enumerate(steps.vertex.tolist()):
        ref = subject.ref_of_vertex(vertex)
        key = (ref.graph_id, ref.node_id)
        times = float(steps.node_ns[at]), float(steps.gap_ns[at])
        iteration = int(subject.unrolled.iteration[vertex])
        found[key, iteration] = _Step(key, ref.name, *times)
    return found


def _node_steps(
    before: Mapping[tuple[NodeKey, int], _Step],
    after: Mapping[tuple[NodeKey, int], _Step],
    partners: Partners,
) -> list[WaterfallStep]:
    steps: dict[str, list[tuple[str, float]]] = {
        cause: [] for cause in (REPLACED, REMOVED, ADDED, CHANGED, SAME, LEFT, CAME)
    }
    met = set()
    for (key, iteration), step in before.items():
        partner = partners.after.get(key)
        there = None if partner is None else after.get((partner, iteration))
        if key in partners.replaced[0]:
            steps[REPLACED].append((partners.replaced[0][key], -step.node_ns))
        elif partner is None:
            steps[REMOVED].append((step.name, -step.node_ns))
        elif there is None:
            steps[LEFT].append((step.name, -step.node_ns))
        else:
            met.add((partner, iteration))
            cause = CHANGED if key in partners.changed else SAME
            name = step.name if step.name == there.name else f"{step.name} -> {there.name}"
            steps[cause].append((name, there.node_ns - step.node_ns))
    known = set(partners.after.values())
    for (key, iteration), step in after.items():
        if key in partners.replaced[1]:
            steps[REPLACED].append((partners.replaced[1][key], step.node_ns))
        elif (key, iteration) not in met:
            steps[CAME if key in known else ADDED].append((step.name, step.node_ns))
    return [_step(cause, found) for cause, found in steps.items()]


def _step(cause: str, found: list[tuple[str, float]]) -> WaterfallStep:
    by_name: dict[str, list[float]] = defaultdict(list)
    for name, change in found:
        by_name[name].append(change)
    parts = [WaterfallPart(name, sum(x), len(x)) for name, x in by_name.items()]
    parts.sort(key=lambda part: -abs(part.change_ns))
    return WaterfallStep(cause, sum(p.change_ns for p in parts), len(found), tuple(parts))


def _range_steps(
    before: Mapping[tuple[NodeKey, int], _Step],
    after: Mapping[tuple[NodeKey, int], _Step],
    partners: Partners,
) -> tuple[RangeStep, ...]:
    sides = [
        [(contexts.get(step.key, ""), step.node_ns + step.gap_ns) for step in path.values()]
        for contexts, path in zip(partners.context, (before, after), strict=True)
    ]
    cut = _cut_at_depth([context for side in sides for context, _ in side])
    sums: dict[str, list[float]] = {}
    for i, side in enumerate(sides):
        for context, ns in side:
            sums.setdefault(cut(context), [0.0, 0.0])[i] += ns
    return tuple(RangeStep(name, x, y, y - x) for name, (x, y) in sums.items())


def _cut_at_depth(contexts: list[str]) -> Callable[[str], str]:
    """Return what shortens NVTX paths to the outermost depth at which there are several."""
    split = {tuple(c.split(SEPARATOR)) for c in contexts if c}
    deepest = max(map(len, split), default=1)
    depth = next((d for d in range(1, deepest) if len({s[:d] for s in split}) > 1), deepest)
    return lambda context: SEPARATOR.join(context.split(SEPARATOR)[:depth])
