"""Answers to what-if: what a launch would take with edits made to its graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.analysis import GainRange, GraphSubject, LaunchChange, places_of, span_evidence
from gviz.dataclass import dataclass
from gviz.errors import CycleError, RecordingError, UsageError
from gviz.model import OFF_TRIAL
from gviz.stats import BoolArray, Evidence, IntArray, figure
from gviz.system import NO_PROGRESS, Progress
from gviz.whatif.change_builder import ChangeBuilder
from gviz.whatif.edits import Edit, EditKind
from gviz.whatif.node_names import NodeNames


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The answer to edits: a launch of the graph with them."""

    edits: tuple[str, ...] = figure("stated", "the edits, in words")
    node_count: int = figure("derived", "nodes that they are about")
    node_share: float = figure("derived", "time of these nodes, as a part of the time of all")
    launch_ns: float = figure("derived", "what the median launch takes without them, as recorded")
    noise_ns: float | None = figure(
        "derived",
        "half of the 95% interval of launch_ns; null: it is that of one launch, or its nodes have "
        "no starts, so it is computed",
    )
    changed_ns: float = figure("estimated", "its length with the edits")
    gain_ns: float = figure("estimated", "what the launch would be shorter by; below 0: longer")
    low_ns: float = figure("estimated", "the lower end of its range")
    high_ns: float = figure("estimated", "the upper end of its range")
    gain_fraction: float = figure("estimated", "gain_ns as a part of launch_ns")
    how: str = figure("stated", "estimated by the model, or measured by a trial")
    error_fraction: float | None = figure(
        "derived",
        "the model's error on trials of this graph, as a part of the gain (median); null: nothing "
        "has been tried, and low_ns and high_ns are wide for it",
    )
    trial_count: int = figure("stated", "trials of this graph behind the model")
    tried_fraction: float | None = figure(
        "measured",
        "the part of a saving in exactly these nodes by which the launch got shorter, from a trial "
        "of delays behind them; null: these were not tried",
    )
    evidence: Evidence = figure("stated", "what launch_ns rests on")


class GraphWhatIf:
    """Answers about one graph.

    Parameters
    ----------
    subject
        The graph.

    Raises
    ------
    RecordingError
        If its launches do not say what waits for what; with the reason.
    """

    def __init__(self, subject: GraphSubject) -> None:
        if subject.why_no_model:
            raise RecordingError(
                f"graph {subject.row.graph_id}, {subject.title}: nothing can be computed: "
                f"{subject.why_no_model}"
            )
        self.subject = subject
        self.names = NodeNames(subject)

    def ask(self, edits: Sequence[Edit], progress: Progress = NO_PROGRESS) -> WhatIf:
        """Return what the launch would take with some edits, made together.

        Parameters
        ----------
        progress
            Told the share that is computed.

        Raises
        ------
        UsageError
            If an edit finds nothing to change, or nodes would wait for each other.
        """
        builder = ChangeBuilder(self.subject, self.names)
        for edit in edits:
            builder.add(edit)
        return self._answer(edits, builder.nodes, builder.build(), progress)

    def _answer(
        self, edits: Sequence[Edit], nodes: IntArray, change: LaunchChange, progress: Progress
    ) -> WhatIf:
        subject = self.subject
        words = tuple(edit.describe() for edit in edits)
        measured = self._measured(edits, nodes)
        try:
            found = measured or subject.gains.gain(change, progress)
        except CycleError as error:
            raise UsageError(f"{' and '.join(words)}: {error}") from error
        is_saving = all(edit.kind in (EditKind.OFF, EditKind.SCALE) for edit in edits)
        whole = subject.model.whole_ns
        duration = subject.model.duration_ns
        chosen = subject.unrolled.executions_of(nodes)
        total = float(duration.sum())
        assumed = subject.gains.assumed
        return WhatIf(
            edits=words,
            node_count=len(nodes),
            node_share=float(duration[chosen].sum()) / total if total else 0.0,
            launch_ns=whole,
            noise_ns=None if subject.why_no_order else subject.noise_ns,
            changed_ns=whole - found.gain_ns,
            gain_ns=found.gain_ns,
            low_ns=found.low_ns,
            high_ns=found.high_ns,
            gain_fraction=found.gain_ns / whole if whole else 0.0,
            how="estimated" if measured is None else "measured",
            error_fraction=assumed.trial_error,
            trial_count=assumed.trial_count,
            tried_fraction=self._tried_fraction(chosen) if is_saving else None,
            evidence=subject.once(span_evidence),
        )

    def _measured(self, edits: Sequence[Edit], nodes: IntArray) -> GainRange | None:
        """Return what a launch without exactly these nodes was shorter by; None: never tried."""
        trials = self.subject.trials
        if any(edit.kind is not EditKind.OFF for edit in edits):
            return None
        place = places_of(self.subject.graph) if (made := trials.made(OFF_TRIAL)) else {}
        for trial in reversed(made):
            off = {place.get((e.graph_id, e.node_id)) for e in trials.edits[trial.trial_id]}
            if off == set(nodes.tolist()):
                gain_ns = trial.gain_ns or 0.0
                low, high = trial.low_ns, trial.high_ns
                return GainRange(
                    gain_ns, gain_ns if low is None else low, gain_ns if high is None else high
                )
        return None

    def _tried_fraction(self, chosen: BoolArray) -> float | None:
        """Return the part of a saving in some executions that a trial found to count."""
        executions = chosen & ~self.subject.unrolled.is_mark
        for one in self.subject.tried:
            delay_ns = one.change.delay_ns
            if delay_ns is not None and np.array_equal(delay_ns > 0, executions):
                return float(-one.gain_ns / delay_ns.sum())
        return None
