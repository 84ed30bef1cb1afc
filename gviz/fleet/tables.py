"""The tables of a data set: their columns, types and meaning. Nothing else says what is in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gviz.dataclass import dataclass
from gviz.fleet.extra import load

#: Raised when a column goes away or changes its meaning; new tables and columns do not raise it.
FLEET_VERSION = 1


@dataclass(frozen=True, slots=True)
class FleetColumn:
    """A column: Arrow's name of its type, and its meaning."""

    type: str
    meaning: str


@dataclass(frozen=True, slots=True)
class FleetTable:
    """A table.

    Attributes
    ----------
    name
        Of the folder that holds its files, and of the view in queries.
    meaning
        What a row is.
    columns
        By name, in order.
    of_structures
        Whether its rows are those of a structure, written once, or of recordings.
    """

    name: str
    meaning: str
    columns: Mapping[str, FleetColumn]
    of_structures: bool = False

    def arrow_schema(self) -> Any:
        """Return its pyarrow.Schema."""
        arrow = load("pyarrow")
        return arrow.schema(
            [(name, arrow.type_for_alias(column.type)) for name, column in self.columns.items()]
        )


def _columns(**found: tuple[str, str]) -> dict[str, FleetColumn]:
    return {name: FleetColumn(*column) for name, column in found.items()}


_RUN = {
    "recording_id": FleetColumn("int32", "the recording, as the manifest numbers it"),
    "run_id": FleetColumn("int32", "the run in that recording"),
}
_STRUCTURE = {"graph_key": FleetColumn("int64", "the structure, as in graphs")}
_RUN_GRAPH = {
    **_RUN,
    **_STRUCTURE,
    "nth": FleetColumn("int32", "which of the run's graphs of this structure, from 0"),
}
_NODE = {"node": FleetColumn("int32", "the node, as in nodes")}

