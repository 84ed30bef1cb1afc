"""The views of a recording: its tables with names and times, for queries in SQL.

gviz itself reads tables only. A file has the views of the gviz that wrote it.
"""

from __future__ import annotations

from gviz.cuda import EdgeType, NodeType, node_type_name
from gviz.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class View:
    """One view.

    Attributes
    ----------
    columns
        Name and meaning of each.
    select
        The statement, whose columns are these.
    """

    name: str
    doc: str
    columns: tuple[tuple[str, str], ...]
    select: str

    def create_sql(self) -> str:
        """Return the statement that creates it."""
        names = ", ".join(name for name, _ in self.columns)
        return f"CREATE VIEW {self.name} ({names}) AS {' '.join(self.select.split())};"


def _named(column: str, names: dict[int, str], other: str) -> str:
    cases = " ".join(f"WHEN {number} THEN '{name}'" for number, name in names.items())
    return f"CASE {column} {cases} ELSE '{other} ' || {column} END"


_KIND = _named("node.type", {int(t): node_type_name(t) for t in NodeType}, "node type")
_EDGE_TYPE = _named("edge.type", {int(t): t.name.lower() for t in EdgeType}, "type")
#: The NVTX ranges of a node, as gviz shows them: outermost first, domains in front.
_NVTX = """
    (WITH RECURSIVE up (parent_id, text) AS (
        SELECT parent_id, ifnull(domain || ': ', '') || text FROM nvtx_path
        WHERE nvtx_path.nvtx_path_id = node.nvtx_path_id
        UNION ALL
        SELECT outer_path.parent_id,
               ifnull(outer_path.domain || ': ', '') || outer_path.text || ' › ' || up.text
        FROM up JOIN nvtx_path AS outer_path ON outer_path.nvtx_path_id = up.parent_id)
     SELECT text FROM up WHERE parent_id IS NULL)
"""
#: The innermost frame of a node's stack that is no file of the interpreter or of a package, as gviz
#: chooses it (gviz/model/user_frame.py).
_OWN_FRAME = """
    FROM stack JOIN location USING (location_id) WHERE stack.stack_id = node.stack_id
    AND file NOT GLOB '*site-packages[/\\]*' AND file NOT GLOB '*dist-packages[/\\]*'
    AND file NOT GLOB '*[/\\]lib[/\\]python[0-9]*' AND file NOT GLOB '<*'
    ORDER BY depth LIMIT 1
"""

