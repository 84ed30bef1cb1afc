"""Connections that waitress accepts: what those without a session may cost the server.

waitress reads a request in whole before the application sees it, and keeps a connection that says
nothing for minutes. Whoever reaches the port could so fill the disk with bodies, or the table of
connections. So headers and bodies have deadlines, a body is refused unless the request's headers
name a session, and of connections without a session only so many are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import BaseWSGIServer
from waitress.utilities import Error

#: All connections together. A browser keeps six.
MOST_CONNECTIONS = 256
#: Connections without a session; where there are more, the oldest that waits is closed.
MOST_STRANGERS = 64
#: A request's headers have to be there after so long, and a connection to have asked for something
#: that is for it.
HEADER_SECONDS = 10.0
#: A body, of 16 MiB at most, has to be there after so long.
BODY_SECONDS = 60.0
#: An admitted connection that says nothing is kept for so long.
IDLE_SECONDS = 120.0
#: Seconds between looks at the deadlines.
CLEANUP_SECONDS = 1.0

Admits = Callable[[str | None], bool]


class _Forbidden(Error):  # type: ignore[misc]
    code = 403
    reason = "Forbidden"


class _Request(HTTPRequestParser):  # type: ignore[misc]
    """A request that is read; without a session its body is not."""

    # As in the class above, which has no types.
    error: Error | None = None
    completed: bool = False
    #: waitress logs it of a client that has gone, also where no line of it was understood.
    path: str = ""

    def __init__(self, adj: Adjustments, connection: Connection) -> None:
        super().__init__(adj)
        self._connection = connection

    def received(self, data: bytes) -> int:
        """Take bytes in; return how many belonged to this request."""
        was_finished = self.headers_finished
        count: int = super().received(data)
        if self.headers_finished and not was_finished and self.error is None:
            admitted = self._connection.admit(self.headers.get("COOKIE"))
            if not self.completed and not admitted:
                self.expect_continue = False
                self.error = _Forbidden("This gviz takes nothing from who was not admitted.")
                self.completed = True
        return count


class Connection(HTTPChannel):  # type: ignore[misc]
    """A connection with deadlines; STRANGER -> (a request names a session) ADMITTED."""

    def __init__(self, admits: Admits, *arguments: Any, **named: Any) -> None:
        self._admits = admits
        self.is_admitted = False
        self._since = time.monotonic()
        super().__init__(*arguments, **named)
        close_oldest(self.server)

    def parser_class(self, adj: Adjustments) -> _Request:
        """Return a new request."""
        return _Request(adj, self)

    def admit(self, cookies: str | None) -> bool:
        """Note whether a request names a session; return it."""
        admitted = self._admits(cookies)
        self.is_admitted |= admitted
        return admitted

    def received(self, data: bytes) -> bool:
        """Take bytes in; a request's time begins with its first."""
        if self.request is None:
            self._since = time.monotonic()
        took: bool = super().received(data)
        return took

    @property
    def is_waiting(self) -> bool:
        """Return whether nothing is being answered."""
        return not self.requests and not self.total_outbufs_len

    @property
    def deadline(self) -> float:
        """The moment at which the connection is closed unless it goes on, by ``time.monotonic``."""
        if self.request is not None and self.request.headers_finished:
            return self._since + BODY_SECONDS
        if self.request is not None or not self.is_admitted:
            return self._since + HEADER_SECONDS
        return self._since + IDLE_SECONDS


def guard(server: BaseWSGIServer, admits: Admits) -> None:
    """Have a server hold its connections to these limits.

    Parameters
    ----------
    admits
        Whether a Cookie header names a session.
    """

    def connect(*arguments: Any, **named: Any) -> Connection:
        return Connection(admits, *arguments, **named)

    def close_late(_: float) -> None:
        now = time.monotonic()
        for connection in list(server.active_channels.values()):
            if connection.is_waiting and now > connection.deadline:
                connection.will_close = True

    server.channel_class = connect
    server.maintenance = close_late


def close_oldest(server: BaseWSGIServer) -> None:
    """Close the connection without a session that has waited longest, if there are too many."""
    strangers = [c for c in server.active_channels.values() if not c.is_admitted]
    if len(strangers) > MOST_STRANGERS:
        waiting = [c for c in strangers[:-1] if c.is_waiting and not c.will_close]
        if waiting:
            min(waiting, key=lambda connection: connection.deadline).will_close = True
