"""The file that the configuration is read from."""

from __future__ import annotations

from pathlib import Path

import pytest

from gviz.errors import GvizError
from gviz.system.config_file import read_config

OWN = '[files]\nmode = "0640"\n'
PROJECT = '[project]\nname = "x"\n[tool.gviz.files]\nmode = "0600"\n[tool.other]\nline = 3\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_file_there_is_no_configuration(folder: Path) -> None:
    assert read_config(None) == (Path("gviz.toml"), {})


def test_project_file_is_read_where_there_is_no_other(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(PROJECT)
    assert read_config(None) == (Path("pyproject.toml"), {"files": {"mode": "0600"}})
    (folder / "gviz.toml").write_text(OWN)
    assert read_config(None) == (Path("gviz.toml"), {"files": {"mode": "0640"}})
    assert read_config(Path("pyproject.toml"))[1] == {"files": {"mode": "0600"}}


@pytest.mark.parametrize("text", ['[project]\nname = "x"\n', "no = TOML = at all", "[tool]\n"])
def test_project_file_that_says_nothing_of_gviz_is_left_alone(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(text)
    assert read_config(None) == (Path("gviz.toml"), {})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "[tool.other]\n[tool.gviz.cheques]\n",
            "pyproject.toml, line 2: 'cheques' is not known; there are only ignore, check",
        ),
        ("[tool.gviz\n", "pyproject.toml is no TOML"),
        ("# tool.gviz\ntool = 1\n", "'tool' must be a table"),
        ("tool.gviz = 1\n", "'gviz' must be a table"),
        (f"[tool.gviz]\nx = {'9' * 5_000}\n", "pyproject.toml is no TOML"),
        (f"[tool.gviz]\nx = {'[' * 5_000}\n", "pyproject.toml is no TOML"),
    ],
)
def test_mistakes_below_tool_gviz_are_named(folder: Path, text: str, why: str) -> None:
    (folder / "pyproject.toml").write_text(text)
    with pytest.raises(GvizError, match=why):
        read_config(None)
