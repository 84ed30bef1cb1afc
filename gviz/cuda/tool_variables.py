"""Variables of the environment that load another tool; watched programs ask for them."""

from __future__ import annotations

#: Environment variables that load a tool into every CUDA program, and whose they are.
TOOL_VARIABLES = {
    "CUDA_INJECTION64_PATH": "a CUDA injection library",
    "NVTX_INJECTION64_PATH": "an NVTX injection library",
    "NSYS_PROFILING_SESSION_ID": "Nsight Systems",
    "NV_NSIGHT_INJECTION_TRANSPORT_TYPE": "Nsight Compute",
    "NV_TPS_LAUNCH_TOKEN": "Nsight Compute",
    "NV_COMPUTE_PROFILER_PERFWORKS_DIR": "Nsight Compute",
}
