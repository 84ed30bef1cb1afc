"""The doctor's judgements on made-up facts, and that its probe survives what crashes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gviz.cuda import driver_probe
from gviz.cuda.cupti_library import CuptiCandidate
from gviz.cuda.doctor import (
    CheckOutcome,
    Facts,
    Status,
    check_cupti,
    check_driver,
    check_environment,
    check_native_library,
    check_permission,
    check_subscriber,
    diagnose,
)
from gviz.cuda.driver_probe import DriverAnswers
from gviz.errors import REINSTALL

GPU = DriverAnswers(
    init_result=0,
    driver_version="13.0",
    devices=("NVIDIA H100 80GB HBM3 (compute capability 9.0)",),
    cupti_path="/sp/libcupti.so.13",
    cupti_version=130500,
    subscribe_result=0,
)
CUPTI_13 = CuptiCandidate(Path("/sp/libcupti.so.13"), "13.0.85", "wheel")
GOOD = Facts(
    driver=GPU,
    cupti=(CUPTI_13,),
    native_library="/sp/gviz/collectors/_native.abi3.so",
    native_error=None,
    launchcost_library="/sp/gviz/collectors/launchcost/_launchcost.abi3.so",
    launchcost_error=None,
    gate_library="/sp/gviz/collectors/_gate.abi3.so",
    gate_error=None,
    compiler="/usr/bin/cc",
    admin_only_counters=True,
    environment={"PATH": "/usr/bin"},
)


def test_good_machine_works_and_requests_nothing() -> None:
    diagnosis = diagnose(GOOD)
    assert diagnosis.works
    assert {f.status for f in diagnosis.findings} == {Status.OK}
    assert [f.advice for f in diagnosis.findings if f.advice] == []


WITHOUT_GATE = replace(GOOD, gate_library=None)

BROKEN = {
    "no driver": replace(GOOD, driver=DriverAnswers(library_error="libcuda.so.1: cannot open")),
    "no device": replace(GOOD, driver=DriverAnswers(init_result=100, driver_version="13.0")),
    "unknown init error": replace(GOOD, driver=DriverAnswers(init_result=4711)),
    "devices hidden": replace(GOOD, driver=replace(GPU, devices=())),
    "driver hangs": replace(GOOD, driver=DriverAnswers(failure="did not answer within 60 s")),
    "not built": replace(GOOD, native_library=None),
    "not built, no compiler": replace(GOOD, native_library=None, compiler=None),
    "native library broken": replace(GOOD, native_error="wrong ELF class"),
    "no CUPTI": replace(WITHOUT_GATE, cupti=()),
    "CUPTI broken": replace(WITHOUT_GATE, driver=replace(GPU, cupti_error="not ELF")),
    "CUPTI too new": replace(WITHOUT_GATE, driver=replace(GPU, driver_version="12.4")),
    "CUPTI taken": replace(GOOD, driver=replace(GPU, subscribe_result=39)),
    "CUPTI refuses": replace(GOOD, driver=replace(GPU, subscribe_result=15)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_machine_does_not_work_and_every_error_has_advice(name: str) -> None:
    diagnosis = diagnose(BROKEN[name])
    assert not diagnosis.works
    errors = [f for f in diagnosis.findings if f.status is Status.ERROR]
    assert len(errors) == 1
    assert all(f.advice for f in errors)


def test_injection_variable_is_a_warning_that_names_it() -> None:
    finding = check_environment({"CUDA_INJECTION64_PATH": "/x.so", "NVTX_INJECTION64_PATH": ""})
    assert finding.status is Status.WARNING
    assert "CUDA_INJECTION64_PATH" in finding.text
    assert finding.advice == "start without it: unset CUDA_INJECTION64_PATH"
    assert diagnose(replace(GOOD, environment={"CUDA_INJECTION64_PATH": "/x.so"})).works


@pytest.mark.parametrize(
    "facts",
    [replace(GOOD, launchcost_library=None), replace(GOOD, launchcost_error="wrong ELF class")],
)
def test_profiling_works_without_the_library_of_the_bench(facts: Facts) -> None:
    diagnosis = diagnose(facts)
    assert diagnosis.works
    (warning,) = [f for f in diagnosis.findings if f.status is not Status.OK]
    assert warning.status is Status.WARNING
    assert "gviz bench cannot measure" in warning.text
    assert warning.advice == REINSTALL


@pytest.mark.parametrize(
    "facts", [replace(GOOD, gate_library=None), replace(GOOD, gate_error="wrong ELF class")]
)
def test_profiling_works_without_the_gate(facts: Facts) -> None:
    diagnosis = diagnose(facts)
    assert diagnosis.works
    (warning,) = [f for f in diagnosis.findings if f.status is not Status.OK]
    assert (warning.name, warning.status, warning.advice) == ("gate", Status.WARNING, REINSTALL)


def test_profiling_works_without_cupti_behind_the_gate() -> None:
    without = replace(GOOD, cupti=())
    diagnosis = diagnose(without)
    assert diagnosis.works
    (warning,) = [f for f in diagnosis.findings if f.name == "CUPTI"]
    assert warning.status is Status.WARNING
    assert "gviz run goes without" in warning.text
    assert not diagnose(replace(without, gate_library=None)).works


@pytest.mark.parametrize("admin_only", [True, False, None])
def test_permission_never_stands_in_the_way(admin_only: bool | None) -> None:
    finding = check_permission(admin_only)
    assert finding.status in (Status.OK, Status.INFORMATION)
    assert "needs no privilege" in finding.text


@pytest.mark.parametrize(
    ("finding", "says"),
    [
        (check_native_library(None, None, None), "apt-get install gcc"),
        (check_native_library(None, None, "/usr/bin/cc"), REINSTALL),
        (check_native_library("/a.so", "bad", "/usr/bin/cc"), "--no-cache-dir"),
        (check_cupti((), GPU), "nvidia-cuda-cupti>=13"),
        (check_cupti((), replace(GPU, driver_version="12.4")), "nvidia-cuda-cupti-cu12"),
        (check_driver(DriverAnswers(init_result=803)), "reboot"),
        (check_driver(DriverAnswers(init_result=100)), "CUDA_VISIBLE_DEVICES"),
        (check_subscriber(replace(GPU, subscribe_result=39)), "nsys, ncu"),
    ],
)
def test_advice_names_the_next_step(finding: CheckOutcome, says: str) -> None:
    assert finding.advice is not None
    assert says in finding.advice


def test_cupti_of_an_older_cuda_version_fits_a_newer_driver() -> None:
    older = CuptiCandidate(Path("/sp/libcupti.so.12"), "12.8.90", "wheel")
    assert check_cupti((older, CUPTI_13), GPU).status is Status.OK


# -- the probe -----------------------------------------------------------------------


def test_probe_of_a_file_that_is_no_library_reports_it(tmp_path: Path) -> None:
    path = tmp_path / "libcupti.so.13"
    path.write_text("not a library")
    answers = driver_probe.probe(path)
    assert answers.failure is None
    assert answers.cupti_path == str(path)
    assert answers.cupti_error


def test_probe_survives_a_child_that_prints_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho boom >&2\nkill -SEGV $$\n")
    broken.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(broken))
    answers = driver_probe.probe(None)
    assert answers.failure is not None
    assert "boom" in answers.failure
    assert check_driver(answers).status is Status.ERROR


def test_probe_gives_up_on_a_driver_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper = tmp_path / "python"
    sleeper.write_text("#!/bin/sh\nexec sleep 60\n")
    sleeper.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(sleeper))
    assert "did not answer" in str(driver_probe.probe(None, timeout_s=0.2).failure)


def test_probe_without_an_interpreter_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/no/such/python")
    assert "no process could be started" in str(driver_probe.probe(None).failure)
