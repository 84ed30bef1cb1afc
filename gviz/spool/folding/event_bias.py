"""Bias of times between events: of the GPU's chains, and what nodes of a graph have beyond it.

An instrumented copy of a chain takes longer than the plain launch, by the bias of each node and by
the step from the event after a node to the event before the next. The steps are measured, and the
bias of the calibration's chains is
(:class:`~gviz.spool.records.CalibrationRecord`); what is left is the graph's own: its kernels write
more memory and come from larger modules. It is taken off each node as well, so that the times of a
chain add up to what a plain launch takes. Measured on an H100 (driver 580): up to 0.6 µs a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gviz.cuda import node_type_name
from gviz.dataclass import dataclass
from gviz.spool.folding.launch_cost import PlainTimes
from gviz.spool.records import OUTSIDE_GRAPHS, CalibrationRecord
from gviz.stats import BoolArray, IntArray

#: Of a graph's nodes, so many stand one behind the other in a copy for its extra to be that of
#: each; of fewer, branches ran beside each other, and plain ones may do so for longer.
_CHAIN_FRACTION = 0.9
#: Plain launches of which the median counts.
_LEAST_PLAIN = 3
#: A step of so many usual ones holds a node without events.
_LONG_STEP = 1.5


@dataclass(frozen=True, slots=True)
class Reading:
    """The events of one launch of a copy; arrays with one entry a node.

    Attributes
    ----------
    extent_ns, host_ns
        Between the events around the launch, and of the call.
    start_ns, between_ns
        From the launch's first event to the event before the node, and from there to the one after.
    bias_ns
        By the node's kind; 0 where that has none.
    is_calibrated
        Whether it has one.
    """

    extent_ns: int
    host_ns: int
    start_ns: IntArray
    between_ns: IntArray
    bias_ns: IntArray
    is_calibrated: BoolArray


@dataclass(frozen=True, slots=True)
class ExtraBias:
    """Bias of a graph's nodes beyond that of the GPU's chains.

    Attributes
    ----------
    each_ns
        Of every calibrated node.
    is_bound
        It is at least so much: branches ran beside each other.
    """

    each_ns: int
    is_bound: bool


def extra_biases(
    readings: Mapping[int, Sequence[Reading]], plain: Mapping[int, PlainTimes]
) -> dict[int, ExtraBias]:
    """Return the extra bias of each executable that ran both as copy and as it is.

    Parameters
    ----------
    readings
        Of copies, by ``graph_exec_id``.
    plain
        What its launches take as they are, likewise.
    """
    return {
        exec_id: found
        for exec_id, copies in readings.items()
        if exec_id in plain
        and plain[exec_id].count >= _LEAST_PLAIN
        and (found := _extra_bias(copies, plain[exec_id])) is not None
    }


def _extra_bias(copies: Sequence[Reading], plain: PlainTimes) -> ExtraBias | None:
    each, fraction = [], []
    for copy in copies:
        chain = observed_chain(copy.start_ns, copy.between_ns)
        calibrated = int(copy.is_calibrated[chain].sum())
        if not calibrated:
            return None
        longer_ns = _length(copy, chain) - (plain.event_ns - _lead(copy, chain, plain))
        usual_ns = int(copy.bias_ns[chain].sum()) + _steps(copy, chain)
        each.append((longer_ns - usual_ns) / calibrated)
        fraction.append(len(chain) / len(copy.start_ns))
    is_bound = float(np.median(fraction)) < _CHAIN_FRACTION
    extra_ns = round(float(np.median(each)))
    return ExtraBias(max(extra_ns, 0) if is_bound else extra_ns, is_bound)


def _length(copy: Reading, chain: IntArray) -> int:
    """Return how long a copy took from the first node's first event on."""
    return copy.extent_ns - int(copy.start_ns[chain[-1]])


def _lead(copy: Reading, chain: IntArray, plain: PlainTimes) -> float:
    """Return what lies between the event before a plain launch and its first node.

    On an idle GPU that is part of the call, and the call of a copy takes longer.
    """
    shorter = min(plain.host_ns / copy.host_ns, 1.0) if copy.host_ns > 0 else 1.0
    return int(copy.start_ns[chain[-1]]) * shorter


def _steps(copy: Reading, chain: IntArray) -> float:
    """Return the steps from each node's second event on, without the nodes that have no events."""
    forward = chain[::-1]
    ends = copy.start_ns[forward] + copy.between_ns[forward]
    steps = np.append(copy.start_ns[forward[1:]], copy.extent_ns) - ends
    usual = float(np.median(steps))
    return float(np.where(steps > _LONG_STEP * usual, usual, steps).sum())


def observed_chain(start_ns: IntArray, between_ns: IntArray) -> IntArray:
    """Return nodes that ran one behind the other, from the last one to end back to the first.

    Before each stands the one that ended last of those that had ended when it began.
    """
    end_ns = start_ns + between_ns
    by_end = np.argsort(end_ns, kind="stable")
    # A node of no time ends when it starts, and does not stand before itself.
    rank = np.argsort(by_end)
    before = np.minimum(np.searchsorted(end_ns[by_end], start_ns, "right"), rank) - 1
    found = [len(by_end) - 1]
    while (place := int(before[by_end[found[-1]]])) >= 0:
        found.append(place)
    return by_end[found]


def bias_measurements(
    calibrations: Sequence[CalibrationRecord], extra: Sequence[ExtraBias]
) -> dict[str, tuple[float | None, str, str]]:
    """Return the biases as measurements of the run: (value, unit, method) by name."""
    found: dict[str, tuple[float | None, str, str]] = {}
    for c in calibrations:
        is_outside = c.type == OUTSIDE_GRAPHS
        what = "outside_graphs" if is_outside else node_type_name(c.type).lower()
        kind = f"{what}_device_{c.device_id}_ns"
        found[f"event_bias_{kind}"] = (
            float(c.bias_ns),
            "ns",
            f"measured: median of {c.samples} readings between two events, {c.raw_ns} ns, less "
            f"{c.chain_ns} ns that a node and the way to the next take in the same chain without "
            f"events; median deviation {c.spread_ns} ns",
        )
        if is_outside:
            continue
        found[f"event_early_bias_{kind}"] = (
            float(c.early_bias_ns),
            "ns",
            f"measured: the same of {c.early_samples} readings before the launch call returned"
            if c.early_samples
            else "estimated: as after the launch call returned, for no reading was earlier",
        )
    if extra:
        each = [x.each_ns for x in extra]
        bounds = sum(x.is_bound for x in extra)
        found["event_extra_bias_ns"] = (
            float(np.median(each)),
            "ns",
            "derived: what copies with events take longer than plain launches of the same graph, "
            f"beyond the above, a node; median of {len(each)} executables, {min(each)} to "
            f"{max(each)} ns"
            + (f"; at least so much for {bounds} with branches" if bounds else ""),
        )
    return found
