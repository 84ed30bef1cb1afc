"""Slices to rows: what an edit saves, with its interval, and the values of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gviz.recording import rows
from gviz.spool.folding.graphs import Graphs
from gviz.spool.records import (
    ChangeKind,
    TrialKind,
    TrialRefusedRecord,
    TrialResults,
    ValueExtent,
    ValueFlag,
    ValuesRefusedRecord,
    word_of,
)
from gviz.spool.streams import Contents, MadeReading, MadeTrial
from gviz.stats import median_interval

_Slice = TypeVar("_Slice", bound=MadeTrial | TrialRefusedRecord | MadeReading | ValuesRefusedRecord)

#: Changes that are about two nodes.
_OF_TWO = (ChangeKind.CUT, ChangeKind.JOIN, ChangeKind.MOVE)
#: Changes that have a length.
_TIMED = (ChangeKind.DELAY, ChangeKind.SPIN)


def _levels(graphs: Graphs) -> dict[int | None, int]:
    """Return the graph's id in the recording by CUDA's."""
    return {level.row.cuda_graph_id: level.row.graph_id for level in graphs.levels.values()}


def _known(
    slices: Iterable[_Slice], graphs: Graphs
) -> Iterator[tuple[int, _Slice, rows.GraphExec]]:
    """Yield slices of known executables, numbered from 1, each with its executable."""
    number = 0
    for one in slices:
        record = one.record if isinstance(one, (MadeTrial, MadeReading)) else one
        execution = graphs.execs.get(record.exec_id)
        if execution is not None:
            number += 1
            yield number, one, execution


def fold_trials(
    contents: Contents, graphs: Graphs
) -> Iterator[rows.GraphTrial | rows.GraphTrialEdit]:
    """Yield the rows of tables trial and trial_edit; trials of unknown executables are left out."""
    levels = _levels(graphs)
    for number, trial, execution in _known(contents.trials, graphs):
        if isinstance(trial, TrialRefusedRecord):
            yield rows.GraphTrial(
                trial_id=number,
                run_id=graphs.run_id,
                graph_id=execution.graph_id,
                graph_exec_id=execution.graph_exec_id,
                kind=word_of(TrialKind, trial.kind),
                refusal=trial.why,
            )
        else:
            yield _made(trial, number, execution)
            yield from _edits(trial, number, levels)


def _made(trial: MadeTrial, number: int, execution: rows.GraphExec) -> rows.GraphTrial:
    unedited, edited = (
        trial.pairs[name].astype(np.float64) for name in ("unedited_ns", "edited_ns")
    )
    gains = unedited - edited
    interval = median_interval(gains)
    return rows.GraphTrial(
        trial_id=number,
        run_id=execution.run_id,
        graph_id=execution.graph_id,
        graph_exec_id=execution.graph_exec_id,
        kind=word_of(TrialKind, trial.record.kind),
        count=len(gains),
        unedited_ns=float(np.median(unedited)),
        edited_ns=float(np.median(edited)),
        gain_ns=float(np.median(gains)),
        low_ns=interval.low,
        high_ns=interval.high,
        results=word_of(TrialResults, trial.record.results),
        start_ns=trial.record.begin_ns,
        held_ns=trial.record.held_ns,
        saved_bytes=trial.record.saved_bytes,
    )


def _edits(
    trial: MadeTrial, number: int, levels: dict[int | None, int]
) -> Iterator[rows.GraphTrialEdit]:
    """Yield the edits of levels that are known."""
    position = 0
    for edit in trial.edits:
        graph_id = levels.get(int(edit["graph_id"]))
        if graph_id is None:
            continue
        kind = int(edit["kind"])
        yield rows.GraphTrialEdit(
            trial_id=number,
            position=position,
            kind=word_of(ChangeKind, kind),
            graph_id=graph_id,
            node_id=int(edit["node_id"]),
            to_node_id=int(edit["to_node_id"]) if kind in _OF_TWO else None,
            value_ns=int(edit["value_ns"]) if kind in _TIMED else None,
        )
        position += 1


_SIDES = {"before": ValueFlag.VARIES_BEFORE, "after": ValueFlag.VARIES_AFTER}


def fold_values(contents: Contents, graphs: Graphs) -> Iterator[rows.ValueReading | rows.NodeValue]:
    """Yield the rows of tables value_reading and node_value; unknown executables are left out."""
    levels = _levels(graphs)
    for number, reading, execution in _known(contents.readings, graphs):
        if isinstance(reading, ValuesRefusedRecord):
            yield rows.ValueReading(
                reading_id=number,
                run_id=graphs.run_id,
                graph_id=execution.graph_id,
                graph_exec_id=execution.graph_exec_id,
                refusal=reading.why,
            )
        else:
            yield _made_reading(reading, number, execution)
            yield from _values(reading, number, levels)


def _made_reading(
    reading: MadeReading, number: int, execution: rows.GraphExec
) -> rows.ValueReading:
    record = reading.record
    return rows.ValueReading(
        reading_id=number,
        run_id=execution.run_id,
        graph_id=execution.graph_id,
        graph_exec_id=None if record.by_calls else execution.graph_exec_id,
        results=word_of(TrialResults, record.results),
        repeats=word_of(TrialResults, record.repeats),
        start_ns=record.begin_ns,
        held_ns=record.held_ns,
        saved_bytes=None if record.by_calls else record.saved_bytes,
        probed_bytes=record.probed_bytes,
        plain_ns=None if record.by_calls else record.plain_ns,
        probed_ns=None if record.by_calls else record.probed_ns,
        unexplained_bytes=_unexplained(reading) if record.whole else None,
    )


#: Memory is compared in pieces of so many bytes (collectors/csrc/trial/memory.c).
_PIECE_BYTES = 2 << 20


def _unexplained(reading: MadeReading) -> int:
    """Return the bytes of pieces that a launch wrote to, and in which no node was seen to write."""
    values = reading.values
    written = values[values["hash_before"] != values["hash_after"]]
    starts = written["address"] + written["start"]
    ends = starts + written["bytes"]
    found = 0
    for piece in reading.pieces:
        edges = np.arange(0, int(piece["bytes"]), _PIECE_BYTES, dtype=np.uint64)
        for begin in int(piece["address"]) + edges:
            end = min(int(begin) + _PIECE_BYTES, int(piece["address"]) + int(piece["bytes"]))
            if not np.any((starts < np.uint64(end)) & (ends > begin)):
                found += end - int(begin)
    return found


def _values(
    reading: MadeReading, number: int, levels: dict[int | None, int]
) -> Iterator[rows.NodeValue]:
    """Yield the values of levels that are known."""
    for value in reading.values:
        graph_id = levels.get(int(value["graph_id"]))
        if graph_id is None:
            continue
        changed = value["hash_before"] != value["hash_after"]
        for side in _SIDES if changed else ("before",):
            yield _value(value, number, graph_id, side)


def _value(value: npt.NDArray[Any], number: int, graph_id: int, side: str) -> rows.NodeValue:
    element = int(value["type"])
    finite = int(value[f"finite_{side}"])
    has_any = bool(element and finite)
    return rows.NodeValue(
        reading_id=number,
        graph_id=graph_id,
        node_id=int(value["node_id"]),
        position=int(value["position"]),
        offset=int(value["offset"]),
        start=int(value["start"]),
        side=side,
        place=int(value["place"]),
        address=int(value["address"]),
        bytes=int(value["bytes"]),
        extent=word_of(ValueExtent, int(value["extent"])),
        element=element,
        element_elsewhere=int(bool(value["flags"] & ValueFlag.TYPE_ELSEWHERE)),
        hash=int(value[f"hash_{side}"].astype(np.int64)),
        varies=int(bool(value["flags"] & _SIDES[side])),
        nan_count=int(value[f"nan_{side}"]) if element else None,
        infinite_count=int(value[f"infinite_{side}"]) if element else None,
        zero_count=int(value[f"zero_{side}"]) if element else None,
        finite_count=finite if element else None,
        least=float(value[f"least_{side}"]) if has_any else None,
        greatest=float(value[f"greatest_{side}"]) if has_any else None,
        mean=float(value[f"sum_{side}"]) / finite if has_any else None,
    )
