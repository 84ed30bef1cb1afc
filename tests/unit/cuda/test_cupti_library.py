"""Finding CUPTI: places, order, versions, on made-up machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from gviz.cuda.cupti_library import CuptiCandidate, find_cupti


def _wheel(site_packages: Path, name: str, version: str, folder: str, library: str) -> Path:
    path = site_packages / "nvidia" / folder / "lib" / library
    path.parent.mkdir(parents=True)
    path.touch()
    info = site_packages / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return path


def _toolkit(root: Path, folder: str, version: str, soname: str) -> Path:
    library = root / folder / f"libcupti.so.{version}"
    library.parent.mkdir(parents=True)
    library.touch()
    (library.parent / soname).symlink_to(library.name)
    (library.parent / "libcupti.so").symlink_to(soname)
    return library.parent / soname


def _find(root: Path, *import_path: Path, **environment: str) -> list[CuptiCandidate]:
    return find_cupti(import_path=[str(p) for p in import_path], environment=environment, root=root)


def test_bare_machine_has_no_candidate(tmp_path: Path) -> None:
    assert _find(tmp_path, tmp_path / "site-packages") == []


@pytest.mark.parametrize(
    ("name", "version", "folder", "library", "major"),
    [
        ("nvidia-cuda-cupti", "13.0.85", "cu13", "libcupti.so.13", 13),
        ("nvidia-cuda-cupti-cu12", "12.8.90", "cuda_cupti", "libcupti.so.12", 12),
    ],
)
def test_wheel_is_found_with_its_version(
    tmp_path: Path, name: str, version: str, folder: str, library: str, major: int
) -> None:
    path = _wheel(tmp_path / "sp", name, version, folder, library)
    (candidate,) = _find(tmp_path, tmp_path / "other", tmp_path / "sp")
    assert candidate == CuptiCandidate(path, version, "wheel")
    assert candidate.major == major


def test_wheels_of_two_cuda_versions_keep_their_own_versions(tmp_path: Path) -> None:
    _wheel(tmp_path, "nvidia-cuda-cupti-cu12", "12.8.90", "cuda_cupti", "libcupti.so.12")
    _wheel(tmp_path, "nvidia-cuda-cupti", "13.0.85", "cu13", "libcupti.so.13")
    assert [(c.major, c.version) for c in _find(tmp_path, tmp_path)] == [
        (13, "13.0.85"),
        (12, "12.8.90"),
    ]


def test_wheel_stands_before_toolkit_and_newer_toolkit_before_older(tmp_path: Path) -> None:
    older = _toolkit(
        tmp_path, "usr/local/cuda-12.6/extras/CUPTI/lib64", "2024.3.2", "libcupti.so.12"
    )
    newer = _toolkit(
        tmp_path, "usr/local/cuda-13.0/extras/CUPTI/lib64", "2025.3.1", "libcupti.so.13"
    )
    wheel = _wheel(tmp_path / "sp", "nvidia-cuda-cupti", "13.0.85", "cu13", "libcupti.so.13")
    found = _find(tmp_path, tmp_path / "sp")
    assert [c.path for c in found] == [wheel, newer, older]
    assert [c.version for c in found] == ["13.0.85", "2025.3.1", "2024.3.2"]
    assert [c.major for c in found] == [13, 13, 12]


def test_links_to_one_file_count_once_under_the_soname(tmp_path: Path) -> None:
    path = _toolkit(tmp_path, "usr/local/cuda-13.0/lib64", "2025.3.1", "libcupti.so.13")
    (tmp_path / "usr/local/cuda").symlink_to("cuda-13.0")
    found = _find(tmp_path, LD_LIBRARY_PATH=f"/nowhere::{path.parent}")
    assert len(found) == 1
    assert found[0].path.name == "libcupti.so.13"


@pytest.mark.parametrize("variable", ["CUDA_HOME", "CUDA_PATH"])
def test_named_toolkit_stands_before_the_usual_places(tmp_path: Path, variable: str) -> None:
    usual = _toolkit(tmp_path, "usr/local/cuda-13.0/lib64", "2025.3.1", "libcupti.so.13")
    named = _toolkit(tmp_path, "opt/mine/extras/CUPTI/lib64", "2024.3.2", "libcupti.so.12")
    found = _find(tmp_path, **{variable: str(tmp_path / "opt/mine")})
    assert [c.path for c in found] == [named, usual]


def test_loaded_copy_stands_first(tmp_path: Path) -> None:
    _wheel(tmp_path / "sp", "nvidia-cuda-cupti", "13.0.85", "cu13", "libcupti.so.13")
    loaded = _toolkit(tmp_path, "opt/other", "2025.3.1", "libcupti.so.13").resolve()
    maps = tmp_path / "proc/self/maps"
    maps.parent.mkdir(parents=True)
    maps.write_text(
        "7f0000000000-7f0000001000 r-xp 00000000 08:01 1  /lib/libc.so.6\n"
        f"7f0000002000-7f0000003000 r-xp 00000000 08:01 2  {loaded}\n"
        f"7f0000003000-7f0000004000 rw-p 00001000 08:01 2  {loaded}\n"
        "7f0000004000-7f0000005000 rw-p 00000000 00:00 0  [stack]\n"
    )
    found = _find(tmp_path, tmp_path / "sp")
    assert [c.where for c in found] == ["loaded", "wheel"]
    assert found[0].path == loaded


def test_library_path_is_searched_and_other_names_are_not_taken(tmp_path: Path) -> None:
    path = _toolkit(tmp_path, "site/lib", "2025.3.1", "libcupti.so.13")
    (path.parent / "libcupti.so.13.bak").touch()
    (path.parent / "libcupti_static.a").touch()
    (found,) = _find(tmp_path, LD_LIBRARY_PATH=str(path.parent))
    assert (found.path, found.where) == (path, "LD_LIBRARY_PATH")


def test_bare_name_without_version_says_so(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libcupti.so").touch()
    (found,) = _find(tmp_path, LD_LIBRARY_PATH=str(tmp_path / "lib"))
    assert found.version is None
    assert found.major is None


def test_search_of_this_machine_returns_existing_files_once() -> None:
    found = find_cupti()
    assert all(c.path.exists() for c in found)
    assert len({c.path.resolve() for c in found}) == len(found)
