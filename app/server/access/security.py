"""Access to the recordings: session, Host, Origin, and the headers that bind the browser.

Login nodes are shared: every user of the machine can reach a loopback port, and every web page in
the owner's browser can send requests to it. So a browser is admitted by a one-time code
(gviz.app.server.access.admission), a request must name a host this server answers for (DNS
rebinding), and a POST must come from its own pages (cross-site request forgery). Browsers send
the cookies of a host to all its ports: the application stands below a path of random letters,
which no other service on the machine knows, and the cookie is for that path alone.
"""

from __future__ import annotations

import html
import ipaddress
from collections.abc import Callable, Iterable
from dataclasses import field
from urllib.parse import quote, urlencode, urlsplit

from flask import Flask, Response, request
from werkzeug.http import dump_cookie
from werkzeug.sansio.http import parse_cookie

from gviz.app.server.access.admission import Admission, CodeError
from gviz.dataclass import dataclass

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})

#: Argument of an address that has a one-time code.
CODE = "code"
_COOKIE = "gviz_session"
_NEEDS_SESSION = (
    "This browser was not admitted by the running gviz: open the address that gviz printed when it "
    "started; 'gviz view --link' on its machine prints a fresh one.\n"
)
_WRONG_HOST = (
    "This gviz does not answer for the host name in the request; "
    "use the printed address, or start gviz with --allow-host NAME.\n"
)
_WRONG_ORIGIN = "This request came from a page of another site, so gviz refused it.\n"


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Permission to use the server.

    Attributes
    ----------
    admission
        The codes one of which the first request must carry as ``?code=``, and the sessions, one of
        which a cookie names afterwards.
    hosts
        Host names answered for, lower case, without port.
    any_address
        Also answer for every literal IP address: true when listening beyond loopback.
        Rebinding needs a name, so literal addresses are harmless.
    prefix
        Path the application is served at; ends with '/'.
    """

    admission: Admission = field(default_factory=Admission)
    hosts: frozenset[str] = LOOPBACK_HOSTS
    any_address: bool = False
    prefix: str = "/"

    def accepts_host(self, header: str | None) -> bool:
        """Say whether a Host header names this server."""
        host = _host_name(header)
        if host is None:
            return False
        return host in self.hosts or (self.any_address and _is_address(host))

    def accepts_cookies(self, header: str | None) -> bool:
        """Say whether a Cookie header has the secret of a session."""
        # Another service of this host may have set one of the same name, or one that is no UTF-8.
        return any(map(self.admission.accepts, parse_cookie(header).getlist(_COOKIE)))

    def cookie(self, session: str) -> str:
        """Return the Set-Cookie header that has the secret of a session."""
        return dump_cookie(_COOKIE, session, httponly=True, samesite="Strict", path=self.prefix)


def content_security_policy(script_hashes: Iterable[str]) -> str:
    """Return the policy: everything from this server, no inline script but the hashed ones.

    Inline styles stay allowed: Mantine, AG Grid and Plotly each insert style elements and
    offer no common nonce.
    """
    directives = {
        "default-src": "'none'",
        "script-src": " ".join(["'self'", *script_hashes]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def protect(server: Flask, access: AccessRules, policy: str, landing: Callable[[], str]) -> None:
    """Check every request to a Flask server and put the headers on every answer.

    ``landing`` gives the page to which the printed address leads, as path and query.
    """

    def check() -> Response | None:
        if not access.accepts_host(request.headers.get("Host")):
            return _refuse(_WRONG_HOST)
        if request.method not in ("GET", "HEAD", "OPTIONS") and not _is_own_origin():
            return _refuse(_WRONG_ORIGIN)
        # Browsers send the cookie to what is below the prefix: without its slash they would not.
        if f"{request.path}/" == access.prefix:
            query = urlencode(list(request.args.items(multi=True)))
            return _lead_to(access.prefix + (f"?{query}" if query else ""))
        # Nothing behind this needs cookies, and Dash reads all: those of other services, too.
        cookies = request.environ.pop("HTTP_COOKIE", None)
        is_admitted = access.accepts_cookies(cookies)
        if request.method == "GET" and CODE in request.args:
            return _welcome(access, landing, is_admitted)
        return None if is_admitted else _refuse(_NEEDS_SESSION)

    def add_headers(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = policy
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["X-Frame-Options"] = "DENY"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        # A proxy on the way must not hand an answer to who has no session.
        response.cache_control.private = True
        return response

    server.before_request(check)
    server.after_request(add_headers)


def _welcome(access: AccessRules, landing: Callable[[], str], is_admitted: bool) -> Response:
    """Answer the first request: set the cookie and lead to the address without the code.

    A browser that is admitted already is led on, and uses up no code.
    """
    if "prefetch" in request.headers.get("Sec-Purpose", request.headers.get("Purpose", "")):
        return _refuse(_NEEDS_SESSION)  # nobody has opened the link yet
    session = None
    if not is_admitted:
        try:
            session = access.admission.exchange(request.args[CODE])
        except CodeError as error:
            return _refuse(str(error))
    rest = [(k, v) for k, v in request.args.items(multi=True) if k != CODE]
    # A path of "//host" would lead to another site.
    target = "/" + quote(request.path.lstrip("/")) + (f"?{urlencode(rest)}" if rest else "")
    if target == access.prefix:
        target = landing()
    response = _lead_to(target)
    if session is not None:
        response.headers.add("Set-Cookie", access.cookie(session))
    return response


def _lead_to(target: str) -> Response:
    """Return the answer that leads a browser to another address of this server."""
    if request.headers.get("Sec-Fetch-Site") == "cross-site":
        # A strict cookie is not sent along a redirect that another site's link began
        # (a terminal in a web page); a navigation by a page of our own carries it.
        refresh = f'<meta http-equiv="refresh" content="0; url={html.escape(target)}">'
        response = Response(f"<!DOCTYPE html><title>gviz</title>{refresh}", mimetype="text/html")
    else:
        response = Response(status=302, headers={"Location": target})
    response.headers["Cache-Control"] = "no-store"
    return response


def _refuse(sentence: str) -> Response:
    return Response(sentence, status=403, mimetype="text/plain")


def _is_own_origin() -> bool:
    origin = request.headers.get("Origin")
    if origin is None:
        # Browsers send Origin with every POST; without one the cookie decides.
        return request.headers.get("Sec-Fetch-Site", "same-origin") == "same-origin"
    return urlsplit(origin).netloc.lower() == (request.headers.get("Host") or "").lower()


def _host_name(header: str | None) -> str | None:
    if not header:
        return None
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
