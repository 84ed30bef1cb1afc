"""Causes of failed stream captures, in words: the rule that a call broke, and what to do about it.

A table from the driver's error (:class:`CaptureError`) to a rule (:class:`CaptureRule`). Results
are those of CUDA 13.0 on an H100, driver 580, where each was provoked.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from gviz.dataclass import dataclass


class CaptureMode(IntEnum):
    """Modes in which a capture forbids calls that could disturb it (``CUstreamCaptureMode``)."""

    GLOBAL = 0
    THREAD_LOCAL = 1
    RELAXED = 2


class CaptureResult(IntEnum):
    """Results that the driver gives for a capture's sake (``CUresult``, cuda.h)."""

    ILLEGAL_STATE = 401
    STREAM_CAPTURE_UNSUPPORTED = 900
    STREAM_CAPTURE_INVALIDATED = 901
    STREAM_CAPTURE_MERGE = 902
    STREAM_CAPTURE_UNMATCHED = 903
    STREAM_CAPTURE_UNJOINED = 904
    STREAM_CAPTURE_ISOLATION = 905
    STREAM_CAPTURE_IMPLICIT = 906
    CAPTURED_EVENT = 907
    STREAM_CAPTURE_WRONG_THREAD = 908


@dataclass(frozen=True, slots=True)
class CaptureError:
    """The first call that a capture could not survive, as far as it is known.

    Attributes
    ----------
    result
        Its CUresult; None: no call failed, the capture was left open or its stream destroyed.
    call
        The driver function; None: unknown.
    runtime_call
        The CUDA runtime function that made it; None: called directly.
    mode
        The capture's mode.
    same_thread
        Whether the call was made on the thread that began the capture.
    legacy_stream
        Whether the call named the legacy default stream.
    stream_destroyed
        Whether the capturing stream was destroyed.
    """

    result: int | None
    call: str | None = None
    runtime_call: str | None = None
    mode: int = CaptureMode.GLOBAL
    same_thread: bool = True
    legacy_stream: bool = False
    stream_destroyed: bool = False

    @property
    def name(self) -> str:
        """The call as the program's author knows it."""
        return self.runtime_call or self.call or "a call that was not seen"


@dataclass(frozen=True, slots=True)
class CaptureRule:
    """A rule of stream capture, why it exists, and how to keep it.

    Attributes
    ----------
    name
        Short, such as ``legacy default stream``.
    explanation
        What happened, one or two sentences.
    fix
        What to change, for PyTorch, CuPy and C++ programs.
    """

    name: str
    explanation: str
    fix: str


def capture_result_name(result: int) -> str:
    """Return CUDA's name of a result, or ``CUresult <number>`` for one that is not of captures."""
    try:
        name = CaptureResult(result).name
    except ValueError:
        return f"CUresult {result}"
    return f"CUDA_ERROR_{name}"


def explain_capture(error: CaptureError) -> CaptureRule:
    """Return the rule that a call broke."""
    if error.stream_destroyed:
        return _STREAM_DESTROYED
    if error.result is None:
        return _NEVER_ENDED
    call = error.call or error.runtime_call or ""
    if "BeginCapture" in call:
        return _begin(error)
    if error.result == CaptureResult.STREAM_CAPTURE_UNSUPPORTED:
        return _unsupported(error, call)
    if error.result == CaptureResult.STREAM_CAPTURE_IMPLICIT:
        return _legacy(error)
    return _BY_RESULT.get(error.result, _unknown)(error)


# -- calls that are not permitted -----------------------------------------------------------------

#: Calls that wait for the GPU or query its progress; by the beginning of the driver's name.
_WAITING = (
    "cuStreamSynchronize",
    "cuStreamQuery",
    "cuCtxSynchronize",
    "cuEventSynchronize",
    "cuEventQuery",
    "cudaStreamSynchronize",
    "cudaStreamQuery",
    "cudaDeviceSynchronize",
    "cudaEventSynchronize",
    "cudaEventQuery",
)


