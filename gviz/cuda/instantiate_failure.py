"""Causes of refused instantiations, in words."""

from __future__ import annotations

from enum import IntEnum

from gviz.cuda.node_type import NodeType, node_type_name

_OUT_OF_MEMORY = 2
_INVALID_VALUE = 1
_NOT_SUPPORTED = 801
#: Graphs with such nodes allow one executable at a time (cuda.h, CUDA 13.0).
_ONE_AT_A_TIME = (NodeType.MEM_ALLOC, NodeType.MEM_FREE, NodeType.CONDITIONAL)


class InstantiateResult(IntEnum):
    """``CUgraphInstantiateResult`` (cuda.h, CUDA 13.0)."""

    SUCCESS = 0
    ERROR = 1
    INVALID_STRUCTURE = 2
    NODE_OPERATION_NOT_SUPPORTED = 3
    MULTIPLE_CTXS_NOT_SUPPORTED = 4
    CONDITIONAL_HANDLE_UNUSED = 5


_DETAILS = {
    InstantiateResult.INVALID_STRUCTURE: "the graph's structure is invalid, such as a cycle",
    InstantiateResult.NODE_OPERATION_NOT_SUPPORTED: "a node does what the flags do not allow, "
    "such as a copy to the host in a graph for launch on the device",
    InstantiateResult.MULTIPLE_CTXS_NOT_SUPPORTED: "the nodes belong to more than one context, "
    "which a graph for launch on the device must not",
    InstantiateResult.CONDITIONAL_HANDLE_UNUSED: "a conditional handle was created and no "
    "conditional node uses it",
}


def instantiate_result_name(detail: int | None) -> str | None:
    """Return CUDA's name of an instantiation's detailed result; None where there is none."""
    if detail is None:
        return None
    try:
        return InstantiateResult(detail).name
    except ValueError:
        return f"result {detail}"


def explain_instantiate(
    result: int, detail: int | None, node: str | None, types: frozenset[int], living_execs: int
) -> str:
    """Return a sentence that says why an instantiation was refused, as far as it is known.

    Parameters
    ----------
    result, detail
        CUresult and CUgraphInstantiateResult.
    node
        The node that the driver named, in words.
    types
        Node types in the graph, at every level.
    living_execs
        Executables of the same graph that existed then.
    """
    at = f" at {node}" if node else ""
    single = sorted(types.intersection(_ONE_AT_A_TIME))
    if living_execs and single and result in (_INVALID_VALUE, _NOT_SUPPORTED):
        names = " and ".join(node_type_name(kind) for kind in single)
        return (
            f"Refused{at}: a graph with {names} nodes allows one executable at a time, and one "
            "existed. Destroy it first, or update it."
        )
    if detail is not None and detail in _DETAILS:
        return f"Refused{at}: {_DETAILS[InstantiateResult(detail)]}."
    if result == _OUT_OF_MEMORY:
        return f"Refused{at}: out of device memory."
    if result == _INVALID_VALUE:
        return (
            f"Refused{at}: something in the graph is invalid (CUDA_ERROR_INVALID_VALUE), such as a "
            "cycle or a kind of node that a conditional body may not contain."
        )
    if result == _NOT_SUPPORTED:
        return f"Refused{at}: not supported on this driver or device (CUDA_ERROR_NOT_SUPPORTED)."
    return f"Refused{at} with CUresult {result}."
