"""Records of trials to rows."""

from __future__ import annotations

import numpy as np
import pytest
from spool_writing import FoldRecords, graph_records

from gviz.cuda.node_type import NodeType
from gviz.spool.records import table
from gviz.spool.records.enums import ChangeKind, TrialKind, TrialResults
from gviz.spool.records.format import RecordType

GRAPH, EXEC = 5, 9
A_PIECE, HALF = 0x7F0000000000, 2 << 20
CHAIN = graph_records(GRAPH, EXEC, [NodeType.KERNEL] * 3, [(0, 1), (1, 2), (0, 2)])
Record = tuple[int, bytes]


def trial(
    pairs: list[tuple[int, int]], *edits: tuple[int, int, int, int, int], exec_id: int = EXEC,
    kind: int = TrialKind.IMPLIED,
) -> Record:  # fmt: skip
    tail = b"".join(table.TRIAL_EDIT.pack(*edit) for edit in edits)
    tail += b"".join(table.TRIAL_PAIR.pack(*pair) for pair in pairs)
    return RecordType.TRIAL, table.TRIAL.pack(
        GRAPH, exec_id, kind, TrialResults.EQUAL, len(edits), len(pairs), 1_000, 20, 4096, tail
    )


def refused(why: str, exec_id: int = EXEC) -> Record:
    return RecordType.TRIAL_REFUSED, table.TRIAL_REFUSED.pack(GRAPH, exec_id, TrialKind.ANY, 0, why)


def test_trial_becomes_medians_and_the_interval_of_its_gain(fold_records: FoldRecords) -> None:
    pairs = [(100, 60), (110, 69), (105, 66), (104, 64), (300, 258)]
    cut = (ChangeKind.CUT, GRAPH, 0, 2, 0)
    recording = fold_records([*CHAIN, trial(pairs, cut)])
    (row,) = recording.fetch_trials(1)
    assert (row.kind, row.count, row.results, row.refusal) == ("implied", 5, "equal", None)
    assert (row.unedited_ns, row.edited_ns, row.gain_ns) == (105, 66, 40)
    assert row.low_ns is not None
    assert row.high_ns is not None
    assert 39 <= row.low_ns <= 40 <= row.high_ns <= 42
    assert (row.start_ns, row.held_ns, row.saved_bytes) == (1_000, 20, 4096)
    (edit,) = recording.fetch_trial_edits(1)
    assert (edit.kind, edit.graph_id, edit.node_id, edit.to_node_id) == ("cut", 1, 0, 2)
    assert edit.value_ns is None


def test_delay_has_its_length_and_no_second_node(fold_records: FoldRecords) -> None:
    delays = [(ChangeKind.DELAY, GRAPH, node, 0, 1500) for node in (1, 2)]
    recording = fold_records([*CHAIN, trial([(10, 13)], *delays, kind=TrialKind.DELAY)])
    (row,) = recording.fetch_trials(1)
    assert (row.kind, row.gain_ns, row.low_ns) == ("delay", -3, None)
    found = recording.fetch_trial_edits(1)
    assert [(e.kind, e.node_id, e.to_node_id, e.value_ns) for e in found] == [
        ("delay", 1, None, 1500),
        ("delay", 2, None, 1500),
    ]


def test_refusal_is_a_sentence_and_has_no_times(fold_records: FoldRecords) -> None:
    recording = fold_records([*CHAIN, refused("it holds a collective")])
    (row,) = recording.fetch_trials(1)
    assert (row.kind, row.count, row.refusal) == ("any", 0, "it holds a collective")
    assert (row.gain_ns, row.results) == (None, "not tested")


def test_trials_of_executables_that_are_not_known_are_left_out(fold_records: FoldRecords) -> None:
    records = [trial([(1, 1)], exec_id=77), refused("why", exec_id=77), refused("it waits")]
    (row,) = fold_records([*CHAIN, *records]).fetch_trials(1)
    assert (row.trial_id, row.refusal) == (1, "it waits")


@pytest.mark.parametrize("pairs", [[], [(2**63, 1)]])
def test_damaged_trial_is_left_out_and_counted(
    fold_records: FoldRecords, pairs: list[tuple[int, int]]
) -> None:
    recording = fold_records([*CHAIN, trial(pairs)])
    assert recording.fetch_trials(1) == []
    assert any("trial" in note.text for note in recording.fetch_notes(1))


def values(written: int, start: int) -> Record:
    """Return a reading of one node that wrote a byte, and of a piece of memory that changed."""
    value = np.zeros(1, table.PROBED_VALUE.dtype)
    for name, number in (("graph_id", GRAPH), ("address", A_PIECE), ("start", start), ("bytes", 1),
                         ("hash_before", 1), ("hash_after", 2)):  # fmt: skip
        value[name] = number
    fields: dict[str, object] = dict.fromkeys((field.name for field in table.VALUES.fields), 0)
    fields |= {"graph_id": GRAPH, "exec_id": EXEC, "values": 1, "pieces": 1, "whole": 1}
    fields |= {"results": TrialResults.EQUAL, "repeats": TrialResults.EQUAL}
    tail = value.tobytes() + table.WRITTEN_PIECE.pack(A_PIECE, written)
    return RecordType.VALUES, table.VALUES.pack(**fields, tail=tail)


@pytest.mark.parametrize(
    ("start", "unexplained"),
    [(0, HALF), (HALF - 1, HALF), (HALF, HALF), (2 * HALF, 2 * HALF)],
    ids=["first half", "its end", "second half", "behind it"],
)
def test_memory_in_which_no_node_wrote_is_counted_in_parts_of_2_mib(
    fold_records: FoldRecords, start: int, unexplained: int
) -> None:
    recording = fold_records([*CHAIN, values(2 * HALF, start)])
    (reading,) = recording.fetch_value_readings(1)
    assert reading.unexplained_bytes == unexplained
