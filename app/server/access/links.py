"""Links into a running server: where they are printed, asked for, and given to a browser.

``gviz view --link`` asks every server of its user through a socket in a folder of that user's. A
browser is started with a file of that folder as its argument: everybody sees command lines.
"""

from __future__ import annotations

import contextlib
import html
import os
import select
import socket
import stat
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gviz.app.server.access.listening import bind_file, connect_file
from gviz.dataclass import dataclass
from gviz.errors import GvizError
from gviz.system import create_file, say

_SUFFIX = ".socket"
#: A server answers at once; one that was stopped does not.
_ANSWER_SECONDS = 2.0
_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Link:
    """A link into a server, and what that shows."""

    address: str
    shows: str


@dataclass(frozen=True, slots=True)
class RunningServers:
    """Links into this user's servers, and the processes of those that did not answer in time."""

    links: list[Link]
    silent: list[str]


def runtime_folder() -> Path:
    """Return the folder of this user's running servers; it is made for its owner alone.

    Raises
    ------
    GvizError
        If another user's folder has its place.
    """
    given = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(given) / "gviz" if given else Path(tempfile.gettempdir(), f"gviz.{os.getuid()}")
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700)
    try:
        found = folder.lstat()
    except OSError as error:
        raise GvizError(f"{folder} cannot be made: {error.strerror}") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise GvizError(f"{folder} is not for you alone; remove it, or set XDG_RUNTIME_DIR")
    return folder


def fetch_links() -> RunningServers:
    """Return a fresh link into each server of this user that runs on this machine."""
    servers = RunningServers([], [])
    for path in sorted(runtime_folder().glob(f"*{_SUFFIX}")):
        try:
            with connect_file(path, _ANSWER_SECONDS) as caller, caller.makefile() as answer:
                address, shows = answer.read().splitlines()
            servers.links.append(Link(address, shows))
        except TimeoutError:
            servers.silent.append(path.name.partition("-")[0])
        except (OSError, ValueError):  # it was killed, or ends
            continue
    return servers


class LinkGiver:
    """Gives fresh links into one server; WAITING -> (close) CLOSED.

    Where this user can have no folder of running servers, ``problem`` says why: then links are
    printed only.

    Parameters
    ----------
    new_link
        Returns an address with a new code.
    shows
        What the server shows, in a line.
    """

    def __init__(self, new_link: Callable[[], str], shows: str) -> None:
        self._new_link = new_link
        self._shows = " ".join(shows.split())
        self._closed = threading.Event()
        self._path: Path | None = None
        self.problem = ""
        try:
            path = runtime_folder() / f"{os.getpid()}-{id(self):x}{_SUFFIX}"
            self._listener = bind_file(path)
        except GvizError as error:
            self.problem = str(error)
            return
        self._path = path
        threading.Thread(target=self._answer, name="links", daemon=True).start()

    def _answer(self) -> None:
        while not self._closed.is_set():
            try:
                caller, _ = self._listener.accept()
            except OSError:  # closed
                return
            with caller, contextlib.suppress(OSError):
                caller.settimeout(_ANSWER_SECONDS)
                if _user_of(caller) == os.getuid():
                    caller.sendall(f"{self._new_link()}\n{self._shows}\n".encode())

    def open_browser(self, open_address: Callable[[str], object]) -> None:
        """Have a browser open a fresh link, without the link on its command line."""
        if self._path is None:
            return
        target = html.escape(self._new_link())
        text = '<!DOCTYPE html><meta charset="utf-8"><title>gviz</title>'
        text += f'<meta http-equiv="refresh" content="0; url={target}">\n'
        page = self._path.with_suffix(".html")
        with open(create_file(page), "w", encoding="utf-8") as file:
            file.write(text)
        threading.Thread(target=open_address, args=(page.as_uri(),), daemon=True).start()

    def follow_terminal(self) -> None:
        """Print a fresh link whenever somebody presses Enter in the terminal, if there is one."""
        if sys.stdin is not None and sys.stdin.isatty():
            threading.Thread(target=self._follow, name="terminal", daemon=True).start()

    def _follow(self) -> None:
        terminal = sys.stdin.fileno()
        for line in _lines_of(terminal, self._closed):
            if not line:  # Ctrl-D, or the terminal has gone
                return
            say(f"gviz: open {self._new_link()}")

    def close(self) -> None:
        """Give no more links, and leave no files."""
        self._closed.set()
        if self._path is None:
            return
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for path in (self._path, self._path.with_suffix(".html")):
            path.unlink(missing_ok=True)


def _lines_of(terminal: int, closed: threading.Event) -> Iterator[bytes]:
    """Yield what is typed, line by line, while this process is in the foreground.

    A process in the background that reads its terminal is stopped by it.
    """
    while not closed.is_set():
        try:
            if not select.select([terminal], [], [], _POLL_SECONDS)[0]:
                continue
            if os.tcgetpgrp(terminal) != os.getpgrp():
                time.sleep(_POLL_SECONDS)
                continue
            yield os.read(terminal, 4096)
        except OSError:
            return


def _user_of(caller: socket.socket) -> int:
    """Return the user at the other end of a local socket (man 7 unix, SO_PEERCRED)."""
    size = struct.calcsize("3i")
    found = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    user: int = struct.unpack("3i", found)[1]
    return user
