"""The native libraries: one wheel a platform, and a build that succeeds without a compiler."""

import sys
from glob import glob

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel

#: The wings of the native library. One of them, the gate, is a library of its own: it is preloaded.
#: The launch costs' library is built from its own folder and core.
CSRC = "collectors/csrc"
GATE = glob(f"{CSRC}/gate/*.c")


def extension(name: str, sources: list[str]) -> Extension:
    """Return a library that Python loads through ctypes.

    No PyInit is in it, so one build serves every version.
    """
    return Extension(
        name,
        sources=sorted(sources),
        depends=sorted(glob("collectors/**/*.h", recursive=True)),
        include_dirs=[CSRC],
        extra_compile_args=["-std=c11", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra"],
        # A function that the other library has would be found missing only when it is called.
        extra_link_args=["-Wl,--no-undefined"],
        libraries=["dl", "pthread"],
        py_limited_api=True,
        # A machine without a compiler still gets the viewer; gviz doctor says so.
        optional=True,
    )


class WheelOfAnyPython(bdist_wheel):
    """A wheel for every Python: its libraries know nothing of Python, ctypes loads them."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tags of Python, its ABI and the platform."""
        return "py3", "none", super().get_tag()[2]


LIBRARIES = [
    extension(
        "gviz.collectors._native",
        [path for path in glob(f"{CSRC}/**/*.c", recursive=True) if path not in GATE],
    ),
    extension("gviz.collectors._gate", GATE),
    extension(
        "gviz.collectors.launchcost._launchcost",
        [*glob("collectors/launchcost/csrc/*.c"), f"{CSRC}/core/cuda.c"],
    ),
]

setup(
    ext_modules=LIBRARIES if sys.platform.startswith("linux") else [],
    cmdclass={"bdist_wheel": WheelOfAnyPython},
)
