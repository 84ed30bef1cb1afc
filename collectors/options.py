"""Options of recording: the one list for ``gviz.profile`` and ``gviz run``."""

from __future__ import annotations

import json
import re
import signal
from dataclasses import asdict

from gviz.collectors import native
from gviz.dataclass import dataclass
from gviz.errors import UsageError

COLLECTORS = ("auto", "cupti", "events", "topology")
NODE_TIMES = ("auto", "cupti", "events")
BLACK_BOXES = ("off", "core", "layer", "node")
#: The native library counts in 32 bits.
_LARGEST_COUNT = 2**32 - 1
#: Of NVTX texts the native library keeps so many bytes.
_LONGEST_NAME = 500
#: Bytes of a pattern that the native library has room for.
_LONGEST_PATTERN = 127
#: What was read of a graph is held in the program's memory before it is written.
_MOST_DUMPED_MIB = 4096
_MILLISECONDS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileOptions:
    """Options of recording, checked when made.

    Attributes
    ----------
    name
        What to call the run; None: the recording's stem.
    node_launches
        Of which launches of each executable node times are taken: a number N (the first
        N), ``"every:K"``, ``"every:10s"`` (one in that time) or ``"all"``.
    eager_operations
        How many kernels, copies and memsets outside graphs are recorded at most.
    collector
        One of COLLECTORS: what measures.
    node_times
        One of NODE_TIMES: what times nodes behind the gate, where CUPTI is not in the process:
        event copies, or CUPTI in windows that it comes for. auto: as the collector says.
    delay_s, duration_s
        Recording starts so many seconds after attaching, and lasts so long (None: to the end).
    max_launches
        Recording ends after so many graph launches (None: never). What ``start()`` or the signal
        begins later lasts as long, and for as many launches, again.
    graph
        Only graphs whose name matches this shell pattern get node times (None: all).
    paused
        Start without recording: profile.start() or the signal begins.
    toggle_signal
        Name of a signal, such as SIGUSR2, that starts and stops recording.
    capture_range
        ``"cudaProfilerApi"``: what the program runs between cudaProfilerStart and
        cudaProfilerStop is recorded; ``"nvtx:NAME"``: inside NVTX ranges of that name. None: all.
    trials
        Try edits of graphs between launches of the program (``gviz run``; docs/what_if.md).
    values
        Shell pattern of the names of kernels whose memory is read before and after them, on a
        copy; ``"*"``: of all nodes. None: of none.
    values_budget_s
        Seconds that this may take of a graph.
    dump
        Shell pattern of the same names: of these nodes, among those that are read, what memory
        held is kept in files beside the recording. None: of none. Without ``values`` only these
        nodes are read.
    dump_limit_mib
        MiB that these contents may take of a graph.
    trial_budget_s
        Seconds that the trials of a graph may take.
    black_box
        One of BLACK_BOXES: what is left for after a fault (``gviz run``; docs/blackbox.md). core: a
        core dump of the GPU, in all but off; layer, node: launches leave crumbs, at the ends of
        layers or of all nodes, and no node times are taken.
    stall
        With crumbs, a launch that makes no progress for so long, such as ``"30s"``, is reported.
    overwrite
        Replace an existing recording.

    Raises
    ------
    UsageError
        If a value cannot be understood.
    """

    name: str | None = None
    node_launches: int | str = 20
    eager_operations: int = 20_000
    collector: str = "auto"
    node_times: str = "auto"
    delay_s: float = 0.0
    duration_s: float | None = None
    max_launches: int | None = None
    graph: str | None = None
    paused: bool = False
    toggle_signal: str | None = None
    capture_range: str | None = None
    trials: bool = False
    trial_budget_s: float = 2.0
    black_box: str = "off"
    stall: str | None = None
    values: str | None = None
    values_budget_s: float = 2.0
    dump: str | None = None
    dump_limit_mib: float = 64.0
    overwrite: bool = False

    def __post_init__(self) -> None:
        parse_node_launches(self.node_launches)
        if not 0 <= self.eager_operations <= _LARGEST_COUNT:
            raise UsageError(
                f"eager_operations is {self.eager_operations}; give 0 to {_LARGEST_COUNT}"
            )
        self._check_choices()
        self._check_seconds()
        self._check_copies()
        self._check_contents()
        self._check_black_box()
        self._check_period()

    def _check_choices(self) -> None:
        for what, value, choices in (
            ("collector", self.collector, COLLECTORS),
            ("node_times", self.node_times, NODE_TIMES),
            ("black_box", self.black_box, BLACK_BOXES),
        ):
            if value not in choices:
                raise UsageError(f"{what} is {value!r}; give one of {', '.join(choices)}")
        if self.node_times != "auto" and self.collector != "auto":
            raise UsageError(
                "node times and a collector exclude each other: both say what measures; give one"
            )

    def _check_seconds(self) -> None:
        for what, seconds, may_be_zero in (
            ("delay", self.delay_s, True),
            ("duration", self.duration_s, False),
            ("trial budget", self.trial_budget_s, False),
            ("values budget", self.values_budget_s, False),
        ):
            if seconds is None:
                continue
            if not 0 <= seconds < 1e9:
                raise UsageError(f"{what} is {seconds} s; give a number of seconds from 0")
            if seconds == 0 and not may_be_zero:
                raise UsageError(f"{what} is 0 s; give a number of seconds above 0")

    def _check_copies(self) -> None:
        """Check that what launches copies of graphs can."""
        what = "trials" if self.trials else "values" if self.reads_values else None
        if what and (self.measured_by in ("cupti", "topology") or self.node_launches == 0):
            raise UsageError(
                f"{what} launch copies of graphs, which have to be timed by event copies "
                "first; leave out the collector, and record node times of some launches"
            )

    def _check_contents(self) -> None:
        """Check which nodes' memory is read, and how much of it is kept."""
        for what, pattern in (("values", self.values), ("dump", self.dump)):
            if len((pattern or "").encode()) > _LONGEST_PATTERN:
                raise UsageError(
                    f"the pattern of {what} is longer than {_LONGEST_PATTERN} bytes; give a "
                    "shorter one"
                )
        if self.dump == "":
            raise UsageError("the pattern of dump is empty; give '*' for all nodes")
        if not 1 <= self.dump_limit_mib <= _MOST_DUMPED_MIB:
            raise UsageError(
                f"the limit of dump is {self.dump_limit_mib:g} MiB; give 1 to {_MOST_DUMPED_MIB}"
            )

    def _check_period(self) -> None:
        """Check what says when launches are recorded, and how many."""
        if self.paused and self.delay_s:
            raise UsageError(
                f"paused and a delay of {self.delay_s:g} s exclude each other: with paused, "
                "start() or the signal begins; give one of them"
            )
        if self.max_launches is not None and not 1 <= self.max_launches <= _LARGEST_COUNT:
            raise UsageError(f"max_launches is {self.max_launches}; give 1 to {_LARGEST_COUNT}")
        if self.toggle_signal is not None:
            parse_signal(self.toggle_signal)
        if parse_capture_range(self.capture_range)[0] and (self.paused or self.delay_s):
            raise UsageError(
                "a capture range says when recording begins; leave out paused and the delay"
            )

    def _check_black_box(self) -> None:
        if parse_stall(self.stall) and not self.leaves_crumbs:
            raise UsageError("a stall is seen by crumbs only: give --black-box=layer or node, too")
        if self.leaves_crumbs and (
            self.trials or self.node_times != "auto" or self.collector not in ("auto", "topology")
        ):
            raise UsageError(
                "crumbs need every launch to be made by a copy that leaves them, and node times "
                "and trials need launches of their own; leave out --collector, --node-times and "
                "--trials, or give --black-box alone"
            )

    @property
    def reads_values(self) -> bool:
        """Return whether the memory of nodes is to be read."""
        return self.values is not None or self.dump is not None

    @property
    def leaves_crumbs(self) -> bool:
        """Return whether launches are to leave crumbs."""
        return self.black_box in ("layer", "node")

    def native(self) -> native.NativeOptions:
        """Return what the native library needs of this."""
        policy, count = parse_node_launches(self.node_launches)
        return native.NativeOptions(
            policy=policy,
            policy_count=count,
            eager_operations=self.eager_operations,
            delay_ns=round(self.delay_s * 1e9),
            duration_ns=round((self.duration_s or 0.0) * 1e9),
            max_launches=self.max_launches or 0,
            toggle_signal=int(parse_signal(self.toggle_signal)) if self.toggle_signal else 0,
            paused=self.paused or self.capture_range is not None,
            capture_range=parse_capture_range(self.capture_range)[0],
            cupti_windows=self.node_times == "cupti",
            trial_ns=round(self.trial_budget_s * 1e9) if self.trials else 0,
            stall_ns=parse_stall(self.stall),
            black_box=BLACK_BOXES.index(self.black_box),
            values_ns=round(self.values_budget_s * 1e9) if self.reads_values else 0,
            values_pattern=_native_pattern(self.dump if self.values is None else self.values),
            dump_bytes=round(self.dump_limit_mib * 2**20) if self.dump is not None else 0,
            dump_pattern=_native_pattern(self.dump),
        )

    @property
    def measured_by(self) -> str:
        """The one of COLLECTORS that begins: events where nodes are timed behind the gate."""
        if self.leaves_crumbs:
            return "topology"
        return self.collector if self.node_times == "auto" else "events"

    def to_json(self) -> str:
        """Return the options as JSON, for a child process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ProfileOptions:
        """Return what :meth:`to_json` wrote."""
        return cls(**json.loads(text))


def _native_pattern(pattern: str | None) -> bytes:
    """Return a pattern of names as the native library has it."""
    return b"" if pattern in (None, "*") else pattern.encode()


def parse_node_launches(value: int | str) -> tuple[int, int]:
    """Return the native policy and its count for N, ``every:K``, ``every:10s`` or ``all``.

    Raises
    ------
    UsageError
        If ``value`` is none of these.
    """
    text = str(value).strip()
    if text == "all":
        return native.POLICY_ALL, 0
    every = re.fullmatch(r"every:([1-9]\d*)", text)
    if every and int(every[1]) <= _LARGEST_COUNT:
        return native.POLICY_EVERY, int(every[1])
    period = re.fullmatch(r"every:(\d+(?:\.\d+)?)(ms|s|min|h)", text)
    if period:
        milliseconds = round(float(period[1]) * _MILLISECONDS[period[2]])
        if 1 <= milliseconds <= _LARGEST_COUNT:
            return native.POLICY_PERIOD, milliseconds
    if re.fullmatch(r"\d+", text) and int(text) <= _LARGEST_COUNT:
        return native.POLICY_FIRST, int(text)
    raise UsageError(f"node launches is {text!r}; give a number, every:K, every:10s or all")


def parse_stall(text: str | None) -> int:
    """Return the nanoseconds of a time such as ``30s``; 0 of None.

    Raises
    ------
    UsageError
        If it is no time above 0.
    """
    if text is None:
        return 0
    given = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|min|h)", text)
    milliseconds = float(given[1]) * _MILLISECONDS[given[2]] if given else 0
    if not 1 <= milliseconds <= _LARGEST_COUNT:
        raise UsageError(f"stall is {text!r}; give a time such as 30s (units: ms, s, min, h)")
    return round(milliseconds * 1e6)


def parse_capture_range(text: str | None) -> tuple[int, str | None]:
    """Return the native number and the NVTX name of ``cudaProfilerApi`` or ``nvtx:NAME``.

    Raises
    ------
    UsageError
        If it is neither.
    """
    if text is None:
        return native.RANGE_NONE, None
    kind, _, name = text.partition(":")
    if text == "cudaProfilerApi":
        return native.RANGE_PROFILER, None
    if kind == "nvtx" and name and len(name.encode()) <= _LONGEST_NAME:
        return native.RANGE_NVTX, name
    raise UsageError(
        f"capture range is {text!r}; give cudaProfilerApi, or nvtx:NAME with a name of at most "
        f"{_LONGEST_NAME} bytes"
    )


def parse_signal(name: str) -> signal.Signals:
    """Return the signal of a name such as ``SIGUSR2`` or ``USR2``.

    Raises
    ------
    UsageError
        If there is none, or it cannot be caught.
    """
    full = name.upper() if name.upper().startswith("SIG") else f"SIG{name.upper()}"
    found = signal.Signals.__members__.get(full)
    if found is None or found in (signal.SIGKILL, signal.SIGSTOP):
        raise UsageError(f"{name!r} is no signal that a program can catch; give one like SIGUSR2")
    return found
