"""Files given to the viewer in the browser: taken piece by piece, checked, and opened.

A piece is a POST of at most :data:`PIECE_BYTES` to ``payload/upload?name=NAME&size=BYTES``, the
first without ``id``, the others with the ``id`` of its answer and their ``offset``. Pieces,
because the server takes a whole request in before anything looks at it: no request may be as
large as a file, least of all one of somebody without the token.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import threading
from pathlib import Path

from flask import Flask, Response, request

from gviz.app.components import Addresses
from gviz.app.files import Library, OpenRecording
from gviz.dataclass import dataclass
from gviz.errors import GvizError, ImportingError
from gviz.formats import bare_name
from gviz.recording import SCHEMA_VERSION, read_version, upgrade_recording
from gviz.system import own_command, own_environment
from gviz.text import byte_size

#: A recording of 2,000,000 node times is about 50 MB; larger files are named on the command line.
MOST_BYTES = 512 << 20
#: 100,000 nodes in a verbose dump are 54 MB, and take 19 s and 430 MB of memory to import.
MOST_DOT_BYTES = 64 << 20
#: As assets/web/dash/upload.js cuts files.
PIECE_BYTES = 4 << 20
#: Files on their way at once; an upload that was given up keeps its place until then.
_MOST_UNDER_WAY = 16
#: A packed trace may unpack to this; more is for the command line.
MOST_UNPACKED_BYTES = 2 << 30
#: Importing the largest file taken lasts about two minutes.
_IMPORT_SECONDS = 900
#: What is taken; of two that fit, the longer.
_SUFFIXES = (".json.gz", ".gviz", ".dot", ".json", ".sqlite")
_WHAT = (
    "a recording (.gviz), a trace of PyTorch's profiler (.json, .json.gz), an export of Nsight "
    "Systems (.sqlite) or a DOT dump (.dot)"
)


class UploadError(GvizError):
    """An upload that is refused, and the HTTP status that says how."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(slots=True)
class _Upload:
    """One file on its way: what it is called, where it goes, and how much of it is here."""

    name: str
    size: int
    path: Path
    received: int = 0


class Uploads:
    """The files on their way into a library.

    Parameters
    ----------
    library
        Where finished ones are opened; its temporary folder holds them.
    most_bytes
        Size of the largest file taken.
    """

    def __init__(self, library: Library, most_bytes: int) -> None:
        self._library = library
        self._most_bytes = most_bytes
        self._under_way: dict[str, _Upload] = {}
        self._lock = threading.Lock()

    def begin(self, name: str, size: int) -> str:
        """Make room for a file; return the upload's id.

        Raises
        ------
        UploadError
            If it is too large, or by its name nothing that can be opened.
        """
        name = shown_name(name)
        suffix = next((s for s in _SUFFIXES if name.lower().endswith(s)), None)
        if suffix is None:
            raise UploadError(415, f"{name} is not {_WHAT}")
        most = min(MOST_DOT_BYTES, self._most_bytes) if suffix == ".dot" else self._most_bytes
        if size > most:
            other = "gviz view" if suffix == ".gviz" else "gviz import"
            raise UploadError(
                413,
                f"{name} has {byte_size(size)}, more than the {byte_size(most)} that are taken "
                f"here; open it on the machine where gviz runs: {other} {name}",
            )
        upload = _Upload(name, size, self._place(name, suffix))
        identity = secrets.token_urlsafe(12)
        with self._lock:
            self._under_way[identity] = upload
            given_up = list(self._under_way)[:-_MOST_UNDER_WAY]
            abandoned = [self._under_way.pop(i) for i in given_up]
        for other_upload in abandoned:
            other_upload.path.unlink(missing_ok=True)
        return identity

    def _place(self, name: str, suffix: str) -> Path:
        """Make an empty file; it is called by a number, for the name is for people only."""
        try:
            path = self._library.scratch.new_path(suffix)
            path.touch(mode=0o600)
        except OSError as error:
            raise UploadError(507, f"{name} cannot be stored: {error}") from error
        return path

    def add(self, identity: str, offset: int, piece: bytes) -> OpenRecording | None:
        """Add a piece; return the recording once the last has come.

        Raises
        ------
        UploadError
            If the piece does not follow what is here, or the file is no good: then it is
            thrown away.
        """
        with self._lock:
            upload = self._under_way.get(identity)
            if upload is None:
                raise UploadError(404, "This upload has ended; choose the file again")
            if offset != upload.received:
                raise UploadError(409, f"A piece of {upload.name} is missing; give the file again")
            if offset + len(piece) > upload.size:
                self._drop(identity)
                raise UploadError(413, f"{upload.name} is longer than was announced")
            self._append(identity, upload, piece)
            if upload.received < upload.size:
                return None
            del self._under_way[identity]
        return self._open(upload)

    def _append(self, identity: str, upload: _Upload, piece: bytes) -> None:
        try:
            with upload.path.open("ab") as file:
                file.write(piece)
        except OSError as error:
            self._drop(identity)
            raise UploadError(
                507, f"{upload.name} cannot be stored in {upload.path.parent}: {error.strerror}"
            ) from error
        upload.received += len(piece)

    def _drop(self, identity: str) -> None:
        upload = self._under_way.pop(identity)
        upload.path.unlink(missing_ok=True)

    def _open(self, upload: _Upload) -> OpenRecording:
        path = upload.path
        made = path.with_suffix(".gviz")
        try:
            if path.suffix != ".gviz":
                _import(path, made, bare_name(Path(upload.name)))
                path.unlink()
            elif read_version(path) < SCHEMA_VERSION:
                upgrade_recording(path, path)  # our own copy
            return self._library.add(made, upload.name)
        except Exception as error:
            for left in (path, made):
                left.unlink(missing_ok=True)
            if not isinstance(error, GvizError):
                raise
            # The place of our copy helps nobody.
            message = str(error)
            for ours in (str(made), str(path), path.name):
                message = message.replace(ours, upload.name)
            raise UploadError(422, message) from error


