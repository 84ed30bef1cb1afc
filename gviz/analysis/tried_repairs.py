"""Repairs of findings that were tried: what a trial measured in place of what was computed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.analysis.rules import Fact, Found, Rule
from gviz.analysis.subject import GraphSubject
from gviz.analysis.tried_changes import places_of
from gviz.dataclass import dataclass
from gviz.model import edit_words
from gviz.recording import GraphTrial
from gviz.stats import IntArray, figure


@dataclass(frozen=True, slots=True)
class RepairInVain:
    """A repair of a rule that was tried and makes no launch shorter, beyond noise."""

    rule: str = figure("stated", "id of the rule")
    gain_ns: float = figure("measured", "what it saves, median; below 0 it costs")
    low_ns: float = figure("derived", "lower end of its 95% interval")
    high_ns: float = figure("derived", "upper end")
    count: int = figure("stated", "pairs of launches that were timed")


@dataclass(frozen=True, slots=True)
class TriedRepair:
    """A repair of a rule as a trial made it.

    Attributes
    ----------
    trial
        The trial.
    places
        Nodes that it changed, by their places in the graph's tree, ascending.
    reason
        What was found, in one sentence.
    evidence
        Numbers behind it.
    is_gain
        Whether it saves something, beyond what equal copies differ by.
    """

    trial: GraphTrial
    places: IntArray
    reason: str
    evidence: tuple[Fact, ...]
    is_gain: bool

    @property
    def gain_ns(self) -> float:
        """Return what it saves a launch (measured)."""
        return self.trial.gain_ns or 0.0

    @property
    def range_ns(self) -> tuple[float, float]:
        """Return the ends of the 95% interval of that."""
        low, high = self.trial.low_ns, self.trial.high_ns
        return (
            self.gain_ns if low is None else low,
            self.gain_ns if high is None else high,
        )


def tried_repair(rule: Rule, subject: GraphSubject, found: Sequence[Found]) -> TriedRepair | None:
    """Return what the last trial of a rule's repair measured; None: none was made.

    Parameters
    ----------
    found
        What the rule found in the graph's times.
    """
    trials = subject.trials
    trial = None if rule.trial is None else trials.last(rule.trial)
    if trial is None:
        return None
    edits, place = trials.edits.get(trial.trial_id, ()), places_of(subject.graph)
    keys = {(e.graph_id, n) for e in edits for n in (e.node_id, e.to_node_id) if n is not None}
    places = np.array(sorted(place[key] for key in keys if key in place), np.int64)
    facts = (
        Fact("launch of a copy without the change", trial.unedited_ns or 0.0, "ns", "measured"),
        Fact("pairs of launches", trial.count, "", "measured"),
    )
    (first, *others) = found or (None,)
    one = first if not others else None
    low_ns = 0.0 if trial.low_ns is None else trial.low_ns
    changed = f"a launch is shorter {edit_words(trial.kind, len(edits))}"
    return TriedRepair(
        trial=trial,
        places=places,
        reason=changed if one is None else one.reason,
        evidence=(*(() if one is None else one.evidence), *facts),
        is_gain=low_ns > 0 and (trial.gain_ns or 0.0) > trials.noise_ns,
    )
