from __future__ import annotations

from gviz.spool.folding.run.periods import FoldedPeriods, fold_periods
from gviz.spool.records.enums import PeriodReason
from gviz.spool.records.run_records import PeriodRecord
from gviz.spool.streams.contents import Contents


def folded(*records: tuple[float, bool, str, str], ended_s: float | None) -> FoldedPeriods:
    """Fold records of (seconds, begins, reason, profiler)."""
    contents = Contents()
    for seconds, begins, reason, profiler in records:
        contents.periods.append(
            PeriodRecord(int(seconds * 1e9), int(begins), PeriodReason[reason.upper()], profiler)
        )
    if ended_s is not None:
        contents.counters.append(("ended_ns", ended_s * 1e9, "ns", "measured"))
    return fold_periods(contents, 1)


def test_spool_without_periods_says_nothing() -> None:
    assert folded(ended_s=9) == FoldedPeriods((), ())


def test_whole_run_needs_no_note() -> None:
    found = folded((1, True, "attached", ""), (5, False, "end", ""), ended_s=6)
    (period,) = found.rows
    assert (period.start_ns, period.end_ns) == (1_000_000_000, 5_000_000_000)
    assert found.notes == ()


def test_waiting_and_left_time_are_distinguished() -> None:
    found = folded(
        (1, False, "attached", ""),
        (3, True, "delay", ""),
        (4, False, "duration", ""),
        (8, True, "signal", ""),
        (10, False, "left", "jax.profiler"),
        (11, True, "returned", ""),
        (12, False, "call", ""),
        (13, False, "left", "torch.profiler"),
        ended_s=20,
    )
    assert [(p.period_id, p.start_reason, p.end_reason, p.left_to) for p in found.rows] == [
        (0, "delay", "duration", None),
        (1, "signal", "left", "jax.profiler"),
        (2, "returned", "call", None),
    ]
    waiting, left = (text for _, text in found.notes)
    assert waiting.startswith("recorded in 3 periods of 4.00 s in all; in the other 7.00 s")
    assert left.startswith("for 8.00 s CUPTI was left to jax.profiler, torch.profiler")


def test_recording_that_never_began_says_so() -> None:
    found = folded((1, False, "attached", ""), ended_s=20)
    assert found.rows == ()
    assert [text.partition(":")[0] for _, text in found.notes] == ["recording never began"]


def test_killed_process_leaves_its_period_open() -> None:
    found = folded((1, True, "attached", ""), ended_s=None)
    assert [(p.end_ns, p.end_reason) for p in found.rows] == [(None, None)]
    assert found.notes == ()


def test_records_of_two_threads_are_put_in_order() -> None:
    found = folded(
        (1, True, "attached", ""),
        (3, True, "signal", ""),
        (2, False, "launches", ""),
        (4, False, "end", ""),
        ended_s=4,
    )
    assert [(p.start_reason, p.end_reason) for p in found.rows] == [
        ("attached", "launches"),
        ("signal", "end"),
    ]
