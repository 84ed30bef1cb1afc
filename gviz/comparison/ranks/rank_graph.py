"""A graph that several ranks have: its launches on each, side by side, and which node is which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gviz.comparison.compared_tree import ComparedTree
from gviz.comparison.graph_pairs import pair_graphs, read_graph_traits
from gviz.comparison.ranks.executions import Executions, NodeSpans, align_executions
from gviz.comparison.ranks.level_pairs import LevelPairs, pair_levels
from gviz.comparison.ranks.recorded import RecordedSide, read_node_spans, read_side
from gviz.dataclass import dataclass
from gviz.families import family_of
from gviz.model import Bodies, graph_titles
from gviz.recording import Recording, rows
from gviz.stats import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class RankSide:
    """The graph on one rank.

    Attributes
    ----------
    rank
        Its place among the ranks.
    graph_id
        The graph there.
    how
        Why it is taken for that of the first rank: shape, name, work; "first".
    """

    rank: int
    graph_id: int
    how: str


@dataclass(frozen=True, slots=True)
class RankLevel:
    """The graph itself, or a body in it, over ranks.

    Attributes
    ----------
    pairs
        Which body and which node of a side is which; nodes are those of the first.
    executions
        What was measured of them. Of the graph itself one a launch, in which a node that holds
        bodies has the sum of what ran inside it.
    is_collective
        bool, one a node: kernels of collectives.
    """

    pairs: LevelPairs
    executions: Executions
    is_collective: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RankGraph:
    """A graph over ranks. Axes are (side, launch); NaN: not measured.

    Attributes
    ----------
    name
        On the first of the ranks.
    sides
        By rank.
    ordinal
        The launches with node times on every side, by number (int64, ascending).
    launch_id
        int64 (side, launch).
    start_ns, launch_ns
        float64 (side, launch): start after the recording's first run, on each machine's own
        clock; first node's start to last node's end.
    levels
        The graph itself, then the bodies in it.
    """

    name: str
    sides: tuple[RankSide, ...]
    ordinal: IntArray
    launch_id: IntArray
    start_ns: FloatArray
    launch_ns: FloatArray
    levels: tuple[RankLevel, ...]


def read_rank_graphs(recording: Recording, ranks: Sequence[rows.Run]) -> list[RankGraph]:
    """Return the graphs of the first rank that others have too, perhaps without a common launch.

    Raises
    ------
    RecordingError
        If edges form a cycle, or the recording is damaged.
    """
    origin = min((run.started_ns for run in ranks if run.started_ns is not None), default=0)
    bodies = Bodies(g for run in ranks for g in recording.fetch_graphs(run.run_id))
    return [
        _rank_graph(recording, name, [RankSide(*side) for side in sides], bodies, origin)
        for name, sides in _same_graphs(recording, ranks)
    ]


_Sides = list[tuple[int, int, str]]


def _same_graphs(recording: Recording, ranks: Sequence[rows.Run]) -> list[tuple[str, _Sides]]:
    """Return the graphs of the first rank with those of the others that are the same."""
    graphs = [read_graph_traits(recording, run.run_id) for run in ranks]
    titles = graph_titles(recording, recording.fetch_graphs(ranks[0].run_id))
    found: dict[int, tuple[str, _Sides]] = {
        graph.graph_id: (titles[graph.graph_id], [(0, graph.graph_id, "first")])
        for graph in graphs[0]
    }
    for number, other in enumerate(graphs[1:], start=1):
        for pair in pair_graphs(graphs[0], other):
            found[pair.first][1].append((number, pair.second, pair.how))
    return [graph for graph in found.values() if len(graph[1]) > 1]


def _rank_graph(
    recording: Recording, name: str, sides: Sequence[RankSide], bodies: Bodies, origin: int
) -> RankGraph:
    recorded = [read_side(ComparedTree(recording, side.graph_id)) for side in sides]
    common = recorded[0].ordinal
    for other in recorded[1:]:
        common = np.intersect1d(common, other.ordinal)
    levels: list[RankLevel] = []
    for pairs in pair_levels([side.tree for side in recorded], bodies):
        spans = [read_node_spans(side, pairs, at, common) for at, side in enumerate(recorded)]
        if pairs.around < 0:
            executions = _once_a_launch(pairs, recorded, spans, common)
        else:
            has = np.stack([partner >= 0 for partner in pairs.partners])
            around = levels[pairs.around].executions.uneven
            executions = align_executions(spans, has, around)
        collective = np.array([family_of(title).is_collective for title in pairs.first.title], bool)
        levels.append(RankLevel(pairs, executions, collective))
    launches = [[side.launches[i] for i in _places(side, common)] for side in recorded]
    starts = [[x.gpu_start_ns for x in side] for side in launches]
    lengths = [[_after(x.gpu_end_ns, x.gpu_start_ns) for x in side] for side in launches]
    return RankGraph(
        name=name,
        sides=tuple(sides),
        ordinal=common,
        launch_id=np.array([[x.launch_id for x in side] for side in launches], np.int64),
        start_ns=_floats([[_after(start, origin) for start in side] for side in starts]),
        launch_ns=_floats(lengths),
        levels=tuple(levels),
    )


def _places(side: RecordedSide, common: IntArray) -> list[int]:
    found: list[int] = np.searchsorted(side.ordinal, common).tolist()
    return found


def _once_a_launch(
    pairs: LevelPairs,
    recorded: Sequence[RecordedSide],
    spans: Sequence[NodeSpans],
    common: IntArray,
) -> Executions:
    """Return the times of the graph's own nodes, which run once a launch."""
    shape = (len(recorded), len(common), len(pairs.first))
    durations, starts = np.full(shape, np.nan), np.full(shape, np.nan)
    for at, (side, found) in enumerate(zip(recorded, spans, strict=True)):
        partner = pairs.partners[at]
        mine = np.flatnonzero(partner >= 0)
        durations[at][:, mine] = side.durations[_places(side, common)][:, partner[mine]]
        first = found.iteration == 0  # a copy between two GPUs is reported twice
        starts[at][found.launch[first], found.node[first]] = found.start_ns[first]
    return Executions(
        launch=np.arange(len(common)),
        iteration=np.zeros(len(common), np.int64),
        durations=durations,
        starts=starts,
        iterations=np.ones(shape[:2], np.int64),
        uneven=np.zeros(len(common), bool),
    )


def _after(value: int | None, origin: int | None) -> int | None:
    return None if value is None or origin is None else value - origin


def _floats(values: Sequence[Sequence[int | None]]) -> FloatArray:
    return np.array([[np.nan if v is None else v for v in row] for row in values], np.float64)
