"""``gviz completion``: what is typed is completed, in the shells that are installed."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gviz.cli import command_line as cli

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]

#: What a user types up to Tab, and what must be among the answers.
TYPED = [
    ("an", "analyze"),
    ("info --slo", "--slowest"),
    ("run --node-t", "--node-times"),
    ("run --collector to", "topology"),
    ("fleet rep", "report"),
    ("info one", "one.gviz"),
]
#: A shell that has said nothing for so long is stuck, seconds.
_PATIENCE_S = 60


@pytest.mark.parametrize(("typed", "answer"), TYPED)
def test_bash_completes_what_is_typed(
    gviz_here: Gviz, tmp_path: Path, typed: str, answer: str
) -> None:
    script = gviz_here("completion", "bash").stdout
    (tmp_path / "one.gviz").touch()
    words = ["gviz", *typed.split(" ")]
    ask = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}"
    call = '$(complete -p gviz | sed "s/.*-F \\([^ ]*\\).*/\\1/")'
    last, previous = repr(words[-1]), repr(words[-2])
    done = subprocess.run(
        ["bash", "-c", f'{script}\n{ask}\n{call} gviz {last} {previous}\necho "${{COMPREPLY[@]}}"'],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer in done.stdout.split(), done.stderr


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish here")
@pytest.mark.parametrize(("typed", "answer"), TYPED)
def test_fish_completes_what_is_typed(
    gviz_here: Gviz, tmp_path: Path, typed: str, answer: str
) -> None:
    script = gviz_here("completion", "fish").stdout
    (tmp_path / "one.gviz").touch()
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"{script}\ncomplete -C 'gviz {typed}'"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer in [line.partition("\t")[0] for line in done.stdout.split("\n")], done.stderr


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh here")
def test_zsh_completes_what_is_typed(gviz_here: Gviz, tmp_path: Path) -> None:
    (tmp_path / "_gviz").write_text(gviz_here("completion", "zsh").stdout)
    (tmp_path / "one.gviz").touch()
    with _Zsh(tmp_path) as shell:
        shell.type("fpath=($PWD $fpath); autoload -U compinit; compinit -D -u; print rea''dy\n")
        shell.await_text("ready")
        for typed, answer in TYPED:
            shell.type(f"\x15gviz {typed}\t")  # Ctrl-U takes away what was typed before
            # What completes the word comes behind its echo, without anything between.
            shell.await_text(f"gviz {typed.rpartition(' ')[0]} {answer}".replace("  ", " "))


class _Zsh:
    """A zsh of which the test is the terminal.

    Parameters
    ----------
    folder
        Where it is.
    """

    def __init__(self, folder: Path) -> None:
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            os.chdir(folder)
            # Wide, so that lines are not broken; dumb, so that nothing is written anew.
            os.environ.update(TERM="dumb", COLUMNS="400")
            os.execvp("zsh", ["zsh", "-f"])
        self._said = ""

    def __enter__(self) -> _Zsh:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._terminal)  # hangs up
        os.waitpid(self._process, 0)

    def type(self, text: str) -> None:
        """Type some text; what was said before counts no more."""
        self._said = ""
        os.write(self._terminal, text.encode())

    def await_text(self, text: str) -> None:
        """Read until it has said a text."""
        end = time.monotonic() + _PATIENCE_S
        while text not in self._said:
            if not select.select([self._terminal], [], [], end - time.monotonic())[0]:
                raise AssertionError(self._said)
            self._said += os.read(self._terminal, 65_536).decode(errors="replace")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_name_every_command_in_one_line(gviz_here: Gviz, shell: str) -> None:
    script = gviz_here("completion", shell).stdout
    assert [name for name in cli.COMMANDS if name not in script] == []
    if shell != "bash":
        summaries = [command.summary.partition("'")[0] for command in cli.COMMANDS.values()]
        assert [summary for summary in summaries if summary not in script] == []
