"""A data set built: what is in it, what is left out, and what a kill leaves."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fleets import mapper_here, needs_fleet
from places import ROOT
from rank_recordings import Planted, step_with_loop, write_nested_ranks, write_ranks

from gviz.errors import GvizError
from gviz.fleet import Built, Mapper, build_fleet, find_sources, open_manifest
from gviz.fleet.manifest import MANIFEST
from gviz.recording import SCHEMA_VERSION, Recording

pytestmark = [needs_fleet, pytest.mark.thorough]


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four ranks of a job, of which the second is slow in its first kernel."""
    folder = tmp_path_factory.mktemp("ranks")
    write_ranks(folder, [Planted(), Planted(slow=((0, 5_000),)), Planted(), Planted()], launches=4)
    return folder


@pytest.fixture
def own(ranks: Path, tmp_path: Path) -> Path:
    """Copies of them, for a test that changes some."""
    return Path(shutil.copytree(ranks, tmp_path / "ranks"))


def build(where: Path, target: Path, **options: Any) -> Built:
    return build_fleet(find_sources([str(where)]), str(target), mapper_here, **options)


def read(target: Path, table: str) -> dict[str, list[Any]]:
    """Return the columns of a table as any reader of Parquet has them: by its folder."""
    parquet = pytest.importorskip("pyarrow.parquet")
    found: dict[str, list[Any]] = parquet.read_table(target / table).to_pydict()
    return found


def test_times_are_those_of_the_recordings(ranks: Path, tmp_path: Path) -> None:
    built = build(ranks, tmp_path / "fleet")
    assert (built.build, built.added_count, built.failures) == (1, 4, ())
    times, nodes = read(tmp_path / "fleet", "node_times"), read(tmp_path / "fleet", "nodes")
    about = read(tmp_path / "fleet", "ranks")
    assert sorted(about["rank"]) == [0, 1, 2, 3]
    assert nodes["is_collective"] == [False, False, True, False]
    for url, number in zip(about["url"], about["recording_id"], strict=True):
        with Recording(url) as recording:
            wanted = [row.median_ns for row in recording.fetch_statistics(1)]
        mine = np.array(times["recording_id"]) == number
        assert np.array(times["median_ns"])[mine].tolist() == wanted
        layer = read(tmp_path / "fleet", "layer_times")
        own_ns = wanted[0] + wanted[1] + wanted[3]  # without the collective
        assert layer["total_ns"][layer["recording_id"].index(number)] == own_ns


@pytest.mark.parametrize(("wished", "mode"), [(None, 0o600), ("0640", 0o640)])
def test_files_are_for_their_owner_alone_unless_wished(
    ranks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wished: str | None, mode: int
) -> None:
    if wished is not None:
        monkeypatch.setenv("GVIZ_MODE", wished)
    build(ranks / "rank0.gviz", tmp_path / "fleet")
    files = [
        path for path in (tmp_path / "fleet").rglob("*") if path.suffix in (".parquet", ".json")
    ]
    assert len(files) > 8
    assert {path.stat().st_mode & 0o777 for path in files} == {mode}
    folders = {path.parent for path in files}
    assert {path.stat().st_mode & 0o777 for path in folders} == {mode | (mode & 0o444) >> 2}


def test_collectives_are_where_the_recording_has_them(ranks: Path, tmp_path: Path) -> None:
    build(ranks / "rank0.gviz", tmp_path / "fleet")
    found = read(tmp_path / "fleet", "collectives")
    with sqlite3.connect(ranks / "rank0.gviz") as database:
        wanted = database.execute(
            "SELECT ordinal, gpu_start_ns + start_ns, duration_ns FROM span JOIN launch "
            "USING (launch_id) JOIN node ON node.graph_id = span.graph_id AND "
            "node.node_id = span.node_id WHERE side = 'graph' AND name LIKE 'nccl%' "
            "ORDER BY ordinal"
        ).fetchall()
    database.close()
    rows = zip(found["ordinal"], found["start_ns"], found["duration_ns"], strict=True)
    assert sorted(rows) == wanted
    assert len(wanted) == 4


