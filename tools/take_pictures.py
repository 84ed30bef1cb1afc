"""take_pictures.py [NAME ...]: the pictures of README and docs/, anew from the bundled recordings.

Each is a page of `gviz view` as Chromium draws it (tools/install_chromium.sh), without a GPU.
Playwright comes with the extra `test`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = ROOT / "assets" / "recordings"
IMAGES = ROOT / "docs" / "images"
#: Until nothing on a page moves or is waited for any more (ms).
SETTLED_MS = 6000


@dataclass(frozen=True, slots=True)
class Picture:
    """An address, what is pressed there, and how large and how bright the window is."""

    address: str
    keys: tuple[str, ...] = ()
    height: int = 900
    scheme: str = "light"


PICTURES = {
    "graph": Picture("graph?file=training_step&graph=1"),
    "breakdown": Picture("graph?file=training_step&graph=1", ("b",), scheme="dark"),
    "folded": Picture("graph?file=decode_step_h200&graph=1&fold=repeats&open=first&launch=all"),
    "compare": Picture("compare?a=decode_step_h200&b=decode_step_h200_fused"),
    "report": Picture("report?file=decode_step_h200&graph=1"),
    "memory": Picture("graph?file=training_step&graph=1&panel=memory&edges=data"),
    "ranks": Picture("ranks?file=ranks_h200", height=760),
}


@contextmanager
def served() -> Iterator[str]:
    """Serve the bundled recordings; yield the address that admits a browser."""
    files = sorted(map(str, RECORDINGS.glob("*.gviz")))
    command = [sys.executable, "-P", "-m", "gviz", "view", "--no-browser", *files]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        found = (re.search(r"http://\S+", line) for line in server.stdout)
        yield next(match[0] for match in found if match)
        server.terminate()


def take(page: Page, base: str, name: str) -> None:
    """Write one picture."""
    picture = PICTURES[name]
    page.set_viewport_size({"width": 1440, "height": picture.height})
    page.emulate_media(color_scheme=picture.scheme)  # type: ignore[arg-type]
    page.goto(base + picture.address)
    page.wait_for_timeout(SETTLED_MS)
    for key in picture.keys:
        page.keyboard.press(key)
        page.wait_for_timeout(SETTLED_MS / 3)
    page.screenshot(path=IMAGES / f"{name}.png")


def main(names: list[str]) -> int:
    """Take the pictures of these names, or all; return 2 for a name that there is not."""
    if unknown := set(names) - set(PICTURES):
        print(f"no picture {', '.join(unknown)}; there are {', '.join(PICTURES)}", file=sys.stderr)
        return 2
    chromium = os.environ.get("GVIZ_CHROMIUM") or shutil.which("chromium-headless-shell")
    chromium = chromium or "/usr/lib/chromium/chromium-headless-shell"
    with served() as start, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(start)
        base = start.partition("?")[0]
        for name in names or PICTURES:
            take(page, base, name)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
