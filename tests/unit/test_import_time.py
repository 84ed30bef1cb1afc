"""``import gviz`` stands in other people's programs: it must load nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import golden_spools
import pytest

pytestmark = pytest.mark.installed

HEAVY = {"cuda", "cupy", "dash", "flask", "networkx", "numpy", "plotly", "sqlite3", "torch"}


def _loaded_by(code: str) -> set[str]:
    program = f"import sys; before = set(sys.modules); {code}; import json; "
    program += "print(json.dumps(sorted(set(sys.modules) - before)))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_gviz_loads_only_itself() -> None:
    loaded = _loaded_by("import gviz")
    assert {name for name in loaded if name.startswith("gviz")} == {"gviz", "gviz.face"}
    assert loaded & HEAVY == set()


@pytest.mark.parametrize(
    "code",
    [
        "import gviz.cli.command_line",
        "import gviz.cli.command_line as m; m.build_parser()",
        "import gviz.cli.commands.machine.doctor",
        "import gviz.cuda.cupti_library",
        "import gviz.report.summary",
        "import gviz.recording.reader",
        "from gviz import GvizError",
    ],
)
def test_light_modules_load_no_heavy_library(code: str) -> None:
    assert _loaded_by(code) & (HEAVY - {"sqlite3"}) == set()


def test_gviz_info_loads_no_web_library(small_recording: object) -> None:
    loaded = _loaded_by(
        f"from gviz.cli.command_line import main; main(['info', {str(small_recording)!r}])"
    )
    assert "gviz.cli.commands.look.info" in loaded
    assert loaded & {"dash", "flask", "plotly", "waitress", "networkx"} == set()


def test_gviz_run_loads_neither_tables_nor_what_reads_wheels() -> None:
    loaded = _loaded_by("import gviz.cli.commands.record.run_")
    assert "gviz.collectors.session" in loaded
    assert loaded & {"email", "importlib.metadata", "tempfile", "zipfile"} == set()
    assert {name for name in loaded if name.startswith("gviz.recording.rows.")} == {
        "gviz.recording.rows.versions"
    }


def test_a_watched_program_loads_little() -> None:
    loaded = _loaded_by("import gviz.collectors.session; gviz.collectors.session.Watching")
    assert "gviz.collectors.watching.collection" in loaded
    heavy = {"gviz.cuda.doctor", "gviz.spool.records.table", "decimal", "subprocess", "tempfile"}
    assert loaded & heavy == set()


@pytest.mark.parametrize("module", ["follow", "follow_job"])
def test_a_writer_loads_nothing_for_rare_cases(module: str) -> None:
    # numpy's own modules are its matter.
    loaded = _loaded_by(
        f"import numpy; before |= set(sys.modules); import gviz.spool.processes.{module}"
    )
    assert "gviz.recording.rows.recorded" in loaded
    assert loaded & {"ctypes.util", "difflib", "subprocess", "tempfile", "tomllib"} == set()


def test_writing_a_recording_loads_no_masked_arrays(tmp_path: Path) -> None:
    spool = tmp_path / "s"
    spool.mkdir()
    with tarfile.open(golden_spools.FOLDER / f"cupy_pipeline{golden_spools.SUFFIX}") as packed:
        packed.extractall(spool, filter="data")
    # An old numpy loads them by itself.
    loaded = _loaded_by(
        "import numpy; before |= set(sys.modules); "
        "from pathlib import Path; import gviz.spool.folding.recording_fold as m; "
        f"spool = Path({str(spool)!r}); m.fold(m.read_contents(spool), spool, spool / 'x.gviz')"
    )
    assert "gviz.recording.writer" in loaded
    assert "numpy.ma" not in loaded


def test_all_tables_are_those_of_all_modules_whoever_asks_first() -> None:
    loaded = _loaded_by("from gviz.recording.rows import all_tables; assert len(all_tables()) > 30")
    wings = {"recorded", "life", "long_run", "nesting", "launch_costs"}
    assert {f"gviz.recording.rows.{wing}" for wing in wings} <= loaded


def test_pytest_plugin_loads_nothing_but_pytest() -> None:
    loaded = _loaded_by("import pytest; before |= set(sys.modules); import gviz.pytest_plugin")
    assert {name for name in loaded if name.startswith("gviz")} == {
        "gviz",
        "gviz.face",
        "gviz.pytest_plugin",
    }
    assert loaded & (HEAVY | {"pandas", "polars"}) == set()
    assert len(loaded) < 8


def test_unknown_name_raises_attribute_error() -> None:
    import gviz

    with pytest.raises(AttributeError, match="no attribute 'prophile'"):
        _ = gviz.prophile


def test_public_names_are_these() -> None:
    import gviz

    names = {
        *("GvizError", "compare_stream", "open", "profile", "start", "stop", "try_edits", "watch")
    }
    assert set(gviz.__all__) == names
    assert names <= set(dir(gviz))
    assert all(getattr(gviz, name) is not None for name in names)
