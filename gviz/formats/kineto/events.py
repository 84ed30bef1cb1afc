"""The events of Kineto's Chrome traces, decoded.

References
----------
Trace Event Format (Google, 2016); Kineto's ``libkineto/src/output_json.cpp`` for the envelope and
``CuptiActivity.cpp`` for the arguments; annotations of graphs as PyTorch's
``torch/profiler/_chrome_trace_export.py`` (pull request 194854) and, before it,
``torch/cuda/_annotate_cuda_graph_trace.py`` write them. Times are microseconds, with thousandths;
they are left as text, which is made numbers of many at a time.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from gviz.errors import ImportingError
from gviz.formats.traces import decimal


class Args(msgspec.Struct, gc=False):
    """The arguments that gviz reads."""

    correlation: Any = None
    stream: Any = None
    device: Any = None
    grid: Any = None
    block: Any = None
    bytes: Any = None
    #: NVTX domain of a range, as gviz writes it.
    domain: Any = None
    graph_id: Any = msgspec.field(name="graph id", default=None)
    graph_node_id: Any = msgspec.field(name="graph node id", default=None)
    registers: Any = msgspec.field(name="registers per thread", default=None)
    shared_memory: Any = msgspec.field(name="shared memory", default=None)
    #: Direction, where the event's name does not have it (PyTorch's CUPTI monitor).
    copy_kind: Any = msgspec.field(name="copy kind", default=None)
    #: Where it ran, if ``stream`` is a lane that an annotation names.
    original_stream: Any = None
    #: What ``mark_kernels`` says of a graph's node; ``str`` in early versions.
    name: Any = None
    module_fqn: Any = None
    legacy_name: Any = msgspec.field(name="str", default=None)


class Event(msgspec.Struct, gc=False):
    """One event. What gviz does not look at is never made an object."""

    ph: Any = None
    cat: Any = None
    name: Any = None
    pid: Any = None
    tid: Any = None
    #: Microseconds, as they are written.
    ts: msgspec.Raw = msgspec.Raw()
    dur: msgspec.Raw = msgspec.Raw()
    args: Args | None = None


_DECODER = msgspec.json.Decoder(list[Event | None])
_ONE = msgspec.json.Decoder(Event)


class EventParser:
    """Makes events of their text; None is an object that is none.

    Parameters
    ----------
    shown
        What the file is called in errors.
    """

    def __init__(self, shown: str) -> None:
        self._shown = shown

    def many(self, text: bytes) -> list[Event | None] | None:
        """Return the events of an array's text; None: not all are what JSON and Kineto allow."""
        try:
            return _DECODER.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    def one(self, text: bytes, offset: int) -> Event | None:
        """Return an event that is not as it should be: NaN and the like are read as such.

        Raises
        ------
        ImportingError
            If it is malformed.
        """
        try:
            return _ONE.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            pass
        try:
            # Old Kineto wrote infinities, which JSON does not know; Python's parser does.
            value = json.loads(text.decode("utf-8", "replace"), parse_float=decimal)
        except (ValueError, RecursionError) as error:
            raise ImportingError(
                f"{self._shown} has no trace event at byte {offset:,}: {error}; export the trace "
                "again"
            ) from None
        return _event(value) if isinstance(value, dict) else None


def _event(value: dict[str, Any]) -> Event:
    args = value.get("args")
    known = args if isinstance(args, dict) else {}
    fields_given = {name: value.get(name) for name in ("ph", "cat", "name", "pid", "tid")}
    return Event(
        **fields_given,
        ts=_raw(value.get("ts")),
        dur=_raw(value.get("dur")),
        args=Args(**{f.name: known.get(f.encode_name) for f in msgspec.structs.fields(Args)}),
    )


def _raw(value: Any) -> msgspec.Raw:
    number = decimal(value)
    return msgspec.Raw(b"" if number is None else str(number).encode())


def annotation(args: Args) -> str | None:
    """Return a program's annotation of a graph's node at capture; None: it made none."""
    for value in (args.name, args.module_fqn, args.legacy_name):
        if isinstance(value, str) and value:
            return value
    return None
