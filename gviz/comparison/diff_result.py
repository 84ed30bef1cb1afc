"""The result of ``gviz diff``: classes whose fields are the keys of its JSON."""

from __future__ import annotations

from gviz.analysis import NodeRef
from gviz.dataclass import dataclass
from gviz.model import TimeArray
from gviz.stats import BoolArray, Evidence, IntArray, NotComputed, figure

_RATE = (
    "of what has a rate up to this one, about this share did not change (p values adjusted for "
    "their number over all graphs); null: not tested"
)
_SIGNIFICANT = "whether that is more than noise: rate at most 0.05"


@dataclass(frozen=True, slots=True)
class TimeChange:
    """A time before and after."""

    before_ns: float | None = figure("derived", "median over launches; null: not timed")
    after_ns: float | None = figure("derived", "the same after")
    change_ns: float | None = figure("derived", "after less before")
    low_ns: float | None = figure(
        "derived",
        "lower end of the 95% interval of the change, by rank (Hodges and Lehmann); of more than "
        "1,000 launches 1,000 evenly spaced ones; null: not tested",
    )
    high_ns: float | None = figure("derived", "its upper end")
    rate: float | None = figure("derived", _RATE)
    significant: bool = figure("derived", _SIGNIFICANT)
    launches_before: int = figure("measured", "launches compared, before")
    launches_after: int = figure("measured", "and after")
    untested: str | None = figure("stated", "why noise could not be judged; null: it was")
    methods: tuple[str, ...] = figure("stated", "how both sides were measured, each way once")


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs between partners."""

    what: str = figure("stated", "such as kernel, grid, argument 2")
    before: str = figure("measured", "as text")
    after: str = figure("measured", "as text")
    kind: str = figure(
        "derived",
        "value: the graph does something else; address: the same at another place; "
        "unknown: bytes of a class passed by value that may be padding",
    )


@dataclass(frozen=True, slots=True)
class NodePair:
    """A node before and its partner after."""

    before: NodeRef = figure("stated", "the node before")
    after: NodeRef = figure("derived", "its partner")


@dataclass(frozen=True, slots=True)
class NodeChange:
    """Partners that differ."""

    before: NodeRef = figure("stated", "the node before")
    after: NodeRef = figure("derived", "its partner")
    changes: tuple[Change, ...] = figure("derived", "what differs")


@dataclass(frozen=True, slots=True)
class EdgeRef:
    """A dependency."""

    dependency: NodeRef = figure("stated", "the node waited for")
    dependent: NodeRef = figure("stated", "the node that waits")


@dataclass(frozen=True, slots=True)
class NodeTimes:
    """Times of all partners; columns of one length, by the node before.

    Times are of the same kernel. Partners that run another one have the sums of their replacement
    (``LevelDiff.replaced``), and null where another pair of it has them.
    """

    before_node_id: IntArray = figure("stated", "the node before")
    after_node_id: IntArray = figure("derived", "its partner")
    name: tuple[str, ...] = figure("stated", "the name shown; of a replaced kernel what by what")
    before_ns: TimeArray = figure("derived", "median duration before; null: not timed")
    after_ns: TimeArray = figure("derived", "median duration after")
    rate: TimeArray = figure("derived", _RATE)
    significant: BoolArray = figure("derived", _SIGNIFICANT)


@dataclass(frozen=True, slots=True)
class GroupTime:
    """The summed time of several nodes: of a kernel name, or of an NVTX range."""

    name: str = figure("stated", "the name shown, or the path of the range")
    nodes_before: int = figure("measured", "nodes before")
    nodes_after: int = figure("measured", "and after")
    time: TimeChange = figure("derived", "of their sum")


@dataclass(frozen=True, slots=True)
class LevelDiff:
    """A graph, or a body in it, before and after."""

    before_graph_id: int = figure("stated", "graph or body before")
    after_graph_id: int = figure("derived", "and after")
    node_count_before: int = figure("measured", "nodes of this level before")
    node_count_after: int = figure("measured", "and after")
    pair_count: int = figure("derived", "nodes with a partner")
    common_fraction: float = figure(
        "derived", "share of all nodes whose partner has the same kind and name, 0 to 1"
    )
    removed: tuple[NodeRef, ...] = figure("derived", "nodes without a partner after")
    added: tuple[NodeRef, ...] = figure("derived", "nodes without a partner before")
    changed: tuple[NodeChange, ...] = figure(
        "derived", "partners with another value of a parameter"
    )
    only_addresses: tuple[NodeChange, ...] = figure(
        "derived", "partners that differ in addresses or possible padding, and in nothing else"
    )
    moved: tuple[NodePair, ...] = figure(
        "derived", "partners in another lane: behind a node in one graph, beside it in the other"
    )
    edges_known: bool = figure("stated", "whether edges are known on both sides")
    edge_kept_count: int = figure("derived", "dependencies that both have")
    edges_retyped: tuple[EdgeRef, ...] = figure(
        "derived", "of these, the ones that are programmatic on one side only (nodes before)"
    )
    edges_removed: tuple[EdgeRef, ...] = figure("derived", "dependencies that are gone")
    edges_added: tuple[EdgeRef, ...] = figure("derived", "dependencies that came")
    node_times: NodeTimes = figure("derived", "how the time of each node changed")
    untested: str | None = figure("stated", "why noise of node times could not be judged")
    ranges: tuple[GroupTime, ...] = figure(
        "derived", "by NVTX range, those inside it included: ranges overlap where they nest"
    )
    names: tuple[GroupTime, ...] = figure(
        "derived", "by the name shown, mostly the kernel's; nodes in ``replaced`` left out"
    )
    replaced: tuple[GroupTime, ...] = figure(
        "derived",
        "kernels that another took the place of, each with the nodes around it that have no "
        "partner: what by what, such as four kernels by the one that they were fused into",
    )


@dataclass(frozen=True, slots=True)
class LoneBody:
    """A body of one side only: a child graph, or a branch of a conditional node."""

    graph_id: int = figure("stated", "the body")
    holder: NodeRef | None = figure("stated", "its parent node; none: not recorded")
    branch: int | None = figure("stated", "which of a conditional node's bodies; none of others")
    nodes: tuple[NodeRef, ...] = figure("stated", "its nodes, none of which has a partner")


@dataclass(frozen=True, slots=True)
class WaterfallPart:
    """A part of a step."""

    name: str = figure("stated", "the name shown of the nodes it is about")
    change_ns: float = figure("derived", "what it adds to the launch")
    node_count: int = figure("derived", "executions on either path")


@dataclass(frozen=True, slots=True)
class WaterfallStep:
    """A cause of the change of a launch's time."""

    cause: str = figure("stated", "which; docs/comparing.md has them")
    change_ns: float = figure("derived", "what it adds to the launch")
    node_count: int = figure("derived", "executions on either path that it is about; 0 of gaps")
    parts: tuple[WaterfallPart, ...] = figure("derived", "by name, the largest first; none of gaps")


