"""The cost of the gate's stub with warm caches: calls of a driver by it and bare, in one process.

A million calls of cuInit, the least of ten rounds, on the driver of the tests; then the same where
the kernel refuses membarrier, so that each call needs a barrier of its own.
Run: python -P bench/gate_stub.py
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from contract.gate_programs import build_programs
from fake.build import compiler

from gviz.collectors import native


def main() -> None:
    """Print the nanoseconds that a stub adds to a call."""
    gate = native.gate_path()
    if gate is None:
        raise SystemExit("gviz was built without a C compiler; see 'gviz doctor'")
    added = {}
    with tempfile.TemporaryDirectory() as folder:
        programs = build_programs(Path(folder), compiler() or "cc")
        for name, command in (("stub", ["cost"]), ("barrier", ["without-membarrier", "cost"])):
            code, text, message = programs.run("program", *command, preload=[gate])
            if code != 0:
                raise SystemExit(message)
            added[f"{name}_ns"] = int(text) / 1000
    print(json.dumps({"bench": "gate_stub", **added}))


if __name__ == "__main__":
    main()
