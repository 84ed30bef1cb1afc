"""Running scripts on a backend: programs that use gviz themselves, or are run by it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from contract.backend import Backend

_TESTS = Path(__file__).parent.parent
#: One takes about a second, hundreds of graphs ten on a quiet machine; this catches one that hangs.
_TIMEOUT_S = 240
#: A driver, a stream, a chain of four kernels, and a way to launch it.
PREAMBLE = """
import os, signal, sys, time
import gviz
from contract.cases import GRAPH_SHAPES, build_shape
from contract.driver import Driver
cuda = Driver()
stream = cuda.stream()
def chain():
    return cuda.instantiate(build_shape(cuda, GRAPH_SHAPES["chain"]))
def launch(graph_exec, times):
    for _ in range(times):
        cuda.launch_graph(graph_exec, stream)
        cuda.wait(stream)
"""
#: What the fake CUPTI says of itself (only on the fake).
QUERY_FAKE = """
import ctypes
fake = ctypes.CDLL(os.environ["GVIZ_CUPTI"])
def enabled():
    return {
        "callbacks": fake.fake_enabled_callbacks(1) + fake.fake_enabled_callbacks(3),
        "launches": fake.fake_is_enabled(1, 514) + fake.fake_is_enabled(1, 515),
        "operations": fake.fake_is_enabled(1, 307),
        "kinds": fake.fake_enabled_kinds(),
    }
"""


def environment(backend: Backend, **more: str) -> dict[str, str]:
    """Return the environment of a script."""
    path = os.pathsep.join(filter(None, [str(_TESTS), os.environ.get("PYTHONPATH")]))
    base = {k: v for k, v in backend.environment.items() if k != "NVTX_INJECTION64_PATH"}
    return {**base, "PYTHONPATH": path, **more}


def run_script(
    backend: Backend, folder: Path, text: str, *gviz_run: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a script in ``folder``, under ``gviz run`` where its options are given."""
    path = folder / "script.py"
    path.write_text(text)
    command = ["-m", "gviz", "run", *gviz_run] if gviz_run else []
    return subprocess.run(
        [sys.executable, "-P", *command, str(path)],
        env=environment(backend, **variables),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