RANKS = FleetTable(
    "ranks",
    "a recorded run: a process of a job",
    _RUN
    | _columns(
        build=("int32", "the build that added it, from 1"),
        url=("string", "its recording, as it was given"),
        name=("string", "the run's name"),
        rank=("int32", "of a distributed job; null: not recorded"),
        host=("string", "its machine"),
        process_id=("int64", "the operating system's process id"),
        gpus=("string", "its GPUs: number and name, by number"),
        gpu_bus_ids=("string", "their PCI addresses"),
        sm_clock_mhz=(
            "float32",
            "clock of its GPU while busy, the median; of several the lowest; null: not sampled",
        ),
        temperature_celsius=("float32", "the highest of its GPUs"),
        power_watts=("float32", "mean while busy; of several the most"),
        slowed_by=("string", "why a clock was lowered; empty: no reason was seen"),
        driver_version=("string", "CUDA version of the driver"),
        cupti_version=("string", "CUPTI API version number"),
        gviz_version=("string", "version of gviz that recorded"),
        libraries=("string", "libraries in the process, with versions"),
        command=("string", "the command line"),
        git_revision=("string", "commit of the repository that it ran in"),
        collector=("string", "what measured"),
        started_ns=("int64", "when recording started, on its machine's clock"),
        ended_ns=("int64", "when recording ended; null: the process was killed"),
    ),
)
GRAPHS = FleetTable(
    "graphs",
    "a structure: graphs with equal node types, kernels and edges, in bodies too",
    _STRUCTURE
    | _columns(
        fingerprint=(
            "string",
            "SHA-256 (hex); of a graph without bodies topology.hash of its recording",
        ),
        name=("string", "name of the first graph of it that was read"),
        node_count=("int32", "nodes, those in bodies counted"),
        edge_count=("int32", "dependencies, those in bodies counted"),
        collective_count=("int32", "nodes that are kernels of collectives"),
        layer_count=("int32", "layers of the model that it runs; 0: none are known"),
    ),
    of_structures=True,
)
NODES = FleetTable(
    "nodes",
    "a node of a structure",
    _STRUCTURE
    | _NODE
    | _columns(
        name=("string", "its name"),
        type=("int32", "CUgraphNodeType"),
        family=("string", "what its kernel does"),
        layer=("int32", "place of its layer of the model, from 0; -1: it is in none"),
        layer_name=("string", "name of that layer; empty: it is in none"),
        body=("string", "the bodies that it is in; empty: the graph itself"),
        is_collective=("bool", "whether it is a kernel of a collective"),
    ),
    of_structures=True,
)
EDGES = FleetTable(
    "edges",
    "a dependency of a structure",
    _STRUCTURE
    | _columns(
        source=("int32", "the node waited for"),
        target=("int32", "the node that waits"),
        type=("int32", "CUgraphDependencyType; -1: inferred from stream order"),
    ),
    of_structures=True,
)
FINDINGS = FleetTable(
    "findings",
    "a finding about a structure, as gviz analyze has it, in the first recording that was read",
    _STRUCTURE
    | _columns(
        rule=("string", "id of the rule"),
        reason=("string", "what it is, in one sentence"),
        fix=("string", "what to change"),
        node_count=("int32", "nodes that it is about"),
        gain_ns=("float64", "estimated: what mending it gives back"),
        gain_bound=("string", "about, at most or at least"),
        gain_per=("string", "launch, or run: once"),
    ),
    of_structures=True,
)
RUN_GRAPHS = FleetTable(
    "run_graphs",
    "a graph that a run launched",
    _RUN_GRAPH
    | _columns(
        graph_id=("int32", "the graph in its recording"),
        name=("string", "its name there"),
        place=("int32", "its place among the run's graphs by their first launches, from 0"),
        launch_count=("int64", "launches"),
        timed_count=("int64", "launches with node times"),
    ),
)
NODE_TIMES = FleetTable(
    "node_times",
    "the durations of a node in a run, over its recorded launches",
    _RUN_GRAPH
    | _NODE
    | _columns(
        count=("int32", "executions with a time"),
        median_ns=("float32", "median duration"),
        p5_ns=("float32", "5th percentile"),
        p95_ns=("float32", "95th percentile"),
        max_ns=("float32", "longest"),
    ),
)
LAYER_TIMES = FleetTable(
    "layer_times",
    "what the nodes of a layer take in a launch of a run: sums of medians, collectives left out",
    _RUN_GRAPH
    | _columns(
        layer=("int32", "as in nodes"),
        node_count=("int32", "nodes with a time"),
        total_ns=("float64", "derived: sum of their medians, each as often as it runs in a launch"),
    ),
)
OWN_WORK = FleetTable(
    "own_work",
    "what the nodes of a run take in launches that follow each other, collectives left out",
    _RUN_GRAPH
    | _columns(
        ordinal=("int32", "the first of these launches, by its number on that rank"),
        start_ns=("int64", "when it was called, on its machine's clock; null: not recorded"),
        count=("int32", "launches with node times"),
        median_ns=("float64", "derived: median of the sums of their nodes' durations"),
    ),
)
LAUNCHES = FleetTable(
    "launches",
    "launches of a graph in a run that follow each other, timed in one way",
    _RUN_GRAPH
    | _columns(
        measure=("string", "event: between two events; gpu: first to last node; host: the call"),
        node_level=("int32", "1: node times were recorded, which makes launches longer"),
        start_ns=("int64", "when the first of them was called, on its machine's clock"),
        count=("int64", "launches"),
        min_ns=("float64", "shortest"),
        median_ns=("float64", "median"),
        max_ns=("float64", "longest"),
    ),
)
COLLECTIVES = FleetTable(
    "collectives",
    "one execution of a kernel of a collective on a rank",
    _RUN_GRAPH
    | _NODE
    | _columns(
        ordinal=("int32", "the launch, by its number on that rank"),
        iteration=("int32", "which execution in the launch, from 0"),
        start_ns=("int64", "its start, on its machine's clock"),
        duration_ns=("int64", "how long it took, waiting included"),
    ),
)
COMMUNICATORS = FleetTable(
    "communicators",
    "a rank in a collective that has several communicators; written anew by each build",
    _RUN_GRAPH
    | _NODE
    | _columns(
        communicator=(
            "int32",
            "estimated: ranks of one number leave it together; of one with a single communicator "
            "there are no rows",
        ),
    ),
)

TABLES = {
    table.name: table
    for table in (
        RANKS, RUN_GRAPHS, NODE_TIMES, LAYER_TIMES, OWN_WORK, LAUNCHES, COLLECTIVES, COMMUNICATORS,
        GRAPHS, NODES, EDGES, FINDINGS,
    )
}  # fmt: skip
