"""A graph that several ranks have: its launches on each, side by side, and which node is which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gviz.comparison.compared_graph import ComparedGraph, read_graph
from gviz.comparison.durations import read_durations
from gviz.comparison.graph_pairs import pair_graphs, read_graph_works
from gviz.comparison.node_pairs import pair_nodes
from gviz.ranks.skew import FloatArray, IntArray, is_collective
from gviz.recording import rows
from gviz.recording.reader import Recording


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
    graph
        Its nodes and edges.
    """

    rank: int
    graph_id: int
    how: str
    graph: ComparedGraph


@dataclass(frozen=True, slots=True)
class RankGraph:
    """A graph over ranks. Axes are (side, launch, node); NaN: not measured.

    Attributes
    ----------
    name
        On the first of the ranks.
    sides
        By rank; nodes are those of the first.
    partners
        Of each side the index of every node of the first there (int64, -1: none).
    ordinal
        The launches with node times on every side, by number (int64, ascending).
    launch_id
        int64 (side, launch).
    start_ns, launch_ns
        float64 (side, launch): start after the recording's first run, on each machine's own
        clock; first node's start to last node's end.
    durations, starts
        float64 (side, launch, node): ns; starts after the launch's.
    """

    name: str
    sides: tuple[RankSide, ...]
    partners: tuple[IntArray, ...]
    ordinal: IntArray
    launch_id: IntArray
    start_ns: FloatArray
    launch_ns: FloatArray
    durations: FloatArray
    starts: FloatArray

    @property
    def is_collective(self) -> npt.NDArray[np.bool_]:
        """Which nodes are kernels of NCCL."""
        return np.array([is_collective(title) for title in self.sides[0].graph.title], bool)


@dataclass(frozen=True, slots=True)
class _Times:
    """What the launches of a side took, in order of their number."""

    ordinal: IntArray
    launch_id: IntArray
    start_ns: FloatArray
    launch_ns: FloatArray
    durations: FloatArray  # (launch, node)
    starts: FloatArray  # (launch, node)


def read_rank_graphs(recording: Recording, ranks: Sequence[rows.Run]) -> list[RankGraph]:
    """Return the graphs of the first rank that others have too, perhaps without a common launch.

    Raises
    ------
    RecordingError
        If edges form a cycle, or the recording is damaged.
    """
    origin = min((run.started_ns for run in ranks if run.started_ns is not None), default=0)
    return [
        _rank_graph(recording, name, sides, origin)
        for name, sides in _same_graphs(recording, ranks)
    ]


_Sides = list[tuple[int, int, str]]


def _same_graphs(recording: Recording, ranks: Sequence[rows.Run]) -> list[tuple[str, _Sides]]:
    """Return the graphs of the first rank with those of the others that are the same."""
    works = [read_graph_works(recording, run.run_id) for run in ranks]
    found: dict[int, tuple[str, _Sides]] = {
        work.graph_id: (work.name, [(0, work.graph_id, "first")]) for work in works[0]
    }
    for number, other in enumerate(works[1:], start=1):
        for pair in pair_graphs(works[0], other):
            found[pair.first][1].append((number, pair.second, pair.how))
    return [graph for graph in found.values() if len(graph[1]) > 1]


def _rank_graph(recording: Recording, name: str, found: _Sides, origin: int) -> RankGraph:
    sides = [RankSide(rank, g, how, read_graph(recording, g)) for rank, g, how in found]
    times = [_read_times(recording, side, origin) for side in sides]
    common = times[0].ordinal
    for other in times[1:]:
        common = np.intersect1d(common, other.ordinal)
    chosen = [np.searchsorted(t.ordinal, common) for t in times]
    graph = sides[0].graph
    partners = [np.arange(len(graph)), *(pair_nodes(graph, side.graph) for side in sides[1:])]
    shape = (len(sides), len(common), len(graph))
    durations, starts = np.full(shape, np.nan), np.full(shape, np.nan)
    for i, (time, at, partner) in enumerate(zip(times, chosen, partners, strict=True)):
        mine = np.flatnonzero(partner >= 0)
        durations[i][:, mine] = time.durations[at][:, partner[mine]]
        starts[i][:, mine] = time.starts[at][:, partner[mine]]
    of = list(zip(times, chosen, strict=True))
    return RankGraph(
        name=name,
        sides=tuple(sides),
        partners=tuple(partners),
        ordinal=common,
        launch_id=np.stack([t.launch_id[at] for t, at in of]),
        start_ns=np.stack([t.start_ns[at] for t, at in of]),
        launch_ns=np.stack([t.launch_ns[at] for t, at in of]),
        durations=durations,
        starts=starts,
    )


def _read_times(recording: Recording, side: RankSide, origin: int) -> _Times:
    graph_id = side.graph_id
    spans = recording.fetch_graph_spans(graph_id)
    ids = np.unique(spans.launch_id)
    launches = {x.launch_id: x for x in recording.fetch_launches(graph_id)}
    found = [launches[i] for i in ids.tolist()]
    places = {
        node.exec_node_id: place
        for place, node in enumerate(recording.fetch_nodes(graph_id))
        if node.exec_node_id is not None
    }
    starts = np.full((len(ids), len(side.graph)), np.nan)
    place = np.array([places.get(n, -1) for n in spans.node_id.tolist()], np.int64)
    first = (place >= 0) & (spans.iteration == 0)
    starts[np.searchsorted(ids, spans.launch_id[first]), place[first]] = spans.start_ns[first]
    return _Times(
        ordinal=np.array([x.ordinal for x in found], np.int64),
        launch_id=ids.astype(np.int64),
        start_ns=_floats(
            [None if x.gpu_start_ns is None else x.gpu_start_ns - origin for x in found]
        ),
        launch_ns=_floats([_length(x) for x in found]),
        durations=read_durations(recording, graph_id).launches,
        starts=starts,
    )


def _length(launch: rows.Launch) -> int | None:
    if launch.gpu_start_ns is None or launch.gpu_end_ns is None:
        return None
    return launch.gpu_end_ns - launch.gpu_start_ns


def _floats(values: Sequence[int | None]) -> FloatArray:
    return np.array([np.nan if v is None else v for v in values], np.float64)