def test_structures_are_written_once_with_bodies_in_their_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    loops = [step_with_loop((2, 3)), step_with_loop((2, 3)), step_with_loop((2, 3), last=True)]
    write_nested_ranks(tmp_path / "a", loops, launches=4)
    built = build(tmp_path / "a", tmp_path / "fleet")
    graphs = read(tmp_path / "fleet", "graphs")
    assert len(built.manifest.structures) == len(graphs["graph_key"]) == 2
    one, other = sorted(graphs["node_count"])
    assert other == one + 1  # the kernel at the end of its loop
    keys = read(tmp_path / "fleet", "run_graphs")["graph_key"]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("said", ["{", "../../" + "5" * 58])
def test_files_are_named_by_no_text_of_a_recording(own: Path, tmp_path: Path, said: str) -> None:
    for path in own.glob("*.gviz"):
        with sqlite3.connect(path) as database:
            database.execute("UPDATE topology SET hash = ?", (said,))
    built = build(own, tmp_path / "fleet")
    assert len(set(read(tmp_path / "fleet", "ranks")["rank"])) == 4, built
    assert {path.name for path in tmp_path.iterdir()} == {"fleet", own.name}


def test_new_files_only_are_read(own: Path, tmp_path: Path) -> None:
    target = tmp_path / "fleet"
    last = own / "rank3.gviz"
    last.rename(tmp_path / "rank3.gviz")
    build(own, target)
    parts = [path for path in target.rglob("*.parquet") if path.parent.name != "communicators"]
    before = {path: path.stat().st_mtime_ns for path in parts}
    (tmp_path / "rank3.gviz").rename(last)
    built = build(own, target)
    assert (built.build, built.added_count, built.known_count) == (2, 1, 3)
    about = read(target, "ranks")
    assert dict(zip(about["rank"], about["build"], strict=True)) == {0: 1, 1: 1, 2: 1, 3: 2}
    assert {path: path.stat().st_mtime_ns for path in before} == before
    unchanged = build(own, target)
    assert (unchanged.build, unchanged.added_count, unchanged.known_count) == (0, 0, 4)


