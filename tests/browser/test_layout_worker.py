"""The worker of saved files lays DAGs out as the server does: the same items, places and words."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nested_recordings import NESTED, write_nested_recording
from playwright.sync_api import Page
from recordings import Shape, Work, write_loop_recording, write_recording

from gviz.app.components.dag_options import FOLDINGS, LAYOUTS
from gviz.app.components.web_modules import join_modules
from gviz.app.files.library import Library
from gviz.app.html_file.launches import choose
from gviz.app.html_file.packed import pack
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

pytestmark = pytest.mark.browser

BUNDLED = sorted(Path(str(files("gviz.assets") / "recordings")).glob("*.gviz"))
#: Arrays of indices of strings: equal strings may stand at other places.
TEXTS = {
    *("name", "reason", "nvtx", "device", "family", "phase", "module", "fold", "inside"),
    *("fold_words", "open_name", "open_of"),
    *("mix_family", "parent_words", "body_label", "body_words"),
}
#: Sums of single precision differ by the order in which they are taken.
TOLERANCE = 1e-6
#: Answers of the worker, arrays as bytes in base64.
ASK = """async ([code, data, requests]) => {
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const worker = new Worker(address);
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
    found.push([header, Object.fromEntries(texts)]);
  }
  worker.terminate();
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
    """A graph and requests to its DAG."""

    whole: bytes
    requests: Sequence[DagRequest]
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
            return Requested(whole, requests, wanted)
    finally:
        library.close()


@pytest.fixture(scope="module")
def code() -> str:
    return join_modules(files("gviz.assets") / "web", "layout/main.js")


def answers(page: Page, code: str, of: Requested) -> Iterator[Answer]:
    """Yield what the worker answers to requests."""
    asked = [
        {
            "layout": r.layout,
            "launch": r.launch_id,
            "folding": r.folding,
            "open": sorted(r.unfolded),
            "data": r.data,
        }
        for r in of.requests
    ]
    data = base64.b64encode(pack(of.whole)).decode()
    for header, arrays in page.evaluate(ASK, [code, data, asked]):
        found = {
            name: np.frombuffer(base64.b64decode(text), TYPES[kind])
            for name, (kind, text) in arrays.items()
        }
        yield header, found


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
        else:
            np.testing.assert_allclose(mine, values, TOLERANCE, TOLERANCE, err_msg=name)
    assert readable(found[0]) == readable(wanted[0])


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
        found[name] = {strings[int(at)]: value for at, value in header[name].items()}
    return json.dumps(plain(found), sort_keys=True)


def check(page: Page, code: str, path: Path, graph_id: int = 1, most: int = 10) -> None:
    """Fail unless the worker answers as the server does."""
    of = requested(path, graph_id, most)
    for request, found, wanted in zip(of.requests, answers(page, code, of), of.wanted, strict=True):
        try:
            assert_same(found, wanted)
        except AssertionError as error:
            error.add_note(f"{path.stem}, graph {graph_id}: {request}")
            raise


def test_bundled_recordings_are_laid_out_alike(page: Page, code: str) -> None:
    for path in BUNDLED:
        check(page, code, path)


def test_random_graphs_are_laid_out_alike(page: Page, code: str, tmp_path: Path) -> None:
    for seed in range(12):
        path = write_recording(tmp_path / f"r{seed}.gviz", random_shape(seed), launches=2)
        check(page, code, path)


def test_bodies_and_loops_are_laid_out_alike(page: Page, code: str, tmp_path: Path) -> None:
    nested = write_nested_recording(tmp_path / "nested.gviz", NESTED)
    for graph_id in (1, 3):
        check(page, code, nested, graph_id, most=30)
    check(page, code, write_loop_recording(tmp_path / "loop.gviz"), most=30)
