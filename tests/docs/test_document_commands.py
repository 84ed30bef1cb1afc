"""Commands that documents name without their output: all are accepted, and what reads files runs.

What records, serves or measures runs in tests/contract and tests/packaging.
"""

from __future__ import annotations

import lzma
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from places import ROOT
from rocprof_traces import rocprof_of, write_rocprof

from gviz.cli.command_line import COMMANDS, build_parser

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]

RECORDINGS = ROOT / "assets" / "recordings"
#: Bundled recordings under the names that documents use.
NAMED = {
    "decode": "decode_step",
    "decode_step_copies": "decode_step_copies",
    "main": "decode_step",
    "train": "decode_step",
    "before": "decode_step_h200",
    "after": "decode_step_h200_fused",
    "monday": "token_step_1",
    "tuesday": "token_step_2",
    "wednesday": "token_step_3",
    "rank0": "token_step_1",
    "rank1": "token_step_2",
    "all": "ranks_h200",
}
READING = {"info", "analyze", "node", "query", "diff", "trend", "skew", "check", "export", "values"}
WRITING = {"merge", "import"}


def _commands() -> Iterator[tuple[str, str]]:
    """Yield document and command, of indented blocks and of fenced ones in the shell's words."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = path.read_text()
        fenced = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
        for line in [*re.findall(r"^ {4}gviz .*$", text, re.MULTILINE), *fenced.split("\n")]:
            if line.strip().startswith("gviz "):
                yield path.name, re.sub(r" +#.*", "", line.strip())


#: Each command once.
EXAMPLES = sorted({command: document for document, command in _commands()}.items())
RUN = [one for one in EXAMPLES if one[0].split()[1] in READING | WRITING]


def _words(command: str, folder: Path) -> list[str]:
    """Return the arguments as a shell would, without what it keeps for itself."""
    quoted = {shlex.split(text)[0] for text in re.findall(r"'[^']+'|\"[^\"]+\"", command)}
    words = shlex.split(command.partition(" > ")[0], comments=True)[1:]
    found = []
    for word in words:
        is_pattern = "*" in word and word not in quoted
        found += (is_pattern and sorted(path.name for path in folder.glob(word))) or [word]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the documents' commands read."""
    place = tmp_path_factory.mktemp("documents")
    for name, bundled in NAMED.items():
        (place / f"{name}.gviz").symlink_to(RECORDINGS / f"{bundled}.gviz")
    for name in ("counters", "before", "after"):
        (place / f"{name}.csv").write_text("node,energy_mJ\n1,2.5\n2,3.5\n")
    traces = ROOT / "tests" / "golden" / "traces"
    for name in ("graph", "decode"):
        (place / f"{name}.dot").symlink_to(traces / "copies_torch_2.11.dot")
    (place / "trace.json.gz").symlink_to(traces / "copies_torch_2.11.json.gz")
    write_rocprof(rocprof_of(), place / "results.json")
    export = lzma.decompress((traces / "copies_nsys_2023.4.sqlite.xz").read_bytes())
    for name in ("report", "run"):
        (place / f"{name}.sqlite").write_bytes(export)
    (place / "gviz.toml").write_text("[check]\nnodes = 400\n")
    return place


@pytest.mark.parametrize(("command", "document"), EXAMPLES)
def test_command_is_accepted(folder: Path, document: str, command: str) -> None:
    name, *arguments = _words(command, folder)
    if name not in COMMANDS:
        assert name.endswith(".gviz"), command
        name, arguments = "view", [name, *arguments]
    parser = build_parser(name)
    assert parser.parse_args([name, *arguments]).command == name


@pytest.mark.thorough
@pytest.mark.parametrize(("command", "document"), RUN)
def test_command_that_reads_files_runs(
    gviz_here: Gviz, folder: Path, tmp_path: Path, document: str, command: str
) -> None:
    place = tmp_path / "documents"
    shutil.copytree(folder, place, symlinks=True)
    words = _words(command.replace('"$GITHUB_STEP_SUMMARY"', "summary.md"), place)
    if "-o" in words:  # it may be what another command reads
        (place / words[words.index("-o") + 1]).unlink(missing_ok=True)
    done = gviz_here(*words, cwd=place)
    assert done.returncode in (0, 1 if words[0] == "check" else 0), done.stderr


def test_commands_are_found() -> None:
    assert len(EXAMPLES) >= 40
    assert len(RUN) >= 25
