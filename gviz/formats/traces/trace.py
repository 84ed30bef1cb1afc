"""A trace of any profiler, as columns: between its format and a recording's rows."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import field

import numpy as np
import numpy.typing as npt

from gviz.cuda import CopyKind
from gviz.dataclass import dataclass
from gviz.errors import ImportingError
from gviz.runs import ACTIVITY, Activities
from gviz.stats import UNKNOWN, BoolArray

#: GPU work taken from one trace: 0.6 GB of columns, and as much again while it is sorted.
MOST_ACTIVITIES = 3_000_000
#: Ranges on the host that are kept, as of programs that gviz records.
MOST_RANGES = 100_000
#: PyTorch's operators that are kept beside them, 32 bytes each: those of a trace of 0.6 GB.
MOST_OPERATORS = 1_000_000
#: Characters of a name that are kept: C++ templates reach some ten thousand.
MOST_NAME_CHARACTERS = 65_536
#: Times on the clock of the recording lie below this: the year 2116.
MOST_NS = 1 << 62

#: A call on the host that gave the GPU work, or launched a graph.
CALL = np.dtype(
    [
        ("correlation_id", "<i8"), ("start_ns", "<i8"), ("end_ns", "<i8"), ("thread_id", "<i8"),
        ("is_graph_launch", "<i8"), ("stream_id", "<i8"),
    ]
)  # fmt: skip
#: A named interval on a thread of the host; ``name`` is an index into ``Trace.range_names``.
RANGE = np.dtype(
    [("thread_id", "<i8"), ("start_ns", "<i8"), ("end_ns", "<i8"), ("name", "<i8")]
)  # fmt: skip
#: A graph launch that is known as a whole only.
WHOLE = np.dtype(
    [
        ("correlation_id", "<i8"), ("exec_id", "<i8"), ("start_ns", "<i8"), ("end_ns", "<i8"),
        ("device_id", "<i8"), ("stream_id", "<i8"),
    ]
)  # fmt: skip
#: Directions of copies as profilers spell them.
COPY_KINDS = {name.lower(): int(kind) for name, kind in CopyKind.__members__.items()}


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """A GPU; None: not recorded."""

    device_id: int
    name: str
    compute_capability: str | None = None
    multiprocessor_count: int | None = None
    memory_bytes: int | None = None
    max_threads_per_multiprocessor: int | None = None
    pci_bus_id: str | None = None


@dataclass(frozen=True, slots=True)
class ExecFacts:
    """An executable: CUDA's id of its graph, and the call that made it, with its thread."""

    graph_id: int | None
    instantiated: tuple[int, int] | None = None
    thread_id: int | None = None


class RowBuffer:
    """Rows of one dtype of integers of 64 bits, taken in one by one."""

    def __init__(self, dtype: np.dtype[np.void]) -> None:
        self.dtype = dtype
        self._values = array("q")

    def __len__(self) -> int:
        return len(self._values) * self._values.itemsize // self.dtype.itemsize

    def add(self, values: Sequence[int]) -> None:
        """Take a row in: an integer for each field, three for a grid or block."""
        self._values.extend(values)

    def extend(self, rows: npt.NDArray[np.void]) -> None:
        """Take rows of the dtype in."""
        self._values.frombytes(rows.tobytes())

    def to_array(self) -> npt.NDArray[np.void]:
        """Return the rows as a structured array."""
        return np.frombuffer(self._values, np.int64).view(self.dtype)


