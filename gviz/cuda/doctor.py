"""Would profiling work here? Pure checks over facts about a machine; the facts come from outside.

``gviz.cli.commands.machine.doctor`` gathers the facts and prints the findings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum

from gviz.cuda.cupti_library import CuptiCandidate
from gviz.cuda.cupti_problems import Concerns, problems_of
from gviz.cuda.driver_probe import DriverAnswers
from gviz.cuda.tool_variables import TOOL_VARIABLES
from gviz.dataclass import dataclass
from gviz.errors import REINSTALL
from gviz.text import counted

#: ``CUptiResult`` of cuptiSubscribe when another tool holds CUPTI (cupti_result.h).
MULTIPLE_SUBSCRIBERS = 39
#: ``CUresult`` values of cuInit that have a known cause (cuda.h).
_INIT_CAUSES = {
    3: ("the driver is not initialized", "restart the process, then the machine"),
    34: (
        "libcuda.so.1 is the stub of the CUDA toolkit",
        "remove the toolkit's lib64/stubs from LD_LIBRARY_PATH",
    ),
    100: (
        "there is no CUDA device",
        "check CUDA_VISIBLE_DEVICES, and in a container that it was started with --gpus all",
    ),
    802: ("the system is not ready", "start nvidia-fabricmanager, which NVSwitch machines need"),
    803: (
        "the kernel's driver and libcuda.so.1 are of different versions",
        "reboot after a driver update; in a container take the host's libcuda.so.1",
    ),
    804: (
        "the forward compatibility package does not support this GPU",
        "remove the cuda-compat folder from LD_LIBRARY_PATH",
    ),
    999: ("the driver reports an unknown error", "look for 'NVRM' in the kernel's log (dmesg)"),
}


class Status(StrEnum):
    """Meaning of a finding for profiling."""

    OK = "ok"
    INFORMATION = "information"
    #: Profiling works with a restriction.
    WARNING = "warning"
    #: Profiling does not work.
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """One thing found: what it is about, what it means, and what to do (None: nothing).

    ``items`` are parts of it, a sentence each.
    """

    name: str
    status: Status
    text: str
    advice: str | None = None
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a machine.

    Attributes
    ----------
    driver
        The driver's and CUPTI's answers.
    cupti
        Copies of CUPTI, the one to be taken first.
    native_library
        Path of gviz's own library; None when it was not built.
    native_error
        Why it cannot be loaded; None when it can.
    launchcost_library, launchcost_error
        The same of the library of ``gviz bench``.
    gate_library, gate_error
        The same of the gate; it is tried preloaded.
    compiler
        Path of a C compiler; None when there is none.
    admin_only_counters
        ``RmProfilingAdminOnly`` of the driver; None where the driver does not say.
    environment
        Environment variables.
    """

    driver: DriverAnswers
    cupti: tuple[CuptiCandidate, ...]
    native_library: str | None
    native_error: str | None
    launchcost_library: str | None
    launchcost_error: str | None
    gate_library: str | None
    gate_error: str | None
    compiler: str | None
    admin_only_counters: bool | None
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The findings, and whether profiling would work."""

    findings: tuple[CheckOutcome, ...]

    @property
    def works(self) -> bool:
        """Return whether no finding stands in the way of profiling."""
        return all(finding.status is not Status.ERROR for finding in self.findings)


def diagnose(facts: Facts) -> Diagnosis:
    """Return every finding about a machine, in the order in which they should be mended."""
    gate = check_gate(facts.gate_library, facts.gate_error)
    cupti = check_cupti(facts.cupti, facts.driver)
    if cupti.status is Status.ERROR and gate.status is Status.OK:
        text = f"{cupti.text}; gviz run goes without, gviz.profile and --collector cupti need one"
        cupti = replace(cupti, status=Status.WARNING, text=text)
    return Diagnosis(
        (
            check_driver(facts.driver),
            check_native_library(facts.native_library, facts.native_error, facts.compiler),
            cupti,
            check_cupti_problems(facts.driver.cupti_version),
            check_subscriber(facts.driver),
            check_environment(facts.environment),
            check_permission(facts.admin_only_counters),
            check_launchcost_library(facts.launchcost_library, facts.launchcost_error),
            gate,
        )
    )


def check_driver(answers: DriverAnswers) -> CheckOutcome:
    """Judge whether there is a GPU with a working driver."""
    name = "GPU and driver"
    if answers.failure is not None:
        return CheckOutcome(
            name,
            Status.ERROR,
            f"CUDA's driver does not answer: {answers.failure}",
            "look whether nvidia-smi answers; if it hangs too, the machine needs a restart",
        )
    if answers.library_error is not None:
        return CheckOutcome(
            name,
            Status.ERROR,
            f"CUDA's driver is not here: {answers.library_error}",
            "to profile, install the NVIDIA driver or start the container with --gpus all; "
            "recordings made elsewhere can be viewed without it",
        )
    if answers.init_result != 0:
        cause, advice = _INIT_CAUSES.get(
            answers.init_result or 0, ("it does not start", "look up the number in cuda.h")
        )
        return CheckOutcome(
            name, Status.ERROR, f"cuInit returned {answers.init_result}: {cause}", advice
        )
    if not answers.devices:
        return CheckOutcome(
            name, Status.ERROR, "the driver sees no CUDA device", "check CUDA_VISIBLE_DEVICES"
        )
    return CheckOutcome(
        name, Status.OK, f"CUDA {answers.driver_version} driver with {', '.join(answers.devices)}"
    )


def check_native_library(path: str | None, error: str | None, compiler: str | None) -> CheckOutcome:
    """Judge whether gviz's own library, which does the recording, is built and loads."""
    name = "native library"
    if path is None:
        if compiler is None:
            return CheckOutcome(
                name,
                Status.ERROR,
                "it was not built, and there is no C compiler here",
                f"install one (Debian, Ubuntu: apt-get install gcc libc6-dev), then {REINSTALL}",
            )
        return CheckOutcome(
            name, Status.ERROR, f"it was not built, although {compiler} is here now", REINSTALL
        )
    if error is not None:
        return CheckOutcome(name, Status.ERROR, f"{path} does not load: {error}", REINSTALL)
    return CheckOutcome(name, Status.OK, path)