def test_a_recording_of_a_store_is_named_as_it_was_given(own: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    for rank in range(2):
        store.put(str(own / f"rank{rank}.gviz"), f"/job/rank{rank}.gviz")
    with sqlite3.connect(own / "rank2.gviz") as database:
        database.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    database.close()
    store.put(str(own / "rank2.gviz"), "/job/rank2.gviz")
    try:
        built = build_fleet(find_sources(["memory://job"]), "memory://fleet", mapper_here)
        (failure,) = built.failures
        assert failure.reason.startswith("memory:///job/rank2.gviz has schema")
        assert built.added_count == 2
    finally:
        store.rm("/job", recursive=True)
        store.rm("/fleet", recursive=True)


def test_many_small_files_become_one_without_a_lost_row(own: Path, tmp_path: Path) -> None:
    target = tmp_path / "fleet"
    for number in range(20):
        path = own / f"x{number}" / "rank0.gviz"
        path.parent.mkdir()
        shutil.copy(own / "rank0.gviz", path)
        with sqlite3.connect(path) as database:
            change = "UPDATE run SET rank = ?, process_id = ?, name = ?"
            database.execute(change, (number, number, str(number)))
        database.close()
        build(path, target)
        files = [path.name for path in (target / "ranks").iterdir()]
        manifest = json.loads((target / MANIFEST).read_text())
        assert sorted(manifest["files"]["ranks"]) == sorted(f"ranks/{name}" for name in files)
        assert len(files) < 16
        assert sorted(read(target, "ranks")["rank"]) == list(range(number + 1))
    assert any(name.startswith("joined-") for name in files)
    times = read(target, "node_times")
    assert sorted(set(times["recording_id"])) == list(range(1, 21))
    assert len(times["node"]) == 20 * 4


def test_one_that_cannot_be_read_is_listed_and_the_rest_is_built(own: Path, tmp_path: Path) -> None:
    whole = (own / "rank1.gviz").read_bytes()
    (own / "rank1.gviz").write_bytes(whole[: len(whole) // 3])
    with sqlite3.connect(own / "rank2.gviz") as database:
        database.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    database.close()
    shutil.copy(own / "rank0.gviz", own / "copy.gviz")
    shutil.copy(ROOT / "assets" / "recordings" / "token_step_1.gviz", own / "other.gviz")
    (own / "empty.gviz").write_bytes(b"")
    built = build(own, tmp_path / "fleet")
    assert built.added_count == 2
    reasons = {Path(x.source.url).name: x.reason for x in built.failures}
    assert set(reasons) == {"rank0.gviz", "rank1.gviz", "rank2.gviz", "other.gviz", "empty.gviz"}
    assert "holds the same run" in reasons["rank0.gviz"]  # copy.gviz comes first
    assert "is damaged" in reasons["rank1.gviz"]
    assert f"has schema {SCHEMA_VERSION + 1}" in reasons["rank2.gviz"]
    assert "another job" in reasons["other.gviz"]
    assert read(tmp_path / "fleet", "ranks")["rank"] == [0, 3]
    # Mended, it is added; what is still wrong is listed again.
    (own / "rank1.gviz").write_bytes(whole)
    again = build(own, tmp_path / "fleet")
    assert (again.added_count, len(again.failures)) == (1, 4)
    assert len(open_manifest(str(tmp_path / "fleet"))[1].failures) == 4


def test_one_that_was_written_again_stays_as_it_was_added(own: Path, tmp_path: Path) -> None:
    build(own, tmp_path / "fleet")
    with sqlite3.connect(own / "rank1.gviz") as database:
        database.execute("CREATE TABLE more (x)")
    database.close()
    built = build(own, tmp_path / "fleet")
    (failure,) = built.failures
    assert "--anew" in failure.reason
    anew = build(own, tmp_path / "fleet", anew=True)
    assert (anew.added_count, anew.failures) == (4, ())
    assert len(read(tmp_path / "fleet", "ranks")["rank"]) == 4


class Killed(Exception):
    """Stands for the end of the process."""


@contextmanager
def killed_after_two() -> Iterator[Mapper]:
    def mapped(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        for count, item in enumerate(items):
            if function.__name__ == "map_batch" and count == 2:
                raise Killed
            yield item, function(item)

    yield mapped


@pytest.mark.parametrize("anew", [False, True])
def test_a_killed_build_goes_on_where_it_was(ranks: Path, tmp_path: Path, anew: bool) -> None:
    target = tmp_path / "fleet"
    if anew:
        build(ranks, target)
    sources = find_sources([str(ranks)])
    with pytest.raises(Killed):
        build_fleet(sources, str(target), killed_after_two, anew=anew)
    # A file that the manifest did not come to name, and one that was not whole.
    (target / "ranks" / "0009-0000009.parquet").write_bytes(b"torn")
    (target / "ranks" / "0001-0000003.parquet.part").write_bytes(b"torn")
    _, manifest = open_manifest(str(target))
    assert len(manifest.recordings) == (4 if anew else 2)
    assert all((target / name).exists() for names in manifest.files.values() for name in names)
    built = build(ranks, target)
    assert (built.added_count, built.known_count) == ((0, 4) if anew else (2, 2))
    assert sorted(read(target, "ranks")["rank"]) == [0, 1, 2, 3]
    named = {str(target / name) for names in built.manifest.files.values() for name in names}
    assert {str(path) for path in target.rglob("*.parquet*")} == named


def test_a_reader_has_whole_parts_at_any_time(ranks: Path, tmp_path: Path) -> None:
    target, seen = tmp_path / "fleet", []

    @contextmanager
    def looked_at() -> Iterator[Mapper]:
        def mapped(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
            for item in items:
                yield item, function(item)
                if (target / MANIFEST).exists():
                    _, manifest = open_manifest(str(target))
                    tables = {name: len(paths) for name, paths in manifest.files.items()}
                    assert tables["ranks"] == tables["node_times"] == len(manifest.recordings)
                    seen.append(tables["ranks"])

        yield mapped

    build_fleet(find_sources([str(ranks)]), str(target), looked_at)
    assert seen == [1, 2, 3, 4]


@pytest.mark.parametrize("where", ["read_heads", "map_batch"])
def test_a_process_that_dies_for_one_recording_costs_no_other(
    ranks: Path, tmp_path: Path, where: str
) -> None:
    @contextmanager
    def dying() -> Iterator[Mapper]:
        def mapped(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
            for item in items:
                dies = function.__name__ == where and "rank2" in repr(item)
                yield item, None if dies else function(item)

        yield mapped

    built = build_fleet(find_sources([str(ranks)]), str(tmp_path / "fleet"), dying)
    assert built.added_count == 3
    (failure,) = built.failures
    assert failure.source.url.endswith("rank2.gviz")
    assert "process that read it died" in failure.reason


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["no.gviz"], "no.gviz; check the name"),
        (["here.gviz"], "did you mean"),
        ([""], "a name is empty"),
        (["x" * 300], "x"),
        (["*.nothing"], "no file matches"),
        (["empty"], "there is no recording in"),
        (["nowhere://x/y.gviz"], "cannot read nowhere://x/y.gviz"),
    ],
)
def test_sources_that_are_not_there_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], says: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "there.gviz").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GvizError, match=says.replace("*", r"\*")):
        find_sources(names)


