"""Admission to a server: one-time codes, and the sessions that they are exchanged for.

A code travels in an address, where other programs can see it: the command line of a browser, its
history. So it admits one browser only, and not for long; what admits that browser from then on is
a secret of its own that no address has.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable

#: A code that nobody used is worth nothing after so long.
CODE_SECONDS = 15 * 60.0
#: Codes and sessions known at most: the oldest go.
_MOST = 1000
_FRESH = (
    "press Enter in the terminal in which gviz runs, or type 'gviz view --link' on its machine, "
    "for a fresh one.\n"
)
USED = f"This link was used already, and works once; {_FRESH}"
OLD = f"This link is older than 15 minutes; {_FRESH}"
UNKNOWN = f"This link is none of the running gviz; {_FRESH}"


class CodeError(Exception):
    """A code admits nobody; the message is a sentence for who used it."""


class Admission:
    """The codes and sessions of one start; any thread may use it.

    Parameters
    ----------
    clock
        Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        #: By hash: when it ends; None once it was used.
        self._codes: dict[bytes, float | None] = {}
        self._sessions: dict[bytes, None] = {}

    def new_code(self) -> str:
        """Return a code that admits one browser within 15 minutes."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._codes[_hash(code)] = self._clock() + CODE_SECONDS
            _forget_oldest(self._codes)
        return code

    def exchange(self, code: str) -> str:
        """Return the secret of a new session for a code.

        Raises
        ------
        CodeError
            If the code was used, is too old, or is none.
        """
        key = _hash(code)
        with self._lock:
            if key not in self._codes:
                raise CodeError(UNKNOWN)
            until = self._codes[key]
            if until is None:
                raise CodeError(USED)
            if self._clock() > until:
                raise CodeError(OLD)
            self._codes[key] = None
            session = secrets.token_urlsafe(32)
            self._sessions[_hash(session)] = None
            _forget_oldest(self._sessions)
        return session

    def accepts(self, session: str) -> bool:
        """Return whether a secret is that of a session."""
        # Of hashes: how long looking one up takes says nothing about the secret.
        return _hash(session) in self._sessions


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def _forget_oldest(known: dict[bytes, float | None] | dict[bytes, None]) -> None:
    while len(known) > _MOST:
        del known[next(iter(known))]
