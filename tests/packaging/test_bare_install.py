"""README's words where there is no compiler: from the wheel to a recording and an open page.

The recorded program belongs to another environment than gviz, as README advises. With GVIZ_WHEEL
the wheel is that file (``make wheel``), else one that the system's compiler made.
"""

from __future__ import annotations

import gzip
import os
import re
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

README = (ROOT / "README.md").read_text()
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


def _install_words() -> tuple[str, ...]:
    """Return the commands below README's heading Install, from the wheel on."""
    section = README.partition("\n## Install\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^    (.*?)(?: +#.*)?$", section, re.MULTILINE)
    return tuple(lines)


INSTALL, DOCTOR, RUN, VIEW = _install_words()


@pytest.fixture(scope="module")
def wheel(request: pytest.FixtureRequest) -> Path:
    """The wheel that is tried."""
    given = os.environ.get("GVIZ_WHEEL")
    return Path(given) if given else next(request.getfixturevalue("built").glob("*.whl"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """The ``gviz`` of a new environment that the wheel was installed into, as README says.

    What it requires comes from the tests' environment, whose own gviz is not found: the path of its
    packages stands behind, and its ``.pth`` files are not read.
    """
    folder = tmp_path_factory.mktemp("bare") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    pip = folder / "bin" / "pip"
    pip.write_text(f'#!/bin/sh\nexec {sys.executable} -m pip --python "${{0%/*}}/python" "$@"\n')
    pip.chmod(0o755)
    place = folder.parent / "build" / "wheels"
    place.mkdir(parents=True)
    (place / wheel.name).symlink_to(wheel)
    offline = {"PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PATH": str(folder / "bin")}
    subprocess.run(["/bin/sh", "-c", INSTALL], env=offline, cwd=folder.parent, check=True)
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
    """The recording of a program whose environment, the active one, has no packages at all."""
    return _record(bare, tmp_path_factory.mktemp("program"))


def _record(environment: dict[str, str], folder: Path) -> Path:
    """Record a program of another environment, which has no packages, as README says."""
    venv.create(folder / "other", with_pip=False, symlinks=True)
    (folder / "step.py").write_text(PROGRAM)
    done = subprocess.run(
        ["/bin/sh", "-c", RUN], env={**environment, "VIRTUAL_ENV": str(folder / "other")},
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "\n", "no package of gviz's environment is in the program"
    return folder / "step.gviz"


def test_program_of_another_python_is_recorded_with_its_stacks(recorded: Path) -> None:
    _check_recorded(recorded)


@pytest.mark.parametrize("tool", ["uv tool", "pipx"])
def test_gviz_in_an_environment_that_a_tool_made_records_another(
    tool: str, wheel: Path, bare: dict[str, str], tmp_path: Path
) -> None:
    command = [*tool.split(), "install", "--python", sys.executable, str(wheel)]
    command[0] = str(Path(sysconfig.get_path("scripts")) / command[0])
    programs = str(tmp_path / "bin")
    made = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": programs}
    made |= {"PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": programs}
    done = subprocess.run(
        command, env={**os.environ, **made}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    _check_recorded(_record({**bare, "PATH": programs}, tmp_path))


def _check_recorded(path: Path) -> None:
    with Recording(path) as recording:
        (graph,) = recording.fetch_graphs()
        nodes = recording.fetch_nodes(graph.graph_id)
        stacks = [recording.fetch_stack(node.stack_id or 0) for node in nodes]
        launches, timed = recording.count_launches(graph.graph_id)
    assert launches == 30
    assert 0 < timed <= 20
    assert len(nodes) == 4
    assert all(any(f.file.endswith("step.py") for f in stack) for stack in stacks)


@pytest.fixture(scope="module")
def client(bare: dict[str, str], recorded: Path) -> Iterator[Client]:
    """A reader of what that ``gviz view`` serves."""
    with subprocess.Popen(
        ["/bin/sh", "-c", f"exec {VIEW} --port 0"],
        env=bare,
        cwd=recorded.parent,
        stderr=subprocess.PIPE,
        text=True,
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
    assert b"gviz.js" in gzip.decompress(client.get("graph?file=step&graph=1"))
    graph = client.get("payload/dag/step/1")
    assert b"spin" in (gzip.decompress(graph) if graph.startswith(b"\x1f\x8b") else graph)


def test_its_libraries_are_found_by_doctor(bare: dict[str, str]) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", DOCTOR], env=bare, capture_output=True, text=True, check=False
    )
    for library in ("native library", "launch costs' library", "gate"):
        assert f"[    ok     ] {library}: " in done.stdout
