"""Answers of CUDA's driver and CUPTI on this machine, from a process of its own.

``gviz.cuda.driver_probe [LIBCUPTI]`` prints one JSON object. The questions start
the driver and subscribe to CUPTI, which must not happen in the asking process; and a
broken driver may crash or hang its caller.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gviz.dataclass import dataclass
from gviz.system import own_command, own_environment

#: A cold driver takes seconds to start on a machine with many GPUs.
TIMEOUT_S = 60
_ATTRIBUTE_MAJOR = 75  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, cuda.h
_ATTRIBUTE_MINOR = 76


@dataclass(frozen=True, slots=True)
class DriverAnswers:
    """The answers.

    Attributes
    ----------
    library_error
        Why ``libcuda.so.1`` could not be loaded; None when it was.
    init_result
        ``CUresult`` of ``cuInit``; None when it was not reached.
    driver_version
        CUDA version of the driver, such as ``13.0``.
    devices
        Names with compute capability, by ordinal.
    cupti_path, cupti_error, cupti_version
        The copy of CUPTI that was queried, why it could not be loaded, and
        ``cuptiGetVersion``.
    subscribe_result
        ``CUptiResult`` of ``cuptiSubscribe``; None when it was not tried.
    failure
        Why the probe itself brought no answer (it crashed or hung); None when it did.
    """

    library_error: str | None = None
    init_result: int | None = None
    driver_version: str | None = None
    devices: tuple[str, ...] = ()
    cupti_path: str | None = None
    cupti_error: str | None = None
    cupti_version: int | None = None
    subscribe_result: int | None = None
    failure: str | None = None


def probe(cupti: Path | None = None, *, timeout_s: float = TIMEOUT_S) -> DriverAnswers:
    """Ask the driver, and the given copy of CUPTI, in a child process.

    Never raises: what goes wrong is described in ``failure``.
    """
    command = own_command("gviz.cuda.driver_probe", *([] if cupti is None else [str(cupti)]))
    try:
        child = subprocess.run(
            command,
            env=own_environment(),
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return DriverAnswers(failure=f"the driver did not answer within {timeout_s:g} s")
    except OSError as error:
        return DriverAnswers(failure=f"no process could be started to query_driver it: {error}")
    try:
        answers = json.loads(child.stdout)
        answers["devices"] = tuple(answers["devices"])
        return DriverAnswers(**answers)
    except (ValueError, TypeError, KeyError):
        last = child.stderr.strip().splitlines()[-1:] or ["nothing on stderr"]
        return DriverAnswers(
            failure=f"asking it ended with exit code {child.returncode} ({last[0]})"
        )


def query_driver(cupti: str | None) -> DriverAnswers:
    """Ask the driver and CUPTI in this process."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return DriverAnswers(library_error=str(error), **_probe_cupti(cupti, subscribe=False))
    init_result = int(driver.cuInit(0))
    version = ctypes.c_int()
    driver.cuDriverGetVersion(ctypes.byref(version))
    number = version.value
    return DriverAnswers(
        init_result=init_result,
        driver_version=f"{number // 1000}.{number % 1000 // 10}" if number else None,
        devices=_probe_devices(driver) if init_result == 0 else (),
        **_probe_cupti(cupti, subscribe=init_result == 0),
    )


def _probe_devices(driver: ctypes.CDLL) -> tuple[str, ...]:
    count = ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    devices = []
    for ordinal in range(count.value):
        device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        name = ctypes.create_string_buffer(256)
        driver.cuDeviceGet(ctypes.byref(device), ordinal)
        driver.cuDeviceGetName(name, len(name), device)
        driver.cuDeviceGetAttribute(ctypes.byref(major), _ATTRIBUTE_MAJOR, device)
        driver.cuDeviceGetAttribute(ctypes.byref(minor), _ATTRIBUTE_MINOR, device)
        text = name.value.decode(errors="replace")
        devices.append(f"{text} (compute capability {major.value}.{minor.value})")
    return tuple(devices)


def _probe_cupti(path: str | None, *, subscribe: bool) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        cupti = ctypes.CDLL(path)
    except OSError as error:
        return {"cupti_path": path, "cupti_error": str(error)}
    version = ctypes.c_uint32()
    cupti.cuptiGetVersion(ctypes.byref(version))
    result: int | None = None
    if subscribe:
        # A callback is required, and never called: no domain is enabled.
        prototype = ctypes.CFUNCTYPE(
            None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p
        )
        callback = prototype(lambda *_: None)
        handle = ctypes.c_void_p()
        result = int(cupti.cuptiSubscribe(ctypes.byref(handle), callback, None))
        if result == 0:
            cupti.cuptiUnsubscribe(handle)
    return {"cupti_path": path, "cupti_version": version.value, "subscribe_result": result}


if __name__ == "__main__":
    print(json.dumps(asdict(query_driver(sys.argv[1] if len(sys.argv) > 1 else None))))
