"""In a git work tree that did not change no git is started, and after any change the answer is the disk's."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import git, git_repo, make_tree, run_cli

from satchel import answer
from satchel.walking import watermark

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows keeps no change time that a look could use")

SETTLED_SECONDS = 0.15  # a walk is remembered when everything has rested for a tenth of a second
FILES = {
    "src/rate.py": "def rate():\n    return 'chestnut'\n",
    "src/other.py": "def other():\n    return 2\n",
    ".gitignore": "*.log\n",
}
Change = Callable[[Path], object]


def written(path: str, text: str) -> Change:
    return lambda root: make_tree(root, {path: text})


def same_size_and_time(root: Path) -> None:
    path = root / "src/rate.py"
    stamp = path.stat()
    path.write_text("def rate():\n    return 'marigold'\n")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


CHANGES: dict[str, Change] = {
    "nothing": lambda root: None,
    "edited in place": same_size_and_time,
    "a new file": written("src/new.py", "def rate_of_growth():\n    return 3\n"),
    "ignored": written(".gitignore", "rate.py\nother.py\n"),
    "excluded": written(".git/info/exclude", "untracked.py\n"),
    "included again": written(".gitignore", ""),
    "deleted": lambda root: (root / "src/rate.py").unlink(),
    "staged": lambda root: git(root, "add", "untracked.py"),
    "committed": lambda root: git(root, "commit", "-qam", "empty", "--allow-empty"),
    "switched": lambda root: git(root, "checkout", "-q", "other"),
    "not tracked, and ignored": lambda root: [
        git(root, "rm", "-q", "--cached", "src/rate.py"),
        written(".gitignore", "rate.py\n")(root),
    ],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = git_repo(tmp_path / "project", {**FILES, "src/rate.py": "def rate():\n    return 'fuchsia'\n"})
    git(root, "branch", "other")
    git_repo(root, FILES)
    make_tree(root, {"untracked.py": "def untracked_rate():\n    return 1\n", "a.log": "rate\n"})
    time.sleep(SETTLED_SECONDS)
    return root


@pytest.fixture
def counting_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git that notes each of its starts in a file."""
    real, starts = shutil.which("git"), tmp_path / "starts"
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/git"
    program.write_text(f'#!/bin/sh\necho "$*" >> {starts}\nexec {real} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return starts


def asked(root: Path, *more: str) -> Any:
    done = run_cli("search", "what is the rate", "--json", "--segment", root, "--no-server", *more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def state_of(root: Path) -> Any:
    request = {"action": "search", "payload": {"project": str(root), "query": "rate"}}
    return answer(request)["meta"]["index_state"]


@pytest.mark.parametrize("command", [("search", "rate"), ("pack", "rate"), ("context_pack", "rate")])
def test_a_second_question_starts_no_git(project: Path, counting_git: Path, command: tuple[str, str]) -> None:
    run_cli("index", "--segment", project)
    time.sleep(SETTLED_SECONDS)  # the folder of the index is new in the project
    asked(project)
    counting_git.unlink()
    done = run_cli(*command, "--segment", project, "--no-server")
    assert done.returncode == 0, done.stderr
    assert not counting_git.exists(), counting_git.read_text()


def test_git_is_asked_once_more_after_a_change(project: Path, counting_git: Path) -> None:
    for _ in range(2):
        asked(project)
    same_size_and_time(project)
    time.sleep(SETTLED_SECONDS)
    asked(project)
    assert counting_git.read_text()
    counting_git.unlink()
    asked(project)
    assert not counting_git.exists(), counting_git.read_text()


@pytest.mark.parametrize("name", CHANGES)
def test_after_a_change_the_answer_is_that_of_a_new_index(project: Path, tmp_path: Path, name: str) -> None:
    for _ in range(2):
        asked(project)
    CHANGES[name](project)
    assert asked(project) == asked(project, "--index-dir", str(tmp_path / "anew"))
    told, mark = state_of(project), watermark.as_values(watermark.compute(project))
    assert {key: value for key, value in mark.items() if value is not None}.items() <= told[
        "project_watermark"
    ].items()