def test_targets_that_cannot_be_are_named(ranks: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(GvizError, match="is a file; name a folder"):
        build(ranks, file)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("x")
    with pytest.raises(GvizError, match=r"holds something else \(thesis.tex\)"):
        build(ranks, tmp_path / "other")
    build(ranks, tmp_path / "fleet")
    manifest = tmp_path / "fleet" / MANIFEST
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"fleet_version": 99}))
    with pytest.raises(GvizError, match="newer gviz"):
        build(ranks, tmp_path / "fleet")
    manifest.write_text("{")
    with pytest.raises(GvizError, match="damaged"):
        build(ranks, tmp_path / "fleet")


def test_nothing_that_can_be_used_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.gviz").write_bytes(b"no recording")
    (tmp_path / "b.gviz").write_bytes(b"")
    with pytest.raises(GvizError, match="none of 2 recordings can be used; of the first"):
        build(tmp_path, tmp_path / "fleet")


def test_two_builds_do_not_write_at_once(ranks: Path, tmp_path: Path) -> None:
    target = tmp_path / "fleet"

    @contextmanager
    def building() -> Iterator[Mapper]:
        with pytest.raises(GvizError, match="is being built by another process"):
            build(ranks, target)
        with mapper_here() as mapper:
            yield mapper

    assert build_fleet(find_sources([str(ranks)]), str(target), building).added_count == 4


def test_recordings_and_data_sets_in_stores(ranks: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for path in sorted(ranks.glob("*.gviz")):
        memory.pipe_file(f"/job/{path.name}", path.read_bytes())
    try:
        sources = find_sources(["memory://job/rank*.gviz"])
        built = build_fleet(sources, "memory://fleets/job", mapper_here)
        assert (built.added_count, built.failures) == (4, ())
        again = build_fleet(sources, "memory://fleets/job", mapper_here)
        assert (again.added_count, again.known_count) == (0, 4)
    finally:
        memory.store.clear()


@pytest.mark.parametrize(
    ("edit", "column"),
    [
        ("UPDATE edge SET type = 1 << 53", "edges.type"),
        ("UPDATE run SET rank = 1 << 40", "ranks.rank"),
    ],
)
def test_recording_with_a_number_beyond_its_column_is_left_out(
    ranks: Path, tmp_path: Path, edit: str, column: str
) -> None:
    with sqlite3.connect(ranks / "rank0.gviz") as database:
        database.execute(edit)
    built = build(ranks, tmp_path / "fleet")
    (failure,) = built.failures
    assert (Path(failure.source.url).name, built.added_count) == ("rank0.gviz", 3)
    assert f"{column} has a number that cannot be" in failure.reason
    with pytest.raises(GvizError, match=rf"rank0\.gviz: {column} has a number"):
        build(ranks / "rank0.gviz", tmp_path / "alone")
