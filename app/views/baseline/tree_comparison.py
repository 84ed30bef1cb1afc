"""A graph and the bodies in it beside those of a baseline, each level compared on first use."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from gviz.app.components import Baseline
from gviz.app.files import OpenRecording
from gviz.app.views.baseline.baseline_overlay import FoldVerdicts, fold_verdicts
from gviz.comparison import ComparedTree, GraphComparison, compare_graphs, pair_bodies
from gviz.layout import FoldTree
from gviz.model import Bodies, LaunchTimes, TimedTree, launch_times
from gviz.recording import Recording, rows

#: Comparing a level reads all spans of both graphs, about 2.3 µs each: bodies are compared while
#: all levels together read no more than this, about 5 s; else the level shown alone.
MOST_SPANS_READ = 2_000_000


class TreeComparison:
    """A baseline compared with the graph shown and its bodies.

    Made for one version of both files; :func:`gviz.app.views.baseline.baseline.compare` makes it
    anew when either changes. Shared by threads.

    Parameters
    ----------
    shown, tree
        The file shown, and its graph.
    other, graph_id
        The baseline.

    Attributes
    ----------
    baseline
        The baseline.
    versioned
        The same with its file as ``key@version``.
    tree
        The graph shown.

    Raises
    ------
    RecordingError
        If there is no such graph, or the edges of one of the two form a cycle.
    """

    def __init__(
        self, shown: OpenRecording, tree: TimedTree, other: OpenRecording, graph_id: int
    ) -> None:
        self.baseline = Baseline(other.key, graph_id)
        self.versioned = Baseline(other.versioned_key, graph_id)
        self.tree = tree
        self._shown, self._other = shown, other
        self._versions = shown.version, other.version
        self._lock = threading.RLock()
        #: By level: the baseline's level, and what became of it; None: not compared.
        self._levels: dict[int, tuple[int, GraphComparison] | None] = {}
        self._folds: dict[tuple[int, str], FoldVerdicts] = {}
        with self._recordings() as (mine, theirs):
            self._levels[0] = graph_id, self._compare_graphs(theirs, graph_id, mine, tree.graph)
            run_id = theirs.fetch_graph(graph_id).run_id
            self._graphs = {g.graph_id: g for g in theirs.fetch_graphs(run_id)}
            self._bodies = Bodies(self._graphs.values())
            self._with_bodies = self._is_cheap(mine, theirs)

    @property
    def top(self) -> GraphComparison:
        """Return the level shown, compared: first the baseline, second the graph of the page."""
        found = self._levels[0]
        assert found is not None
        return found[1]

    @property
    def launch_times(self) -> LaunchTimes:
        """Return the times of the baseline's launches."""
        with self._recordings() as (_, theirs):
            return launch_times(theirs, self._outermost().graph_id)

    def level(self, at: int) -> GraphComparison | None:
        """Return what became of a level of the tree; None: it is not compared."""
        found = self._find(at)
        return None if found is None else found[1]

    def counterpart(self, at: int) -> Baseline | None:
        """Return the baseline of a level of the tree; None: it has none, or is not compared."""
        found = self._find(at)
        return None if found is None else Baseline(self.baseline.file, found[0])

    def fold_verdicts(self, at: int, folding: str, folds: FoldTree) -> FoldVerdicts:
        """Return the verdicts on the folds of a level, by their ids; ``folding`` names the way."""
        found = self.level(at)
        with self._lock:
            key = at, folding
            if key not in self._folds:
                self._folds[key] = fold_verdicts(found, folds)
            return self._folds[key]

    def _find(self, at: int) -> tuple[int, GraphComparison] | None:
        with self._lock:
            if at not in self._levels:
                self._levels[at] = self._compare(at) if self._with_bodies else None
            return self._levels[at]

    def _compare(self, at: int) -> tuple[int, GraphComparison] | None:
        level = self.tree.levels[at]
        if level.parent < 0:
            return None
        outer = self._find(int(self.tree.level[level.parent]))
        if outer is None:
            return None
        for graph_id, _ in pair_bodies(outer[1], self._bodies.of(outer[0]), [level.graph]):
            with self._recordings() as (mine, theirs):
                return graph_id, self._compare_graphs(theirs, graph_id, mine, level.graph)
        return None

    def _compare_graphs(
        self, theirs: Recording, before_id: int, mine: Recording, after: rows.Graph
    ) -> GraphComparison:
        before = ComparedTree(theirs, before_id, self._other.keep)
        shown = ComparedTree(mine, after.graph_id, self._shown.keep)
        return compare_graphs(before, before_id, shown, after.graph_id)

    def _is_cheap(self, mine: Recording, theirs: Recording) -> bool:
        levels = len(self.tree.levels)
        if levels == 1:
            return True
        roots = (mine, self.tree.outermost.graph_id), (theirs, self._outermost().graph_id)
        return levels * sum(_count_spans(*root) for root in roots) <= MOST_SPANS_READ

    def _outermost(self) -> rows.Graph:
        graph = self._graphs[self.baseline.graph_id]
        while graph.parent_graph_id is not None:
            graph = self._graphs[graph.parent_graph_id]
        return graph

    @contextlib.contextmanager
    def _recordings(self) -> Iterator[tuple[Recording, Recording]]:
        """Yield the recording shown and the other, in the versions that are compared."""
        mine, theirs = self._versions
        with self._shown.at(mine) as shown, self._other.at(theirs) as other:
            yield shown.recording, other.recording


def _count_spans(recording: Recording, graph_id: int) -> int:
    key = {"graph_id": graph_id, "node_level": 1}
    found = recording.fetch_columns(rows.Launch, ("side", "span_count"), key, "ordinal")
    return sum(count or 0 for side, count in found if side == "graph")
