"""A file that was changed is answered as it is now, also where its size and its time are the old ones."""

from __future__ import annotations

import io
import os
import tarfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from builders import age, git, git_repo, make_engine, make_tree, run_cli

from satchel import answer
from satchel.serving.cli import main

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows keeps no change time that a look could use")

OLD, NEW = "def rate():\n    return 'chestnut'\n", "def rate():\n    return 'marigold'\n"
FILES = {
    "src/rate.py": OLD,
    "src/other.py": "def other():\n    return 2\n",
    "README.md": "# Rates\n\nThe rate.\n",
}
SETTLED_SECONDS = 0.15  # a walk is remembered when everything has rested for a tenth of a second
Change = Callable[[Path], None]


def set_back(path: Path, stamp: os.stat_result) -> None:
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def edited(root: Path) -> None:
    path = root / "src/rate.py"
    stamp = path.stat()
    path.write_text(NEW)
    set_back(path, stamp)


def replaced(root: Path) -> None:
    """Another file is moved into its place, as most editors save."""
    path, new = root / "src/rate.py", root / "src/rate.py.tmp"
    stamp = path.stat()
    new.write_text(NEW)
    set_back(new, stamp)
    new.rename(path)


def unpacked(root: Path) -> None:
    """An archive is unpacked over the folder in which every time is the same."""
    stamp = (root / "src/rate.py").stat()
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, text in {**FILES, "src/rate.py": NEW}.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(text.encode()), int(stamp.st_mtime)
            archive.addfile(entry, io.BytesIO(text.encode()))
    data.seek(0)
    with tarfile.open(fileobj=data) as archive:
        archive.extractall(root, filter="data")


def clamp(root: Path) -> Path:
    """Give every file the time that archives and images with clamped times give it."""
    for path in root.rglob("*"):
        if path.is_file() and not {"_ctx", ".git"}.intersection(path.parts):
            os.utime(path, (1, 1))
    return root


def switched(root: Path) -> None:
    git(root, "checkout", "-q", "other")
    clamp(root)


def stashed(root: Path) -> None:
    """What was on disk is put away, and the committed text is back, of the same size and time."""
    git(root, "stash", "-q")
    clamp(root)


def plain(root: Path) -> Path:
    return clamp(make_tree(root, FILES))


def committed(root: Path) -> Path:
    return clamp(git_repo(root, FILES))


def two_branches(root: Path) -> Path:
    git_repo(root, {**FILES, "src/rate.py": NEW})
    git(root, "branch", "other")
    return clamp(git_repo(root, FILES))


def dirty(root: Path) -> Path:
    git_repo(root, {**FILES, "src/rate.py": NEW})
    return clamp(make_tree(root, FILES))


CASES: dict[str, tuple[Callable[[Path], Path], Change]] = {
    "a folder, edited": (plain, edited),
    "a folder, replaced": (plain, replaced),
    "a folder, unpacked over": (plain, unpacked),
    "a repository, edited": (committed, edited),
    "a repository, replaced": (committed, replaced),
    "a repository, switched": (two_branches, switched),
    "a repository, stashed": (dirty, stashed),
}


def said_by(*arguments: str) -> str:
    heard = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(heard):
        assert main(list(arguments)) == 0
    heard.seek(0)
    return heard.read()


def settle(root: Path) -> None:
    """Index the folder, and let a question find it unchanged, so that all is remembered that can be."""
    time.sleep(SETTLED_SECONDS)
    for _ in range(2):
        assert "chestnut" in said_by("search", "what is the rate", "--segment", str(root))
        time.sleep(SETTLED_SECONDS)


@pytest.mark.parametrize("case", CASES)
def test_search_get_and_pack_show_what_is_on_disk(tmp_path: Path, case: str) -> None:
    build, change = CASES[case]
    root = build(tmp_path / "project")
    settle(root)
    before = (root / "src/rate.py").stat()
    change(root)
    after = (root / "src/rate.py").stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    for arguments in (
        ("get", "src/rate.py:1:2"),
        ("search", "what is the rate"),
        ("pack", "what is the rate"),
    ):
        said = said_by(*arguments, "--segment", str(root))
        assert "marigold" in said and "chestnut" not in said, arguments


def test_the_command_line_and_python_agree_with_the_disk(tmp_path: Path) -> None:
    root = plain(tmp_path / "project")
    settle(root)
    with make_engine(root) as engine:
        engine.ensure_fresh()
        edited(root)
        done = run_cli("get", "src/rate.py:1:2", "--segment", root)
        assert b"marigold" in done.stdout
        engine.ensure_fresh()
        assert engine.snapshot().text("src/rate.py") == NEW


def test_a_file_that_was_left_out_is_looked_at_again(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "project", {"a.py": "x = 1\n"})
    (root / "data.py").write_bytes(b"\0" * len(NEW))
    clamp(root)
    time.sleep(SETTLED_SECONDS)
    said_by("index", "--segment", str(root))
    (root / "data.py").write_text(NEW)
    clamp(root)
    assert "marigold" in said_by("get", "data.py:1:2", "--segment", str(root))


def test_what_changes_no_byte_parses_nothing(tmp_path: Path) -> None:
    """Access rights, another name for the same file and a copy in its place: each is hashed once."""
    root = age(make_tree(tmp_path / "project", FILES))
    with make_engine(root) as engine:
        engine.refresh()
        (root / "src/rate.py").chmod(0o600)
        os.link(root / "README.md", tmp_path / "second-name")
        stamp = (root / "src/other.py").stat()
        (root / "copy").write_text(FILES["src/other.py"])
        set_back(root / "copy", stamp)
        (root / "copy").rename(root / "src/other.py")
        time.sleep(SETTLED_SECONDS)
        done = engine.refresh()
        assert (done.parsed, done.touched, done.changed) == (0, 3, False)
        again = engine.refresh()
        assert (again.touched, again.kept, again.generation) == (0, 3, done.generation)


@pytest.mark.parametrize("in_git", [True, False])
def test_an_answer_without_a_refresh_says_that_it_is_stale(tmp_path: Path, in_git: bool) -> None:
    root = age(git_repo(tmp_path / "p", FILES) if in_git else make_tree(tmp_path / "p", FILES))
    answer({"action": "index", "payload": {"project": str(root)}})
    search = {"action": "search", "payload": {"project": str(root), "query": "rate"}}
    request = {**search, "options": {"stale_policy": "warn"}}
    assert not answer(request)["meta"]["index_state"]["stale"]
    edited(root)
    told = answer(request)
    assert told["meta"]["index_state"]["stale"] and told["hints"][0]["type"] == "warn"
