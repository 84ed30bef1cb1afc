"""take_pictures.py [NAME ...]: the pictures of README and docs/, anew from the bundled recordings.

Each is a page of `gviz view` as Chromium draws it (tools/install_chromium.sh), without a GPU.
Chromium and the server are started as the benchmarks start them, with the extra `bench`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from measuring.pages import new_user, open_chromium  # noqa: E402
from measuring.processes import Server, serve  # noqa: E402

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


def take(page: Page, server: Server, name: str) -> None:
    """Write one picture."""
    picture = PICTURES[name]
    page.set_viewport_size({"width": 1440, "height": picture.height})
    page.emulate_media(color_scheme=picture.scheme)  # type: ignore[arg-type]
    page.goto(server.address(picture.address))
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
    files = sorted(map(str, RECORDINGS.glob("*.gviz")))
    command = ["-m", "gviz", "view", "--no-browser", "--port", "0", *files]
    with serve(command) as server, open_chromium() as browser, new_user(browser, server) as user:
        page = user.new_page()
        for name in names or PICTURES:
            take(page, server, name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
