"""The scripts behind the Makefile: what they say on machines that lack something."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TOOLS = ROOT / "tools"
#: Pythons of made-up machines, as shell scripts.
BROKEN = "#!/bin/sh\necho 'pyenv: command not found' >&2\nexit 127\n"
TOO_OLD = '#!/bin/sh\n[ "$1" = -V ] && echo Python 3.9.2 && exit 0\nexit 1\n'
NO_VENV = f"""#!/bin/sh
case "$2" in
  *ensurepip*) echo "No module named 'ensurepip'" >&2; exit 1 ;;
esac
exec {sys.executable} "$@"
"""
WORKS = f'#!/bin/sh\nexec {sys.executable} "$@"\n'


def _make_venv(tmp_path: Path, pythons: dict[str, str], named: str = "") -> tuple[int, str, str]:
    """Run tools/make_venv.sh with only these programs named python on PATH."""
    path = tmp_path / "bin"
    path.mkdir()
    for name in ("bash", "dirname", "mkdir", "touch", "echo"):
        (path / name).symlink_to(f"/bin/{name}")
    for name, text in {"python3.13": BROKEN, **pythons}.items():
        (path / name).write_text(text)
        (path / name).chmod(0o755)
    done = subprocess.run(
        ["/bin/bash", str(TOOLS / "make_venv.sh"), named, str(tmp_path / "venv")],
        capture_output=True,
        text=True,
        env={"PATH": str(path), "HOME": str(tmp_path)},
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("pythons", "named", "says"),
    [
        ({"python3": BROKEN}, "", "found no python3; install one"),
        ({}, "", "found no python3; install one"),
        ({"python3": TOO_OLD}, "", "found Python 3.9.2"),
        ({"python3": TOO_OLD}, "python3", "PYTHON=python3 is Python 3.9.2"),
        ({"python3": WORKS}, "python3.13", "PYTHON=python3.13 is a program that does not run"),
        ({"python3": NO_VENV}, "", "apt-get install python3."),
    ],
)
def test_make_venv_says_in_one_sentence_what_is_missing(
    tmp_path: Path, pythons: dict[str, str], named: str, says: str
) -> None:
    code, out, err = _make_venv(tmp_path, pythons, named)
    assert (code, out) == (1, "")
    assert says in err
    assert err.count("\n") == 1
    assert not (tmp_path / "venv").exists()


def test_make_venv_passes_over_shims_that_do_not_run(tmp_path: Path) -> None:
    pythons = {"python3.12": BROKEN, "python3.11": TOO_OLD, "python3": WORKS}
    assert _make_venv(tmp_path, pythons) == (0, "", "")
    assert (tmp_path / "venv" / ".made").exists()
    assert (tmp_path / "venv" / "bin" / "python").exists()


APT = """#!/bin/sh
echo "$@" >>"$LOG"
[ "$1" = install ] || exit 0
printf '#!/bin/sh\\necho Chromium 140\\n' >"${0%/*}/chromium"
chmod +x "${0%/*}/chromium"
"""


@pytest.mark.parametrize(
    ("programs", "stated", "installed"),
    [
        ({"id": "#!/bin/sh\necho 0\n"}, "There is no Chromium", False),
        ({"id": "#!/bin/sh\necho 1000\n", "apt-get": APT}, "There is no Chromium", False),
        ({"id": "#!/bin/sh\necho 0\n", "apt-get": APT}, "", True),
        ({"chromium-browser": BROKEN, "id": "#!/bin/sh\necho 0\n"}, "There is no Chromium", False),
        ({"google-chrome": "#!/bin/sh\necho Chrome\n", "apt-get": APT}, "", False),
    ],
    ids=["no apt", "not root", "root", "snap stub", "chrome is there"],
)
def test_install_chromium_installs_where_allowed_else_says_what_to_do(
    tmp_path: Path, programs: dict[str, str], stated: str, installed: bool
) -> None:
    for name in ("bash", "chmod", "mktemp", "rm", "sh", "tail"):
        (tmp_path / name).symlink_to(f"/bin/{name}")
    # Debian, whatever this machine is: the script asks grep whether it is Ubuntu.
    for name, text in {"grep": "#!/bin/sh\nexit 1\n", **programs}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    log = tmp_path / "apt.log"
    done = subprocess.run(
        ["/bin/bash", str(TOOLS / "install_chromium.sh")],
        capture_output=True,
        text=True,
        env={"PATH": str(tmp_path), "LOG": str(log)},
        check=False,
    )
    assert done.returncode == 0
    assert (stated in done.stderr) if stated else done.stderr == ""
    assert log.exists() is installed


def test_link_tree_gives_the_import_names_without_installing(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    call = "link_tree.link(pathlib.Path(sys.argv[1]), own_libraries=False)"
    code = f"import link_tree, pathlib, sys; {call}"
    subprocess.run(
        [sys.executable, "-c", code, str(tree)],
        check=True,
        env=os.environ | {"PYTHONPATH": str(TOOLS)},
        cwd=tmp_path,
    )
    program = (
        "import gviz, gviz.app, gviz.assets, gviz.collectors, gviz.recording.rows.recorded; "
        "print(gviz.__file__); print(gviz.app.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env=os.environ | {"PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout.splitlines() == [
        str(tree / "gviz" / "__init__.py"),
        str(tree / "gviz" / "app" / "__init__.py"),
    ]


def test_link_tree_maps_the_same_folders_as_the_package() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    mapped = config["tool"]["setuptools"]["package-dir"]
    expected = {f: n.removeprefix("gviz.") for n, f in mapped.items() if n != "gviz"}
    text = (TOOLS / "link_tree.py").read_text()
    assert f"MAPPED = {expected!r}".replace("'", '"') in text


@pytest.mark.parametrize(
    ("lines", "function", "fails", "says"),
    [
        (500, 60, False, ""),
        (501, 60, False, "warning: bench/m.py: 501 lines, above 500"),
        (801, 60, True, "bench/m.py: 801 lines, above 800: split it"),
        (500, 61, False, "warning: bench/m.py:1: f has 61 lines, above 60"),
        (500, 81, True, "bench/m.py:1: f has 81 lines, above 80: split it"),
    ],
)
def test_long_modules_and_functions_warn_then_fail(
    tmp_path: Path, lines: int, function: int, *, fails: bool, says: str
) -> None:
    body = "def f():\n" + "    pass\n" * (function - 1)
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "m.py").write_text(body + "#\n" * (lines - body.count("\n")))
    command = [sys.executable, "-P", str(TOOLS / "check_sizes.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == fails
    found = done.stdout.splitlines()[:-1]
    assert [line for line in found if line.startswith(says)] == (found if says else [])
    assert len(found) == bool(says)


@pytest.mark.parametrize(
    "script", [*sorted(TOOLS.glob("*.sh")), ROOT / ".ci" / "run"], ids=lambda p: p.name
)
def test_shell_scripts_are_executable_and_parse(script: Path) -> None:
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", str(script)], check=True)


WALK = "collectors/csrc/graph/walk.c"


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        (WALK, '#include "entry/entry.h"\n', "entry/entry.h, which does not stand below graph"),
        (WALK, '#include "window/window.h"\n', "window/window.h, which does not stand below graph"),
        ("collectors/csrc/graph/more.h", "", "more.h: a second header"),
        ("collectors/csrc/life/life.c", '#include "graph/parts.h"\n', "which is for graph only"),
        (WALK, '#include "../life/life.h"\n', "../life/life.h, which is no wing's header"),
        ("collectors/csrc/native.h", "", "native.h: stands in no wing"),
        ("collectors/csrc/else/else.h", "", "no wing of this name"),
        (
            "collectors/launchcost/csrc/timing.c",
            '#include "state/state.h"\n',
            "includes state/state.h; launchcost.h and core/core.h are for it",
        ),
        ("collectors/launchcost/csrc/more.h", "", "more.h: a second header"),
    ],
)
def test_a_breach_of_the_c_walls_is_refused(
    tmp_path: Path, file: str, text: str, says: str
) -> None:
    for folder in ("csrc", "launchcost"):
        shutil.copytree(ROOT / "collectors" / folder, tmp_path / "collectors" / folder)
    command = [sys.executable, "-P", str(TOOLS / "check_c_walls.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text + (path.read_text() if path.exists() else ""))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    (fault,) = [line for line in done.stdout.splitlines() if says in line]
    assert Path(file).name in fault or Path(file).parent.name in fault


def test_a_wing_of_too_many_files_is_refused(tmp_path: Path) -> None:
    for folder in ("csrc", "launchcost"):
        shutil.copytree(ROOT / "collectors" / folder, tmp_path / "collectors" / folder)
    for number in range(20):
        (tmp_path / "collectors" / "csrc" / "subscriber" / f"stub{number}.c").touch()
    command = [sys.executable, "-P", str(TOOLS / "check_c_walls.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "subscriber: 23 files, at most 20" in done.stdout


def test_compiled_probe_is_of_its_source() -> None:
    make_probe = runpy.run_path(str(TOOLS / "make_probe.py"))
    for form in ("PTX", "SASS"):
        compiled = make_probe[form].read_text()
        assert f"probe.cu ({make_probe['digest']()})" in compiled, "run tools/make_probe.py"
