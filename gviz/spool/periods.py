"""Periods: when gviz recorded, as the user asked for, and when it did not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gviz.recording import rows
from gviz.spool.contents import Contents
from gviz.spool.format import PERIOD_REASONS

Note = tuple[str, str]


@dataclass(frozen=True, slots=True)
class FoldedPeriods:
    """Rows of table period, and what a reader must know of the time between them."""

    rows: tuple[rows.Period, ...]
    notes: tuple[Note, ...]


def fold_periods(contents: Contents, run_id: int) -> FoldedPeriods:
    """Return the periods of a spool. A spool of an older gviz has none."""
    found: list[rows.Period] = []
    for record in sorted(contents.periods, key=lambda record: record.time_ns):
        reason = PERIOD_REASONS.get(record.reason, f"reason {record.reason}")
        if record.begins:
            found.append(
                rows.Period(
                    run_id=run_id,
                    period_id=len(found),
                    start_ns=record.time_ns,
                    start_reason=reason,
                )
            )
        elif found and found[-1].end_ns is None:
            found[-1] = replace(
                found[-1],
                end_ns=record.time_ns,
                end_reason=reason,
                left_to=record.profiler or None,
            )
    return FoldedPeriods(tuple(found), tuple(_notes(found, contents)))


def _notes(periods: Sequence[rows.Period], contents: Contents) -> list[Note]:
    times = {name: int(value) for name, value, _, _ in reversed(contents.counters)}
    attached, ended = times.get("attached_ns"), times.get("ended_ns")
    if attached is None or not (periods or ended):
        return []
    if not periods and (contents.launch_stream.rows or contents.windows):
        return []  # a spool of a gviz that had no periods
    if not periods:
        return [("limit", "recording never began: neither the delay passed nor start() or the "
                          "signal came; graphs are known, launches are not")]  # fmt: skip
    ends = [p.end_ns for p in periods]
    asleep = _gaps(periods, attached, ended, left=False)
    notes: list[Note] = []
    if asleep:
        recorded = sum(e - p.start_ns for p, e in zip(periods, ends, strict=True) if e is not None)
        times_text = "1 period" if len(periods) == 1 else f"{len(periods)} periods"
        notes.append(
            ("limit", f"recorded in {times_text} of {recorded / 1e9:.3f} s in all; in the other "
                      f"{asleep / 1e9:.3f} s launches were neither timed nor counted, and the "
                      "graphs made then are known")
        )  # fmt: skip
    blind = _gaps(periods, attached, ended, left=True)
    if blind:
        profilers = ", ".join(dict.fromkeys(p.left_to for p in periods if p.left_to))
        notes.append(
            ("limit", f"for {blind / 1e9:.3f} s CUPTI was left to {profilers}: of launches and "
                      "graphs made then nothing was seen through it")
        )  # fmt: skip
    return notes


def _gaps(periods: Sequence[rows.Period], attached: int, ended: int | None, *, left: bool) -> int:
    """Return the nanoseconds outside periods: those in which CUPTI was left, or the others."""
    total = 0 if left else periods[0].start_ns - attached
    if periods[0].start_reason == "attached":
        total = 0
    starts = [p.start_ns for p in periods[1:]] + ([ended] if ended is not None else [])
    for period, start in zip(periods, starts, strict=False):
        if period.end_ns is not None and (period.end_reason == "left") == left:
            total += start - period.end_ns if period.end_reason != "end" else 0
    return total