@dataclass(slots=True)
class Trace:
    """One process of a trace.

    Attributes
    ----------
    profiler
        What wrote it, in words.
    activities, calls, whole_launches, ranges
        Rows of ACTIVITY, CALL, WHOLE and RANGE, in any order. Times count from ``base_ns``, and
        shared memory may be the whole, see ``shared_memory_is_total``.
    names
        Kernel names, by the number in ``activities["name"]``.
    first_seen
        Number of each name.
    range_names
        Number of each domain (None: the default one) and text of ranges.
    operator_count
        Ranges among them that are PyTorch's operators.
    ranges_left_out, operators_left_out
        How many there were beyond those that are kept.
    invalid
        GPU work that was left out because its times or numbers are none.
    host_events
        Events of the host that were seen, whatever they are.
    """

    profiler: str
    collector: str
    #: What positions in time are counted from, on the clock of the recording.
    base_ns: int = 0
    process_id: int | None = None
    rank: int | None = None
    driver_version: str | None = None
    cupti_version: str | None = None
    activities: RowBuffer = field(default_factory=lambda: RowBuffer(ACTIVITY))
    calls: RowBuffer = field(default_factory=lambda: RowBuffer(CALL))
    whole_launches: RowBuffer = field(default_factory=lambda: RowBuffer(WHOLE))
    names: list[str] = field(default_factory=list)
    first_seen: dict[str, int] = field(default_factory=dict)
    devices: dict[int, DeviceFacts] = field(default_factory=dict)
    ranges: RowBuffer = field(default_factory=lambda: RowBuffer(RANGE))
    range_names: dict[tuple[str | None, str], int] = field(default_factory=dict)
    operator_count: int = 0
    ranges_left_out: int = 0
    operators_left_out: int = 0
    invalid: int = 0
    host_events: int = 0
    #: Whether shared memory is static and dynamic together, instead of dynamic alone.
    shared_memory_is_total: bool = False
    #: When a node's original was made (ns) and on which thread, by (executable, node).
    created: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    #: Facts about executables, by their ids.
    execs: dict[int, ExecFacts] = field(default_factory=dict)
    #: A program's annotation of a node at capture: number of a range's name, likewise.
    annotations: dict[tuple[int, int], int] = field(default_factory=dict)
    notes: list[tuple[str, str]] = field(default_factory=list)

    def name_number(self, name: str) -> int:
        """Return the number of a name; a very long one is cut."""
        number = self.first_seen.get(name)
        if number is None:
            name = storable(name)
            number = self.first_seen.setdefault(name, len(self.names))
            if number == len(self.names):
                self.names.append(name)
        return number

    def add_activity(self, values: Sequence[int]) -> None:
        """Take GPU work in.

        Raises
        ------
        ImportingError
            If there is more of it than a recording can be made of.
        """
        if len(self.activities) >= MOST_ACTIVITIES:
            raise _too_much()
        self.activities.add(values)

    def add_activities(self, rows: Activities) -> None:
        """Take GPU work in (dtype ACTIVITY).

        Raises
        ------
        ImportingError
            If there is more of it than a recording can be made of.
        """
        if len(self.activities) + len(rows) > MOST_ACTIVITIES:
            raise _too_much()
        self.activities.extend(rows)

    def add_whole_launch(self, values: Sequence[int]) -> None:
        """Take a launch in of which only the whole is known.

        Raises
        ------
        ImportingError
            If there are more than a recording can be made of.
        """
        if len(self.whole_launches) >= MOST_ACTIVITIES:
            raise _too_much()
        self.whole_launches.add(values)

    def add_range(
        self, thread_id: int, interval: tuple[int, int], text: str, domain: str | None = None
    ) -> None:
        """Take a range of the host in; those beyond MOST_RANGES are counted."""
        self.add_ranges(
            np.array([(thread_id, *interval, UNKNOWN)], RANGE), [(domain, text)], np.zeros(1, bool)
        )

    def add_ranges(
        self,
        rows: npt.NDArray[np.void],
        names: Sequence[tuple[str | None, str]],
        is_operator: BoolArray,
    ) -> None:
        """Take ranges of the host in; those beyond MOST_RANGES and MOST_OPERATORS are counted.

        Parameters
        ----------
        rows
            Of dtype RANGE; names are filled in.
        names
            Domain and text of each.
        is_operator
            Whether each is an operator of PyTorch.
        """
        range_count = len(self.ranges) - self.operator_count
        is_left_out = is_operator & (np.cumsum(is_operator) + self.operator_count > MOST_OPERATORS)
        self.operators_left_out += int(is_left_out.sum())
        others_left_out = ~is_operator & (np.cumsum(~is_operator) + range_count > MOST_RANGES)
        self.ranges_left_out += int(others_left_out.sum())
        is_left_out |= others_left_out
        if is_left_out.any():
            kept = ~is_left_out
            rows, is_operator = rows[kept], is_operator[kept]
            names = [name for name, keep in zip(names, kept.tolist(), strict=True) if keep]
        self.operator_count += int(is_operator.sum())
        known = self.range_names.get
        rows["name"] = [
            self._range_number(*name) if (number := known(name)) is None else number
            for name in names
        ]
        self.ranges.extend(rows)

    def annotate(self, exec_id: int, node_id: int, text: str) -> None:
        """Take in a program's annotation of a node; of nodes beyond MOST_RANGES it is counted."""
        if (exec_id, node_id) in self.annotations:
            return
        if len(self.annotations) >= MOST_RANGES:
            self.ranges_left_out += 1
            return
        self.annotations[exec_id, node_id] = self._range_number(None, text)

    def _range_number(self, domain: str | None, text: str) -> int:
        number = self.range_names.get((domain, text))
        if number is None:
            key = (None if domain is None else storable(domain), storable(text))
            number = self.range_names.setdefault(key, len(self.range_names))
        return number


def _too_much() -> ImportingError:
    return ImportingError(
        f"the trace holds more than {MOST_ACTIVITIES:,} kernels, copies and memsets, more than "
        "gviz imports at once; record fewer steps, as torch.profiler.schedule and nsys profile "
        "--duration can"
    )


def storable(text: str) -> str:
    """Return a text as a recording can hold it: cut, and without lone surrogates."""
    cut = text if len(text) <= MOST_NAME_CHARACTERS else text[: MOST_NAME_CHARACTERS - 1] + "…"
    return cut if cut.isascii() else cut.encode("utf-8", "backslashreplace").decode()