def _import(source: Path, output: Path, name: str) -> None:
    """Import a file in a process of its own: its memory goes, and pages are answered meanwhile."""
    options = (f"--name={name}", "-o", str(output), f"--most-bytes={MOST_UNPACKED_BYTES}")
    command = own_command("gviz", "import", *options, "--", str(source))
    try:
        done = subprocess.run(
            command,
            env=own_environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=_IMPORT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise ImportingError(
            f"{source.name} took more than {_IMPORT_SECONDS} s to import; use 'gviz import' on the "
            "machine where gviz runs"
        ) from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["gviz: it cannot be read"]
        raise ImportingError(lines[-1].removeprefix("gviz: "))


def shown_name(name: str) -> str:
    """Return a file's name as it may be shown: its last part, without control characters."""
    last = name.replace("\\", "/").rpartition("/")[2]
    clean = "".join(c if c.isprintable() else "?" for c in last).strip()
    stem, dot, suffix = clean.rpartition(".")
    return f"{stem[:120] or 'file'}{dot}{suffix[:12]}" if dot else clean[:120] or "file"


def add_upload_route(
    server: Flask, library: Library, addresses: Addresses, most_bytes: int
) -> None:
    """Take files in at ``payload/upload``, see the module."""
    uploads = Uploads(library, most_bytes)

    def upload() -> Response:
        if (request.content_length or 0) > PIECE_BYTES:
            raise UploadError(413, f"A piece has more than {byte_size(PIECE_BYTES)}")
        identity = request.args.get("id")
        first = identity is None
        if identity is None:
            identity = uploads.begin(request.args.get("name", ""), _number("size"))
        offset = 0 if first else _number("offset")
        opened = uploads.add(identity, offset, request.get_data(cache=False))
        answer = {"id": identity}
        if opened is not None:
            answer |= {"name": opened.name, "address": _address(opened, addresses)}
        return Response(json.dumps(answer), mimetype="application/json")

    def refused(error: UploadError) -> Response:
        return Response(f"{error}\n", status=error.status, mimetype="text/plain")

    server.add_url_rule(addresses.upload(), "gviz_upload", upload, methods=["POST"])
    server.register_error_handler(UploadError, refused)


def _address(opened: OpenRecording, addresses: Addresses) -> str:
    runs = opened.recording.fetch_runs()
    return addresses.run(opened.key, runs[0].run_id) if len(runs) == 1 else addresses.runs()


def _number(name: str) -> int:
    text = request.args.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise UploadError(400, f"An upload needs its {name} in bytes, not {text!r}")
    return int(text)