def _unsupported(error: CaptureError, call: str) -> CaptureRule:
    if call.startswith(_WAITING):
        return CaptureRule(
            "synchronising call",
            f"{error.name} waits for the GPU or queries its progress, but work that is being "
            "captured has not started: it runs when the graph is launched.",
            "Move the waiting before or after the capture. In PyTorch, .item(), .tolist(), "
            "nonzero(), bool(tensor), printing a tensor and torch.cuda.synchronize() all wait; "
            "keep the value on the GPU (torch.where, masked operations) instead. In CuPy, .get(), "
            "float(array) and stream.synchronize() wait. In C++, drop the call, or order streams "
            "with cudaEventRecord and cudaStreamWaitEvent.",
        )
    if "GraphLaunch" in call:
        return CaptureRule(
            "graph launched into a capture",
            f"{error.name} was given a stream that is being captured; this driver cannot capture "
            "the launch of an executable.",
            "Launch that graph outside the capture, or add it as a child graph node "
            "(cudaGraphAddChildGraphNode). In PyTorch, do not call graph.replay() or a compiled "
            'function with mode="reduce-overhead" inside torch.cuda.graph.',
        )
    return _unsafe(error)


def _unsafe(error: CaptureError) -> CaptureRule:
    if not error.same_thread:
        return CaptureRule(
            "cross-thread call in global mode",
            f"{error.name} was made on another thread than the one that captures. A capture in "
            "global mode forbids such calls to every thread of the process.",
            "Capture in thread-local mode: torch.cuda.graph(..., "
            'capture_error_mode="thread_local"), cudaStreamCaptureModeThreadLocal in C++ and CuPy; '
            "or keep the other thread (a data loader, another profiler) from calling CUDA until "
            "the capture has ended.",
        )
    return CaptureRule(
        "unsafe call",
        f"{error.name} is not captured and could wait for work on the GPU, so it is forbidden to "
        "the capturing thread unless the capture is in relaxed mode.",
        "Call it before the capture begins: allocate buffers, create handles and run the code once "
        "for warm-up first, so that nothing is allocated inside. In PyTorch, allocate through "
        "torch inside torch.cuda.graph, which has a memory pool for it. In CuPy, use a memory pool "
        "and preallocated outputs (out=). In C++, use cudaMallocAsync, which becomes a node. "
        "Relaxed mode permits the call if nothing that is captured depends on it.",
    )


def _legacy(error: CaptureError) -> CaptureRule:
    used = (
        f"{error.name} used the legacy default stream"
        if error.legacy_stream
        else f"{error.name} works on the legacy default stream"
    )
    return CaptureRule(
        "legacy default stream",
        f"{used}, which waits for every blocking stream; one of these is being captured, and "
        "nothing outside the capture can wait for it.",
        "Give every call in the capture the capturing stream, and use asynchronous copies "
        "(cudaMemcpyAsync, tensor.copy_(..., non_blocking=True)). A library that insists on the "
        "default stream needs its stream set (cublasSetStream, cupy.cuda.Stream as context "
        "manager). Or create the capturing stream as non-blocking (cudaStreamNonBlocking), or "
        "compile with --default-stream per-thread.",
    )


# -- begin and end --------------------------------------------------------------------------------


def _begin(error: CaptureError) -> CaptureRule:
    if error.legacy_stream:
        return CaptureRule(
            "legacy default stream",
            "The legacy default stream cannot be captured.",
            "Create a stream and capture that: torch.cuda.graph makes one by itself; in CuPy use "
            "cupy.cuda.Stream(non_blocking=True); in C++ cudaStreamCreateWithFlags.",
        )
    if error.result == CaptureResult.ILLEGAL_STATE:
        return CaptureRule(
            "stream is captured already",
            f"{error.name} was given a stream that is being captured.",
            "End the first capture before beginning another on the same stream. Nested "
            "torch.cuda.graph blocks, or a capture that an exception left open, do this.",
        )
    return CaptureRule(
        "capture could not begin",
        f"{error.name} was refused with {capture_result_name(error.result or 0)}.",
        "Check that the stream belongs to the current context and is not in use by "
        "another capture.",
    )


