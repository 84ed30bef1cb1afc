"""Arguments that several verbs have."""

from __future__ import annotations

from gviz.agents.verb import Parameter

RECORDING = Parameter(
    "recording", "string", "name of a recording of this server; default: the only one"
)
GRAPH = Parameter(
    "graph", "integer", "number of a graph; default: the one whose launches took longest together"
)
NODE = Parameter("node", "integer", "number of a node", is_required=True)
LEVEL = Parameter(
    "graph", "integer", "number of the graph or body that the node is in; default: as for others"
)
