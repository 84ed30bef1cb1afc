"""The paragraph about a fault."""

from __future__ import annotations

from gviz.cuda.node_type import NodeType
from gviz.model.faults import FaultPlace, FaultSummary
from gviz.recording import rows
from gviz.recording.rows.black_box import Fault, FaultAddress
from gviz.report.info.fault_sentences import fault_paragraph


def place(
    node_id: int, name: str, within: str | None, *addresses: FaultAddress, line: int | None = None
) -> FaultPlace:
    node = rows.Node(graph_id=1, node_id=node_id, exec_node_id=node_id, type=NodeType.KERNEL,
                     name=name)  # fmt: skip
    location = None
    if line is not None:
        location = rows.Location(location_id=1, file="model.py", line=line, function="forward")
    return FaultPlace(node, within, location, addresses)


def address(state: str, *block: int, freed_ns: int | None = None) -> FaultAddress:
    start, size = block or (None, None)
    return FaultAddress(
        fault_id=1, position=0, graph_id=1, node_id=1, argument=2, address=0x1040, state=state,
        block_address=start, block_bytes=size, freed_ns=freed_ns,
    )  # fmt: skip


def fault(kind: str, **more: object) -> Fault:
    return Fault(fault_id=1, run_id=1, kind=kind, **more)  # type: ignore[arg-type]


def test_error_is_placed_between_two_layers_with_line_and_memory() -> None:
    at = place(5, "gemm", "layer 17 mlp", address("freed", 0x1000, 4096, freed_ns=500), line=88)
    found = FaultSummary(
        fault("error", result=700, time_ns=2_000_500), "step", (at,),
        (place(4, "softmax", "layer 17 attention"),), (at,), 1,
    )  # fmt: skip
    assert fault_paragraph(found) == (
        "The GPU failed in a launch of step: a kernel used an address that is not its own "
        "(CUDA_ERROR_ILLEGAL_ADDRESS). It stood between node 4 (softmax) of 'layer 17 attention' "
        "and node 5 (gemm) of 'layer 17 mlp': at most 1 node. The last crumb may be missing: then "
        "it was a node just behind these. Or a write of node 4 (softmax) of 'layer 17 attention', "
        "which failed once the kernel had ended. Node 5 (gemm) of 'layer 17 mlp': made at "
        "model.py:88; argument 2 0x1040 lies in an allocation of 4.00 KiB at 0x1000 that was freed "
        "2.00 ms before."
    )


def test_core_dump_names_kernel_and_command() -> None:
    found = FaultSummary(
        fault("core dump", core_dump="x.12.nvcudmp", kernel="_Z3badPf"), None, (), (), (), 0
    )
    assert fault_paragraph(found) == (
        "The GPU failed: the driver wrote a core dump. The kernel that failed is bad, by the core "
        "dump. The GPU's core dump is x.12.nvcudmp; cuda-gdb -ex 'target cudacore x.12.nvcudmp' "
        "reads it."
    )


def test_stall_at_the_start_counts_nodes_that_are_not_named() -> None:
    running = tuple(place(i, "step", None) for i in range(6))
    found = FaultSummary(fault("stall"), "step", running, (), running[5:], 30)
    text = fault_paragraph(found)
    assert text.startswith(
        "The program stood still in a launch of step. It stood at the start, before the end of "
        "node 5 (step): at most 30 nodes."
    )
    assert text.endswith("Node 3 (step). And 26 nodes more.")


def test_address_in_no_allocation_is_said() -> None:
    at = place(1, "step", None, address("unknown"))
    found = FaultSummary(fault("cut off"), "step", (at,), (), (), 1)
    text = fault_paragraph(found)
    assert "without closing the recording. No crumb tells where it stood: at most 1 node." in text
    assert "argument 2 0x1040 lies in no allocation that was seen." in text
