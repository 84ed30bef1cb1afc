"""The kernel functions of a run: drivers and dumps have symbols, traces demangled names too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gviz.cuda import demangle
from gviz.recording import rows
from gviz.runs.numbers import IdCounter


class KernelFunctions:
    """Kernel functions by name; they are written when all is known of them.

    Parameters
    ----------
    run_id
        The run that they belong to.
    numbers
        The next ids of the file.
    """

    def __init__(self, run_id: int, numbers: IdCounter) -> None:
        self._run_id = run_id
        self._numbers = numbers
        self._functions: dict[int, rows.KernelFunction] = {}
        self._ids: dict[str, int] = {}
        #: By demangled name, those of which only that is known.
        self._symbol_missing: dict[str, int] = {}

    def number(
        self, name: str, registers: int | None, static_shared_mem_bytes: int | None = None
    ) -> int:
        """Return the function_id of a kernel, given by its symbol or its demangled name.

        Its resources are those of the first that is numbered.
        """
        found = self._ids.get(name)
        if found is None:
            shown = demangle(name)
            found = self._add(name, shown, registers, static_shared_mem_bytes)
            if shown == name:
                self._symbol_missing[name] = found
        return found

    def describe(
        self,
        name: str,
        *,
        registers: int | None,
        static_shared_mem_bytes: int | None,
        local_mem_bytes: int | None,
        max_threads_per_block: int | None,
    ) -> int:
        """Return the function_id of a kernel whose resources the driver reported."""
        found = self.number(name, registers, static_shared_mem_bytes)
        self._functions[found] = replace(
            self._functions[found],
            registers=registers,
            static_shared_mem_bytes=static_shared_mem_bytes,
            local_mem_bytes=local_mem_bytes,
            max_threads_per_block=max_threads_per_block,
        )
        return found

    def number_of_symbol(self, symbol: str) -> int:
        """Return the function_id of a dump's kernel.

        A trace that has demangled names gets the symbol, for the first of several that
        demangle alike: kernels of one name in the anonymous namespaces of two files do.
        """
        found = self._ids.get(symbol)
        if found is None:
            shown = demangle(symbol)
            found = self._symbol_missing.pop(shown, None)
            if found is None:
                return self._add(symbol, shown, None, None)
            self._ids[symbol] = found
            self._functions[found] = replace(self._functions[found], mangled_name=symbol)
        return found

    def _add(
        self, name: str, shown: str, registers: int | None, static_shared_mem_bytes: int | None
    ) -> int:
        found = self._ids[name] = self._numbers.take("kernel_function")
        self._functions[found] = rows.KernelFunction(
            function_id=found,
            run_id=self._run_id,
            mangled_name=name,
            name=shown,
            registers=registers,
            static_shared_mem_bytes=static_shared_mem_bytes,
        )
        return found

    def known(self, name: str) -> int | None:
        """Return the function_id of a kernel that has been numbered; None: it has not."""
        return self._ids.get(name)

    def symbol(self, function_id: int | None) -> str | None:
        """Return a function's symbol, or the name that stands for it; None: no function."""
        return None if function_id is None else self._functions[function_id].mangled_name

    def learn_static_shared(self, function_id: int, size: int) -> None:
        """Take in how much static shared memory a kernel has, in bytes."""
        self._functions[function_id] = replace(
            self._functions[function_id], static_shared_mem_bytes=size
        )

    def static_shared(self, function_id: int) -> int:
        """Return how much static shared memory a kernel is known to have, in bytes."""
        return self._functions[function_id].static_shared_mem_bytes or 0

    def rows(self) -> Iterator[rows.KernelFunction]:
        """Yield the rows."""
        yield from self._functions.values()
