"""Serve the application with waitress: port, printed address, browser, clean end."""

from __future__ import annotations

import gc
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from waitress.server import create_server

from gviz.app.components import Addresses
from gviz.app.files import Library
from gviz.app.server.access import (
    CLEANUP_SECONDS,
    CODE,
    DEFAULT_PORT,
    LOOPBACK_HOSTS,
    MOST_CONNECTIONS,
    AccessRules,
    LinkGiver,
    bind,
    bind_file,
    guard,
    is_loopback,
)
from gviz.app.server.allocator import give_memory_back
from gviz.app.server.read_ahead import ReadAhead
from gviz.app.server.uploads import MOST_BYTES
from gviz.dataclass import dataclass
from gviz.errors import UsageError
from gviz.system import NO_PROGRESS, Progress, ProgressLine

if TYPE_CHECKING:
    from gviz.analysis import Ignored
    from gviz.overlay import OverlayFile

#: Requests are short and the work behind them is cached; more threads would only open
#: more connections to each recording.
_THREADS = 6
#: What is being done when the server ends is waited for so long (s), each.
_LAST_STEP_S = 2.0
#: A piece of an upload has 4 MiB; a selection of 100,000 nodes about 1 MB.
_MOST_BODY_BYTES = 16 << 20
#: Seconds between switches of Python's threads, whose default is 5 ms.
_SWITCH_S = 0.0002

#: Shares of the start at which files are open, and at which Dash is loaded.
_OPENED = 0.1
_LOADED = 0.8


@dataclass(frozen=True, slots=True)
class Options:
    """Options of serving.

    Attributes
    ----------
    port
        None: the default, or the next free one; 0: the system picks; else exactly this.
    socket_path
        Listen on this file instead, which its owner alone can use; ``port`` is that of the
        tunnel's other end, if it is given.
    allow_hosts
        Further host names to answer for, such as a proxy's.
    url_prefix
        Path the application is served at, as a proxy sees it.
    most_upload_bytes
        Size of the largest file that may be uploaded in the browser.
    ignored
        Findings that reports leave out.
    overlays
        Tables that pages of graphs lay on them.
    announce
        Called with an address that works once, as soon as it does: beside what is printed.
    fleet
        The data set of a fleet to show.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    socket_path: Path | None = None
    open_browser: bool = True
    url_prefix: str = "/"
    allow_hosts: Sequence[str] = field(default=())
    most_upload_bytes: int = MOST_BYTES
    ignored: Sequence[Ignored] = field(default=())
    overlays: Sequence[OverlayFile] = field(default=())
    announce: Callable[[str], None] | None = None
    fleet: str | None = None


def serve(paths: Sequence[Path], options: Options) -> int:
    """Serve recordings until interrupted.

    Returns
    -------
    int
        Exit code, 0.

    Raises
    ------
    RecordingError
        If a recording cannot be opened.
    UsageError
        If the port given is taken or the prefix is no path.
    """
    with _short_switches():
        return _serve(paths, options)


def _serve(paths: Sequence[Path], options: Options) -> int:
    give_memory_back()
    # As Ctrl-C, from the start on: nothing must stay behind.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    with ExitStack() as ended:
        with ProgressLine() as shown:
            server = RunningServer(paths, options, shown.progress)
            ended.callback(server.close)
        try:
            _announce(server, options)
            server.run()
        except KeyboardInterrupt:
            print("gviz: stopped", file=sys.stderr)
    return 0


def _announce(server: RunningServer, options: Options) -> None:
    # What was made by now stays: the collector need not look through it again and again.
    gc.freeze()
    for line in server.announcement(os.environ):
        print(line, file=sys.stderr)
    if options.announce is not None:
        options.announce(server.new_link())
    server.links.follow_terminal()
    if options.open_browser and options.socket_path is None and has_display(os.environ):
        server.links.open_browser(webbrowser.open)


@contextmanager
def _short_switches() -> Iterator[None]:
    """Have Python switch threads often, in here.

    SQLite and zlib need no Python but after every page of rows, and waited for another thread
    then, usually one that imports Dash, longer than they had worked.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


