"""Programs of the benchmarks that need no framework: they launch, on the fake driver, too."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from contract.backend import Backend

_PROGRAMS = Path(__file__).resolve().parents[2] / "bench" / "gate"


@pytest.mark.parametrize("program", [("soak.py", "0.1", "5"), ("threads.py", "driver", "0.1", "5")])
def test_program_launches_and_prints_how_often(fake: Backend, program: tuple[str, ...]) -> None:
    name, *arguments = program
    done = subprocess.run(
        [sys.executable, "-P", str(_PROGRAMS / name), *arguments],
        env=fake.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    launches = json.loads(done.stdout)["launches"]
    assert min(launches if isinstance(launches, list) else [launches]) > 0