def _unjoined(error: CaptureError) -> CaptureRule:
    return CaptureRule(
        "unjoined stream",
        "Work was captured on another stream that was forked from the capture, and the capture's "
        "own stream does not wait for it.",
        "Before ending the capture, record an event on each forked stream and make the capture's "
        "stream wait for it: side.record_event(e); main.wait_event(e) in CuPy, "
        "main.wait_stream(side) in PyTorch, cudaEventRecord and cudaStreamWaitEvent in C++.",
    )


def _unmatched(error: CaptureError) -> CaptureRule:
    return CaptureRule(
        "ended on another stream",
        f"{error.name} was given a stream that joined the capture, not the one that it began on.",
        "End the capture on the stream that it began on.",
    )


def _wrong_thread(error: CaptureError) -> CaptureRule:
    return CaptureRule(
        "ended on another thread",
        f"{error.name} was called on another thread than the one that began the capture; only a "
        "capture in relaxed mode may change threads.",
        "Begin and end the capture on one thread, or begin it in relaxed mode "
        '(cudaStreamCaptureModeRelaxed, capture_error_mode="relaxed" in PyTorch).',
    )


# -- dependencies ---------------------------------------------------------------------------------


def _isolation(error: CaptureError) -> CaptureRule:
    return CaptureRule(
        "uncaptured dependency",
        f"{error.name} made the capture depend on work outside it: an event that was recorded "
        "before the capture, or on a stream that is not part of it.",
        "Wait for that work before the capture begins (stream.wait_event or synchronize, then "
        "capture), or record the event inside the capture on a stream that was forked from it.",
    )


def _merge(error: CaptureError) -> CaptureRule:
    return CaptureRule(
        "merged captures",
        f"{error.name} would have joined two captures that were begun separately; both "
        "are invalid.",
        "Begin one capture only, and bring the second stream into it with an event that is "
        "recorded in the first; or end one capture and add its graph as a child graph node to "
        "the other.",
    )


def _captured_event(error: CaptureError) -> CaptureRule:
    return CaptureRule(
        "captured event queried",
        f"{error.name} queried an event that was recorded inside the capture: it stands for a "
        "place in the graph and has no time of its own.",
        "Query, synchronise or time events outside the capture. For a time inside the graph, "
        "record the event with cudaEventRecordExternal (torch.cuda.Event(external=True)) and read "
        "it after the launch.",
    )


def _invalidated(error: CaptureError) -> CaptureRule:
    return CaptureRule(
        "capture was invalid already",
        f"{error.name} found the capture invalid; the call that broke it was not seen.",
        "Attach gviz before the capture begins. Errors that the program swallowed before this call "
        "are the likely cause.",
    )


def _unknown(error: CaptureError) -> CaptureRule:
    return CaptureRule(
        "other",
        f"{error.name} failed with {capture_result_name(error.result or 0)} "
        "and the capture gave no graph.",
        "Check the result of this call outside a capture.",
    )


_BY_RESULT: dict[int, Callable[[CaptureError], CaptureRule]] = {
    CaptureResult.STREAM_CAPTURE_INVALIDATED: _invalidated,
    CaptureResult.STREAM_CAPTURE_MERGE: _merge,
    CaptureResult.STREAM_CAPTURE_UNMATCHED: _unmatched,
    CaptureResult.STREAM_CAPTURE_UNJOINED: _unjoined,
    CaptureResult.STREAM_CAPTURE_ISOLATION: _isolation,
    CaptureResult.CAPTURED_EVENT: _captured_event,
    CaptureResult.STREAM_CAPTURE_WRONG_THREAD: _wrong_thread,
}

_STREAM_DESTROYED = CaptureRule(
    "capturing stream destroyed",
    "The stream was destroyed while it was being captured, which ends the capture without a graph.",
    "Keep the stream until the capture has ended; a stream object that went out of scope, as after "
    "an exception, does this.",
)
_NEVER_ENDED = CaptureRule(
    "never ended",
    "The capture was begun and never ended while gviz watched.",
    "End the capture on its stream, also when an exception leaves the code between begin and end.",
)
