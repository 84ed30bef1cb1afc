"""Files given in the browser: who may give them, how large, how called, and bad ones."""

from __future__ import annotations

import gzip
import json
import os
import resource
import shutil
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from admitted import admit
from flask.testing import FlaskClient
from places import TESTS
from werkzeug.test import TestResponse

from gviz.app.files.library import Library
from gviz.app.server import uploads
from gviz.app.server.access.security import AccessRules
from gviz.app.server.application import build_app
from gviz.app.server.uploads import PIECE_BYTES, shown_name
from gviz.errors import RecordingError
from gviz.recording.reader import Recording

LOCAL = {"Host": "localhost:8765", "Origin": "http://localhost:8765"}
MOST = 1_000_000
KERNEL = {"ph": "X", "cat": "kernel", "name": "scale", "ts": 1, "dur": 2, "args": {"stream": 7}}
DOT = """digraph dot {
subgraph cluster_1 {
label="graph_1" graph[style="dashed"];
"graph_1_node_0"[style="bold" shape="octagon" label="0
axpy
"];
"graph_1_node_1"[style="bold" shape="octagon" label="1
norm
"];
"graph_1_node_0" -> "graph_1_node_1";
}
}
"""
CYCLE = DOT.replace(
    '"graph_1_node_0" ->', '"graph_1_node_1" -> "graph_1_node_0";\n"graph_1_node_0" ->'
)


@pytest.fixture
def library(small_recording: Path) -> Any:
    library = Library([small_recording])
    yield library
    library.close()


@pytest.fixture
def access() -> AccessRules:
    return AccessRules()


@pytest.fixture
def stranger(library: Library, access: AccessRules) -> FlaskClient:
    return build_app(library, access, MOST).server.test_client()


@pytest.fixture
def client(stranger: FlaskClient, access: AccessRules) -> FlaskClient:
    return admit(stranger, access)


def post(client: FlaskClient, body: bytes, headers: dict[str, str] = LOCAL, **query: Any) -> Any:
    return client.post("/payload/upload", query_string=query, data=body, headers=headers)


def upload(client: FlaskClient, name: str, content: bytes, piece: int = 100_000) -> TestResponse:
    """Send a file as the page does."""
    answer = post(client, content[:piece], name=name, size=len(content))
    for offset in range(piece, len(content), piece):
        if answer.status_code != 200:
            break
        identity = answer.get_json()["id"]
        answer = post(client, content[offset : offset + piece], id=identity, offset=offset)
    return answer


def stored(library: Library) -> list[Path]:
    """Return the files in the library's temporary folder."""
    folder = library.scratch._made
    return sorted(folder.iterdir()) if folder else []


# -- good files --------------------------------------------------------------------------


def test_uploaded_recording_is_open_without_a_restart(
    client: FlaskClient, library: Library, small_recording: Path
) -> None:
    answer = upload(client, "again.gviz", small_recording.read_bytes())
    found = answer.get_json()
    assert (found["name"], found["address"]) == ("again.gviz", "/run?file=again&run=1")
    assert [f.key for f in library.files()] == ["small", "again"]
    assert library.file("again").recording.fetch_runs()[0].name == "fork-join 3x4"
    assert client.get("/payload/dag/again/1", headers=LOCAL).status_code == 200


def test_uploaded_dot_dump_is_imported(client: FlaskClient, library: Library) -> None:
    found = upload(client, "dump of mine.dot", DOT.encode()).get_json()
    assert found["address"] == "/run?file=dump+of+mine&run=1"
    recording = library.file("dump of mine").recording
    assert recording.fetch_runs()[0].name == "dump of mine"
    assert [n.name for n in recording.fetch_nodes(1)] == ["axpy", "norm"]
    assert [p.suffix for p in stored(library)] == [".gviz"]


@pytest.mark.parametrize("name", ["my trace.json.gz", "My Trace.JSON"])
def test_uploaded_trace_is_imported(name: str, client: FlaskClient, library: Library) -> None:
    content = json.dumps({"traceEvents": [KERNEL]}).encode()
    content = gzip.compress(content) if name.endswith("gz") else content
    answer = upload(client, name, content)
    assert answer.status_code == 200, answer.text
    (opened,) = (f for f in library.files() if f.key != "small")
    assert opened.recording.fetch_run_stream_operations(1)[0].name == "scale"
    assert [p.suffix for p in stored(library)] == [".gviz"]


