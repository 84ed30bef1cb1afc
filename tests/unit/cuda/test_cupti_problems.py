"""Known problems of CUPTI: which version has which, and which recordings they can touch."""

from __future__ import annotations

import pytest

from gviz.cuda.cupti_problems import (
    LONG_RUN_RECORDS,
    PROBLEMS,
    Concerns,
    problems_in,
    problems_of,
)
from gviz.cuda.doctor import Status, check_cupti_problems


@pytest.mark.parametrize(
    ("version", "texts"),
    [
        (None, []),
        (24, []),  # CUDA 12.6 counts differently
        (130_000, ["deadlock", "correlation", "processor time"]),
        (130_001, ["correlation", "25 million", "processor time"]),
        (130_100, ["correlation", "processor time"]),
        (130_101, ["processor time"]),
        (130_400, ["processor time"]),
        (130_401, []),
        (130_500, []),
    ],
)
def test_version_has_its_problems(version: int | None, texts: list[str]) -> None:
    found = problems_of(version)
    assert len(found) == len(texts)
    assert all(text in problem.text for text, problem in zip(texts, found, strict=True))


def test_every_problem_names_its_source() -> None:
    for problem in PROBLEMS:
        assert problem.source.startswith("https://")
        assert problem.fixed is None or problem.first < problem.fixed


@pytest.mark.parametrize(
    ("number", "records", "invalid", "concerns"),
    [
        (1, 0, 0, set()),
        (2, 0, 0, {Concerns.REPEATED}),
        (1, LONG_RUN_RECORDS, 0, {Concerns.LONG}),
        (1, 0, 1, {Concerns.LONG}),
        (3, LONG_RUN_RECORDS, 7, {Concerns.LONG, Concerns.REPEATED}),
    ],
)
def test_recording_is_reported_of_what_can_have_touched_it(
    number: int, records: int, invalid: int, concerns: set[Concerns]
) -> None:
    found = problems_in(130_001, recording_number=number, records=records, invalid=invalid)
    assert {problem.concerns for problem in found} == concerns
    (always,) = problems_in(130_000, recording_number=1, records=0, invalid=0)
    assert always.concerns is Concerns.ALL


def test_doctor_warns_of_what_touches_every_recording() -> None:
    assert check_cupti_problems(130_000).status is Status.WARNING
    finding = check_cupti_problems(130_001)
    assert finding.status is Status.INFORMATION
    assert "https://docs.nvidia.com/cupti" in " ".join(finding.items)
    assert check_cupti_problems(130_500).status is Status.OK
    assert check_cupti_problems(None).status is Status.INFORMATION
