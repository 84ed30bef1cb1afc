"""The gain of a finding in words: its bound, or the range that it lies in."""

from __future__ import annotations

from gviz.analysis import Finding
from gviz.report.document import Line, gain_text, line, ns


def gain_line(found: Finding) -> Line:
    """Return the gain in words, such as ``estimated 30.0 to 60.0 µs per launch``."""
    per = f" per {found.gain_per}"
    if found.gain_bound != "about":
        return line(f"{found.gain_bound} ", ns(found.gain_ns, found.gain_how), per)
    if found.gain_low_ns is None or found.gain_high_ns is None:
        return line(ns(found.gain_ns, found.gain_how), per)
    return line(f"{gain_text(found.gain_how, found.gain_low_ns, found.gain_high_ns)}{per}")
