"""The contract's programs that strain a process: threads, signals, forks, its end.

Run like programs.py; each prints what a recording must account for.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from ctypes import c_void_p
from pathlib import Path
from typing import Any

from contract import driver, programs
from contract.cases import GRAPH_SHAPES, Facts, build_shape, spin
from contract.driver import Arguments, Driver, Handle
from contract.programs import Profile, launch_times

_FOREIGN = Path(__file__).parent / "foreign_threads.c"


def capture_chain(cuda: Driver, stream: Handle, length: int = 3) -> Handle:
    """Return the graph of a captured chain of kernels."""
    cuda.begin_capture(stream, driver.CAPTURE_THREAD_LOCAL)
    for _ in range(length):
        cuda.launch("spin", spin(2), stream)
    return cuda.end_capture(stream)


def _in_threads(cuda: Driver, actions: list[Callable[[], None]]) -> None:
    """Run every action on a thread of its own; raise what the first failing one raised."""
    errors: list[BaseException] = []

    def run(action: Callable[[], None]) -> None:
        try:
            cuda.make_current()
            action()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


# -- one graph, several launchers --------------------------------------------------------------


def two_streams(cuda: Driver, profile: Profile) -> Facts:
    """One executable launched into two streams in turn, never waited for in between."""
    streams = [cuda.stream(), cuda.stream()]
    with profile():
        graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["chain"]))
        for i in range(20):
            cuda.launch_graph(graph_exec, streams[i % 2])
        cuda.synchronize()
    return {"launches": 20, "nodes": 4}


def two_threads(cuda: Driver, profile: Profile) -> Facts:
    """One executable launched by two threads, one at a time as CUDA asks; and two executables of
    one graph launched by two threads at once."""
    lock = threading.Lock()
    with profile():
        shared = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["chain"]))
        graph = build_shape(cuda, GRAPH_SHAPES["diamond"])
        own = [cuda.instantiate(graph), cuda.instantiate(graph)]

        def work(index: int) -> None:
            stream = cuda.stream()
            for _ in range(50):
                with lock:
                    cuda.launch_graph(shared, stream)
                cuda.launch_graph(own[index], stream)
            cuda.wait(stream)

        _in_threads(cuda, [lambda: work(0), lambda: work(1)])
    return {"launches": 100, "nodes": 4}


# -- kernels of all names --------------------------------------------------------------------------

#: Names that compilers give: templates reach thousands of characters.
LONG_NAMES = (
    b"k" * 4000,
    b"_Z3995" + b"x" * 3995 + b"v",
    b"_ZN" + b"4part" * 700 + b"3endEv",
    b"_Z" + b"9" * 60 + b"k",
)
#: Names that a symbol table may hold but no PTX can.
ODD_NAMES = (
    b"k\xe9_\xff\xfe_kernel",
    b"\xc3\xa9t\xc3\xa9_\xe2\x82\xac",
    b"\xed\xa0\x80surrogate",
    b'<script>alert&amp;"quoted"\\n|',
    b"bell\x07\x1b[31m",
)


def named(cuda: Driver, profile: Profile, names: tuple[bytes, ...] = LONG_NAMES) -> Facts:
    """Kernels of these names, once on a stream and captured."""
    cuda.load_kernels(names)
    stream = cuda.stream()
    with profile():
        for _ in range(2):
            for name in names:
                cuda.launch(name.decode("latin-1"), Arguments(), stream)
            cuda.wait(stream)
        cuda.begin_capture(stream)
        for name in names:
            cuda.launch(name.decode("latin-1"), Arguments(), stream)
        launch_times(cuda, cuda.end_capture(stream), 3, stream)
    return {"names": [name.decode("utf-8", "replace") for name in names], "launches": 3}


def oddly_named(cuda: Driver, profile: Profile) -> Facts:
    """The same with bytes that are no text, which only the fake takes."""
    return named(cuda, profile, LONG_NAMES + ODD_NAMES)


# -- large graphs --------------------------------------------------------------------------------


def large(cuda: Driver, profile: Profile, size: int = 50_000) -> Facts:
    """A captured chain of many nodes, launched three times.

    Returns
    -------
    Facts
        Peak memory of this process (bytes), and CPU time (s) of its own and of the writer's.
    """
    stream = cuda.stream()
    with profile():
        launch_times(cuda, capture_chain(cuda, stream, size), 3, stream)
    own, writer = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "nodes": size,
        "launches": 3,
        "peak_bytes": own.ru_maxrss * 1024,
        "own_s": own.ru_utime + own.ru_stime,
        "writer_s": writer.ru_utime + writer.ru_stime,
    }


def tenth(cuda: Driver, profile: Profile) -> Facts:
    """The same with a tenth of the nodes."""
    return large(cuda, profile, 5000)


_SUBSCRIBER = ctypes.CFUNCTYPE(None, c_void_p, ctypes.c_int, ctypes.c_uint, c_void_p)


def _cupti_is_free(seconds: float) -> bool:
    """Return whether CUPTI takes another subscriber within so many seconds."""
    from gviz.cuda.cupti_library import find_cupti

    path = os.environ.get("GVIZ_CUPTI") or find_cupti()[0].path
    cupti, handle, callback = ctypes.CDLL(str(path)), c_void_p(), _SUBSCRIBER(lambda *_: None)
    for _ in range(int(seconds * 10)):
        if cupti.cuptiSubscribe(ctypes.byref(handle), callback, None) == 0:
            cupti.cuptiUnsubscribe(handle)
            return True
        time.sleep(0.1)
    return False


def growing(cuda: Driver, profile: Profile) -> Facts:
    """Graphs of 30,000 nodes, of which the spool takes several segments; the results are right."""
    stream = cuda.stream()
    work = programs._Axpy(cuda)
    with profile():
        for _ in range(2):
            launch_times(cuda, capture_chain(cuda, stream, 15_000), 2, stream)
        work.enqueue(stream)
        cuda.wait(stream)
        launch_times(cuda, build_shape(cuda, GRAPH_SHAPES["diamond"]), 2, stream)
        free = _cupti_is_free(3) if "SEGMENTS_LEFT" in os.environ else None
    return {"result": work.result(), "nodes": 15_000, "cupti_is_free": free}


# -- threads -------------------------------------------------------------------------------------

_ROUNDS = 200


def captures_and_launches(cuda: Driver, profile: Profile) -> Facts:
    """Four threads that capture and four that launch, 200 rounds each."""
    shape = GRAPH_SHAPES["chain"]

    def capture() -> None:
        stream = cuda.stream()
        for _ in range(_ROUNDS):
            graph = capture_chain(cuda, stream)
            graph_exec = launch_times(cuda, graph, 1, stream)
            cuda.destroy_exec(graph_exec)
            cuda.destroy_graph(graph)

    def launch() -> None:
        launch_times(cuda, build_shape(cuda, shape), _ROUNDS, cuda.stream())

    with profile():
        _in_threads(cuda, [capture] * 4 + [launch] * 4)
    return {"captured": 4 * _ROUNDS, "captured_nodes": 3, "built": 4, "launches": _ROUNDS}


def foreign_threads(cuda: Driver, profile: Profile) -> Facts:
    """Eight threads of C: four while Python may run, four while the main thread holds the GIL."""
    functions = (
        "cuCtxSetCurrent", "cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuLaunchKernel",
        "cuGraphInstantiateWithFlags", "cuGraphLaunch", "cuStreamSynchronize",
    )  # fmt: skip
    addresses = [ctypes.cast(getattr(cuda.library, name), c_void_p) for name in functions]
    table = (c_void_p * len(addresses))(*addresses)
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/foreign.so"
        command = [os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC", "-pthread"]
        subprocess.run([*command, "-o", library, str(_FOREIGN)], check=True)
        with profile():
            for load in (ctypes.CDLL, ctypes.PyDLL):
                streams = (c_void_p * 4)(*(cuda.stream() for _ in range(4)))
                code = load(library).run_threads(
                    table, c_void_p(cuda.context), c_void_p(cuda.functions["spin"]), streams, 4, 25
                )
                if code != 0:
                    raise RuntimeError(f"a thread failed: {code}")
    return {"graphs": 8, "nodes": 3, "launches": 25}


def gil_stress(cuda: Driver, profile: Profile) -> Facts:
    """Eight threads that keep the GIL busy, and launch and capture now and then."""
    stop = threading.Event()
    rounds = 5

    def spinning() -> None:
        stream = cuda.stream()
        for _ in range(rounds):
            count = sum(1 for _ in range(20_000))
            graph_exec = launch_times(cuda, capture_chain(cuda, stream), count // 10_000, stream)
            cuda.destroy_exec(graph_exec)

    def only_spinning() -> None:
        while not stop.is_set():
            sum(1 for _ in range(1000))

    with profile():
        idle = [threading.Thread(target=only_spinning) for _ in range(2)]
        for thread in idle:
            thread.start()
        _in_threads(cuda, [spinning] * 8)
        stop.set()
        for thread in idle:
            thread.join()
    return {"graphs": 8 * rounds, "nodes": 3, "launches": 2}


# -- signals ---------------------------------------------------------------------------------------


class Tick(Exception):
    """Raised by the handler of a timer."""


#: Rounds of launches and captures that a timer interrupts, and more of them until so many ticks
#: were raised, for so long: on a busy machine most of a timer's signals come between two attempts.
_ROUNDS, _TICKS, _TICKING_S = 150, 60, 60.0


class _Ticker:
    """A timer whose handler raises at most one Tick an attempt, anywhere in the main thread."""

    def __init__(self, period_s: float) -> None:
        self.raised = self.caught = 0
        self._armed = False
        signal.signal(signal.SIGALRM, self._handle)
        signal.setitimer(signal.ITIMER_REAL, period_s, period_s)

    def _handle(self, _number: int, _frame: Any) -> None:
        if self._armed:
            self._armed = False
            self.raised += 1
            raise Tick(self.raised)

    def attempt(self, action: Callable[[], object]) -> None:
        try:
            self._armed = True
            action()
            self._armed = False
        except Tick as tick:
            self.caught += tick.args == (self.raised,)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)


def raising_handlers(cuda: Driver, profile: Profile) -> Facts:
    """A timer's handler raises in the middle of launches and captures, hundreds of times."""
    stream = cuda.stream()
    with profile():
        graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["chain"]))
        counts = {"launches": 0, "captures": 0}
        ticker = _Ticker(0.0007)

        def launch() -> None:
            for _ in range(20):
                cuda.launch_graph(graph_exec, stream)
                counts["launches"] += 1

        def capture() -> None:
            cuda.begin_capture(stream)
            for _ in range(60):
                cuda.launch("spin", spin(1), stream)

        end = time.monotonic() + _TICKING_S
        for done in itertools.count():
            if done >= _ROUNDS and (ticker.raised >= _TICKS or time.monotonic() > end):
                break
            ticker.attempt(launch)
            cuda.wait(stream)
            ticker.attempt(capture)
            if programs._code(lambda: cuda.destroy_graph(cuda.end_capture(stream))) == 0:
                counts["captures"] += 1
        ticker.stop()
        last = launch_times(cuda, capture_chain(cuda, stream), 3, stream)
        cuda.destroy_exec(last)
    return {**counts, "raised": ticker.raised, "caught": ticker.caught}


