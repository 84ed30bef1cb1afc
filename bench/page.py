"""The graph's page in headless Chromium, served and saved: first use, frames, clicks, folds.

Figures stand beside their goals; with --against those of another tree too, measured in turn with
this one's in the same run. Every page is gviz's own, served by `gviz view` in a process of its own;
"empty page" is a Dash page of one empty box. "cold" is the first request to a fresh server by a
browser with an empty cache: the server reads the recording in it. "warm" is the same page again.
Both are from navigation to the first frame with data of the view named (DAG or timeline); "later"
is what that is more than the empty page of the same repetition; "usable" from navigation until
view and table are there, of the warm page and of the saved file of the same graph. Frames are the
times between animation frames while the wheel zooms or the mouse drags, 60 steps each, at rest
(the table filled); "click" is from the release of the mouse over a node to the frame in which the
inspector tells of it, half a second after the one before, "first click" the same for the first of a
page; "fold" from the choice of folds to the frame that has them; "detail" from the last step of a
zoom to every span of the view drawn, 120 ms of rest included. "cpu" is the processor time of server
and browser until the first picture of the cold visit: other work on the machine changes it less.
"tab" is the memory of the browser's process for the page at rest, "written" the time of
`gviz export --html`, "writing cpu" its processor time, "peak" its memory. "saved painted" is from
navigation to the DAG that the file's worker laid out, "blocked" the longest task of the saved page
from navigation until it is at rest, "served blocked" that of the served one, with Dash's scripts;
0: none took 50 ms. "blocked cpu" is the processor time of the task that took most of it, in one
more visit: other work on the machine makes tasks longer, and not this. Software rendering: a real
screen is faster.
Run: python -P bench/page.py [--repeat R] [--part P] [--only TEXT] [--against TREE]
(needs Chromium: GVIZ_CHROMIUM or on the path)
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from measuring.eager_iteration import lengthen_eager_iteration
from measuring.pages import (
    VIEWPORT,
    Visit,
    busiest_task_ms,
    longest_task,
    new_user,
    open_chromium,
    painted_ms,
    tab_bytes,
    time_clicks,
    time_detail,
    time_fold,
    time_pan,
    time_zoom,
    unfold,
    visit,
    wait_at_rest,
    wait_usable,
    watch_tasks,
)
from measuring.processes import serve, view_command
from measuring.report import Figure, Report
from measuring.trees import Tree, save_page, trees_of
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
BUNDLED = Path(__file__).resolve().parent.parent / "assets" / "recordings"
STEP_NODES = (300, 600, 900, 1_200, 1_500, 1_800)
#: A served page is usable after at most so much of what its saved file takes.
SERVED_OVER_SAVED = 1.35
#: A page answers nothing while a task runs (ms).
LONGEST_TASK = 100
PARTS = ("step", "graphs", "large", "irregular", "spans")


@dataclass(frozen=True, slots=True)
class Goals:
    """The most that figures should be (ms): pictures and frames more than those of an empty page.

    ``written_s`` and ``peak_mb`` are of the saved file. None: not a goal.
    """

    later: float | None = None
    frames_more: float | None = None
    frames: float | None = None
    click: float | None = None
    fold: float | None = None
    saved_fold: float | None = None
    written_s: float | None = None
    peak_mb: float | None = None


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
    is_saved
        Whether the saved file is measured too.
    part
        With which others it is measured by ``--part``.
    """

    name: str
    write: Callable[[Path], object]
    goals: Goals
    query: str = ""
    view: str = "dag"
    nodes: Sequence[int] = ()
    is_saved: bool = False
    part: str = "graphs"


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


def training_step(path: Path) -> None:
    """Copy the bundled recording of 2,307 nodes."""
    shutil.copy(BUNDLED / "training_step.gviz", path)


