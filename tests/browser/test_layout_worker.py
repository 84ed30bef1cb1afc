"""The worker of saved files lays DAGs out as the server does: the same items, places and words.

So it does two graphs as one.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from nested_recordings import NESTED, NESTED_CHANGED, NESTED_SHORTENED, write_nested_recording
from playwright.sync_api import Page
from recordings import Shape, Work, write_loop_recording, write_recording

from gviz.app.components.addresses import Sides
from gviz.app.components.dag_options import FOLDINGS, LAYOUTS
from gviz.app.components.web_modules import join_modules
from gviz.app.files.library import Library
from gviz.app.html_file.document import compress
from gviz.app.html_file.launches import choose
from gviz.app.pages.compare.comparison import compare_sides
from gviz.app.pages.compare.union_dag import LAYOUTS as LAYOUTS_OF_BOTH
from gviz.app.pages.compare.union_dag import UnionRequest, union_dag
from gviz.app.pages.compare.whole_union import whole_union
from gviz.app.views.dag.folding import kept_folds
from gviz.app.views.dag.visible_levels import open_id
from gviz.app.views.dag_source import whole_dag
from gviz.app.views.graph_data import graph_view
from gviz.app.views.payload import DagRequest, dag_payload
from gviz.app.views.wire import Arrays, unpack
from gviz.layout import FIRST_BLOCKS
from gviz.model import Keep, keeper, read_timed_level
from gviz.model.tree.graph_tree import GraphTree
from gviz.recording.reader import Recording

if TYPE_CHECKING:
    from conftest import GraphPage

pytestmark = pytest.mark.browser

BUNDLED = sorted(Path(str(files("gviz.assets") / "recordings")).glob("*.gviz"))
#: Arrays of indices of strings: equal strings may stand at other places.
TEXTS = {
    *("name", "reason", "nvtx", "device", "family", "phase", "module", "fold", "inside"),
    *("fold_words", "open_name", "open_of", "difference"),
    *("mix_family", "parent_words", "body_label", "body_words", "place_name"),
}
HIDDEN = ("hidden_node", "hidden_item")
#: Sums of single precision differ by the order in which they are taken.
TOLERANCE = 1e-6
START = """code => {
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  window.worker = new Worker(address);
}"""
#: Answers of the worker: headers as JSON, arrays as bytes in base64.
ASK = """async ([data, requests]) => {
  const { worker } = window;
  const ask = (message) => new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (error) => reject(new Error(error.message));
    worker.postMessage(message);
  });
  const bytes = (array) => {
    const all = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    let text = "";
    for (let at = 0; at < all.length; at += 8192) {
      text += String.fromCharCode(...all.subarray(at, at + 8192));
    }
    return [array.constructor.name, btoa(text)];
  };
  const found = [];
  for (const [number, request] of requests.entries()) {
    const sent = number ? undefined : data;
    const { answer, problem } = await ask({ number, graph: 1, data: sent, question: request });
    if (problem) throw new Error(`${JSON.stringify(request)}: ${problem}`);
    const { header, ...arrays } = answer;
    const texts = Object.entries(arrays).map(([name, array]) => [name, bytes(array)]);
    found.push([JSON.stringify(header), Object.fromEntries(texts)]);
  }
  return found;
}"""
TYPES = {
    "Uint8Array": "u1",
    "Uint32Array": "u4",
    "Int32Array": "i4",
    "Float32Array": "f4",
    "Float64Array": "f8",
}
#: A header and its arrays.
Answer = tuple[dict[str, Any], Arrays]


@dataclass(frozen=True, slots=True)
class Requested:
    """A graph, or two as one, questions about its DAG, and what the server answers."""

    whole: bytes
    questions: Sequence[dict[str, Any]]
    wanted: Sequence[Answer]


def random_shape(seed: int) -> Shape:
    """Return a graph of random edges and equal parts, of which some repeat."""
    chance = random.Random(seed)
    works: list[Work] = []
    for _ in range(chance.randint(1, 6)):
        block = [(f"k{chance.randint(0, 3)}", chance.random()) for _ in range(chance.randint(1, 9))]
        for _, (name, often) in product(range(chance.randint(1, 4)), block):
            reach = range(max(0, len(works) - chance.randint(1, 12)), len(works))
            after = tuple(sorted({at for at in reach if chance.random() < often / 2}))
            works.append(Work(name, chance.randint(1, 9) * 1_000, after))
    return Shape(f"random {seed}", tuple(works))


def open_sets(
    recording: Recording,
    tree: GraphTree,
    levels: Sequence[Any],
    folding: str | None,
    keep: Keep,
) -> list[list[str]]:
    """Return what may be open: nothing, the first blocks, something by chance, all bodies."""
    chance = random.Random(len(tree.key))
    bodies = [open_id(int(tree.key[n])) for n in range(len(tree.key)) if tree.bodies(n)]
    found = [[], *([bodies] if bodies else [])]
    if folding is not None:
        prefixes = [f"{level.at}." if level.at else "" for level in levels]
        folds = [
            prefix + fold.id
            for prefix, level in zip(prefixes, levels, strict=True)
            for fold in kept_folds(recording, level, folding, keep).every()
        ]
        some = chance.sample(folds, min(len(folds), 6))
        found += [[FIRST_BLOCKS], [*some, *bodies], [FIRST_BLOCKS, *some]]
    return found


def requested(path: Path, graph_id: int, most: int) -> Requested:
    """Return some requests to a graph's DAG, and what the server answers."""
    library = Library([path])
    (opened,) = library.files()
    try:
        with opened.at():
            view = graph_view(library, opened.key, graph_id)
            recording, keep = opened.recording, keeper()
            launches = {x.launch_id: x.ordinal for x in choose(view, ()).single}
            levels = [
                read_timed_level(recording, view.tree, at, keep)
                for at in range(len(view.tree.levels))
            ]
            launch = next(iter(launches), None)
            requests = [
                DagRequest(layout, launch, folding, frozenset(names), data=at % 2 == 0)
                for folding in (None, *FOLDINGS)
                for opened_at in [open_sets(recording, view.tree, levels, folding, keep)]
                for at, (names, layout) in enumerate(product(opened_at, (None, *LAYOUTS)))
            ]
            requests = random.Random(1).sample(requests, min(most, len(requests)))
            whole = whole_dag(recording, graph_id, launches, keep)
            wanted = [unpack(dag_payload(recording, graph_id, r, keep)) for r in requests]
            return Requested(whole, [question(r) for r in requests], wanted)
    finally:
        library.close()


