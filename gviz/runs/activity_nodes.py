"""Nodes that are known from one record each of their work alone, as columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.cuda import NodeType
from gviz.recording import rows
from gviz.runs.activity import Activities
from gviz.runs.row_columns import Rows, blank_rows, shape_columns
from gviz.stats import UNKNOWN


def recorded_nodes(
    records: Activities, names: Sequence[str], functions: Sequence[int], stack_reason: str
) -> Rows:
    """Return columns of rows.Node: kernels with their launch shape, copies and memsets with bytes.

    Parameters
    ----------
    records
        One a node.
    names, functions
        Short name and kernel function of each; UNKNOWN for what is no kernel.
    stack_reason
        Why none of them has a stack.
    """
    is_kernel = records["type"] == NodeType.KERNEL
    return blank_rows(
        rows.Node,
        len(records),
        node_id=records["node_id"],
        exec_node_id=records["node_id"],
        type=records["type"],
        name=names,
        function_id=functions,
        device_id=records["device_id"],
        **shape_columns(records["grid"], records["block"]),
        shared_mem_bytes=np.where(is_kernel, records["shared_mem_bytes"], UNKNOWN),
        bytes=np.where(is_kernel, UNKNOWN, records["bytes"]),
        copy_kind=records["copy_kind"],
        stack_reason=stack_reason,
    )
