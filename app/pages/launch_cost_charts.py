"""The charts of the page Launch costs, made from the figures of one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dash.development.base_component import Component

from gviz.analysis import STRAIGHT_LINE, Figure, Figures
from gviz.app.components import Axis, Series, chart
from gviz.dataclass import dataclass

_NODES = Axis("kernels in a straight line", log=True)
_LAUNCHES = (
    ("stream", "into a stream"),
    ("stream from Python", "into a stream, from Python (CuPy)"),
    ("first", "graph, first launch"),
    ("relaunch", "graph, launched again"),
)
_MAKING = ("capture", "instantiate", "upload and wait", "destroy")
_CHANGING = (
    "update",
    "update, same arguments",
    "update every node",
    "disable every node",
    "enable every node",
)


@dataclass(frozen=True, slots=True)
class BenchSection:
    """One chart with what it answers.

    Attributes
    ----------
    question
        Its heading.
    note
        How to read it.
    body
        The chart.
    """

    question: str
    note: str
    body: Component


def sections(figures: Figures) -> list[BenchSection]:
    """Return the charts for which something was measured, in the order of the questions."""
    makers: tuple[Callable[[Figures], BenchSection | None], ...] = (
        _host,
        _device,
        _branches,
        _second_stream,
        _break_even,
        _life,
        _changes,
        _loop,
        _gain,
        _batch,
        _idle,
        _kinds,
        _threads,
        _jitter,
        _device_launch,
        _traffic,
    )
    return [found for make in makers if (found := make(figures)) is not None]


def _series(
    name: str,
    figures: Sequence[Figure],
    x: Callable[[Figure], float | str],
    scale: Callable[[Figure], float],
) -> Series:
    """Return medians with quartiles; ``scale`` is what values are divided by."""
    return Series(
        name,
        [x(f) for f in figures],
        [f.median / scale(f) for f in figures],
        [f.low / scale(f) for f in figures],
        [f.high / scale(f) for f in figures],
        [f"{f.reading_count} readings, {f.outlier_count} far out" for f in figures],
    )


def _nodes(figure: Figure) -> float:
    return float(figure.node_count or 0)


def _parameter(figure: Figure) -> float:
    return float(figure.parameter_value or 0)


def _microseconds(_: Figure) -> float:
    return 1e3


def _a_node(figure: Figure) -> float:
    return 1e3 * (figure.node_count or 1)


def _launch_lines(figures: Figures, quantity: str) -> list[Series]:
    found = []
    for subject, name in _LAUNCHES:
        line = figures.select("launch", subject, quantity, STRAIGHT_LINE)
        if line:
            found.append(_series(name, line, _nodes, _a_node))
    return found


def _host(figures: Figures) -> BenchSection | None:
    series = _launch_lines(figures, "host")
    if not series:
        return None
    return BenchSection(
        "What does launching cost the host?",
        "Host time in the launch calls, a kernel, on an idle GPU. Launching a graph again costs "
        "nearly the same for any length; its share a kernel vanishes.",
        chart("host", series, _NODES, Axis("µs a kernel", log=True)),
    )


def _device(figures: Figures) -> BenchSection | None:
    series = _launch_lines(figures, "device")
    if not series:
        return None
    return BenchSection(
        "What does a kernel cost the GPU?",
        "Time on the GPU, a kernel, with all of it waiting in the queue: what the host does is "
        "not in it. Kernels are empty, so this is what lies between kernels.",
        chart("device", series, _NODES, Axis("µs a kernel", log=False)),
    )


def _branches(figures: Figures) -> BenchSection | None:
    shapes = dict.fromkeys(
        (f.topology, f.width)
        for f in figures.select("launch", "relaunch", "device")
        if f.topology is not None and f.width in (1, 2, 4, 16, 64)
    )
    series = []
    for topology, width in shapes:
        line = figures.select("launch", "relaunch", "device", topology, width)
        if topology == "parallel lines" and width == 1:
            continue  # a straight line
        name = topology if topology == STRAIGHT_LINE else f"{topology}, {width} wide"
        series.append(_series(str(name), line, _nodes, _a_node))
    if len(series) < 2:
        return None
    return BenchSection(
        "What do branches give?",
        "Time on the GPU, a kernel, of a graph launched again, by its shape. Kernels are empty: "
        "branches hide the way from one kernel to the next.",
        chart("branches", series[:7], Axis("kernels", log=True), Axis("µs a kernel", log=True)),
    )


def _second_stream(figures: Figures) -> BenchSection | None:
    series = [
        _series(subject, figures.select("second_stream", subject), _nodes, _a_node)
        for subject in figures.subjects("second_stream")
    ]
    if not series:
        return None
    return BenchSection(
        "Does it matter which streams were used before?",
        "The same graph on the GPU, a kernel, before and after some kernels went into a second "
        "stream of the process. All other figures are taken after.",
        chart("second_stream", series, _NODES, Axis("µs a kernel")),
    )


def _break_even(figures: Figures) -> BenchSection | None:
    found = [e for e in figures.break_evens() if e.found.launches is not None]
    if not found:
        return None
    series = Series(
        "launches", [e.node_count for e in found], [float(e.found.launches or 0) for e in found]
    )
    return BenchSection(
        "After how many launches has a graph paid?",
        "Derived from host times: capture, instantiation and first launch against launching the "
        "same kernels into a stream.",
        chart("break_even", [series], _NODES, Axis("launches")),
    )


def _life(figures: Figures) -> BenchSection | None:
    return _steps(
        figures,
        _MAKING,
        "What does making a graph cost?",
        "Host time of each step of a graph's life.",
        "life",
    )


def _changes(figures: Figures) -> BenchSection | None:
    return _steps(
        figures,
        _CHANGING,
        "What does changing a graph cost?",
        "Host time. Updating every node, disabling and enabling are one call a node; updating the "
        "graph is one call for all, and every kernel's argument changes or none does.",
        "changes",
    )


def _steps(
    figures: Figures, subjects: Sequence[str], question: str, note: str, name: str
) -> BenchSection | None:
    series = []
    for subject in subjects:
        line = figures.select("life", subject, "host", STRAIGHT_LINE)
        if line:
            series.append(_series(subject, line, _nodes, _microseconds))
    if not series:
        return None
    return BenchSection(question, note, chart(name, series, _NODES, Axis("µs", log=True)))


def _loop(figures: Figures) -> BenchSection | None:
    series = [
        _series(
            subject,
            figures.select("loop", subject),
            lambda f: f"{f.node_count:,} kernels",
            _a_node,
        )
        for subject in figures.subjects("loop")
    ]
    if not series:
        return None
    return BenchSection(
        "Instantiate again, update, or launch again?",
        "The same loop four ways, from the first launch until the GPU has finished the last: time "
        "a kernel. Each iteration's kernels get another argument, unless the graph is launched as "
        "it is.",
        chart("loop", series, Axis("work of an iteration"), Axis("µs a kernel"), bars=True),
    )


def _ratio(
    figures: Figures, experiment: str, subjects: tuple[str, str], quantity: str, name: str
) -> list[Series]:
    ratios = figures.ratios(experiment, subjects, quantity)
    return [Series(name, [x for x, _ in ratios], [y for _, y in ratios])] if ratios else []


def _gain(figures: Figures) -> BenchSection | None:
    series = _ratio(figures, "kernel_time", ("stream", "relaunch"), "finish", "gain")
    if not series:
        return None
    return BenchSection(
        "From which kernel duration on does a graph not matter?",
        "Launch to finish of 50 kernels, stream divided by graph; 1 is no gain.",
        chart("gain", series, Axis("duration of a kernel, µs", log=True), Axis("stream / graph")),
    )


def _batch(figures: Figures) -> BenchSection | None:
    series = _ratio(figures, "batch", ("stream", "graph"), "elapsed", "gain")
    if not series:
        return None
    return BenchSection(
        "What does a small transformer gain, by batch size?",
        "One forward pass of 6 layers, 512 wide, 64 tokens, half precision, in PyTorch: stream "
        "divided by graph. The stream side is bound by PyTorch's host time.",
        chart("batch", series, Axis("batch size", log=True), Axis("stream / graph")),
    )


def _bars(figures: Sequence[Figure], name: str, scale: Callable[[Figure], float]) -> list[Series]:
    return [_series(name, figures, lambda f: f.subject, scale)] if figures else []


def _idle(figures: Figures) -> BenchSection | None:
    series = _bars(figures.select("idle", quantity="idle share"), "idle share", lambda _: 0.01)
    if not series:
        return None
    return BenchSection(
        "How idle is the GPU between short kernels?",
        "Three kernels of 2 µs: share of the launch in which they do not compute. Their own "
        "start and end count as idle.",
        chart("idle", series, Axis(""), Axis("idle, %"), bars=True),
    )


def _kinds(figures: Figures) -> BenchSection | None:
    found: dict[str, list[Figure]] = {"stream": [], "graph": []}
    for figure in figures.select("node_kinds"):
        found[figure.subject.rpartition(": ")[2]].append(figure)
    series = [
        _series(side, each, lambda f: f.subject.rpartition(": ")[0], _microseconds)
        for side, each in found.items()
        if each
    ]
    if not series:
        return None
    return BenchSection(
        "Kernels, memsets or copies?",
        "Time on the GPU of one operation more in a chain of two kinds taking turns: their own "
        "time (1,024 bytes, empty kernels) and the way from one to the next.",
        chart("kinds", series, Axis(""), Axis("µs an operation"), bars=True),
    )


def _threads(figures: Figures) -> BenchSection | None:
    series = [
        _series(subject, figures.select("threads", subject, "host"), _parameter, _microseconds)
        for subject in figures.subjects("threads")
    ]
    if not series:
        return None
    return BenchSection(
        "What if several threads launch at once?",
        "Host time of launching 20 kernels, each thread into a stream of its own.",
        chart("threads", series, Axis("threads", log=True), Axis("µs a launch", log=True)),
    )


def _jitter(figures: Figures) -> BenchSection | None:
    found = figures.select("jitter")
    if not found:
        return None
    names = [f.subject for f in found]
    series = [
        Series("median", names, [f.median / 1e3 for f in found]),
        Series("99th percentile", names, [f.p99 / 1e3 for f in found]),
    ]
    return BenchSection(
        "How steady is a launch?",
        "Launch to finish of 20 empty kernels, 2,000 times; busy: every core has other work.",
        chart("jitter", series, Axis(""), Axis("µs", log=True), bars=True),
    )


def _device_launch(figures: Figures) -> BenchSection | None:
    chosen = (
        ("host launch", "elapsed", "by the host"),
        ("fire and forget", "added", "by a kernel, fire and forget"),
        ("tail", "added", "by a kernel, tail"),
    )
    series = []
    for subject, quantity, name in chosen:
        line = figures.select("device_launch", subject, quantity, STRAIGHT_LINE)
        if line:
            series.append(_series(name, line, _nodes, _microseconds))
    if not series:
        return None
    return BenchSection(
        "What if the GPU launches the graph itself?",
        "GPU time of the launched graph: between two events when the host launches it, what it "
        "adds to the launching kernel's graph otherwise.",
        chart("device_launch", series, _NODES, Axis("µs", log=True)),
    )


def _traffic(figures: Figures) -> BenchSection | None:
    found = [f for f in figures.select("traffic") if f.quantity == "to the GPU"]
    series = [
        _series(
            subject,
            [f for f in found if f.subject == subject],
            lambda f: f"{f.node_count:,} kernels",
            lambda _: 1e3,
        )
        for subject in dict.fromkeys(f.subject for f in found)
    ]
    if not series:
        return None
    return BenchSection(
        "How much goes over PCIe?",
        "Bytes to the GPU a launch while launches follow each other, less those of an idle GPU; "
        "from the driver's counter of 20 ms.",
        chart("traffic", series, Axis(""), Axis("kB a launch", log=True), bars=True),
    )
