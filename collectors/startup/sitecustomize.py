"""Attaches gviz inside the interpreter that ``gviz run`` starts.

Python imports ``sitecustomize`` before the program: the program itself then runs exactly as
without gviz. This folder is on PYTHONPATH for that moment only.
"""

import os
import sys


def _step_aside() -> None:
    """Take this folder off the path and let the machine's own sitecustomize run."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    original = os.environ.pop("GVIZ_PYTHONPATH", None)
    if original is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = original
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if ours is not None:  # the import under way expects to find itself
            sys.modules["sitecustomize"] = ours


def _attach() -> None:
    try:
        from gviz.collectors.attach import attach_from_environment

        attach_from_environment()
    except Exception as error:  # the program must run whatever happens here
        print(f"gviz: nothing is recorded: {error}", file=sys.stderr)


_attach()
_step_aside()
