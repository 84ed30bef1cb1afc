"""SQLite exports as Nsight Systems writes them, made from Chrome traces of the tests.

The tables and columns of releases 2022.4 and 2026.2 are those of the exporter's schema reference.
Those of 2022.2, 2024.5, 2025.5 and 2026.2.1 are as seen in exports that others published: 2022.2
names some tables as no later one, 2025.5 tells of graphs, 2026.2.1 has the longest rows.
"""

import sqlite3
from pathlib import Path
from typing import Any

from gviz.cuda.node_type import CopyKind

PID, TID = 77, 78
GLOBAL_PID = PID << 24
GLOBAL_TID = PID << 24 | TID
EPOCH_NS = 1_790_857_026_000_000_000

_OLD = {
    "StringIds": "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT",
    "TARGET_INFO_GPU": "vmId INTEGER, id INTEGER, name TEXT, busLocation TEXT, totalMemory INTEGER,"
    " smCount INTEGER, threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, computeMajor INTEGER,"
    " computeMinor INTEGER",
    "TARGET_INFO_CUDA_DEVICE": "gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT,"
    " numMultiprocessors INTEGER",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
    " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,"
    " shortName INTEGER NOT NULL, launchType INTEGER, registersPerThread INTEGER NOT NULL,"
    " gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,"
    " blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL,"
    " staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,"
    " graphNodeId INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
    " correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL,"
    " srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMSET": "start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
    " correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    " graphNodeId INTEGER",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
    " correlationId INTEGER, globalPid INTEGER, graphId INTEGER NOT NULL,"
    " graphExecId INTEGER NOT NULL",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER,"
    " nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER",
    "NVTX_EVENTS": "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,"
    " rangeId INTEGER,"
    " category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER,"
    " textId INTEGER, domainId INTEGER",
}
_NEW = _OLD | {
    "META_DATA_EXPORT": "name TEXT NOT NULL, value TEXT",
    "CUPTI_ACTIVITY_KIND_KERNEL": _OLD["CUPTI_ACTIVITY_KIND_KERNEL"]
    + ", greenContextId INTEGER, mangledName INTEGER, graphId INTEGER",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "greenContextId INTEGER, "
    + _OLD["CUPTI_ACTIVITY_KIND_GRAPH_TRACE"],
    "CUDA_GRAPH_NODE_EVENTS": "start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " eventClass INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL,"
    " graphNodeId INTEGER NOT NULL, originalGraphNodeId INTEGER",
}


def _columns(names: str) -> str:
    """Return the columns of a table; those with ! are never NULL, those with $ texts."""
    kinds = {"!": " INTEGER NOT NULL", "$": " TEXT"}
    return ", ".join(n.rstrip("!$") + kinds.get(n[-1], " INTEGER") for n in names.split())


