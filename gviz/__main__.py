"""``python -m gviz``: the command line, where no ``gviz`` script is on PATH."""

import sys

from gviz.cli import main

if __name__ == "__main__":
    sys.exit(main())
