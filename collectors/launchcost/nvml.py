"""The GPU's load, clocks and traffic, from NVIDIA's management library. No privileges needed."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

#: nvml.h: NVML_PCIE_UTIL_TX_BYTES (from the GPU) and _RX_BYTES (to the GPU).
_PCIE_SENT, _PCIE_RECEIVED = 0, 1
_CLOCK_SM = 1  # NVML_CLOCK_SM
#: nvml.h: nvmlClocksEventReason*, those that slow a busy GPU down.
_SLOWING = {
    0x4: "power limit",
    0x8: "hardware slowdown",
    0x20: "thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}
_SUCCESS, _INSUFFICIENT_SIZE = 0, 7


class _Utilization(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


@dataclass(frozen=True, slots=True)
class GpuState:
    """The GPU's state at one moment; None: not reported.

    Attributes
    ----------
    busy_percent
        Share of the last sample period (up to a second) in which a kernel ran.
    sm_clock_mhz, sm_clock_max_mhz
        Clock of the multiprocessors now, and its maximum.
    slowed_by
        Why clocks are lower than they could be.
    other_processes
        Compute processes other than this one.
    """

    busy_percent: int | None = None
    sm_clock_mhz: int | None = None
    sm_clock_max_mhz: int | None = None
    slowed_by: tuple[str, ...] = ()
    other_processes: int | None = None


class Nvml:
    """One GPU as the management library sees it; made by :func:`open_nvml`."""

    def __init__(self, library: ctypes.CDLL, device: ctypes.c_void_p) -> None:
        self._library = library
        self._device = device

    def state(self) -> GpuState:
        """Return the GPU's state now."""
        use = _Utilization()
        busy = self._query("nvmlDeviceGetUtilizationRates", ctypes.byref(use))
        return GpuState(
            busy_percent=int(use.gpu) if busy else None,
            sm_clock_mhz=self._number("nvmlDeviceGetClockInfo", _CLOCK_SM),
            sm_clock_max_mhz=self._number("nvmlDeviceGetMaxClockInfo", _CLOCK_SM),
            slowed_by=self._slowed_by(),
            other_processes=self._other_processes(),
        )

    def traffic(self) -> tuple[int, int] | None:
        """Return bytes a second to and from the GPU over PCIe in the last 20 ms; None: untold.

        nvmlDeviceGetPcieThroughput: "a byte counter over a 20ms interval", in KB/s.
        """
        received = self._number("nvmlDeviceGetPcieThroughput", _PCIE_RECEIVED)
        sent = self._number("nvmlDeviceGetPcieThroughput", _PCIE_SENT)
        if received is None or sent is None:
            return None
        return received * 1000, sent * 1000

    def _slowed_by(self) -> tuple[str, ...]:
        reasons = ctypes.c_ulonglong()
        for name in (
            "nvmlDeviceGetCurrentClocksEventReasons",
            "nvmlDeviceGetCurrentClocksThrottleReasons",
        ):
            if self._query(name, ctypes.byref(reasons)):
                return tuple(text for bit, text in _SLOWING.items() if reasons.value & bit)
        return ()

    def _other_processes(self) -> int | None:
        """Count compute processes; this one is among them once its context is open."""
        function = getattr(self._library, "nvmlDeviceGetComputeRunningProcesses_v3", None)
        if function is None:
            return None
        count = ctypes.c_uint(0)
        result = function(self._device, ctypes.byref(count), None)
        if result not in (_SUCCESS, _INSUFFICIENT_SIZE):
            return None
        return max(0, int(count.value) - 1)

    def _number(self, name: str, kind: int) -> int | None:
        value = ctypes.c_uint()
        return int(value.value) if self._query(name, kind, ctypes.byref(value)) else None

    def _query(self, name: str, *arguments: object) -> bool:
        function = getattr(self._library, name, None)
        return function is not None and function(self._device, *arguments) == _SUCCESS


@contextmanager
def open_nvml(pci_bus_id: str) -> Iterator[Nvml | None]:
    """Hold the management library for one GPU; None where it or the GPU is not there."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        yield None
        return
    if library.nvmlInit_v2() != _SUCCESS:
        yield None
        return
    try:
        device = ctypes.c_void_p()
        found = library.nvmlDeviceGetHandleByPciBusId_v2(pci_bus_id.encode(), ctypes.byref(device))
        yield Nvml(library, device) if found == _SUCCESS else None
    finally:
        library.nvmlShutdown()
