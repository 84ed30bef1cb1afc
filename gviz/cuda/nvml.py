"""The GPU's load, clocks and traffic, from NVIDIA's management library. No privileges needed."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from gviz.dataclass import dataclass

_LIBRARY = "libnvidia-ml.so.1"
#: nvml.h: NVML_PCIE_UTIL_TX_BYTES (from the GPU) and _RX_BYTES (to the GPU).
_PCIE_SENT, _PCIE_RECEIVED = 0, 1
_CLOCK_SM = 1  # NVML_CLOCK_SM
_OF_THE_GPU = 0  # NVML_TEMPERATURE_GPU
#: nvml.h: nvmlClocksEventReason*, those that slow a busy GPU down.
_SLOWING = {
    0x4: "power limit",
    0x8: "hardware slowdown",
    0x20: "thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}
_SUCCESS, _NOT_SUPPORTED, _INSUFFICIENT_SIZE = 0, 3, 7


class NvmlError(Exception):
    """The management library is not there, or does not report on a GPU: why, in words."""


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
    temperature_celsius
        Of the GPU.
    power_watts
        What the board takes.
    slowed_by
        Why clocks are lower than they could be.
    other_processes
        Compute processes other than this one.
    """

    busy_percent: int | None = None
    sm_clock_mhz: int | None = None
    sm_clock_max_mhz: int | None = None
    temperature_celsius: int | None = None
    power_watts: float | None = None
    slowed_by: tuple[str, ...] = ()
    other_processes: int | None = None


class Nvml:
    """The management library, loaded and initialised.

    Raises
    ------
    NvmlError
        If it is not there, or refuses.
    """

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL(_LIBRARY)
        except OSError as error:
            raise NvmlError(f"{_LIBRARY} cannot be loaded: {error}") from error
        self._name_of = getattr(self._library, "nvmlErrorString", None)
        if self._name_of is not None:
            self._name_of.restype = ctypes.c_char_p
        self._check(self._library.nvmlInit_v2())

    def find(self, pci_bus_id: str) -> NvmlGpu:
        """Return a GPU; NvmlError: the library does not know it, or must not report on it."""
        device = ctypes.c_void_p()
        find = self._library.nvmlDeviceGetHandleByPciBusId_v2
        self._check(find(pci_bus_id.encode(), ctypes.byref(device)))
        return NvmlGpu(self, device)

    def close(self) -> None:
        """Have the library give back what it took."""
        self._library.nvmlShutdown()

    def call(self, name: str, *arguments: object) -> int | None:
        """Return the result of a function; None: this version of the library has none such."""
        function = getattr(self._library, name, None)
        return None if function is None else int(function(*arguments))

    def error(self, result: int) -> NvmlError:
        """Return what a result other than success means."""
        text = self._name_of(result) if self._name_of is not None else None
        return NvmlError(text.decode(errors="replace") if text else f"error {result}")

    def _check(self, result: int) -> None:
        if result != _SUCCESS:
            raise self.error(result)


class NvmlGpu:
    """One GPU as the management library sees it; made by :meth:`Nvml.find`."""

    def __init__(self, nvml: Nvml, device: ctypes.c_void_p) -> None:
        self._nvml = nvml
        self._device = device

    def state(self) -> GpuState:
        """Return the GPU's state now; NvmlError: there is none, such as of a GPU that is lost."""
        use = _Utilization()
        busy = self._query("nvmlDeviceGetUtilizationRates", ctypes.byref(use))
        power = self._number("nvmlDeviceGetPowerUsage")
        return GpuState(
            busy_percent=int(use.gpu) if busy else None,
            sm_clock_mhz=self._number("nvmlDeviceGetClockInfo", _CLOCK_SM),
            sm_clock_max_mhz=self._number("nvmlDeviceGetMaxClockInfo", _CLOCK_SM),
            temperature_celsius=self._number("nvmlDeviceGetTemperature", _OF_THE_GPU),
            power_watts=None if power is None else power / 1000,
            slowed_by=self._slowed_by(),
            other_processes=self._other_processes(),
        )

    def traffic(self) -> tuple[int, int] | None:
        """Return bytes a second to and from the GPU over PCIe in the last 20 ms; None: untold.

        nvmlDeviceGetPcieThroughput: "a byte counter over a 20ms interval", in KB/s.
        """
        with suppress(NvmlError):
            received = self._number("nvmlDeviceGetPcieThroughput", _PCIE_RECEIVED)
            sent = self._number("nvmlDeviceGetPcieThroughput", _PCIE_SENT)
            if received is not None and sent is not None:
                return received * 1000, sent * 1000
        return None

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
        count = ctypes.c_uint(0)
        name = "nvmlDeviceGetComputeRunningProcesses_v3"
        result = self._nvml.call(name, self._device, ctypes.byref(count), None)
        if result not in (_SUCCESS, _INSUFFICIENT_SIZE):
            return None
        return max(0, int(count.value) - 1)

    def _number(self, name: str, *kind: int) -> int | None:
        value = ctypes.c_uint()
        return int(value.value) if self._query(name, *kind, ctypes.byref(value)) else None

    def _query(self, name: str, *arguments: object) -> bool:
        """Return whether this GPU and library answer a question; NvmlError: they fail."""
        result = self._nvml.call(name, self._device, *arguments)
        if result in (None, _NOT_SUPPORTED):
            return False
        if result != _SUCCESS:
            raise self._nvml.error(result or 0)
        return True


@contextmanager
def open_gpu(pci_bus_id: str) -> Iterator[NvmlGpu | None]:
    """Hold the management library for one GPU; None where it or the GPU is not there."""
    nvml = None
    try:
        nvml = Nvml()
        gpu = nvml.find(pci_bus_id)
    except NvmlError:
        gpu = None
    try:
        yield gpu
    finally:
        if nvml is not None:
            nvml.close()
