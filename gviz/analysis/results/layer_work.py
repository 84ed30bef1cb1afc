"""The nodes of one layer of the model, and their time in the median launch."""

from __future__ import annotations

import numpy as np

from gviz.analysis.evidence import span_evidence
from gviz.analysis.model_layers import find_model_layers
from gviz.analysis.node_ref import NodeRef
from gviz.analysis.results.launch_sums import sum_bounds
from gviz.analysis.subject import GraphSubject
from gviz.dataclass import dataclass
from gviz.errors import UsageError
from gviz.stats import Evidence, Interval, NotComputed

#: Layers that a refusal names.
_NAMED = 8


@dataclass(frozen=True, slots=True)
class LayerWork:
    """One layer.

    Attributes
    ----------
    name
        Such as ``layer 5``.
    nodes
        Its nodes that were timed, in the order in which they start.
    time_ns
        The time of each, over all its executions in the launch.
    interval
        Of the time of each.
    total_ns, total_interval
        The time of all of them.
    launch_ns
        The time of all nodes of the graph.
    evidence
        What the times rest on.
    """

    name: str
    nodes: tuple[NodeRef, ...]
    time_ns: tuple[float, ...]
    interval: tuple[Interval, ...]
    total_ns: float
    total_interval: Interval
    launch_ns: float
    evidence: Evidence


def work_of_layer(subject: GraphSubject, wanted: str) -> LayerWork:
    """Return the layer of a name, or of a number.

    Raises
    ------
    UsageError
        If layers or times are not known, or there is no such layer.
    """
    layers = subject.once(find_model_layers)
    if isinstance(layers, NotComputed):
        raise UsageError(f"layers are not known: {layers.not_computed}")
    if subject.why_no_times:
        raise UsageError(f"times of layers are not known: {subject.why_no_times}")
    names = [str(number) for number in layers.numbers.tolist()]
    known = {**dict(zip(names, range(len(names)), strict=True)),
             **dict(zip(layers.names, range(len(names)), strict=True))}  # fmt: skip
    if wanted not in known:
        raise UsageError(
            f"there is no such layer; there are {len(names)}: {', '.join(layers.names[:_NAMED])}"
            + (" and so on" if len(names) > _NAMED else "")
        )
    place, spans = known[wanted], subject.spans
    duration = np.asarray(spans.end_ns - spans.start_ns, np.float64)
    total = np.bincount(spans.node, duration, minlength=len(layers.of_node))
    first = list(dict.fromkeys(spans.node[layers.of_node[spans.node] == place].tolist()))
    one_by_one = np.full(len(total), -1, np.int64)
    one_by_one[first] = np.arange(len(first))
    whole = float(total[first].sum())
    (interval,) = sum_bounds(subject, (one_by_one >= 0) - 1, np.array([whole])).each()
    return LayerWork(
        name=layers.names[place],
        nodes=tuple(subject.ref(node) for node in first),
        time_ns=tuple(total[first].tolist()),
        interval=sum_bounds(subject, one_by_one, total[first]).each(),
        total_ns=whole,
        total_interval=interval,
        launch_ns=float(duration.sum()),
        evidence=subject.once(span_evidence),
    )
