"""Recordings nobody should make: names of every kind, and dependencies in a cycle."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from recordings import FIRST_NODE_ID, Shape, Work, fork_join_shape, write_recording

#: Sets ``window.gvizEvil`` wherever a name is taken for markup, script or template.
NAMES = (
    '<img src=x onerror="window.gvizEvil=1">',
    '"><script>window.gvizEvil=1</script>',
    "</title></style></textarea><svg onload='window.gvizEvil=1'>",
    "'; window.gvizEvil=1; //",
    "{{constructor.constructor('window.gvizEvil=1')()}} ${window.gvizEvil=1}",
    "javascript:window.gvizEvil=1",
    "&lt;b&gt;entities&amp;",
    # 4,000 characters without a place to break, and with many.
    "x" * 4_000,
    "void gemm<" + "Layout, " * 498 + "int>",
    "line one\nline two\r\n\tline three",
    "bytes that are no text \ufffd\ufffd",
    "\u202eright to left \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\x1b[31mescape\x07 \u200bzero width",
    "__proto__",
    "constructor",
    "toString",
    " ",
    "",
)


def evil_shape() -> Shape:
    """Return a chain of kernels of these names, in ranges of these names."""
    works = [
        Work(name, 2_000 + 300 * at, (at - 1,) if at else (), nvtx=NAMES[-1 - at])
        for at, name in enumerate(NAMES)
    ]
    # Half of them again, so that names have groups.
    works += [
        Work(name, 5_000 + 300 * at, (len(NAMES) + at - 1,)) for at, name in enumerate(NAMES[::2])
    ]
    return Shape(NAMES[0] + NAMES[7], tuple(works))


def write_evil_recording(path: Path) -> Path:
    """Write a recording whose run, graphs, kernels and ranges are named so."""
    write_recording(path, evil_shape(), launches=3)
    with sqlite3.connect(path) as db:
        for graph_id, name in enumerate(filter(str.strip, NAMES), start=2):
            columns = "run_id, origin, topology_id"
            db.execute(
                f"INSERT INTO graph (graph_id, name, {columns}) "
                f"SELECT ?, ?, {columns} FROM graph WHERE graph_id = 1",
                (graph_id, name),
            )
        db.execute("UPDATE run SET command = ?, host = ?", (NAMES[0], NAMES[1]))
        db.execute("UPDATE note SET text = ?, kind = 'warning'", (NAMES[7] + NAMES[0],))
    db.close()
    return path


def write_cyclic_recording(path: Path) -> Path:
    """Write a recording in which split_kernel, branch0_step0 and branch0_step1 form a cycle."""
    write_recording(path, fork_join_shape(), launches=2)
    with sqlite3.connect(path) as db:
        db.execute(
            "INSERT INTO edge VALUES (1, ?, ?, 0, 0, 0)", (FIRST_NODE_ID + 5, FIRST_NODE_ID + 3)
        )
    db.close()
    return path
