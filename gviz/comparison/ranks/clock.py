"""The clocks of several runs: whether their times can be compared, and why not.

All positions in time of a recording are on CUPTI's clock, which on Linux is the machine's wall
clock (CLOCK_REALTIME): processes of one machine share it, whatever it is set to. Of two machines
nothing in a recording shows how far their clocks are apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from gviz.comparison.ranks.result import Clock
from gviz.recording import rows


def judge_clock(runs: Sequence[rows.Run]) -> Clock:
    """Return whether the times of some runs are on one clock, with the reason in words."""
    imported = [run.name for run in runs if run.source == "import"]
    if imported:
        return Clock(False, f"{_listed(imported)} was imported: its clock is not known")
    unknown = [run.name for run in runs if run.host is None]
    if unknown:
        return Clock(False, f"the machine of {_listed(unknown)} is not known")
    hosts = list(dict.fromkeys(str(run.host) for run in runs))
    if len(hosts) > 1:
        return Clock(
            False,
            f"the runs come from {len(hosts)} machines ({_listed(hosts)}), and how far their wall "
            "clocks are apart is not recorded: starts are not compared, durations are",
        )
    for one, two in combinations(runs, 2):
        if one.process_id is not None and one.process_id == two.process_id and _overlap(one, two):
            return Clock(
                False,
                f"{one.name} and {two.name} were process {one.process_id} of {hosts[0]} at the "
                "same time: these are two machines of one name, or containers of their own",
            )
    return Clock(True, f"all runs are of {hosts[0]}, whose wall clock they share")


def _overlap(one: rows.Run, two: rows.Run) -> bool:
    starts, ends = (one.started_ns, two.started_ns), (one.ended_ns, two.ended_ns)
    if None in (*starts, *ends):
        return False
    return max(s or 0 for s in starts) < min(e or 0 for e in ends)


def _listed(names: Sequence[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
