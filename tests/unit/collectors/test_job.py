"""The environment of ``gviz run`` as a followed process reads it."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from pathlib import Path

import pytest

from gviz.collectors import native
from gviz.collectors.job import OWN_VARIABLES, Job
from gviz.collectors.native import NativeOptions
from gviz.collectors.options import ProfileOptions


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "x.gviz-spool").mkdir()
    return Job(
        output=tmp_path / "x.gviz",
        spool=tmp_path / "x.gviz-spool",
        options=ProfileOptions(name="it's; a=b", node_launches="every:7"),
        parent=os.getppid(),
        follow=True,
        metadata={"name": "it's; a=b", "git_revision": None},
        cupti=Path("/some;where/libcupti.so.13"),
    )


def test_job_is_read_back_from_the_environment(job: Job) -> None:
    assert Job.from_environment(job.environment({})) == job
    assert job.is_first()


def test_process_without_python_gets_the_name_of_a_range(job: Job) -> None:
    assert "GVIZ_RANGE" not in job.environment({})
    wanted = replace(job, options=replace(job.options, capture_range="nvtx:a b"))
    assert wanted.environment({})["GVIZ_RANGE"] == "a b"


def test_no_cupti_is_no_cupti(job: Job) -> None:
    job = replace(job, cupti=None)
    assert Job.from_environment(job.environment({})) == job


def test_job_that_is_over_is_none(job: Job) -> None:
    environment = job.environment({})
    job.spool.rmdir()
    assert Job.from_environment(environment) is None
    assert Job.from_environment({}) is None


@pytest.mark.parametrize("path", [None, "", "/a:/b"])
def test_users_import_path_stays_behind_ours(job: Job, path: str | None) -> None:
    base = {} if path is None else {"PYTHONPATH": path}
    environment = job.environment({"HOME": "/h", **base})
    ours, _, rest = environment["PYTHONPATH"].partition(os.pathsep)
    assert (Path(ours) / "sitecustomize.py").exists()
    assert rest == (path or "")
    assert environment.get("GVIZ_PYTHONPATH") == path
    assert environment["HOME"] == "/h"


def test_every_variable_of_ours_is_in_the_list(job: Job) -> None:
    added = set(job.environment({"PYTHONPATH": "/a"})) - {"PYTHONPATH"}
    assert added - set(OWN_VARIABLES) == {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}


def test_nvtx_injection_of_the_user_is_kept(job: Job) -> None:
    environment = job.environment({"NVTX_INJECTION64_PATH": "/own.so"})
    assert environment["NVTX_INJECTION64_PATH"] == "/own.so"


def test_native_library_reads_every_option_that_is_written() -> None:
    options = NativeOptions()
    for number, field in enumerate(fields(NativeOptions), start=3):
        value = getattr(options, field.name)
        other: float | bytes = number / 1000 + 1e-9
        if isinstance(value, bytes):
            other = bytes([64 + number]) * (100 + number)
        elif not isinstance(value, float):
            other = value + number
        options = replace(options, **{field.name: other})
    expected = {field.name: getattr(options, field.name) for field in fields(NativeOptions)}
    assert native.parse_options(native.options_text(options)) == expected


@pytest.mark.parametrize(
    "text", ["", ";;=", "x:4000000000:4=1", "x:200:8=1", "x:0:9=1", "x:-4:4=1", "nonsense"]
)
def test_options_that_make_no_sense_are_left_out(text: str) -> None:
    found = native.parse_options(f"{text};policy:0:4=2;{text}")
    assert found.pop("policy") == 2
    assert not any(found.values())