def test_uploaded_export_of_nsight_systems_is_imported(
    client: FlaskClient, library: Library, tmp_path: Path
) -> None:
    with sqlite3.connect(tmp_path / "x.sqlite") as db:
        db.executescript(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, name TEXT);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 9, 'scale');"
        )
    answer = upload(client, "x.sqlite", (tmp_path / "x.sqlite").read_bytes())
    assert answer.status_code == 200, answer.text
    assert library.file("x").recording.fetch_run_stream_operations(1)[0].name == "scale"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("mine.json", b'{"traceEvents": [{"ph"', "mine.json ends after"),
        ("mine.json", b"PK\x03\x04" + bytes(50), "mine.json is a zip archive"),
        ("mine.json.gz", b"\x1f\x8bno", "mine.json.gz cannot be unpacked"),
        ("mine.json", b'{"traceEvents": [{"ph": "X", "cat": "cpu_op"}]}', "events of the CPU"),
        ("mine.sqlite", b"SQLite format 3\0" + bytes(200), "mine.sqlite cannot be read as SQLite"),
        ("mine.sqlite", b"", "mine.sqlite is empty"),
    ],
)
def test_bad_traces_are_a_sentence_with_their_own_name(
    name: str, content: bytes, words: str, client: FlaskClient, library: Library
) -> None:
    answer = upload(client, name, content)
    assert answer.status_code == 422
    assert words in answer.text
    assert str(library.scratch._made) not in answer.text
    assert not stored(library)


