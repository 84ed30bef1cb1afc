"""Processes of gviz's own: Python as it is installed, whatever the watched program does with it.

A program's PYTHONPATH may name a folder with a ``numpy.py`` or ``json.py`` of its own, and its
PYTHONWARNINGS may make errors of warnings. gviz's processes see neither: they run this file as a
script, with the modules of the installation first. Folders of PYTHONPATH come last, not never: on
many clusters numpy itself is found through them.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping

#: Variables that say where Python's files are, and nothing about what programs do.
_KEPT = (
    "PYTHONHOME",
    "PYTHONPLATLIBDIR",
    "PYTHONUSERBASE",
    "PYTHONNOUSERSITE",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPYCACHEPREFIX",
    "PYTHONUTF8",
    "PYTHONIOENCODING",
)
#: numpy starts a thread a core when it is imported, each with its memory, beside a program that may
#: want them all; and a process that forks would leave its threads behind.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
#: Folders of the gviz that started the process: PYTHONPATH may have led to it.
_FOLDERS = "GVIZ_OWN_FOLDERS"
_LAST = "GVIZ_OWN_PYTHONPATH"
#: Objects that are made before garbage is looked for among the newest.
_MADE_BEFORE_COLLECTING = 10_000


def own_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of gviz; start it with :func:`own_environment`."""
    return [sys.executable, "-P", os.path.abspath(__file__), module, *arguments]


def own_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment without what is meant for the program's Python, for one thread.

    Parameters
    ----------
    base
        The environment to begin with; by default that of this process.
    """
    import gviz

    given = os.environ if base is None else base
    clean = {k: v for k, v in given.items() if not k.startswith("PYTHON") or k in _KEPT}
    clean |= _ONE_THREAD
    clean[_FOLDERS] = os.pathsep.join(gviz.__path__)
    clean[_LAST] = given.get("PYTHONPATH", "")
    return clean


def put_pythonpath_last() -> None:
    """Have this process find the installation's modules before those of PYTHONPATH."""
    given = {os.path.abspath(entry) for entry in _entries(os.environ.get("PYTHONPATH", ""))}
    later = [entry for entry in sys.path if os.path.abspath(entry) in given]
    sys.path[:] = [entry for entry in sys.path if entry not in later] + later


def collect_rarely() -> None:
    """Have this process look for cyclic garbage less often than Python does by itself.

    What is imported stays: to look through it after every 700 objects is a tenth of the time that a
    command takes to start.
    """
    gc.set_threshold(_MADE_BEFORE_COLLECTING)


def _entries(path: str) -> list[str]:
    return [entry for entry in path.split(os.pathsep) if entry]


def _load_gviz(folders: list[str]) -> None:
    """Import the gviz that started this process, and no other that is installed as well."""
    from importlib.util import module_from_spec, spec_from_file_location

    path = os.path.join(folders[0], "__init__.py")
    spec = spec_from_file_location("gviz", path, submodule_search_locations=folders)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["gviz"] = module
    spec.loader.exec_module(module)


def _run() -> None:
    """Run the module that the command line names."""
    from runpy import run_module

    collect_rarely()
    sys.path += _entries(os.environ.pop(_LAST, ""))
    _load_gviz(_entries(os.environ.pop(_FOLDERS)))
    module = sys.argv.pop(1)
    run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _run()
