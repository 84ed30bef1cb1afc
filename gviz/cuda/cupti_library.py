"""Places of CUPTI on this machine: candidates in the order in which gviz tries them."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gviz.dataclass import dataclass
from gviz.system import installed_versions

#: What the file name says: the soname's major version, then perhaps the full version.
_NAME = re.compile(r"libcupti\.so(?:\.(?P<version>\d+(?:\.\d+)*))?$")
#: Folders below an entry of ``sys.path`` where NVIDIA's wheels put the library.
_WHEEL_FOLDERS = ("nvidia/cu13/lib", "nvidia/cuda_cupti/lib")
#: Folders below a CUDA toolkit that hold it.
_TOOLKIT_FOLDERS = (
    "extras/CUPTI/lib64",
    "targets/x86_64-linux/lib",
    "targets/sbsa-linux/lib",
    "lib64",
)


@dataclass(frozen=True, slots=True)
class CuptiCandidate:
    """A copy of libcupti.

    Attributes
    ----------
    path
        The file, as it would be given to dlopen.
    version
        Of the wheel (``13.0.85``) or from the file's name (``2025.3.1``); None when
        neither says it.
    where
        How it was found: ``loaded``, ``wheel``, ``toolkit``, ``LD_LIBRARY_PATH`` or
        ``ldconfig``.
    """

    path: Path
    version: str | None
    where: str

    @property
    def major(self) -> int | None:
        """CUDA's major version in the soname (``libcupti.so.13``); None for a bare name."""
        for path in (self.path, self.path.resolve()):
            found = _NAME.match(path.name)
            if found and found["version"]:
                number = int(found["version"].split(".")[0])
                # Toolkits before 13 name the file after the year: libcupti.so.2024.3.2.
                if number < 1000:
                    return number
        return None


def find_cupti(
    *,
    import_path: Sequence[str] | None = None,
    environment: Mapping[str, str] | None = None,
    root: Path = Path("/"),
) -> list[CuptiCandidate]:
    """Return every copy of CUPTI found, the one to try first at the front.

    A process can hold one copy: whoever loads CUPTI first fixes its version. So a copy
    that is already loaded comes first, then NVIDIA's wheels (the copy PyTorch and others
    load), then CUDA toolkits, then what the dynamic linker knows. Nothing is loaded.

    Parameters
    ----------
    import_path
        Where wheels are looked for; by default ``sys.path``.
    environment
        Environment variables; by default those of the process.
    root
        Stands for ``/`` in tests.

    Returns
    -------
    list of CuptiCandidate
        Each file once (links to one file count as one); newest first within a place.
    """
    variables = os.environ if environment is None else environment
    found: dict[Path, CuptiCandidate] = {}
    places = (
        _loaded(root / "proc/self/maps"),
        _wheels(sys.path if import_path is None else import_path),
        _toolkits(variables, root),
        _library_path(variables),
        _linker_cache(root),
    )
    for place in places:
        for candidate in place:
            found.setdefault(candidate.path.resolve(), candidate)
    return list(found.values())


def _loaded(maps: Path) -> Iterator[CuptiCandidate]:
    try:
        text = maps.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        path = Path(line[line.find("/") :]) if "/" in line else None
        if path is not None and _NAME.match(path.name):
            yield CuptiCandidate(path, _wheel_version(path) or _name_version(path), "loaded")


def _wheels(import_path: Sequence[str]) -> Iterator[CuptiCandidate]:
    for entry in import_path:
        for folder in _WHEEL_FOLDERS:
            for path in _libraries(Path(entry or ".") / folder):
                yield CuptiCandidate(path, _wheel_version(path) or _name_version(path), "wheel")


def _toolkits(variables: Mapping[str, str], root: Path) -> Iterator[CuptiCandidate]:
    named = [Path(variables[name]) for name in ("CUDA_HOME", "CUDA_PATH") if variables.get(name)]
    usual = sorted((root / "usr/local").glob("cuda*"), key=_version_key, reverse=True)
    for toolkit in [*named, *usual]:
        for folder in _TOOLKIT_FOLDERS:
            for path in _libraries(toolkit / folder):
                yield CuptiCandidate(path, _name_version(path), "toolkit")


def _library_path(variables: Mapping[str, str]) -> Iterator[CuptiCandidate]:
    for entry in variables.get("LD_LIBRARY_PATH", "").split(":"):
        if entry:
            for path in _libraries(Path(entry)):
                yield CuptiCandidate(path, _name_version(path), "LD_LIBRARY_PATH")


def _linker_cache(root: Path) -> Iterator[CuptiCandidate]:
    if not (root / "etc/ld.so.cache").exists():
        return
    text = ""
    # /sbin is not on every user's PATH.
    for program in ("ldconfig", "/sbin/ldconfig"):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            command = [program, "-p"]
            text = subprocess.run(
                command, capture_output=True, text=True, timeout=10, check=False
            ).stdout
            break
    for line in text.splitlines():
        path = Path(line.rpartition("=> ")[2].strip())
        if _NAME.match(path.name) and path.exists():
            yield CuptiCandidate(path, _name_version(path), "ldconfig")


def _libraries(folder: Path) -> list[Path]:
    """Return a folder's copies of the library, the newest and most exactly named first."""
    try:
        paths = [path for path in folder.glob("libcupti.so*") if _NAME.match(path.name)]
    except OSError:
        return []
    chosen: dict[Path, Path] = {}
    # Of a file's names the soname (libcupti.so.13) is the one that other libraries load by:
    # the shortest that carries a number.
    for path in sorted(paths, key=lambda p: (p.name == "libcupti.so", len(p.name))):
        chosen.setdefault(path.resolve(), path)
    return sorted(chosen.values(), key=lambda p: _version_key(p.resolve()), reverse=True)


def _version_key(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", path.name))


def _name_version(path: Path) -> str | None:
    found = _NAME.match(path.resolve().name)
    return found["version"] if found and found["version"] else None


def _wheel_version(path: Path) -> str | None:
    """Return the version of the wheel that installed ``path``, or None."""
    site_packages = next((p.parent for p in path.parents if p.name == "nvidia"), None)
    if site_packages is None:
        return None
    for name, version in installed_versions([str(site_packages)]).items():
        folder = "cu13" if name == "nvidia-cuda-cupti" else "cuda_cupti"
        if name.startswith("nvidia-cuda-cupti") and folder in path.parts:
            return version
    return None
