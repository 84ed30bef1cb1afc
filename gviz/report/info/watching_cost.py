"""Sentences on what watching cost the program: from the measurements of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gviz.report.document import Sentence, ns, say
from gviz.text import counted, percent


def watching_cost(measured: Mapping[str, float]) -> Iterator[Sentence]:
    """Yield a sentence for each thing that watching did to the program; none for what it did not.

    Parameters
    ----------
    measured
        The values of a run's measurements, by name.
    """
    if share := measured.get("launch_event_share"):
        yield say(f"Events around launches took {percent(share, 2)} of the wall time on the host.")
    yield from _copies(measured)
    if passed := int(measured.get("launches_counted", 0)):
        yield say(f"{counted(passed, 'launch', 'launches')} passed: counted, and nothing more.")
    if passed := int(measured.get("updates_counted", 0)):
        yield say(
            f"{counted(passed, 'update')} of nodes passed: counted, each as long as the mean of "
            "those that were timed."
        )
    yield from _gate(measured)


def _copies(measured: Mapping[str, float]) -> Iterator[Sentence]:
    made = int(measured.get("copies_made", 0))
    if made:
        yield say(
            f"{counted(made, 'instrumented copy', 'instrumented copies')} made "
            f"{counted(int(measured.get('launches_by_copy', 0)), 'launch', 'launches')} in the "
            "program's place; building them took ",
            ns(measured.get("copies_ns"), "measured"),
            " on a thread of gviz's own, and ",
            ns(measured.get("copies_call_ns", 0.0), "measured"),
            " inside its calls.",
        )


def _gate(measured: Mapping[str, float]) -> Iterator[Sentence]:
    tries = int(measured.get("gate_closings", 0) + measured.get("gate_closings_given_up", 0))
    if tries:
        yield say(
            f"The gate was tried {counted(tries, 'time')}, closed "
            f"{counted(int(measured['gate_closings']), 'time')}, and held "
            f"{counted(int(measured.get('gate_calls_held', 0)), 'call')}, the longest for ",
            ns(measured.get("gate_longest_hold_ns"), "measured"),
            ".",
        )
    if holes := int(measured.get("gate_holes", 0)):
        named = "; the notes name them" if tries else ""
        what = counted(holes, "function or export table", "functions and export tables")
        yield say(f"The gate does not see behind {what} of the driver{named}.")
