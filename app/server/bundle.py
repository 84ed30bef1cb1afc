"""Files of assets/web as one, at an address that names its content: a browser fetches it once."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from flask import Flask, Response

#: The address names its content, so it never changes (s: a year).
_AGE_S = 31_536_000


class Bundle:
    """Files joined to one text. They stay what is edited: a changed one is in the next page's.

    Parameters
    ----------
    folder, suffix
        Which files change it, imported or not: to look at each is faster than to read imports.
    join
        Makes the text.
    mimetype
        Of the text.
    address
        Where :meth:`serve` serves it.
    """

    def __init__(
        self, folder: Path, suffix: str, join: Callable[[], str], mimetype: str, address: str
    ) -> None:
        self._folder, self._suffix, self._join = folder, suffix, join
        self._mimetype, self._address = mimetype, address
        self._lock = threading.Lock()
        self._made: tuple[Sequence[float], str, bytes] = ((), "", b"")

    def address(self) -> str:
        """Return the address of the text as it is now."""
        changed = [path.stat().st_mtime for path in sorted(self._folder.rglob(f"*{self._suffix}"))]
        with self._lock:
            if self._made[0] != changed:
                text = self._join().encode()
                self._made = (changed, hashlib.sha256(text).hexdigest()[:16], text)
            return f"{self._address}?v={self._made[1]}"

    def answer(self) -> Response:
        """Answer a request for it."""
        response = Response(self._made[2], mimetype=self._mimetype)
        response.cache_control.max_age = _AGE_S
        response.cache_control.immutable = True
        return response

    def serve(self, server: Flask) -> None:
        """Serve it."""
        server.add_url_rule(self._address, self._address.rpartition("/")[2], self.answer)
