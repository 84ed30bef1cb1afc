"""Facts about the process that is recorded. No environment variables."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import time

import gviz
from gviz.system import installed_versions

#: Libraries whose version explains a recording, by distribution name.
_DISTRIBUTIONS = (
    "torch",
    "triton",
    "jax",
    "jaxlib",
    "cupy-cuda13x",
    "cupy-cuda12x",
    "cupy",
    "numba-cuda",
    "cuda-bindings",
    "cuda-core",
    "nvidia-cuda-cupti",
    "nvidia-cuda-cupti-cu12",
    "nvtx",
    "warp-lang",
)
#: The native library knows the same (entry/process.c). LOCAL_RANK is a rank on one machine only.
_RANK_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", "LOCAL_RANK")
#: git must not hold up the program's start.
_GIT_SECONDS = 2.0


def process() -> dict[str, object]:
    """Return what only the watched process knows."""
    return {
        "command": shlex.join(getattr(sys, "orig_argv", sys.argv)),
        "process_id": os.getpid(),
        "rank": _rank(),
        "started_ns": time.time_ns(),
        "gviz_version": gviz.__version__,
        "python_version": platform.python_version(),
    }


def machine() -> dict[str, object]:
    """Return what another process on the machine, in the same folder, can find out as well."""
    import socket

    return {"host": socket.gethostname(), **_git()}


def libraries() -> dict[str, object]:
    """Return the versions of the CUDA libraries installed, for those that are loaded."""
    versions = installed_versions(sys.path)
    found = {}
    loaded = {name.partition(".")[0] for name in sys.modules}
    modules = {
        "cupy-cuda13x": "cupy",
        "cupy-cuda12x": "cupy",
        "warp-lang": "warp",
        "numba-cuda": "numba",
        "cuda-bindings": "cuda",
        "cuda-core": "cuda",
    }
    for name in _DISTRIBUTIONS:
        module = modules.get(name, name)
        if name in versions and (module in loaded or name.startswith("nvidia-")):
            found[name] = versions[name]
    return {"libraries": found}


def _rank() -> int | None:
    for variable in _RANK_VARIABLES:
        value = os.environ.get(variable, "")
        if value.isdigit():
            return int(value)
    return None


def _git() -> dict[str, object]:
    import subprocess

    try:
        status = subprocess.run(
            ["git", "status", "--porcelain=v2", "--branch", "--untracked-files=no"],
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
        ).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return {}
    revision = next((s.split()[2] for s in status if s.startswith("# branch.oid")), None)
    dirty = any(not s.startswith("#") for s in status)
    return {"git_revision": revision, "git_dirty": int(dirty)}
