"""The scripts for shells complete what the command line takes, in the shells themselves."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from satchel import plugins
from satchel.serving.cli import main
from satchel.serving.cli_flags import flags_of, make_parser
from satchel.serving.shell_completion import Shell, completion_script
from satchel.serving.word_arguments import all_words, arguments_of

pty = pytest.importorskip("pty")  # terminals of this kind are not on every system
CASES = [
    ("satchel gr", {"grep"}),
    ("satchel pack --form", {"--format"}),
    ("satchel pack --format m", {"markdown"}),
    ("satchel serve ", set(plugins.names("transport"))),
    ("satchel install --scope ", {"user", "project"}),
    ("satchel verify saved", {"saved pack.md"}),
    ("satchel search --segment fol", {"folder/"}),
    ("satchel man sea", {"search"}),
]


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    (tmp_path / "saved pack.md").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folded.txt").write_text("")
    for shell in Shell:
        (tmp_path / f"script.{shell}").write_text(completion_script(shell))
    return tmp_path


def run(program: str, code: str, folder: Path) -> str:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    environment = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    result = subprocess.run(
        [program, "-c", code], cwd=folder, capture_output=True, text=True, env=environment
    )
    assert result.returncode == 0 and not result.stderr, result.stderr
    return result.stdout


BASH = """
source script.bash
complete -p satchel | grep -q -- '-F _satchel' || exit 1
COMP_WORDS=({words}); COMP_CWORD={place}
_satchel
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def in_bash(line: str, folder: Path) -> set[str]:
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    code = BASH.format(words=quoted, place=len(words) - 1)
    found = run("bash", code, folder).splitlines()
    return {f"{name}/" if name == "folder" else name for name in found if name}


def in_fish(line: str, folder: Path) -> set[str]:
    shown = run("fish", f"source script.fish; complete -C {line!r}", folder)
    return {row.split("\t")[0].replace("\\ ", " ") for row in shown.splitlines()}


@pytest.mark.parametrize(("line", "offered"), CASES, ids=[line for line, _ in CASES])
def test_bash_offers_what_may_follow(line: str, offered: set[str], workplace: Path) -> None:
    assert in_bash(line, workplace) == offered


@pytest.mark.parametrize(("line", "offered"), CASES, ids=[line for line, _ in CASES])
def test_fish_offers_what_may_follow(line: str, offered: set[str], workplace: Path) -> None:
    assert in_fish(line, workplace) == offered


def test_bash_reads_a_value_behind_an_equals_sign(workplace: Path) -> None:
    assert in_bash("satchel pack --format = x", workplace) == {"xml"}
    assert in_bash("satchel pack --mode =", workplace) == {"full", "edit_minimal"}


ZSH_START = "autoload -Uz compinit; compinit -u -D; source script.zsh; PS1='rea''dy> '; setopt no_beep\n"


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize(
    ("typed", "becomes"),
    [
        ("satchel gr", "satchel grep "),
        ("satchel pack --budg", "satchel pack --budget-tokens="),
        ("satchel pack --format m", "satchel pack --format markdown "),
        ("satchel verify saved", r"satchel verify saved\ pack.md "),
        ("satchel search --segment folde", "satchel search --segment folder/"),
        ("satchel serve h", "satchel serve http "),
    ],
)
def test_zsh_completes_a_line_on_a_terminal(typed: str, becomes: str, workplace: Path) -> None:
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover (another process)
        os.chdir(workplace)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "HOME": str(workplace)})
    try:
        os.write(terminal, ZSH_START.encode())
        read_until(terminal, "ready> ")
        os.write(terminal, f"{typed}\t".encode())
        assert becomes in read_until(terminal, becomes).replace("\x07", "")
    finally:
        os.write(terminal, b"\x03\x04exit\n")
        os.close(terminal)
        os.waitpid(child, 0)


def read_until(terminal: int, wanted: str, seconds: float = 20) -> str:
    """What a terminal shows until `wanted` is in it, or the time is over."""
    shown, end = "", time.monotonic() + seconds
    while wanted not in shown.replace("\r", "") and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 4096).decode("utf-8", "replace")
    return shown.replace("\r", "")


@pytest.mark.parametrize("shell", Shell)
def test_every_word_and_flag_is_in_the_script(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert script == completion_script(shell)
    for word in all_words():
        flags = flags_of(make_parser(word))
        spelled = [f"-l {flag[2:]} " if shell is Shell.FISH else flag for flag in flags]
        assert word.name in script and [flag for flag in spelled if flag not in script] == []


def test_a_word_that_takes_a_file_says_so() -> None:
    verify = next(word for word in all_words() if word.name == "verify")
    taken = {argument.metavar or argument.names[-1]: argument.takes for argument in arguments_of(verify)}
    assert taken["PACK"] == "file" and taken["--refresh"] == "nothing" and taken["REF"] == "text"


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "'tcsh'" in capsys.readouterr().err