class RunningServer:
    """A bound server; BOUND -> (run) SERVING -> (close) CLOSED.

    Another thread than the one that runs it may close it, at any time.

    Parameters
    ----------
    paths
        Recordings to show.
    options
        How to serve.
    progress
        Told which share of the start is done.
    """

    def __init__(
        self, paths: Sequence[Path], options: Options, progress: Progress = NO_PROGRESS
    ) -> None:
        self.options = options
        outer = clean_prefix(options.url_prefix)
        # No other service of this host knows the path that the cookie is for.
        self.prefix = f"{outer}{secrets.token_urlsafe(16)}/"
        self._access = build_access(options, self.prefix)
        # A page requests a dozen files at once; that they wait a moment is no news.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        names = ", ".join([*(path.name for path in paths), *filter(None, [options.fleet])])
        progress.at(0.0, f"opening {names}")
        self.library = Library(paths, options.overlays, options.fleet)
        self._reading = ReadAhead(self.library)
        try:
            listener = self._listen()
        except BaseException:  # Ctrl-C, too
            self.library.close()
            raise
        try:
            self._build(listener, names, progress)
        except BaseException:  # Ctrl-C, while Dash is imported
            listener.close()
            self._remove_socket()
            self._reading.stop()
            self._reading.wait(_LAST_STEP_S)
            self.library.close()
            raise

    def _build(self, listener: socket.socket, names: str, progress: Progress) -> None:
        """Make what answers; the listener takes connections already."""
        options = self.options
        name = listener.getsockname()
        self.port: int = options.port or DEFAULT_PORT if isinstance(name, str) else name[1]
        self._reading.start()
        progress.at(_OPENED, "loading the pages")
        # Imported here: Dash takes a second, in which files are read.
        import numpy.ma  # noqa: F401 - numpy.unique imports it when it is first called

        from gviz.app.server.ahead import Ahead
        from gviz.app.server.application import build_app

        progress.at(_LOADED, "making the pages")
        app = build_app(self.library, self._access, options.most_upload_bytes, options.ignored)
        addresses = Addresses(self.prefix)
        self._ahead = Ahead(app.server, self.library, addresses)
        self._server = create_server(
            restore_prefix(app.server, clean_prefix(options.url_prefix)),
            sockets=[listener],
            threads=_THREADS,
            ident=None,
            # No larger than what pages send. Larger answers take a way over the disk.
            outbuf_overflow=_MOST_BODY_BYTES,
            max_request_body_size=_MOST_BODY_BYTES,
            clear_untrusted_proxy_headers=True,
            connection_limit=MOST_CONNECTIONS,
            cleanup_interval=CLEANUP_SECONDS,
            # Else it is not seen that a client has gone while it is answered.
            channel_request_lookahead=1,
            # select() takes no descriptors above 1023, which uploads and files may use up.
            asyncore_use_poll=True,
        )
        guard(self._server, self._access.accepts_cookies)
        self._running = threading.Lock()
        self.links = LinkGiver(self.new_link, names)

    def _listen(self) -> socket.socket:
        options = self.options
        if options.socket_path is not None:
            return bind_file(options.socket_path)
        return bind(options.host, options.port)

    @property
    def url(self) -> str:
        """The address below which all pages are; it admits nobody."""
        shown = "localhost" if self.options.host in ("127.0.0.1", "0.0.0.0") else self.options.host
        shown = f"[{shown}]" if ":" in shown else shown
        return f"http://{shown}:{self.port}{self.prefix}"

    def new_link(self) -> str:
        """Return an address that admits the browser that opens it first, within 15 minutes."""
        return f"{self.url}?{CODE}={self._access.admission.new_code()}"

    def announcement(self, environment: Mapping[str, str]) -> list[str]:
        """Return the lines to print at the start."""
        lines = [f"gviz: open {self.new_link()}"]
        where = self.options.socket_path
        if where is not None:
            lines.append(
                f"gviz: from your own machine: ssh -L {self.port}:{where.absolute()} "
                f"{socket.gethostname()}   and open the address there"
            )
        elif not is_loopback(self.options.host):
            lines.append(
                "gviz: warning: traffic over the network is not encrypted: who can listen to it "
                "can read the recordings"
            )
        elif not has_display(environment):
            lines.append(
                f"gviz: from your own machine: ssh -L {self.port}:localhost:{self.port} "
                f"{socket.gethostname()}   and open the same address there"
            )
        if self.links.problem:
            lines.append(f"gviz: 'gviz view --link' will not work: {self.links.problem}")
        lines.append("gviz: the address works once, for 15 minutes; Enter prints a fresh one")
        lines.append("gviz: Ctrl-C ends it")
        return lines

    def run(self) -> None:
        """Answer requests until interrupted or closed; the first pages are made meanwhile."""
        with self._running:
            self._ahead.start()
            self._server.run()

    def close(self) -> None:
        """Stop listening, and release the recordings."""
        self.links.close()
        self._reading.stop()
        self._ahead.stop()
        # Sockets closed under the thread that waits for them would be an error to it, or another
        # file's number by then. Who runs it only after this finds nothing to wait for.
        held = self._running.acquire(blocking=False)
        if not held:
            self._server.trigger.pull_trigger(self._let_go)
            held = self._running.acquire(timeout=_LAST_STEP_S)
        self._let_go()
        # The last thing that a request does is to pull the trigger.
        self._server.task_dispatcher.shutdown(timeout=_LAST_STEP_S)
        self._server.close()
        self._remove_socket()
        if held:
            self._running.release()
        # So that what it reads is not closed under it; at its worst it ends with the process.
        self._ahead.wait(_LAST_STEP_S)
        self._reading.wait(_LAST_STEP_S)
        self.library.close()

    def _remove_socket(self) -> None:
        if self.options.socket_path is not None:
            self.options.socket_path.unlink(missing_ok=True)

    def _let_go(self) -> None:
        """End the connections; with nothing left to wait for, waitress returns."""
        for connection in list(self._server.active_channels.values()):
            connection.handle_close()
        self._server.del_channel()
        self._server.trigger.del_channel()


