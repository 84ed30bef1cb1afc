"""The trials of a graph, in numbers: what each edit saved, or why it was not tried."""

from __future__ import annotations

from gviz.dataclass import dataclass
from gviz.recording import GraphTrial, GraphTrialEdit, Recording
from gviz.text import counted

#: The kind of a refusal of all; of what differs by no edit; of delays of a family, and of a layer.
ANY_TRIAL, CONTROL_TRIAL, DELAY_TRIAL, LAYER_TRIAL = "any", "control", "delay", "layer"
DELAY_TRIALS = (DELAY_TRIAL, LAYER_TRIAL)
#: Kinds of the process's last moment: without a kernel family, and with half of its time.
OFF_TRIAL, HALF_TRIAL = "off", "half"
_NAMED_TRIALS = (*DELAY_TRIALS, OFF_TRIAL, HALF_TRIAL)


@dataclass(frozen=True, slots=True)
class TrialSummary:
    """A trial and its edits.

    ``name`` is the kernel family that is delayed, left out or halved, or the first kernel of a
    layer, and ``edited_count`` its nodes. Of delays ``delay_ns`` is their sum, and ``slope`` the
    part of it by which the launch got longer: what a saving of that size would bring (derived). Of
    other edits ``edited_count`` are what trial_edit has of them.
    """

    trial: GraphTrial
    edited_count: int
    name: str | None
    delay_ns: int | None
    slope: float | None


class GraphTrials:
    """All that was tried of a graph, and what was not.

    Parameters
    ----------
    recording
        Where the rows are.
    graph_id
        The graph.
    """

    def __init__(self, recording: Recording, graph_id: int) -> None:
        self.rows = recording.fetch_trials(graph_id)
        self.edits: dict[int, list[GraphTrialEdit]] = {}
        for edit in recording.fetch_trial_edits(graph_id) if self.rows else ():
            self.edits.setdefault(edit.trial_id, []).append(edit)

    def made(self, *kinds: str) -> list[GraphTrial]:
        """Return the trials of some kinds that were made, in their order."""
        return [r for r in self.rows if r.kind in kinds and not r.refusal and r.gain_ns is not None]

    def last(self, kind: str) -> GraphTrial | None:
        """Return the last trial of a kind; None: none was made."""
        return next(reversed(self.made(kind)), None)

    def refusal(self, kind: str) -> str | None:
        """Return why no trial of a kind was made; None: one was, or none was requested."""
        whys = [row.refusal for row in self.rows if row.kind in (kind, ANY_TRIAL) and row.refusal]
        return whys[-1] if whys and self.last(kind) is None else None

    def delay_ns(self, trial: GraphTrial) -> int:
        """Return the sum of a trial's delays."""
        return sum(edit.value_ns or 0 for edit in self.edits.get(trial.trial_id, ()))

    @property
    def noise_ns(self) -> float:
        """Return what copies that are equal differ by: smaller gains are noise."""
        control = self.last(CONTROL_TRIAL)
        return 0.0 if control is None else abs(control.gain_ns or 0.0)


def edit_words(kind: str, count: int) -> str:
    """Return what the trials of a kind change, of so many changes; empty: nothing, or delays."""
    match kind:
        case "implied":
            return f"without {counted(count, 'dependency', 'dependencies')} that others imply"
        case "priority":
            return f"with the priorities of {counted(count, 'node')}"
        case "order":
            return "with nodes on the longest ways created first"
        case "serial":
            return "with all nodes in one chain"
        case _:
            return ""


def summarize_trials(recording: Recording, graph_id: int) -> tuple[TrialSummary, ...]:
    """Return the trials of a graph, in the order they were made."""
    trials = GraphTrials(recording, graph_id)
    names = recording.fetch_trial_names(graph_id) if trials.edits else {}
    return tuple(_summarize(trials, row, names.get(row.trial_id)) for row in trials.rows)


def _summarize(trials: GraphTrials, trial: GraphTrial, name: str | None) -> TrialSummary:
    count, delay_ns = len(trials.edits.get(trial.trial_id, ())), trials.delay_ns(trial)
    if trial.kind not in _NAMED_TRIALS or not count:
        return TrialSummary(trial, count, None, None, None)
    if trial.kind not in DELAY_TRIALS:
        return TrialSummary(trial, count, name, None, None)
    slope = None if trial.gain_ns is None or not delay_ns else -trial.gain_ns / delay_ns
    return TrialSummary(trial, count, name, delay_ns, slope)
