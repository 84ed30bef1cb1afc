"""Everything that is recorded of a node, as JSON to take away."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gviz.app.views import GraphView
from gviz.cuda import node_type_name
from gviz.recording import rows


def node_json(
    view: GraphView,
    node: rows.Node,
    nvtx: str | None,
    arguments: Sequence[rows.Argument],
    parameters: Sequence[rows.NodeParameter],
    stack: Sequence[rows.Location],
) -> str:
    """Return a node as JSON: its columns as docs/recording.md has them, and what belongs to it.

    Values that are not recorded are left out; bytes are hexadecimal, in order.
    """
    function = view.functions.get(node.function_id) if node.function_id is not None else None
    statistics = view.statistics_of(node)
    found = {
        "run": view.run.name,
        "graph": view.graph.name,
        "node": _row(node) | {"kind": node_type_name(node.type)},
        "kernel_function": None if function is None else _row(function),
        "statistics": None if statistics is None else _row(statistics),
        "nvtx": nvtx,
        "arguments": [_row(a) for a in arguments],
        "parameters": {p.name: p.value for p in parameters},
        "stack": [_row(frame) for frame in stack],
    }
    return json.dumps({k: v for k, v in found.items() if v}, indent=1, ensure_ascii=False)


def _row(row: object) -> dict[str, object]:
    # Rows hold no other dataclasses: dataclasses.asdict would look into each value.
    values = ((field, getattr(row, field)) for field in row.__dataclass_fields__)  # type: ignore[attr-defined]
    return {k: _plain(v) for k, v in values if v is not None}


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value
