"""The document of what-if: what edits would bring, or the parts of a launch by what they would."""

from __future__ import annotations

from gviz.report.document import (
    Bar,
    Content,
    Document,
    Drawing,
    Section,
    Sentence,
    Verdict,
    capitalized,
    caveat_text,
    change,
    column,
    gain_text,
    ns,
    number,
    numbers,
    say,
    section,
    share,
    table,
)
from gviz.stats import fields_of
from gviz.text import counted, percent
from gviz.whatif import PartGain, PartRanking, WhatIf, WhatIfReport

#: Parts that the short form has.
_BRIEF = 12
#: Parts that are drawn.
_CHARTED = 12
_UNTRIED = (
    "Nothing has been tried on this graph: the model's error here is not known, and its range is "
    "wide."
)
_TENTH = "10% off"


def what_if_document(found: WhatIfReport) -> Document:
    """Return the document of an answer, or of a ranking."""
    where = f"graph {found.graph_id}, {found.title}"
    if found.answer is not None:
        title = f"What if {' and '.join(found.answer.edits)}: {where}"
        return Document(title, (_answer(found.answer),), ())
    assert found.ranking is not None
    verdict = Verdict("", _ranking_sentences(found.ranking), _caveats(found.ranking))
    return Document(f"What {_TENTH} would bring: {where}", (verdict,), (ranking(found.ranking),))


def _answer(found: WhatIf) -> Verdict:
    """Return the answer to edits."""
    nodes = counted(found.node_count, "node")
    times: tuple[Content, ...] = (
        "The launch would take ", ns(found.changed_ns, "estimated"), " instead of ",
        ns(found.launch_ns), ": ", change(-found.gain_ns, how="estimated"),
        f" ({percent(found.gain_fraction)}).",
    )  # fmt: skip
    return Verdict(
        "",
        (
            say(*times),
            say(f"Gain: {gain_text(found.how, found.low_ns, found.high_ns)}."),
            say(f"About {nodes}, ", share(found.node_share), " of the time of all nodes."),
            say(_error_text(found.error_fraction, found.trial_count), note=True),
        ),
        _caveats(found),
    )


def _ranking_sentences(found: PartRanking) -> tuple[Sentence, ...]:
    first = say(f"{gain_sentence(found.parts[0])}.") if found.parts else say("No part has a time.")
    return (first, say(_error_text(found.error_fraction, found.trial_count), note=True))


def gain_sentence(part: PartGain) -> str:
    """Return what a tenth off a part brings, and its share of time, in words."""
    gain = percent(part.gain_fraction)
    return f"{_TENTH} {part.name} brings {gain} of the launch (share of time {percent(part.share)})"


def ranking(found: PartRanking) -> Section:
    """Return the parts of a launch, share of time beside gain."""
    columns = [
        column("Part"), column("Kind"), numbers("Nodes"),
        numbers("Share", _meaning("share")),
        numbers(f"{_TENTH} brings", "Of the launch"), numbers("Gain"), column("Range"),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [
            part.name, part.kind, number(part.node_count), share(part.share),
            share(part.gain_fraction, "estimated"), ns(part.gain_ns, "estimated"),
            gain_text(part.how, part.low_ns, part.high_ns),
        ]
        for part in found.parts
    ]  # fmt: skip
    heading = f"What {_TENTH} would bring"
    bars = tuple(
        Bar(part.name, quantity, kind)
        for part in found.parts[:_CHARTED]
        for kind, quantity in (
            ("share", share(part.share)),
            ("gain", share(part.gain_fraction, "estimated")),
        )
    )
    return section(
        "what-if",
        heading,
        Drawing("what-if", bars),
        table("Families and layers", columns, rows, brief=_BRIEF),
    )


def _meaning(name: str) -> str:
    """Return what a field of a part is."""
    (found,) = (doc for field, _, doc in fields_of(PartGain) if field == name)
    return capitalized(found)


def _error_text(error: float | None, trials: int) -> str:
    if error is None:
        return _UNTRIED
    return f"On {counted(trials, 'trial')} of this graph the model was off by {percent(error)}."


def _caveats(found: WhatIf | PartRanking) -> tuple[str, ...]:
    text = caveat_text(found.evidence)
    return (capitalized(text),) if text else ()
