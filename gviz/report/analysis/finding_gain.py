"""The gain of a finding in words: what was measured, its bound, or the range that it lies in."""

from __future__ import annotations

from dataclasses import replace

from gviz.analysis import RULES, Finding
from gviz.report.document import (
    Bound,
    Line,
    Quantity,
    caveat_text,
    gain_range,
    line,
    measured_gain,
    ns,
    results_text,
)
from gviz.stats import Evidence, How


def gain_number(found: Finding, evidence: Evidence) -> Quantity:
    """Return the gain as one number, with what its rule assumes; ``evidence``: of its graph.

    One that was measured rests on the pairs of launches of its trial, and assumes nothing.
    """
    if found.trial_results is not None:
        return replace(_measured(found), wording="")
    rule = RULES.get(found.rule)
    caveats = [] if rule is None else [rule.assumes]
    caveats += [text] if (text := caveat_text(evidence)) else []
    return ns(found.gain_ns, found.gain_how, n=evidence.n, caveat="; ".join(caveats) or None)


def gain_line(found: Finding, evidence: Evidence) -> Line:
    """Return the gain in words, such as ``estimated 30.0 to 60.0 µs per launch``."""
    per, gain = f" per {found.gain_per}", gain_number(found, evidence)
    if found.trial_results is not None:
        return line(_measured(found), f"{per}, {results_text(found.trial_results)}")
    if found.not_tried is not None:
        return line(f"not tried: {found.not_tried}; ", _computed(found, gain), per)
    return line(_computed(found, gain), per)


def gain_over_run(found: Finding, evidence: Evidence) -> Quantity | None:
    """Return the gain over all launches of a run; None: it is one of the run."""
    if found.gain_per != "launch":
        return None
    gain = gain_number(found, evidence)
    how: How = "estimated" if found.trial_results is None else "derived"
    return _bounded(found, replace(gain, value=found.run_gain_ns, how=how, interval=None))


def _measured(found: Finding) -> Quantity:
    low, high = found.gain_low_ns or 0.0, found.gain_high_ns or 0.0
    return replace(measured_gain(found.gain_ns, low, high), n=found.trial_count)


def _bounded(found: Finding, gain: Quantity) -> Quantity:
    bounds: tuple[Bound, ...] = ("at most", "at least")
    return replace(gain, bound=next((x for x in bounds if x == found.gain_bound), ""))


def _computed(found: Finding, gain: Quantity) -> Quantity:
    if found.gain_bound != "about":
        return _bounded(found, gain)
    if found.gain_low_ns is None or found.gain_high_ns is None:
        return gain
    return gain_range(gain, found.gain_low_ns, found.gain_high_ns)
