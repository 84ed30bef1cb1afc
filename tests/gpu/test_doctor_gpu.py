"""The doctor on a machine with a GPU: profiling works, and a tool that holds CUPTI is named."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gviz.cuda.cupti_library import find_cupti

pytestmark = [pytest.mark.gpu, pytest.mark.quick]

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]

#: A library that subscribes to CUPTI when the driver starts, as Nsight Systems does.
INJECTION = """
#include <dlfcn.h>
static void callback(void *data, int domain, unsigned id, const void *info) {}
int InitializeInjection(void) {
    static void *subscriber;
    void *cupti = dlopen("LIBCUPTI", RTLD_NOW | RTLD_GLOBAL);
    int (*subscribe)(void **, void *, void *) = dlsym(cupti, "cuptiSubscribe");
    return subscribe(&subscriber, callback, 0) == 0;
}
"""


def _findings(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, str]]:
    return {finding["name"]: finding for finding in json.loads(done.stdout)["findings"]}


def test_doctor_finds_everything_on_a_gpu_machine(gviz: Gviz) -> None:
    done = gviz("doctor", "--json")
    findings = _findings(done)
    assert done.returncode == 0, done.stdout
    assert "compute capability" in findings["GPU and driver"]["text"]
    assert findings["subscribing to CUPTI"]["status"] == "ok"


def test_doctor_sees_that_another_tool_holds_cupti(gviz: Gviz, tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler for the library that takes CUPTI")
    source, library = tmp_path / "hold.c", tmp_path / "hold.so"
    source.write_text(INJECTION.replace("LIBCUPTI", str(find_cupti()[0].path)))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    done = gviz("doctor", "--json", env={"CUDA_INJECTION64_PATH": str(library)})
    findings = _findings(done)
    assert done.returncode == 1
    assert "another tool holds CUPTI" in findings["subscribing to CUPTI"]["text"]
    assert findings["other profilers"]["status"] == "warning"


def test_doctor_with_hidden_devices_names_the_variable(gviz: Gviz) -> None:
    done = gviz("doctor", "--json", env={"CUDA_VISIBLE_DEVICES": ""})
    finding = _findings(done)["GPU and driver"]
    assert done.returncode == 1
    assert "CUDA_VISIBLE_DEVICES" in finding["advice"]
