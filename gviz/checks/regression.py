"""A graph held against the same graph of a baseline: longer than allowed, beyond noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from gviz.analysis import GraphSubject
from gviz.checks.check_result import FAILED, PASSED, UNJUDGED, Check
from gviz.checks.graph_checks import about, judge
from gviz.checks.limits import GraphLimits
from gviz.comparison import (
    ComparedLevel,
    ComparedTree,
    NodeDurations,
    TimedPairs,
    compare_level,
    compared_lengths,
    critical_paths,
    host_times,
    pair_all,
)
from gviz.dataclass import dataclass
from gviz.stats import (
    FALSE_DISCOVERIES,
    FloatArray,
    adjusted,
    growth_probability,
    least_change_ns,
)
from gviz.text import percent, signed_percent

#: Names of nodes that a failed check lists.
_NAMED = 3


def _launches(*subjects: GraphSubject) -> list[NodeDurations]:
    return compared_lengths(*((s.recording, s.row.graph_id) for s in subjects))


def _hosts(*subjects: GraphSubject) -> list[NodeDurations]:
    return [host_times(s.recording, s.row.graph_id) for s in subjects]


def _paths(*subjects: GraphSubject) -> list[NodeDurations]:
    return [critical_paths(s) for s in subjects]


_WHOLE: Mapping[str, Callable[..., list[NodeDurations]]] = {
    "launch": _launches,
    "host": _hosts,
    "critical_path": _paths,
}


@dataclass(frozen=True, slots=True)
class Trial:
    """Durations that may have grown by more than a share, before that is judged.

    Attributes
    ----------
    subject
        The graph that is checked.
    what
        Key of the configuration.
    allowed
        The share.
    times
        Before and after; None: not known.
    names
        What the pairs of ``times`` are called.
    why_not
        Why it cannot be judged.
    """

    subject: GraphSubject
    what: str
    allowed: float
    times: TimedPairs | None
    names: Sequence[str] = ()
    why_not: str = ""

    def probability(self) -> FloatArray:
        """Return for each pair the p value of "grew by the allowed share at most"."""
        if self.times is None or self.times.changes.untested:
            return np.zeros(0)
        found = self.times
        before = np.nan_to_num(found.changes.before_ns)
        least = np.maximum(least_change_ns(before), self.allowed * before)
        sides = found.before.launches[:, found.first], found.after.launches[:, found.second]
        return growth_probability(*sides, least)


def trials(
    before: GraphSubject, after: GraphSubject, limits: GraphLimits, other_gpu: str
) -> Iterator[Trial]:
    """Yield what of a graph's times is to be judged.

    Parameters
    ----------
    other_gpu
        Why times cannot be compared; empty: they can.
    """
    for what, allowed in limits.regression.items():
        if other_gpu and (what in _WHOLE or what == "node"):
            yield Trial(after, what, allowed, None, (), other_gpu)
        elif what in _WHOLE:
            why_not = ""
            if what == "critical_path":
                why_not = before.why_no_model or after.why_no_model or ""
            times = None if why_not else pair_all(*_WHOLE[what](before, after))
            yield Trial(after, what, allowed, times, ("",), why_not)
        elif what == "node":
            why_not = before.why_contradicted or after.why_contradicted or ""
            if why_not:
                yield Trial(after, what, allowed, None, (), why_not)
                continue
            level = _compare(before, after)
            yield Trial(after, what, allowed, level.nodes, level.comparison.pair_names())


def _compare(before: GraphSubject, after: GraphSubject) -> ComparedLevel:
    one, two = (ComparedTree(s.recording, s.row.graph_id) for s in (before, after))
    return compare_level(one, before.row.graph_id, two, after.row.graph_id)


def judge_trials(found: Sequence[Trial]) -> Iterator[Check]:
    """Yield what becomes of trials; rates are over all whole launches, and over all nodes."""
    rates: dict[int, FloatArray] = {}
    for single in (True, False):
        family = [i for i, t in enumerate(found) if (t.what == "node") != single]
        values = [found[i].probability() for i in family]
        joint = adjusted(np.concatenate([np.zeros(0), *values]))
        ends = np.cumsum([len(v) for v in values])
        rates |= dict(zip(family, np.split(joint, ends[:-1]) if family else [], strict=True))
    for i, trial in enumerate(found):
        yield _judge_nodes(trial, rates[i]) if trial.what == "node" else _judge(trial, rates[i])


def _judge(trial: Trial, rates: FloatArray) -> Check:
    what = f"regression.{trial.what}"
    if trial.times is None:
        return about(trial.subject, what, UNJUDGED, unit="ns", reason=trial.why_not)
    change = trial.times.at(0)
    before = change.before_ns
    tested = len(rates) > 0 and not np.isnan(rates[0])
    grew = tested and bool(rates[0] <= FALSE_DISCOVERIES)
    status = UNJUDGED if not tested else FAILED if grew else PASSED
    reason = change.untested or ""
    if before is not None and change.after_ns is not None and tested:
        over = change.after_ns > before * (1 + trial.allowed)
        reason = "above the limit, but not by more than noise" if over and not grew else ""
    return about(
        trial.subject,
        what,
        status,
        value=change.after_ns,
        limit=None if before is None else before * (1 + trial.allowed),
        unit="ns",
        baseline=before,
        rate=float(rates[0]) if tested else None,
        reason=reason,
    )


def _judge_nodes(trial: Trial, rates: FloatArray) -> Check:
    """Return the check of each node's time: how many grew by more than the share."""
    what = "regression.node"
    if trial.times is None:
        return about(trial.subject, what, UNJUDGED, reason=trial.why_not)
    changes = trial.times.changes
    if changes.untested or not (~np.isnan(rates)).any():
        why_not = changes.untested or "no node was timed on both sides"
        return about(trial.subject, what, UNJUDGED, reason=why_not)
    worse = np.flatnonzero(rates <= FALSE_DISCOVERIES)
    grown: dict[str, list[float]] = {}
    for i in worse.tolist():
        share = float(changes.change_ns[i] / changes.before_ns[i])
        grown.setdefault(trial.names[i], []).append(share)
    most = sorted(grown.items(), key=lambda item: -max(item[1]))
    named = [
        f"{len(shares):,} × {name} up to {signed_percent(max(shares))}"
        for name, shares in most[:_NAMED]
    ]
    more = f", and {len(most) - _NAMED:,} more names" if len(most) > _NAMED else ""
    return about(
        trial.subject,
        what,
        FAILED if len(worse) else PASSED,
        value=len(worse),
        limit=0,
        rate=float(np.nanmin(rates)),
        reason=f"more than {percent(trial.allowed)} longer: {', '.join(named)}{more}"
        if named
        else "",
    )


def check_node_count(before: GraphSubject, after: GraphSubject, allowed: float) -> Check:
    """Return whether a graph has too many nodes more than the baseline's."""
    was, count = len(before.graph.nodes), len(after.graph.nodes)
    found = judge(after, "regression.nodes", (count, ""), was + allowed, "")
    return about(after, found.what, found.status, value=count, limit=was + allowed, baseline=was)
