"""Attaches gviz inside every Python interpreter that a program under ``gviz run`` starts.

Python imports ``sitecustomize`` before the program: the program itself then runs exactly as
without gviz. This folder is on PYTHONPATH, so that children attach as well, and off sys.path
before the program looks.
"""

import os
import sys


def _step_aside(here: str) -> None:
    """Take this folder off the path and let the machine's own sitecustomize run."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if ours is not None:  # the import under way expects to find itself
            sys.modules["sitecustomize"] = ours


def _forget() -> None:
    """Leave nothing of gviz to the program's children."""
    from gviz.collectors.job import OWN_VARIABLES

    original = os.environ.get("GVIZ_PYTHONPATH")
    if original is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = original
    for name in OWN_VARIABLES:
        os.environ.pop(name, None)


def _load_gviz(here: str) -> None:
    """Import the gviz that this folder belongs to: another Python has none, or another version."""
    above = os.path.dirname(os.path.dirname(here))
    if os.path.basename(above) == "gviz" and os.path.exists(os.path.join(above, "__init__.py")):
        folders = [above]
    else:  # an editable install: gviz stands beside its parts, which the second folder leads to
        folders = [os.path.join(above, "gviz"), above]
    from importlib.util import module_from_spec, spec_from_file_location

    path = os.path.join(folders[0], "__init__.py")
    spec = spec_from_file_location("gviz", path, submodule_search_locations=folders)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["gviz"] = module
    spec.loader.exec_module(module)


def _attach(here: str) -> None:
    path, before = list(sys.path), set(sys.modules)
    programs = _folders_of_the_program()
    given = {os.path.abspath(entry) for entry in programs}
    # gviz gets Python's own json, whatever the program has under that name.
    sys.path[:] = [entry for entry in path if os.path.abspath(entry) not in given]
    try:
        _load_gviz(here)
        from gviz.collectors.attach import attach_from_environment

        attach_from_environment()
        if os.environ.get("GVIZ_FOLLOW") != "1":
            _forget()
    except Exception as error:  # the program must run whatever happens here
        if sys.stderr is not None:
            print(f"gviz: Python stacks are not recorded: {error}", file=sys.stderr)
    finally:
        sys.path[:] = path
        _give_back_names(set(sys.modules) - before, programs)


def _folders_of_the_program() -> list[str]:
    """Return the folders that the program finds modules in before those of Python itself."""
    rest = os.environ.get("GVIZ_PYTHONPATH", "")
    folders = [entry for entry in rest.split(os.pathsep) if entry]
    if not sys.flags.safe_path:
        first = sys.argv[0] if getattr(sys, "argv", None) else ""
        is_file = first not in ("", "-c", "-m")
        folders.append(os.path.dirname(os.path.realpath(first)) if is_file else os.getcwd())
    return folders


def _give_back_names(loaded: set[str], folders: list[str]) -> None:
    """Have the program find modules of its own where they are named as some that gviz uses."""
    for name in {module.partition(".")[0] for module in loaded} - {"gviz"}:
        files = [os.path.join(folder, name) for folder in folders]
        # A folder without __init__.py comes after every module of that name.
        own = [f"{file}.py" for file in files] + [f"{file}/__init__.py" for file in files]
        if any(map(os.path.exists, own)):
            for module in loaded:
                if module == name or module.startswith(f"{name}."):
                    sys.modules.pop(module, None)


_here = os.path.dirname(os.path.abspath(__file__))
if os.environ.get("GVIZ_RUN"):
    _attach(_here)
_step_aside(_here)
