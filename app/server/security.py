"""Access to the recordings: token, Host, Origin, and the headers that bind the browser.

Login nodes are shared: every user of the machine can reach a loopback port, and every web
page in the owner's browser can send requests to it. So each start makes a token, a request
must name a host this server answers for (DNS rebinding), and a POST must come from its own
pages (cross-site request forgery).
"""

from __future__ import annotations

import hashlib
import hmac
import html
import ipaddress
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import quote, urlencode, urlsplit

from flask import Flask, Response, request

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})

_NEEDS_TOKEN = (
    "This address needs the token of the running gviz: "
    "open the address that gviz printed when it started.\n"
)
_WRONG_HOST = (
    "This gviz does not answer for the host name in the request; "
    "use the printed address, or start gviz with --allow-host NAME.\n"
)
_WRONG_ORIGIN = "This request came from a page of another site, so gviz refused it.\n"


def new_token() -> str:
    """Return a fresh token: 32 random bytes, URL-safe."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Permission to use the server.

    Attributes
    ----------
    token
        What the first request must carry as ``?token=``; afterwards a cookie does.
    hosts
        Host names answered for, lower case, without port.
    any_address
        Also answer for every literal IP address: true when listening beyond loopback.
        Rebinding needs a name, so literal addresses are harmless.
    prefix
        Path the application is served at; ends with '/'.
    """

    token: str
    hosts: frozenset[str] = LOOPBACK_HOSTS
    any_address: bool = False
    prefix: str = "/"

    @property
    def cookie(self) -> str:
        """Name of the cookie: one a start, as cookies are shared by all ports of a host."""
        return "gviz_" + hashlib.sha256(self.token.encode()).hexdigest()[:12]

    def accepts_host(self, header: str | None) -> bool:
        """Say whether a Host header names this server."""
        host = _host_name(header)
        if host is None:
            return False
        return host in self.hosts or (self.any_address and _is_address(host))

    def accepts_token(self, token: str | None) -> bool:
        """Say whether a token is the one of this start."""
        return token is not None and hmac.compare_digest(token.encode(), self.token.encode())


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
        if request.method in ("GET", "HEAD") and "token" in request.args:
            if access.accepts_token(request.args["token"]):
                return _welcome(access, landing)
            return _refuse(_NEEDS_TOKEN)
        if not access.accepts_token(request.cookies.get(access.cookie)):
            return _refuse(_NEEDS_TOKEN)
        return None

    def add_headers(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = policy
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["X-Frame-Options"] = "DENY"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        # A proxy on the way must not hand an answer to who has no token.
        response.cache_control.private = True
        return response

    server.before_request(check)
    server.after_request(add_headers)


def _welcome(access: AccessRules, landing: Callable[[], str]) -> Response:
    """Answer the first request: set the cookie and lead to the address without the token."""
    rest = [(k, v) for k, v in request.args.items(multi=True) if k != "token"]
    # A path of "//host" would lead to another site.
    target = "/" + quote(request.path.lstrip("/")) + (f"?{urlencode(rest)}" if rest else "")
    if target == access.prefix:
        target = landing()
    if request.headers.get("Sec-Fetch-Site") == "cross-site":
        # A strict cookie is not sent along a redirect that another site's link began
        # (a terminal in a web page); a navigation by a page of our own carries it.
        refresh = f'<meta http-equiv="refresh" content="0; url={html.escape(target)}">'
        response = Response(f"<!DOCTYPE html><title>gviz</title>{refresh}", mimetype="text/html")
    else:
        response = Response(status=302, headers={"Location": target})
    response.set_cookie(
        access.cookie, access.token, httponly=True, samesite="Strict", path=access.prefix
    )
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
