"""Nodes as columns: from the walk of their graph, and from records where no walk read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gviz.cuda import CopyKind, NodeType, conditional_type_name, not_timed_reason, short_name
from gviz.recording import rows
from gviz.runs import (
    Activities,
    KernelFunctions,
    Rows,
    blank_rows,
    integers,
    operation_name,
    recorded_nodes,
    shape_columns,
)
from gviz.spool.records import (
    NO_STREAM,
    STACK_REASONS,
    AutogradRecord,
    FunctionRecord,
    GraphWalk,
    NodeRecord,
)
from gviz.spool.streams import Contents
from gviz.stats import UNKNOWN, BoolArray, FloatArray, IntArray

#: CUmemorytype: host, device, array, unified. Unified addresses leave the direction open.
_HOST, _DEVICE, _ARRAY = 1, 2, 3
_COPY_KINDS = {
    (_HOST, _DEVICE): CopyKind.HTOD,
    (_DEVICE, _HOST): CopyKind.DTOH,
    (_DEVICE, _DEVICE): CopyKind.DTOD,
    (_HOST, _HOST): CopyKind.HTOH,
    (_HOST, _ARRAY): CopyKind.HTOA,
    (_ARRAY, _HOST): CopyKind.ATOH,
    (_DEVICE, _ARRAY): CopyKind.DTOA,
    (_ARRAY, _DEVICE): CopyKind.ATOD,
    (_ARRAY, _ARRAY): CopyKind.ATOA,
}
#: Types of nodes that have a size.
_SIZED = (NodeType.MEMCPY, NodeType.MEMSET, NodeType.MEM_ALLOC)
#: In place of a launch priority: the driver did not report it.
_NO_PRIORITY = -(2**31)
#: Of a node that autograd's work did not create, or that came later in its operation.
_NO_OPERATION = AutogradRecord(0, None, None)


class NodeColumns:
    """Builds columns of rows.Node.

    Parameters
    ----------
    contents
        Of the spool.
    kernels
        Where kernels get their numbers.
    """

    def __init__(self, contents: Contents, kernels: KernelFunctions) -> None:
        self._contents = contents
        self._kernels = kernels
        self._cupti_version = contents.cupti_version

    def of_walk(
        self, walk: GraphWalk, nodes: Sequence[NodeRecord], graph_id: int, numbers: IntArray
    ) -> Rows:
        """Return the nodes of a level.

        Parameters
        ----------
        nodes
            Of the walk, by id.
        numbers
            Of each in the executable; UNKNOWN where it is not known.
        """

        def column(name: str) -> IntArray:
            return integers(getattr(node, name) for node in nodes)

        kind, size = column("type"), column("bytes")
        kernel, memset = kind == NodeType.KERNEL, kind == NodeType.MEMSET
        copy_kind = _copy_kinds(nodes)
        conditionals = {
            node_id: conditional_type_name(record.type)
            for node_id, record in walk.conditionals.items()
        }
        reasons = {one: not_timed_reason(one, self._cupti_version) for one in set(kind.tolist())}
        functions = [self._contents.functions.get(node.function) for node in nodes]
        found = blank_rows(
            rows.Node,
            len(nodes),
            graph_id=graph_id,
            node_id=column("node_id"),
            type=kind,
            name=[
                short_name(function.name) if function else _name(node, direction, conditionals)
                for node, function, direction in zip(
                    nodes, functions, copy_kind.tolist(), strict=True
                )
            ],
            function_id=self._function_ids(functions),
            device_id=np.maximum(column("device_id"), UNKNOWN),
            priority=[_priority(node) for node in nodes],
            cooperative=np.where(kernel, np.maximum(column("cooperative"), UNKNOWN), UNKNOWN),
            copy_kind=np.where(kind == NodeType.MEMCPY, copy_kind, UNKNOWN),
            bytes=np.where(np.isin(kind, _SIZED), size, UNKNOWN),
            source_address=_addresses(column("source")),
            destination_address=_addresses(column("destination")),
            memset_value=np.where(memset, column("value"), UNKNOWN),
            memset_element_bytes=np.where(memset, column("element_bytes"), UNKNOWN),
            not_timed_reason=[reasons[one] for one in kind.tolist()],
            conditional_type=[conditionals.get(node.node_id) for node in nodes],
        )
        is_timed = np.array([reasons[one] is None for one in kind.tolist()], bool)
        found["exec_node_id"] = np.where(is_timed, numbers, UNKNOWN)
        self._fill_launch_shapes(found, nodes, kernel)
        self._fill_creations(found, walk.graph_id)
        return found

    def _function_ids(self, functions: Sequence[FunctionRecord | None]) -> IntArray:
        """Return the number of each node's kernel.

        Kernels are numbered in the order of the nodes; of several of one name the last node's
        resources are the name's.
        """
        ids = {f.key: self._describe(f) for f in dict.fromkeys(functions) if f is not None}
        for function in reversed(dict.fromkeys(reversed(functions))):
            if function is not None:
                self._describe(function)
        return integers(UNKNOWN if f is None else ids[f.key] for f in functions)

    def _describe(self, function: FunctionRecord) -> int:
        values = (
            function.registers, function.static_shared_bytes, function.local_bytes,
            function.max_threads,
        )  # fmt: skip
        registers, static_shared, local, threads = (None if n < 0 else n for n in values)
        return self._kernels.describe(
            function.name,
            registers=registers,
            static_shared_mem_bytes=static_shared,
            local_mem_bytes=local,
            max_threads_per_block=threads,
        )

    def _fill_launch_shapes(
        self, found: Rows, nodes: Sequence[NodeRecord], kernel: BoolArray
    ) -> None:
        at = np.flatnonzero(kernel)
        kernels = [nodes[i] for i in at.tolist()]
        grid, block = (
            np.array([getattr(node, name) for node in kernels], np.int64).reshape(-1, 3)
            for name in ("grid", "block")
        )
        for name, column in shape_columns(grid, block).items():
            found[name][at] = column
        blocks = integers(node.max_blocks for node in kernels)
        found["shared_mem_bytes"][at] = integers(node.shared_mem_bytes for node in kernels)
        found["max_blocks_per_multiprocessor"][at] = np.maximum(blocks, UNKNOWN)
        most = self._most_threads(integers(node.device_id for node in kernels))
        # As floating-point numbers: a damaged shape would leave 64 bits.
        threads = block.astype(np.float64).prod(axis=1)
        found["occupancy_fraction"][at] = np.where(blocks >= 0, blocks * threads / most, np.nan)

    def _most_threads(self, device_ids: IntArray) -> FloatArray:
        """Return how many threads a multiprocessor of each device can have; NaN: not known."""
        found = np.full(len(device_ids), np.nan)
        for device in reversed(self._contents.devices):  # the first of an ordinal counts
            most = device.max_threads if device.max_threads > 0 else np.nan
            found[device_ids == device.ordinal] = most
        return found

    def _fill_creations(self, found: Rows, cuda_graph_id: int) -> None:
        """Fill in when, where and in which ranges nodes were created."""
        stacks = self._contents.stacks
        created = [
            self._contents.created.get(cuda_graph_id << 32 | node_id)
            for node_id in found["node_id"].tolist()
        ]
        at = [i for i, record in enumerate(created) if record is not None]
        records = [record for record in created if record is not None]
        found["created_ns"][at] = integers(r.time_ns for r in records)
        found["created_thread_id"][at] = integers(r.thread_id for r in records)
        found["capture_stream_id"][at] = integers(
            UNKNOWN if r.stream_id == NO_STREAM else r.stream_id for r in records
        )
        found["nvtx_path_id"][at] = integers(r.nvtx_path or UNKNOWN for r in records)
        numbers = [self._contents.stack_of(r.stack) for r in records]
        found["stack_id"][at] = integers(x if x in stacks else UNKNOWN for x in numbers)
        found["stack_reason"] = "created before gviz attached, or by cloning"
        found["stack_reason"][at] = [
            None if x in stacks else STACK_REASONS.get(x, "unknown") for x in numbers
        ]
        operations = [self._contents.autograd.get(r.stack, _NO_OPERATION) for r in records]
        found["autograd_name"][at] = [x.name for x in operations]
        found["sequence_nr"][at] = integers(
            UNKNOWN if x.sequence_nr is None else x.sequence_nr for x in operations
        )

    def of_records(self, records: Activities) -> Rows:
        """Return nodes that are known from one record of each only (dtype ACTIVITY)."""
        names: list[str] = []
        functions: list[int] = []
        fields = ["type", "name", "copy_kind", "registers", "static_shared_mem_bytes"]
        for kind, pointer, direction, registers, static_shared in records[fields].tolist():
            if kind == NodeType.KERNEL:
                symbol = self._contents.strings.get(pointer, "?")
                names.append(short_name(symbol))
                functions.append(self._kernels.number(symbol, registers, static_shared))
            else:
                names.append(operation_name(kind, max(direction, 0)))
                functions.append(UNKNOWN)
        why = "the node was created before gviz attached"
        return recorded_nodes(records, names, functions, why)


def _copy_kinds(nodes: Sequence[NodeRecord]) -> IntArray:
    """Return the direction of each node's copy; UNKNOWN: its kinds of memory leave it open."""
    return integers(
        _COPY_KINDS.get((node.source_type, node.destination_type), UNKNOWN) for node in nodes
    )


def _name(node: NodeRecord, direction: int, conditionals: Mapping[int, str]) -> str:
    name = operation_name(node.type, max(direction, 0))
    conditional = conditionals.get(node.node_id)
    return f"{name} {conditional.upper()}" if conditional else name


def _priority(node: NodeRecord) -> int | None:
    is_reported = node.type == NodeType.KERNEL and node.priority != _NO_PRIORITY
    return node.priority if is_reported else None


def _addresses(column: IntArray) -> IntArray:
    return np.where(column == 0, UNKNOWN, column)