def cases() -> Iterator[Case]:
    """Yield the pages, as the goals name them."""
    step = Goals(frames_more=5, click=60, fold=120, saved_fold=300, written_s=5)
    name = "training step, 2,307 nodes"
    yield Case(name, training_step, step, nodes=STEP_NODES, is_saved=True, part="step")
    goals = {
        1_000: Goals(later=200, frames_more=5, click=60, fold=120, saved_fold=300),
        5_000: Goals(later=300, frames_more=5, click=60, fold=120),
        20_000: Goals(later=500, frames_more=12, click=60, fold=120),
        100_000: Goals(
            later=1_200, frames=40, click=60, saved_fold=3_000, written_s=30, peak_mb=1_000
        ),
    }
    for count, layers in ((1_000, 67), (5_000, 333), (20_000, 1_333), (100_000, 6_666)):
        nodes = _spread(count)
        shape = transformer_shape(layers)
        is_saved = count in (1_000, 100_000)
        name = f"DAG, {count:,} nodes"
        part = "large" if count == 100_000 else "graphs"
        yield Case(name, graph(shape), goals[count], nodes=nodes, is_saved=is_saved, part=part)
    shape, nodes = irregular_shape(100_000), _spread(100_000)
    yield Case("DAG, 100,000 irregular", graph(shape), Goals(), nodes=nodes, part="irregular")
    million = Goals(later=800, frames=40)
    for name, write, goal, launch in (
        ("1,000,000 spans, one launch", loop, million, "1"),
        ("1,000 x 1,000, stacked", stacked, million, "all"),
        ("1,000 x 1,000, median", stacked, Goals(), "median"),
        ("eager iteration, 1,000,000", eager, million, "1"),
    ):
        yield Case(name, write, goal, f"&launch={launch}", "timeline", part="spans")


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


def measure(browser: Browser, case: Case, path: Path, tree: Tree) -> dict[str, float]:
    """Return the figures of a served page, once (ms, MB)."""
    command = view_command(path)
    with serve(command, tree.python) as server, new_user(browser, server) as context:
        address = f"graph?file={path.stem}&graph=1{case.query}"
        cold, page = visit(context, server, address, case.view)
        page.close()
        warm, page = visit(context, server, address, case.view)
        found = {
            "cold": cold.painted_ms,
            "warm": warm.painted_ms,
            "usable": wait_usable(page, case.view),
            "server cpu": 1e3 * cold.server_cpu_s,
            "browser cpu": 1e3 * cold.browser_cpu_s,
        }
        wait_at_rest(page)
        found["served blocked"] = longest_task(page)
        found |= _moves(page, case) | _clicks(page, case) | _fold(page, case)
        page.close()

        def open_again() -> Page:
            return visit(context, server, address, case.view)[1]

        return found | {"served blocked cpu": busiest_task_ms(browser, open_again)}


def measure_saved(browser: Browser, case: Case, path: Path, tree: Tree) -> dict[str, float]:
    """Return the figures of writing and opening the saved file, once (s, ms, MB)."""
    output = path.with_suffix(".html")
    written = save_page(tree, path, output)
    context = browser.new_context(viewport=VIEWPORT, offline=True)  # type: ignore[arg-type]

    def open_file() -> Page:
        page = context.new_page()
        watch_tasks(page)
        page.goto(output.as_uri(), wait_until="commit")
        return page

    page = open_file()
    found = {
        "written": written.wall_s,
        "writing cpu": written.cpu_s,
        "peak": written.peak_mb,
        "file": written.size_mb,
        "saved usable": wait_usable(page, case.view),
    }
    wait_at_rest(page)
    found |= {"saved painted": painted_ms(page, case.view), "blocked": longest_task(page)}
    found |= {f"saved {name}": value for name, value in _clicks(page, case).items()}
    found |= {f"saved {name}": value for name, value in _fold(page, case).items()}
    page.close()
    found["blocked cpu"] = busiest_task_ms(browser, open_file)
    context.close()
    return found


