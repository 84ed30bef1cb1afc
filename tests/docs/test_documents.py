"""The documentation: generated parts current, commands and files it names present, queries run."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cures import read_cures, without

from gviz.cli.command_line import COMMANDS
from gviz.model import launch_times
from gviz.recording import Recording
from gviz.recording.rows.schema import all_tables, to_markdown
from gviz.report import summary

#: A module is a thing; its docstring does not begin as a question would.
_QUESTION = re.compile("(What|Which|Who|How|Where|Whether|When|Why) ")

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
Gviz = Callable[..., "subprocess.CompletedProcess[str]"]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md")])


def test_generated_documents_are_current() -> None:
    command = [sys.executable, "-P", str(ROOT / "tools" / "make_docs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_recording_document_ends_with_the_generated_tables() -> None:
    text = (DOCS / "recording.md").read_text()
    assert text.endswith(to_markdown().rstrip() + "\n")
    for table in all_tables():
        assert text.count(f"\n## {table.name}\n") == 1
        for column in table.columns:
            assert f"| {column.name} | {column.sql_type}" in text


SUMMARY_CLASSES = [
    value
    for value in vars(summary).values()
    if isinstance(value, type) and value.__module__ == summary.__name__
]


@pytest.mark.parametrize("cls", SUMMARY_CLASSES, ids=lambda cls: cls.__name__)
def test_every_key_of_info_json_is_documented(cls: type) -> None:
    words = set(re.findall(r"\w+", (DOCS / "info.md").read_text()))
    assert {field.name for field in dataclasses.fields(cls)} - words == set()


def _readme_commands() -> set[str]:
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"^ {4}\S.*$", text, re.MULTILINE)
    inline = re.findall(r"`(gviz [^`]*)`", text)
    lines = [block.strip().removeprefix(".venv/bin/") for block in blocks] + inline
    named = {line.split()[1] for line in lines if line.startswith("gviz ")}
    return {name for name in named if not name.endswith(".gviz")}


def test_readme_commands_exist() -> None:
    named = _readme_commands()
    assert {"run", "view", "demo", "info", "doctor"} <= named <= set(COMMANDS)


def test_readme_and_contributing_name_existing_make_targets() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for document in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / document).read_text()
        named = set(re.findall(r"(?:^ {4}|`)make ([a-z-]+)", text, re.MULTILINE))
        assert named, f"{document} names no target"
        assert named <= targets


def test_readme_names_every_document() -> None:
    # The site's first page, and the list of modules, to which architecture.md leads.
    others = {"index.md", "modules.md"}
    named = set(re.findall(r"\(docs/(\w[\w-]*\.md)\)", (ROOT / "README.md").read_text()))
    assert {path.name for path in DOCS.glob("*.md")} - named == others


def test_figures_of_the_example_of_ranks_are_those_of_its_recording(gviz_here: Gviz) -> None:
    example = (DOCS / "merging.md").read_text().partition("## An example")[2]
    rows = re.findall(r"^\| (?!what|---).*$", example.partition("## JSON")[0], re.MULTILINE)
    shown = [f"{figure} µs" for figure in re.findall(r"\d+\.\d+|\b\d{2,}(?= µs)", "".join(rows))]
    printed = gviz_here("skew", ROOT / "assets" / "recordings" / "ranks_h200.gviz").stdout
    printed = re.sub(r"\b(\d+) ns", lambda ns: f"{int(ns[1]) / 1000:.2f} µs", printed)
    assert len(shown) >= 10
    assert [figure for figure in shown if not re.search(rf"(?<![\d.]){figure}", printed)] == []


def test_counts_of_the_bundled_recordings_are_theirs() -> None:
    folder = ROOT / "assets" / "recordings"
    rows = re.findall(r"^\| (\w+\.gviz) \|(.*)$", (folder / "README.md").read_text(), re.MULTILINE)
    assert {name for name, _ in rows} == {path.name for path in folder.glob("*.gviz")}
    for name, text in rows:
        with Recording(folder / name) as recording:
            graphs = [graph.graph_id for graph in recording.fetch_graphs() if graph.run_id == 1]
            nodes = [len(recording.fetch_nodes(graph)) for graph in graphs]
            execs = [recording.fetch_graph_execs(graph) for graph in graphs]
        launches = [sum(one.launch_count or 0 for one in of_graph) for of_graph in execs]
        for noun, counts in (("nodes", nodes), ("launches", launches)):
            # Of all graphs, or of each where they are alike.
            right = ([], [f"{sum(counts):,} {noun}"], [f"{counts[0]:,} {noun}"])
            assert re.findall(rf"[\d,]+ {noun}", text)[:1] in right, name


def test_architecture_has_900_words_at_most() -> None:
    text = (DOCS / "architecture.md").read_text()
    assert len(text.split()) <= 900


def test_security_has_900_words_at_most() -> None:
    words = [word for word in (DOCS / "security.md").read_text().split() if word.strip("|-")]
    assert len(words) <= 900


def test_every_promise_of_security_names_tests_that_there_are() -> None:
    text = (DOCS / "security.md").read_text()
    for section in text.split("\n## ")[1:]:
        (folder,) = re.findall(r"Tests\s+stand\s+in\s+(\S+)\s+unless", section)
        for row in re.findall(r"^\| .*$", section, re.MULTILINE)[1:]:
            named = re.findall(r"(\S+\.py)::(\w+)", row)
            assert named or set(row) <= set("|- "), row
            for file, test in named:
                path = ROOT / file if file.startswith("tests/") else ROOT / folder / file
                assert f"def {test}(" in path.read_text(), (file, test)


def test_cure_of_every_fault_stands_in_its_file_and_its_test_is_there() -> None:
    for cure in read_cures():
        assert without(cure, lambda file: (ROOT / file).read_bytes())
        path, _, test = cure.test.partition("::")
        assert f"def {test.rpartition('::')[2]}(" in (ROOT / path).read_text(), cure.test


def test_modules_begin_with_what_they_are() -> None:
    lines = (DOCS / "modules.md").read_text().splitlines()
    stated = [line.partition("`: ")[2] or line for line in lines]
    assert sum("`: " in line for line in lines) > 400
    assert [words for words in stated if _QUESTION.match(words)] == []


def test_readme_starts_with_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    first = re.findall(r"^ {4}(\S.*)$", text, re.MULTILINE)[:2]
    assert [line.split("#")[0].strip() for line in first] == ["make demo", "make test"]


#: A distribution that no index has: neither documents nor messages advise it.
_FROM_INDEX = re.compile(r"pip\w* install (?:-\S+ )*['\"]?gviz\b")


def test_nothing_advises_to_install_gviz_from_an_index() -> None:
    sources = [
        path
        for folder in ("gviz", "app", "collectors", "assets", "docs")
        for suffix in ("py", "c", "js", "md")
        for path in (ROOT / folder).rglob(f"*.{suffix}")
    ]
    found = [
        path for path in [*sources, ROOT / "README.md"] if _FROM_INDEX.search(path.read_text())
    ]
    assert found == []
    assert _FROM_INDEX.search("pip install --no-cache-dir gviz")
    assert _FROM_INDEX.search("pip install 'gviz[cuda13]'")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_existing_files(document: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text())
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (document.parent / link).exists()] == []


def _paths_of_tree(tree: str) -> list[Path]:
    """Return the paths of an indented tree: four spaces, then two for each level."""
    paths = []
    folders = [ROOT]
    for line in tree.splitlines():
        if not line.startswith("    "):
            continue
        level = (len(line) - len(line.lstrip()) - 4) // 2
        for name in line.strip().split("  ")[0].split(", "):
            path = folders[level] / name
            folders[level + 1 :] = [path]
            paths.append(path)
    return paths


def test_contributing_tree_names_existing_paths() -> None:
    paths = _paths_of_tree((ROOT / "CONTRIBUTING.md").read_text().split("\n## ")[0])
    assert len(paths) > 15
    assert [str(path.relative_to(ROOT)) for path in paths if not path.exists()] == []


def test_examples_of_the_python_document_run(tmp_path: Path) -> None:
    code = "\n".join(
        re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text(), re.DOTALL)
    )
    recording = ROOT / "assets" / "recordings" / "decode_step.gviz"
    (tmp_path / recording.name).symlink_to(recording)
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "320 nodes" in done.stdout
    assert "nvjet" in done.stdout
    with Recording(recording) as opened:
        times = launch_times(opened, 1)
    lines = done.stdout.splitlines()
    # Once by gviz, once from the table: the document's two ways give one figure.
    assert sum(line.endswith(f" 320 {times.median_ns}") for line in lines) == 1
    assert lines.count(str(times.median_ns)) == 1


@pytest.mark.parametrize("document", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_page_begins_with_what_one_can_do_after_reading_it(document: Path) -> None:
    if document.name == "index.md":  # it leads to the others
        return
    title, first = document.read_text().split("\n\n")[:2]
    assert re.fullmatch("# .+", title)
    assert re.match(r"After this page you can \w", first), first


#: Rows of README's table of profilers: figures, and the benches that measured them.
_COMPARED = re.compile(r"^\| [^|]+ \| (.*) \| (bench/.*) \|$", re.MULTILINE)


def test_figures_beside_other_profilers_are_those_of_the_benches_named() -> None:
    readme = (ROOT / "README.md").read_text()
    measured = (DOCS / "benchmarks.md").read_text()
    rows = _COMPARED.findall(readme.partition("## Beside other profilers")[2])
    assert len(rows) >= 4
    for figures, benches in rows:
        for bench in benches.split(", "):
            assert (ROOT / bench).is_file()
            assert bench in measured
        for figure in re.findall(r"\d\.\d+", figures):
            assert f"({figure})" in measured, figure