def interrupted(cuda: Driver, profile: Profile) -> Facts:
    """Signals of a terminal and of a scheduler, sent by another thread to launches and captures."""
    stream, caught = cuda.stream(), []

    def stop(number: int, _frame: Any) -> None:
        raise SystemExit(number)

    signal.signal(signal.SIGTERM, stop)
    with profile():
        graph_exec = launch_times(cuda, build_shape(cuda, GRAPH_SHAPES["chain"]), 1, stream)
        for number in (signal.SIGINT, signal.SIGTERM) * 5:
            try:
                # In here: a starved thread may be that late with what follows.
                threading.Timer(0.03, os.kill, (os.getpid(), number)).start()
                for round_ in itertools.count():
                    if round_ % 2:
                        cuda.launch_graph(graph_exec, stream)
                    else:
                        cuda.begin_capture(stream)
                        cuda.launch("spin", spin(1), stream)
                        cuda.end_capture(stream)
            except (KeyboardInterrupt, SystemExit) as error:
                caught.append(type(error).__name__)
                programs._code(lambda: cuda.end_capture(stream))
        cuda.wait(stream)
    return {"caught": caught}


# -- processes -------------------------------------------------------------------------------------


def forks(cuda: Driver, profile: Profile) -> Facts:
    """Forks in a capture, and while three threads launch, capture and instantiate in a window.

    While a child ends they go on for the first forks alone: each graph captured is to be folded.
    """
    stop, going = threading.Event(), threading.Event()
    stream = cuda.stream()
    codes: list[int] = []
    counts = {"launches": 0, "captured": 0}

    def fork(*, pauses: bool = False) -> None:
        child = os.fork()
        if child == 0:
            raise SystemExit(7)  # leaves through the profile, as sys.exit() does
        if pauses:
            going.clear()
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    def launch() -> None:
        cuda.make_current()
        mine = cuda.stream()
        graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["diamond"]))
        while going.wait() and not stop.is_set():
            cuda.launch_graph(graph_exec, mine)
            cuda.wait(mine)
            counts["launches"] += 1

    def capture() -> None:
        cuda.make_current()
        mine = cuda.stream()
        while going.wait() and not stop.is_set():
            cuda.instantiate(capture_chain(cuda, mine))
            counts["captured"] += 1

    def let_both_go_on() -> None:
        before = dict(counts)
        going.set()
        while any(counts[name] < before[name] + 3 for name in counts):
            time.sleep(0)

    with profile():
        cuda.begin_capture(stream)
        cuda.launch("spin", spin(2), stream)
        fork()
        cuda.launch("spin", spin(2), stream)
        launch_times(cuda, cuda.end_capture(stream), 3, stream)
        threads = [threading.Thread(target=launch), threading.Thread(target=capture)]
        for thread in threads:
            thread.start()
        for at in range(20):
            let_both_go_on()
            fork(pauses=at > 3)
        stop.set()
        going.set()
        for thread in threads:
            thread.join()
    return {**counts, "codes": codes}


