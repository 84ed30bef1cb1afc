"""Structures of graphs: what is equal on all ranks that launch the same graph, and its findings."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import numpy as np

from gviz.analysis import (
    GraphSubject,
    ModelLayers,
    advise_graph,
    find_model_layers,
    name_families,
    read_node_families,
)
from gviz.cuda import topology_hash
from gviz.dataclass import dataclass
from gviz.model import GraphTree, TreeEdges, build_anew, read_tree_edges
from gviz.recording import rows
from gviz.stats import BoolArray, IntArray

if TYPE_CHECKING:
    from gviz.analysis import Finding
    from gviz.recording import Recording

#: SHA-256, hex.
_HASH = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure; arrays have a value a node, in the order of the graph's tree.

    Attributes
    ----------
    fingerprint
        As in table graphs.
    name
        Of the graph that it was read from.
    names, families, bodies
        What nodes are called, what they do, and the bodies that they are in.
    type, layer
        int64.
    layers
        Names of the layers.
    is_collective
        bool.
    edges
        Dependencies.
    findings
        About the graph that it was read from.
    """

    fingerprint: str
    name: str
    names: tuple[str, ...]
    families: tuple[str, ...]
    bodies: tuple[str, ...]
    type: IntArray
    layer: IntArray
    layers: tuple[str, ...]
    is_collective: BoolArray
    edges: TreeEdges
    findings: tuple[Finding, ...]

    @property
    def key(self) -> int:
        """The number that tables know it by."""
        return key_of(self.fingerprint)


def key_of(fingerprint: str) -> int:
    """Return the number of a structure: the first 63 bits of its fingerprint."""
    return int(fingerprint[:16], 16) >> 1


def read_fingerprint(recording: Recording, tree: GraphTree) -> str:
    """Return the SHA-256 (hex) of a graph's structure, bodies counted.

    Of a graph without bodies it is that of its topology; where edges are not known, or what the
    recording has is no hash, that of its nodes: files are named by it.
    """
    hashes = [_level_hash(recording, tree, at) for at in range(len(tree.levels))]
    if len(hashes) == 1:
        return hashes[0]
    places = [(level.parent, level.graph.branch or 0) for level in tree.levels]
    text = "\n".join(f"{p} {b} {h}" for (p, b), h in zip(places, hashes, strict=True))
    return hashlib.sha256(text.encode()).hexdigest()


def read_structure(
    recording: Recording, graph: rows.Graph, fingerprint: str, *, with_findings: bool
) -> Structure:
    """Return the structure of a graph of a recording.

    Parameters
    ----------
    with_findings
        Have the rules look for findings, which takes longer than all the rest.
    """
    subject = GraphSubject(recording, graph)
    tree = subject.graph
    found = read_node_families(recording, tree, graph.run_id, build_anew)
    named = name_families(tree, found, np.zeros(len(tree)))
    layers = subject.once(find_model_layers)
    known = layers if isinstance(layers, ModelLayers) else None
    paths = [tree.path_of(at) for at in range(len(tree.levels))]
    return Structure(
        fingerprint=fingerprint,
        name=graph.name,
        names=tuple(tree.nodes.listed("name")),
        families=tuple(named.labels[code] for code in named.code.tolist()),
        bodies=tuple(paths[at] for at in tree.level.tolist()),
        type=tree.types,
        layer=known.of_node if known else np.full(len(tree), -1, np.int64),
        layers=known.names if known else (),
        is_collective=found.where(lambda family: family.is_collective),
        edges=read_tree_edges(recording, tree),
        findings=advise_graph(subject).findings if with_findings else (),
    )


def _level_hash(recording: Recording, tree: GraphTree, at: int) -> str:
    level = tree.levels[at]
    if level.graph.topology_id is not None:
        stored = recording.fetch_topology(level.graph.topology_id).hash
        if _HASH.fullmatch(stored):
            return stored
    nodes = tree.nodes[level.part]
    return topology_hash(nodes.integers("type").tolist(), nodes.listed("name"), ())
