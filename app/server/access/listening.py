"""Sockets to listen on: a port of this machine, or a file that its owner alone can use."""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gviz.app.server.access.security import LOOPBACK_HOSTS
from gviz.errors import UsageError

DEFAULT_PORT = 8765
#: Ports tried upwards from the default before the system picks one.
_TRIED_PORTS = 20
_BACKLOG = 128


def bind(host: str, port: int | None) -> socket.socket:
    """Return a listening socket.

    Raises
    ------
    UsageError
        If ``port`` is given and taken, or ``host`` cannot be listened on.
    """
    if port is not None:
        return _listen(host, port)
    for candidate in range(DEFAULT_PORT, DEFAULT_PORT + _TRIED_PORTS):
        try:
            return _listen(host, candidate)
        except PortTakenError:
            continue
    return _listen(host, 0)


class PortTakenError(UsageError):
    """Another program listens on the port."""


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise UsageError(f"cannot listen on port {port}; give a --port from 0 to 65535")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}: {error.strerror}; give another --host"
        ) from error
    try:
        # Without it a restart must wait a minute for the old connections to fade.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise _refusal(host, port, error) from error
    return listener


def _refusal(host: str, port: int, error: OSError) -> UsageError:
    if error.errno == errno.EADDRINUSE:
        return PortTakenError(
            f"port {port} on {host} is taken; give another --port, or none to let gviz choose"
        )
    return UsageError(
        f"cannot listen on {host} port {port}: {error.strerror}; give another --host or --port"
    )


def bind_file(path: Path) -> socket.socket:
    """Return a listening socket at a path, for its owner alone; remove the path afterwards.

    What a gviz that was killed left there is replaced.

    Raises
    ------
    UsageError
        If something else is there, or the path cannot be listened on.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _bind_file(listener, path)
    except BaseException:  # Ctrl-C, too
        if listener.getsockname():  # bound: what is at the path is this one's
            path.unlink(missing_ok=True)
        listener.close()
        raise
    return listener


def _bind_file(listener: socket.socket, path: Path) -> None:
    before = os.umask(0o177)  # the socket never has other permissions for an instant
    try:
        if _is_left_over(path):
            path.unlink()
        with _short_name(path) as name:
            listener.bind(name)
        listener.listen(_BACKLOG)
    except OSError as error:
        why = _holder(path) if error.errno == errno.EADDRINUSE else error.strerror or str(error)
        raise UsageError(f"cannot listen on the socket {path}: {why}; give another path") from error
    finally:
        os.umask(before)


def _holder(path: Path) -> str:
    """Say what has the place of a socket."""
    try:
        is_socket = stat.S_ISSOCK(path.lstat().st_mode)
    except OSError as error:
        return error.strerror or str(error)
    if is_socket:
        return "another program listens there"
    return "a folder is there" if path.is_dir() else "a file is there that is no socket"


def _is_left_over(path: Path) -> bool:
    """Return whether a socket is at a path and nobody listens on it."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            return False
    except OSError:
        return False
    try:
        connect_file(path).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def connect_file(path: Path, timeout_s: float = 2.0) -> socket.socket:
    """Return a connection to who listens on a socket at a path.

    Raises
    ------
    OSError
        If nobody does.
    """
    caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    caller.settimeout(timeout_s)
    try:
        with _short_name(path) as name:
            caller.connect(name)
    except OSError:
        caller.close()
        raise
    return caller


@contextmanager
def _short_name(path: Path) -> Iterator[str]:
    """Yield a name of a socket that is short enough: the address of one has 107 bytes (unix(7))."""
    folder = os.open(path.absolute().parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def is_loopback(host: str) -> bool:
    """Say whether a host to listen on is reachable from this machine only."""
    return host in LOOPBACK_HOSTS or host.startswith("127.")
