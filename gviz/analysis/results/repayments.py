"""Break-even: how many launches pay back what making a graph costs.

The smallest n with n x (stream cost - graph cost) > capture + instantiation + upload + what the
first launch takes longer. Costs of one launch and of one eager iteration are those of
:mod:`gviz.analysis.results.stream_gain`: both without node times where ``gviz.compare_stream``
measured them so, else both with node times on, and then n is at least so much.
"""

from __future__ import annotations

import math
from statistics import median

import numpy as np

from gviz.analysis.own_time import own_time
from gviz.analysis.results.first_calls import first_launches
from gviz.analysis.results.stream_gain import Gain, stream_result
from gviz.analysis.sound_times import span_ns
from gviz.analysis.subject import GraphSubject
from gviz.dataclass import dataclass
from gviz.stats import Evidence, NotComputed, distinct_values, figure

#: Why there is no setup cost.
NO_SETUP = (
    "no instantiation has a time: the graph was instantiated before gviz attached, or the clock "
    "stepped back"
)
#: Points of the curve.
_POINTS = 25


@dataclass(frozen=True, slots=True)
class SetupCost:
    """Cost of making a graph, once for each executable.

    Capture and instantiation are without what gviz's own callbacks took of them, as far as
    they are recorded; CUPTI's part stays in.
    """

    capture_ns: float | None = figure(
        "measured", "begin to end of the stream capture; null: built node by node, or not seen"
    )
    instantiate_ns: float = figure("measured", "median instantiation")
    own_ns: float | None = figure(
        "measured",
        "gviz's own callbacks, taken off capture and instantiation; null: not recorded, and they "
        "are in both",
    )
    upload_ns: float | None = figure("measured", "median upload; null: there was none")
    first_launch_ns: float | None = figure(
        "derived",
        "what the first launch call took longer than later ones that did not wait for a full "
        "queue, node times on for both or for neither, median; null: not known",
    )
    first_launch_count: int = figure(
        "measured", "executables of which that is known: they were launched again, so to compare"
    )
    total_ns: float = figure(
        "derived", "their sum; without the first launch where that is not known: at least so much"
    )
    executable_count: int = figure("measured", "executables behind it")


@dataclass(frozen=True, slots=True)
class PayBack:
    """Launches that pay back the setup, by one measure."""

    saved: Gain = figure("derived", "what one launch saves")
    launches: int | None = figure(
        "derived", "smallest number that pays back the setup; null: a launch saves nothing"
    )
    fewest: int | None = figure(
        "derived", "with the upper end of the interval of the saving; null: none pays it back"
    )
    most: int | None = figure(
        "derived",
        "with the lower end; null: with one iteration or launch there is none, or none pays it "
        "back",
    )


@dataclass(frozen=True, slots=True)
class Curve:
    """Time spent after so many launches; columns of one length."""

    launches: tuple[int, ...] = figure("stated", "how many")
    stream_ns: tuple[float, ...] = figure("derived", "by stream calls")
    graph_ns: tuple[float, ...] = figure("derived", "as a graph, its setup included")


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The number of launches after which a graph has paid back what it cost."""

    setup: SetupCost = figure("derived", "what making it costs")
    elapsed: PayBack = figure(
        "derived", "by total_ns of both sides of stream_comparison, or what alternate has of it"
    )
    host: PayBack | NotComputed = figure(
        "derived", "by the host's time in calls, what they wait for a full queue left out"
    )
    launches_seen: float = figure("measured", "launches of an executable in this run, median")
    curve: Curve = figure("derived", "by elapsed time")
    evidence: Evidence = figure("stated", "what it rests on")


def break_even(subject: GraphSubject) -> BreakEven | NotComputed:
    """Return when a graph pays back, from the comparison with its stream side."""
    compared = subject.once(stream_result)
    if isinstance(compared, NotComputed):
        return compared
    setup = setup_cost(subject)
    if setup is None:
        return NotComputed(NO_SETUP)
    gain = compared.headline
    elapsed = _pay_back(setup.total_ns, gain.saved)
    return BreakEven(
        setup=setup,
        elapsed=elapsed,
        host=gain.host_saved
        if isinstance(gain.host_saved, NotComputed)
        else _pay_back(setup.total_ns, gain.host_saved),
        launches_seen=float(median(e.launch_count for e in subject.execs)),
        curve=_curve(
            setup.total_ns,
            gain.eager_ns,
            gain.graph_ns,
            2 * (elapsed.launches or 50),
        ),
        evidence=gain.evidence,
    )


def _pay_back(setup_ns: float, saved: Gain) -> PayBack:
    return PayBack(
        saved=saved,
        launches=launches_to_pay_back(setup_ns, saved.mean_ns),
        fewest=None
        if saved.interval.high is None
        else launches_to_pay_back(setup_ns, saved.interval.high),
        most=None
        if saved.interval.low is None
        else launches_to_pay_back(setup_ns, saved.interval.low),
    )


def launches_to_pay_back(setup_ns: float, saved_ns: float) -> int | None:
    """Return the smallest n with n x saved > setup; None: there is none."""
    return None if saved_ns <= 0 else math.floor(setup_ns / saved_ns) + 1


def _curve(setup_ns: float, stream_ns: float, graph_ns: float, most: int) -> Curve:
    launches = distinct_values(np.linspace(0, max(most, 2), _POINTS).round().astype(int)).tolist()
    return Curve(
        launches=tuple(launches),
        stream_ns=tuple(n * stream_ns for n in launches),
        graph_ns=tuple(setup_ns + n * graph_ns for n in launches),
    )


def setup_cost(subject: GraphSubject) -> SetupCost | None:
    """Return what an executable costs; None: no instantiation was seen."""
    row, execs = subject.row, subject.execs
    instantiated = [span_ns(e.instantiate_start_ns, e.instantiate_end_ns) for e in execs]
    uploaded = [span_ns(e.upload_start_ns, e.upload_end_ns) for e in execs]
    known = [ns for ns in instantiated if ns is not None]
    if not known:
        return None
    uploads = [ns for ns in uploaded if ns is not None]
    surplus = [found.surplus_ns for found in first_launches(subject)]
    upload = float(median(uploads)) if uploads else None
    first = float(median(surplus)) if surplus else None
    own = own_time(subject.recording, row.run_id)
    capture, instantiate = span_ns(row.capture_start_ns, row.capture_end_ns), median(known)
    theirs, own_capture = _less(capture, own.capture)
    made, own_made = _less(float(instantiate), own.instantiate)
    return SetupCost(
        capture_ns=theirs,
        instantiate_ns=made or 0.0,
        own_ns=None if own_made is None or own_capture is None else own_made + own_capture,
        upload_ns=upload,
        first_launch_ns=first,
        first_launch_count=len(surplus),
        total_ns=(theirs or 0.0) + (made or 0.0) + (upload or 0.0) + (first or 0.0),
        executable_count=len(known),
    )


def _less(ns: float | None, own: float | None) -> tuple[float | None, float | None]:
    """Return a time without gviz's own part, and that part; None: not known."""
    if ns is None:
        return None, 0.0
    return (ns, None) if own is None else (ns * (1 - own), ns * own)
