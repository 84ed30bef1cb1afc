"""check_installed.py PYPROJECT: mypy and import-linter on the gviz installed in this environment.

Both run from an empty directory: started at the root of the repository they would find the
folder gviz/ there, check the few files below it without gviz.app or gviz.collectors, and
report success. The number of files each has seen is therefore asserted.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BIN = Path(sys.executable).parent


def installed_package() -> Path:
    """Return the folder of the installed gviz, which must not be the working tree's."""
    spec = importlib.util.find_spec("gviz")
    if spec is None or spec.origin is None:
        sys.exit("gviz is not installed in this environment; run 'make check'")
    return Path(spec.origin).parent


def count_modules(package: Path) -> int:
    """Return how many Python modules mypy and import-linter have to see."""
    data = package / "assets" / "recordings"
    return sum(1 for path in package.rglob("*.py") if data not in path.parents)


def passes(command: list[str], cwd: str, pattern: str, expected: int) -> bool:
    """Run a tool and print what it says; whether it is content and saw all of the files.

    import-linter counts the libraries that gviz imports too, so it may see more.
    """
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    output = result.stdout + result.stderr
    print(output, end="", flush=True)
    if result.returncode:
        return False
    found = re.search(pattern, output)
    seen = int(found[1]) if found else 0
    if seen < expected:
        print(f"{Path(command[0]).name} saw {seen} files, but gviz has {expected}")
    return seen >= expected


def main(pyproject: str) -> int:
    """Check types and directions of the installed package; return 1 unless both are right."""
    config = str(Path(pyproject).resolve())
    modules = count_modules(installed_package())
    cache = str(Path(config).parent / ".mypy_cache")
    mypy = [str(BIN / "mypy"), "--config-file", config, "--cache-dir", cache, "-p", "gviz"]
    linter = [str(BIN / "lint-imports"), "--config", config, "--no-cache"]
    with tempfile.TemporaryDirectory() as empty:
        typed = passes(mypy, empty, r"no issues found in (\d+) source files", modules)
        directed = passes(linter, empty, r"Analyzed (\d+) files", modules)
    return 0 if typed and directed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
