"""From what the driver said of a broken capture to its rule, explanation and fix."""

from __future__ import annotations

import pytest

from gviz.cuda.capture_failure import (
    CaptureError,
    CaptureMode,
    CaptureResult,
    capture_result_name,
    explain_capture,
)

#: What was seen on an H100, driver 580, by the rule that was broken.
SEEN = [
    (CaptureError(900, "cuStreamSynchronize", "cudaStreamSynchronize"), "synchronising call"),
    (CaptureError(900, "cuStreamQuery"), "synchronising call"),
    (CaptureError(900, "cuCtxSynchronize_v2", "cudaDeviceSynchronize"), "synchronising call"),
    (CaptureError(900, None, "cudaDeviceSynchronize"), "synchronising call"),
    (CaptureError(900, "cuMemAlloc_v2", "cudaMalloc"), "unsafe call"),
    (
        CaptureError(900, "cuMemAlloc_v2", "cudaMalloc", same_thread=False),
        "cross-thread call in global mode",
    ),
    (CaptureError(900, "cuGraphLaunch", "cudaGraphLaunch"), "graph launched into a capture"),
    (CaptureError(906, "cuLaunchKernel", legacy_stream=True), "legacy default stream"),
    (CaptureError(906, "cuMemcpyDtoD_v2", "cudaMemcpy"), "legacy default stream"),
    (CaptureError(905, "cuStreamWaitEvent"), "uncaptured dependency"),
    (CaptureError(902, "cuStreamWaitEvent"), "merged captures"),
    (CaptureError(907, "cuEventQuery"), "captured event queried"),
    (CaptureError(904, "cuStreamEndCapture"), "unjoined stream"),
    (CaptureError(903, "cuStreamEndCapture"), "ended on another stream"),
    (CaptureError(908, "cuStreamEndCapture", same_thread=False), "ended on another thread"),
    (CaptureError(901, "cuLaunchKernel"), "capture was invalid already"),
    (CaptureError(900, "cuStreamBeginCapture_v2", legacy_stream=True), "legacy default stream"),
    (CaptureError(401, "cuStreamBeginCapture_v2"), "stream is captured already"),
    (CaptureError(400, "cuStreamBeginCapture_v2"), "capture could not begin"),
    (CaptureError(719, "cuStreamEndCapture"), "other"),
    (CaptureError(None), "never ended"),
    (CaptureError(None, stream_destroyed=True), "capturing stream destroyed"),
]


@pytest.mark.parametrize(("error", "rule"), SEEN, ids=lambda value: str(value)[:60])
def test_error_has_its_rule(error: CaptureError, rule: str) -> None:
    assert explain_capture(error).name == rule


@pytest.mark.parametrize(("error", "rule"), SEEN, ids=lambda value: str(value)[:60])
def test_texts_are_sentences(error: CaptureError, rule: str) -> None:
    found = explain_capture(error)
    for text in (found.explanation, found.fix):
        assert text[0].isupper() or text.startswith(("cu", "a call"))
        assert text.endswith(".")
        assert "  " not in text
        assert "None" not in text


def test_explanation_names_the_function_that_the_program_called() -> None:
    assert explain_capture(CaptureError(900, "cuMemAlloc_v2", "cudaMalloc")).explanation.startswith(
        "cudaMalloc "
    )
    assert explain_capture(CaptureError(900, "cuMemAlloc_v2")).explanation.startswith(
        "cuMemAlloc_v2 "
    )


def test_cross_thread_fix_is_the_thread_local_mode() -> None:
    fix = explain_capture(CaptureError(900, "cuMemAlloc_v2", same_thread=False)).fix
    assert 'capture_error_mode="thread_local"' in fix


@pytest.mark.parametrize("result", CaptureResult)
def test_every_result_has_a_rule_and_a_name(result: CaptureResult) -> None:
    assert explain_capture(CaptureError(result, "cuStreamEndCapture")).fix
    assert capture_result_name(result) == f"CUDA_ERROR_{result.name}"


def test_unknown_result_is_named_by_number() -> None:
    assert capture_result_name(719) == "CUresult 719"


def test_modes_have_cudas_numbers() -> None:
    assert [m.name for m in CaptureMode] == ["GLOBAL", "THREAD_LOCAL", "RELAXED"]
