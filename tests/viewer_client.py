"""A user of the viewer without a browser: asks a running server for what a browser would."""

from __future__ import annotations

import gzip
import json
import time
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any


class Client:
    """Asks one server, as somebody who opened the printed address.

    Parameters
    ----------
    url
        A link that was not used yet, as ``gviz view`` prints it.
    """

    def __init__(self, url: str) -> None:
        self._base = url.split("?")[0]
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with self._opener.open(url) as answer:
            answer.read()

    def get(self, path: str) -> bytes:
        """Return the answer to a request, as it was sent."""
        headers = {"Accept-Encoding": "gzip"}
        with self._opener.open(urllib.request.Request(self._base + path, headers=headers)) as a:
            body: bytes = a.read()
            return body

    def show_page(self, path: str, search: str) -> Any:
        """Return the component tree of a page."""
        outputs = (
            ("page", "children"),
            ("trail", "children"),
            ("title", "data"),
            ("shown", "data"),
        )
        route = {"path": path, "search": search, "turn": 1}
        return self._callback(outputs, (("route", "data", route),), ())

    def select(self, file: str, graph_id: int, nodes: Sequence[int]) -> Any:
        """Return what the inspector says of a selection (:mod:`gviz.app.components.parts`)."""
        body = json.dumps(list(nodes)).encode()
        return self._post(f"payload/inspector/{file}/{graph_id}", body)

    def compare(self, search: str) -> Any:
        """Return what the Compare page is made of, waiting as the page does, and its summary."""
        while True:
            page = json.loads(_unpacked(self.get(f"payload/compared/page{search}")))
            if "waiting" not in page:
                return page, self._post(f"payload/compared/inspector{search}", b"[]")
            time.sleep(0.7)  # assets/web/stores/fetched.js

    def _callback(
        self,
        outputs: Sequence[tuple[str, str]],
        inputs: Sequence[tuple[str, str, object]],
        state: Sequence[tuple[str, str, object]],
    ) -> Any:
        names = [f"{name}.{prop}" for name, prop in outputs]
        made = [{"id": name, "property": prop} for name, prop in outputs]
        requested = {
            "output": names[0] if len(names) == 1 else f"..{'...'.join(names)}..",
            "outputs": made[0] if len(made) == 1 else made,
            "inputs": [{"id": n, "property": p, "value": v} for n, p, v in inputs],
            "changedPropIds": [f"{inputs[0][0]}.{inputs[0][1]}"],
            "state": [{"id": n, "property": p, "value": v} for n, p, v in state],
        }
        return self._post("_dash-update-component", json.dumps(requested).encode())

    def _post(self, path: str, body: bytes) -> Any:
        request = urllib.request.Request(
            self._base + path,
            data=body,
            headers={"Content-Type": "application/json", "Origin": self._base.rstrip("/")},
        )
        with self._opener.open(request) as answer:
            return json.loads(answer.read())


def _unpacked(body: bytes) -> bytes:
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body


def use_everything(
    client: Client, file: str, launches: Sequence[int], nodes: Sequence[int]
) -> Iterator[str]:
    """Open a recording of one graph and look at all of it, step by step; yields what was done.

    Parameters
    ----------
    launches
        Ids of recorded launches.
    nodes
        Ids of nodes to select.
    """
    end = f"{file}/1"
    client.show_page("/", "")
    yield "runs page"
    client.get(f"graph?file={file}&graph=1")
    client.show_page("/graph", f"?file={file}&graph=1")
    yield "graph page"
    client.get(f"payload/dag/{end}")
    yield "DAG"
    client.get(f"payload/timeline/{end}?launch={launches[0]}")
    yield "timeline of a launch"
    client.get(f"payload/table/{end}")
    yield "table"
    for node in nodes:
        client.select(file, 1, [node])
    yield "inspector, one node after the other"
    client.select(file, 1, nodes)
    yield "inspector, several nodes"
    for launch in ("all", "median"):
        client.get(f"payload/timeline/{end}?launch={launch}")
        yield f"timeline, {launch}"
    for first in range(0, len(launches), 4):
        for begin in (0, 5_000_000):
            window = f"from={begin}&to={begin + 20_000_000}&width=1200&rows={first}-{first + 12}"
            client.get(f"payload/timeline/{end}?launch=all&{window}&node={nodes[0]}")
    yield "stacked launches, zoomed and scrolled"
    for launch_id in launches:
        client.get(f"payload/timeline/{end}?launch={launch_id}")
    yield "timelines of all launches"
    for launch_id in (launches[0], launches[-1]):
        client.get(f"payload/memory/{end}?launch={launch_id}")
    yield "memory along two launches"
    client.get(f"payload/miniature/{end}")
    yield "small picture"
    for requested in (
        "edges=data",
        "layout=lanes",
        "layout=time",
        "fold=repeats",
        "fold=ranges",
        "layout=structure",
    ):
        client.get(f"payload/dag/{end}?{requested}&launch={launches[-1]}")
        yield f"DAG, {requested}"
    for launch_id in launches:
        client.get(f"payload/dag/{end}?launch={launch_id}")
    yield "DAG coloured by each launch"
