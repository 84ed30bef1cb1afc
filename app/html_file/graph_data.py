"""The data of one graph level in a file, as named blobs of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from dash import html
from dash.development.base_component import Component

from gviz import __version__
from gviz.analysis import analyze
from gviz.app.components import Launches, Parts
from gviz.app.html_file.fact_makers import FactMakers
from gviz.app.html_file.facts import NODES_A_BLOB, inspect, to_json
from gviz.app.html_file.launches import Chosen, offer
from gviz.app.html_file.pool import Pool
from gviz.app.html_file.source import Source
from gviz.app.html_file.states import all_states, level_folds, level_layouts
from gviz.app.inspector import render_memory_facts
from gviz.app.pages import (
    change_summary,
    change_verdicts,
    first_colour,
    graph_content,
    graph_head,
    has_breakdown,
    render_graph,
)
from gviz.app.views import (
    Compared,
    GraphView,
    TreeComparison,
    breakdown_payload,
    payload,
    read_breakdown,
    table_payload,
    typical_launch,
    unpack,
    verdict_values,
)
from gviz.comparison import RequestedPair, RunDiff, compare_graph
from gviz.model import Keep, TimedLevel, keeper, read_timed_level, read_timed_tree
from gviz.recording import Recording

_T = TypeVar("_T")

#: Called with what is being done, often.
Progress = Callable[[str], None]


def graph_blobs(
    source: Source,
    view: GraphView,
    compared: Compared,
    chosen: Chosen,
    makers: FactMakers,
    progress: Progress,
) -> Iterator[tuple[str, bytes]]:
    """Yield the blobs of a graph level, by name.

    ``graph-ID``: JSON, the page and its states; ``arrays-ID``: the arrays they share;
    ``table-ID``: JSON, the table; ``facts-ID-N``: JSON, inspectors of so many nodes as
    ``nodes_a_blob`` says; ``copy-ID-N``: JSON, what "Copy JSON" copies of them.
    """
    graph_id, against = view.graph.graph_id, compared.comparison
    # Others make them while this process lays graphs out.
    makers.begin(view, against)
    parts = Parts(apart=True)
    measurements = source.recording.fetch_measurements(view.run.run_id)
    head = graph_head(view, source.graphs, measurements, baseline=_against(compared))
    run = _change(source, view, compared)
    verdicts = [] if run is None else change_verdicts(run)
    page = render_graph(view, head, offer(view, chosen), against is not None, verdicts)
    memory = parts.add(render_memory_facts(source.library, source.file, view))
    changed = [] if run is None else [change_summary(run)]
    nothing = parts.add(html.Div([*changed, inspect(source, view, (), against)]))
    pool = Pool()
    states = _views(source.recording, view, against, chosen, pool, progress)
    progress(f"{view.graph.name}: the verdict on it")
    verdict = _verdict(source.recording, view, pool)
    together = [f["together"] for f in states["folds"].values() if f["folds"]]
    found = {
        **graph_content(view, page, parts, compared, {"graph": graph_id}),
        "colour": first_colour(view, against is not None),
        "note": _note(source, view, against, chosen, together),
        "nothing": nothing,
        "memory_facts": memory,
        "nodes_a_blob": NODES_A_BLOB,
        **states,
        **verdict,
        "headers": pool.headers,
        "strings": pool.strings,
    }
    yield f"graph-{graph_id}", to_json(found)
    yield f"arrays-{graph_id}", pool.data
    yield f"table-{graph_id}", table_payload(view, against)
    for number, (facts, copies) in enumerate(makers.results()):
        yield f"facts-{graph_id}-{number}", facts
        yield f"copy-{graph_id}-{number}", copies


def _change(source: Source, view: GraphView, compared: Compared) -> RunDiff | None:
    """Return what became of a graph that is launched; None without a baseline, and of a body."""
    baseline = compared.baseline
    if baseline is None or view.graph.parent_graph_id is not None:
        return None
    before = source.library.file(baseline.file).recording
    pair = RequestedPair(baseline.graph_id, view.graph.graph_id)
    run, _ = compare_graph(before, source.recording, pair)
    return run


def _against(compared: Compared) -> Component | None:
    """Return which graph the page is compared with, or why with none."""
    baseline = compared.baseline
    words = compared.problem
    if baseline is not None:
        words = f"Baseline: {baseline.file}, graph {baseline.graph_id}"
    return html.Span(words, className="gv-muted gv-ellipsis") if words else None


def _note(
    source: Source,
    view: GraphView,
    against: TreeComparison | None,
    chosen: Chosen,
    together: Sequence[bool],
) -> str:
    """Return where the file comes from, and what it cannot show."""
    name = source.library.file(source.file).path.name
    content = chosen.to_text() + (", one eager iteration" if view.stream_launches else "")
    if against is not None:
        content += f", against {against.baseline.file}"
    if together:
        way = "what is of one depth together" if any(together) else "one fold or body at a time"
        content += f", and opens {way}"
    return (
        f"This file holds {content}. The recording has the rest: gviz view {name}. "
        f"Saved by gviz {__version__}."
    )


def _views(
    recording: Recording,
    view: GraphView,
    against: TreeComparison | None,
    chosen: Chosen,
    pool: Pool,
    progress: Progress,
) -> dict[str, Any]:
    """Add the payloads of DAG and timeline; return where the page finds them."""
    graph_id = view.graph.graph_id
    keep = keeper()
    tree = read_timed_tree(recording, graph_id, keep)

    def read(at: int) -> TimedLevel:
        return read_timed_level(recording, tree, at, keep)

    launches = [launch.launch_id for launch in chosen.single]

    def draw(request: payload.DagRequest) -> bytes:
        return payload.dag_payload(recording, graph_id, request, keep, against)

    header, plain = unpack(draw(payload.DagRequest()))
    carried = draw(payload.DagRequest(data=True))
    folds = level_folds(tree, read)
    layouts = level_layouts(read(0), header["layout"], bool(launches))
    states = list(all_states(layouts, launches, folds)) if view.nodes else []
    dag = {}
    for done, (key, request) in enumerate(states):
        progress(f"{view.graph.name}: {done:,} of {len(states):,} layouts and folds")
        dag[key] = pool.add(draw(request))
    return {
        "dag": dag,
        "layout": header["layout"],
        "folds": {folding: states.to_header() for folding, states in folds.items()},
        "data_arrays": sorted(set(unpack(carried)[1]) - set(plain)),
        "timeline": _timelines(recording, view, chosen, pool, keep),
        "memory": _memories(recording, graph_id, launches, pool, keep),
    }


def _verdict(recording: Recording, view: GraphView, pool: Pool) -> dict[str, Any]:
    """Add the breakdown; return its place and the verdict, None for what is not launched."""
    if not has_breakdown(view):
        return {"breakdown": None, "verdict": None}
    graph_id, keep = view.graph.graph_id, keeper()
    (run,) = analyze(recording, graph_id=graph_id).runs
    found = read_breakdown(recording, graph_id, keep)
    return {
        "breakdown": pool.add(breakdown_payload(recording, graph_id, keep)),
        "verdict": verdict_values(run, run.graphs[0], found, view.tree),
    }


def _timelines(
    recording: Recording, view: GraphView, chosen: Chosen, pool: Pool, keep: Keep
) -> dict[str, int]:
    """Add the timelines; return the place of each by the value of ``launch=``."""
    stream = typical_launch(view.stream_launches)
    stream_id = None if stream is None else stream.launch_id
    shown: dict[str, int | Launches | None] = {
        str(launch.launch_id): launch.launch_id for launch in chosen.single
    }
    shown |= {name: name for name in chosen.several}
    if not shown and stream is not None:
        shown = {"": None}
    return {
        name: pool.add(
            payload.timeline_payload(
                recording, view.graph.graph_id, launch, stream_id, keep=keep, whole=True
            )
        )
        for name, launch in shown.items()
    }


def _memories(
    recording: Recording,
    graph_id: int,
    launches: Sequence[int],
    pool: Pool,
    keep: Keep,
) -> dict[str, int]:
    """Add the memory along each launch; return the place of each, "" where there is none."""
    shown: dict[str, int | None] = {str(launch): launch for launch in launches} or {"": None}
    return {
        name: pool.add(payload.level_memory_payload(recording, graph_id, launch, keep))
        for name, launch in shown.items()
    }