VIEWS = (
    View(
        "v_graph",
        "Graphs and bodies with what they are made of and how often they were launched.",
        (
            ("graph_id", "the graph"),
            ("run_id", "the run"),
            ("name", "shown name"),
            ("origin", "as in graph"),
            ("parent_graph_id", "of a body: the graph around it"),
            ("parent_name", "of a body: name of its parent node"),
            ("branch", "which body of a conditional node"),
            ("nodes", "nodes of this level"),
            ("edges", "edges of this level; NULL: not known"),
            ("launches", "launches seen, those without a row included"),
            ("node_time_us", "time of this level's nodes over all launches; NULL: none has a time"),
        ),
        """
        SELECT graph.graph_id, graph.run_id, graph.name, graph.origin, graph.parent_graph_id,
            parent.name, graph.branch,
            (SELECT count(*) FROM node WHERE node.graph_id = graph.graph_id),
            topology.edge_count,
            (SELECT sum(launch_count) FROM graph_exec
             WHERE graph_exec.graph_id = graph.graph_id),
            (SELECT sum(total_ns) / 1e3 FROM node_statistics
             WHERE node_statistics.graph_id = graph.graph_id)
        FROM graph LEFT JOIN topology USING (topology_id)
        LEFT JOIN node AS parent ON parent.graph_id = graph.parent_graph_id
            AND parent.node_id = graph.parent_node_id
        """,
    ),
    View(
        "v_node",
        "Nodes with their names, times, NVTX ranges and source lines.",
        (
            ("graph_id", "the level that holds it"),
            ("node_id", "the node"),
            ("graph", "name of the level"),
            ("kind", "KERNEL, MEMCPY, ..."),
            ("name", "short name shown"),
            ("kernel", "name of its kernel, with parameters"),
            ("executions", "executions with a time"),
            ("median_us", "median duration"),
            ("p95_us", "95th percentile"),
            ("total_us", "all executions together"),
            ("start_us", "median start after the launch's first node"),
            ("not_timed_reason", "why it has no times"),
            ("nvtx", "NVTX ranges open at its creation, outermost first"),
            ("file", "of the innermost frame outside of installed packages, at its creation"),
            ("line", "line of that frame"),
            ("source", "text of that line"),
        ),
        f"""
        SELECT node.graph_id, node.node_id, graph.name, {_KIND}, node.name, kernel_function.name,
            times.count, times.median_ns / 1e3, times.p95_ns / 1e3, times.total_ns / 1e3,
            times.start_median_ns / 1e3, node.not_timed_reason, {_NVTX},
            (SELECT file {_OWN_FRAME}), (SELECT line {_OWN_FRAME}), (SELECT source {_OWN_FRAME})
        FROM node JOIN graph USING (graph_id)
        LEFT JOIN kernel_function USING (function_id)
        LEFT JOIN node_statistics AS times
            ON times.graph_id = node.graph_id AND times.node_id = node.node_id
        """,
    ),
    View(
        "v_edge",
        "Edges of each graph with the names of both ends.",
        (
            ("graph_id", "the graph"),
            ("from_node", "node_id of the dependency"),
            ("from_name", "its name"),
            ("to_node", "node_id of the dependent"),
            ("to_name", "its name"),
            ("type", "default, programmatic, or inferred from stream order"),
        ),
        f"""
        SELECT graph.graph_id, edge.from_node, tail.name, edge.to_node, head.name, {_EDGE_TYPE}
        FROM graph JOIN edge USING (topology_id)
        LEFT JOIN node AS tail ON tail.graph_id = graph.graph_id AND tail.node_id = edge.from_node
        LEFT JOIN node AS head ON head.graph_id = graph.graph_id AND head.node_id = edge.to_node
        """,
    ),
    View(
        "v_launch",
        "Launches that have a row, with the name of their graph and their durations.",
        (
            ("launch_id", "the launch"),
            ("run_id", "the run"),
            ("graph_id", "the graph"),
            ("graph", "its name"),
            ("side", "graph or stream"),
            ("ordinal", "from 0, per graph and side"),
            ("called_ns", "when the call was entered"),
            ("call_us", "duration of the call"),
            ("to_gpu_us", "from the call to the first node"),
            ("gpu_us", "from gpu_start_ns to gpu_end_ns of launch"),
            ("event_us", "between two events around the launch"),
            ("node_level", "1: node times were recorded for it"),
            ("spans", "spans stored for it"),
        ),
        """
        SELECT launch.launch_id, launch.run_id, launch.graph_id, graph.name, launch.side,
            launch.ordinal, launch.host_start_ns,
            (launch.host_end_ns - launch.host_start_ns) / 1e3,
            (launch.gpu_start_ns - launch.host_start_ns) / 1e3,
            (launch.gpu_end_ns - launch.gpu_start_ns) / 1e3,
            launch.event_duration_ns / 1e3, launch.node_level, launch.span_count
        FROM launch JOIN graph USING (graph_id)
        """,
    ),
    View(
        "v_span",
        "Spans with the names of their nodes, in time of the launch and of the clock.",
        (
            ("launch_id", "the launch"),
            ("ordinal", "its number"),
            ("graph_id", "the level that holds the node"),
            ("node_id", "the node"),
            ("kind", "KERNEL, MEMCPY, ..."),
            ("name", "short name shown; NULL: the recording does not have the node"),
            ("iteration", "from 0; above 0 in loop bodies"),
            ("start_us", "after the launch's first span"),
            ("duration_us", "duration"),
            ("start_ns", "on the clock"),
            ("end_ns", "on the clock"),
            ("stream_id", "hardware-side stream id"),
            ("nvtx", "NVTX ranges open at the node's creation, outermost first"),
        ),
        f"""
        SELECT span.launch_id, launch.ordinal, span.graph_id, span.node_id, {_KIND}, node.name,
            span.iteration, span.start_ns / 1e3, span.duration_ns / 1e3,
            launch.gpu_start_ns + span.start_ns,
            launch.gpu_start_ns + span.start_ns + span.duration_ns, span.stream_id, {_NVTX}
        FROM span JOIN launch USING (launch_id)
        LEFT JOIN node ON node.graph_id = span.graph_id AND node.node_id = span.node_id
        """,
    ),
)