@dataclass(frozen=True, slots=True)
class RangeStep:
    """Part of one NVTX range in the change."""

    name: str = figure("stated", "path of the range; empty: nodes outside of ranges")
    before_ns: float = figure("derived", "its nodes on the path and the gaps before them, before")
    after_ns: float = figure("derived", "and after")
    change_ns: float = figure("derived", "after less before")


@dataclass(frozen=True, slots=True)
class Waterfall:
    """From the launch time before to that after; the steps add up exactly."""

    before_ns: float = figure("measured", "median launch before")
    after_ns: float = figure("measured", "median launch after")
    steps: tuple[WaterfallStep, ...] = figure("derived", "by cause, in a fixed order")
    ranges: tuple[RangeStep, ...] = figure(
        "derived",
        "the same by NVTX range, disjoint, at the outermost depth at which there are several; "
        "with the change outside of the median launch's nodes it adds up as well",
    )
    outside_ns: float = figure(
        "derived",
        "the part outside of the median launch's nodes: launch time less the time from first to "
        "last node, after less before",
    )


@dataclass(frozen=True, slots=True)
class RepeatedChange:
    """Kernels that another took the place of, in each of the places where that happened."""

    name: str = figure("derived", "what by what")
    only_kernels: bool = figure("measured", "whether all nodes of it are kernels")
    nodes_before: int = figure("measured", "nodes of one such place before")
    nodes_after: int = figure("measured", "and after")
    place_count: int = figure("derived", "places")
    each_ns: float | None = figure(
        "derived", "change of the time of one place, on average; null: not timed on both sides"
    )
    layer_kind: str | None = figure("derived", "what layers are called; null: there are none")
    layer_count: int | None = figure("derived", "layers before that have such a place")
    layers_before: int | None = figure("derived", "layers before")


