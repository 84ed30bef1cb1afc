"""The viewer in headless Chromium: first picture, frames, clicks, beside their goals.

Every page is gviz's own, served by `gviz view` in a process of its own; "empty page" is a Dash
page of one empty box. "cold" is the first request to a fresh server by a browser with an empty
cache: the server reads the recording in it. "warm" is the same page again. Both are from
navigation to the first frame with data of the view named (DAG or timeline); "later" is what that
is more than the empty page of the same repetition. Frames are the times between animation frames
while the wheel zooms or the mouse drags, 60 steps each, at rest (the table filled); "click" is
from the release of the mouse over a node to the frame in which the inspector tells of it, half a
second after the one before, "first click" the same for the first of a page; "detail" from the
last step of a zoom to every span of the view drawn, 120 ms of rest included. "cpu" is the
processor time of server and browser until the first picture of the cold visit: other work on the
machine changes it less. Software rendering: a real screen is faster.
Run: python -P bench/viewer.py [--repeat R] [--only TEXT]
(needs Chromium: GVIZ_CHROMIUM or on the path)
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from measuring.eager_iteration import lengthen_eager_iteration
from measuring.pages import (
    Visit,
    new_user,
    open_chromium,
    time_clicks,
    time_detail,
    time_pan,
    time_zoom,
    visit,
    wait_at_rest,
)
from measuring.processes import serve, view_command
from measuring.report import Figure, Report
from playwright.sync_api import Browser, Page
from recordings import (
    FIRST_NODE_ID,
    Shape,
    irregular_shape,
    transformer_shape,
    write_loop_recording,
    write_recording,
)

EMPTY = str(Path(__file__).resolve().parent / "measuring" / "empty_page.py")
#: Clicks on nodes a page; the first is reported apart.
CLICKS = 6


@dataclass(frozen=True, slots=True)
class Goals:
    """The most that figures should be (ms): pictures and frames more than those of an empty page.

    None: not a goal.
    """

    later: float | None = None
    frames_more: float | None = None
    frames: float | None = None
    click: float | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A page to measure.

    Attributes
    ----------
    write
        Writes its recording.
    query
        Of the graph page, beyond file and graph.
    view
        Id of the element whose picture counts.
    nodes
        Nodes to click at.
    """

    name: str
    write: Callable[[Path], object]
    goals: Goals
    query: str = ""
    view: str = "dag"
    nodes: Sequence[int] = ()


def graph(shape: Shape) -> Callable[[Path], object]:
    """Return what writes a recording of a graph, with arguments of its kernels."""
    return lambda path: write_recording(path, shape, played=2, arguments=True)


def stacked(path: Path) -> None:
    """Write 1,000 launches of a graph of 1,000 nodes."""
    write_recording(path, transformer_shape(67), launches=1_000, played=4)


def eager(path: Path) -> None:
    """Write a graph of 1,000 nodes with an eager iteration of 1,000,000 operations."""
    write_recording(path, transformer_shape(67), launches=2)
    lengthen_eager_iteration(path, 1_000)


def loop(path: Path) -> None:
    """Write one launch whose WHILE node runs two nodes 500,000 times."""
    write_loop_recording(path, iterations=500_000)


def cases() -> Iterator[Case]:
    """Yield the pages, as the goals name them."""
    goals = {
        1_000: Goals(later=200, frames_more=5, click=100),
        5_000: Goals(later=300, frames_more=5, click=100),
        20_000: Goals(later=500, frames_more=12, click=100),
        100_000: Goals(later=1_200, frames=40, click=150),
    }
    for count, layers in ((1_000, 67), (5_000, 333), (20_000, 1_333), (100_000, 6_666)):
        nodes = _spread(count)
        shape = transformer_shape(layers)
        yield Case(f"DAG, {count:,} nodes", graph(shape), goals[count], nodes=nodes)
    shape = irregular_shape(100_000)
    yield Case("DAG, 100,000 irregular", graph(shape), Goals(), nodes=_spread(100_000))
    million = Goals(later=800, frames=40)
    yield Case("1,000,000 spans, one launch", loop, million, "&launch=1", "timeline")
    yield Case("1,000 x 1,000, stacked", stacked, million, "&launch=all", "timeline")
    yield Case("1,000 x 1,000, median", stacked, Goals(), "&launch=median", "timeline")
    yield Case("eager iteration, 1,000,000", eager, million, "&launch=1", "timeline")


