"""The gain of a finding in words: what was measured, its bound, or the range that it lies in."""

from __future__ import annotations

from gviz.analysis import Finding
from gviz.report.document import Line, gain_text, line, measured_text, ns, results_text


def gain_line(found: Finding) -> Line:
    """Return the gain in words, such as ``estimated 30.0 to 60.0 µs per launch``."""
    per = f" per {found.gain_per}"
    if found.trial_results is not None:
        low, high = found.gain_low_ns, found.gain_high_ns
        text = measured_text(found.gain_ns, low or 0.0, high or 0.0)
        return line(f"{text}{per}, {results_text(found.trial_results)}")
    if found.not_tried is not None:
        return line(f"not tried: {found.not_tried}; ", *_computed(found, per))
    return line(*_computed(found, per))


def _computed(found: Finding, per: str) -> Line:
    if found.gain_bound != "about":
        return line(f"{found.gain_bound} ", ns(found.gain_ns, found.gain_how), per)
    if found.gain_low_ns is None or found.gain_high_ns is None:
        return line(ns(found.gain_ns, found.gain_how), per)
    return line(f"{gain_text(found.gain_how, found.gain_low_ns, found.gain_high_ns)}{per}")
