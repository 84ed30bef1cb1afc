"""Trials as their records come in: times as arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gviz.spool.records import (
    RecordType,
    TrialRecord,
    TrialRefusedRecord,
    check_sizes,
    check_time,
    table,
)


class MadeTrial(NamedTuple):
    """A trial that was made: its record, its edits (dtype TRIAL_EDIT), its pairs (TRIAL_PAIR)."""

    record: TrialRecord
    edits: npt.NDArray[Any]
    pairs: npt.NDArray[Any]


class TrialContents(Protocol):
    """The part of a spool's contents that these records fill."""

    trials: list[MadeTrial | TrialRefusedRecord]


def _trial(c: TrialContents, p: bytes) -> None:
    record = table.TRIAL.unpack(p)
    edits = np.frombuffer(p, table.TRIAL_EDIT.dtype, record.edits, table.TRIAL.size)
    end = table.TRIAL.size + edits.nbytes
    pairs = np.frombuffer(p, table.TRIAL_PAIR.dtype, record.pairs, end)
    if not len(pairs):
        raise ValueError("a trial without launches")
    check_time(record.begin_ns, record.held_ns)
    check_sizes(record.saved_bytes)
    check_time(*(int(pairs[name].max()) for name in ("unedited_ns", "edited_ns")))
    if len(edits):
        check_time(int(edits["value_ns"].max()))
    c.trials.append(MadeTrial(record._replace(tail=b""), edits, pairs))


def _refused(c: TrialContents, p: bytes) -> None:
    c.trials.append(table.TRIAL_REFUSED.unpack(p))


TRIAL_TAKERS: dict[int, Callable[[TrialContents, bytes], None]] = {
    RecordType.TRIAL: _trial,
    RecordType.TRIAL_REFUSED: _refused,
}
