"""The past of a folder: what the last commits said and changed, from real repositories; never an error."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from satchel.settings import WalkOptions
from satchel.storage import records
from satchel.walking import git, git_command, history
from satchel.walking.git_trees import GitTree
from satchel.walking.history import read_history
from satchel.walking.subset_tree import SubsetTree
from satchel.walking.work_tree import WorkTree

Write = Callable[..., Path]
Commit = Callable[..., str]
Git = Callable[..., str]
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


@pytest.fixture
def project(write: Write, commit: Commit) -> Path:
    root = write({"a.py": "1\n", "sub/b.py": "1\n"})
    commit(root, "first")
    commit(write({"a.py": "2\n"}), "second")
    commit(write({"a.py": "3\n", "sub/b.py": "3\n"}), "third\n\nwith a body")
    return root


def said(commits: list[records.HistoryCommit]) -> list[tuple[str, tuple[str, ...]]]:
    return [(item.message, item.paths) for item in commits]


def test_commits_come_newest_first_with_what_they_said_and_changed(project: Path) -> None:
    found = read_history(project, "HEAD")
    assert said(found) == [("third\n\nwith a body", ("a.py", "sub/b.py")), ("second", ("a.py",))]
    assert all(abs(item.seconds - os.stat(project / "a.py").st_mtime) < 100 for item in found)


def test_paths_of_a_subfolder_are_its_own_and_other_commits_are_left_out(project: Path) -> None:
    assert said(read_history(project / "sub", "HEAD")) == [("third\n\nwith a body", ("b.py",))]


def test_a_git_directory_answers_as_its_work_tree_does(project: Path, owner_git: Git, tmp_path: Path) -> None:
    owner_git(project, "clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    assert read_history(tmp_path / "bare", "HEAD") == read_history(project, "HEAD")
    below = read_history(tmp_path / "bare", "HEAD", prefix="sub/")
    assert below == read_history(project / "sub", "HEAD")


def test_a_sibling_whose_name_starts_alike_is_outside(write: Write, commit: Commit) -> None:
    commit(write({"sub/a": "1", "subway/a": "1", "[s]ub/a": "1"}), "first")
    commit(write({"subway/a": "2", "[s]ub/a": "2"}), "elsewhere")
    assert read_history(write({}) / "sub", "HEAD") == []


def test_nothing_after_the_ref_is_seen(project: Path, commit: Commit, write: Write) -> None:
    before = read_history(project, "HEAD")
    past = GitTree(project, "HEAD")
    commit(write({"a.py": "the answer\n"}), "fourth")
    assert past.history(past.head()) == before
    assert said(read_history(project, "HEAD"))[0] == ("fourth", ("a.py",))


def test_the_limit_counts_the_newest(project: Path) -> None:
    assert [item.message[:5] for item in read_history(project, "HEAD", limit=1)] == ["third"]


def test_a_rename_is_both_paths(project: Path, owner_git: Git, commit: Commit) -> None:
    owner_git(project, "config", "diff.renames", "copies")
    owner_git(project, "mv", "a.py", "z.py")
    commit(project, "rename")
    assert said(read_history(project, "HEAD"))[0] == ("rename", ("a.py", "z.py"))


def test_merges_say_nothing_but_what_they_brought_in_does(
    project: Path, owner_git: Git, commit: Commit, write: Write
) -> None:
    owner_git(project, "checkout", "-q", "-b", "side", "HEAD~1")
    commit(write({"side.py": "1\n"}), "on the side")
    owner_git(project, "checkout", "-q", "main")
    owner_git(project, "merge", "-q", "--no-ff", "-m", "the merge", "side")
    messages = {item.message[:11] for item in read_history(project, "HEAD")}
    assert "on the side" in messages and "the merge" not in messages
    assert len(read_history(project, "HEAD", limit=1)) == 1  # a merge does not count


def test_a_sweep_is_left_out(project: Path, commit: Commit, write: Write) -> None:
    names = [f"n{number}" for number in range(history.MOST_PATHS + 1)]
    commit(write(dict.fromkeys(names, "1")), "one too many")
    commit(write(dict.fromkeys(names[1:], "2")), "just enough")
    assert [item.message for item in read_history(project, "HEAD")][:2] == [
        "just enough",
        "third\n\nwith a body",
    ]


def test_odd_names_are_paths_and_names_that_are_not_utf8_are_left_out(
    project: Path, commit: Commit, write: Write
) -> None:
    odd = {"zwei\nzeilen.py": "1", "größe/日本.py": "1", "M": "1", 'q"uo\te': "1"}
    write(odd)
    Path(os.fsdecode(os.fsencode(project) + b"/\xff.py")).write_text("1")
    commit(project, "odd")
    assert set(read_history(project, "HEAD")[0].paths) == set(odd)


@pytest.mark.parametrize(
    ("written", "encoding"), [("größer ♥ 日本".encode(), "UTF-8"), ("größer".encode("latin-1"), "ISO-8859-1")]
)
def test_messages_are_read_in_their_own_encoding(
    project: Path, owner_git: Git, written: bytes, encoding: str
) -> None:
    owner_git(project, "config", "i18n.logOutputEncoding", "ISO-8859-1")
    made = _raw_commit(project, written, encoding)
    assert read_history(project, made)[0].message == written.decode(encoding)


@pytest.mark.parametrize("message", [b"M\nA\n\xff\xfe \x01\x02", b"", b"a" * 30_000, b"1\x002", b"-- --all"])
def test_hostile_messages_do_no_harm(project: Path, message: bytes) -> None:
    found = read_history(project, _raw_commit(project, message))
    assert said(found)[1:] == said(read_history(project, "HEAD"))
    assert len(found[0].message) <= history.MOST_CHARS and found[0].paths == ("a.py",)


KEY = "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n"
SHRINKING = KEY.format(("aB3dE5gH7jK9" * 2000)[: history._READ_CHARS - len(KEY) - 10])


@pytest.mark.parametrize("before", ["", "x" * (history.MOST_CHARS - 12) + " ", SHRINKING], ids=len)
def test_no_part_of_a_secret_is_left_where_a_message_is_cut(project: Path, before: str) -> None:
    made = _raw_commit(project, f"{before}{TOKEN} leaked".encode())
    message = read_history(project, made)[0].message
    assert TOKEN[:6] not in message and len(message) <= history.MOST_CHARS


def test_more_than_can_be_held_is_no_history(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "_MOST_BYTES", 50)
    assert read_history(project, "HEAD") == []


def test_git_that_takes_too_long_is_no_history(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "_SECONDS", 1e-6)
    assert read_history(project, "HEAD") == []


def test_a_past_with_holes_is_no_history(project: Path, owner_git: Git, commit: Commit, write: Write) -> None:
    tree = owner_git(project, "rev-parse", "HEAD~1^{tree}")
    commit(write({"a.py": "4\n"}), "whole")
    (project / ".git/objects" / tree[:2] / tree[2:]).unlink()
    assert read_history(project, "HEAD") == [] and read_history(project, "HEAD", limit=1) != []


def test_without_commits_repository_or_git_there_is_no_history(
    write: Write, owner_git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write({"a.py": "1"})
    assert read_history(root, "HEAD") == [] and WorkTree(root).head() == ""
    owner_git(root, "init", "-q")
    assert read_history(root, "HEAD") == [] and WorkTree(root).head() == ""
    monkeypatch.setattr(git_command.shutil, "which", lambda name: None)
    assert read_history(root, "HEAD") == [] and WorkTree(root).head() == ""


def test_the_edge_of_a_shallow_clone_says_nothing(project: Path, owner_git: Git, tmp_path: Path) -> None:
    for depth, expected in ((1, []), (2, ["third"])):
        clone = tmp_path / f"depth{depth}"
        owner_git(tmp_path, "clone", "-q", f"--depth={depth}", f"file://{project}", str(clone))
        assert [item.message[:5] for item in read_history(clone, "HEAD")] == expected


def test_a_repository_cannot_make_git_run_anything(project: Path, owner_git: Git, tmp_path: Path) -> None:
    signature = b"gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n"
    signed = _raw_commit(project, b"signed", extra=signature)  # before the trap is laid
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for key in (
        "gpg.program",
        "diff.external",
        "core.fsmonitor",
        "core.pager",
        "diff.x.textconv",
        "diff.x.command",
    ):
        owner_git(project, "config", key, str(trap))
    owner_git(project, "config", "log.showSignature", "true")
    (project / ".git/info/attributes").write_text("* diff=x\n")
    assert read_history(project, signed)[0].message == "signed"
    assert not (tmp_path / "sprung").exists()
    subprocess.run(["git", "log", "-1", signed], cwd=project, capture_output=True, check=False)
    assert (tmp_path / "sprung").exists(), "the trap does go off without our care"


def test_each_tree_knows_its_own_past(project: Path, owner_git: Git) -> None:
    options = WalkOptions()
    head = owner_git(project, "rev-parse", "HEAD")
    assert WorkTree(project).head() == head == WorkTree(project / "sub").head()
    assert GitTree(project, "HEAD~1").head() == owner_git(project, "rev-parse", "HEAD~1")
    assert WorkTree(project).history(head) == read_history(project, head)
    assert SubsetTree(project, options).head() == "" and SubsetTree(project, options).history("") == []


def test_the_place_of_a_folder_has_its_prefix_and_its_head(project: Path, owner_git: Git) -> None:
    head = owner_git(project, "rev-parse", "HEAD")
    (project / "two\nlines").mkdir()
    assert git.locate_in_repository(project) == git.RepositoryFolder("", head)
    assert git.locate_in_repository(project / "two\nlines") == git.RepositoryFolder("two\nlines/", head)
    owner_git(project, "checkout", "-q", "--orphan", "unborn")
    assert git.locate_in_repository(project / "two\nlines") == git.RepositoryFolder("two\nlines/", "")
    (project / "HEAD").write_text("a file of that name")
    assert git.locate_in_repository(project) == git.RepositoryFolder("", "")


def _raw_commit(root: Path, message: bytes, encoding: str = "", extra: bytes = b"") -> str:
    """A commit that no command of git would make: it changes a.py and says these bytes."""
    blob = _git(root, b"raw\n", "hash-object", "-w", "--stdin")
    _git(root, b"", "update-index", "--cacheinfo", f"100644,{blob},a.py")
    tree, parent = _git(root, b"", "write-tree"), _git(root, b"", "rev-parse", "HEAD")
    who = "A <a@example.org> 1700000000 +0000"
    head = f"tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n"
    head += f"encoding {encoding}\n" if encoding else ""
    data = head.encode() + extra + b"\n" + message
    return _git(root, data, "hash-object", "-t", "commit", "-w", "--stdin", "--literally")


def _git(root: Path, given: bytes, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=root, input=given, capture_output=True, check=True)
    return done.stdout.decode().strip()