def _moves(page: Page, case: Case) -> dict[str, float]:
    """Return the frames of a page at rest, and its memory."""
    wait_at_rest(page)
    found = {
        "tab": tab_bytes() / 1e6,
        "zoom": time_zoom(page, case.view),
        "pan": time_pan(page, case.view),
    }
    return found | ({"detail": time_detail(page, "timeline")} if case.view == "timeline" else {})


def _clicks(page: Page, case: Case) -> dict[str, float]:
    if not case.nodes:
        return {}
    unfold(page)
    page.locator("#dag canvas").press("f")
    page.wait_for_timeout(400)
    times = time_clicks(page, case.nodes)
    if len(times) < 2:  # most of them could not be hit
        return {}
    first, *rest = times
    return {"first click": first, "click": sorted(rest)[len(rest) // 2]}


def _fold(page: Page, case: Case) -> dict[str, float]:
    found = time_fold(page) if case.view == "dag" else None
    return {} if found is None else {"fold": found}


def figures(
    case: Case, runs: Sequence[dict[str, float]], empty: Sequence[Empty]
) -> dict[str, Figure]:
    """Return the figures of a page over repetitions, with their goals."""
    goals = case.goals
    found = _pictures(goals, runs, empty)
    if "saved usable" in runs[0]:
        ratio = [run["usable"] / run["saved usable"] for run in runs]
        found["served/saved"] = Figure(ratio, SERVED_OVER_SAVED)
    limits = {
        "usable": None, "saved usable": None, "saved painted": None, "blocked": LONGEST_TASK,
        "served blocked": LONGEST_TASK, "blocked cpu": LONGEST_TASK,
        "served blocked cpu": LONGEST_TASK, "first click": None, "click": goals.click,
        "saved first click": None, "saved click": goals.click,
        "fold": goals.fold, "saved fold": goals.saved_fold, "detail": None,
        "written": goals.written_s,
        "writing cpu": None,
        "peak": goals.peak_mb, "file": None, "tab": None, "server cpu": None, "browser cpu": None,
    }  # fmt: skip
    units = {"written": " s", "writing cpu": " s", "peak": " MB", "file": " MB", "tab": " MB"}
    for name, goal in limits.items():
        values = [run[name] for run in runs if name in run]
        if values:
            found[name + units.get(name, "")] = Figure(values, goal)
    return found


def _pictures(
    goals: Goals, runs: Sequence[dict[str, float]], empty: Sequence[Empty]
) -> dict[str, Figure]:
    """Return first pictures and frames, beside those of an empty page."""
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
    parser.add_argument("--part", choices=PARTS, help="only pages of this part")
    parser.add_argument("--only", default="", help="only pages whose name contains this")
    parser.add_argument("--against", type=Path, metavar="TREE", help="measure this tree as well")
    arguments = parser.parse_args()
    chosen = [
        case
        for case in cases()
        if arguments.only in case.name and arguments.part in (None, case.part)
    ]
    trees = trees_of(arguments.against)
    runs: dict[tuple[str, str], list[dict[str, float]]] = {}
    empty: list[Empty] = []
    with tempfile.TemporaryDirectory() as folder, open_chromium() as browser:
        paths = {case.name: Path(folder) / f"{i}.gviz" for i, case in enumerate(chosen)}
        for case in chosen:
            case.write(paths[case.name])
        for _ in range(arguments.repeat):
            empty.append(measure_empty(browser))
            for case in chosen:
                for tree in trees:
                    path = paths[case.name]
                    found = measure(browser, case, path, tree)
                    found |= measure_saved(browser, case, path, tree) if case.is_saved else {}
                    runs.setdefault((case.name, tree.name), []).append(found)
        report = Report("page", {"chromium": browser.version, "repeat": arguments.repeat})
    report.rows["empty page"] = empty_figures(empty)
    for case in chosen:
        for tree in trees:
            name = f"{case.name}, {tree.name}" if tree.name else case.name
            report.rows[name] = figures(case, runs[case.name, tree.name], empty)
    report.print()


if __name__ == "__main__":
    main()
