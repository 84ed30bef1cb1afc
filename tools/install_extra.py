"""install_extra.py PYPROJECT EXTRA [CONSTRAINTS]: install an extra's requirements alone."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path


def main(pyproject: str, extra: str, constraints: str = "") -> int:
    """Run pip on the requirements listed under ``extra``; return its exit code."""
    project = tomllib.loads(Path(pyproject).read_text(encoding="utf-8"))["project"]
    requirements = project["optional-dependencies"][extra]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    pip += ["--constraint", constraints] if constraints else []
    return subprocess.run([*pip, *requirements], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
