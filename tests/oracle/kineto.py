"""Chrome traces of PyTorch's profiler (Kineto), read whole."""

from __future__ import annotations

import gzip
import json
import lzma
from decimal import Decimal
from pathlib import Path
from typing import Any

from oracle.raw import Call, Raw, Work

_KINDS = {"kernel": "kernel", "gpu_memcpy": "memcpy", "gpu_memset": "memset"}
_NODE_BITS = 32


def read_kineto(path: Path) -> Raw:
    """Return a trace's work and graph launches, in whole nanoseconds of its clock."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    elif path.suffix == ".xz":
        data = lzma.decompress(data)
    # Decimal: a microsecond with thousandths, as a binary fraction, is not what was written.
    trace = json.loads(data, parse_float=Decimal)
    base = trace.get("baseTimeNanoseconds", 0)
    raw = Raw()
    for event in trace["traceEvents"]:
        if event.get("ph") != "X" or "args" not in event:
            continue
        start = base + int(Decimal(event["ts"]) * 1000)
        end = start + int(Decimal(event["dur"]) * 1000)
        args = event["args"]
        if event.get("cat") in _KINDS:
            raw.work.append(_work(event["cat"], event["name"], start, end, args))
        elif "GraphLaunch" in event["name"] and "correlation" in args:
            raw.launches.append(Call(args["correlation"], start, end))
    return raw


def _work(category: str, name: str, start: int, end: int, args: dict[str, Any]) -> Work:
    kind = _KINDS[category]
    number = args.get("graph node id") or 0
    node = (number >> _NODE_BITS, number & (1 << _NODE_BITS) - 1) if number else None
    return Work(
        kind=kind,
        name=name if kind == "kernel" else "",
        start_ns=start,
        end_ns=end,
        device=args["device"],
        stream=args["stream"],
        correlation=args["correlation"],
        node=node,
    )
