"""Measurements of a run in everyday words: what measuring cost, corrected and lost."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from gviz.app.components import facts, moment
from gviz.recording import rows
from gviz.text import with_unit

#: Nanoseconds beyond a year are points in time, not durations.
_MOMENT_NS = 3.2e16
#: Names as recordings have them, in everyday words.
_WORDS = {
    "activity_records": "Records of GPU work",
    "activity_records_dropped": "Records that CUPTI lost",
    "activity_records_duplicate": "Records that came twice",
    "activity_records_homeless": "Records of no known launch",
    "activity_records_invalid": "Records without a usable time",
    "capture_own_ns": "Time of gviz inside stream captures",
    "capture_watched_ns": "Stream captures, gviz included",
    "copies_call_ns": "Time of gviz inside calls, for event copies",
    "copies_made": "Event copies built",
    "copies_ns": "Building event copies, beside the program",
    "copy_times_lost": "Launches whose events could not be read",
    "eager_operations_seen": "Eager operations timed",
    "eager_times_at_most": "Eager times that are upper bounds",
    "event_extra_bias_ns": "Further taken off each node's time",
    "events_calibration_ns": "Calibration of events",
    "gate_calls_held": "Calls that waited for gviz",
    "gate_closings": "Pauses of the program's calls",
    "gate_closings_given_up": "Pauses that could not be made",
    "gate_closings_overrun": "Pauses ended after 250 ms",
    "gate_holes": "Driver functions called past gviz",
    "gate_longest_hold_ns": "Longest wait of a call for gviz",
    "instantiate_own_ns": "Time of gviz inside instantiations",
    "instantiate_watched_ns": "Instantiations, gviz included",
    "launch_event_cost_ns": "Two events around a launch",
    "launch_event_share": "Events around launches, share of the run",
    "launches_by_copy": "Launches made by an event copy",
    "launches_thinned": "Launches left without events, to cost less",
    "launches_timed_by_events": "Launches timed by events",
    "launches_with_impossible_times": "Launches left out: times contradict edges",
    "launches_without_node_times": "Launches whose node times did not arrive",
    "memory_questions_ns": "Asking for free memory",
    "nvtx_ranges_left_out": "NVTX ranges left out",
    "operators_left_out": "Operators of PyTorch left out",
    "spool_bytes": "Written while recording",
    "window_closing_wait_ns": "Waiting for work in flight",
}
_BIAS = re.compile(r"event_(early_)?bias_(kernel|memcpy|memset|outside_graphs)_device_(\d+)_ns")
_BIASED = {
    "kernel": "a kernel's",
    "memcpy": "a copy's",
    "memset": "a memset's",
    "outside_graphs": "an eager operation's",
}


def measurement_name(measurement: rows.Measurement) -> str:
    """Return what a measurement is, in words; its unit stands with the value."""
    return _words(measurement) or _plain(measurement)


def _words(measurement: rows.Measurement) -> str | None:
    bias = _BIAS.fullmatch(measurement.name)
    if bias is None:
        return _WORDS.get(measurement.name)
    early = " that starts during the call" if bias[1] else ""
    return f"Taken off {_BIASED[bias[2]]} time{early}, GPU {bias[3]}"


def _plain(measurement: rows.Measurement) -> str:
    return measurement.name.removesuffix(f"_{measurement.unit}").replace("_", " ")


def measurement_text(measurement: rows.Measurement) -> str:
    """Return a measurement's value with its unit; 'not measured' where there is none."""
    if measurement.value is None:
        return "not measured"
    if measurement.unit == "ns" and measurement.value > _MOMENT_NS:
        return moment(int(measurement.value))
    return with_unit(measurement.value, measurement.unit)


def measurement_list(
    first: Sequence[tuple[str, str, str]], measurements: Sequence[rows.Measurement]
) -> list[Component]:
    """Return figures in everyday words, and every counter by its recorded name under details.

    Parameters
    ----------
    first
        Name, value and method of what stands before the measurements.
    """
    # What did not happen needs no line.
    lines = [(m, words) for m in measurements if m.value and (words := _words(m))]
    shown = [*first, *((words, measurement_text(m), m.method) for m, words in lines)]
    every = [(m.name, measurement_text(m), m.method) for m in measurements]
    found: list[Component] = []
    if shown:
        found.append(facts(shown, className="gv-facts gv-facts-wide"))
    if every:
        raw = facts(every, className="gv-facts gv-facts-wide gv-facts-raw")
        title = html.Summary("Every counter, as the recording names it")
        found.append(html.Details([title, raw], className="gv-counters"))
    return found
