"""The native library: one abi3 wheel a platform, and a build that succeeds without a compiler."""

import sys
from glob import glob

from setuptools import Extension, setup

native = Extension(
    # No PyInit in it: Python loads the file through ctypes, so one build serves every version.
    "gviz.collectors._native",
    sources=sorted(glob("collectors/csrc/*.c")),
    depends=sorted(glob("collectors/csrc/*.h")),
    extra_compile_args=["-std=c11", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra"],
    libraries=["dl", "pthread"],
    py_limited_api=True,
    # A machine without a compiler still gets the viewer; gviz doctor says so.
    optional=True,
)

setup(
    ext_modules=[native] if sys.platform.startswith("linux") else [],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
