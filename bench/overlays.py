"""A table of a million rows laid on a graph of 100,000 nodes, in headless Chromium.

"dropped" onto the served page and onto the saved file, "given" as `gviz view --overlay`: seconds
until the page says what became of the rows, the processor time of the browser, the longest task and
the longest wait of a timer meanwhile, and the memory that the tab has more at rest than before.
"open" is how long the page of a given table takes until graph and nodes are there. A file with one
row more is refused: seconds until the page says so. Other work on the machine changes "cpu" least.
Run: python -P bench/overlays.py [--repeat R]
(needs Chromium: GVIZ_CHROMIUM or on the path)
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from measuring.pages import (
    VIEWPORT,
    browser_cpu_s,
    longest_task,
    new_user,
    open_chromium,
    tab_bytes,
    wait_at_rest,
    wait_usable,
    watch_tasks,
)
from measuring.processes import serve, view_command
from measuring.report import Figure, Report
from measuring.trees import save_page, trees_of
from playwright.sync_api import Browser, Page
from recordings import FIRST_NODE_ID, transformer_shape, write_recording

ROWS = 1_000_000
NODES = 99_996
#: The page answers nothing while a task runs (ms).
LONGEST_TASK = 100
#: Notes how late timers come until the page says what became of a table.
_SAID = """async (words) => {
  window.gvizTasks.length = 0;
  const begin = performance.now();
  let last = begin, longest = 0;
  for (;;) {
    await new Promise((done) => setTimeout(done, 4));
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    const text = document.getElementById("overlay-notes")?.textContent ?? "";
    if (text.includes(words)) return [(now - begin) / 1e3, longest];
    if (now - begin > 120000) throw new Error(`the page says: ${text}`);
  }
}"""


def write_table(path: Path, rows: int) -> None:
    """Write a table about all nodes ten times over, and about 1,000 that there are not."""
    with path.open("w") as file:
        file.write("node,energy [uJ],share [%],note\n")
        for row in range(rows):
            node = FIRST_NODE_ID + row % (NODES + 1_000)
            file.write(f"{node},{row % 977},{row % 313 / 7:.4f},w{row % 9}\n")


def _laid(page: Page, words: str) -> dict[str, float]:
    """Return how long it took until the page said so of a table, and how it answered meanwhile."""
    before = browser_cpu_s()
    seconds, late = page.evaluate(_SAID, words)
    cpu = browser_cpu_s() - before
    return {"laid s": seconds, "cpu s": cpu, "late ms": late, "task ms": longest_task(page)}


def drop(page: Page, table: Path, refused: Path) -> dict[str, float]:
    """Return what it takes to lay a table, and to refuse one."""
    wait_usable(page, "dag")
    wait_at_rest(page)
    before = tab_bytes()
    _choose(page, table)
    found = _laid(page, f"{ROWS:,} rows")
    wait_at_rest(page)
    found["tab MB"] = (tab_bytes() - before) / 1e6
    _choose(page, refused)
    found["refused s"] = _laid(page, f"more than {ROWS:,} rows")["laid s"]
    return found


def _choose(page: Page, table: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.locator("[data-lay]").first.evaluate("(button) => button.click()")
    chooser.value.set_files(table)


def served(browser: Browser, recording: Path, table: Path, refused: Path) -> dict[str, float]:
    """Return the figures of a table that is dropped onto a served page."""
    with serve(view_command(recording)) as server, new_user(browser, server) as context:
        page = context.new_page()
        watch_tasks(page)
        page.goto(server.address(f"graph?file={recording.stem}&graph=1"), wait_until="commit")
        found = drop(page, table, refused)
        page.close()
        return found


def saved(browser: Browser, output: Path, table: Path, refused: Path) -> dict[str, float]:
    """Return the figures of a table that is dropped onto a saved file."""
    context = browser.new_context(viewport=VIEWPORT, offline=True)  # type: ignore[arg-type]
    page = context.new_page()
    watch_tasks(page)
    page.goto(output.as_uri(), wait_until="commit")
    found = drop(page, table, refused)
    context.close()
    return found


def given(browser: Browser, recording: Path, table: Path) -> dict[str, float]:
    """Return the figures of a page that comes with a table."""
    command = [*view_command(recording), "--overlay", str(table)]
    with serve(command) as server, new_user(browser, server) as context:
        page = context.new_page()
        watch_tasks(page)
        page.goto(server.address(f"graph?file={recording.stem}&graph=1"), wait_until="commit")
        opened = wait_usable(page, "dag")
        found = _laid(page, f"{ROWS:,} rows")
        found["laid s"] += opened / 1e3
        page.close()
        return found | {"open s": opened / 1e3}


def main() -> None:
    """Measure, print the table and a JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    runs: dict[str, list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as name, open_chromium() as browser:
        folder = Path(name)
        recording, table, refused = (folder / n for n in ("graph.gviz", "rows.csv", "more.csv"))
        write_recording(recording, transformer_shape(6_666), launches=2, played=2, arguments=True)
        write_table(table, ROWS)
        write_table(refused, ROWS + 1)
        output = folder / "graph.html"
        tree = trees_of(None)[0]
        save_page(tree, recording, output)
        parts: dict[str, Callable[[], dict[str, float]]] = {
            "dropped, served": lambda: served(browser, recording, table, refused),
            "dropped, saved": lambda: saved(browser, output, table, refused),
            "given": lambda: given(browser, recording, table),
        }
        for _ in range(arguments.repeat):
            for part, run in parts.items():
                runs.setdefault(part, []).append(run())
        report = Report("overlays", {"chromium": browser.version, "repeat": arguments.repeat})
    for part, found in runs.items():
        report.rows[part] = {
            key: Figure([run[key] for run in found], LONGEST_TASK if key == "task ms" else None)
            for key in found[0]
        }
    report.print()


if __name__ == "__main__":
    main()
