"""The document of a check: whether it passed, what failed, and all that was checked."""

from __future__ import annotations

from gviz.checks import FAILED, PASSED, SKIPPED, UNJUDGED, Check, CheckReport, describe, place
from gviz.report.document import (
    Content,
    Document,
    Quantity,
    Section,
    Sentence,
    Verdict,
    column,
    numbers,
    say,
    section,
    table,
)
from gviz.text import counted

#: The word says it all; the sign is found faster. One column wide, so that tables stay straight.
_SIGNS = {PASSED: "✔ passed", FAILED: "✘ failed", UNJUDGED: "? unjudged", SKIPPED: "– skipped"}
#: Limits and values need more than three digits where they nearly meet.
_DIGITS = 4


def check_document(report: CheckReport) -> Document:
    """Return the document of a check."""
    bad = report.failures()
    state = _SIGNS[PASSED] if report.passed else _SIGNS[FAILED]
    against = "" if report.baseline is None else f" against {report.baseline}"
    of = f"{len(bad):,} of {counted(len(report.checks), 'check')} failed"
    verdict = [say(f"{report.path}{against}: {of}.")]
    if bad:
        verdict.append(_sentence(bad[0]))
    # Of what passed, only that a regression was not beyond noise is worth a line.
    others = [
        check
        for check in report.checks
        if check not in bad
        and (check.status != PASSED or (check.reason and check.baseline is not None))
    ]
    parts = (
        _listed("failed", "What else failed", bad[1:]),
        _listed("others", "What did not", others),
        _table(report),
    )
    sections = tuple(part for part in parts if part is not None)
    return Document(f"gviz check: {state}", (Verdict("", tuple(verdict)),), sections)


def _sentence(check: Check) -> Sentence:
    return say(f"{check.what} of {place(check)}: {check.status}: {describe(check)}.")


def _listed(key: str, heading: str, checks: tuple[Check, ...] | list[Check]) -> Section | None:
    return section(key, heading, *map(_sentence, checks)) if checks else None


def _table(report: CheckReport) -> Section | None:
    if not report.checks:
        return None
    columns = [
        column("Status"), column("Graph"), column("Check"), numbers("Value"), numbers("At most"),
        numbers("Baseline"),
    ]  # fmt: skip
    rows: list[list[Content]] = [
        [_SIGNS[check.status], place(check), check.what, _quantity(check.value, check.unit),
         _quantity(check.limit, check.unit), _quantity(check.baseline, check.unit)]
        for check in report.checks
    ]  # fmt: skip
    heading = "All that was checked"
    return section("checks", heading, table(heading, columns, rows))


def _quantity(value: float | None, unit: str) -> Quantity:
    return Quantity(value, unit or "number", digits=_DIGITS)
