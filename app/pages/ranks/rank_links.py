"""Links of the Ranks page: nodes are selected on it, ranks lead to their runs and graphs."""

from __future__ import annotations

from collections.abc import Sequence

from dash import dcc
from dash.development.base_component import Component

from gviz.analysis import NodeRef
from gviz.app.components import Addresses
from gviz.comparison import RankGraph
from gviz.dataclass import dataclass
from gviz.families import kernel_label
from gviz.model import GraphTree
from gviz.report import GraphLink, Link, NodeLink, RunLink

#: A link that is not broken at its blanks.
_WHOLE = "gv-whole"


@dataclass(frozen=True, slots=True)
class RankLinks:
    """Links from a page's text.

    Attributes
    ----------
    file
        Key of the file.
    graph
        The graph shown.
    tree
        The same on its first rank, with the numbers that nodes have on the page.
    ordinal
        The launch shown.
    """

    file: str
    graph: RankGraph
    tree: GraphTree
    ordinal: int
    addresses: Addresses

    def component(self, link: Link) -> Component | str:
        """Return a link to what a document refers to."""
        match link:
            case NodeLink():
                return _linked(kernel_label(link.node.name), self._node(link.node))
            case RunLink(node=NodeRef() as node):
                href = self.addresses.graph(self.file, node.graph_id, (node.node_id,))
                return _linked(link.text, href)
            case RunLink():
                return _linked(link.text, self.addresses.run(self.file, link.run_id))
            case GraphLink():
                return _linked(link.text, self.addresses.graph(self.file, link.graph_id))
            case _:
                return link.text

    def launch(self, ordinal: int, node_ids: Sequence[int] = ()) -> str:
        """Return the address of this page with another launch, nodes selected."""
        graph = self.graph.sides[0].graph_id
        return self.addresses.ranks(self.file, graph, ordinal, node_ids)

    def to_launch(self, ordinal: int) -> Component | str:
        """Return a link to another launch."""
        return _linked(f"launch {ordinal}", self.launch(ordinal))

    def _node(self, ref: NodeRef) -> str | None:
        """Return the address of this page with a node selected; None: it is not drawn."""
        levels = [at for at, x in enumerate(self.tree.levels) if x.graph.graph_id == ref.graph_id]
        key = self.tree.key_in(levels[0], ref.node_id) if levels else None
        return None if key is None else self.launch(self.ordinal, (key,))


def _linked(text: str, href: str | None) -> Component | str:
    return text if href is None else dcc.Link(text, href=href, className=_WHOLE)