def test_a_gzip_bomb_is_refused(
    client: FlaskClient, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_UNPACKED_BYTES", 1 << 20)
    bomb = gzip.compress(b'{"traceEvents": [' + b'{"ph": "i"},' * 500_000)
    assert len(bomb) < 50_000
    answer = upload(client, "bomb.json.gz", bomb)
    assert answer.status_code == 422
    assert "bomb.json.gz unpacks to more than 1 MiB" in answer.text
    assert stored(library) == []


def test_uploaded_recording_of_an_older_gviz_is_upgraded(
    client: FlaskClient, library: Library
) -> None:
    old = sorted((TESTS / "golden" / "recordings").glob("*.gviz"))[0]
    with pytest.raises(RecordingError, match="gviz upgrade"):
        Recording(old)
    answer = upload(client, "old.gviz", old.read_bytes())
    assert answer.status_code == 200, answer.text
    assert library.file("old").recording.fetch_runs()


def test_two_files_of_one_name_are_both_open(
    client: FlaskClient, library: Library, small_recording: Path
) -> None:
    for _ in range(2):
        upload(client, "small.gviz", small_recording.read_bytes())
    assert [f.key for f in library.files()] == ["small", "small-2", "small-3"]
    assert [f.name for f in library.files()] == ["small.gviz"] * 3


def test_two_uploads_at_once_do_not_mix(
    client: FlaskClient, library: Library, small_recording: Path
) -> None:
    content, half = small_recording.read_bytes(), small_recording.stat().st_size // 2
    first = post(client, content[:half], name="a.gviz", size=len(content)).get_json()["id"]
    second = post(client, DOT.encode()[:20], name="b.dot", size=len(DOT)).get_json()["id"]
    assert post(client, content[half:], id=first, offset=half).status_code == 200
    assert post(client, DOT.encode()[20:], id=second, offset=20).status_code == 200
    assert [f.key for f in library.files()] == ["small", "a", "b"]


# -- who may -----------------------------------------------------------------------------


def test_upload_needs_a_session(
    stranger: FlaskClient, library: Library, access: AccessRules
) -> None:
    answer = post(stranger, b"x", name="a.gviz", size=1)
    assert answer.status_code == 403
    assert "not admitted" in answer.text
    answer = post(stranger, b"x", name="a.gviz", size=1, code=access.admission.new_code())
    assert answer.status_code == 403
    assert not stored(library)


@pytest.mark.parametrize(
    "origin",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_upload_from_another_origin_is_refused(
    client: FlaskClient, library: Library, origin: dict[str, str]
) -> None:
    headers = {"Host": LOCAL["Host"]} | origin
    answer = post(client, DOT.encode(), headers=headers, name="a.dot", size=len(DOT))
    assert answer.status_code == 403
    assert "another site" in answer.text
    assert not stored(library)


def test_upload_for_another_host_is_refused(client: FlaskClient) -> None:
    headers = {"Host": "evil.example", "Origin": "http://evil.example"}
    assert post(client, b"x", headers=headers, name="a.dot", size=1).status_code == 403


def test_other_methods_do_not_upload(client: FlaskClient, library: Library) -> None:
    for method in ("GET", "PUT", "DELETE"):
        answer = client.open("/payload/upload?name=a.dot&size=1", method=method, headers=LOCAL)
        assert answer.status_code in (404, 405)
        assert answer.text.count("\n") == 1
    assert not stored(library)


# -- how large ---------------------------------------------------------------------------


def test_file_that_is_too_large_is_refused_before_it_is_sent(
    client: FlaskClient, library: Library
) -> None:
    answer = post(client, b"x", name="big.gviz", size=MOST + 1)
    assert answer.status_code == 413
    assert answer.text == (
        "big.gviz has 977 KiB, more than the 977 KiB that are taken here; "
        "open it on the machine where gviz runs: gviz view big.gviz\n"
    )
    assert not stored(library)


def test_file_that_is_longer_than_it_reported_is_refused_and_removed(
    client: FlaskClient, library: Library
) -> None:
    identity = post(client, b"12345", name="a.gviz", size=10).get_json()["id"]
    answer = post(client, b"123456", id=identity, offset=5)
    assert answer.status_code == 413
    assert "longer than was announced" in answer.text
    assert not stored(library)
    assert post(client, b"1", id=identity, offset=5).status_code == 404


def test_piece_that_is_too_large_is_refused(client: FlaskClient, library: Library) -> None:
    answer = post(client, bytes(PIECE_BYTES + 1), name="a.gviz", size=MOST)
    assert answer.status_code == 413
    assert not stored(library)


@pytest.mark.parametrize("size", ["", "-1", "1e3", "x", "9" * 30, "١"])
def test_size_that_is_none_is_refused(client: FlaskClient, size: str) -> None:
    answer = post(client, b"x", name="a.gviz", size=size)
    assert answer.status_code == 400
    assert "size in bytes" in answer.text


def test_piece_out_of_order_is_refused(client: FlaskClient) -> None:
    identity = post(client, b"12345", name="a.gviz", size=20).get_json()["id"]
    for offset in (0, 4, 6):
        answer = post(client, b"1", id=identity, offset=offset)
        assert answer.status_code == 409
        assert "give the file again" in answer.text


def test_uploads_that_were_given_up_make_room(client: FlaskClient, library: Library) -> None:
    for number in range(40):
        assert post(client, b"1", name=f"{number}.gviz", size=20).status_code == 200
    assert len(stored(library)) == 16


# -- how called --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "../../../../tmp/gviz-escape.gviz",
        "/etc/gviz-escape.gviz",
        "..\\..\\gviz-escape.gviz",
        "C:\\gviz-escape.gviz",
        "gviz-escape.gviz\0.gviz",
        "gviz-escape\n.gviz",
        "x" * 5000 + ".gviz",
        "%2e%2e%2fgviz-escape.gviz",
        "..gviz",
        ".gviz",
        "a;rm -rf ~;.gviz",
    ],
)
def test_name_is_never_a_path(
    client: FlaskClient, library: Library, small_recording: Path, tmp_path: Path, name: str
) -> None:
    before = set(os.listdir("/tmp")) | set(os.listdir("/etc"))
    answer = upload(client, name, small_recording.read_bytes())
    assert answer.status_code == 200, answer.text
    opened = library.files()[-1]
    assert opened.path.parent == library.scratch._made
    assert opened.path.stem.isdigit()
    assert "/" not in opened.key
    assert "\\" not in opened.key
    assert len(opened.name) < 200
    assert opened.name.isprintable()
    after = set(os.listdir("/tmp")) | set(os.listdir("/etc"))
    assert not [n for n in after - before if "escape" in n]


def test_name_that_is_shown_is_the_last_part() -> None:
    assert shown_name("/a/b.gviz") == "b.gviz"
    assert shown_name("a\\b.gviz") == "b.gviz"
    assert shown_name("") == "file"
    assert shown_name("a\tb\n.gviz") == "a?b?.gviz"


