"""Sentences about what was tried of a graph, the largest gain first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gviz.families import kernel_label
from gviz.model import HALF_TRIAL, OFF_TRIAL, TrialSummary, edit_words
from gviz.recording import GraphTrial
from gviz.report.document import Sentence, measured_text, ns, results_text, say, share
from gviz.text import counted

#: A copy takes what another takes, and about what the executable takes, or it is said.
_NOISE, _LIKE_EXECUTABLE = 0.01, 0.05
#: Stands in the refusal of what the budget did not reach.
_BUDGET = "--trial-budget"
#: A graph may have a hundred delays, made or not: so many are named.
_DELAYS, _LATE = 5, 8
#: Kinds in words, of what was not tried.
_KINDS = {
    "any": "all",
    "executable": "a copy",
    "control": "a second copy",
    "implied": "dependencies that others imply",
    "priority": "priorities",
    "order": "another order of creation",
    "serial": "all nodes in one chain",
    "layer": "delays of layers",
    "off": "kernels left out",
    "half": "kernels in half of their time",
}


def trial_sentences(trials: Sequence[TrialSummary]) -> Iterator[Sentence]:
    """Yield what edits of a graph saved, what delays tell, and what was not tried."""
    made = [one for one in trials if one.trial.refusal is None]
    edited = [one for one in made if edit_words(one.trial.kind, one.edited_count)]
    delayed = [one for one in made if one.slope is not None]
    left_out = [one for one in made if one.trial.kind in (OFF_TRIAL, HALF_TRIAL)]
    yield from map(_edited, _by_gain(edited))
    yield from map(_delay, _by_gain(delayed)[:_DELAYS])
    if len(delayed) > _DELAYS:
        more = counted(len(delayed) - _DELAYS, "more delay")
        yield say(f"{more} made less of a difference: they stand in table trial.")
    yield from map(_left_out, _by_gain(left_out))
    for one in made:
        yield from _control(one.trial)
    refused = [one.trial for one in trials if one.trial.refusal is not None]
    late = [trial for trial in refused if _BUDGET in (trial.refusal or "")]
    for why in dict.fromkeys(trial.refusal for trial in refused if trial not in late):
        rest = "Not tried further" if made else "Not tried"
        yield say(f"{rest}: {why}.")
    if late:
        more = f" and {len(late) - _LATE} more" if len(late) > _LATE else ""
        yield say(
            f"Not tried, for its budget was spent: {', '.join(map(_left, late[:_LATE]))}{more}; "
            "'gviz run --trials --trial-budget 10 PROGRAM' goes on."
        )


def _by_gain(trials: Iterable[TrialSummary]) -> list[TrialSummary]:
    return sorted(trials, key=lambda one: -abs(one.trial.gain_ns or 0))


def _edited(one: TrialSummary) -> Sentence:
    trial = one.trial
    what = edit_words(trial.kind, one.edited_count)
    text = measured_text(trial.gain_ns or 0.0, trial.low_ns or 0.0, trial.high_ns or 0.0)
    return say(f"Tried {what}: {text} per launch, {results_text(trial.results)}.")


def _left(trial: GraphTrial) -> str:
    """Return what was not reached, in words."""
    named = (trial.refusal or "").partition(" before ")[2]
    return named or _KINDS.get(trial.kind, trial.kind)


def _label(one: TrialSummary) -> str:
    return kernel_label(one.name or "")


def _delay(one: TrialSummary) -> Sentence:
    lengthened = ns(-(one.trial.gain_ns or 0.0), "measured", n=one.trial.count)
    count = counted(one.edited_count, "node")
    name = _label(one)
    part = f"the layer that begins with {name}" if one.trial.kind == "layer" else name
    return say(
        f"A saving in {part} ({count}) brings ",
        share(one.slope), " of itself: delays of ", ns(one.delay_ns),
        " made the launch longer by ", lengthened, ".",
    )  # fmt: skip


def _left_out(one: TrialSummary) -> Sentence:
    trial = one.trial
    form = "Without {}" if trial.kind == OFF_TRIAL else "With pauses of half the time that {} saved"
    text = measured_text(trial.gain_ns or 0.0, trial.low_ns or 0.0, trial.high_ns or 0.0)
    what = form.format(f"{_label(one)} ({counted(one.edited_count, 'node')})")
    return say(f"{what}: {text} per launch, tried when the program had ended.")


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