def _seen(
    *, green: bool, kernel: str, memcpy: str, nvtx: str, tables: dict[str, str]
) -> dict[str, str]:
    """Return the tables of an export as seen."""
    context = "contextId! greenContextId" if green else "contextId!"
    common = f"start! end! deviceId! {context} streamId! correlationId globalPid"
    call = "start! end! eventClass! globalTid"
    found = {
        "CUPTI_ACTIVITY_KIND_KERNEL": f"{common} demangledName! shortName! mangledName launchType "
        "cacheConfig registersPerThread! gridX! gridY! gridZ! blockX! blockY! blockZ! "
        "staticSharedMemory! dynamicSharedMemory! localMemoryPerThread! localMemoryTotal! gridId! "
        f"sharedMemoryExecuted graphNodeId sharedMemoryLimitConfig {kernel}",
        "CUPTI_ACTIVITY_KIND_MEMCPY": f"{common} bytes! copyKind! deprecatedSrcId srcKind dstKind "
        "srcDeviceId srcContextId dstDeviceId dstContextId migrationCause graphNodeId "
        f"virtualAddress {memcpy}",
        "CUPTI_ACTIVITY_KIND_MEMSET": f"{common} value! bytes! graphNodeId memKind",
        "CUPTI_ACTIVITY_KIND_RUNTIME": f"{call} correlationId nameId! returnValue! callchainId",
        "NVTX_EVENTS": "start! end eventType! rangeId category color text$ globalTid endGlobalTid "
        "textId domainId uint64Value int64Value doubleValue uint32Value int32Value floatValue "
        f"jsonTextId jsonText$ {nvtx}",
        "StringIds": "id! value$",
        "TARGET_INFO_SESSION_START_TIME": "utcEpochNs utcTime$ localTime$",
        "TARGET_INFO_SYSTEM_ENV": "globalVid devStateName$ name$ nameEnum! value$",
        "TARGET_INFO_GPU": "vmId! id! name$ busLocation$ isDiscrete l2CacheSize totalMemory "
        "memoryBandwidth clockRate smCount pwGpuId uuid$ luid chipName$ cuDevice threadsPerWarp "
        "asyncEngines maxWarpsPerSm maxBlocksPerSm computeMajor computeMinor smMajor smMinor",
    }
    return {table: _columns(names) for table, names in (found | tables).items()}


_CLUSTERS = (
    "qmdBulkReleaseDone qmdPreexitDone qmdLastCtaDone graphId clusterX clusterY clusterZ "
    "clusterSchedulingPolicy maxPotentialClusterSize maxActiveClusters"
)
_OF_GRAPHS = {
    "META_DATA_EXPORT": "name$ value$",
    "CUDA_GRAPH_EVENTS": "start! end! eventClass! globalTid nameId! graphId originalGraphId "
    "graphExecId",
    "CUDA_GRAPH_NODE_EVENTS": "start! end! eventClass! globalTid nameId! graphNodeId! "
    "originalGraphNodeId",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "start! end! deviceId! contextId! greenContextId streamId! "
    "correlationId globalPid graphId! graphExecId!",
}
SCHEMAS = {
    "2022.4": _OLD,
    "2026.2": _NEW,
    "2022.2": _seen(
        green=False, kernel="", memcpy="name$", nvtx="",
        tables={
            "EXPORT_META_DATA": "name$ value$",
            "CUDA_GRAPH_EVENTS": "start! end! eventClass! globalTid nameId! graphNodeId! "
            "originalGraphNodeId",
        },
    ),
    "2024.5": _seen(
        green=True, kernel="", memcpy="", nvtx="", tables={"META_DATA_EXPORT": "name$ value$"}
    ),
    "2025.5": _seen(
        green=True, kernel=_CLUSTERS, memcpy="copyCount", nvtx="binaryData",
        tables=_OF_GRAPHS | {"TARGET_INFO_CUDA_DEVICE": "gpuId cudaId! pid!"},
    ),
    "2026.2.1": _seen(
        green=True, memcpy="copyCount", nvtx="binaryData",
        kernel=f"{_CLUSTERS} sharedMemoryRequestedPercentage tensorSizeMinusOneElements!",
        tables=_OF_GRAPHS
        | {
            "TARGET_INFO_CUDA_DEVICE": "gpuId cudaId! pid! uuid$ numMultiprocessors",
            "TARGET_INFO_SESSION_START_TIME": "utcEpochNs utcTime$ localTime$ systemClockNs",
        },
    ),
}  # fmt: skip
#: Where graphs that are traced as a whole are told.
WHOLE_SCHEMAS = tuple(r for r, t in SCHEMAS.items() if "CUPTI_ACTIVITY_KIND_GRAPH_TRACE" in t)


