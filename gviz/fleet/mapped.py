"""One recording as rows of a data set's tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.fleet.structures import Structure, key_of, read_fingerprint, read_structure
from gviz.fleet.tables import (
    COLLECTIVES,
    LAUNCHES,
    LAYER_TIMES,
    NODE_TIMES,
    OWN_WORK,
    RANKS,
    RUN_GRAPHS,
    FleetTable,
)
from gviz.model import (
    GpuCondition,
    GraphTree,
    TreeSpans,
    is_failed,
    read_gpu_conditions,
    read_spans,
    read_statistics,
    read_tree,
)
from gviz.recording import LaunchArrays, Measure, rows, weigh
from gviz.stats import distinct_values

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Launches whose collectives are kept, of each graph of a run: clocks and waits need no more.
MOST_LAUNCHES = 32
#: Launches of which the own work is summed, evenly over those with node times.
MOST_TIMED = 128
#: Groups into which the launches of a graph are put: "since when" is known as finely.
MOST_BINS = 32
_MEASURES: tuple[Measure, ...] = ("event", "gpu", "host")
_STATISTICS = ("count", "median_ns", "p5_ns", "p95_ns", "max_ns")


@dataclass(slots=True)
class Rows:
    """Rows of tables that grow: a list of pieces by table, each a dictionary of columns.

    Attributes
    ----------
    structures
        Those that were read, by fingerprint.
    """

    pieces: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    structures: dict[str, Structure] = field(default_factory=dict)

    def add(self, table: FleetTable, columns: Mapping[str, Any]) -> None:
        """Add rows to a table; a column of one value has it in each of them.

        Raises
        ------
        RecordingError
            If a number is greater than its column has room for: no gviz recorded it.
        """
        lengths = [len(v) for v in columns.values() if isinstance(v, np.ndarray | list)]
        count = lengths[0] if lengths else 1
        whole = {
            name: columns[name]
            if isinstance(columns[name], np.ndarray | list)
            else [columns[name]] * count
            if columns[name] is None or isinstance(columns[name], str)
            else np.full(count, columns[name])
            for name in table.columns
        }
        for name, column in table.columns.items():
            if column.type == "int32" and _is_beyond(whole[name]):
                raise RecordingError(
                    f"{table.name}.{name} has a number that cannot be: the recording is damaged; "
                    "record anew"
                )
        self.pieces.setdefault(table.name, []).append(whole)


def _is_beyond(values: Any) -> bool:
    if isinstance(values, list):
        values = np.array([value for value in values if value is not None])
    return bool(((values < -(1 << 31)) | (values >= 1 << 31)).any())


def map_run(
    recording: Recording,
    run: rows.Run,
    first: Mapping[str, Any],
    known: frozenset[str],
    found: Rows,
) -> None:
    """Add the rows of a run.

    Parameters
    ----------
    first
        Columns of table ranks that the recording does not have.
    known
        Fingerprints of structures whose findings are known.
    found
        Where the rows are added.
    """
    keys = {"recording_id": first["recording_id"], "run_id": run.run_id}
    found.add(RANKS, {**keys, **first, **_about(recording, run)})
    launched: list[tuple[int, rows.Graph]] = []
    for graph in recording.fetch_graphs(run.run_id):
        if graph.parent_graph_id is None and not is_failed(graph):
            count, _ = recording.count_launches(graph.graph_id)
            launches = recording.fetch_launch_arrays(graph.graph_id) if count else None
            if launches is not None:
                begun = launches.host_start_ns
                begun = begun[begun >= 0]
                launched.append((int(begun[0]) if len(begun) else 0, graph))
    places = {g.graph_id: at for at, (_, g) in enumerate(sorted(launched, key=_when))}
    nth: Counter[str] = Counter()
    for _, graph in launched:
        tree = read_tree(recording, graph.graph_id, columns=("node_id", "type", "name"))
        fingerprint = read_fingerprint(recording, tree)
        if fingerprint not in found.structures:
            found.structures[fingerprint] = read_structure(
                recording, graph, fingerprint, with_findings=fingerprint not in known
            )
        here = {**keys, "graph_key": key_of(fingerprint), "nth": nth[fingerprint]}
        nth[fingerprint] += 1
        _map_graph(_Mapped(recording, tree, found.structures[fingerprint], here), places, found)


@dataclass(frozen=True, slots=True)
class _Mapped:
    """A graph of a run that is mapped, and the columns by which its rows are known."""

    recording: Recording
    tree: GraphTree
    structure: Structure
    keys: Mapping[str, Any]


def _when(launched: tuple[int, rows.Graph]) -> tuple[int, int]:
    return launched[0], launched[1].graph_id


def _about(recording: Recording, run: rows.Run) -> dict[str, Any]:
    devices = recording.fetch_devices(run.run_id)
    libraries = recording.fetch_libraries(run.run_id)
    states = read_gpu_conditions(recording, run.run_id)
    reasons = dict.fromkeys(reason for one in states for reason in one.slowed_by)
    same = (
        "name", "rank", "host", "process_id", "driver_version", "cupti_version", "gviz_version",
        "command", "git_revision", "collector", "started_ns", "ended_ns",
    )  # fmt: skip
    return {
        **{name: [getattr(run, name)] for name in same},
        "gpus": ", ".join(f"{d.device_id}: {d.name}" for d in devices),
        "gpu_bus_ids": ", ".join(d.pci_bus_id or "" for d in devices),
        "sm_clock_mhz": [min(_sampled(states, "sm_clock_mhz"), default=None)],
        "temperature_celsius": [max(_sampled(states, "temperature_celsius"), default=None)],
        "power_watts": [max(_sampled(states, "power_watts"), default=None)],
        "slowed_by": ", ".join(reasons),
        "libraries": ", ".join(f"{x.name} {x.version}" for x in libraries),
    }


def _sampled(states: Sequence[GpuCondition], name: str) -> list[float]:
    """Return an attribute of those GPUs of which it was sampled."""
    return [value for one in states if (value := getattr(one, name)) is not None]


def _map_graph(mapped: _Mapped, places: Mapping[int, int], found: Rows) -> None:
    recording, graph = mapped.recording, mapped.tree.graph
    count, timed = recording.count_launches(graph.graph_id)
    found.add(
        RUN_GRAPHS,
        {
            **mapped.keys,
            "graph_id": graph.graph_id,
            "name": graph.name,
            "place": places[graph.graph_id],
            "launch_count": count,
            "timed_count": timed,
        },
    )
    _add_launches(mapped, found)
    if timed:
        _add_times(mapped, timed, found)
        _add_timed_launches(mapped, found)


# -- times of nodes and layers -----------------------------------------------------------


def _add_times(mapped: _Mapped, timed: int, found: Rows) -> None:
    statistics = read_statistics(mapped.recording, mapped.tree, _STATISTICS)
    columns = {name: statistics.numbers(name) for name in _STATISTICS}
    node = np.flatnonzero(np.nan_to_num(columns["count"]) > 0)
    if not len(node):
        return
    known = {name: values[node] for name, values in columns.items()}
    found.add(NODE_TIMES, {**mapped.keys, "node": node, **known})
    work = ~mapped.structure.is_collective[node]
    layer = mapped.structure.layer[node[work]]
    total = (known["median_ns"] * known["count"] / timed)[work]
    layers, place = np.unique(layer, return_inverse=True)
    found.add(
        LAYER_TIMES,
        {
            **mapped.keys,
            "layer": layers,
            "node_count": np.bincount(place, minlength=len(layers)),
            "total_ns": np.bincount(place, total, minlength=len(layers)),
        },
    )


# -- launches ----------------------------------------------------------------------------


def _add_launches(mapped: _Mapped, found: Rows) -> None:
    graph_id = mapped.tree.graph.graph_id
    launches = mapped.recording.fetch_launch_arrays(graph_id)
    for measure in _MEASURES:
        for level in (0, 1):
            _add_bins(mapped, launches, measure, level, found)
        bins = mapped.recording.fetch_launch_bins(graph_id, measure)
        medians = [weigh(np.zeros(0, np.int64), [one]).median_ns() for one in bins]
        same = ("node_level", "start_ns", "count", "min_ns", "max_ns")
        if bins:
            found.add(
                LAUNCHES,
                {
                    **mapped.keys,
                    "measure": measure,
                    **{name: [getattr(one, name) for one in bins] for name in same},
                    "median_ns": medians,
                },
            )


def _add_bins(
    mapped: _Mapped, launches: LaunchArrays, measure: Measure, level: int, found: Rows
) -> None:
    values = getattr(launches, f"{measure}_duration_ns")
    # The first launch of a graph uploads it.
    chosen = (values >= 0) & (launches.node_level == level) & (launches.ordinal > 0)
    chosen &= launches.host_start_ns >= 0
    if not chosen.any():
        return
    groups = np.array_split(np.flatnonzero(chosen), min(MOST_BINS, int(chosen.sum())))
    found.add(
        LAUNCHES,
        {
            **mapped.keys,
            "measure": measure,
            "node_level": level,
            "start_ns": launches.host_start_ns[[group[0] for group in groups]],
            "count": np.array([len(group) for group in groups]),
            "min_ns": np.array([float(values[group].min()) for group in groups]),
            "median_ns": np.array([float(np.median(values[group])) for group in groups]),
            "max_ns": np.array([float(values[group].max()) for group in groups]),
        },
    )


# -- launches with node times ------------------------------------------------------------


def _add_timed_launches(mapped: _Mapped, found: Rows) -> None:
    """Add own work and collectives, of which the spans are read together."""
    recording, tree = mapped.recording, mapped.tree
    timed = [
        launch
        for launch in recording.fetch_launches_with_spans(tree.graph.graph_id)
        if launch.node_level
    ]
    spread = {timed[at].launch_id: timed[at] for at in _spread(len(timed), MOST_TIMED)}
    placed = [launch for launch in timed if launch.gpu_start_ns is not None][:MOST_LAUNCHES]
    if not mapped.structure.is_collective.any():
        placed = []
    spans = read_spans(recording, tree, {*spread, *(one.launch_id for one in placed)})
    is_collective = mapped.structure.is_collective[spans.node]
    _add_own_work(mapped, spans.take(~is_collective), list(spread.values()), found)
    _add_collectives(mapped, spans.take(is_collective), placed, found)


def _spread(count: int, most: int) -> list[int]:
    """Return places of at most so many of some launches, evenly among them."""
    places: list[int] = distinct_values(
        np.linspace(0, count - 1, min(count, most)).astype(int)
    ).tolist()
    return places


def _add_own_work(
    mapped: _Mapped, spans: TreeSpans, timed: Sequence[rows.Launch], found: Rows
) -> None:
    ids, place = np.unique(spans.launch_id, return_inverse=True)
    total = np.bincount(place, spans.duration_ns, minlength=len(ids))
    work = dict(zip(ids.tolist(), total.tolist(), strict=True))
    known = [launch for launch in timed if launch.launch_id in work]
    if not known:
        return
    groups = np.array_split(np.arange(len(known)), min(MOST_BINS, len(known)))
    firsts = [known[group[0]] for group in groups]
    found.add(
        OWN_WORK,
        {
            **mapped.keys,
            "ordinal": [launch.ordinal for launch in firsts],
            "start_ns": [launch.host_start_ns for launch in firsts],
            "count": [len(group) for group in groups],
            "median_ns": [
                float(np.median([work[known[at].launch_id] for at in group])) for group in groups
            ],
        },
    )


def _add_collectives(
    mapped: _Mapped, spans: TreeSpans, placed: Sequence[rows.Launch], found: Rows
) -> None:
    ids = np.array([launch.launch_id for launch in placed], np.int64)
    spans = spans.take(np.isin(spans.launch_id, ids))
    if not len(spans):
        return
    order = np.argsort(ids)
    launch = order[np.searchsorted(ids[order], spans.launch_id)]
    begun = np.array([one.gpu_start_ns or 0 for one in placed], np.int64)
    ordinal = np.array([one.ordinal for one in placed], np.int64)
    found.add(
        COLLECTIVES,
        {
            **mapped.keys,
            "node": spans.node,
            "ordinal": ordinal[launch],
            "iteration": spans.iteration,
            "start_ns": spans.start_ns + begun[launch],
            "duration_ns": spans.duration_ns,
        },
    )
