"""``gviz doctor`` on this machine, whatever it is, and its printing."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gviz.cli.commands.machine.doctor import find_library, load_error, read_admin_only, render
from gviz.cuda.doctor import CheckOutcome, Diagnosis, Status

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]


def test_doctor_json_and_exit_code_agree(gviz: Gviz) -> None:
    done = gviz("doctor", "--json")
    value = json.loads(done.stdout)
    assert done.returncode == (0 if value["works"] else 1)
    assert done.stderr == ""
    names = [finding["name"] for finding in value["findings"]]
    assert names[:3] == ["GPU and driver", "native library", "CUPTI"]
    for finding in value["findings"]:
        assert set(finding) == {"name", "status", "text", "advice", "items"}
        assert finding["advice"] or finding["status"] != "error"


def test_doctor_text_ends_with_the_verdict(gviz: Gviz) -> None:
    done = gviz("doctor")
    verdict = "would work" if done.returncode == 0 else "would not work"
    assert verdict in done.stdout.splitlines()[-1]


def test_parts_of_a_finding_are_a_list() -> None:
    found = CheckOutcome(
        "known problems", Status.WARNING, "2", "update it", ("all: one two", "graphs: three")
    )
    assert render(Diagnosis((found,)), 40).splitlines()[:5] == [
        "[  warning  ] known problems: 2",
        "              - all: one two",
        "              - graphs: three",
        "              -> update it",
        "",
    ]


def test_doctor_without_any_tool_on_path_still_answers(gviz: Gviz, tmp_path: Path) -> None:
    done = gviz("doctor", "--json", env={"PATH": str(tmp_path), "LD_LIBRARY_PATH": "/nowhere"})
    assert done.stderr == ""
    assert json.loads(done.stdout)["findings"]


@pytest.mark.parametrize(
    ("package", "stem"),
    [
        ("gviz.collectors", "_native"),
        ("gviz.collectors", "_gate"),
        ("gviz.collectors.launchcost", "_launchcost"),
    ],
)
def test_libraries_of_this_installation_load(package: str, stem: str) -> None:
    library = find_library(package, stem)
    assert library is not None, "built without a C compiler; see 'gviz doctor'"
    assert load_error(library) is None


def test_load_error_of_a_text_file_says_why(tmp_path: Path) -> None:
    path = tmp_path / "_native.abi3.so"
    path.write_text("hello")
    assert "_native.abi3.so" in str(load_error(path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n", True),
        ("RmProfilingAdminOnly: 0\n", False),
        ("something else\n", None),
    ],
)
def test_read_admin_only(tmp_path: Path, text: str, expected: bool | None) -> None:
    path = tmp_path / "params"
    path.write_text(text)
    assert read_admin_only(path) is expected


def test_read_admin_only_without_a_driver_is_unknown(tmp_path: Path) -> None:
    assert read_admin_only(tmp_path / "params") is None


@pytest.mark.parametrize("width", [60, 80, 120])
def test_render_fits_the_width_and_shows_advice(width: int) -> None:
    diagnosis = Diagnosis(
        (
            CheckOutcome("CUPTI", Status.ERROR, "word " * 40, "do " * 40),
            CheckOutcome("other", Status.OK, "fine"),
        )
    )
    lines = render(diagnosis, width).splitlines()
    assert max(map(len, lines)) <= width
    assert any(line.strip().startswith("-> do") for line in lines)
    assert lines[-1] == "Profiling would not work here."
