"""The server by streamable HTTP, on a port of this machine, behind the viewer's login.

Everybody on the machine reaches the port. So a client is admitted by a one-time code in the address
that it is given, and from then on by the session's cookie; a client that keeps no cookies sends
the secret that one ``curl ADDRESS`` prints as ``Authorization: Bearer``. Host and Origin are
checked as the viewer's are; nothing of a request's body is read before that.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gviz.agents.desk import Desk
from gviz.agents.extra import load
from gviz.agents.protocol import build_server
from gviz.app import CODE, AccessRules, CodeError, LinkGiver, bind

HOST = "127.0.0.1"
#: A request's body: arguments are texts of 10,000 characters.
MOST_BODY_BYTES = 1 << 20
#: Connections at once, and sessions of the protocol.
_MOST_CONNECTIONS, _MOST_SESSIONS = 64, 32
_BEARER = "Bearer "
_NOT_ADMITTED = (
    "This client was not admitted: connect to the address that gviz mcp printed when it started; "
    "it works once, for 15 minutes; Enter in its terminal prints a fresh one.\n"
)
_STRANGE = "gviz mcp answers clients of this machine only, and no pages of other sites.\n"

Scope = MutableMapping[str, Any]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Any, Send], Awaitable[None]]


class LoginGate:
    """An ASGI application behind a login.

    Parameters
    ----------
    inner
        What is behind it.
    access
        Who may use it.
    """

    def __init__(self, inner: Application, access: AccessRules) -> None:
        self._inner, self._access = inner, access

    async def __call__(self, scope: Scope, receive: Any, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1")
                   for name, value in scope["headers"]}  # fmt: skip
        host = headers.get("host")
        origin = headers.get("origin")
        is_own = origin is None or urlsplit(origin).netloc.lower() == (host or "").lower()
        if not self._access.accepts_host(host) or not is_own:
            await _refuse(send, _STRANGE)
        elif self._is_admitted(headers):
            await self._inner(scope, receive, send)
        else:
            await self._login(scope, receive, send, is_by_hand=_is_by_hand(scope, headers))

    def _is_admitted(self, headers: Mapping[str, str]) -> bool:
        sent = headers.get("authorization", "")
        if sent.startswith(_BEARER) and self._access.admission.accepts(sent[len(_BEARER) :]):
            return True
        return self._access.accepts_cookies(headers.get("cookie"))

    async def _login(self, scope: Scope, receive: Any, send: Send, *, is_by_hand: bool) -> None:
        codes = parse_qs(scope["query_string"].decode("latin-1")).get(CODE)
        if not codes:
            await _refuse(send, _NOT_ADMITTED)
            return
        try:
            session = self._access.admission.exchange(codes[0])
        except CodeError as error:
            await _refuse(send, str(error))
            return
        if is_by_hand:
            await _answer(send, 200, f"Authorization: {_BEARER}{session}\n")
            return
        cookie = (b"set-cookie", self._access.cookie(session).encode("latin-1"))

        async def send_with_cookie(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], cookie]}
            await send(message)

        await self._inner(scope, receive, send_with_cookie)


def _is_by_hand(scope: Scope, headers: Mapping[str, str]) -> bool:
    """Return whether a request is no client's of the protocol: clients ask for event streams."""
    return scope["method"] == "GET" and "text/event-stream" not in headers.get("accept", "")


async def _refuse(send: Send, sentence: str) -> None:
    await _answer(send, 403, sentence)


async def _answer(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"),
               (b"x-content-type-options", b"nosniff")]  # fmt: skip
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def serve_http(
    desk: Desk, port: int | None = None, announce: Callable[[str], None] | None = None
) -> int:
    """Answer on a port of this machine until interrupted.

    Parameters
    ----------
    port
        None: the default of ``gviz view``, or the next free one; 0: the system picks.
    announce
        Called with the address that admits a client, as soon as it does: beside what is printed.

    Returns
    -------
    int
        Exit code, 0.

    Raises
    ------
    GvizError
        If the library is not installed, or the port is taken.
    """
    uvicorn = load("uvicorn")
    prefix = f"/{secrets.token_urlsafe(16)}/"
    access = AccessRules(prefix=prefix)
    application = build_server(desk).streamable_http_app(
        streamable_http_path=f"{prefix}mcp",
        max_request_body_size=MOST_BODY_BYTES,
        max_sessions=_MOST_SESSIONS,
        host=HOST,
    )
    listener = bind(HOST, port)
    address = f"http://{HOST}:{listener.getsockname()[1]}{prefix}mcp"

    def new_link() -> str:
        return f"{address}?{CODE}={access.admission.new_code()}"

    config = uvicorn.Config(
        LoginGate(application, access),
        log_level="error",
        limit_concurrency=_MOST_CONNECTIONS,
        proxy_headers=False,
        server_header=False,
    )
    links = LinkGiver(new_link, f"gviz mcp: {', '.join(desk.recordings.files()) or 'nothing yet'}")
    try:
        print(f"gviz: a client connects to {new_link()}", file=sys.stderr)
        print("gviz: the address works once, for 15 minutes; Enter prints a fresh one; "
              "one that keeps no cookies: curl it for a header", file=sys.stderr)  # fmt: skip
        if announce is not None:
            announce(new_link())
        links.follow_terminal()
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        print("gviz: ended", file=sys.stderr)
    finally:
        links.close()
        listener.close()
    return 0
