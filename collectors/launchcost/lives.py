"""Experiments ``life`` and ``loop``: the calls of a graph's life, and what to do each iteration."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gviz.analysis import Call, Figure, Shape, Subject, make_figures, straight_line
from gviz.collectors.launchcost import native
from gviz.collectors.launchcost.native import Loop, Program
from gviz.collectors.launchcost.opening import opened
from gviz.collectors.launchcost.plan import Plan
from gviz.stats import IntArray

LIFE, LOOP = "life", "loop"
_LOOP_LENGTHS = (10, 100, 1000)
_LOOP_NAMES = {
    Loop.STREAM: "stream",
    Loop.INSTANTIATE: "instantiate again",
    Loop.UPDATE: "update",
    Loop.LAUNCH: "launch again",
}
_LOOP_ITERATIONS = 20


def _figures(
    experiment: str, subject: str, shape: Shape, times: IntArray, warm_up: int
) -> Iterator[Figure]:
    yield from make_figures(Subject(experiment, subject, "host", shape), times, warm_up=warm_up)


def measure_lives(plan: Plan) -> Iterator[Figure]:
    """Measure capture, instantiation, upload, updates, enabling and destruction by length."""
    with opened(plan):
        for length in plan.lengths:
            work = native.program(straight_line(length))
            captures = native.time_capture(work, plan.lives + plan.warm_up)
            yield from _figures(LIFE, "capture", work.shape, captures, plan.warm_up)
            with native.captured(work) as graph:
                yield from _life(plan, work.shape, graph)
            yield from _updates(plan, length)
    yield from _fresh(plan)


def _life(plan: Plan, shape: Shape, graph: int) -> Iterator[Figure]:
    count = plan.lives + plan.warm_up
    plain = native.time_life(graph, count, upload=False)
    uploaded = native.time_life(graph, count, upload=True)
    column = native.LIFE_COLUMNS.index
    named = {
        "instantiate": plain[:, column("instantiate")],
        "destroy": plain[:, column("destroy")],
        "upload": uploaded[:, column("upload")],
        "upload and wait": uploaded[:, column("upload finish")],
        "first launch": plain[:, column("first host")],
        "first launch after upload": uploaded[:, column("first host")],
        "second launch": plain[:, column("again host")],
    }
    for subject, times in named.items():
        yield from _figures(LIFE, subject, shape, times, plan.warm_up)
    for subject, name in (("first launch", "first finish"), ("second launch", "again finish")):
        about = Subject(LIFE, subject, "finish", shape)
        yield from make_figures(about, plain[:, column(name)], warm_up=plan.warm_up)


def _updates(plan: Plan, length: int) -> Iterator[Figure]:
    """Measure updates of kernels that take an argument, as those of programs do."""
    count = plan.lives + plan.warm_up
    shape = straight_line(length, (Call.SPIN,))
    work, longer = native.program(shape, 0), native.program(shape, 1)
    with native.captured(work) as graph:
        with native.captured(work) as same, native.instantiated(graph) as graph_exec:
            times = native.time_update(graph_exec, same, graph, count)
            yield from _figures(LIFE, "update, same arguments", work.shape, times, plan.warm_up)
        with native.captured(longer) as changed, native.instantiated(graph) as graph_exec:
            times = native.time_update(graph_exec, changed, graph, count)
            yield from _figures(LIFE, "update", work.shape, times, plan.warm_up)
        with native.instantiated(graph) as graph_exec:
            times = native.time_node_updates(graph_exec, graph, count)
            yield from _figures(LIFE, "update every node", work.shape, times, plan.warm_up)
            off, on = native.time_enabling(graph_exec, graph, count)
            yield from _figures(LIFE, "disable every node", work.shape, off, plan.warm_up)
            yield from _figures(LIFE, "enable every node", work.shape, on, plan.warm_up)


def _fresh(plan: Plan) -> Iterator[Figure]:
    """Measure the first instantiation of a context, and the first after the largest graph's."""
    largest = native.program(straight_line(max(plan.lengths)))
    for length in plan.lengths[:: max(1, len(plan.lengths) // 5)]:
        work = native.program(straight_line(length))
        for subject, before in (("cold", None), ("warmed", largest)):
            lives = [_first_life(plan, work, before) for _ in range(plan.fresh)]
            for what, index in (("instantiate", 0), ("first launch", 1)):
                times = [life[index] for life in lives]
                about = Subject(LIFE, f"{what}, {subject}", "host", work.shape)
                yield from make_figures(about, times)


def _first_life(plan: Plan, work: Program, before: Program | None) -> tuple[int, int]:
    """Return instantiation and first launch in a fresh context, ``before`` made and gone."""
    with native.laboratory(plan.device):
        native.time_program(native.program(straight_line(1)), 1)  # the kernel itself is loaded
        if before is not None:
            with native.captured(before) as graph:
                native.time_life(graph, 1, upload=True)
        with native.captured(work) as graph:
            life = native.time_life(graph, 1, upload=False)[0]
    return int(life[0]), int(life[native.LIFE_COLUMNS.index("first host")])


def measure_loops(plan: Plan) -> Iterator[Figure]:
    """Measure one loop without a graph and three ways with one; time an iteration."""
    with opened(plan):
        for length in _LOOP_LENGTHS:
            work = native.program(straight_line(length, (Call.SPIN,)), 0)
            times: dict[Loop, list[float]] = {how: [] for how in _LOOP_NAMES}
            for _ in range(plan.lives + plan.warm_up):  # alternately: all meet the same host
                for how in _LOOP_NAMES:
                    times[how].append(native.time_loop(how, work, _LOOP_ITERATIONS))
            for how, name in _LOOP_NAMES.items():
                about = Subject(LOOP, name, "finish", work.shape)
                each = np.array(times[how]) / _LOOP_ITERATIONS
                yield from make_figures(about, each, warm_up=plan.warm_up)
