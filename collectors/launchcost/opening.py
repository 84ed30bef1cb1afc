"""A laboratory in the state that programs are in: warmed up, more than one stream used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gviz.analysis import parallel_lines, straight_line
from gviz.collectors.launchcost import native
from gviz.collectors.launchcost.plan import Plan


@contextmanager
def opened(plan: Plan) -> Iterator[None]:
    """Hold the laboratory; what happens only once in a context has happened already.

    Some ten kernels were sent into a second stream, because nodes of a graph that follow
    each other are 0.18 µs further apart from then on (H100, driver 580; experiment
    ``second_stream``), and programs that capture graphs nearly always use more than one.
    The largest graph was made once, because the driver keeps what it reserved for it.
    """
    with native.laboratory(plan.device):
        use_second_stream()
        work = native.program(straight_line(max(plan.lengths)))
        native.time_program(work, plan.warm_up)
        with native.captured(work) as graph:
            native.time_life(graph, plan.warm_up, upload=True)
        yield


def use_second_stream() -> None:
    """Send kernels into two streams and wait for them; two kernels change nothing, ten do."""
    native.time_program(native.program(parallel_lines(101, 2)), 1)
