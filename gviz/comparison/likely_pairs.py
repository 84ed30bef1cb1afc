"""Pairs of recordings to compare: those with a graph in common, the likeliest first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from gviz.comparison.circumstances import devices_text
from gviz.comparison.diff import pair_recordings
from gviz.comparison.graph_pairs import GraphPair
from gviz.dataclass import dataclass
from gviz.recording import rows
from gviz.system import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Pairs that are looked at: 5 ms each, with the graphs of the bundled recordings.
_MOST_JUDGED = 100
#: Pairs of two recordings' graphs up to which these are looked at, 0.1 s.
_MOST_GRAPHS = 10_000


@dataclass(frozen=True, slots=True)
class LikelyPair:
    """Two recordings with a graph in common.

    Attributes
    ----------
    runs
        The first pair of runs that has such a graph.
    graphs
        The first pair of graphs of these.
    gpus
        The GPUs of both runs.
    """

    runs: tuple[rows.Run, rows.Run]
    graphs: GraphPair
    gpus: tuple[str, str]

    @property
    def programs(self) -> tuple[str, str]:
        """Names of both runs."""
        return self.runs[0].name, self.runs[1].name

    @property
    def differences(self) -> tuple[bool, bool]:
        """True of GPUs that differ, and of programs that do: pairs without are likelier."""
        return self.gpus[0] != self.gpus[1], self.programs[0] != self.programs[1]


def places_to_judge(count: int) -> list[tuple[int, int]]:
    """Return pairs of places among so many recordings, neighbours first."""
    return sorted(combinations(range(count), 2), key=lambda p: p[1] - p[0])[:_MOST_JUDGED]


def likely_pair(first: Recording, second: Recording) -> LikelyPair | None:
    """Return two recordings as a pair; None: no graph corresponds, or to tell takes long.

    Raises
    ------
    RecordingError
        If a file is damaged.
    """
    counts = [
        sum(graph.parent_graph_id is None for graph in recording.fetch_graphs())
        for recording in (first, second)
    ]
    if not 0 < counts[0] * counts[1] <= _MOST_GRAPHS:
        return None
    paired = pair_recordings(first, second)
    for (before, after), graphs in zip(paired.runs, paired.graphs, strict=True):
        if graphs:
            gpus = devices_text(first, before.run_id), devices_text(second, after.run_id)
            return LikelyPair((before, after), graphs[0], gpus)
    return None


def likeliest_pair(
    recordings: Sequence[Recording], progress: Progress = NO_PROGRESS
) -> tuple[Recording, Recording] | None:
    """Return which two of some recordings to compare, the older first; None: no graph corresponds.

    They are of one GPU if any two are, then of one program, then next to each other in time, and
    of such the newest.

    Parameters
    ----------
    recordings
        In any order where all say when they were begun, else the older first.
    progress
        Told which pair is looked at.
    """
    newest = _by_time(recordings)[::-1]
    pairs = [(newest[before], newest[after]) for after, before in places_to_judge(len(newest))]
    judged: dict[tuple[bool, bool], tuple[Recording, Recording]] = {}
    for pair, _ in progress.each(pairs, lambda pair: f"{pair[0].path.name}, {pair[1].path.name}"):
        if found := likely_pair(*pair):
            judged.setdefault(found.differences, pair)
            if not any(found.differences):
                break  # none is likelier
    return judged[min(judged)] if judged else None


def _by_time(recordings: Sequence[Recording]) -> list[Recording]:
    starts = [[run.started_ns for run in recording.fetch_runs()] for recording in recordings]
    known = [[at for at in of_runs if at is not None] for of_runs in starts]
    if not all(known):
        return list(recordings)
    first = [min(of_runs) for of_runs in known]
    return [recordings[at] for at in sorted(range(len(first)), key=first.__getitem__)]
