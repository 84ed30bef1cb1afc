"""Kernel families and layers by what 10% off would bring, beside their share of time."""

from __future__ import annotations

from dataclasses import replace

from gviz.analysis import PartGain, PartRanking
from gviz.report.document import (
    AlikeLink,
    Bar,
    Block,
    Content,
    Drawing,
    Quantity,
    Sentence,
    capitalized,
    column,
    gain_ends,
    ns,
    number,
    numbers,
    say,
    share,
    table,
)
from gviz.stats import How, Interval, fields_of
from gviz.text import counted, percent

#: Parts that the short form of a report has, a sentence being enough, and that are drawn.
_BRIEF, _CHARTED = 0, 12
TENTH_OFF = "10% off"
_UNTRIED = (
    "Nothing has been tried on this graph: the model's error here is not known, and its range is "
    "wide."
)


def part_gains(found: PartRanking, brief: int = _BRIEF) -> list[Block]:
    """Return the parts of a launch, share of time beside gain.

    Parameters
    ----------
    brief
        Parts that the short form has.
    """
    if not found.parts:
        return [say("No part has a time.")]
    columns = [
        column("Part"), column("Kind"), numbers("Nodes"), numbers("Share", _meaning("share")),
        numbers(f"{TENTH_OFF} brings", "Of the launch"), numbers("Gain"), numbers("Range"),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            AlikeLink("layer" if part.kind == "layer" else "family", part.name), part.kind,
            number(part.node_count), share(part.share), share(part.gain_fraction, _how(part)),
            ns(part.gain_ns, _how(part)),
            _range(part),
        ]
        for part in found.parts
    ]  # fmt: skip
    return [
        _first(found.parts[0]),
        say(error_text(found.error_fraction, found.trial_count), note=True, detail=not brief),
        Drawing("part_gains", tuple(bar for part in found.parts[:_CHARTED] for bar in _bars(part))),
        table("Families and layers", columns, rows, brief=brief),
    ]


def _range(part: PartGain) -> Quantity:
    """Return the range of a gain; the column beside it says how both came about."""
    gain = ns(part.gain_ns, _how(part), interval=Interval(part.low_ns, part.high_ns))
    return replace(gain, wording=gain_ends(part.low_ns, part.high_ns))


def _first(part: PartGain) -> Sentence:
    """Return the sentence of a part as one number: its table says how each came about."""
    gain = share(part.gain_fraction, _how(part))
    return say(replace(gain, wording=gain_sentence(part)), ".")


def gain_sentence(part: PartGain) -> str:
    """Return what a tenth off a part brings, and its share of time, in words."""
    gain, time = percent(part.gain_fraction), percent(part.share)
    return f"{TENTH_OFF} {part.name} brings {gain} of the launch (share of time {time})"


def error_text(error: float | None, trials: int) -> str:
    """Return how far the model was off on trials, in a sentence."""
    if error is None:
        return _UNTRIED
    return f"On {counted(trials, 'trial')} of this graph the model was off by {percent(error)}."


def _bars(part: PartGain) -> tuple[Bar, Bar]:
    time = Bar(part.name, share(part.share), "share")
    return time, Bar(part.name, share(part.gain_fraction, _how(part)), "gain")


def _how(part: PartGain) -> How:
    return "measured" if part.how == "measured" else "estimated"


def _meaning(name: str) -> str:
    (found,) = (doc for field, _, doc in fields_of(PartGain) if field == name)
    return capitalized(found)
