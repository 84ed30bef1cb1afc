"""The options of the DAG: layouts, folds and colours, as addresses and choices name them."""

from __future__ import annotations

from gviz.dataclass import dataclass

#: Where nodes stand.
LAYOUTS = ("structure", "lanes", "time")
#: What is folded: equal blocks, NVTX ranges, and modules of the model.
FOLDINGS = ("repeats", "ranges", "modules")


@dataclass(frozen=True, slots=True)
class Overlay:
    """One way to colour nodes.

    Attributes
    ----------
    name
        In addresses and payloads.
    label
        For the choice and the legend.
    array
        Array of the payload that holds the values, or the index of each node's category.
    unit
        'ns', 'share' (0..1) or 'log2' (of a ratio) of values; None: categories.
    missing
        What nodes without a value are called.
    signed
        Values lie on both sides of zero: changes from one graph to another.
    """

    name: str
    label: str
    array: str
    unit: str | None = None
    missing: str = ""
    signed: bool = False


OVERLAYS = (
    Overlay("family", "Kernel family", "family"),
    Overlay("duration", "Median duration", "median_ns", "ns", "not timed"),
    Overlay("p95", "95th percentile of duration", "p95_ns", "ns", "not timed"),
    Overlay("launch", "Duration in this launch", "launch_ns", "ns", "no time in it"),
    Overlay("share", "Share of time", "share", "share", "not timed"),
    Overlay("slack", "Slack", "slack_ns", "ns"),
    Overlay("kind", "Kind", "type"),
    Overlay("kernel", "Kernel name", "name"),
    Overlay("nvtx", "NVTX range", "nvtx"),
    Overlay("module", "Module", "module"),
    Overlay("lane", "Lane", "lane"),
    Overlay("device", "Device", "device"),
    Overlay("occupancy", "Occupancy (theoretical)", "occupancy", "share", "no kernel"),
    Overlay("change", "Change", "change_ns", "ns", "not timed in both", True),
    Overlay("ratio", "Relative change", "change_log2", "log2", "not timed in both", True),
)
OVERLAY_NAMES = frozenset(o.name for o in OVERLAYS)
#: Overlays that mean nothing without node times.
TIMED = frozenset({"duration", "p95", "launch", "share", "slack"})
