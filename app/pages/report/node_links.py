"""Links from sentences about nodes to the graph page with these nodes selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from dash import dcc, html
from dash.development.base_component import Component

from gviz.analysis import OUTSIDE, NamedFamilies, NodeRef
from gviz.app.components import TIME_BETWEEN, TIME_SELECTED, Addresses, write_ids
from gviz.app.pages.report.range_names import AddressedRanges
from gviz.app.views import open_id
from gviz.cuda import node_type_name
from gviz.families import kernel_label
from gviz.model import SEPARATOR, GraphTree, TreeNode, nested_ranges
from gviz.recording import rows
from gviz.report import AlikeLink, EdgeLink, GraphLink, Grouping, Link, NodeLink, NodesLink, RunLink
from gviz.text import counted, integer

#: What the graph page names as groups of nodes are told apart here: so it selects all of one.
_NAMES: dict[Grouping, str] = {"name": "kernel", "family": "family", "kind": "kind"}
#: Fewer nodes are read as well by their ids.
_FEW = 4
#: Bodies that a link opens: each is drawn with all its nodes.
MOST_OPENED = 100
_MEANING = "Show them selected in the graph"


class NodeLinks:
    """Makes the links of one report.

    Parameters
    ----------
    file
        Key of the recording.
    tree
        The graph with all that is nested in it.
    ranges
        NVTX ranges of its run, by nvtx_path_id.
    families
        Families of its nodes.
    """

    def __init__(
        self,
        file: str,
        tree: GraphTree,
        ranges: Mapping[int, rows.NvtxPath],
        families: NamedFamilies,
        addresses: Addresses,
    ) -> None:
        self._file, self._tree, self._ranges = file, tree, ranges
        self._families, self._addresses = families, addresses
        self._range_names = AddressedRanges(tree, ranges)
        self._level = {level.graph.graph_id: at for at, level in enumerate(tree.levels)}
        self._groups: dict[Grouping, dict[str, list[int]]] = {}

    def component(self, link: Link) -> Component | str:
        """Return a link to what a document refers to."""
        match link:
            case NodeLink():
                return self.node(link.node)
            case NodesLink():
                return self.gap(link) if link.between else self.nodes(link)
            case EdgeLink():
                return self.edge(link.dependency, link.dependent)
            case AlikeLink():
                return self.alike(link)
            case GraphLink():
                return self.body(link.graph_id)
            case RunLink():
                return link.text

    def node(self, ref: NodeRef) -> Component:
        """Return a link to a node by its id and name."""
        name = html.Span(kernel_label(ref.name), className="gv-node-name", title=ref.name)
        return self._link([str(ref.node_id), " ", name], [ref])

    def nodes(self, link: NodesLink) -> Component:
        """Return a link to several nodes: to all, or as many as an address has room for."""
        linked = self._fit(link.places or self._indices_of(link.nodes))
        text = counted(link.count, "node")
        if len(linked) < link.count:
            text = f"{integer(len(linked))} of {text}"
        return dcc.Link(text, href=self._address(linked), title=_MEANING)

    def gap(self, link: NodesLink) -> Component:
        """Return a link to the time between two nodes in the median launch."""
        address = self._address(self._indices_of(link.nodes)) + f"&launch=median&{TIME_BETWEEN}"
        title = "Show this gap in the timeline"
        return dcc.Link("in the timeline", href=address, title=title, className="gv-nowrap")

    def edge(self, dependency: NodeRef, dependent: NodeRef) -> Component:
        """Return a link to the two ends of an edge, by their ids."""
        ids = (str(ref.node_id) for ref in (dependency, dependent))
        return self._link(" → ".join(ids), [dependency, dependent])

    def alike(self, link: AlikeLink) -> Component | str:
        """Return a link to the nodes of a name, family, kind, range or layer.

        It is only its text if there are none. A layer is led to in the timeline too, where its
        nodes follow each other.
        """
        by, value = link.by, link.whole
        if by == "layer":
            address = self._addresses.graph(self._file, self._graph_id, selected=[f"layer:{value}"])
            return dcc.Link(
                link.text, href=f"{address}&launch=median&{TIME_SELECTED}", title=_MEANING
            )
        if by not in self._groups:
            self._groups[by] = self._group(by)
        found = self._groups[by].get(value, [])
        if not found:
            return link.text
        whole = f"\n{value}" if link.text != value else ""
        if len(found) > _FEW and (names := self._names_of(by, value, found)):
            address = self._addresses.graph(
                self._file, self._graph_id, opened=self._around(found), selected=names
            )
            return dcc.Link(link.text, href=address, title=_MEANING + whole)
        linked = self._fit(found)
        more = len(linked) < len(found)
        title = f"{_MEANING}: the first {integer(len(linked))}" if more else _MEANING
        return dcc.Link(link.text, href=self._address(linked), title=title + whole)

    def _group(self, by: Grouping) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for index, node in enumerate(self._tree.nodes):
            for value in self._values(index, node, by):
                found.setdefault(value, []).append(index)
        return found

    def _names_of(self, by: Grouping, value: str, found: Sequence[int]) -> list[str]:
        """Return what the graph page calls nodes that are alike; empty: it has no names."""
        if by == "range" or by == "nesting":
            return self._range_names.names_of(by, value.count(SEPARATOR) + 1, found)
        return [f"{_NAMES[by]}:{value}"]

    def _values(self, index: int, node: TreeNode, by: Grouping) -> Sequence[str]:
        """Return what a node is counted under, as gviz.analysis.results.dominant_nodes has it."""
        if by == "name":
            return [node.name]
        if by == "family":
            return [self._families.labels[self._families.code[index]]]
        if by == "kind":
            return [node_type_name(node.type)]
        if by == "range":
            path = self._ranges.get(-1 if node.nvtx_path_id is None else node.nvtx_path_id)
            return [OUTSIDE if path is None else path.text]
        return nested_ranges(self._ranges, node.nvtx_path_id)

    def body(self, graph_id: int) -> Component | str:
        """Return a link to a body by its path; of the graph itself only words."""
        at = self._level.get(graph_id, 0)
        if not at:
            return "the graph itself"
        return dcc.Link(self._tree.path_of(at), href=self._addresses.graph(self._file, graph_id))

    def _link(self, children: object, refs: Sequence[NodeRef]) -> Component:
        return dcc.Link(children, href=self._address(self._indices_of(refs)), title=_MEANING)

    def _indices_of(self, refs: Sequence[NodeRef]) -> list[int]:
        return [index for ref in refs if (index := self._index_of(ref)) is not None]

    def _index_of(self, ref: NodeRef) -> int | None:
        level = self._level.get(ref.graph_id)
        key = None if level is None else self._tree.key_in(level, ref.node_id)
        return None if key is None else self._tree.index_of(key)

    def _fit(self, indices: Sequence[int]) -> Sequence[int]:
        """Return the first of the nodes: as many as one address selects and opens."""
        keys = self._tree.key[np.asarray(indices, np.int64)]
        fitting = indices[: write_ids(keys.tolist())[1]]
        parents = self._tree.parent[np.asarray(fitting, np.int64)]
        opened, first = np.unique(parents, return_index=True)
        beginnings = np.sort(first[opened >= 0])
        return fitting[: beginnings[MOST_OPENED]] if len(beginnings) > MOST_OPENED else fitting

    def _address(self, indices: Sequence[int]) -> str:
        """Return the graph page with nodes selected, and the bodies around them open."""
        keys = self._tree.key[np.asarray(indices, np.int64)].tolist()
        return self._addresses.graph(self._file, self._graph_id, keys, self._around(indices))

    def _around(self, indices: Sequence[int]) -> list[str]:
        """Return the bodies around nodes, as many as one address opens."""
        tree = self._tree
        around: dict[str, None] = {}
        for start in dict.fromkeys(tree.parent[np.asarray(indices, np.int64)].tolist()):
            if len(around) >= MOST_OPENED:
                break
            parent = start
            while parent >= 0:
                around[open_id(int(tree.key[parent]))] = None
                parent = int(tree.parent[parent])
        return list(around)

    @property
    def _graph_id(self) -> int:
        return self._tree.graph.graph_id