def build_access(options: Options, prefix: str) -> AccessRules:
    """Return who may use a server with these options, at a path prefix."""
    hosts = set(LOOPBACK_HOSTS) | {h.lower() for h in options.allow_hosts}
    beyond = not is_loopback(options.host)
    if beyond:
        hosts |= {socket.gethostname().lower(), socket.getfqdn().lower(), options.host.lower()}
    return AccessRules(hosts=frozenset(hosts), any_address=beyond, prefix=prefix)


def has_display(environment: Mapping[str, str]) -> bool:
    """Say whether a browser could open a window here."""
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def clean_prefix(prefix: str) -> str:
    """Return a URL prefix that begins and ends with '/'; UsageError if it is no plain path."""
    parts = [p for p in prefix.split("/") if p]
    if any(set(p) & set("?#\\%\"'<> ") or p in (".", "..") for p in parts):
        raise UsageError(f"--url-prefix {prefix!r} is no plain path; give one such as /proxy/8765")
    return "/" + "".join(f"{p}/" for p in parts)


def restore_prefix(application: Any, prefix: str) -> Any:
    """Return a WSGI application that also answers when a proxy cut the prefix off the path."""
    if prefix == "/":
        return application

    def restored(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if not (path + "/").startswith(prefix):
            environ["PATH_INFO"] = prefix + path.lstrip("/")
        return application(environ, start_response)  # type: ignore[no-any-return]

    return restored
