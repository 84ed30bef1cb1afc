"""Launches from the device: whether a graph could be, and which rule it breaks.

References
----------
cuda.h (CUDA 13.0), cuGraphInstantiate: restrictions of graphs instantiated for launch on the
device. What a recording does not contain is named: whether kernels launch kernels (CUDA Dynamic
Parallelism), and whether host memory that is copied is pinned and mapped.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from gviz.cuda import CopyKind, NodeType, node_type_name
from gviz.dataclass import dataclass
from gviz.model import GraphTree
from gviz.stats import figure

_ALLOWED = frozenset({NodeType.KERNEL, NodeType.MEMCPY, NodeType.MEMSET, NodeType.GRAPH})
_WORK = frozenset({NodeType.KERNEL, NodeType.MEMCPY, NodeType.MEMSET})
_ARRAYS = frozenset({CopyKind.HTOA, CopyKind.ATOH, CopyKind.ATOA, CopyKind.ATOD, CopyKind.DTOA})
_HOST = frozenset({CopyKind.HTOD, CopyKind.DTOH, CopyKind.HTOH})
#: CUgraphInstantiate_flags (cuda.h, CUDA 13.0).
_AUTO_FREE_ON_LAUNCH = 1


@dataclass(frozen=True, slots=True)
class DeviceLaunch:
    """Possibility of launching a graph from the device."""

    is_possible: bool = figure("derived", "no known rule is broken")
    broken: tuple[str, ...] = figure("derived", "rules that it breaks, in words")
    unknown: tuple[str, ...] = figure("stated", "what the recording does not contain")


def device_launch(graph: GraphTree, flags: int | None) -> DeviceLaunch:
    """Return whether a graph could be launched from the device.

    Parameters
    ----------
    flags
        Of its instantiation; None: not known.
    """
    kinds = Counter(graph.types.tolist())
    broken = [
        f"{count:,} {node_type_name(kind)} node{'s' if count > 1 else ''}: only kernels, copies, "
        "memsets and child graphs are allowed"
        for kind, count in sorted(kinds.items())
        if kind not in _ALLOWED
    ]
    if not any(kind in _WORK for kind in kinds):
        broken.append("it has no kernel, copy or memset")
    devices = {*graph.nodes.listed("device_id")} - {None}
    if len(devices) > 1:
        broken.append(f"its nodes are on {len(devices)} devices")
    copies = graph.nodes.integers("copy_kind", 0)[graph.types == NodeType.MEMCPY]
    arrays = int(np.isin(copies, list(_ARRAYS)).sum())
    if arrays:
        broken.append(f"{arrays:,} of its copies read or write CUDA arrays")
    if (flags or 0) & _AUTO_FREE_ON_LAUNCH:
        broken.append("it is instantiated with AUTO_FREE_ON_LAUNCH, which excludes it")
    unknown = ["whether its kernels launch kernels"] if kinds[NodeType.KERNEL] else []
    if np.isin(copies, list(_HOST)).any():
        unknown.append("whether the host memory it copies is pinned and mapped")
    return DeviceLaunch(not broken, tuple(broken), tuple(unknown))
