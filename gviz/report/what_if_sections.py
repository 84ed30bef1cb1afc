"""The document of what-if: what edits would bring, or the parts of a launch by what they would."""

from __future__ import annotations

from collections.abc import Iterator

from gviz.analysis import PartRanking
from gviz.report.analysis import TENTH_OFF, error_text, part_gains
from gviz.report.document import (
    Content,
    Document,
    Sentence,
    Verdict,
    based_document,
    capitalized,
    caveat_text,
    change,
    gain_range,
    give_or_take,
    ns,
    say,
    section,
    share,
)
from gviz.stats import How
from gviz.text import counted
from gviz.whatif import WhatIf, WhatIfReport

#: Parts that the short form has.
_BRIEF = 12


def what_if_document(found: WhatIfReport) -> Document:
    """Return the document of an answer, or of a ranking."""
    where = f"graph {found.graph_id}, {found.title}"
    if found.answer is not None:
        title = f"What if {' and '.join(found.answer.edits)}: {where}"
        document = Document(title, (_answer(found.answer),), ())
        return based_document(document, found.answer.evidence)
    assert found.ranking is not None
    blocks = part_gains(found.ranking, _BRIEF)
    sentences = tuple(block for block in blocks if isinstance(block, Sentence))
    parts = [block for block in blocks if not isinstance(block, Sentence)]
    heading = f"What {TENTH_OFF} would bring"
    verdict = Verdict("", sentences, _caveats(found.ranking))
    listed = (section("part-gains", heading, *parts),) if parts else ()
    document = Document(f"{heading}: {where}", (verdict,), listed)
    return based_document(document, found.ranking.evidence)


def _answer(found: WhatIf) -> Verdict:
    nodes = counted(found.node_count, "node")
    how: How = "measured" if found.how == "measured" else "estimated"
    times: tuple[Content, ...] = (
        "The launch would take ", ns(found.changed_ns, how), " instead of ",
        give_or_take(ns(found.launch_ns), found.noise_ns), ": ", change(-found.gain_ns, how=how),
        " (", share(found.gain_fraction, how), ").",
    )  # fmt: skip
    return Verdict(
        "",
        (
            say(*times),
            say("Gain: ", gain_range(ns(found.gain_ns, how), found.low_ns, found.high_ns), "."),
            *_tried(found),
            say(f"About {nodes}, ", share(found.node_share), " of the time of all nodes."),
            say(error_text(found.error_fraction, found.trial_count), note=True),
        ),
        _caveats(found),
    )


def _tried(found: WhatIf) -> Iterator[Sentence]:
    """Yield what a trial of the same nodes measured."""
    if found.tried_fraction is not None:
        part = share(found.tried_fraction, "measured")
        yield say("Tried by delays: a saving in these nodes brings ", part, " of itself.")


def _caveats(found: WhatIf | PartRanking) -> tuple[str, ...]:
    text = caveat_text(found.evidence)
    return (capitalized(text),) if text else ()
