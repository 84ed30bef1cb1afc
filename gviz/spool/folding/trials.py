"""Trials to rows: medians, and the interval of what an edit saves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gviz.recording import rows
from gviz.spool.folding.graphs import Graphs
from gviz.spool.records import ChangeKind, TrialKind, TrialRefusedRecord, TrialResults, word_of
from gviz.spool.streams import Contents, MadeTrial
from gviz.stats import median_interval

#: Changes that are about two nodes.
_OF_TWO = (ChangeKind.CUT, ChangeKind.JOIN, ChangeKind.MOVE)


def fold_trials(
    contents: Contents, graphs: Graphs
) -> Iterator[rows.GraphTrial | rows.GraphTrialEdit]:
    """Yield the rows of tables trial and trial_edit; trials of unknown executables are left out."""
    levels = {level.row.cuda_graph_id: level.row.graph_id for level in graphs.levels.values()}
    number = 0
    for trial in contents.trials:
        record = trial if isinstance(trial, TrialRefusedRecord) else trial.record
        execution = graphs.execs.get(record.exec_id)
        if execution is None:
            continue
        number += 1
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
            value_ns=int(edit["value_ns"]) if kind == ChangeKind.DELAY else None,
        )
        position += 1
