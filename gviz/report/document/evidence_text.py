"""Evidence of a figure in words: the state that launches were timed in, and what may be wrong."""

from __future__ import annotations

from dataclasses import replace

from gviz.model import LaunchTimes
from gviz.report.document.quantity import Bound, Quantity, digits_apart, range_text
from gviz.stats import CuptiState, Evidence
from gviz.text import counted, duration, percent, signed_duration

#: The state that something was timed in, in a word or two.
STATE_NAMES = {
    CuptiState.PLAIN: "plain",
    CuptiState.ATTACHED: "CUPTI attached",
    CuptiState.RECORDED: "recorded",
}
_MEANING = {
    CuptiState.PLAIN: "timed without CUPTI in the process",
    CuptiState.ATTACHED: "timed while CUPTI was attached, without node times",
    CuptiState.RECORDED: "timed while node times were recorded, which makes it longer",
}


def state_text(evidence: Evidence) -> str:
    """Return the state in a word or two; empty: nothing was timed."""
    return "" if evidence.state is None else STATE_NAMES[evidence.state]


def basis_text(evidence: Evidence) -> str:
    """Return the state, and of how many values a figure is the median."""
    return f"{state_text(evidence)}, {count_text(evidence)}"


def count_text(evidence: Evidence) -> str:
    """Return of how many launches a figure is the median."""
    if evidence.n > 1:
        return f"median of {evidence.n:,}"
    return "only the first" if evidence.is_cold else "one launch"


def launch_text(found: LaunchTimes) -> str:
    """Return how long a launch takes, with what it rests on; empty: none was timed."""
    return "" if found.evidence is None else f"{duration(found.median_ns)} ({spread_text(found)})"


def spread_text(found: LaunchTimes) -> str:
    """Return the state that launches were timed in, how many, and between what most of them lie."""
    if found.evidence is None:
        return ""
    basis = basis_text(found.evidence)
    if found.count < 2:
        return basis
    return f"{basis}, {spread_ends(found.low_ns, found.high_ns)}"


def spread_ends(low_ns: float | None, high_ns: float | None) -> str:
    """Return between what times others lie."""

    def ends(digits: int) -> tuple[str, str]:
        return duration(low_ns, digits), duration(high_ns, digits)

    low, high = ends(digits_apart(ends))
    return f"{low} to {high}" if low != high else "all alike"


def contradictions_text(evidence: Evidence) -> str:
    """Return what in its times contradicts itself, as the end of a sentence; empty: nothing."""
    if not evidence.contradiction_count:
        return ""
    count = counted(evidence.contradiction_count, "contradiction")
    return f", although its times have {count} of up to {duration(evidence.worst_contradiction_ns)}"


def caveat_text(evidence: Evidence) -> str:
    """Return all that may make a figure wrong."""
    parts = [] if evidence.state is None else [_MEANING[evidence.state]]
    if evidence.is_cold:
        parts.append("first launches or iterations only, which load and upload")
    if evidence.coverage_fraction < 1:
        parts.append(f"times of {percent(evidence.coverage_fraction)} of the nodes")
    if evidence.exchangeable_count:
        parts.append(f"{counted(evidence.exchangeable_count, 'node')} exchangeable")
    if evidence.contradiction_count:
        count = counted(evidence.contradiction_count, "contradiction")
        parts.append(f"{count} of up to {duration(evidence.worst_contradiction_ns)} in its times")
    return "; ".join(parts)


def resting_on(found: Quantity, evidence: Evidence) -> Quantity:
    """Return a quantity with how many values it rests on, what bounds it, and may make it wrong."""
    caveat = caveat_text(evidence) or None
    return bounded(replace(found, n=evidence.n, caveat=caveat), evidence)


def bounded(found: Quantity, evidence: Evidence) -> Quantity:
    """Return a time, a saving or a ratio of eager iterations with its bound."""
    return replace(found, bound="at most") if evidence.is_at_most else found


def negated(found: Quantity) -> Quantity:
    """Return what the graph costs, of what it saves."""
    value = None if found.value is None else -found.value
    ends = None if found.interval is None else (-found.interval[1], -found.interval[0])
    bound: Bound = "at least" if found.bound == "at most" else found.bound
    return replace(found, value=value, interval=ends, bound=bound)


def gain_text(how: str, low_ns: float, high_ns: float) -> str:
    """Return a gain, as ``estimated 30.0 to 60.0 µs``; with signs where it may be a loss."""
    return f"{how} {gain_ends(low_ns, high_ns)}"


def gain_ends(low_ns: float, high_ns: float) -> str:
    """Return the range of a gain, as ``30.0 to 60.0 µs``; with signs where it may be a loss."""
    if low_ns < 0:
        return f"{signed_duration(low_ns)} to {signed_duration(high_ns)}"
    return range_text(duration(low_ns), duration(high_ns))


def gain_range(found: Quantity, low_ns: float, high_ns: float) -> Quantity:
    """Return a gain that shows the range it lies in."""
    wording = gain_text(found.how, low_ns, high_ns)
    return replace(found, interval=(low_ns, high_ns), wording=wording)


def measured_gain(gain_ns: float, low_ns: float, high_ns: float) -> Quantity:
    """Return what a trial measured of a launch, with its interval."""
    wording = measured_text(gain_ns, low_ns, high_ns)
    interval = (low_ns, high_ns)
    return Quantity(gain_ns, "ns", "measured", interval=interval, wording=wording)


def measured_text(gain_ns: float, low_ns: float, high_ns: float) -> str:
    """Return what a trial measured of a launch, as ``measured −41.0 µs (−43.0 to −38.0 µs)``."""
    ends = range_text(signed_duration(-high_ns), signed_duration(-low_ns))
    return f"measured {signed_duration(-gain_ns)} ({ends})"


def results_text(results: str) -> str:
    """Return what is known of the results of a trial (column results of table trial)."""
    if results == "not tested":
        return "results not compared, for the graph does not repeat its own"
    return f"results {results}"


def interval_text(found: Quantity) -> str:
    """Return the interval of a quantity with its width; empty: it has none."""
    if found.interval is None:
        return ""
    text = found.interval_text
    return text if found.is_within_clock else f"{text}, {found.width_text} wide"