def forked_profile(cuda: Driver, profile: Profile) -> Facts:
    """Children forked while others launch record themselves: their locks are free.

    A forked child cannot use the parent's CUDA, so only the fake runs this.
    """
    stop = threading.Event()

    def launch() -> None:
        cuda.make_current()
        mine = cuda.stream()
        graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["chain"]))
        while not stop.is_set():
            cuda.launch_graph(graph_exec, mine)

    codes = []
    with profile(), tempfile.TemporaryDirectory() as folder:
        threads = [threading.Thread(target=launch) for _ in range(3)]
        for thread in threads:
            thread.start()
        for i in range(30):
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # a lock that is still held ends the child
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the parent holds CUPTI, it says
                os._exit(_start_native(f"{folder}/{i}"))
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        stop.set()
        for thread in threads:
            thread.join()
    return {"codes": codes}


def _start_native(spool: str) -> int:
    """Open a spool and attach when the driver initialises, which it has: the locks are taken."""
    from gviz.collectors import native

    os.mkdir(spool)
    # Without CUPTI nothing else may follow: the driver's own lock, in the child, is another's.
    native.library().gviz_want_collector(1)
    why = native.start(Path(spool), None, native.NativeOptions(), at_init=True)
    native.append(1, b"{}")
    library = ctypes.CDLL(str(native.library_path()))
    library.InitializeInjection()  # subscribing fails or not; it must return
    return 0 if why is None else 1


