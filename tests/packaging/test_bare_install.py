"""The wheel where there is no compiler: it records another Python's program, and shows it.

With GVIZ_WHEEL it is that file (``make wheel``), else one that the system's compiler made.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake.build import Fakes
from places import ROOT
from viewer_client import Client

from gviz.recording import Recording

PROGRAM = """
from contract import driver
from contract.cases import GRAPH_SHAPES, build_shape
import sys

def main():
    cuda = driver.Driver()
    stream = cuda.stream()
    graph_exec = cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["diamond"]))
    for _ in range(30):
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)

main()
print(*{name.partition(".")[0] for name in sys.modules} & {"dash", "msgspec", "numpy", "plotly"})
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The ``gviz`` of an environment that the wheel was installed into.

    What it requires comes from the tests' environment, whose own gviz is not found: the path of its
    packages stands behind, and its ``.pth`` files are not read.
    """
    given = os.environ.get("GVIZ_WHEEL")
    wheel = Path(given) if given else next(request.getfixturevalue("built").glob("*.whl"))
    folder = tmp_path_factory.mktemp("bare") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"]
    subprocess.run([*pip, "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "requirements.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "gviz"


@pytest.fixture(scope="module")
def bare(installed: Path, fakes: Fakes) -> dict[str, str]:
    """An environment without a compiler: PATH leads to that ``gviz`` and nowhere else."""
    return {
        "PATH": str(installed.parent),
        "HOME": str(installed.parent.parent),
        "LD_LIBRARY_PATH": str(fakes.folder),
        "GVIZ_CUPTI": str(fakes.cupti),
        "PYTHONPATH": str(ROOT / "tests"),
    }


@pytest.fixture(scope="module")
def recorded(bare: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of a program of a Python that has no packages at all."""
    folder = tmp_path_factory.mktemp("program")
    venv.create(folder / "other", with_pip=False, symlinks=True)
    (folder / "prog.py").write_text(PROGRAM)
    done = subprocess.run(
        [f"{bare['PATH']}/gviz", "run", str(folder / "other" / "bin" / "python"), "prog.py"],
        env=bare, cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "\n", "no package of gviz's environment is in the program"
    return folder / "python.gviz"


def test_program_of_another_python_is_recorded_with_its_stacks(recorded: Path) -> None:
    with Recording(recorded) as recording:
        (graph,) = recording.fetch_graphs()
        nodes = recording.fetch_nodes(graph.graph_id)
        stacks = [recording.fetch_stack(node.stack_id or 0) for node in nodes]
        assert recording.count_launches(graph.graph_id) == (30, 24)
    assert len(nodes) == 4
    assert all(any(f.file.endswith("prog.py") for f in stack) for stack in stacks)


@pytest.fixture(scope="module")
def client(bare: dict[str, str], recorded: Path) -> Iterator[Client]:
    """A reader of what that ``gviz view`` serves."""
    command = [f"{bare['PATH']}/gviz", "view", "--no-browser", "--port", "0"]
    with subprocess.Popen(
        command, env=bare, cwd=recorded.parent, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        lines = []
        for line in server.stderr:
            lines.append(line)
            if "http://" in line:
                yield Client(next(word for word in line.split() if word.startswith("http://")))
                break
        server.terminate()
    assert any("http://" in line for line in lines), lines


def test_its_page_opens_by_view_alone(client: Client) -> None:
    assert b"gviz.js" in gzip.decompress(client.get("graph?file=python&graph=1"))
    graph = client.get("payload/dag/python/1")
    assert b"spin" in (gzip.decompress(graph) if graph.startswith(b"\x1f\x8b") else graph)


def test_its_libraries_are_found_by_doctor(bare: dict[str, str]) -> None:
    done = subprocess.run(
        [f"{bare['PATH']}/gviz", "doctor"], env=bare, capture_output=True, text=True, check=False
    )
    for library in ("native library", "launch costs' library", "gate"):
        assert f"[    ok     ] {library}: " in done.stdout
