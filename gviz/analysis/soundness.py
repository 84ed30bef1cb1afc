"""Contradictions in a recording: clocks that step back, records that are missing.

Times that contradict themselves are taken as not known, so that nothing is computed from them,
and what was taken so is listed.
"""

from __future__ import annotations

import numpy as np

from gviz.analysis.evidence import expected_nodes, timed_nodes
from gviz.analysis.sound_times import steps_back
from gviz.analysis.subject import GraphSubject
from gviz.cuda import TIMED_TYPES, EdgeType
from gviz.recording import DAMAGE
from gviz.text import counted

#: Nodes that are named.
_NAMED = 3


def caveats_of(subject: GraphSubject) -> tuple[str, ...]:
    """Return what of a graph's records contradicts itself or is missing, in sentences."""
    found = [
        *_damage(subject),
        *_contradictions(subject),
        *_clock_caveats(subject),
        *_record_caveats(subject),
        *_not_copied(subject),
    ]
    programmatic = int((subject.edges.type == EdgeType.PROGRAMMATIC).sum())
    if programmatic:
        found.append(
            f"{programmatic:,} of {len(subject.edges):,} edges are programmatic: when "
            "they trigger is not recorded, and the structural path takes that to be at once"
        )
    return tuple(found)


def _not_copied(subject: GraphSubject) -> list[str]:
    """Return which nodes CUPTI would have timed and event copies do not, by their reason."""
    if not subject.is_timed_by_copy:
        return []
    reasons = subject.graph.nodes.texts("not_timed_reason")
    codes = reasons.codes[np.isin(subject.graph.types, list(TIMED_TYPES)) & (reasons.codes >= 0)]
    return [
        f"{count:,} of {len(subject.graph):,} nodes have no time: {reasons.values[code]}; "
        "--collector cupti times them"
        for code, count in enumerate(np.bincount(codes).tolist())
        if count
    ]


def _damage(subject: GraphSubject) -> list[str]:
    """Return what of the file could not be read."""
    notes = subject.recording.fetch_notes(subject.row.run_id)
    return [note.text for note in notes if note.kind == DAMAGE]


def _contradictions(subject: GraphSubject) -> list[str]:
    """Return what times of nodes contradict, and what is therefore not computed or left out."""
    if subject.why_contradicted:
        return [
            f"{subject.why_contradicted}; critical path, gaps and what rests on them are not "
            "computed"
        ]
    found = []
    left_out = subject.contradicted_launches
    if len(left_out):
        launches = counted(len(left_out), "launch", "launches")
        found.append(f"left out: {launches} in which {left_out.describe()}")
    kept = subject.contradicted
    if kept.contradiction_count:
        found.append(f"{kept.describe()}: gaps and the critical path may be wrong by as much")
    return found


def _clock_caveats(subject: GraphSubject) -> list[str]:
    found = []
    launches = subject.launches
    early = launches.early_count
    for count, what in (
        (launches.backward_calls, "the call returns before it was entered"),
        (launches.backward_spans, "the last node ends before the first one starts"),
        (len(subject.backward_launches), "a node ends before it starts"),
    ):
        if count:
            found.append(
                f"in {count:,} of {len(launches):,} launches {what}: the clock stepped back; these "
                "times are not used"
            )
    if early:
        found.append(
            f"in {early:,} of {len(launches):,} launches the first node starts before the call was "
            "entered: the clocks of host and GPU differ, or one stepped back; times from a call "
            "to its first node are wrong by at least that"
        )
    execs = subject.execs
    made = sum(
        steps_back(x.instantiate_start_ns, x.instantiate_end_ns)
        or steps_back(x.upload_start_ns, x.upload_end_ns)
        for x in execs
    )
    if made or steps_back(subject.row.capture_start_ns, subject.row.capture_end_ns):
        found.append(
            "a capture, instantiation or upload ends before it begins: the clock stepped back; "
            "its time is not used"
        )
    return found


def _record_caveats(subject: GraphSubject) -> list[str]:
    launches, graph = subject.timed_launches, subject.graph
    found = []
    exchangeable = graph.nodes.exchangeable_count()
    if exchangeable:
        found.append(
            f"{exchangeable:,} of {len(graph):,} nodes are exchangeable: all dependencies hold "
            "whichever of their times is whose, so what is said of one may be true of another"
        )
    stray = max((x.spans.stray_count for x in launches), default=0)
    if stray:
        found.append(
            f"node times of nodes that the graph lacks: up to {stray:,} a launch, left out"
        )
    expected, is_timed = subject.once(expected_nodes), subject.once(timed_nodes)
    lacking = int((~is_timed.all(axis=1)).sum())
    if lacking:
        never = np.flatnonzero(~is_timed.any(axis=0))
        names = ", ".join(
            f"{graph.nodes[n].node_id} {graph.nodes[n].name}"
            for n in expected[never[:_NAMED]].tolist()
        )
        more = ", ..." if len(never) > _NAMED else ""
        text = f"{lacking:,} of {len(launches):,} launches lack times of nodes"
        found.append(f"{text}, in all of them {names}{more}" if names else text)
    return found
