"""Work outside graphs, from activity records and from the calls that gave it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gviz.cuda import NodeType, short_name
from gviz.runs import Activities, KernelFunctions, OutsideOperations, operation_name
from gviz.spool.records import join
from gviz.spool.streams import Contents
from gviz.stats import UNKNOWN, IntArray


def fold_operations(contents: Contents, kernels: KernelFunctions) -> OutsideOperations:
    """Return the work outside graphs, in order of GPU start: by CUPTI's records, and by events."""
    timed = contents.operation_stream.activities(contents.functions, contents.calibrations)
    activities = join([contents.activity_stream.operations(), timed])
    names, functions = _kernels(activities, _kernel_names(contents), kernels)
    _name_others(activities, names)
    calls = contents.calls.to_array()
    call = _last_places(calls["correlation"], activities["correlation_id"])

    def of_call(name: str) -> IntArray:
        # The last value stands for work without a call.
        return np.append(calls[name].astype(np.int64), UNKNOWN)[call]

    return OutsideOperations(
        type=activities["type"],
        names=names.tolist(),
        start_ns=activities["start_ns"],
        end_ns=activities["end_ns"],
        stream_id=activities["stream_id"],
        device_id=activities["device_id"],
        correlation_id=activities["correlation_id"],
        function_id=functions,
        grid=activities["grid"],
        block=activities["block"],
        shared_mem_bytes=activities["shared_mem_bytes"],
        bytes=activities["bytes"],
        copy_kind=activities["copy_kind"],
        host_start_ns=of_call("start_ns"),
        host_end_ns=of_call("end_ns"),
        thread_id=of_call("thread_id"),
    )


def _kernel_names(contents: Contents) -> dict[int, str]:
    """Return the names of kernels by what records have in their place."""
    return {key: function.name for key, function in contents.functions.items()} | contents.strings


def _kernels(
    activities: Activities, strings: Mapping[int, str], kernels: KernelFunctions
) -> tuple[npt.NDArray[np.object_], IntArray]:
    """Return name and function of each kernel; None and UNKNOWN for what is none.

    Kernels are numbered in order of time, with the resources of their first record.
    """
    names = np.full(len(activities), None, object)
    functions = np.full(len(activities), UNKNOWN)
    at = np.flatnonzero(activities["type"] == NodeType.KERNEL)
    pointers, first, place = np.unique(
        activities["name"][at], return_index=True, return_inverse=True
    )
    shown, numbers = np.empty(len(pointers), object), np.empty(len(pointers), np.int64)
    for i in np.argsort(first).tolist():
        symbol = strings.get(int(pointers[i]), "?")
        record = activities[at[first[i]]]
        resources = (int(record[name]) for name in ("registers", "static_shared_mem_bytes"))
        shown[i], numbers[i] = short_name(symbol), kernels.number(symbol, *resources)
    names[at], functions[at] = shown[place], numbers[place]
    return names, functions


def _name_others(activities: Activities, names: npt.NDArray[np.object_]) -> None:
    """Fill in the names of what is no kernel: one for each kind and direction."""
    at = np.flatnonzero(activities["type"] != NodeType.KERNEL)
    kinds = np.stack([activities["type"][at], np.maximum(activities["copy_kind"][at], 0)], axis=1)
    distinct, place = np.unique(kinds, axis=0, return_inverse=True)
    shown = np.empty(len(distinct), object)
    shown[:] = [operation_name(kind, direction) for kind, direction in distinct.tolist()]
    names[at] = shown[place.reshape(-1)]


def _last_places(keys: npt.NDArray[np.unsignedinteger], wanted: IntArray) -> IntArray:
    """Return the place of the last of several equal keys, for each that is wanted; -1: none."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order].astype(np.int64)
    at = np.searchsorted(ordered, wanted, side="right") - 1
    is_known = np.append(ordered, UNKNOWN)[at] == wanted
    return np.where(is_known, np.append(order, -1)[at], -1)
