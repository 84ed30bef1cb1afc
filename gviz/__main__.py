"""The program ``gviz``, also as ``python -m gviz``."""

import sys

from gviz.system import put_pythonpath_last


def main() -> int:
    """Run the command line with the installation's modules; return its exit code."""
    put_pythonpath_last()
    from gviz.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
