"""Sentences about what was tried of a graph, the largest gain first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gviz.model import TrialSummary
from gviz.recording import GraphTrial
from gviz.report.document import Sentence, measured_text, ns, results_text, say, share
from gviz.text import counted

#: A copy takes what another takes, and about what the executable takes, or it is said.
_NOISE, _LIKE_EXECUTABLE = 0.01, 0.05


def trial_sentences(trials: Sequence[TrialSummary]) -> Iterator[Sentence]:
    """Yield what edits of a graph saved, what delays tell, and what was not tried."""
    made = [one for one in trials if one.trial.refusal is None]
    for kind, sentence in (("implied", _implied), ("delay", _delay)):
        found = [one for one in made if one.trial.kind == kind]
        yield from map(sentence, sorted(found, key=lambda one: -abs(one.trial.gain_ns or 0)))
    for one in made:
        yield from _control(one.trial)
    for why in dict.fromkeys(one.trial.refusal for one in trials):
        if why is not None:
            rest = "Not tried further" if made else "Not tried"
            yield say(f"{rest}: {why}.")


def _implied(one: TrialSummary) -> Sentence:
    trial = one.trial
    what = counted(one.edited_count, "dependency", "dependencies")
    text = measured_text(trial.gain_ns or 0.0, trial.low_ns or 0.0, trial.high_ns or 0.0)
    return say(
        f"Tried without {what} that others imply: {text} per launch, {results_text(trial.results)}."
    )


def _delay(one: TrialSummary) -> Sentence:
    lengthened = ns(-(one.trial.gain_ns or 0.0), "measured", n=one.trial.count)
    return say(
        f"A saving in {one.name} ({counted(one.edited_count, 'node')}) brings ",
        share(one.slope), " of itself: delays of ", ns(one.delay_ns),
        " made the launch longer by ", lengthened, ".",
    )  # fmt: skip


def _control(trial: GraphTrial) -> Iterator[Sentence]:
    if not trial.unedited_ns or trial.gain_ns is None:
        return
    apart = abs(trial.gain_ns) / trial.unedited_ns
    if trial.kind == "control" and apart > _NOISE:
        yield say("Two copies that are equal take times ", share(apart),
                  " apart: gains below that are noise.")  # fmt: skip
    if trial.kind == "executable" and apart > _LIKE_EXECUTABLE:
        yield say("A copy takes ", share(apart), " longer or shorter than the executable: gains "
                  "are those of a copy.")  # fmt: skip
