"""Make the repository of token_step.py again, with the commits that the recordings name.

Run: python -P tests/golden/series/make_history.py FOLDER [--record RECORDINGS]

The commits are the same wherever they are made: their dates, author and texts are fixed here.
With --record, on a machine with a GPU and PyTorch, the program runs at each commit and writes
RECORDINGS/token_step_N.gviz.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = "token_step.py"
#: Text of each commit; N.py beside this file is the program as it was then.
SUBJECTS = (
    "Decode a token with one graph",
    "Project query, key and value by one product",
    "Let PyTorch's fused attention mix the values",
    "Normalise in single precision",
    "Normalise in single precision by one kernel",
)
_FIRST_S = 1_760_000_000
_PERSON = {"NAME": "gviz", "EMAIL": "gviz@example.invalid"}


def commit(folder: Path, number: int) -> str:
    """Commit revision ``number``, from 1 on; return the commit's id."""
    (folder / PROGRAM).write_bytes((HERE / f"{number}.py").read_bytes())
    date = f"{_FIRST_S + 86_400 * number} +0000"
    environment = dict(os.environ)
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_{key}": value for key, value in _PERSON.items()}
        environment[f"GIT_{role}_DATE"] = date
    # Nothing of the user's own settings: signing and hooks would change or refuse the commits.
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for command in (
        ["init", "--quiet", "--initial-branch=main"] if number == 1 else ["status", "--short"],
        ["add", PROGRAM],
        ["commit", "--quiet", "--message", SUBJECTS[number - 1]],
    ):
        subprocess.run(
            ["git", *command], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL
        )
    found = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=True
    )
    return found.stdout.strip()


def record(folder: Path, number: int, recordings: Path) -> None:
    """Run the program as it is in ``folder``; write the recording of revision ``number``."""
    output = recordings.resolve() / f"token_step_{number}.gviz"
    subprocess.run([sys.executable, "-P", PROGRAM, str(output)], cwd=folder, check=True)


def main() -> int:
    """Make all commits; print their ids."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--record", type=Path, metavar="RECORDINGS")
    arguments = parser.parse_args()
    for folder in filter(None, (arguments.folder, arguments.record)):
        folder.mkdir(parents=True, exist_ok=True)
    for number, subject in enumerate(SUBJECTS, 1):
        print(number, commit(arguments.folder, number), subject)
        if arguments.record is not None:
            record(arguments.folder, number, arguments.record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
