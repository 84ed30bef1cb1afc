"""Recordings mapped by Dask: on this machine, on a cluster by TCP, and where a worker is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fleets import needs_fleet
from rank_recordings import Planted, write_ranks
from waiting import eventually

from gviz.errors import GvizError
from gviz.fleet import ask, dask_mapper

pytestmark = [needs_fleet, pytest.mark.thorough]

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ranks")
    write_ranks(folder, [Planted()] * 6, launches=3)
    return folder


def test_processes_of_this_machine_build_it(ranks: Path, tmp_path: Path, gviz: Gviz) -> None:
    target = tmp_path / "fleet"
    done = gviz("fleet", "build", ranks, "-o", target, "--workers", "1", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert next(iter(found)) == "build_version"
    assert (found["added_count"], found["recording_count"], found["failures"]) == (6, 6, [])
    assert done.stderr == ""


def test_its_processes_listen_to_this_machine_only() -> None:
    psutil = pytest.importorskip("psutil")
    with dask_mapper(workers=1):
        here = psutil.Process()
        found = {
            listening.laddr.ip
            for process in (here, *here.children(recursive=True))
            for listening in process.net_connections("inet")
            if listening.status == psutil.CONN_LISTEN
        }
    assert found == {"127.0.0.1"}


def test_its_processes_keep_no_profile_of_themselves() -> None:
    timers = "list(__import__('distributed').get_worker().periodic_callbacks)"
    with dask_mapper(workers=1) as mapper:
        ((_, found),) = mapper(eval, [timers])
    assert "heartbeat" in found
    assert not [name for name in found if "profile" in name]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and two workers that speak TCP: the scheduler's file, and the workers."""
    file = tmp_path / "scheduler.json"
    environment = {**os.environ, "DASK_DISTRIBUTED__WORKER__DAEMON": "False"}

    def start(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *words, "--scheduler-file", str(file)]
        return subprocess.Popen(
            [*command, "--no-dashboard"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=tmp_path,
        )

    processes = [start("scheduler", "--port", "0", "--host", "127.0.0.1")]
    try:
        eventually(file.exists, "a scheduler")
        workers = [start("worker", "--no-nanny", "--nthreads", "1") for _ in range(2)]
        processes += workers
        yield str(file), workers
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_worker_that_is_killed_costs_nothing(
    ranks: Path, tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    file, workers = cluster
    target = tmp_path / "fleet"
    command = [sys.executable, "-m", "gviz", "fleet", "build", str(ranks), "-o", str(target)]
    builder = subprocess.Popen(
        [*command, "--scheduler", file, "--json"], stdout=subprocess.PIPE, text=True
    )
    eventually((target / "manifest.json").exists, "the first part", 60)
    workers[0].send_signal(signal.SIGKILL)
    output, _ = builder.communicate(timeout=120)
    assert json.loads(output)["added_count"] == 6
    counted = ask(str(target), "SELECT count(*), count(DISTINCT rank) FROM ranks",
                  most_rows=1, seconds=60)  # fmt: skip
    assert counted.rows == ((6, 6),)


def test_a_scheduler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gviz.fleet.cluster._ANSWERS_IN", 0.5)
    said = r"no Dask scheduler answers at tcp://127.0.0.1:{} \(.* after 0.5 s\)"
    with pytest.raises(GvizError, match=said.format(1)):
        dask_mapper("tcp://127.0.0.1:1").__enter__()
    with pytest.raises(GvizError, match="no Dask scheduler answers at nonsense://x"):
        dask_mapper("nonsense://x").__enter__()
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", "tcp://127.0.0.1:2")
    with pytest.raises(GvizError, match=said.format(2)):
        dask_mapper().__enter__()