@pytest.fixture(scope="module")
def worker(kept_page: GraphPage) -> Page:
    """A page with a worker, which is handed one graph after the other."""
    page = kept_page.page
    page.evaluate(START, join_modules(files("gviz.assets") / "web", "layout/main.js"))
    return page


def question(request: DagRequest) -> dict[str, Any]:
    """Return a request as the worker takes it."""
    return {
        "layout": request.layout,
        "launch": request.launch_id,
        "folding": request.folding,
        "open": sorted(request.unfolded),
        "data": request.data,
        "level": 0,
    }


def requested_of_both(before: Path, after: Path, most: int) -> Requested:
    """Return some requests to two graphs as one, and what the server answers."""
    library = Library([before, after])
    try:
        found = compare_sides(library, Sides(before.stem, after.stem, 1, 1))
        recordings = library.file(before.stem).recording, library.file(after.stem).recording
        names = before.stem, after.stem
        bodies = [open_id(parent) for parent in found.page.bodies]
        some = random.Random(1).sample(bodies, len(bodies) // 2)
        requests = [
            UnionRequest(level, layout, frozenset(opened))
            for level in range(len(found.page))
            for layout in (None, *LAYOUTS_OF_BOTH)
            for opened in ([], bodies, some)
        ]
        requests = random.Random(1).sample(requests, min(most, len(requests)))
        wanted = [unpack(union_dag(found, recordings, names, r)) for r in requests]
        alike = [question(DagRequest(r.layout, None, None, r.opened)) for r in requests]
        asked = [{**q, "level": r.level} for q, r in zip(alike, requests, strict=True)]
        return Requested(whole_union(found, recordings, names), asked, wanted)
    finally:
        library.close()


def answers(worker: Page, of: Requested) -> Iterator[Answer]:
    """Yield what the worker answers to requests."""
    data = base64.b64encode(compress(of.whole)).decode()
    for header, arrays in worker.evaluate(ASK, [data, of.questions]):
        found = {
            name: np.frombuffer(base64.b64decode(text), TYPES[kind])
            for name, (kind, text) in arrays.items()
        }
        yield json.loads(header), found


def assert_same(
    found: tuple[dict[str, Any], Arrays], wanted: tuple[dict[str, Any], Arrays]
) -> None:
    """Fail unless two payloads say the same."""
    assert set(found[1]) == set(wanted[1])
    for name, values in wanted[1].items():
        mine = found[1][name]
        assert mine.dtype == values.dtype, name
        if name in TEXTS:
            shown = [
                [None if at < 0 else header["strings"][at] for at in array.tolist()]
                for header, array in ((found[0], mine), (wanted[0], values))
            ]
            assert shown[0] == shown[1], name
        elif name == "critical_edge":  # a set
            assert sorted(mine.tolist()) == sorted(values.tolist())
        elif name in HIDDEN:
            assert hidden(found[1]) == hidden(wanted[1])
        else:
            np.testing.assert_allclose(mine, values, TOLERANCE, TOLERANCE, err_msg=name)
    assert readable(found[0]) == readable(wanted[0])


def hidden(arrays: Arrays) -> dict[int, int]:
    """Return the item that holds each hidden node."""
    return dict(zip(*(arrays[name].tolist() for name in HIDDEN), strict=True))


def readable(header: dict[str, Any]) -> str:
    """Return a header with texts instead of places of strings, numbers to six digits."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(key): plain(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [plain(inner) for inner in value]
        return float(f"{value:.6g}") if type(value) in (int, float) else value

    strings = header["strings"]
    found = {k: v for k, v in header.items() if k not in ("strings", "arrays", "version")}
    for name in ("labels", "family_slots"):
        found[name] = {strings[int(at)]: value for at, value in header.get(name, {}).items()}
    return json.dumps(plain(found), sort_keys=True)


def check(worker: Page, of: Requested, about: str) -> None:
    """Fail unless the worker answers as the server does."""
    for asked, found, wanted in zip(of.questions, answers(worker, of), of.wanted, strict=True):
        try:
            assert_same(found, wanted)
        except AssertionError as error:
            error.add_note(f"{about}: {asked}")
            raise


def test_bundled_recordings_are_laid_out_alike(worker: Page) -> None:
    for path in BUNDLED:
        check(worker, requested(path, 1, 5), path.stem)


def test_random_graphs_are_laid_out_alike(worker: Page, tmp_path: Path) -> None:
    paths = [
        write_recording(tmp_path / f"r{seed}.gviz", random_shape(seed), launches=2)
        for seed in range(9)
    ]
    for path in paths:
        check(worker, requested(path, 1, 10), path.stem)
    of_both = [requested_of_both(a, b, 4) for a, b in pairwise(paths)]
    # Where nodes were moved, some edges before are laid out the other way.
    assert any(unpack(of.whole)[1]["runs_back"].any() for of in of_both)
    for number, of in enumerate(of_both):
        check(worker, of, f"random {number} and the next")


def test_bodies_and_loops_are_laid_out_alike(worker: Page, tmp_path: Path) -> None:
    nested = write_nested_recording(tmp_path / "nested.gviz", NESTED)
    for graph_id in (1, 3):
        check(worker, requested(nested, graph_id, 20), f"nested, graph {graph_id}")
    loop = write_loop_recording(tmp_path / "loop.gviz")
    check(worker, requested(loop, 1, 20), "loop")
    for name, shape in (("changed", NESTED_CHANGED), ("shortened", NESTED_SHORTENED)):
        other = write_nested_recording(tmp_path / f"{name}.gviz", shape, seed=1)
        check(worker, requested_of_both(nested, other, 20), name)
        check(worker, requested_of_both(other, nested, 20), f"{name} before")
