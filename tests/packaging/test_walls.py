"""Walls of the Python code: a breach of each is planted in a small product and refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAZY = "from gviz.face import attach\n\n__getattr__, __dir__ = attach(__name__, __file__)\n"
LONG = "there is no graph of this number in the file"
#: Two packages with faces, one above the other, a command and a page.
PRODUCT = {
    "gviz/__init__.py": "",
    "gviz/dag/__init__.py": LAZY,
    "gviz/dag/__init__.pyi": "from gviz.dag.ranks import rank_rows as rank_rows\n",
    "gviz/dag/ranks.py": "def rank_rows():\n    return []\n",
    "gviz/dag/lanes.py": "import gviz.dag.ranks\n\nclass Cover:\n    rows = 1\n",
    "gviz/dag/cycle.py": "",
    "gviz/model/__init__.py": LAZY,
    "gviz/model/__init__.pyi": "from gviz.model.graph import Graph as Graph\n",
    "gviz/model/graph.py": "from gviz.dag import rank_rows\n\nclass Graph:\n    rows = rank_rows\n",
    "gviz/model/launch.py": "def spans_of(recording):\n    return recording.fetch_spans(1)\n",
    "gviz/model/names.py": "",
    "gviz/cli/__init__.py": "",
    "gviz/cli/info.py": f'print("{LONG}")\n',
    "gviz/cli/view.py": "",
    "gviz/cli/demo.py": "",
    "app/__init__.py": "",
    "app/pages/__init__.py": "",
    "app/pages/graph.py": 'TITLE = "a graph"\n',
    "app/pages/runs.py": "",
    "app/pages/trend.py": "",
    "app/server/__init__.py": "",
    "app/server/routes.py": "",
    "app/server/state.py": "",
    "app/server/token.py": "",
    "app/views/__init__.py": "",
    "app/views/a.py": "",
    "app/views/b.py": "",
    "app/views/c.py": "",
    "tests/unit/dag/test_ranks.py": "",
    "tests/unit/app/pages/test_graph.py": "",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in PRODUCT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    tools = tmp_path / "tools"
    shutil.copytree(
        ROOT / "tools" / "walls", tools / "walls", ignore=shutil.ignore_patterns("breaches")
    )
    for tool in ("check_walls.py", "wall_figures.py"):
        shutil.copy(ROOT / "tools" / tool, tools)
    return tmp_path


def check(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", str(tree / "tools" / "check_walls.py"), str(tree)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_product_without_a_breach_passes(tree: Path) -> None:
    done = check(tree)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "modules stand" in done.stdout


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("gviz/loose.py", "", "folders: gviz.loose: stands loose in gviz/"),
        ("app/loose.py", "", "folders: gviz.app.loose: stands loose in app/"),
        ("gviz/stats/__init__.py", "", "folders: gviz.stats: 0 modules, at least 3"),
        ("tests/unit/else/test_it.py", "", "folders: tests/unit/else: mirrors no package"),
        (
            "gviz/model/names.py",
            "from gviz.dag.ranks import rank_rows\n",
            "faces: gviz.model.names: imports gviz.dag.ranks past the face of gviz.dag",
        ),
        (
            "gviz/model/names.py",
            "from gviz.dag import lanes\n",
            "faces: gviz.model.names: imports gviz.dag.lanes past the face of gviz.dag",
        ),
        (
            "gviz/model/names.py",
            "def names():\n    import gviz.dag.ranks\n",
            "faces: gviz.model.names: imports gviz.dag.ranks past the face of gviz.dag",
        ),
        (
            "gviz/model/names.py",
            "from gviz.dag import Cover\n",
            "faces: gviz.model.names: imports Cover, which is not in the face of gviz.dag",
        ),
        (
            "gviz/dag/__init__.pyi",
            "from gviz.dag.ranks import rank_rows as rank_rows\n"
            "from gviz.dag.gone import it as it\n",
            "faces: gviz.dag: its face has it from gviz.dag.gone, which does not exist",
        ),
        (
            "gviz/dag/__init__.pyi",
            "from gviz.dag.ranks import lanes as lanes\n",
            "faces: gviz.dag: its face has lanes, which a module beside it is called too",
        ),
        (
            "gviz/dag/ranks.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
            "    from gviz.dag.lanes import Cover\ndef rank_rows():\n    return []\n",
            "circles: a circle: gviz.dag.",
        ),
        (
            "gviz/dag/ranks.py",
            "def rank_rows():\n    from gviz.model import Graph\n    return [Graph]\n",
            "circles: a circle: gviz.",
        ),
        (
            "gviz/model/names.py",
            "class Cover:\n    pass\n",
            "class_names: Cover: a class of gviz.dag.lanes and of gviz.model.names",
        ),
        (
            "app/pages/graph.py",
            "def times(recording, rows):\n    return recording.fetch_arrays(rows.Node, {}, ())\n",
            "columns: gviz.app.pages.graph: fetch_arrays of Node",
        ),
        (
            "app/pages/graph.py",
            "def times(recording):\n    return recording.fetch_graph_spans(1)\n",
            "columns: gviz.app.pages.graph: fetch_graph_spans",
        ),
        ("app/pages/graph.py", f'TITLE = "{LONG}"\n', f"sentences: '{LONG}': in gviz.app"),
        (
            "app/pages/graph.py",
            'def title(n):\n    return f"{n:.1f} ms"\n',
            "quantities: gviz.app.pages.graph: 1 of ms",
        ),
        (
            "gviz/model/names.py",
            '"""How nodes are called."""\n',
            "docstrings: gviz/model/names.py: the docstring of the module begins with How",
        ),
        (
            "app/pages/graph.py",
            'def is_open():\n    """Whether it is open."""\n    return True\n',
            "docstrings: app/pages/graph.py: the docstring of is_open begins with Whether",
        ),
        (
            "gviz/model/names.py",
            "def name_of(told):\n    return told\n",
            "words: gviz.model.names: told: say recorded, reported instead of told",
        ),
        (
            "app/views/c.py",
            "class ParentHolder:\n    pass\n",
            "words: gviz.app.views.c: ParentHolder: say parent node instead of holder",
        ),
        (
            "tests/unit/dag/test_ranks.py",
            'class TestRanks:\n    """What ranks do."""\n',
            "docstrings: tests/unit/dag/test_ranks.py: the docstring of TestRanks begins with What",
        ),
    ],
)
def test_a_breach_is_refused(tree: Path, file: str, text: str, fault: str) -> None:
    (tree / file).parent.mkdir(parents=True, exist_ok=True)
    (tree / file).write_text(text)
    done = check(tree)
    assert done.returncode == 1
    assert fault in done.stdout


def test_figures_count_what_the_walls_hold(tree: Path) -> None:
    for name in ("loose", "errors"):
        (tree / f"gviz/{name}.py").write_text("")
    (tree / "gviz/model/names.py").write_text("import gviz.model.graph\nclass Cover:\n    pass\n")
    command = [sys.executable, "-P", str(tree / "tools" / "wall_figures.py"), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures.pop("import_time_ms") > 0
    assert figures == {
        "modules": 20,
        "folders_above_20": 0,
        "modules_of_the_fullest_folder": 3,
        "loose_modules": 1,
        "longest_chain": 3,
        "class_names_of_two_meanings": 1,
    }
    # By where a name is defined, not by the face that it is imported from.
    assert "longest chain: gviz.model.names > gviz.model.graph > gviz.dag.ranks" in done.stdout


def test_an_f_string_is_the_sentence_whatever_it_puts_in(tree: Path) -> None:
    (tree / "gviz/cli/info.py").write_text('n = 1\nprint(f"there is no graph {n} in this file")\n')
    (tree / "app/pages/runs.py").write_text('m = 1\nprint(f"there is no graph {m} in this file")\n')
    assert "sentences: 'there is no graph {} in this file'" in check(tree).stdout


def test_a_heading_is_written_once_whatever_its_case_and_stop(tree: Path) -> None:
    (tree / "gviz/cli/info.py").write_text('print("What to change")\n')
    (tree / "app/pages/runs.py").write_text('print("What to CHANGE:")\n')
    assert "sentences: 'what to change': in gviz.app" in check(tree).stdout
    # Names of things may be short, and what begins small is a part of a sentence.
    (tree / "app/pages/runs.py").write_text('print("what to change", "Graph")\n')
    (tree / "gviz/cli/info.py").write_text('print("what to change", "Graph")\n')
    assert "sentences" not in check(tree).stdout.replace("columns, sentences,", "")


def test_a_21st_module_is_refused(tree: Path) -> None:
    for number in range(17):
        (tree / "gviz" / "dag" / f"more{number}.py").write_text("")
    assert check(tree).returncode == 0
    (tree / "gviz" / "dag" / "one_more.py").write_text("")
    assert "folders: gviz.dag: 21 modules, at most 20" in check(tree).stdout


def test_a_listed_breach_passes_until_it_is_gone(tree: Path) -> None:
    breaches = tree / "tools" / "walls" / "breaches"
    breaches.mkdir()
    (tree / "gviz/model/names.py").write_text("class Cover:\n    pass\n")
    breach = "Cover: a class of gviz.dag.lanes and of gviz.model.names"
    (breaches / "class_names.txt").write_text(breach + "\n")
    assert check(tree).returncode == 0
    (tree / "gviz/model/names.py").write_text("")
    done = check(tree)
    assert done.returncode == 1
    assert "is listed and gone: remove its line from breaches/class_names.txt" in done.stdout


@pytest.mark.installed  # the environment of the checks has import-linter
def test_layers_refuse_an_import_upwards_and_a_package_without_a_layer(tmp_path: Path) -> None:
    """The contract of pyproject.toml, on a copy of the product with a breach."""
    pytest.importorskip("importlinter")
    folder = tmp_path / "gviz"
    shutil.copytree(ROOT / "gviz", folder)
    for part in ("app", "collectors", "assets"):
        shutil.copytree(
            ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.gviz", "*.so", "web")
        )
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    command += ["--config", str(ROOT / "pyproject.toml")]
    environment = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}
    options = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run(command, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout
    (folder / "dag" / "upwards.py").write_text("from gviz.model import Bodies\n")
    done = subprocess.run(command, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 1
    assert "gviz.dag.upwards -> gviz.model" in done.stdout
    (folder / "dag" / "upwards.py").unlink()
    (folder / "fresh.py").write_text("")
    done = subprocess.run(command, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 1
    assert "gviz.fresh" in done.stdout
