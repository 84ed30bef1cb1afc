"""``gviz.compare_stream``: the same work eagerly and as a graph, measured and compared.

The function is called ``warmup`` times and captured. Then a graph launch and an eager iteration are
timed next to each other, ``launches`` times, who is first alternating, with no node times taken:
what drifts meanwhile drifts on both sides. Every reading starts on an idle GPU. Node times come
from what is run once more after that, in ranges called after ``name``.

Outside a profile the timing comes before CUPTI is in the process, with a graph of its own: an
executable that was instantiated under CUPTI stays slower, also when CUPTI is gone. Inside an active
profile (or under ``gviz run``), which is paused meanwhile, it is timed with CUPTI attached.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gviz.collectors import native
from gviz.collectors.comparing.agreement import Leaf, find_differences, flatten
from gviz.collectors.comparing.capturing import Capturing, choose
from gviz.collectors.profiler import ProfiledBlock, active_recording, paused_recording
from gviz.cuda import NameKind
from gviz.dataclass import dataclass
from gviz.errors import CollectorError, UsageError
from gviz.model import (
    AlternatingReadings,
    Alternation,
    SideTimes,
    StreamComparison,
    read_sides,
)
from gviz.recording import check_output
from gviz.spool import RecordType
from gviz.stats import CuptiState

if TYPE_CHECKING:
    from os import PathLike

#: Recorded at most on the stream side: room for a training step of a few thousand kernels.
_EAGER_OPERATIONS = 200_000
#: Untimed launches, each next to an iteration, before those that are timed: the first launch
#: uploads the graph, and the first iteration after a capture may allocate anew.
_UNTIMED = 2


def compare_stream(
    function: Callable[[], Any],
    *,
    warmup: int = 3,
    launches: int = 20,
    capture: str = "auto",
    path: str | PathLike[str] | None = None,
    name: str | None = None,
    rtol: float = 1e-3,
    atol: float = 1e-5,
    strict: bool = False,
    values: bool = False,
    overwrite: bool = False,
) -> StreamComparison:
    """Run a function eagerly and as a graph; compare times and results.

    Parameters
    ----------
    function
        Called without arguments. Its work must be capturable: inputs stay where they are, nothing
        waits for the GPU. What it returns is compared: arrays, nested in any way.
    warmup
        Calls before anything is measured, from 0; ``capture="auto"`` makes one more.
    launches
        Launches, and as many eager iterations, that are timed, from 1; an interval takes two.
    capture
        Who captures: ``"torch"``, ``"cupy"``, or ``"auto"``: whose arrays it returns or allocates.
    path
        The recording to write; None: a temporary file, which is kept.
    name
        What to call the work; None: the function's name.
    rtol, atol
        Results a (stream) and b (graph) agree if ``abs(a - b) <= atol + rtol * abs(a)``.
    strict
        Raise when the results differ.
    values
        Read what each stream call leaves in memory too, in two iterations more, to be compared
        with what the graph's nodes leave: ``gviz values --eager`` says where they part. The
        program is started by ``gviz run --values``; its times are not to be relied on.
    overwrite
        Replace an existing file.

    Raises
    ------
    UsageError
        If an argument cannot be understood, the owner of the work cannot be determined, or
        ``values`` are wanted of a program that ``gviz run`` did not start.
    CollectorError
        If the function cannot be captured; with ``strict``, if the results differ.
    RecordingError
        If ``path`` exists (and not ``overwrite``) or cannot be written.

    Examples
    --------
    >>> x = torch.randn(8, 64, device="cuda")                      # doctest: +SKIP
    >>> print(gviz.compare_stream(lambda: x.relu(), name="relu"))  # doctest: +SKIP
    """
    _check_counts(warmup, launches)
    if values and active_recording() is None:
        raise UsageError("values=True needs the gate: start the program with 'gviz run --values'")
    if path is not None and active_recording() is None:
        check_output(Path(path), overwrite=overwrite)  # before the function is called
    work = _Comparison(
        choose(capture, function), function, name or _name_of(function), launches, values
    )
    result = work.compare(warmup, path, (rtol, atol), overwrite=overwrite)
    if strict and result.agrees is False:
        differences = "; ".join(result.differences)
        raise CollectorError(f"{result.name} gives other results as a graph: {differences}")
    return result


def _check_counts(warmup: int, launches: int) -> None:
    for what, value, least in (("warmup", warmup, 0), ("launches", launches, 1)):
        if value < least:
            raise UsageError(f"{what} is {value}; give a number from {least}")


@dataclass(slots=True)
class _Comparison:
    """One comparison under way, inside its library's scope."""

    library: Capturing
    function: Callable[[], Any]
    name: str
    launches: int
    values: bool
    agrees: bool | None = None
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _readings: AlternatingReadings | None = None

    def compare(
        self,
        warmup: int,
        path: str | PathLike[str] | None,
        tolerances: tuple[float, float],
        *,
        overwrite: bool,
    ) -> StreamComparison:
        """Measure and record both sides, here or into the recording that is active."""
        outer = active_recording()
        with self.library.scope():
            if outer is None:
                self._warm_up(warmup)
                self.alternate(self.library.capture(self.function)[0])
                recording = ProfiledBlock(
                    path or Path(tempfile.mkdtemp(prefix="gviz-")) / f"{_slug(self.name)}.gviz",
                    name=self.name,
                    node_launches=self.launches + 1,
                    eager_operations=_EAGER_OPERATIONS,
                    overwrite=overwrite,
                )
                with recording:
                    launch, places = self._capture()
                    self.record(launch, places, tolerances)
            else:
                self.notes.append("timed inside an active profile, which slows both sides")
                with paused_recording():
                    self._warm_up(warmup)
                    launch, places = self._capture()
                    self.alternate(launch)
                    if self.values:
                        self.read_values()
                self.record(launch, places, tolerances)
        return self.result(outer or recording.path, finished=outer is None)

    def _warm_up(self, count: int) -> None:
        for _ in range(count):
            self.function()

    def _capture(self) -> tuple[Callable[[], Any], Any]:
        """Capture the function under its name, to be recorded."""
        with _range(f"{self.name} capture"), _graphs_named(self.name):
            return self.library.capture(self.function)

    def alternate(self, launch: Callable[[], Any]) -> None:
        """Time launches and eager iterations next to each other, no node times being taken."""
        calls = (launch, self.function)
        readings = np.zeros((self.launches, len(calls), 2))
        for at in range(-_UNTIMED, self.launches):
            order = (0, 1) if at % 2 else (1, 0)
            for side in order:
                found = self.library.time(calls[side])
                if at >= 0:
                    readings[at, side] = found
        self._readings = AlternatingReadings(
            self.name, _cupti_state(), readings[:, 0], readings[:, 1]
        )

    def read_values(self) -> None:
        """Have the memory read that the calls of an iteration are given, and note what came of it.

        The graph itself is read before one of its launches.
        """
        try:
            why = self._read_iterations()
        finally:
            native.read_calls(native.CALLS_END)
        self.notes.append(
            "gviz values --eager says where nodes leave something else in memory than stream calls"
            if why is None
            else f"values of stream calls were not read: {why}"
        )

    def _read_iterations(self) -> str | None:
        """Run two: the first tells what memory calls are given; return why none is read."""
        random = self.library.random_state()
        for stage in (native.CALLS_LIST, native.CALLS_READ):
            self._begin_alike(random)
            why = native.read_calls(stage)
            if why is not None:
                return why
            self.function()
            self.library.synchronize()
        return native.read_calls(native.CALLS_END)

    def _begin_alike(self, random: Any) -> None:
        if random is not None:
            self.library.set_random_state(random)

    def record(
        self, launch: Callable[[], Any], places: Any, tolerances: tuple[float, float]
    ) -> None:
        """Run both sides once more to be recorded, and compare their results.

        The first eager iteration is the one that recording disturbs, the other one is looked at.
        """
        if native.library_path() is not None and self._readings is not None:
            text = json.dumps(self._readings.to_json())
            native.append(RecordType.ALTERNATION, text.encode(errors="replace"))
        random = self.library.random_state()
        with _range(f"{self.name} by stream"):
            first, second = (self._call(random) for _ in range(2))
        with _range(f"{self.name} as graph"):
            self._begin_alike(random)
            self._wait(launch)
            captured = flatten(places, self.library.to_host)
            for _ in range(self.launches):
                if self.values:
                    self._begin_alike(random)
                self._wait(launch)
        self._judge(first, second, captured, *tolerances)

    def _call(self, random: Any) -> list[tuple[str, Leaf]]:
        """Call the function with the random numbers of ``random``; return its results."""
        self._begin_alike(random)
        results = self.function()
        self.library.synchronize()
        if not self.library.same_random_state(random):
            note = "the function draws random numbers: both sides began with the same state"
            if note not in self.notes:
                self.notes.append(note)
        return flatten(results, self.library.to_host)

    def _wait(self, call: Callable[[], Any]) -> None:
        call()
        self.library.synchronize()

    def _judge(
        self,
        first: list[tuple[str, Leaf]],
        second: list[tuple[str, Leaf]],
        captured: list[tuple[str, Leaf]],
        rtol: float,
        atol: float,
    ) -> None:
        if not first:
            self.notes.append("the function returns nothing that could be compared")
            return
        if find_differences(first, second, rtol=rtol, atol=atol):
            self.notes.append(
                "two calls of the function give different results (it changes its own inputs, or "
                "its order of summation varies): agreement cannot be judged"
            )
            return
        self.differences = find_differences(second, captured, rtol=rtol, atol=atol)
        self.agrees = not self.differences

    def result(self, path: Path, *, finished: bool) -> StreamComparison:
        """Return what was found, with the recording's part if it is finished."""
        assert self._readings is not None  # alternate() comes first
        timed = self._readings.summarize()
        sides = read_sides(path, self.name) if finished else None
        notes, graph, stream = list(self.notes), SideTimes(), SideTimes()
        if not finished:
            notes.append("node times are in the recording, when the active profile ends")
        elif sides is None:
            notes.append("nothing was recorded: no node times; gviz doctor says why")
        else:
            graph, stream = sides.graph, sides.stream
            if not sides.node_count:
                notes.append("the graph is empty: the function works on a stream of its own")
            if not stream.recorded_count:
                notes.append("the work by stream calls was not recognised as the graph's nodes")
        return StreamComparison(
            name=self.name,
            framework=self.library.name,
            path=path if path.exists() or not finished else None,
            node_count=sides.node_count if sides else None,
            graph=_timed(graph, timed, "graph_ns"),
            stream=_timed(stream, timed, "eager_ns"),
            agrees=self.agrees,
            differences=tuple(self.differences),
            notes=tuple(notes),
            alternation=timed,
        )


def _timed(recorded: SideTimes, timed: Alternation, side: str) -> SideTimes:
    elapsed, host = (getattr(found, side) for found in (timed.elapsed, timed.host))
    return replace(recorded, gpu_ns=elapsed, host_ns=host)


def _cupti_state() -> CuptiState:
    """Return whether CUPTI is, or was, in this process: leaving it does not undo what it costs."""
    if native.library_path() is None or not native.was_subscribed():
        return CuptiState.PLAIN
    return CuptiState.ATTACHED


@contextmanager
def _range(text: str) -> Iterator[None]:
    if native.library_path() is None:  # nothing is recorded then, and the profile has reported it
        yield
        return
    native.nvtx_push(text)
    try:
        yield
    finally:
        native.nvtx_pop()


@contextmanager
def _graphs_named(name: str) -> Iterator[None]:
    if native.library_path() is None:
        yield
        return
    native.name_graphs(NameKind.EXPLICIT, name)
    try:
        yield
    finally:
        native.name_graphs(NameKind.NONE, "")


def _name_of(function: Callable[[], Any]) -> str:
    found = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(found).rpartition("<locals>.")[2].strip("<>")


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)[:60] or "comparison"
