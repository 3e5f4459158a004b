from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from satchel.walking.watermark import Watermark, WatermarkKind, compute

Write = Callable[..., Path]
Commit = Callable[..., str]


def test_a_clean_repository_is_its_commit(write: Write, commit: Commit) -> None:
    root = write({"a.py": "x"})
    sha = commit(root)
    mark = compute(root)
    assert (mark.kind, mark.git_head, mark.git_dirty) == (WatermarkKind.GIT, sha, False)
    assert mark == compute(root)


def test_every_change_of_a_dirty_file_changes_the_hash(write: Write, commit: Commit) -> None:
    root = write({"a.py": "x", "b.py": "x"})
    commit(root)
    marks = [compute(root)]
    for path, text in [("a.py", "yy"), ("a.py", "zz"), ("new.py", ""), ("deep/n.py", ""), ("deep/n.py", "1")]:
        write({path: text})
        os.utime(root / path, ns=(0, len(marks) * 10**9))
        marks.append(compute(root))
    (root / "b.py").unlink()
    marks.append(compute(root))
    assert len({mark.dirty_hash for mark in marks}) == len(marks)
    assert all(mark.git_dirty for mark in marks[1:])


def test_our_own_folder_and_ignored_files_do_not_make_it_dirty(write: Write, commit: Commit) -> None:
    root = write({".gitignore": "*.log\n"})
    commit(root)
    clean = compute(root)
    write({"_ctx/context.db": "x", "a.log": "x"})
    assert compute(root) == clean


def test_a_repository_without_commits_has_no_head(write: Write, owner_git: Callable[..., str]) -> None:
    root = write({"a.py": "x"})
    owner_git(root, "init", "-q")
    mark = compute(root)
    assert (mark.kind, mark.git_head, mark.git_dirty) == (WatermarkKind.GIT, None, True)


def test_a_subfolder_is_dirty_by_its_own_files_only(write: Write, commit: Commit) -> None:
    root = write({"a.py": "x", "sub/b.py": "x"})
    commit(root)
    write({"a.py": "changed"})
    assert compute(root / "sub").git_dirty is False
    write({"sub/b.py": "changed"})
    before = compute(root / "sub")
    os.utime(root / "sub/b.py", ns=(0, 5))
    assert before.git_dirty and before != compute(root / "sub")


def test_a_plain_folder_is_its_count_newest_time_and_bytes(write: Write) -> None:
    root = write({"a.py": "xx", "b/c.py": "xxx", "_ctx/context.db": "x"})
    for path in ("a.py", "b/c.py"):
        os.utime(root / path, ns=(0, 7_000_000_000))
    assert compute(root) == Watermark(
        WatermarkKind.FILESYSTEM, file_count=2, max_mtime_ms=7000, total_bytes=5
    )


def test_a_folder_that_its_repository_ignores_is_watched_by_its_files(write: Write, commit: Commit) -> None:
    root = write({".gitignore": "/out/\n", "out/a.py": "x"})
    commit(root)
    before = compute(root / "out")
    write({"out/a.py": "longer"})
    assert before.kind == WatermarkKind.FILESYSTEM and before != compute(root / "out")


def test_git_is_not_made_to_write(write: Write, commit: Commit) -> None:
    root = write({"a.py": "x"})
    commit(root)
    os.utime(root / "a.py", (1, 1))
    index = (root / ".git/index").read_bytes()
    compute(root)
    assert (root / ".git/index").read_bytes() == index
