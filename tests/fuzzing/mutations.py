"""Bytes and text changed as damage and malice change them; everything follows from a Random."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from typing import Any

#: What stands in a text where a number or a word stood.
TOKENS = (
    b"0", b"-1", b"1", b"255", b"65536", b"2147483647", b"-2147483648", b"4294967295",
    b"4294967296", b"9223372036854775807", b"-9223372036854775808", b"18446744073709551615",
    b"18446744073709551616", b"1e308", b"1e999", b"-1e999", b"NaN", b"Infinity", b"-Infinity",
    b"0x", b"0xFFFFFFFFFFFFFFFFFF",
    b"9" * 400, b"9" * 5_000, b"null", b"true", b"{}", b"[]", b'""', b'"12"', b"x" * 10_000,
    b"\xff\xfe", b"\x00", b"\xed\xa0\x80", "\u202e\U0001f600".encode(), "٣".encode(), b"\\", b'"',
    b"{", b"}", b"[", b"]", b"|", b"<", b">", b"->", b"=", b";",
)  # fmt: skip
#: Bytes that stand in a binary file where others stood: extremes of 1, 2, 4 and 8 bytes.
WORDS = tuple(
    value.to_bytes(size, order)
    for size in (1, 2, 4, 8)
    for order in ("little", "big")
    for value in (0, 1, 2 ** (8 * size - 1) - 1, 2 ** (8 * size - 1), 2 ** (8 * size) - 1)
)
_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")

Mutation = Callable[[Random, bytes], bytes]


def flip_bits(random: Random, data: bytes) -> bytes:
    """Return the bytes with one to sixteen bits turned."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def truncate(random: Random, data: bytes) -> bytes:
    """Return the beginning."""
    return data[: random.randrange(len(data) + 1)]


def cut_out(random: Random, data: bytes) -> bytes:
    """Return the bytes without some of them."""
    begin, end = _part(random, data)
    return data[:begin] + data[end:]


def repeat(random: Random, data: bytes) -> bytes:
    """Return the bytes with a part of them several times."""
    begin, end = _part(random, data)
    return data[:end] + data[begin:end] * random.choice((1, 1, 2, 20)) + data[end:]


def move(random: Random, data: bytes) -> bytes:
    """Return the bytes with a part of them somewhere else."""
    begin, end = _part(random, data)
    part, rest = data[begin:end], data[:begin] + data[end:]
    at = random.randrange(len(rest) + 1)
    return rest[:at] + part + rest[at:]


def overwrite(random: Random, data: bytes) -> bytes:
    """Return the bytes with an extreme number written over some of them."""
    word = random.choice(WORDS)
    at = random.randrange(max(1, len(data) - len(word)))
    at -= at % len(word) if random.random() < 0.5 else 0
    return data[:at] + word + data[at + len(word) :]


def insert(random: Random, data: bytes) -> bytes:
    """Return the bytes with a word more."""
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(TOKENS) + data[at:]


def replace_token(random: Random, data: bytes) -> bytes:
    """Return the text with one of its words or signs replaced by another."""
    begin, end = _token(random, data)
    other = random.choice(TOKENS)
    if random.random() < 0.5:
        first, last = _token(random, data)
        other = data[first:last]
    return data[:begin] + other + data[end:]


def move_line(random: Random, data: bytes) -> bytes:
    """Return the text with a line left out, repeated or elsewhere."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    at = random.randrange(len(lines))
    line = lines[at]
    if random.random() < 0.7:
        del lines[at]
    if random.random() < 0.7:
        lines.insert(random.randrange(len(lines) + 1), line)
    return b"".join(lines)


def nest(random: Random, data: bytes) -> bytes:
    """Return the text with brackets of some depth put into it."""
    at, depth = random.randrange(len(data) + 1), random.choice((3, 100, 5_000))
    opening, closing = random.choice(((b"[", b"]"), (b"{", b"}"), (b'{"a":', b"}"), (b"(", b")")))
    return (
        data[:at]
        + opening * depth
        + (closing * depth if random.random() < 0.5 else b"")
        + data[at:]
    )


BINARY: Sequence[Mutation] = (flip_bits, truncate, cut_out, repeat, move, overwrite)
TEXT: Sequence[Mutation] = (
    flip_bits, truncate, cut_out, repeat, move, insert, replace_token, replace_token,
    replace_token, replace_token, move_line, move_line, nest,
)  # fmt: skip


def mutate(random: Random, data: bytes, mutations: Sequence[Mutation]) -> bytes:
    """Return the bytes after one to five mutations."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 5))):
        data = random.choice(mutations)(random, data)
    return data


def splice(random: Random, first: bytes, second: bytes) -> bytes:
    """Return the beginning of one and the end of another."""
    return first[: random.randrange(len(first) + 1)] + second[random.randrange(len(second) + 1) :]


def _part(random: Random, data: bytes) -> tuple[int, int]:
    begin = random.randrange(len(data) + 1)
    return begin, min(len(data), begin + int(2 ** random.uniform(0, 12)))


def _token(random: Random, data: bytes) -> tuple[int, int]:
    found = _TOKEN.search(data, random.randrange(len(data) + 1)) or _TOKEN.search(data)
    return (0, 0) if found is None else found.span()


#: What takes the place of a value of JSON.
_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 1 << 31, 1 << 63, 1 << 70, 1.5, "", "x", "7", [], [7], {}, {"handle": 7},
)  # fmt: skip


def change_values(random: Random, text: str) -> str:
    """Change, remove or repeat values of a JSON text, which stays one."""
    whole = [json.loads(text)]
    for _ in range(random.randint(1, 5)):
        holder: Any = whole
        key: Any = 0
        # Towards the leaves, of which there are most.
        while isinstance(inner := holder[key], (dict, list)) and inner and random.random() < 0.95:
            holder = inner
            key = random.choice([*inner] if isinstance(inner, dict) else range(len(inner)))
        if holder is whole:
            continue
        choice = random.random()
        if choice < 0.15:
            del holder[key]
        elif choice < 0.3 and isinstance(holder, list):
            holder.insert(random.randint(0, len(holder)), deepcopy(holder[key]))
        else:
            holder[key] = deepcopy(random.choice(_VALUES))
    return json.dumps(whole[0])
