"""The rows of the states of GPUs."""

from __future__ import annotations

from gviz.recording.rows.tables import column, table


@table("gpu_interval", primary_key=("run_id", "device_id", "start_ns"), without_rowid=True)
class GpuInterval:
    """A GPU's clock and temperature in an interval of a run (measured: NVML).

    Sampled by a process beside the program: four times a second for ten seconds, then each second,
    after ten minutes every ten seconds. A sample is busy if a kernel ran in NVML's last sample
    period, up to a second, or NVML does not tell.
    """

    run_id: int = column("the run", key="run")
    device_id: int = column("the device")
    start_ns: int = column("first sample")
    end_ns: int = column("last sample")
    count: int = column("samples")
    busy_count: int = column("busy ones")
    sm_clock_mhz: float | None = column(
        "clock of the multiprocessors: median of busy samples, of all where none is", default=None
    )
    sm_clock_low_mhz: float | None = column("the least of these", default=None)
    temperature_celsius: float | None = column("the highest", default=None)
    power_watts: float | None = column(
        "what the board took: mean of busy samples, of all where none is", default=None
    )
    slowed_count: int = column("busy samples in which clocks were lowered", default=0)
    slowed_by: str | None = column(
        "why: power limit, hardware slowdown, thermal slowdown, hardware thermal slowdown, "
        "hardware power brake",
        default=None,
    )
