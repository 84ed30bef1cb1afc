"""gate_names.py INCLUDE...: write csrc/gate/names.c, a stub for each function in CUDA's headers.

Each INCLUDE is a folder with cuda.h, of CUDA 12 or 13: what pip install --target unpacks of the
packages nvidia-cuda-runtime-cu12 and nvidia-cuda-runtime. Fails where a function has more
arguments than a stub hands on.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "collectors" / "csrc" / "gate" / "names.c"
PARTS = TARGET.with_name("parts.h")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
DECLARED = re.compile(r"CUresult\s+CUDAAPI\s+(cu[A-Z]\w*)\s*\(([^;]*?)\)\s*;")
RENAMED = re.compile(r"#\s*define\s+cu[A-Z]\w*\s+(cu[A-Z]\w*)\s*$", re.MULTILINE)
#: The form of a function for the legacy stream is the plain name.
OF_STREAM = re.compile(
    r"#\s*define\s+cu[A-Z]\w*\s+__CUDA_API_(PTDS|PTSZ)\(\s*(cu\w+)\s*\)", re.MULTILINE
)
#: cudaProfiler.h is in no wheel, its types are.
PROFILER = re.compile(r"PFN_(cuProfiler[A-Z][a-z]+)_v\d+")
#: Types by value that take more than one word, and the words they take.
WIDE = {"CUipcMemHandle": 8, "CUipcEventHandle": 8}
#: Structures by value that fit into a word; other types without a star must be handles or numbers.
NARROW = {"CUmemLocation"}
STRUCTURE = re.compile(r"typedef\s+struct\s+\w+\s+(CU\w+)\s*;")
REGISTERS = 6
#: Functions whose calls are filtered before anybody is told of them, and the arguments that the
#: filter's stub keeps.
FILTERED = re.compile(r"cuGraphLaunch$|cuGraphExec\w*NodeSet(Params|Event)$")
FILTERED_ARGUMENTS = 4
#: What tells the versions of a function apart.
VERSION = re.compile(r"(_v\d+)?(_pt[ds][sz])?$")
HEAD = """\
/* Names: the driver's functions that have a stub. Made by tools/gate_names.py. */
#include "gate/parts.h"

"""


def read(path: Path) -> str:
    """Return a header without its comments."""
    return COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace"))


def find_names(text: str) -> set[str]:
    """Return the functions that a header declares, in all their versions."""
    names = {name for name, _ in DECLARED.findall(text)}
    names |= set(RENAMED.findall(text))
    for suffix, name in OF_STREAM.findall(text):
        names |= {name, f"{name}_{suffix.lower()}"}
    return names | set(PROFILER.findall(text))


def count_stack_words(parameters: str) -> int:
    """Return how many words of a function's arguments are on the stack of x86-64."""
    registers = stack = 0
    for parameter in filter(None, (p.strip() for p in parameters.split(","))):
        name = parameter.replace("const", "").split()[0]
        wide = 0 if "*" in parameter else WIDE.get(name, 0)
        stack += wide
        registers += 0 if wide or parameter == "void" else 1
    return stack + max(0, registers - REGISTERS)


def find_wide(texts: Iterable[str]) -> set[str]:
    """Return the functions, without version, that have arguments on the stack."""
    words: dict[str, int] = defaultdict(int)
    for name, parameters in (found for text in texts for found in DECLARED.findall(text)):
        words[plain(name)] = max(words[plain(name)], count_stack_words(parameters))
    return {name for name, count in words.items() if count}


def stub_of(name: str, wide: set[str]) -> str:
    """Return the macro of a function's stub."""
    if FILTERED.match(plain(name)):
        return "FILTERED"
    return "WIDE" if plain(name) in wide else "STUB"


def plain(name: str) -> str:
    """Return a function's name without its version."""
    return VERSION.sub("", name)


def find_faults(text: str, limit: int) -> Iterator[str]:
    """Yield the functions of a header that a stub cannot hand on."""
    structures = set(STRUCTURE.findall(text)) - set(WIDE) - NARROW
    for name, parameters in DECLARED.findall(text):
        if (words := count_stack_words(parameters)) > limit:
            yield f"{name} has {words} words of arguments on the stack; a stub hands on {limit}"
        if FILTERED.match(plain(name)) and parameters.count(",") >= FILTERED_ARGUMENTS:
            yield f"{name} is filtered, and has more than {FILTERED_ARGUMENTS} arguments"
        for parameter in parameters.split(","):
            if "*" not in parameter and (found := structures & set(parameter.split())):
                yield f"{name} takes {found.pop()} by value: give its size in tools/gate_names.py"


def main(folders: list[Path]) -> int:
    """Write the stubs' names; return 1 after naming what cannot have one."""
    limit = re.search(r"#define STACK_WORDS (\d+)", PARTS.read_text(encoding="utf-8"))
    assert limit is not None
    headers = [path for folder in folders for path in sorted(folder.glob("cuda*.h"))]
    if not any(path.name == "cuda.h" for path in headers):
        print(__doc__)
        return 2
    texts = [read(path) for path in headers]
    faults = sorted({fault for text in texts for fault in find_faults(text, int(limit[1]))})
    if faults:
        print("\n".join(faults))
        return 1
    names = sorted(set.union(*map(find_names, texts)))
    wide = find_wide(texts)
    lines = "".join(f"{stub_of(name, wide)}({name})\n" for name in names)
    TARGET.write_text(HEAD + lines, encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {len(names)} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main([Path(argument) for argument in sys.argv[1:]]))
