"""Rows of trials: edits of a graph that were launched, timed and undone in the watched process."""

from __future__ import annotations

from gviz.recording.rows.tables import column, table


@table("trial", primary_key=("trial_id",), indexes=(("graph_id",),))
class GraphTrial:
    """A copy of a graph, edited, against one that is not: pairs of launches, one after the other.

    Both are launched while nothing else runs, and what they have written is undone. The trials of
    kinds executable and control try no edit: the gains of others are to be held against theirs.
    """

    trial_id: int = column("ours, from 1, unique in the file", key="trial")
    run_id: int = column("the run", key="run")
    graph_id: int = column("the graph", key="graph")
    graph_exec_id: int | None = column("the executable that was copied", key="graph_exec")
    kind: str = column(
        "executable (a copy against the program's executable), control (against another copy), "
        "implied (without dependencies that others imply), priority (instantiated so that "
        "priorities of nodes count), order (nodes on the longest ways created first), serial (all "
        "nodes in one chain), delay (behind the nodes of a kernel family), layer (behind those of "
        "a block that repeats), off (without the nodes of a kernel family, tried when the program "
        "had ended), half (with pauses of half of what that saved in their place), or any: none "
        "was tried"
    )
    count: int = column("pairs of launches; 0: it was refused", default=0)
    unedited_ns: float | None = column(
        "median launch without the edit, by two events", default=None
    )
    edited_ns: float | None = column("median launch with it", default=None)
    gain_ns: float | None = column(
        "median over the pairs of what the edit saves; below 0 it costs", default=None
    )
    low_ns: float | None = column("lower end of its 95% interval, by bootstrap", default=None)
    high_ns: float | None = column("upper end", default=None)
    results: str = column(
        "equal: both left the same in all memory that was compared; different; or not tested: two "
        "launches of the same differ, or it was refused",
        default="not tested",
    )
    start_ns: int | None = column("when the program's calls were held for it", default=None)
    held_ns: int | None = column("how long they were", default=None)
    saved_bytes: int | None = column("device memory that was saved and restored", default=None)
    refusal: str | None = column("why it was not tried, in words; NULL: it was", default=None)


@table("trial_edit", primary_key=("trial_id", "position"), without_rowid=True)
class GraphTrialEdit:
    """One change of the copy that a trial launched."""

    trial_id: int = column("the trial", key="trial")
    position: int = column("from 0")
    kind: str = column(
        "cut or join (of a dependency), move (in the order of creation), priority (that counts), "
        "delay (behind a node), off, or spin (a pause in its place)"
    )
    graph_id: int = column("the level that holds the node", key="graph")
    node_id: int = column("the node; of a dependency, that which is waited for")
    to_node_id: int | None = column(
        "of a dependency, the node that waits; of an order, the one that is created next",
        default=None,
    )
    value_ns: int | None = column("of a delay or a spin, how long", default=None)
