"""Errors of the GPU that stay: CUDA's names, and what they mean."""

from __future__ import annotations

_FAULTS: dict[int, tuple[str, str]] = {
    214: ("CUDA_ERROR_ECC_UNCORRECTABLE", "memory of the GPU is broken"),
    700: ("CUDA_ERROR_ILLEGAL_ADDRESS", "a kernel used an address that is not its own"),
    702: ("CUDA_ERROR_LAUNCH_TIMEOUT", "a kernel took longer than the system lets it"),
    710: ("CUDA_ERROR_ASSERT", "an assert in a kernel failed"),
    714: ("CUDA_ERROR_HARDWARE_STACK_ERROR", "the stack of a kernel is damaged or too small"),
    715: ("CUDA_ERROR_ILLEGAL_INSTRUCTION", "a kernel met an instruction that there is not"),
    716: ("CUDA_ERROR_MISALIGNED_ADDRESS", "a kernel used an address that is not aligned"),
    717: ("CUDA_ERROR_INVALID_ADDRESS_SPACE", "a kernel used an address of another memory"),
    718: ("CUDA_ERROR_INVALID_PC", "a kernel went on where no code is"),
    719: ("CUDA_ERROR_LAUNCH_FAILED", "a kernel failed"),
}


def gpu_fault_name(result: int) -> str:
    """Return CUDA's name of a CUresult after which no call succeeds."""
    return _FAULTS[result][0] if result in _FAULTS else f"CUDA error {result}"


def explain_gpu_fault(result: int) -> str:
    """Return what such a result means, as the rest of a sentence."""
    return _FAULTS[result][1] if result in _FAULTS else "the GPU failed"
