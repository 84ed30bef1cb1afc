"""A mutation: one small fault in one line, named so that it is found again elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Mutation:
    """A fault in a line of a function.

    Attributes
    ----------
    module
        Path of the module in the repository.
    function
        Qualified name of the function or class; empty at the top of a module.
    line
        Text of the line, without the space around it.
    kind
        A kind of :mod:`mutating.kinds`.
    was, now
        Text that is replaced, and what by.
    ordinal
        Number among those in the module that are equal in all of the above, from 0.
    """

    module: str
    function: str
    line: str
    kind: str
    was: str
    now: str
    ordinal: int

    def to_text(self) -> str:
        """Return a line for people."""
        change = f"{self.was or 'nothing'} -> {self.now or 'nothing'}"
        return f"{self.module} {self.function or 'top'}: {change} in: {self.line}"

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a module where a mutation replaces text: a line from 1, bytes of it from 0."""

    line: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A mutation with its place in the tree at hand.

    Attributes
    ----------
    mutation
        As it is named in this tree.
    place
        Where it is.
    imported
        Whether the line runs when its module is imported, not when a function is called.
    """

    mutation: Mutation
    place: Place
    imported: bool

    @property
    def module(self) -> str:
        """Return the path of the module."""
        return self.mutation.module


def mutated(source: bytes, candidates: Iterable[Candidate]) -> bytes:
    """Return the source of a module with these mutations, at most one of them a line."""
    lines = source.splitlines(keepends=True)
    changed: set[int] = set()
    for candidate in candidates:
        place, mutation = candidate.place, candidate.mutation
        line = lines[place.line - 1]
        if place.line in changed or line[place.begin : place.end].decode() != mutation.was:
            raise ValueError(f"cannot be applied: {mutation.to_text()}")
        changed.add(place.line)
        lines[place.line - 1] = line[: place.begin] + mutation.now.encode() + line[place.end :]
    return b"".join(lines)


def find_again(wanted: Mutation, present: Iterable[Candidate]) -> Candidate | None:
    """Return the candidate that is the same mutation, also in a module that was moved.

    The same function, line and change count, in whatever module; of several the one in a file
    of the same path or name. If there is none, the same change in the function, or in the same
    line of another function, counts where it is the only one.
    """
    changes = [c for c in present if _change(c.mutation) == _change(wanted)]
    same_line = [c for c in changes if c.mutation.line == wanted.line]
    same_function = [c for c in changes if c.mutation.function == wanted.function]
    both = [
        c
        for c in same_line
        if c.mutation.function == wanted.function and c.mutation.ordinal == wanted.ordinal
    ]
    name = Path(wanted.module).name
    for group in (both, same_function, same_line):
        near = [c for c in group if Path(c.module).name == name]
        for some in ([c for c in near if c.module == wanted.module], near, group):
            if len(some) == 1:
                return some[0]
    return None


def _change(mutation: Mutation) -> tuple[str, str, str]:
    return mutation.kind, mutation.was, mutation.now
