"""A program that launches a graph for so long, and says whether its memory grew.

Run by bench/gpu_long_run.py, plain and watched: soak.py SECONDS NODES. No framework is needed.
Prints a line of JSON: launches, and memory in MiB after a tenth, half and all of the time.
"""

from __future__ import annotations

import json
import os
import sys
import time
from ctypes import byref, c_size_t
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from calls import Driver, make_graph

_MIB = 1 << 20


def own_mib() -> float:
    """Return the process's resident memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MIB


def device_mib(driver: Driver) -> float:
    """Return the memory of the GPU that is in use."""
    available, total = c_size_t(), c_size_t()
    driver.call("cuMemGetInfo_v2", byref(available), byref(total))
    return (total.value - available.value) / _MIB


def main(seconds: float, nodes: int) -> int:
    """Launch and wait; print the figures."""
    driver = Driver()
    made = make_graph(driver, nodes)
    executable, stream = made.executable, made.stream
    start, launches = time.monotonic(), 0
    own, device = [], []
    for share in (0.1, 0.5, 1.0):
        while time.monotonic() < start + share * seconds:
            driver.call("cuGraphLaunch", executable, stream)
            driver.call("cuStreamSynchronize", stream)
            launches += 1
        own.append(round(own_mib(), 1))
        device.append(round(device_mib(driver), 1))
    print(json.dumps({"launches": launches, "own_mib": own, "device_mib": device}))
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2])))
