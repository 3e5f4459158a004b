"""FIFOs and sockets under names that are opened by their name: nothing waits for them, and it is said."""

from __future__ import annotations

import io
import os
import socket
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from builders import git, git_repo, make_tree, run_cli

from satchel.serving.cli import main
from satchel.walking import git_command

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")

FILES = {"a.py": "def alpha():\n    return 1\n", "sub/deep/b.py": "def beta():\n    return 2\n"}
MOST_SECONDS = (
    8  # a command of a busy machine, and the two seconds after which it is asked what git waits for
)
Make = Callable[[Path], Path]


def plain(root: Path) -> Path:
    return make_tree(root, FILES)


def repository(root: Path) -> Path:
    return git_repo(root, FILES)


def fifo(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)


PLACES = {
    **{name: (make, name) for name in (".gitignore", "sub/.ignore", ".satchelignore") for make in (plain,)},
    "git .gitignore": (repository, ".gitignore"),
    "git sub/deep/.gitignore": (repository, "sub/deep/.gitignore"),
    "git .ignore": (repository, "sub/.ignore"),
    "git .gitattributes": (repository, "sub/.gitattributes"),
    "git info/exclude": (repository, ".git/info/exclude"),
    "git info/attributes": (repository, ".git/info/attributes"),
    "git config": (repository, ".git/config"),
    "git HEAD": (repository, ".git/HEAD"),
    "git index": (repository, ".git/index"),
    "git is a FIFO": (plain, ".git"),
    "a nested HEAD": (repository, "sub/nested/.git/HEAD"),
}
READ_BY_NOBODY = ("git .gitattributes",)  # of these git opens nothing unless it compares a file


def said_by(*arguments: str) -> tuple[int, str]:
    heard = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(heard), redirect_stderr(heard):
        code = main(list(arguments))
    heard.seek(0)
    return code, heard.read()


@pytest.mark.parametrize("place", PLACES)
def test_nothing_waits_for_a_fifo(tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_command, "_SILENCE_SECONDS", 0.4)
    make, name = PLACES[place]
    root = make(tmp_path / "project")
    fifo(root / name)
    if place == "a nested HEAD":
        for folder in ("objects", "refs"):
            (root / "sub/nested/.git" / folder).mkdir()
    if place in READ_BY_NOBODY:
        os.utime(root / "sub/deep/b.py", (1, 1))  # git has to compare it
    started = time.monotonic()
    code, said = said_by("search", "what does alpha return", "--segment", str(root))
    assert code == 0 and "a.py" in said
    assert time.monotonic() - started < MOST_SECONDS
    if place not in READ_BY_NOBODY:
        again = said_by("search", "what does alpha return", "--segment", str(root))[1]
        for heard in (said, again):  # it is said each time, also of an index that is fresh
            assert "no regular file" in heard or "in no git work tree" in heard


def test_the_command_line_does_not_wait_for_a_deep_fifo(tmp_path: Path) -> None:
    root = repository(tmp_path / "project")
    fifo(root / "sub/deep/.gitignore")
    started = time.monotonic()
    done = run_cli("pack", "what does alpha return", "--segment", root)
    assert time.monotonic() - started < MOST_SECONDS
    assert done.returncode == 0 and b"a.py" in done.stdout


def test_a_source_that_is_a_fifo_or_a_socket_is_reported(tmp_path: Path) -> None:
    root = repository(tmp_path / "p")
    fifo(root / "a.py")  # git keeps it as a file
    (root / "c.py").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "s.py"))
        said_by("index", "--segment", str(root))
        code, said = said_by("status", "--skipped", "--segment", str(root))
    assert code == 0 and "a.py" in said and "not a regular file" in said and "c.py" in said


def test_a_settings_file_that_is_a_fifo_is_a_typed_error(tmp_path: Path) -> None:
    root = plain(tmp_path / "project")
    fifo(root / "satchel.toml")
    done = run_cli("search", "alpha", "--segment", root)
    assert done.returncode != 0 and b"satchel.toml is not a regular file" in done.stderr


def test_settings_that_include_a_fifo_are_given_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a file can have any name: git is asked once, and not again by the same command."""
    monkeypatch.setattr(git_command, "_SHORT_SECONDS", 1)
    root = repository(tmp_path / "project")
    git(root, "config", "include.path", str(tmp_path / "elsewhere"))
    fifo(tmp_path / "elsewhere")
    started = time.monotonic()
    code, said = said_by("search", "what does alpha return", "--segment", str(root))
    assert time.monotonic() - started < MOST_SECONDS
    assert code == 0 and "a.py" in said and "git did not answer in time" in said
