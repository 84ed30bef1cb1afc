"""A report as Markdown, for the summary of a CI job or a comment on a change."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gviz.checks.check_result import FAILED, PASSED, SKIPPED, UNJUDGED, Check, CheckReport
from gviz.checks.words import describe, in_unit, place

#: The word says it all; the sign is found faster.
_SIGNS = {PASSED: "✅ passed", FAILED: "❌ failed", UNJUDGED: "⚠️ unjudged", SKIPPED: "➖ skipped"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+|~&@!-])")
#: Longer texts make tables that nobody reads.
_MOST_CHARACTERS = 200


def to_markdown(report: CheckReport) -> str:
    """Return a report as Markdown: a verdict, what failed in sentences, and a table of all."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: CheckReport) -> Iterator[str]:
    bad = report.failures()
    verdict = _SIGNS[PASSED] if report.passed else _SIGNS[FAILED]
    yield f"### gviz check: {verdict}"
    yield ""
    against = "" if report.baseline is None else f" against {_plain(report.baseline)}"
    yield f"{_plain(report.path)}{against}: {len(bad)} of {len(report.checks)} checks failed."
    if bad:
        yield ""
        for check in bad:
            yield f"- **{_plain(check.what)}** of {_plain(place(check))}: {_plain(describe(check))}"
    if report.checks:
        yield ""
        yield "| | graph | check | value | at most | baseline |"
        yield "| --- | --- | --- | ---: | ---: | ---: |"
        yield from map(_row, report.checks)


def _row(check: Check) -> str:
    values = (in_unit(v, check.unit) for v in (check.value, check.limit, check.baseline))
    cells = (_SIGNS[check.status], _plain(place(check)), _plain(check.what), *values)
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Return text on one line, in which nothing is Markdown, HTML or a mention."""
    line = " ".join(text.split())
    if len(line) > _MOST_CHARACTERS:
        line = f"{line[: _MOST_CHARACTERS - 1]}…"
    return _SPECIAL.sub(r"\\\1", line)
