"""Experiments ``threads`` and ``jitter``: several host threads, and a host that is busy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import product

from gviz.analysis import Figure, Subject, make_figures, straight_line
from gviz.collectors.launchcost import native
from gviz.collectors.launchcost.native import FINISH, HOST
from gviz.collectors.launchcost.opening import opened
from gviz.collectors.launchcost.plan import Plan

THREADS, JITTER = "threads", "jitter"
_KERNELS = 20
#: Launches of each thread; of them the first few are discarded.
_LAUNCHES = 200
_JITTER_LAUNCHES = 2000


def measure_threads(plan: Plan) -> Iterator[Figure]:
    """Measure host and launch-to-finish time when several threads launch at once."""
    shape = straight_line(_KERNELS)
    with opened(plan):
        work = native.program(shape)
        with native.captured(work) as graph:
            sides = (("stream", None), ("graph", graph))
            for threads, (subject, launched) in product(plan.threads, sides):
                readings = native.contend(work, launched, threads, _LAUNCHES)
                kept = readings[:, plan.warm_up :].reshape(-1, 3)
                for quantity, column in (("host", HOST), ("finish", FINISH)):
                    about = Subject(THREADS, subject, quantity, shape, "threads", float(threads))
                    yield from make_figures(about, kept[:, column])


def measure_jitter(plan: Plan) -> Iterator[Figure]:
    """Measure how far launch-to-finish times spread, the host idle and all its cores busy."""
    shape = straight_line(_KERNELS)
    cores = len(os.sched_getaffinity(0))
    with opened(plan):
        work = native.program(shape)
        with native.captured(work) as graph:
            for host, threads in (("idle host", 0), ("busy host", min(64, cores))):
                with native.busy_host(threads) if threads else nullcontext():
                    for subject, launched in (("stream", None), ("graph", graph)):
                        readings = native.contend(work, launched, 1, _JITTER_LAUNCHES)[0]
                        about = Subject(
                            JITTER, f"{subject}, {host}", "finish", shape, "busy_threads", threads
                        )
                        yield from make_figures(about, readings[:, FINISH], warm_up=plan.warm_up)
