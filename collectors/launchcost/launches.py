"""Experiment ``launch``: stream, first graph launch and relaunch, by shape and length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gviz.analysis import (
    Figure,
    Shape,
    Subject,
    fork_join,
    make_figures,
    parallel_lines,
    straight_line,
)
from gviz.collectors.launchcost import native
from gviz.collectors.launchcost.native import DEVICE, FINISH, HOST, Program
from gviz.collectors.launchcost.opening import opened, use_second_stream
from gviz.collectors.launchcost.plan import Gap, Plan
from gviz.stats import IntArray

EXPERIMENT, SECOND_STREAM = "launch", "second_stream"
#: A stream holds about 1,024 calls; a launch of more waits for the GPU and cannot be queued whole.
QUEUE_CALLS = 900
_FORK_WIDTHS = (2, 4)
_SECOND_STREAM_LENGTHS = (20, 100, 1000)


def shapes(plan: Plan) -> list[Shape]:
    """Return the shapes measured, each once."""
    found = [straight_line(length) for length in plan.lengths]
    for width in _FORK_WIDTHS:
        found += [fork_join(n, width) for n in plan.branched_lengths if n >= width + 2]
    for width in plan.line_widths:
        found += [parallel_lines(n, width) for n in plan.branched_lengths if n > width]
    unique = {(shape.topology, shape.width, shape.node_count): shape for shape in found}
    return list(unique.values())


def queue_limit_ns(node_count: int) -> int:
    """Return how long work waits in the queue at most: more than sending it takes."""
    return 2_000_000 + 20_000 * node_count


def measure_launches(plan: Plan) -> Iterator[Figure | Gap]:
    """Measure host and device time of launching every shape."""
    with opened(plan):
        for shape in shapes(plan):
            work = native.program(shape)
            yield from _stream(plan, work)
            with native.captured(work) as graph:
                yield from _graph(plan, shape, graph)
    long = [n for n in plan.lengths if n > QUEUE_CALLS]
    if long:
        yield Gap(
            f"{EXPERIMENT}: stream, device",
            f"streams of more than {QUEUE_CALLS} calls ({', '.join(map(str, long))} kernels in a "
            "straight line) do not fit into a queue, so their device time without waiting for "
            "the host cannot be measured",
        )


def _stream(plan: Plan, work: Program) -> Iterator[Figure]:
    readings = native.time_program(work, plan.repeats + plan.warm_up)
    yield from _idle_figures(plan, "stream", work.shape, readings)
    if len(work.calls) <= QUEUE_CALLS:
        queued = native.time_program(
            work,
            plan.repeats + plan.warm_up,
            queue_limit_ns=queue_limit_ns(work.shape.node_count),
        )
        yield from _device(plan, "stream", work.shape, queued)


def _graph(plan: Plan, shape: Shape, graph: int) -> Iterator[Figure]:
    lives = native.time_life(graph, plan.lives + plan.warm_up, upload=False)
    for quantity, column in (("host", "first host"), ("finish", "first finish")):
        times = lives[:, native.LIFE_COLUMNS.index(column)]
        yield from make_figures(
            Subject(EXPERIMENT, "first", quantity, shape), times, warm_up=plan.warm_up
        )
    limit = queue_limit_ns(shape.node_count)
    first = []
    for _ in range(plan.lives + plan.warm_up):
        with native.instantiated(graph) as graph_exec:
            first.append(native.time_exec(graph_exec, 1, queue_limit_ns=limit))
    yield from _device(plan, "first", shape, np.concatenate(first))
    with native.instantiated(graph) as graph_exec:
        readings = native.time_exec(graph_exec, plan.repeats + plan.warm_up)
        queued = native.time_exec(graph_exec, plan.repeats + plan.warm_up, queue_limit_ns=limit)
    yield from _idle_figures(plan, "relaunch", shape, readings)
    yield from _device(plan, "relaunch", shape, queued)


def measure_second_stream(plan: Plan) -> Iterator[Figure]:
    """Measure graphs before and after a second stream of the context was used."""
    with native.laboratory(plan.device):
        for subject in ("one stream used", "two streams used"):
            if subject != "one stream used":
                use_second_stream()
            for length in _SECOND_STREAM_LENGTHS:
                shape = straight_line(length)
                work = native.program(shape)
                with native.captured(work) as graph, native.instantiated(graph) as graph_exec:
                    readings = native.time_exec(
                        graph_exec,
                        plan.repeats + plan.warm_up,
                        queue_limit_ns=queue_limit_ns(length),
                    )
                yield from _device(plan, subject, shape, readings, SECOND_STREAM)


def _idle_figures(plan: Plan, subject: str, shape: Shape, readings: IntArray) -> Iterator[Figure]:
    """Make the figures of launches on an idle GPU: host, finish, elapsed."""
    for quantity, column in (("host", HOST), ("finish", FINISH), ("elapsed", DEVICE)):
        about = Subject(EXPERIMENT, subject, quantity, shape)
        yield from make_figures(about, readings[:, column], warm_up=plan.warm_up)


def _device(
    plan: Plan, subject: str, shape: Shape, readings: IntArray, experiment: str = EXPERIMENT
) -> Iterator[Figure]:
    about = Subject(experiment, subject, "device", shape)
    yield from make_figures(about, readings[:, DEVICE], warm_up=plan.warm_up)
