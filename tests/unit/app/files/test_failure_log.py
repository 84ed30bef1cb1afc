"""The log of failures: a traceback a kind, and a bounded number of lines."""

from __future__ import annotations

import logging

import pytest

from gviz.app.files.failure_log import FailureLog


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def _raised(text: str = "x") -> Exception:
    try:
        raise ValueError(text)
    except ValueError as error:
        return error


def test_kind_of_fault_has_its_traceback_once(caplog: pytest.LogCaptureFixture) -> None:
    log = FailureLog()
    log.fault(_raised())
    log.fault(_raised())
    first, again = caplog.records
    assert first.exc_info is not None
    assert again.exc_info is None
    assert "ValueError: x (test_failure_log.py:" in again.getMessage()


def test_malformed_requests_are_a_line_each_up_to_a_bound(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = _Clock()
    log = FailureLog(clock)
    for _ in range(1000):
        log.malformed(_raised("many\nlines " * 1000))
    assert len(caplog.records) == 20
    assert all(len(r.getMessage()) < 400 and "\n" not in r.getMessage() for r in caplog.records)
    assert {r.exc_info for r in caplog.records} == {None}
    clock.now += 61
    log.malformed(_raised())
    assert caplog.records[-2].getMessage() == "980 more lines were left out"
    assert caplog.records[-1].levelno == logging.ERROR
