#!/usr/bin/env bash
# make_venv.sh PYTHON DIRECTORY: make a virtual environment, or say in one sentence why not.
# With an empty PYTHON the newest of python3.13, 3.12, 3.11, python3 that works is taken.
set -euo pipefail
python=$1
venv=$2

# A name on PATH may be a pyenv shim that cannot run: only what answers counts.
new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

if [ -z "$python" ]; then
    for candidate in python3.13 python3.12 python3.11 python3; do
        if new_enough "$candidate"; then
            python=$candidate
            break
        fi
    done
fi
if [ -z "$python" ]; then
    found=$(python3 -V 2>/dev/null || echo "no python3")
    echo "gviz needs Python 3.11 or newer and found $found; install one (Debian 12, Ubuntu 24.04:" \
        "apt-get install python3 python3-venv) or name one: make PYTHON=/path/to/python3.12" >&2
    exit 1
fi
if ! new_enough "$python"; then
    found=$("$python" -V 2>/dev/null || echo "a program that does not run")
    echo "gviz needs Python 3.11 or newer, but PYTHON=$python is $found; name another:" \
        "make PYTHON=/path/to/python3.12" >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    minor=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    echo "$python cannot make a virtual environment because Debian and Ubuntu package that part" \
        "on its own; install it: apt-get install $minor" >&2
    exit 1
fi

mkdir -p "$(dirname "$venv")"
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
touch "$venv/.made"
