"""Build the fake CUDA driver, runtime, CUPTI and management library, in C."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_SOURCES = Path(__file__).parent
_FLAGS = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]


@dataclass(frozen=True, slots=True)
class Fakes:
    """The built libraries.

    Attributes
    ----------
    folder
        Holds ``libcuda.so.1``, ``libcupti.so.13``, ``libcudart.so.13`` and
        ``libnvidia-ml.so.1``; goes into LD_LIBRARY_PATH.
    """

    folder: Path

    @property
    def cupti(self) -> Path:
        """Path of the fake CUPTI."""
        return self.folder / "libcupti.so.13"

    def environment(self) -> dict[str, str]:
        """Return this process's environment, changed so that a child finds the fakes."""
        paths = [str(self.folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        return {
            **os.environ,
            "LD_LIBRARY_PATH": os.pathsep.join(paths),
            "GVIZ_CUPTI": str(self.cupti),
        }


def compiler() -> str | None:
    """Return the path of the C compiler, or None where there is none."""
    return shutil.which(os.environ.get("CC", "cc"))


def fake_sources() -> list[Path]:
    """Return the files that the libraries are built from."""
    return [*_SOURCES.glob("*.[ch]"), Path(__file__)]


def build_fakes(folder: Path) -> Fakes:
    """Build the libraries into ``folder``.

    Raises
    ------
    subprocess.CalledProcessError
        If the compiler refuses; its messages are on stderr.
    """
    sources = sorted(_SOURCES.glob("*.c"))
    cupti = [s for s in sources if s.name.startswith("cupti_")]
    runtime = [s for s in sources if s.name.startswith("cudart_")]
    management = [s for s in sources if s.name == "nvml.c"]
    driver = [s for s in sources if s not in (*cupti, *runtime, *management)]
    _compile(driver, folder / "libcuda.so.1", "-lpthread", "-ldl", "-lm")
    _compile(management, folder / "libnvidia-ml.so.1")
    # The fake CUPTI reaches the driver's state through the driver's exported fake_* functions.
    _compile(
        cupti,
        folder / "libcupti.so.13",
        f"-L{folder}",
        "-l:libcuda.so.1",
        "-Wl,-rpath,$ORIGIN",
        "-lpthread",
    )
    _compile(
        runtime,
        folder / "libcudart.so.13",
        f"-L{folder}",
        "-l:libcuda.so.1",
        "-Wl,-rpath,$ORIGIN",
    )
    return Fakes(folder)


def _compile(sources: list[Path], target: Path, *libraries: str) -> None:
    command = [
        compiler() or "cc",
        *_FLAGS,
        "-fvisibility=hidden",
        "-Wl,-Bsymbolic",
        f"-Wl,-soname,{target.name}",
        "-Wl,--no-undefined",
        "-o",
        str(target),
        *map(str, sources),
        *libraries,
    ]
    subprocess.run(command, check=True)
