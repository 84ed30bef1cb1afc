"""Rows of the black box: what failed or stood still, and the nodes that were running."""

from __future__ import annotations

from gviz.recording.rows.tables import column, table


@table("fault", primary_key=("fault_id",), indexes=(("run_id",),))
class Fault:
    """A failure of the GPU, a launch that stood still, or one that was cut off, by the black box.

    Of each executable whose launch was running there is one.
    """

    fault_id: int = column("ours, from 1, unique in the file", key="fault")
    run_id: int = column("the run", key="run")
    kind: str = column(
        "error (calls return it from then on), stall (no progress), cut off (the process ended "
        "without closing the recording) or core dump (nothing else is known)"
    )
    result: int | None = column("CUresult of an error", default=None)
    time_ns: int | None = column("when it was noticed; NULL: not known", default=None)
    graph_id: int | None = column(
        "the graph whose launch was running; NULL: none that leaves crumbs", key="graph",
        default=None,
    )  # fmt: skip
    graph_exec_id: int | None = column("its executable", key="graph_exec", default=None)
    crumbs: int = column("crumbs that a launch of it leaves", default=0)
    crumbs_left: int = column("of these, left by the launch that was running", default=0)
    core_dump: str | None = column(
        "file of the GPU's core dump, where one was written", default=None
    )
    kernel: str | None = column("name of the kernel that failed, by the core dump", default=None)
    program_counter: int | None = column(
        "address of the instruction that failed, by the core dump", default=None
    )


@table("fault_node", primary_key=("fault_id", "position"), without_rowid=True)
class FaultNode:
    """A node of the graph whose launch was running when something failed."""

    fault_id: int = column("the fault", key="fault")
    position: int = column("from 0")
    role: str = column(
        "running (it may have been), last (it left the last crumb of its branch) or next (the next "
        "crumb would have been its)"
    )
    graph_id: int = column("the level that holds the node", key="graph")
    node_id: int = column("the node")


@table("fault_address", primary_key=("fault_id", "position"), without_rowid=True)
class FaultAddress:
    """An address among the parameters of a node that may have been running."""

    fault_id: int = column("the fault", key="fault")
    position: int = column("from 0")
    graph_id: int = column("the level that holds the node", key="graph")
    node_id: int = column("the node")
    argument: int | None = column(
        "position of the kernel's argument; NULL: of a copy or memset", default=None
    )
    address: int = column("the address")
    state: str = column("allocated, freed (since) or unknown: in no block that was seen")
    block_address: int | None = column("start of the block it lies in, or lay in", default=None)
    block_bytes: int | None = column("size of that block", default=None)
    freed_ns: int | None = column("when it was freed", default=None)
