"""Changes of nodes from one graph to another: verdicts, words, and arrays for the DAG."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from gviz.app.views.wire import Arrays, Strings
from gviz.comparison import Difference, GraphComparison, TimeChanges
from gviz.stats import FALSE_DISCOVERIES, FloatArray

Bytes = npt.NDArray[np.uint8]

#: What is known of a node's time: one side alone has the node; one side was not timed; the change
#: was not tested, is within noise, or is significant.
Verdict = Literal["added", "untimed", "untested", "noise", "slower", "faster", "removed"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
#: Changes beyond noise.
SIGNIFICANT: tuple[Verdict, ...] = ("slower", "faster")
#: Verdicts in words.
VERDICT_WORDS: dict[Verdict, str] = {
    "slower": "slower",
    "faster": "faster",
    "noise": "within noise",
    "added": "added",
    "untested": "not tested",
    "untimed": "without a time",
    "removed": "removed",
}
#: Differences that are listed; of more their number.
_MOST_LISTED = 4


def node_verdicts(comparison: GraphComparison) -> list[Verdict]:
    """Return the verdict on each node of the graph after, in order of node id."""
    found: list[Verdict] = ["added"] * len(comparison.second)
    verdicts = _verdicts(comparison.times)
    for node, verdict in zip(comparison.pairs[:, 1].tolist(), verdicts, strict=True):
        found[node] = verdict
    return found


def _verdicts(times: TimeChanges) -> list[Verdict]:
    pairs = zip(times.change_ns.tolist(), times.rate.tolist(), strict=True)
    return [_verdict(change, rate) for change, rate in pairs]


def _verdict(change_ns: float, rate: float) -> Verdict:
    if np.isnan(change_ns):
        return "untimed"
    if np.isnan(rate):
        return "untested"
    if rate > FALSE_DISCOVERIES or change_ns == 0:
        return "noise"
    return "slower" if change_ns > 0 else "faster"


def node_times(comparison: GraphComparison) -> tuple[FloatArray, FloatArray]:
    """Return the duration before and the change for each node after (ns; NaN: none)."""
    nodes = comparison.pairs[:, 1]
    before, change = (np.full(len(comparison.second), np.nan) for _ in range(2))
    before[nodes] = comparison.times.before_ns
    change[nodes] = comparison.times.change_ns
    return before, change


def node_words(comparison: GraphComparison) -> list[str]:
    """Return what else changed in each node after, in words; "" for nothing."""
    found = [""] * len(comparison.second)
    stands_for = {int(r.pairs[0]): len(r.before) for r in comparison.replacements}
    for pair, node in enumerate(comparison.pairs[:, 1].tolist()):
        words = _difference_words(comparison.differences[pair])
        if stands_for.get(pair, 1) > 1:
            words.insert(0, f"in place of {stands_for[pair]:,} nodes")
        moved = ["moved to another lane"] if comparison.moved[pair] else []
        found[node] = "; ".join([*words, *moved])
    return found


def _difference_words(differences: tuple[Difference, ...]) -> list[str]:
    """Return what differs, addresses aside, each with what it was and is."""
    values = [d for d in differences if d.kind == "value"]
    words = [f"{d.what}: {d.before} → {d.after}" for d in values[:_MOST_LISTED]]
    more = len(values) - len(words)
    return [*words, f"{more} more"] if more > 0 else words


def change_arrays(comparison: GraphComparison, strings: Strings) -> Arrays:
    """Return arrays of one value a node of the level after.

    before_ns, change_ns, change_log2 (log2 of after over before; f4, NaN: none), verdict (u1,
    index into :data:`VERDICTS`), difference (string: what else changed, -1: nothing).
    """
    before, change = node_times(comparison)
    words = node_words(comparison)
    return {
        "before_ns": before.astype(np.float32),
        "change_ns": change.astype(np.float32),
        "change_log2": _log2(before, change),
        "verdict": np.array([VERDICTS.index(v) for v in node_verdicts(comparison)], np.uint8),
        "difference": np.array([strings.add(w) if w else -1 for w in words], np.int32),
    }


def lone_arrays(median_ns: npt.NDArray[np.float32], verdict: Verdict) -> Arrays:
    """Return the same of nodes that one side alone has, added or removed."""
    none = np.full(len(median_ns), np.nan, np.float32)
    return {
        "before_ns": median_ns.copy() if verdict == "removed" else none,
        "change_ns": none.copy(),
        "change_log2": none.copy(),
        "verdict": np.full(len(median_ns), VERDICTS.index(verdict), np.uint8),
        "difference": np.full(len(median_ns), -1, np.int32),
    }


def _log2(before: npt.NDArray[Any], change: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    one, two = before.astype(np.float64), before.astype(np.float64) + change
    known = (one > 0) & (two > 0)
    ratio = np.divide(two, one, out=np.full(len(one), np.nan), where=known)
    found: npt.NDArray[np.float32] = np.log2(ratio).astype(np.float32)
    return found


def is_significant(verdicts: Bytes) -> npt.NDArray[np.bool_]:
    """Return which items changed by more than noise."""
    return np.isin(verdicts, [VERDICTS.index(verdict) for verdict in SIGNIFICANT])