def check_launchcost_library(path: str | None, error: str | None) -> CheckOutcome:
    """Judge whether the library of ``gviz bench`` is built and loads; profiling needs none."""
    name = "launch costs' library"
    if path is None:
        return CheckOutcome(
            name, Status.WARNING, "it was not built: gviz bench cannot measure here", REINSTALL
        )
    if error is not None:
        text = f"{path} does not load: {error}; gviz bench cannot measure here"
        return CheckOutcome(name, Status.WARNING, text, REINSTALL)
    return CheckOutcome(name, Status.OK, path)


def check_gate(path: str | None, error: str | None) -> CheckOutcome:
    """Judge whether the gate is built and can be preloaded; without it CUPTI measures."""
    name = "gate"
    if path is None:
        return CheckOutcome(name, Status.WARNING, "it was not built", REINSTALL)
    if error is not None:
        return CheckOutcome(name, Status.WARNING, f"{path} cannot be preloaded: {error}", REINSTALL)
    return CheckOutcome(name, Status.OK, f"{path} can be preloaded")


def check_cupti(candidates: tuple[CuptiCandidate, ...], answers: DriverAnswers) -> CheckOutcome:
    """Judge whether a CUPTI that fits the driver is there."""
    name = "CUPTI"
    driver_major = int((answers.driver_version or "13").split(".")[0])
    install = (
        "pip install 'nvidia-cuda-cupti>=13,<14'"
        if driver_major >= 13
        else "pip install nvidia-cuda-cupti-cu12"
    )
    if not candidates:
        return CheckOutcome(
            name,
            Status.ERROR,
            "no libcupti was found in wheels, toolkits or the linker's cache",
            f"{install}, or name a CUDA toolkit in CUDA_HOME",
        )
    first = candidates[0]
    version = first.version or "unknown version"
    if answers.cupti_error is not None:
        return CheckOutcome(
            name,
            Status.ERROR,
            f"{first.path} ({version}) does not load: {answers.cupti_error}",
            install,
        )
    others = len(candidates) - 1
    more = f"; {others} more found" if others else ""
    text = f"{first.path} ({version}, {first.where}){more}"
    if first.major is not None and answers.driver_version and first.major > driver_major:
        return CheckOutcome(
            name,
            Status.ERROR,
            f"{text} is for CUDA {first.major}, the driver is for CUDA {answers.driver_version}",
            "update the driver, or install the CUPTI of its CUDA version",
        )
    return CheckOutcome(name, Status.OK, text)


def check_cupti_problems(version: int | None) -> CheckOutcome:
    """Name what is known to be wrong with this version of CUPTI."""
    name = "known problems of CUPTI"
    if version is None:
        return CheckOutcome(name, Status.INFORMATION, "CUPTI did not say its version")
    found = problems_of(version)
    if not found:
        return CheckOutcome(name, Status.OK, "this version has none")
    serious = any(problem.concerns is Concerns.ALL for problem in found)
    return CheckOutcome(
        name,
        Status.WARNING if serious else Status.INFORMATION,
        f"this version has {counted(len(found), 'problem')}",
        items=tuple(f"{p.concerns.value}: {p.text} ({p.source})" for p in found),
    )


def check_subscriber(answers: DriverAnswers) -> CheckOutcome:
    """Judge whether CUPTI accepts gviz as its one subscriber."""
    name = "subscribing to CUPTI"
    result = answers.subscribe_result
    if result is None:
        return CheckOutcome(
            name, Status.INFORMATION, "not tried: it needs a GPU and CUPTI, see the lines above"
        )
    if result == 0:
        return CheckOutcome(name, Status.OK, "CUPTI accepts gviz as a subscriber")
    if result == MULTIPLE_SUBSCRIBERS:
        return CheckOutcome(
            name,
            Status.ERROR,
            "another tool holds CUPTI, which takes one subscriber a process",
            "run without it: nsys, ncu, cuda-gdb, or whatever CUDA_INJECTION64_PATH names",
        )
    return CheckOutcome(
        name,
        Status.ERROR,
        f"cuptiSubscribe returned {result}",
        "look the number up in cupti_result.h; 15 often means that CUPTI and driver do not fit",
    )


def check_environment(environment: Mapping[str, str]) -> CheckOutcome:
    """Judge whether the environment loads another profiler into CUDA programs."""
    name = "other profilers"
    found = [variable for variable in TOOL_VARIABLES if environment.get(variable)]
    if not found:
        return CheckOutcome(name, Status.OK, "the environment loads none")
    listed = ", ".join(f"{variable} ({TOOL_VARIABLES[variable]})" for variable in found)
    return CheckOutcome(
        name,
        Status.WARNING,
        f"the environment loads a tool into CUDA programs: {listed}",
        f"start without it: unset {' '.join(found)}",
    )


def check_permission(admin_only: bool | None) -> CheckOutcome:
    """Report who may read hardware counters, which gviz does not need."""
    name = "permission"
    tail = "gviz records activities, not hardware counters, and needs no privilege for it"
    if admin_only is None:
        return CheckOutcome(name, Status.INFORMATION, f"the driver does not say; {tail}")
    who = "administrators" if admin_only else "every user"
    return CheckOutcome(name, Status.OK, f"hardware counters are open to {who}; {tail}")
