"""The trials of a graph, in numbers: what each edit saved, or why it was not tried."""

from __future__ import annotations

from dataclasses import dataclass

from gviz.recording import GraphTrial, Recording


@dataclass(frozen=True, slots=True)
class TrialSummary:
    """A trial and its edits.

    Of delays ``name`` is the kernel family, ``edited_count`` its nodes, and ``delay_ns`` the sum of
    their delays; ``slope`` is the part of it by which the launch got longer: what a saving of that
    size would bring (derived). Of other edits ``edited_count`` are dependencies.
    """

    trial: GraphTrial
    edited_count: int
    name: str | None
    delay_ns: int | None
    slope: float | None


def summarize_trials(recording: Recording, graph_id: int) -> tuple[TrialSummary, ...]:
    """Return the trials of a graph, in the order they were made."""
    return tuple(_summarize(recording, trial) for trial in recording.fetch_trials(graph_id))


def _summarize(recording: Recording, trial: GraphTrial) -> TrialSummary:
    edits = recording.fetch_trial_edits(trial.trial_id)
    if trial.kind != "delay" or not edits:
        return TrialSummary(trial, len(edits), None, None, None)
    delay_ns = sum(edit.value_ns or 0 for edit in edits)
    name = recording.fetch_node(edits[0].graph_id, edits[0].node_id).name
    slope = None if trial.gain_ns is None or not delay_ns else -trial.gain_ns / delay_ns
    return TrialSummary(trial, len(edits), name, delay_ns, slope)
