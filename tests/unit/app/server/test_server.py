"""Ports, prefixes, what is printed, and a whole life of ``gviz view`` and ``gviz demo``."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from recordings import fork_join_shape, write_recording
from waiting import eventually

from gviz.app.server.access.listening import DEFAULT_PORT, bind
from gviz.app.server.server import (
    Options,
    RunningServer,
    build_access,
    clean_prefix,
    has_display,
    restore_prefix,
    serve,
)
from gviz.errors import UsageError
from gviz.system import Progress


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_given_port_that_is_taken_is_refused(taken: int) -> None:
    with pytest.raises(UsageError, match=f"port {taken} .* is taken; give another --port"):
        bind("127.0.0.1", taken)


def test_default_port_that_is_taken_leads_to_the_next() -> None:
    first = bind("127.0.0.1", None)
    second = bind("127.0.0.1", None)
    with first, second:
        ports = [s.getsockname()[1] for s in (first, second)]
    assert ports[0] != ports[1]
    assert DEFAULT_PORT <= ports[0] < ports[1]


def test_threads_take_short_iterations_while_a_server_works(
    taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And as before when it has ended: who serves may be a program that goes on."""
    before, seen = sys.getswitchinterval(), []

    def spy(host: str, port: int | None) -> socket.socket:
        seen.append(sys.getswitchinterval())
        return bind(host, port)

    monkeypatch.setattr("gviz.app.server.server.bind", spy)
    path = write_recording(tmp_path / "a.gviz", fork_join_shape())
    with pytest.raises(UsageError, match="is taken"):
        serve([path], Options(port=taken))
    assert [iteration < before for iteration in seen] == [True]
    assert sys.getswitchinterval() == before


@pytest.mark.parametrize("port", [-1, 65536])
def test_impossible_port_is_refused(port: int) -> None:
    with pytest.raises(UsageError, match="cannot listen"):
        bind("127.0.0.1", port)


def test_unknown_host_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot listen on no"):
        bind("no.such.host.invalid", 0)


@pytest.mark.parametrize(
    ("given", "clean"),
    [("/", "/"), ("", "/"), ("proxy/8765", "/proxy/8765/"), ("/user/x/p/1/", "/user/x/p/1/")],
)
def test_prefix_begins_and_ends_with_a_slash(given: str, clean: str) -> None:
    assert clean_prefix(given) == clean


@pytest.mark.parametrize("given", ["/a?b", "/../x", "/a b", '/"x'])
def test_prefix_that_is_no_path_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="no plain path"):
        clean_prefix(given)


@pytest.mark.parametrize("path", ["/p/graph", "/graph"])
def test_prefix_cut_off_by_a_proxy_is_put_back(path: str) -> None:
    seen: list[str] = []

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        seen.append(environ["PATH_INFO"])
        return []

    restore_prefix(application, "/p/")({"PATH_INFO": path}, None)
    assert seen == ["/p/graph"]


def test_listening_beyond_loopback_answers_for_this_machine_and_warns(
    small_recording: Path,
) -> None:
    options = Options(host="0.0.0.0", port=0)
    server = RunningServer([small_recording], options)
    try:
        assert any("warning" in line for line in server.announcement({}))
    finally:
        server.close()
    access = build_access(options, "/")
    assert access.accepts_host(f"{socket.gethostname()}:1")
    assert access.accepts_host("192.0.2.1:1")


def test_tunnel_line_appears_only_without_a_display(small_recording: Path) -> None:
    reported: list[tuple[float, str]] = []
    progress = Progress(lambda share, text: reported.append((share, text)))
    server = RunningServer([small_recording], Options(port=0), progress)
    assert reported[0] == (0.0, "opening small.gviz")
    assert [share for share, _ in reported] == sorted({share for share, _ in reported})
    try:
        remote = server.announcement({})
        local = server.announcement({"DISPLAY": ":0"})
    finally:
        server.close()
    tunnel = f"ssh -L {server.port}:localhost:{server.port}"
    assert any(tunnel in line for line in remote)
    assert not any("ssh" in line for line in local)
    assert has_display({"WAYLAND_DISPLAY": "wayland-0"})


def test_server_closed_by_another_thread_ends_in_order(small_recording: Path) -> None:
    for _ in range(20):
        server = RunningServer([small_recording], Options(port=0))
        ended: list[BaseException | None] = []
        thread = threading.Thread(target=run_and_tell, args=(server, ended), daemon=True)
        thread.start()
        connection = http.client.HTTPConnection("localhost", server.port, timeout=120)
        connection.request("GET", "/")
        assert connection.getresponse().read()
        server.close()
        thread.join(timeout=120)
        connection.close()
        assert ended == [None]
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("localhost", server.port), timeout=5)