class Export:
    """An export under construction; tables are made when the first row comes, as nsys does."""

    def __init__(self, path: Path, release: str) -> None:
        self.path = path
        self.release = release
        self.db = sqlite3.connect(path, isolation_level=None)
        self._tables = SCHEMAS[release]
        self._texts: dict[str, int] = {}
        self.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=EPOCH_NS)
        self.text("")
        for table in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
            if table in self._tables:
                self.add(table, name="EXPORT_PRODUCT_VERSION", value=f"{release}.106")

    def has(self, table: str) -> bool:
        """Return whether the release has a table."""
        return table in self._tables

    def text(self, value: str) -> int:
        """Return the number of a text in StringIds."""
        if value not in self._texts:
            self._texts[value] = len(self._texts)
            self.add("StringIds", id=self._texts[value], value=value)
        return self._texts[value]

    def add(self, table: str, **values: Any) -> None:
        """Add a row; columns that the release's table lacks are left out, others are 0."""
        self.db.execute(f"CREATE TABLE IF NOT EXISTS {table} ({self._tables[table]})")
        columns = [(r[1], r[3]) for r in self.db.execute(f"PRAGMA table_info({table})")]
        row = {name: values.get(name, 0 if needed else None) for name, needed in columns}
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        self.db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))

    def finish(self) -> Path:
        """Close it; return its place."""
        self.db.close()
        return self.path


def export_of(trace: dict[str, Any], path: Path, release: str) -> Path:
    """Write the export of a program whose Chrome trace is given."""
    export = Export(path, release)
    export.db.execute("BEGIN")
    shift = trace.get("baseTimeNanoseconds", 0) - EPOCH_NS
    for device in trace.get("deviceProperties", ()):
        gpu = 5  # not CUDA's ordinal: a machine has more GPUs than a process sees
        export.add(
            "TARGET_INFO_GPU",
            id=gpu,
            name=device["name"],
            smCount=device["numSms"],
            totalMemory=device["totalGlobalMem"],
            computeMajor=device["computeMajor"],
            computeMinor=device["computeMinor"],
            threadsPerWarp=32,
            maxWarpsPerSm=64,
            cuDevice=device["id"],
        )
        if export.has("TARGET_INFO_CUDA_DEVICE"):
            export.add("TARGET_INFO_CUDA_DEVICE", gpuId=gpu, cudaId=device["id"], pid=PID)
    for event in trace["traceEvents"]:
        args = event["args"]
        start = round(event["ts"] * 1000) + shift
        common = {
            "start": start, "end": start + round(event["dur"] * 1000), "globalPid": GLOBAL_PID,
            "globalTid": GLOBAL_TID, "correlationId": args["correlation"],
            "deviceId": args.get("device"), "streamId": args.get("stream"),
            "graphNodeId": args.get("graph node id"), "graphId": args.get("graph id"),
            "bytes": args.get("bytes"), "eventClass": 0,
        }  # fmt: skip
        name = event["name"]
        if event["cat"] == "kernel":
            shape = dict(zip(("gridX", "gridY", "gridZ"), args["grid"], strict=True))
            shape |= dict(zip(("blockX", "blockY", "blockZ"), args["block"], strict=True))
            number = export.text(name)
            export.add("CUPTI_ACTIVITY_KIND_KERNEL", **common, **shape, demangledName=number,
                       shortName=export.text("short"), mangledName=number,
                       registersPerThread=args.get("registers per thread", 0),
                       dynamicSharedMemory=args.get("shared memory", 0))  # fmt: skip
        elif event["cat"] == "gpu_memcpy":
            kind = CopyKind[name.split()[1].upper()]
            export.add("CUPTI_ACTIVITY_KIND_MEMCPY", **common, copyKind=int(kind))
        elif event["cat"] == "gpu_memset":
            export.add("CUPTI_ACTIVITY_KIND_MEMSET", **common)
        else:
            suffix = "_v10000" if "Graph" in name else "_v7000"
            export.add("CUPTI_ACTIVITY_KIND_RUNTIME", **common, nameId=export.text(name + suffix))
    export.db.execute("COMMIT")
    return export.finish()
