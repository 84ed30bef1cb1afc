"""The pytest plugin, in runs of pytest of their own: on the fake driver, and on the real one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from contract.backend import Backend
from noisy_recordings import alter

from gviz.pytest_plugin import baseline_name

pytestmark = pytest.mark.installed

TESTS = Path(__file__).resolve().parent.parent
#: A test of a chain of four kernels, launched 12 times.
RECORDED = """
    import pytest
    from contract.cases import spin
    from contract.driver import Driver

    @pytest.fixture(scope="session")
    def cuda():
        return Driver()

    def work(cuda, length=4):
        stream, graph, last = cuda.stream(), cuda.graph(), []
        for _ in range(length):
            last = [cuda.add_kernel(graph, last, "spin", spin(20))]
        graph_exec = cuda.instantiate(graph)
        for _ in range(12):
            cuda.launch_graph(graph_exec, stream)
            cuda.wait(stream)
"""
CHAIN = """
    def test_chain(cuda, gviz_profile):
        with gviz_profile:
            work(cuda)
"""
Pytest = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Pytest:
    """Run pytest on a file of tests with the plugin; the folder stays between calls."""

    def start(
        backend: Backend | None, *tests: str, arguments: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        lines = "\n".join(tests).splitlines()
        (tmp_path / "test_it.py").write_text("\n".join(line[4:] for line in lines))
        environment = dict(os.environ if backend is None else backend.environment)
        path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
        return subprocess.run(
            [sys.executable, "-P", "-m", "pytest", "-p", "gviz.pytest_plugin", "-p", "no:dash",
             "-p", "no:cacheprovider", "-rs", f"--rootdir={tmp_path}", "-q", *arguments,
             str(tmp_path / "test_it.py")],
            env={**environment, "PYTHONPATH": path},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )  # fmt: skip

    return start


def baseline(tmp_path: Path) -> Path:
    return tmp_path / "kept" / baseline_name("test_it.py::test_chain")


def test_test_reads_what_it_recorded(backend: Backend, run: Pytest) -> None:
    done = run(
        backend,
        RECORDED,
        """
    def test_chain(cuda, gviz_profile):
        with pytest.raises(Exception, match="nothing was recorded"):
            gviz_profile.recording
        with gviz_profile.record(node_launches="all"):
            work(cuda)
        (graph,) = gviz_profile.recording.graphs
        assert (len(graph.nodes), graph.launch_count) == (4, 12)
        assert len(graph.spans) == 48
        assert gviz_profile.launch_times().median_ns > 0
        gviz_profile.check({"nodes": 4, "launch": "1 s"})
    """,
    )
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_limit_that_is_exceeded_fails_the_test(fake: Backend, run: Pytest) -> None:
    done = run(fake, RECORDED, CHAIN + '        gviz_profile.check({"nodes": 3})\n')
    assert done.returncode == 1
    assert "failed: nodes: 4, at most 3" in done.stdout
    assert "1 failed" in done.stdout


def test_baseline_is_written_then_held(fake: Backend, run: Pytest, tmp_path: Path) -> None:
    kept = ("--gviz-baseline", "kept")
    done = run(fake, RECORDED, CHAIN, arguments=kept)
    assert done.returncode == 1
    assert "there is no recording of this test" in done.stdout
    assert "write it with --gviz-update-baseline" in done.stdout
    done = run(fake, RECORDED, CHAIN, arguments=(*kept, "--gviz-update-baseline"))
    assert done.returncode == 0, done.stdout
    assert baseline(tmp_path).exists()
    (tmp_path / "gviz.toml").write_text("[check.regression]\nnodes = 0\n")
    done = run(fake, RECORDED, CHAIN, arguments=kept)
    assert done.returncode == 0, done.stdout
    longer = CHAIN.replace("work(cuda)", "work(cuda, 5)")
    done = run(fake, RECORDED, longer, arguments=kept)
    assert done.returncode == 1
    assert "failed: regression.nodes: 5, at most 4, baseline 4 (+25.0%)" in done.stdout


def test_slower_than_the_baseline_fails(fake: Backend, run: Pytest, tmp_path: Path) -> None:
    kept = ("--gviz-baseline", "kept")
    assert run(fake, RECORDED, CHAIN, arguments=(*kept, "--gviz-update-baseline")).returncode == 0
    # As if launches had taken a tenth of the time then.
    alter(
        baseline(tmp_path),
        "UPDATE launch SET event_duration_ns=event_duration_ns/10",
        "UPDATE launch SET gpu_end_ns=gpu_start_ns+(gpu_end_ns-gpu_start_ns)/10",
    )
    done = run(fake, RECORDED, CHAIN, arguments=kept)
    assert done.returncode == 1
    assert "failed: regression.launch: " in done.stdout


def test_failing_test_writes_no_baseline(fake: Backend, run: Pytest, tmp_path: Path) -> None:
    arguments = ("--gviz-baseline", "kept", "--gviz-update-baseline")
    done = run(fake, RECORDED, CHAIN + "        assert False\n", arguments=arguments)
    assert done.returncode == 1
    assert not baseline(tmp_path).exists()


def test_update_without_a_folder_is_a_mistake(run: Pytest) -> None:
    done = run(None, "    def test_it(): pass\n", arguments=("--gviz-update-baseline",))
    assert done.returncode == 4
    assert "--gviz-update-baseline needs --gviz-baseline DIR" in done.stderr


def test_without_a_gpu_tests_are_skipped_with_the_reason(run: Pytest, tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").write_text("no library")
    backend = Backend("none", {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}, tmp_path)
    done = run(backend, "    def test_it(gviz_profile): pass\n")
    assert (done.returncode, "1 skipped" in done.stdout) == (0, True), done.stdout
    assert "gviz_profile records on a GPU, and there is none here: " in done.stdout


def test_names_of_baselines_are_unique_file_names() -> None:
    names = [baseline_name(f"tests/a b/test_{c}.py::test[{c}]" + "x" * 300) for c in "/:é漢*"]
    assert len(set(names)) == len(names)
    assert all(len(name) < 150 and "/" not in name and name.isascii() for name in names)
