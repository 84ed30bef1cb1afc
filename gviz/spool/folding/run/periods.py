"""Periods: when gviz recorded, as the user requested, and when it did not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.spool.records import PeriodReason, PeriodRecord, word_of
from gviz.spool.streams import Contents
from gviz.text import duration

Note = tuple[str, str]

#: Time without a recording below this is the change itself, and not worth a word.
_SHORTEST_NS = 1_000_000


@dataclass(frozen=True, slots=True)
class FoldedPeriods:
    """Rows of table period, and what a reader must know of the time between them."""

    rows: tuple[rows.Period, ...]
    notes: tuple[Note, ...]


def fold_periods(contents: Contents, run_id: int) -> FoldedPeriods:
    """Return the periods of a spool. A spool of an older gviz has none."""
    found: list[rows.Period] = []
    records = sorted(contents.periods, key=lambda record: record.time_ns)
    for record in records:
        reason = _reason(record)
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
    ended = [int(value) for name, value, _, _ in contents.counters if name == "ended_ns"]
    return FoldedPeriods(tuple(found), tuple(_notes(records, ended[-1] if ended else None)))


def _reason(record: PeriodRecord) -> str:
    return word_of(PeriodReason, record.reason)


def _notes(records: Sequence[PeriodRecord], ended_ns: int | None) -> Iterator[Note]:
    """Yield what was not recorded, and why, given the records in order of time."""
    recorded, waiting, left = _lengths(records, ended_ns)
    count = sum(record.begins for record in records)
    if records and not count:
        yield (
            "limit",
            "recording never began: neither did a delay pass nor came start() or the signal; "
            "graphs are known, launches are not",
        )
    elif waiting >= _SHORTEST_NS:
        yield (
            "limit",
            f"recorded in {count} period{'' if count == 1 else 's'} of {duration(recorded)} in "
            f"all; in the other {duration(waiting)} launches were neither timed nor counted, "
            "and the graphs made then are known",
        )
    if left >= _SHORTEST_NS:
        profilers = ", ".join(dict.fromkeys(r.profiler for r in records if r.profiler))
        yield (
            "limit",
            f"for {duration(left)} CUPTI was left to {profilers}: of launches and graphs made "
            "then nothing was seen through it",
        )


def _lengths(records: Sequence[PeriodRecord], ended_ns: int | None) -> tuple[int, int, int]:
    """Return the nanoseconds recorded, not recorded, and left to another profiler.

    What follows the last record of a process that was killed is not counted.
    """
    lengths = {"recorded": 0, "waiting": 0, "left": 0}
    times = [record.time_ns for record in records[1:]]
    times += [ended_ns] if ended_ns is not None else []
    for record, until in zip(records, times, strict=False):
        reason = _reason(record)
        if record.begins:
            kind = "recorded"
        elif reason == "end":
            continue
        else:
            kind = "left" if reason == "left" else "waiting"
        lengths[kind] += until - record.time_ns
    return lengths["recorded"], lengths["waiting"], lengths["left"]
