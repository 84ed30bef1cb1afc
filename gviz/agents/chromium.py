"""Chromium, where there is one: makes a picture of pixels of an SVG picture."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from gviz.errors import GvizError, UsageError

#: The first has no windows of its own: others load hundreds of scripts for each one opened.
_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
#: Pixels of the longer side: larger pictures are made smaller before models see them.
LONGEST_SIDE = 1568
#: Seconds to start and draw; 2,300 nodes take 7 on two busy cores.
_SECONDS = 60.0
_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')
#: As an image, not as a page: nothing in it is run or loaded.
_PAGE = '<!doctype html><style>*{{margin:0}}</style><img src="{}" width="{}" height="{}">'


@cache
def find_chromium() -> str | None:
    """Return the path of a Chromium or Chrome that runs; the one of ``GVIZ_CHROMIUM`` first."""
    for name in (os.environ.get("GVIZ_CHROMIUM"), *_NAMES):
        path = shutil.which(name) if name else None
        # Ubuntu's chromium-browser may be a stub that asks for snap.
        if path and subprocess.run([path, "--version"], capture_output=True).returncode == 0:
            return path
    return None


def draw_png(svg: str) -> bytes:
    """Return an SVG picture as PNG, made smaller where a side is longer than ``LONGEST_SIDE``.

    Raises
    ------
    UsageError
        If there is no Chromium.
    GvizError
        If it draws nothing.
    """
    browser = find_chromium()
    if browser is None:
        raise UsageError(
            "there is no Chromium here that draws PNG; ask for form svg, or name a Chromium in "
            "GVIZ_CHROMIUM and start gviz mcp again"
        )
    found = _SIZE.search(svg)
    assert found is not None
    sides = [int(side) for side in found.groups()]
    shrink = min(1.0, LONGEST_SIDE / max(sides))
    width, height = (max(1, round(side * shrink)) for side in sides)
    with TemporaryDirectory(prefix="gviz-picture-") as name:
        folder = Path(name)
        (folder / "picture.svg").write_text(svg, encoding="utf-8")
        page = folder / "page.html"
        page.write_text(_PAGE.format("picture.svg", width, height), encoding="utf-8")
        _screenshot(browser, page, width, height)
        try:
            return (folder / "picture.png").read_bytes()
        except OSError as error:
            raise GvizError(f"{browser} drew no picture; ask for form svg") from error


def _screenshot(browser: str, page: Path, width: int, height: int) -> None:
    """Have a browser write ``picture.png`` beside a page."""
    options = [
        "--headless", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},{height}",
        f"--user-data-dir={page.parent / 'profile'}",
        f"--screenshot={page.parent / 'picture.png'}",
    ]  # fmt: skip
    if os.geteuid() == 0:  # its sandbox does not start as root; the page is gviz's own
        options.append("--no-sandbox")
    try:
        subprocess.run(
            [browser, *options, page.as_uri()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GvizError(f"{browser} drew no picture: {error}; ask for form svg") from error
