"""Decoded records of a graph: its nodes, where they come from, and a level as it was walked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gviz.stats import IntArray


class ArgumentRecord(NamedTuple):
    """A kernel argument."""

    size: int
    allocation: int
    allocation_bytes: int
    value: bytes


class NodeRecord(NamedTuple):
    """A node as the topology walk read it."""

    node_id: int
    type: int
    device_id: int
    function: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_mem_bytes: int
    max_blocks: int
    priority: int
    cooperative: int
    source_type: int
    destination_type: int
    bytes: int
    source: int
    destination: int
    value: int
    element_bytes: int
    child_graph_id: int
    arguments: tuple[ArgumentRecord, ...]


class FunctionRecord(NamedTuple):
    """A kernel's name and resources; -1: the driver did not say."""

    registers: int
    static_shared_bytes: int
    local_bytes: int
    max_threads: int
    name: str


class CreatedRecord(NamedTuple):
    """When and where a node was created."""

    time_ns: int
    thread_id: int
    stream_id: int
    nvtx_path: int
    stack: int
    type: int


class OriginRecord(NamedTuple):
    """Where a graph's capture began, or where it was instantiated."""

    graph_id: int
    exec_id: int
    kind: int
    nvtx_path: int
    stack: int
    thread_id: int
    flags: int
    name_kind: int
    time_ns: int
    name: str


class ConditionalRecord(NamedTuple):
    """A conditional node; ``bodies`` counts those known, ``size`` all."""

    type: int
    size: int
    handle: int
    bodies: int


@dataclass(slots=True)
class GraphWalk:
    """One graph level as walked at one instantiation."""

    graph_id: int
    exec_id: int
    parent_graph_id: int
    parent_node_id: int
    branch: int = 0
    nodes: list[NodeRecord] = field(default_factory=list)
    conditionals: dict[int, ConditionalRecord] = field(default_factory=dict)  # by node id
    parameters: list[tuple[int, str, str]] = field(default_factory=list)  # node id, name, value
    #: (from, to, type, from_port, to_port), int64, shape (n, 5)
    edges: IntArray = field(default_factory=lambda: np.zeros((0, 5), np.int64))
