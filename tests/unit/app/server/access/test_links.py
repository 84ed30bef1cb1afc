"""Links into a running server: printed, asked for, and given to a browser."""

from __future__ import annotations

import os
import queue
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gviz.app.server.access.links import Link, LinkGiver, fetch_links, runtime_folder
from gviz.app.server.access.listening import bind_file, connect_file
from gviz.cli.command_line import main
from gviz.errors import GvizError, UsageError


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of running servers of this test's own, with a path longer than a socket's."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


@pytest.fixture
def giver() -> Iterator[LinkGiver]:
    counted = iter(range(100))
    found = LinkGiver(lambda: f"http://localhost:1/?code={next(counted)}", "a.gviz, b\n.gviz")
    yield found
    found.close()


def test_links_of_running_servers_are_fresh(giver: LinkGiver) -> None:
    assert fetch_links().links == [Link("http://localhost:1/?code=0", "a.gviz, b .gviz")]
    assert fetch_links().links == [Link("http://localhost:1/?code=1", "a.gviz, b .gviz")]
    giver.close()
    assert fetch_links().links == []
    assert list(runtime_folder().iterdir()) == []


def test_link_command_prints_them(giver: LinkGiver, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "--link"]) == 0
    assert capsys.readouterr().out == "http://localhost:1/?code=0  a.gviz, b .gviz\n"
    giver.close()
    assert main(["view", "--link"]) == 1
    assert "no gviz of yours" in capsys.readouterr().err
    assert main(["view"]) == 2
    assert "name one" in capsys.readouterr().err


def test_socket_of_links_is_for_this_user_alone(giver: LinkGiver) -> None:
    (path,) = runtime_folder().iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(runtime_folder().stat().st_mode) == 0o700


def test_server_that_was_killed_gives_no_link(runtime: Path) -> None:
    bind_file(runtime_folder() / "1-1.socket").close()
    assert fetch_links().links == []


def test_server_that_does_not_answer_is_named(
    giver: LinkGiver, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gviz.app.server.access.links._ANSWER_SECONDS", 0.1)
    with bind_file(runtime_folder() / "4321-1.socket"):
        assert main(["view", "--link"]) == 0
        found = capsys.readouterr()
        assert found.out == "http://localhost:1/?code=0  a.gviz, b .gviz\n"
        assert "the one of process 4321 is too busy to answer: try again" in found.err
        giver.close()
        assert main(["view", "--link"]) == 1
        assert "no gviz of yours has answered" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["open", "link", "file"])
def test_folder_that_others_could_use_is_refused(runtime: Path, kind: str) -> None:
    place = runtime / "gviz"
    if kind == "open":
        place.mkdir()
        place.chmod(0o755)
    elif kind == "link":
        place.symlink_to(runtime)
    else:
        place.touch()
    with pytest.raises(GvizError, match="not for you alone"):
        runtime_folder()
    giver = LinkGiver(lambda: "never", "a")
    assert "not for you alone" in giver.problem
    giver.open_browser(lambda address: pytest.fail("nobody opens a browser"))
    giver.close()


def test_browser_is_given_a_private_file_and_no_link(giver: LinkGiver) -> None:
    opened: queue.Queue[str] = queue.Queue()
    giver.open_browser(opened.put)
    address = opened.get(timeout=120)
    assert address.startswith("file:///")
    assert "code" not in address
    (page,) = runtime_folder().glob("*.html")
    assert page.as_uri() == address
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert 'content="0; url=http://localhost:1/?code=0"' in page.read_text()


def test_socket_at_a_path_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with bind_file(path) as listener:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(UsageError, match="another program listens there; give another path"):
            bind_file(path)
        connect_file(path).close()
        listener.accept()[0].close()
    bind_file(path).close()  # nobody listens on what is left


@pytest.mark.parametrize(
    "moment", [(os, "umask"), (socket.socket, "bind"), (socket.socket, "listen")]
)
def test_binding_that_is_interrupted_leaves_no_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: tuple[object, str]
) -> None:
    """Ctrl-C comes at the end of a call, as Python has it."""
    owner, name = moment
    call = getattr(owner, name)

    def interrupted(*values: object) -> object:
        returned = call(*values)
        if name != "umask" or os.path.lexists(tmp_path / "s"):
            raise KeyboardInterrupt
        return returned

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        bind_file(tmp_path / "s")
    assert not os.path.lexists(tmp_path / "s")


def test_file_in_the_place_of_a_socket_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_text("precious")
    with pytest.raises(UsageError, match="a file is there that is no socket; give another path"):
        bind_file(path)
    assert path.read_text() == "precious"


#: Has the terminal of its standard input as its own, as a shell's job has.
_IN_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-P", "-m", "gviz", *sys.argv[1:]])
"""


@pytest.mark.installed
def test_enter_in_the_terminal_prints_a_link_that_a_socket_answers(
    small_recording: Path, tmp_path: Path
) -> None:
    ours, theirs = os.openpty()
    path = tmp_path / "served"
    arguments = ["view", str(small_recording), "--socket", str(path), "--no-browser"]
    process = subprocess.Popen(
        [sys.executable, "-c", _IN_TERMINAL, *arguments],
        stdin=theirs,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(theirs)
    try:
        assert process.stderr is not None
        found = []
        for line in process.stderr:
            if match := re.search(r"open http://localhost:8765(/\S+)", line):
                found.append(match[1])
                if len(found) == 2:
                    break
            elif "Ctrl-C ends it" in line:
                os.write(ours, b"\n")
        first, second = found
        assert first.split("?")[0] == second.split("?")[0]
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        for link, status in ((second, b"302"), (second, b"403"), (first, b"302")):
            with connect_file(path, 20) as client:
                client.sendall(f"GET {link} HTTP/1.0\r\nHost: localhost:8765\r\n\r\n".encode())
                assert client.recv(100).split()[1] == status
    finally:
        process.terminate()
        process.communicate(timeout=120)
        os.close(ours)
    assert not path.exists()