def _spread(count: int) -> list[int]:
    return [FIRST_NODE_ID + count * (i + 1) // (CLICKS + 2) for i in range(CLICKS)]


@dataclass(frozen=True, slots=True)
class Empty:
    """One repetition of the empty page."""

    cold: Visit
    warm: Visit
    zoom_p95_ms: float
    pan_p95_ms: float


def measure_empty(browser: Browser) -> Empty:
    """Return what the empty page costs."""
    with serve([EMPTY]) as server, new_user(browser, server) as context:
        cold, page = visit(context, server, "", "empty")
        page.close()
        warm, page = visit(context, server, "", "empty")
        return Empty(cold, warm, time_zoom(page, "empty"), time_pan(page, "empty"))


def measure(browser: Browser, case: Case, path: Path) -> dict[str, float]:
    """Return the figures of a page, once (ms, s)."""
    with serve(view_command(path)) as server, new_user(browser, server) as context:
        address = f"graph?file={path.stem}&graph=1{case.query}"
        cold, page = visit(context, server, address, case.view)
        page.close()
        warm, page = visit(context, server, address, case.view)
        wait_at_rest(page)
        found = {
            "cold": cold.painted_ms,
            "warm": warm.painted_ms,
            "server cpu": 1e3 * cold.server_cpu_s,
            "browser cpu": 1e3 * cold.browser_cpu_s,
            "zoom": time_zoom(page, case.view),
            "pan": time_pan(page, case.view),
        }
        if case.view == "timeline":
            found["detail"] = time_detail(page, case.view)
        return found | _clicks(page, case)


def _clicks(page: Page, case: Case) -> dict[str, float]:
    if not case.nodes:
        return {}
    page.locator("#dag canvas").press("f")
    page.wait_for_timeout(400)
    first, *rest = time_clicks(page, case.nodes)
    return {"first click": first, "click": sorted(rest)[len(rest) // 2]}


def figures(
    case: Case, runs: Sequence[dict[str, float]], empty: Sequence[Empty]
) -> dict[str, Figure]:
    """Return the figures of a page over repetitions, with their goals."""
    goals = case.goals
    before = {
        "cold": [e.cold.painted_ms for e in empty],
        "warm": [e.warm.painted_ms for e in empty],
    }
    found: dict[str, Figure] = {}
    for name in ("cold", "warm"):
        shown = [run[name] for run in runs]
        found[f"{name} ms"] = Figure(shown)
        later = [a - b for a, b in zip(shown, before[name], strict=True)]
        found["later" if name == "cold" else "warm later"] = Figure(later, goals.later)
    for name in ("zoom", "pan"):
        still = Figure([getattr(e, f"{name}_p95_ms") for e in empty]).value
        most = goals.frames if goals.frames_more is None else still + goals.frames_more
        found[f"{name} p95"] = Figure([run[name] for run in runs], most)
    for name, goal in (("first click", None), ("click", goals.click), ("detail", None)):
        if name in runs[0]:
            found[name] = Figure([run[name] for run in runs], goal)
    for name in ("server cpu", "browser cpu"):
        found[name] = Figure([run[name] for run in runs])
    return found


def empty_figures(empty: Sequence[Empty]) -> dict[str, Figure]:
    """Return the figures of the empty page."""
    return {
        "cold ms": Figure([e.cold.painted_ms for e in empty]),
        "warm ms": Figure([e.warm.painted_ms for e in empty]),
        "zoom p95": Figure([e.zoom_p95_ms for e in empty]),
        "pan p95": Figure([e.pan_p95_ms for e in empty]),
        "server cpu": Figure([1e3 * e.cold.server_cpu_s for e in empty]),
        "browser cpu": Figure([1e3 * e.cold.browser_cpu_s for e in empty]),
    }


def main() -> None:
    """Measure, print the table and a JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="only pages whose name contains this")
    arguments = parser.parse_args()
    chosen = [case for case in cases() if arguments.only in case.name]
    runs: dict[str, list[dict[str, float]]] = {case.name: [] for case in chosen}
    empty: list[Empty] = []
    with tempfile.TemporaryDirectory() as folder, open_chromium() as browser:
        paths = {case.name: Path(folder) / f"{i}.gviz" for i, case in enumerate(chosen)}
        for case in chosen:
            case.write(paths[case.name])
        for _ in range(arguments.repeat):
            empty.append(measure_empty(browser))
            for case in chosen:
                runs[case.name].append(measure(browser, case, paths[case.name]))
        report = Report("viewer", {"chromium": browser.version, "repeat": arguments.repeat})
    report.rows["empty page"] = empty_figures(empty)
    for case in chosen:
        report.rows[case.name] = figures(case, runs[case.name], empty)
    report.print()


if __name__ == "__main__":
    main()
