"""The program ``gviz``, also as ``python -m gviz``."""

import sys

from gviz.system import collect_rarely, put_pythonpath_last


def main() -> int:
    """Run the command line with the installation's modules; return its exit code."""
    collect_rarely()
    put_pythonpath_last()
    from gviz.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
