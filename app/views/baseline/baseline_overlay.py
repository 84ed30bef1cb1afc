"""Differences of nodes from a baseline's, as arrays for the DAG and as columns of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from gviz.app.views.wire import Arrays, Strings
from gviz.comparison import Difference, GraphComparison, TimeChanges, compare_groups
from gviz.layout import FoldedDag, FoldTree
from gviz.stats import FALSE_DISCOVERIES, FloatArray, IntArray

Bytes = npt.NDArray[np.uint8]

#: What is known of a node's time: it has no counterpart; one side was not timed; the change was
#: not tested, is within noise, or is significant; or nothing: the body it is in is not compared.
#: ``removed`` are nodes of the baseline without a counterpart, where both graphs are shown.
Verdict = Literal[
    "added", "untimed", "untested", "noise", "slower", "faster", "uncompared", "removed"
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
#: By the id of a fold.
FoldVerdicts = Mapping[str, Verdict]
#: Verdicts in words.
VERDICT_WORDS: dict[Verdict, str] = {
    "slower": "slower",
    "faster": "faster",
    "noise": "within noise",
    "added": "added",
    "untested": "not tested",
    "untimed": "without a time",
    "uncompared": "not compared",
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


def fold_verdicts(comparison: GraphComparison | None, tree: FoldTree) -> FoldVerdicts:
    """Return the verdict on each fold of a tree of the graph after, by the fold's id.

    What is tested is the sum over its nodes that have a partner, launch by launch, with the nodes
    that vanished around replaced kernels. None: the level is not compared.
    """
    if comparison is None:
        return {fold.id: "uncompared" for fold in tree.every()}
    partner = np.full(len(comparison.second), -1, np.int64)
    partner[comparison.pairs[:, 1]] = comparison.pairs[:, 0]
    folds = list(tree.every())
    after = [fold.nodes[partner[fold.nodes] >= 0] for fold in folds]
    before = [_with_replaced(comparison, nodes, partner[nodes]) for nodes in after]
    times = compare_groups(comparison, before, after)
    found: dict[str, Verdict] = {}
    for fold, nodes, verdict in zip(folds, after, _verdicts(times), strict=True):
        found[fold.id] = verdict if len(nodes) else "added"
    return found


def _with_replaced(comparison: GraphComparison, after: IntArray, before: IntArray) -> IntArray:
    """Return nodes before with all that replacements among those after took the place of."""
    parts = [r.before for r in comparison.replacements if np.isin(r.after, after).any()]
    return np.unique(np.concatenate([before, *parts])) if parts else before


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
    """Return the baseline's duration and the change for each node after (ns; NaN: none)."""
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


def baseline_header(file: str, top: GraphComparison) -> dict[str, Any]:
    """Return the DAG's header for a file's baseline; counts are of the level shown."""
    return {
        "name": file,
        "verdicts": VERDICTS,
        "added": len(top.added),
        "gone": len(top.removed),
        "untested": top.times.untested,
    }


def baseline_arrays(comparison: GraphComparison | None, count: int, strings: Strings) -> Arrays:
    """Return arrays of one value a node of a level; None: it is not compared.

    baseline_ns, change_ns, change_log2 (log2 of after over before; f4, NaN: none), verdict (u1,
    index into :data:`VERDICTS`), difference (string: what else changed, -1: nothing).
    """
    if comparison is None:
        none = np.full(count, np.nan, np.float32)
        return {
            "baseline_ns": none,
            "change_ns": none.copy(),
            "change_log2": none.copy(),
            "verdict": np.full(count, VERDICTS.index("uncompared"), np.uint8),
            "difference": np.full(count, -1, np.int32),
        }
    before, change = node_times(comparison)
    words = node_words(comparison)
    return {
        "baseline_ns": before.astype(np.float32),
        "change_ns": change.astype(np.float32),
        "change_log2": _log2(before, change),
        "verdict": np.array([VERDICTS.index(v) for v in node_verdicts(comparison)], np.uint8),
        "difference": np.array([strings.add(w) if w else -1 for w in words], np.int32),
    }


def fold_baseline(
    found: Arrays, nodes: Arrays, graph: FoldedDag, strings: Strings, changes: FoldVerdicts
) -> None:
    """Set what folds show, in place.

    Parameters
    ----------
    found
        The arrays of items; times are sums already.
    nodes
        The arrays of nodes.
    graph
        Which items are folds of which nodes.
    strings
        Takes the words for folds.
    changes
        The verdicts on folds.
    """
    found["change_log2"] = _log2(found["baseline_ns"], found["change_ns"])
    for item, fold in enumerate(graph.folds):
        if fold is not None:
            found["verdict"][item] = VERDICTS.index(changes[fold.id])
            found["difference"][item] = strings.add(_counted(nodes["verdict"][fold.nodes]))


def _log2(before: npt.NDArray[Any], change: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    one, two = before.astype(np.float64), before.astype(np.float64) + change
    known = (one > 0) & (two > 0)
    ratio = np.divide(two, one, out=np.full(len(one), np.nan), where=known)
    found: npt.NDArray[np.float32] = np.log2(ratio).astype(np.float32)
    return found


def _counted(verdicts: Bytes) -> str:
    counts = np.bincount(verdicts, minlength=len(VERDICTS)).tolist()
    return ", ".join(
        f"{counts[VERDICTS.index(verdict)]} {words}"
        for verdict, words in VERDICT_WORDS.items()
        if counts[VERDICTS.index(verdict)]
    )


def is_significant(verdicts: Bytes) -> npt.NDArray[np.bool_]:
    """Return which items changed by more than noise."""
    return np.isin(verdicts, [VERDICTS.index("slower"), VERDICTS.index("faster")])
