from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from satchel.errors import RefNotFound
from satchel.walking import git, watermark
from satchel.walking.git_command import GitProblem, GitUnusable, environment, run_git
from satchel.walking.git_trees import GitTree
from satchel.walking.work_tree import WorkTree

Write = Callable[..., Path]
Commit = Callable[..., str]
Git = Callable[..., str]


def test_the_callers_git_variables_do_not_reach_git(
    write: Write, commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write({"a.py": ""})
    commit(root)
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert git.list_work_tree(root) == ["a.py"]
    assert "GIT_DIR" not in environment()


def _trap(root: Path, marker: Path) -> Path:
    script = root / "trap.sh"
    script.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat\n")
    script.chmod(0o755)
    return script


@pytest.fixture
def hostile(write: Write, commit: Commit, owner_git: Git, tmp_path: Path) -> tuple[Path, Path]:
    """A repository whose configuration runs a script wherever git lets it; and the script's footprint."""
    root, marker = write({"a.py": "a\n", "b.py": "b\n"}), tmp_path / "marker"
    trap = _trap(root, marker)
    commit(root)
    hooks = root / ".git/evil-hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "post-checkout", "reference-transaction"):
        (hooks / hook).symlink_to(trap)
    for key, value in {
        "core.fsmonitor": str(trap),
        "core.hooksPath": str(hooks),
        "core.sshCommand": str(trap),
        "core.pager": str(trap),
        "pager.status": "true",
        "core.alternateRefsCommand": str(trap),
        "diff.external": str(trap),
        "filter.evil.clean": str(trap),
        "filter.evil.process": "",
        "filter.evil.required": "true",
        "protocol.ext.allow": "always",
        "protocol.allow": "always",
        "remote.origin.url": f"ext::{trap}",
        "remote.origin.promisor": "true",
        "extensions.partialClone": "origin",
        "core.repositoryFormatVersion": "1",
    }.items():
        owner_git(root, "config", key, value)
    (root / ".git/info/attributes").write_text("* filter=evil\n")
    return root, marker


def test_a_hostile_configuration_runs_nothing(hostile: tuple[Path, Path], owner_git: Git) -> None:
    root, marker = hostile
    os.utime(root / "a.py", (1, 1))  # git status has to compare the content
    assert [entry.path for entry in WorkTree(root).entries().files] == ["a.py", "b.py", "trap.sh"]
    assert watermark.compute(root).kind == "git"
    tree = GitTree(root, "HEAD")
    assert tree.entries().files and tree.read("a.py") == b"a\n"
    assert not marker.exists()


def test_the_trap_of_these_tests_does_go_off_without_our_options(hostile: tuple[Path, Path]) -> None:
    root, marker = hostile
    subprocess.run(["git", "status"], cwd=root, capture_output=True, check=False)
    assert marker.exists()


def test_a_partial_clone_is_never_completed(hostile: tuple[Path, Path], owner_git: Git) -> None:
    root, marker = hostile
    tree = GitTree(root, "HEAD")
    sha = owner_git(root, "-c", "core.fsmonitor=false", "rev-parse", "HEAD:a.py")
    (root / ".git/objects" / sha[:2] / sha[2:]).unlink()
    walk = tree.entries()
    assert [(skip.path, skip.reason) for skip in walk.skipped] == [("a.py", "unreadable")]
    assert list(git.read_blobs(root, [sha])) == [(sha, None)]
    assert not marker.exists()


@pytest.mark.parametrize(
    "name", [b"e=vil", b"\xff", "\u00ff".encode("latin-1"), b'q\\"', b"", b"Evil", b"a.b"]
)
def test_a_filter_of_any_name_is_switched_off(hostile: tuple[Path, Path], name: bytes) -> None:
    root, marker = hostile
    with (root / ".git/config").open("ab") as file:
        file.write(b'[filter "%b"]\n\tclean = %b/trap.sh\n' % (name, os.fsencode(root)))
    (root / ".git/info/attributes").write_bytes(b"* filter=%b\n" % name.replace(b"\\", b""))
    os.utime(root / "a.py", (1, 1))
    assert watermark.compute(root).kind == "git"
    assert not marker.exists()
    subprocess.run(["git", "status"], cwd=root, capture_output=True, check=False)
    assert marker.exists()


def test_a_git_that_cannot_be_told_of_a_filter_compares_nothing(
    hostile: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before 2.31 git does not know of settings in variables."""
    root, marker = hostile
    old = tmp_path / "bin/git"
    old.parent.mkdir()
    old.write_text(f'#!/bin/sh\nunset GIT_CONFIG_COUNT\nexec {shutil.which("git")} "$@"\n')
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}{os.pathsep}{os.environ['PATH']}")
    os.utime(root / "a.py", (1, 1))
    assert watermark.compute(root).kind == "filesystem"
    assert not marker.exists()


def test_a_submodules_configuration_runs_nothing(
    write: Write, commit: Commit, owner_git: Git, tmp_path: Path
) -> None:
    inner = write({"i.py": "1"}, tmp_path / "inner")
    commit(inner)
    root, marker = write({"a.py": ""}), tmp_path / "marker"
    commit(root)
    owner_git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    commit(root)
    owner_git(root / "sub", "config", "core.fsmonitor", str(_trap(tmp_path, marker)))
    (root / "sub/i.py").write_text("2")
    assert watermark.compute(root).git_dirty is False
    assert [entry.path for entry in WorkTree(root).entries().files] == ["a.py"]
    assert not marker.exists()


def test_another_users_repository_is_walked_without_git_and_says_so(
    write: Write, commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write({"a.py": "", "b.log": "", ".gitignore": "*.log\n"})
    commit(root)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    walk = WorkTree(root).entries()
    assert [entry.path for entry in walk.files] == ["a.py"]
    assert "another user" in walk.notes[0]
    with pytest.raises(RefNotFound, match="another user"):
        GitTree(root, "HEAD")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_folder_that_was_given_away_is_dubious(write: Write, commit: Commit) -> None:
    root = write({"a.py": ""})
    commit(root)
    os.chown(root, 12345, 12345)
    os.chown(root / ".git", 12345, 12345)
    with pytest.raises(GitUnusable) as caught:
        git.list_work_tree(root)
    assert caught.value.problem is GitProblem.DUBIOUS_OWNERSHIP


def test_without_the_git_program_the_walk_says_so(
    write: Write, commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write({"a.py": ""})
    commit(root)
    monkeypatch.setenv("PATH", "")
    assert "not found" in WorkTree(root).entries().notes[0]


def test_a_git_program_found_through_a_relative_path_is_not_run(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write({"git": f"#!{sys.executable}\nopen('ran', 'w')\n"})
    (root / "git").chmod(0o755)
    monkeypatch.chdir(root)
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(GitUnusable):
        run_git(root, ["version"])
    assert not (root / "ran").exists()


def test_a_call_that_hangs_is_ended(write: Write, commit: Commit) -> None:
    root = write({"a.py": ""})
    commit(root)
    os.mkfifo(root / ".gitignore")
    with pytest.raises(GitUnusable) as caught:
        run_git(root, ["hash-object", "--stdin-paths"], stdin=b".gitignore\n", timeout=0.3)
    assert caught.value.problem is GitProblem.BLOCKED


def test_a_call_that_hangs_for_a_reason_of_its_own_is_ended(write: Write, commit: Commit) -> None:
    root = write({"a.py": ""})
    commit(root)
    os.mkfifo(root / "pipe")
    with pytest.raises(GitUnusable) as caught:
        run_git(root, ["hash-object", "pipe"], timeout=0.3)
    assert caught.value.problem is GitProblem.TIMEOUT


def test_a_subfolder_of_a_repository_is_a_root_of_its_own(write: Write, commit: Commit) -> None:
    root = write({".gitignore": "*.log\n", "a.py": "", "sub/b.py": "1", "sub/c.log": "", "sub/d/e.py": ""})
    commit(root)
    assert git.list_work_tree(root / "sub") == ["b.py", "d/e.py"]
    tree = GitTree(root / "sub", "HEAD")
    assert [entry.path for entry in tree.entries().files] == ["b.py", "d/e.py"]
    assert tree.read("b.py") == b"1"


def test_a_folder_that_its_repository_ignores_is_walked_plainly(write: Write, commit: Commit) -> None:
    root = write({".gitignore": "/out/\n", "out/a.py": ""})
    commit(root)
    walk = WorkTree(root / "out").entries()
    assert [entry.path for entry in walk.files] == ["a.py"]
    assert "ignores it" in walk.notes[0]


def test_a_work_tree_that_is_another_folder_is_not_believed(
    write: Write, commit: Commit, owner_git: Git, tmp_path: Path
) -> None:
    root = write({"a.py": ""})
    commit(root)
    write({"secret.py": ""}, tmp_path / "elsewhere")
    owner_git(root, "config", "core.worktree", str(tmp_path / "elsewhere"))
    walk = WorkTree(root).entries()
    assert [entry.path for entry in walk.files] == ["a.py"] and "another folder" in walk.notes[0]


def borrow_by_file(root: Path, other: Path) -> None:
    (root / ".git").write_text(f"gitdir: {other}/.git\n")


def borrow_by_link(root: Path, other: Path) -> None:
    (root / ".git").symlink_to(other / ".git")


def borrow_a_work_tree(root: Path, other: Path) -> None:
    subprocess.run(["git", "worktree", "add", "-q", "../beside"], cwd=other, check=True, capture_output=True)
    (root / ".git").write_text(f"gitdir: {other}/.git/worktrees/beside\n")


@pytest.mark.parametrize("borrow", [borrow_by_file, borrow_by_link, borrow_a_work_tree])
def test_the_repository_of_another_folder_is_not_read(
    write: Write, commit: Commit, tmp_path: Path, borrow: Callable[[Path, Path], None]
) -> None:
    other = write({"secret.py": ""}, tmp_path / "other")
    commit(other)
    root = write({"a.py": ""})
    borrow(root, other)
    walk = WorkTree(root).entries()
    assert [entry.path for entry in walk.files] == ["a.py"] and "another folder" in walk.notes[0]
    assert WorkTree(root).head() == ""
    with pytest.raises(RefNotFound, match="another folder"):
        GitTree(root, "HEAD")


def test_a_git_folder_apart_a_work_tree_and_a_submodule_are_read(
    write: Write, commit: Commit, owner_git: Git, tmp_path: Path
) -> None:
    root = write({"a.py": "x"})
    commit(root)
    owner_git(root, "worktree", "add", "-q", "../beside")
    owner_git(tmp_path, "clone", "-q", f"--separate-git-dir={tmp_path}/apart", str(root), "cloned")
    owner_git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "sub")
    for folder in (tmp_path / "beside", tmp_path / "cloned", root / "sub"):
        assert (folder / ".git").is_file()
        assert GitTree(folder, "HEAD").read("a.py") == b"x"
        assert WorkTree(folder).entries().notes == ()


def test_the_users_own_ignore_file_changes_nothing(
    write: Write, commit: Commit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = write({"a.py": "", "b.py": ""})
    commit(write({}, root))
    write({"c.py": ""})
    write(
        {"config": f"[core]\n\texcludesFile = {tmp_path}/home/ignore\n", "ignore": "c.py\n"},
        tmp_path / "home",
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "home/config"))
    assert "c.py" in git.list_work_tree(root)


@pytest.mark.parametrize("ref", ["", "--all", "-h", "nope", "HEAD~9", "HEAD:a.py", "a\nb", "HEAD^{tree}"])
def test_what_names_no_commit_is_an_error(write: Write, commit: Commit, ref: str) -> None:
    root = write({"a.py": ""})
    commit(root)
    with pytest.raises(RefNotFound):
        git.resolve_ref(root, ref)


def test_refs_in_plain_folders_and_folders_a_ref_lacks_are_errors(
    write: Write, commit: Commit, tmp_path: Path
) -> None:
    with pytest.raises(RefNotFound):
        GitTree(write({"a": ""}, tmp_path / "plain"), "HEAD")
    root = write({"a.py": ""})
    commit(root)
    write({"new/b.py": ""})
    with pytest.raises(RefNotFound):
        GitTree(root / "new", "HEAD").entries()


def test_branches_tags_and_abbreviations_resolve(write: Write, commit: Commit, owner_git: Git) -> None:
    root = write({"a.py": ""})
    sha = commit(root)
    owner_git(root, "tag", "-m", "t", "v1")
    assert {git.resolve_ref(root, ref) for ref in ("main", "v1", "HEAD", sha[:9])} == {sha}


def test_symlinks_and_submodules_are_no_blobs(
    write: Write, commit: Commit, tmp_path: Path, owner_git: Git
) -> None:
    root = write({"a.py": "x", "n\u00e9 w.py": "y"})
    (root / "link").symlink_to("a.py")
    commit(root)
    owner_git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    owner_git(root, "commit", "-q", "-m", "index")
    sha = owner_git(root, "rev-parse", "HEAD")
    listing = git.list_tree(root, sha)
    assert [(blob.path, blob.size) for blob in listing.blobs] == [("a.py", 1), ("n\u00e9 w.py", 1)]
    assert listing.symlinks == ["link"]


def test_blobs_come_in_the_order_asked_for_whatever_is_in_them(write: Write, commit: Commit) -> None:
    contents = {"empty": b"", "nul": b"\0\n\0", "lines": b"a\n\nb", "large": os.urandom(300_000)}
    root = write(contents)
    tree = GitTree(root, commit(root))
    asked = ["large", "empty", "large", "nul", "lines"]
    assert [data for _, data in tree.read_many(asked)] == [contents[name] for name in asked]


def test_a_stream_that_is_not_read_to_its_end_leaves_no_process(write: Write, commit: Commit) -> None:
    root = write({f"f{number}": os.urandom(100_000) for number in range(30)})
    tree = GitTree(root, commit(root))
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before = children.read_text()
    stream = tree.read_many([f"f{number}" for number in range(30)])
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert children.read_text() == before
