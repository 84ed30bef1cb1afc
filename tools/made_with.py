"""made_with.py lock PYPROJECT | lowest PYPROJECT | sbom WHEEL: print which packages gviz needs.

`lock` prints the versions that are installed as constraints for pip; `make lock` runs it in an
environment with the newest ones. `lowest` prints the oldest versions that the core and the extra
fleet allow: new libraries of the extra refuse old ones of the core. `sbom` prints the wheel and
what it needs when it is run, as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/), which
scanners of vulnerabilities read.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
import zipfile
from collections.abc import Iterable
from email.parser import HeaderParser
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

#: Extras that are not locked: for whoever has a GPU, fuzzes, or builds what is published.
NOT_LOCKED = ("cuda13", "fuzz", "wheel")


def installed(wanted: Iterable[str]) -> dict[str, Distribution]:
    """Return the installed distributions of requirements, and of what these require, by name.

    Raises
    ------
    SystemExit
        If one is not installed.
    """
    found: dict[str, Distribution] = {}
    waiting = [(text, "") for text in wanted]
    met = set(waiting)
    while waiting:
        text, extra = waiting.pop()
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            raise SystemExit(f"{name} is not installed in {sys.prefix}") from None
        inner = [(t, e) for t in found[name].requires or () for e in ("", *requirement.extras)]
        waiting += [pair for pair in inner if pair not in met]
        met.update(inner)
    return dict(sorted(found.items()))


def lock(pyproject: Path) -> str:
    """Return the installed versions of what the project and its extras need, a line each."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    of_extras = [r for name in extras if name not in NOT_LOCKED for r in extras[name]]
    found = installed([*project["dependencies"], *of_extras])
    lines = [f"{name}=={one.version}" for name, one in found.items()]
    return "\n".join(["# `make lock` writes this: what `make` installs.", *lines])


def lowest(pyproject: Path) -> str:
    """Return the oldest version of what the core and fleets need, but for what has a newest."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    bounds = [
        (r.name, {s.operator: s.version for s in r.specifier})
        for r in map(
            Requirement, project["dependencies"] + project["optional-dependencies"]["fleet"]
        )
    ]
    return " ".join(f"{name}=={given['>=']}" for name, given in bounds if "<" not in given)


def sbom(wheel: Path) -> str:
    """Return the bill of a wheel and of what it needs, without extras, in JSON."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(name).decode())
    needed = metadata.get_all("Requires-Dist") or []
    found = installed(needed)
    top = _component(metadata["Name"], metadata["Version"], metadata["License-Expression"])
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    top |= {"type": "application", "hashes": [{"alg": "SHA-256", "content": digest}]}
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": top},
        "components": [_component(n, d.version, _licence(d)) for n, d in found.items()],
        "dependencies": [
            {"ref": top["bom-ref"], "dependsOn": _references(installed_directly(needed))},
            *(
                {"ref": _purl(n, d.version), "dependsOn": _references(_direct(d))}
                for n, d in found.items()
            ),
        ],
    }
    return json.dumps(bill, indent=1)


def installed_directly(wanted: Iterable[str], extra: str = "") -> dict[str, Distribution]:
    """Return the installed distributions of requirements alone, by name."""
    requirements = [Requirement(text) for text in wanted]
    return {
        canonicalize_name(r.name): distribution(r.name)
        for r in requirements
        if r.marker is None or r.marker.evaluate({"extra": extra})
    }


def _direct(one: Distribution) -> dict[str, Distribution]:
    return installed_directly(one.requires or ())


def _references(found: dict[str, Distribution]) -> list[str]:
    return sorted(_purl(name, one.version) for name, one in found.items())


def _licence(one: Distribution) -> str | None:
    words: Any = one.metadata.get("License-Expression") or one.metadata.get("License")
    # Some packages have the whole text there.
    return words if words and len(words) < 80 and "\n" not in words else None


def _component(name: str, version: str, licence: str | None) -> dict[str, Any]:
    purl = _purl(canonicalize_name(name), version)
    found = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    return found | ({"licenses": [{"license": {"name": licence}}]} if licence else {})


def _purl(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


def main(what: str, path: str) -> int:
    """Print one of both."""
    print({"lock": lock, "lowest": lowest, "sbom": sbom}[what](Path(path)))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
