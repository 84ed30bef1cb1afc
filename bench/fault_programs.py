"""Programs with a planted fault, and the same with it repaired, for bench/gpu_findings.py.

They use the driver API alone, so that they run on a GPU and on the fake driver of tests/fake.
Kernels spin for a known number of clocks where only their length matters; names end in how
long that is, which the fake driver goes by. All kernels but those of ``narrow`` have more
blocks than half of an H100's multiprocessors, and those that are no fault are longer than what
counts as tiny, so that a program has the one fault it is named after.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from ctypes import c_float, c_uint, c_ulonglong, c_void_p
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from contract.driver import Arguments, Driver, Handle

BLOCKS, THREADS = 96, 128
#: Words that the blocks of one kernel write.
WORDS = BLOCKS * THREADS
#: Clocks of an H100 in a microsecond, about: kernels need not be exact.
CLOCKS_PER_US = 1_900
BRANCHES, BRANCH_KERNELS = 3, 4
HOST_NODES, MEMSETS, TINY_KERNELS, REBUILT_KERNELS, UPLOADED_KERNELS = 3, 24, 60, 40, 200
COPIED_BYTES, FILLED_BYTES = 64 << 20, 128 << 20
BARRIER_STEPS_US = ((20, 5), (5, 20), (20, 5), (5, 20))
NARROW_BLOCKS, NARROW_SHARE, NARROW_ITERATIONS = 11, 12, 2_000
WARM_UP_US = 50_000

_HEAD = ".version 7.0\n.target sm_50\n.address_size 64\n"
_INDEX = """
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    mul.wide.u32 %rd9, %r1, 4;
"""
_REGISTERS = """
    .reg .pred %p<3>;
    .reg .f32 %f<5>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<20>;
"""
#: (a, b, c, clocks): spins, then writes a word a thread to each of three buffers.
_SPIN = (
    """
