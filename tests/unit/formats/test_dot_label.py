"""Labels of the driver's DOT dialect, row by row."""

from __future__ import annotations

import pytest

from gviz.formats.dot.label import parse_label, topo_id, unescape

#: (row of a record, its fields)
ROWS = [
    (
        "{ID | 0 (topoId: 8) | spin\\<\\<\\<1,32,0\\>\\>\\>}",
        [("ID", "0 (topoId: 8)"), ("launch", "spin<<<1,32,0>>>")],
    ),
    (
        "{{node handle | func handle} | {0x1 | 0x2}}",
        [("node handle", "0x1"), ("func handle", "0x2")],
    ),
    ("{policy | {base | hit} | {0x0 | N}}", [("policy.base", "0x0"), ("policy.hit", "N")]),
    ("{cooperative | 0}", [("cooperative", "0")]),
    ("{node handle| 0x5}", [("node handle", "0x5")]),
    ("{True|graph_8}", [("True", "graph_8")]),
    ("{0|  graph_29}", [("0", "graph_29")]),
    ("{{dptr} | {0x3}}", [("dptr", "0x3")]),
    (
        "{{src | dst} | {X | Y | X | Y} | {1 | 2 | 3 | 4}}",
        [("src.X", "1"), ("src.Y", "2"), ("dst.X", "3"), ("dst.Y", "4")],
    ),
    (
        "{{srcPos | {{x | 0} | {y | 1} | {z | 2}}} | {Extent | {{Width | 4} | {Height | 5}}}}",
        [
            ("srcPos.x", "0"),
            ("srcPos.y", "1"),
            ("srcPos.z", "2"),
            ("Extent.Width", "4"),
            ("Extent.Height", "5"),
        ],
    ),
    (
        "{{{pool | {kind | types | {location | {type | id}}} | {PINNED | NONE | DEVICE | 0}}}}",
        [
            ("pool.kind", "PINNED"),
            ("pool.types", "NONE"),
            ("pool.location.type", "DEVICE"),
            ("pool.location.id", "0"),
        ],
    ),
    (
        "{{{ops[0] | {op | val }}\n| {ops[1] | {op | val }}}\n| {WRITE | 7\n| WAIT | 8}}",
        [("ops[0].op", "WRITE"), ("ops[0].val", "7"), ("ops[1].op", "WAIT"), ("ops[1].val", "8")],
    ),
    ("{cluster dim | (2,1,1)}", [("cluster dim", "(2,1,1)")]),
    ("{{ID | handle} | { | 0x2}}", [("ID", ""), ("handle", "0x2")]),
    ("{one | two | three}", [("one", "two | three")]),
    ("bare words", [("bare words", "")]),
    ("{}", []),
    ("{{names | without} | {values}}", [("names", "without"), ("values", "")]),
]


@pytest.mark.parametrize(("row", "fields"), ROWS, ids=[r[0][:30] for r in ROWS])
def test_row_of_a_record_gives_its_fields(row: str, fields: list[tuple[str, str]]) -> None:
    assert parse_label(f"{{KIND\n| {row}\n}}\n") == ("KIND", tuple(fields))


@pytest.mark.parametrize(
    ("label", "kind", "fields"),
    [
        (
            "5 (topoId: 4)\nHOST\nfn: 0x7\nuserData: 0x0\n",
            "HOST",
            [("ID", "5 (topoId: 4)"), ("fn", "0x7"), ("userData", "0x0")],
        ),
        ("3\nMEMSET\n(7,4096)\n", "MEMSET", [("ID", "3"), ("plain", "7,4096")]),
        ("0\n_Z5saxpyifPfS_\n", "_Z5saxpyifPfS_", [("ID", "0")]),
        ("9", "", [("ID", "9")]),
        ("", "", [("ID", "")]),
        ("{KERNEL}", "KERNEL", []),
        ("{", "", []),
        ("{A | {b | c", "A", [("b", "c")]),
        ("{A | b}} | {c | d}", "A", [("b", "")]),
    ],
)
def test_label_gives_kind_and_fields(label: str, kind: str, fields: list[tuple[str, str]]) -> None:
    assert parse_label(label) == (kind, tuple(fields))


def test_braces_without_end_are_read_without_recursion_error() -> None:
    kind, _ = parse_label("{KERNEL | " + "{" * 100_000)
    assert kind == "KERNEL"


@pytest.mark.parametrize(
    ("text", "expected"), [("0 (topoId: 8)", 8), ("0", None), ("", None), ("x (topoId: 1)", None)]
)
def test_topo_id_is_read_where_it_is_printed(text: str, expected: int | None) -> None:
    assert topo_id(text) == expected


def test_unescape_keeps_what_is_not_escaped() -> None:
    assert unescape(r"f\<\<\<\{1,2\},3,0\>\>\> \\ x") == r"f<<<{1,2},3,0>>> \ x"
