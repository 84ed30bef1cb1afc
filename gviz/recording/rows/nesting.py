"""The rows of nodes' parameters by name, and of the memory that graphs allocate."""

from __future__ import annotations

from gviz.recording.rows.tables import column, table


@table("node_parameter", primary_key=("graph_id", "node_id", "position"), without_rowid=True)
class NodeParameter:
    """A parameter of a host, event, semaphore, batch memory or conditional node."""

    graph_id: int = column("the graph", key="graph")
    node_id: int = column("the node")
    position: int = column("order of showing")
    name: str = column("such as function, symbol, event, operation 0")
    value: str = column("as text; addresses in hexadecimal")


@table("allocation", primary_key=("graph_id", "node_id"), without_rowid=True)
class Allocation:
    """Memory that an alloc node allocates in each launch, and where it is freed."""

    graph_id: int = column("the graph", key="graph")
    node_id: int = column("the alloc node")
    address: int = column("where; the same in every launch")
    bytes: int = column("how much was requested")
    device_id: int | None = column("device of the memory", default=None)
    free_graph_id: int | None = column("graph of the node that frees it", default=None, key="graph")
    free_node_id: int | None = column("that node; NULL: no recorded graph frees it", default=None)
    freed: str = column(
        "in the same graph, in another graph, by cuMemFreeAsync or cuMemFree_v2, or not while "
        "gviz watched (the next launch frees it under AUTO_FREE_ON_LAUNCH)",
        default="not while gviz watched",
    )


@table("graph_memory", primary_key=("run_id", "device_id", "time_ns"), without_rowid=True)
class GraphMemory:
    """Memory of alloc nodes on a device (measured: cuDeviceGetGraphMemAttribute).

    Queried every half second and after each instantiation, written down when it changed.
    """

    run_id: int = column("the run", key="run")
    device_id: int = column("the device")
    time_ns: int = column("when it was queried")
    used_bytes: int = column("allocated by graphs now")
    used_high_bytes: int = column("the most that was, in the process")
    reserved_bytes: int = column("reserved for graphs now")
    reserved_high_bytes: int = column("the most that was, in the process")
