"""Kernel families and layers by what a tenth off their time would bring."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gviz.analysis.evidence import span_evidence
from gviz.analysis.launch import GainRange, LaunchChange, NodeGroups, break_down
from gviz.analysis.model_layers import find_model_layers
from gviz.analysis.subject import GraphSubject
from gviz.analysis.tried_changes import places_of
from gviz.dataclass import dataclass
from gviz.model import DELAY_TRIALS
from gviz.stats import Evidence, IntArray, NotComputed, figure
from gviz.system import NO_PROGRESS, Progress

#: What is taken off.
TENTH = 0.1
#: Parts of each kind that are looked at, those of the largest share.
MOST_PARTS = 24
#: Executions from which on a ranking takes more than seconds.
_MOST_VERTICES = 10_000


@dataclass(frozen=True, slots=True)
class PartGain:
    """A kernel family or layer, and the gain of a tenth off its time."""

    kind: str = figure("stated", "family or layer")
    name: str = figure("stated", "its name")
    node_count: int = figure("derived", "its nodes")
    share: float = figure(
        "derived", "its part of the launch; of what runs side by side each has an equal part"
    )
    gain_ns: float = figure("estimated", "what the launch would be shorter by")
    low_ns: float = figure("estimated", "the least that this gain may be")
    high_ns: float = figure("estimated", "the most that this gain may be")
    gain_fraction: float = figure("estimated", "gain_ns as a part of the launch")
    how: str = figure(
        "stated", "estimated: by the model; measured: by a trial that delayed its nodes"
    )


@dataclass(frozen=True, slots=True)
class PartRanking:
    """Kernel families and layers of a graph, those first that would bring most."""

    launch_ns: float = figure("derived", "length of the median launch, as it was recorded")
    parts: tuple[PartGain, ...] = figure(
        "estimated", f"of each kind at most {MOST_PARTS}, those of the largest share"
    )
    error_fraction: float | None = figure(
        "derived", "the model's error on trials of this graph; null: nothing has been tried"
    )
    trial_count: int = figure("stated", "trials that the model is fitted on")
    evidence: Evidence = figure("stated", "what the recorded times rest on")


def part_ranking(subject: GraphSubject) -> PartRanking | NotComputed:
    """Return what a tenth off each family and layer would bring, where that takes no minutes."""
    if subject.why_no_model:
        return NotComputed(subject.why_no_model)
    if len(subject.unrolled) > _MOST_VERTICES:
        return NotComputed(
            "too many nodes for a look at each family and layer; 'gviz what-if' takes the time"
        )
    return rank_parts(subject)


def rank_parts(subject: GraphSubject, progress: Progress = NO_PROGRESS) -> PartRanking:
    """Return what a tenth off each kernel family and layer of a graph would bring.

    The graph's median launch is known as constraints.
    """
    groups = list(_groups(subject))
    chosen = [(group, place) for group in groups for place in _largest(subject, group)]
    found: list[PartGain] = []
    for at, (group, (place, share)) in enumerate(chosen):
        progress.at(at / len(chosen), group.labels[place])
        found.append(_part(subject, group, place, share))
    found.sort(key=lambda part: -part.gain_ns)
    assumed = subject.gains.assumed
    return PartRanking(
        launch_ns=subject.model.whole_ns,
        parts=tuple(found),
        error_fraction=assumed.trial_error,
        trial_count=assumed.trial_count,
        evidence=subject.once(span_evidence),
    )


def _groups(subject: GraphSubject) -> Iterator[NodeGroups]:
    families = subject.named_families
    yield NodeGroups("family", families.labels, families.code)
    layers = subject.once(find_model_layers)
    if not isinstance(layers, NotComputed):
        # Of code -1 is what no layer holds: the last label, empty.
        code = np.where(layers.of_node < 0, len(layers), layers.of_node)
        yield NodeGroups("layer", (*layers.names, ""), code)


def _largest(subject: GraphSubject, group: NodeGroups) -> list[tuple[int, float]]:
    """Return the groups of the largest part of the launch, and these parts."""
    whole = subject.model.whole_ns
    if not whole:
        return []
    row = break_down([group], subject.spans).rows[0]
    share = [
        (group.labels.index(label), width / whole)
        for label, width in zip(row.labels, row.width_ns.tolist(), strict=True)
        if label and width > 0
    ]
    return sorted(share, key=lambda found: -found[1])[:MOST_PARTS]


def _part(subject: GraphSubject, group: NodeGroups, place: int, share: float) -> PartGain:
    nodes, model = np.flatnonzero(group.code == place), subject.model
    chosen = subject.unrolled.executions_of(nodes)
    measured = _measured(subject, nodes, TENTH * float(model.duration_ns[chosen].sum()))
    duration = np.where(chosen, model.duration_ns * (1.0 - TENTH), model.duration_ns)
    found = measured or subject.gains.gain(LaunchChange(duration_ns=duration))
    return PartGain(
        kind=group.name,
        name=group.labels[place],
        node_count=len(nodes),
        share=share,
        gain_ns=found.gain_ns,
        low_ns=found.low_ns,
        high_ns=found.high_ns,
        gain_fraction=found.gain_ns / model.whole_ns,
        how="estimated" if measured is None else "measured",
    )


def _measured(subject: GraphSubject, nodes: IntArray, saved_ns: float) -> GainRange | None:
    """Return what a saving in nodes brings by the delays behind all of them; None: not tried."""
    trials = subject.trials
    for trial in trials.made(*DELAY_TRIALS):
        delay_ns = trials.delay_ns(trial)
        place = places_of(subject.graph)
        edits = trials.edits.get(trial.trial_id, ())
        tried = {place.get((edit.graph_id, edit.node_id), -1) for edit in edits}
        if delay_ns and tried == set(nodes.tolist()):
            cost, least, most = (
                -(value or 0.0) / delay_ns for value in (trial.gain_ns, trial.high_ns, trial.low_ns)
            )
            return GainRange(cost * saved_ns, least * saved_ns, most * saved_ns)
    return None