def ending(cuda: Driver, profile: Profile) -> Facts:
    """The program ends inside its profile while daemon threads launch and capture."""
    profile().__enter__()
    started = threading.Barrier(5)

    def work() -> None:
        cuda.make_current()
        stream = cuda.stream()
        graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["chain"]))
        started.wait()
        while True:
            cuda.launch_graph(graph_exec, stream)
            cuda.destroy_graph(capture_chain(cuda, stream))
            cuda.wait(stream)

    for _ in range(4):
        threading.Thread(target=work, daemon=True).start()
    started.wait()
    time.sleep(0.3)
    return {}


STRESS: dict[str, Callable[[Driver, Profile], Facts]] = {
    f.__name__: f
    for f in (
        two_streams,
        two_threads,
        named,
        oddly_named,
        growing,
        large,
        tenth,
        captures_and_launches,
        foreign_threads,
        gil_stress,
        raising_handlers,
        interrupted,
        forks,
        forked_profile,
        ending,
    )
}


if __name__ == "__main__":
    # Since Python 3.12 a fork beside threads is warned of: that is what is tried here.
    warnings.simplefilter("ignore", DeprecationWarning)
    programs.PROGRAMS.update(STRESS)
    _options = json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}
    print(json.dumps(programs.run(sys.argv[1], sys.argv[2], Path(sys.argv[3]), _options)))