.visible .entry NAME(.param .u64 NAME_0, .param .u64 NAME_1, .param .u64 NAME_2, .param .u64 NAME_3)
{"""
    + _REGISTERS
    + """
    ld.param.u64 %rd1, [NAME_3];
    mov.u64 %rd2, %clock64;
WAIT:
    mov.u64 %rd3, %clock64;
    sub.s64 %rd4, %rd3, %rd2;
    setp.lt.s64 %p1, %rd4, %rd1;
    @%p1 bra WAIT;
"""
    + _INDEX
    + "".join(
        f"""
    ld.param.u64 %rd10, [NAME_{i}];
    cvta.to.global.u64 %rd11, %rd10;
    add.s64 %rd12, %rd11, %rd9;
    st.global.u32 [%rd12], %r1;
"""
        for i in range(3)
    )
    + "    ret;\n}\n"
)
#: (a, turns): adds 1 to each of a's words, so many times.
_ADD = (
    """
.visible .entry NAME(.param .u64 NAME_0, .param .u32 NAME_1)
{"""
    + _REGISTERS
    + _INDEX
    + """
    ld.param.u64 %rd1, [NAME_0];
    ld.param.u32 %r6, [NAME_1];
    cvta.to.global.u64 %rd2, %rd1;
    add.s64 %rd3, %rd2, %rd9;
    ld.global.f32 %f1, [%rd3];
MORE:
    add.rn.f32 %f1, %f1, 0f3F800000;
    sub.s32 %r6, %r6, 1;
    setp.gt.s32 %p1, %r6, 0;
    @%p1 bra MORE;
    st.global.f32 [%rd3], %f1;
    ret;
}
"""
)
#: (a, value): writes it into a's words.
_FILL = (
    """
.visible .entry NAME(.param .u64 NAME_0, .param .u32 NAME_1)
{"""
    + _REGISTERS
    + _INDEX
    + """
    ld.param.u64 %rd1, [NAME_0];
    ld.param.u32 %r6, [NAME_1];
    cvta.to.global.u64 %rd2, %rd1;
    add.s64 %rd3, %rd2, %rd9;
    st.global.u32 [%rd3], %r6;
    ret;
}
"""
)
#: (a, factor, turns): a chain of multiply-adds on each of a's words.
_POLYNOMIAL = (
    """
.visible .entry NAME(.param .u64 NAME_0, .param .f32 NAME_1, .param .u32 NAME_2)
{"""
    + _REGISTERS
    + _INDEX
    + """
    ld.param.u64 %rd1, [NAME_0];
    ld.param.f32 %f2, [NAME_1];
    ld.param.u32 %r6, [NAME_2];
    cvta.to.global.u64 %rd2, %rd1;
    add.s64 %rd3, %rd2, %rd9;
    ld.global.f32 %f1, [%rd3];
MORE:
    fma.rn.f32 %f1, %f1, %f2, %f2;
    sub.s32 %r6, %r6, 1;
    setp.gt.s32 %p1, %r6, 0;
    @%p1 bra MORE;
    st.global.f32 [%rd3], %f1;
    ret;
}
"""
)
_KERNELS = {
    **dict.fromkeys(("head_5us", "work_5us", "work_15us", "work_20us", "tail_5us", "warm"), _SPIN),
    "add_1us": _ADD,
    "add_all_2us": _ADD,
    "fill_1us": _FILL,
    "polynomial_90us": _POLYNOMIAL,
    "polynomial_8us": _POLYNOMIAL,
}


class Laboratory:
    """A device with the programs' kernels, streams and buffers."""

    def __init__(self) -> None:
        self.cuda = Driver()
        names = [name.encode() for name in _KERNELS]
        ptx = _HEAD + "".join(text.replace("NAME", name) for name, text in _KERNELS.items())
        self.cuda.load_module(ptx.encode(), names)
        self.streams = [self.cuda.stream() for _ in range(BRANCHES)]
        self.stream = self.streams[0]
        self.buffers = [self.cuda.allocate(1 << 20) for _ in range(BRANCHES)]
        self._events = [self.cuda.event(timing=False) for _ in range(BRANCHES)]
        # Allocated here: a capture forbids it.
        self.copied = [self.cuda.allocate(COPIED_BYTES) for _ in range(2)]
        self.filled = self.cuda.allocate(FILLED_BYTES)
        #: Which rebuild this is; the arguments of :func:`chain` follow it.
        self.iteration = 0
        self._free = ctypes.cast(ctypes.CDLL(None).free, c_void_p)

    def warm_up(self) -> None:
        """Keep the GPU busy until its clocks are up."""
        self.spin("warm", self.buffers, WARM_UP_US)
        self.cuda.wait(self.stream)

    def spin(
        self, name: str, buffers: Sequence[int], us: float, stream: Handle | None = None
    ) -> None:
        """Launch a kernel that spins, then writes to one to three buffers."""
        a, b, c = (*buffers, buffers[-1], buffers[-1])[:3]
        clocks = c_ulonglong(round(us * CLOCKS_PER_US))
        self._launch(name, Arguments(*map(c_ulonglong, (a, b, c)), clocks), BLOCKS, stream)

    def work(self, us: int, buffer: int, stream: Handle | None = None) -> None:
        """Launch a kernel that spins on one buffer."""
        self.spin(f"work_{us}us", [buffer], us, stream)

    def add(self, name: str, iterations: int) -> None:
        """Launch a kernel that adds 1 so many times."""
        self._launch(name, Arguments(c_ulonglong(self.buffers[0]), c_uint(iterations)), BLOCKS)

    def fill(self, value: int) -> None:
        """Launch a kernel that fills what :meth:`memset` fills."""
        self._launch("fill_1us", Arguments(c_ulonglong(self.buffers[0]), c_uint(value)), BLOCKS)

    def polynomial(self, name: str, iterations: int, blocks: int) -> None:
        """Launch a kernel that computes on one buffer."""
        values = (c_ulonglong(self.buffers[0]), c_float(0.5), c_uint(iterations))
        self._launch(name, Arguments(*values), blocks)

    def _launch(
        self, name: str, arguments: Arguments, blocks: int, stream: Handle | None = None
    ) -> None:
        self.cuda.launch(
            name, arguments, stream or self.stream, grid=(blocks, 1, 1), block=(THREADS, 1, 1)
        )

    def memset(self, value: int) -> None:
        """Fill a buffer by a memset."""
        self.cuda.set32(self.buffers[0], value, WORDS, self.stream)

    def call_host(self) -> None:
        """Let the stream call free(NULL), which returns at once."""
        self.cuda.call("cuLaunchHostFunc", c_void_p(self.stream), self._free, c_void_p(None))

    def order(self, first: Sequence[Handle], then: Sequence[Handle]) -> None:
        """Let streams wait for all work so far of others."""
        events = self._events[: len(first)]
        for event, stream in zip(events, first, strict=True):
            self.cuda.record(event, stream)
        for stream in then:
            for event, other in zip(events, first, strict=True):
                if stream != other:
                    self.cuda.wait_event(stream, event)

    def capture(self, work: Callable[[], None]) -> Handle:
        """Return a graph captured from the first stream."""
        self.cuda.begin_capture(self.stream)
        work()
        return self.cuda.end_capture(self.stream)

    def instantiate(self, graph: Handle) -> Handle:
        """Return an executable that is uploaded."""
        graph_exec = self.cuda.instantiate(graph)
        self.cuda.upload(graph_exec, self.stream)
        self.cuda.wait(self.stream)
        return graph_exec


Work = Callable[[Laboratory, bool], None]


@dataclass(frozen=True, slots=True)
class Fault:
    """A planted fault.

    Attributes
    ----------
    rule
        Which rule should find it.
    work
        Launches the work to be captured, with the fault, or repaired.
    unit
        What the gain is of: a launch (GPU time), a rebuild or a first launch (host time).
    also
        Rules that see the same fault from another side.
    changes
        Of rebuilds: the arguments change each time.
    """

    rule: str
    work: Work
    unit: str = "launch"
    also: frozenset[str] = field(default_factory=frozenset)
    changes: bool = False


def serialised(lab: Laboratory, repaired: bool) -> None:
    """Three independent branches, captured from one stream or from three."""
    streams = lab.streams if repaired else [lab.stream] * BRANCHES
    others = lab.streams[1:] if repaired else []
    lab.spin("head_5us", lab.buffers, 5)
    lab.order([lab.stream], others)
    for stream, buffer in zip(streams, lab.buffers, strict=True):
        for _ in range(BRANCH_KERNELS):
            lab.work(15, buffer, stream)
    if others:
        lab.order(others, [lab.stream])
    lab.spin("tail_5us", lab.buffers, 5)


def host_nodes(lab: Laboratory, repaired: bool) -> None:
    """Kernels with calls of a host function in between, or without."""
    for step in range(HOST_NODES + 1):
        if step and not repaired:
            lab.call_host()
        for _ in range(2):
            lab.work(15, lab.buffers[0])


def memsets(lab: Laboratory, repaired: bool) -> None:
    """Kernels with fills in between, by memsets or by a kernel."""
    for value in range(MEMSETS):
        for _ in range(2):
            lab.work(5, lab.buffers[0])
        if repaired:
            lab.fill(value)
        else:
            lab.memset(value)
    lab.work(5, lab.buffers[0])


def tiny(lab: Laboratory, repaired: bool) -> None:
    """Many kernels that add 1, or one that does the same."""
    lab.work(20, lab.buffers[0])
    if repaired:
        lab.add("add_all_2us", TINY_KERNELS)
    else:
        for _ in range(TINY_KERNELS):
            lab.add("add_1us", 1)
    lab.work(20, lab.buffers[0])


def device_copy(lab: Laboratory, repaired: bool) -> None:
    """A copy from where one kernel writes to where the next reads, or no copy."""
    a, b = lab.copied
    for _ in range(2):
        lab.work(15, a)
    if not repaired:
        lab.cuda.copy_on_device(b, a, COPIED_BYTES, lab.stream)
    for _ in range(2):
        lab.work(15, a if repaired else b)


def overwritten_fill(lab: Laboratory, repaired: bool) -> None:
    """A memset of what another one fills anew, or only the second."""
    for value in (1,) if repaired else (0, 1):
        lab.cuda.set32(lab.filled, value, FILLED_BYTES // 4, lab.stream)
    for _ in range(3):
        lab.work(15, lab.filled)


def barriers(lab: Laboratory, repaired: bool) -> None:
    """Two branches that wait for each other after every step, or only at the end."""
    streams = lab.streams[:2]
    lab.spin("head_5us", lab.buffers, 5)
    lab.order(streams[:1], streams[1:])
    for step, lengths in enumerate(BARRIER_STEPS_US):
        if step and not repaired:
            lab.order(streams, streams)
        for us, stream, buffer in zip(lengths, streams, lab.buffers, strict=False):
            lab.work(us, buffer, stream)
    lab.order(streams[1:], streams[:1])
    lab.spin("tail_5us", lab.buffers, 5)


def narrow(lab: Laboratory, repaired: bool) -> None:
    """A kernel of a few blocks, or of many with the work spread over them."""
    for _ in range(2):
        lab.work(5, lab.buffers[0])
    if repaired:
        lab.polynomial("polynomial_8us", NARROW_ITERATIONS, NARROW_BLOCKS * NARROW_SHARE)
    else:
        lab.polynomial("polynomial_90us", NARROW_ITERATIONS * NARROW_SHARE, NARROW_BLOCKS)
    for _ in range(2):
        lab.work(5, lab.buffers[0])


def chain(count: int) -> Work:
    """Return work without a fault: a chain of so many kernels."""

    def work(lab: Laboratory, repaired: bool) -> None:
        for _ in range(count):
            lab.work(5, lab.buffers[lab.iteration % BRANCHES])

    return work


#: By name, those that matter most first.
FAULTS = {
    "serialised branches": Fault("single-stream-capture", serialised),
    "host nodes": Fault("host-node-on-path", host_nodes),
    "memsets between kernels": Fault("memset-between-kernels", memsets),
    "tiny kernels": Fault("fusable-chain", tiny),
    "rebuilt, unchanged": Fault("graph-rebuilt", chain(REBUILT_KERNELS), "rebuild"),
    "rebuilt, changed": Fault("graph-rebuilt", chain(REBUILT_KERNELS), "rebuild", changes=True),
    "device copy": Fault("device-copy", device_copy, also=frozenset({"memcpy-between-kernels"})),
    "overwritten fill": Fault("overwritten-fill", overwritten_fill),
    "barriers": Fault("branches-wait-for-each-other", barriers),
    "narrow kernel": Fault("below-one-wave", narrow),
    "no upload": Fault("first-launch-without-upload", chain(UPLOADED_KERNELS), "first launch"),
}