def run_and_tell(server: RunningServer, ended: list[BaseException | None]) -> None:
    try:
        server.run()
    except BaseException as error:
        ended.append(error)
        raise
    ended.append(None)


def test_server_closed_before_it_runs_returns_at_once(small_recording: Path) -> None:
    server = RunningServer([small_recording], Options(port=0))
    server.close()
    server.run()


def start(*arguments: str | Path) -> tuple[subprocess.Popen[str], str]:
    """Start gviz as a user does and return the process and the address it prints."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "gviz", *map(str, arguments)],
        text=True,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={k: v for k, v in os.environ.items() if "DISPLAY" not in k},
    )
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"open (http://\S+)", line):
            return process, found[1]
    raise AssertionError(f"no address was printed; exit code {process.wait()}")


@pytest.mark.installed
def test_demo_serves_every_bundled_recording() -> None:
    process, url = start("demo", "--port", "0", "--no-browser")
    try:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(url) as answer:
            assert answer.status == 200
        with opener.open(f"{url.split('?')[0]}payload/state") as answer:
            served = json.load(answer)["files"]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert "Traceback" not in err
    bundled = [f.name for f in (files("gviz.assets") / "recordings").iterdir()]
    names = {name.removesuffix(".gviz") for name in bundled if name.endswith(".gviz")}
    assert len(names) >= 12
    assert {key: file["gone"] for key, file in served.items()} == dict.fromkeys(names, "")


@pytest.mark.thorough
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_view_serves_until_it_is_ended_and_leaves_nothing(
    small_recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: int
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process, url = start(
        "view", small_recording, "--port", "0", "--no-browser", "--url-prefix", "/proxy/x"
    )
    try:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(url) as answer:
            page = answer.read().decode()
        assert re.search(r"/proxy/x/[\w-]{22}/gviz\.css", page)
        assert send(opener, url, "mine.gviz", small_recording.read_bytes())
        (folder,) = tmp_path.glob("gviz-*")
        assert [p.name for p in folder.iterdir()] == ["1.gviz"]
        process.send_signal(ending)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert out == ""
    assert "Traceback" not in err
    assert not folder.exists()


@pytest.mark.thorough
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_view_that_is_ended_while_it_starts_leaves_no_socket(
    small_recording: Path, tmp_path: Path, ending: int
) -> None:
    path = tmp_path / "gviz.sock"
    command = [sys.executable, "-P", "-m", "gviz", "view", small_recording, "--socket", path]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        eventually(path.exists, "the socket")  # seconds before pages can be opened
        process.send_signal(ending)
        _, err = process.communicate(timeout=120)
    assert "Traceback" not in err
    assert not path.exists()


def send(opener: urllib.request.OpenerDirector, url: str, name: str, content: bytes) -> str:
    """Upload a file in one piece; return the address of its run."""
    query = urllib.parse.urlencode({"name": name, "size": len(content)})
    request = urllib.request.Request(
        f"{url.split('?')[0]}payload/upload?{query}", data=content, method="POST"
    )
    with opener.open(request) as answer:
        found: str = json.load(answer)["address"]
    return found


def test_view_of_a_bad_file_is_one_sentence_and_exit_1(gviz: Any, tmp_path: Path) -> None:
    bad = tmp_path / "bad.gviz"
    bad.write_text("not a recording")
    ended = gviz("view", bad, "--no-browser")
    assert ended.returncode == 1
    assert ended.stderr == (
        f"gviz: {bad} is not a gviz recording; 'gviz import' makes one of another profiler's "
        "trace, or of a DOT dump\n"
    )


def test_view_with_a_bad_configuration_is_one_sentence_and_exit_2(
    gviz: Any, small_recording: Path, tmp_path: Path
) -> None:
    config = tmp_path / "mine.toml"
    config.write_text('[[ignore]]\nrule = "below-one-wav"\n')
    ended = gviz("view", small_recording, "--no-browser", "--config", config)
    assert ended.returncode == 2
    assert "did you mean 'below-one-wave'?" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_view_of_a_taken_port_is_one_sentence_and_exit_2(
    gviz: Any, small_recording: Path, taken: int
) -> None:
    ended = gviz("view", small_recording, "--no-browser", "--port", str(taken))
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