@dataclass(frozen=True, slots=True)
class GraphDiff:
    """A graph before and after."""

    before_graph_id: int = figure("stated", "graph before")
    after_graph_id: int = figure("derived", "graph after")
    before_name: str = figure(
        "stated", "its name before, with what tells it from others of that name"
    )
    after_name: str = figure("stated", "and after")
    how: str = figure(
        "derived",
        "why they are taken for the same: shape (equal node types, kernels, edges), name (and work "
        "in common), work (most of it in common), or asked (given by --graph)",
    )
    likeness_fraction: float = figure("derived", "share of their work in common, 0 to 1")
    launch: TimeChange = figure("derived", "a launch on the GPU, from the least disturbed launches")
    host: TimeChange = figure("derived", "the launch call on the host")
    first_to_last: TimeChange | NotComputed = figure(
        "derived", "from the first node's start to the last node's end, launches with node times"
    )
    critical_path: TimeChange | NotComputed = figure(
        "derived", "the structural critical path of launches with node times"
    )
    waterfall: Waterfall | NotComputed = figure("derived", "where the change of the launch lies")
    repeated: RepeatedChange | None = figure(
        "derived",
        "the replacement of a kernel that changed the time most; null: no kernel was replaced",
    )
    levels: tuple[LevelDiff, ...] = figure(
        "derived", "the graph itself, then the bodies that partners hold"
    )
    bodies_removed: tuple[LoneBody, ...] = figure(
        "derived", "bodies without a counterpart after, at any depth"
    )
    bodies_added: tuple[LoneBody, ...] = figure(
        "derived", "bodies without a counterpart before, at any depth"
    )
    before_evidence: Evidence | None = figure(
        "stated", "what the time of a launch before rests on; null: none was timed"
    )
    after_evidence: Evidence | None = figure("stated", "and after")
    contradicted: tuple[str, ...] = figure(
        "stated",
        "sides whose node times contradict dependencies: times may stand on wrong nodes",
    )


@dataclass(frozen=True, slots=True)
class GraphRef:
    """A graph of one side only."""

    graph_id: int = figure("stated", "the graph")
    name: str = figure("stated", "its name")


@dataclass(frozen=True, slots=True)
class RunRef:
    """A run of one side."""

    path: str = figure("stated", "the file")
    run_id: int = figure("stated", "the run in it")
    name: str = figure("stated", "its name")
    started_ns: int | None = figure("measured", "when it was recorded, since 1970")
    git_revision: str | None = figure("measured", "commit of the program's working directory")
    git_dirty: bool | None = figure("measured", "whether it had changes that were not committed")


@dataclass(frozen=True, slots=True)
class Circumstance:
    """Something besides the program that differs between two runs."""

    what: str = figure("stated", "such as GPU, CUDA driver, torch")
    before: str = figure("measured", "before; empty: not known, or not there")
    after: str = figure("measured", "after")


@dataclass(frozen=True, slots=True)
class RunDiff:
    """Two runs compared."""

    before: RunRef = figure("stated", "the run before")
    after: RunRef = figure("stated", "the run after")
    circumstances: tuple[Circumstance, ...] = figure(
        "derived", "what differs besides the program, and may explain a change"
    )
    graphs: tuple[GraphDiff, ...] = figure("derived", "graphs that both have")
    removed: tuple[GraphRef, ...] = figure("derived", "graphs without a counterpart after")
    added: tuple[GraphRef, ...] = figure("derived", "graphs without a counterpart before")


@dataclass(frozen=True, slots=True)
class Diff:
    """Two recordings compared."""

    diff_version: int = figure("stated", "version of these keys")
    runs: tuple[RunDiff, ...] = figure(
        "derived", "runs paired by rank where all have one, else in order"
    )
    unpaired: tuple[RunRef, ...] = figure("derived", "runs that the other recording has none for")
