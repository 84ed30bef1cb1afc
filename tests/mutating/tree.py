"""A copy of the repository with an environment of its own, in which modules are mutated."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path

from mutating.mutation import Candidate, mutated
from mutating.reach import MARKER, MARKER_SOURCE

PLUGIN = "gviz_mutation_plugin"
_COPY_FIRST = (
    "import sys; sys.meta_path.sort("
    "key=lambda finder: not getattr(finder, '__module__', '').startswith('__editable__'))\n"
)


class Tree:
    """A copy of the working tree, with what git does not ignore, and gviz installed from it.

    The environment sees the packages of the one that runs, so nothing is downloaded; processes
    that tests start find the copy's gviz too.

    Parameters
    ----------
    root
        The repository.
    folder
        Where the copy and its environment are; made if they are not there or of another state.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._root, self._folder = root, folder
        self.path = folder / "tree"
        self.python = folder / "venv" / "bin" / "python"
        self.state = _state(root)
        self._changed: set[str] = set()
        stamp = folder / "state"
        if not stamp.exists() or stamp.read_text() != self.state:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            self._copy()
            self._install()
            stamp.write_text(self.state)
        # Another run may have been stopped within a mutation.
        self._overlay()
        self._check()

    def apply(self, candidates: Iterable[Candidate]) -> None:
        """Let the copy have these mutations and no others."""
        by_module: dict[str, list[Candidate]] = {}
        for candidate in candidates:
            by_module.setdefault(candidate.module, []).append(candidate)
        self.replace({m: mutated(self.source(m), some) for m, some in by_module.items()})

    def replace(self, sources: Mapping[str, bytes]) -> set[str]:
        """Let modules of the copy have these sources, and all others their own.

        Returns
        -------
        set of str
            The modules that were written.
        """
        written = self._changed | sources.keys()
        for module in written:
            self._write(module, sources[module] if module in sources else self.source(module))
        self._changed = set(sources)
        return written

    def source(self, module: str) -> bytes:
        """Return the source of a module in the repository."""
        return (self._root / module).read_bytes()

    def _write(self, module: str, source: bytes) -> None:
        path = self.path / module
        # Compiled code is believed where time and size of the source are the same.
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink(missing_ok=True)
        path.write_bytes(source)

    def _copy(self) -> None:
        _git(self._root, "clone", "--quiet", str(self._root), str(self.path))
        head = _git(self._root, "rev-parse", "HEAD").strip()
        _git(self.path, "checkout", "--quiet", "--detach", head)
        self._overlay()

    def _overlay(self) -> None:
        """Bring the copy to the state of the working tree."""
        _git(self.path, "checkout", "--quiet", "--force", "HEAD")
        for name in _git(self._root, "ls-files", "-z", "--deleted").split("\0")[:-1]:
            (self.path / name).unlink(missing_ok=True)
        for name in _changed_files(self._root):
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self._root / name, self.path / name)

    def _install(self) -> None:
        venv = self._folder / "venv"
        _run([sys.executable, "-m", "venv", "--without-pip", str(venv)])
        packages = next(venv.glob("lib/python*/site-packages"))
        here = Path(__file__).parent
        # A plain line: the .pth files over there, of the editable install too, are not read.
        (packages / "packages_of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
        # Whatever gviz is installed over there, the copy's comes first.
        (packages / "zz_copy_first.pth").write_text(_COPY_FIRST)
        (packages / f"{MARKER}.py").write_text(MARKER_SOURCE)
        shutil.copy(here / "plugin.py", packages / f"{PLUGIN}.py")
        pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        pip += ["--no-index", "--no-build-isolation", "--editable", str(self.path)]
        _run([str(self.python), *pip])

    def _check(self) -> None:
        code = "import gviz, pytest; print(gviz.__file__)"
        found = Path(_run([str(self.python), "-P", "-c", code]).strip())
        if self.path not in found.parents:
            raise SystemExit(
                f"tests in the copy would import {found}; remove {self._folder} and run again"
            )


def _changed_files(root: Path) -> list[str]:
    """Return the files that git does not ignore and that differ from the last commit."""
    untracked = _git(root, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
    tracked = _git(root, "diff", "-z", "--name-only", "--diff-filter=d", "HEAD").split("\0")
    return sorted({*untracked, *tracked} - {""})


def _state(root: Path) -> str:
    """Return the commit and a digest of what the working tree changes in it."""
    digest = hashlib.sha256(_git(root, "diff", "HEAD", "--stat").encode())
    for name in _changed_files(root):
        digest.update(name.encode() + (root / name).read_bytes())
    return f"{_git(root, 'rev-parse', 'HEAD').strip()} {digest.hexdigest()[:12]}"


def _git(root: Path, *arguments: str) -> str:
    return _run(["git", "-C", str(root), *arguments])


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout
