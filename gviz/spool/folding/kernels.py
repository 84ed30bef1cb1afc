"""Kernels of a recording: one row for each distinct function."""

from __future__ import annotations

from gviz.cuda import demangle, short_name
from gviz.recording import KernelFunction
from gviz.spool.records import FunctionRecord


class KernelTable:
    """Interns kernels by mangled name; resources are filled from the first source that has them."""

    def __init__(self, run_id: int) -> None:
        self._run_id = run_id
        self._ids: dict[str, int] = {}
        self._resources: dict[str, tuple[int | None, ...]] = {}
        self._short: dict[str, str] = {}
        self._symbols: list[str] = []  # by id, from 1; filled when asked for

    def from_walk(self, function: FunctionRecord) -> int:
        """Return the id of a function that the topology walk described."""
        self._resources[function.name] = tuple(
            None if n < 0 else n
            for n in (
                function.registers,
                function.static_shared_bytes,
                function.local_bytes,
                function.max_threads,
            )
        )
        return self._id(function.name)

    def from_activity(self, name: str, registers: int, static_shared: int) -> int:
        """Return the id of a function that an activity record named."""
        if name not in self._resources:
            self._resources[name] = (registers, static_shared, None, None)
        return self._id(name)

    def short(self, mangled: str) -> str:
        """Return the name to show on a node."""
        if mangled not in self._short:
            self._short[mangled] = short_name(demangle(mangled))
        return self._short[mangled]

    def mangled(self, function_id: int | None) -> str | None:
        """Return a function's symbol; None for no function."""
        if function_id is None:
            return None
        if len(self._symbols) < len(self._ids):
            self._symbols = list(self._ids)
        return self._symbols[function_id - 1]

    def rows(self) -> list[KernelFunction]:
        """Return a row for each function, by id."""
        return [
            KernelFunction(
                function_id=number,
                run_id=self._run_id,
                mangled_name=mangled,
                name=demangle(mangled),
                registers=self._resources[mangled][0],
                static_shared_mem_bytes=self._resources[mangled][1],
                local_mem_bytes=self._resources[mangled][2],
                max_threads_per_block=self._resources[mangled][3],
            )
            for mangled, number in self._ids.items()
        ]

    def _id(self, mangled: str) -> int:
        return self._ids.setdefault(mangled, len(self._ids) + 1)
