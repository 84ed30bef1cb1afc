"""Rows of values: what the memory that nodes are given held, before and after them."""

from __future__ import annotations

from gviz.recording.rows.tables import column, table


@table("value_reading", primary_key=("reading_id",), indexes=(("graph_id",),))
class ValueReading:
    """A copy of a graph, its nodes one after the other and with probes around them, launched once.

    It was launched in front of a launch of the program, with the memory that this was about to
    begin with, and what it wrote was undone. The nodes of a large graph are read in several.
    """

    reading_id: int = column("ours, from 1, unique in the file", key="value_reading")
    run_id: int = column("the run", key="run")
    graph_id: int = column("the graph", key="graph")
    graph_exec_id: int | None = column(
        "the executable that was copied; NULL: none, the calls of an eager iteration were read, "
        "one after the other (gviz.compare_stream)",
        key="graph_exec",
    )
    results: str = column(
        "equal: the copy left the same in all memory of the process as the program's executable; "
        "different; or not tested: it was refused",
        default="not tested",
    )
    repeats: str = column(
        "equal: a second launch of the copy read the same everywhere; different; or not tested",
        default="not tested",
    )
    start_ns: int | None = column("when the program's calls were held for it", default=None)
    held_ns: int | None = column("how long they were", default=None)
    saved_bytes: int | None = column("device memory that was saved and restored", default=None)
    probed_bytes: int | None = column("read by the probes of a launch", default=None)
    plain_ns: int | None = column("a launch of the executable, by two events", default=None)
    probed_ns: int | None = column("a launch of the copy", default=None)
    unexplained_bytes: int | None = column(
        "of the pieces of 2 MiB that the executable's launch wrote to, those in which no node was "
        "found to write; NULL: not all nodes were read at once",
        default=None,
    )
    refusal: str | None = column("why no more was read, in words; NULL: it was", default=None)

    @property
    def is_of_calls(self) -> bool:
        """Return whether stream calls were read, and no copy of the graph."""
        return self.graph_exec_id is None


@table(
    "node_value",
    primary_key=("reading_id", "graph_id", "node_id", "position", "offset", "start", "side"),
    without_rowid=True,
)
class NodeValue:
    """Contents in numbers of memory that a node is given, before it ran; after, where changed.

    One row for each address, from there to the next that any node of the graph is given; memory
    beyond has rows where the node changed it.
    """

    reading_id: int = column("the reading", key="value_reading")
    graph_id: int = column("the level that holds the node", key="graph")
    node_id: int = column("the node")
    position: int = column(
        "the argument that holds the address, as in argument; of copies and memsets 0 is what they "
        "write, 1 what they read"
    )
    offset: int = column("of the address in the argument, in bytes")
    start: int = column("where the memory starts, in bytes from the address")
    side: str = column("before, or after; there is no after: the node left all as it was")
    place: int = column("of the node in the order in which the copy ran the nodes, from 0")
    address: int = column("the address in the argument")
    bytes: int = column("how much was read")
    extent: str = column(
        "why it ends there: reported (by CUDA), next (an address that a node is given), block (all "
        "that the program's allocator handed out), block end (the end of that), allocation (its "
        "end, or 32 MiB beyond the address)"
    )
    element: int = column("gviz.ElementType of its elements; 0: not known, no statistics")
    element_elsewhere: int = column(
        "1: another node's kernel tells the type of the same address", default=0
    )
    hash: int = column("of all bytes, 64 bits, as a signed number")
    varies: int = column("1: a second launch of the same copy read something else", default=0)
    nan_count: int | None = column("elements that are NaN", default=None)
    infinite_count: int | None = column("elements that are infinite", default=None)
    zero_count: int | None = column("elements that are 0", default=None)
    finite_count: int | None = column("elements that are neither NaN nor infinite", default=None)
    least: float | None = column("least finite element", default=None)
    greatest: float | None = column("greatest finite element", default=None)
    mean: float | None = column("mean of the finite elements", default=None)