@pytest.mark.parametrize("name", ["notes.txt", "gviz", "a.gviz.zip", "", "a.dot.exe", "a.gz"])
def test_other_kinds_of_files_are_refused(client: FlaskClient, library: Library, name: str) -> None:
    answer = post(client, b"x", name=name, size=1)
    assert answer.status_code == 415
    assert "is not a recording (.gviz), a trace" in answer.text
    assert not stored(library)


# -- bad files ---------------------------------------------------------------------------


def cut(small: Path) -> bytes:
    return small.read_bytes()[:90]


def other_database(small: Path) -> bytes:
    data = bytearray(small.read_bytes())
    data[68:72] = b"\0\0\0\1"  # application_id
    return bytes(data)


def newer(small: Path) -> bytes:
    data = bytearray(small.read_bytes())
    data[60:64] = b"\0\0\xff\xff"  # user_version
    return bytes(data)


def damaged(small: Path) -> bytes:
    data = small.read_bytes()
    return data[:4096] + bytes(len(data) - 4096)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda small: b"", "is empty, not a gviz recording"),
        (lambda small: b"not a recording", "is not a gviz recording"),
        (cut, "is cut short"),
        (other_database, "of another program"),
        (newer, "install a newer one"),
        (damaged, "is damaged"),
    ],
    ids=["empty", "text", "cut", "other database", "newer", "damaged"],
)
def test_bad_recording_is_a_sentence_with_its_own_name(
    client: FlaskClient, library: Library, small_recording: Path, make: Any, words: str
) -> None:
    answer = upload(client, "mine.gviz", make(small_recording))
    assert answer.status_code == 422
    assert answer.text.startswith("mine.gviz ")
    assert words in answer.text
    assert str(library.scratch._made) not in answer.text
    assert not stored(library)
    assert [f.key for f in library.files()] == ["small"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "mine.dot"),
        ("graph { a -- b }", "mine.dot"),
        ('digraph dot { "a', "mine.dot"),
        (CYCLE, "cycle"),
        ("\xff\xfe", "mine.dot"),
    ],
    ids=["empty", "undirected", "cut", "cycle", "no text"],
)
def test_bad_dump_is_a_sentence_with_its_own_name(
    client: FlaskClient, library: Library, text: str, words: str
) -> None:
    answer = upload(client, "mine.dot", text.encode("latin-1"))
    assert answer.status_code == 422
    assert words in answer.text
    assert str(library.scratch._made) not in answer.text
    assert not stored(library)


def test_full_disk_is_a_sentence(client: FlaskClient, library: Library) -> None:
    identity = post(client, b"12345", name="a.gviz", size=20_000).get_json()["id"]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # A limit on the size of files stands for a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, before[1]))
    try:
        answer = post(client, bytes(10_000), id=identity, offset=5)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert answer.status_code == 507
    assert answer.text.startswith("a.gviz cannot be stored in ")
    assert not stored(library)


# -- where they lie ----------------------------------------------------------------------


def test_folder_is_for_this_user_only_and_removed_at_the_end(
    client: FlaskClient, library: Library, small_recording: Path
) -> None:
    upload(client, "a.gviz", small_recording.read_bytes())
    folder = library.scratch._made
    assert folder is not None
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert library.file("a").recording.fetch_runs()
    library.close()
    assert not folder.exists()


def test_folder_is_not_made_before_it_is_needed(small_recording: Path) -> None:
    library = Library([small_recording])
    assert library.scratch._made is None
    library.close()
    with pytest.raises(RuntimeError):
        library.scratch.new_path(".gviz")


def test_uploaded_file_says_so_when_it_is_gone(
    client: FlaskClient, library: Library, small_recording: Path
) -> None:
    upload(client, "a.gviz", small_recording.read_bytes())
    assert library.scratch._made is not None
    shutil.rmtree(library.scratch._made)
    answer = client.get("/payload/dag/a/1", headers=LOCAL)
    assert answer.status_code == 410
    assert answer.text.startswith("a.gviz is not at")
    assert json.loads(client.get("/payload/state", headers=LOCAL).text)["files"]["a"]["gone"]
