from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from satchel.errors import FileNotFound, PathNotAllowed, ProjectNotFound
from satchel.settings import WalkOptions
from satchel.types import FileEntry, Walk
from satchel.walking import git
from satchel.walking.git_trees import GitTree
from satchel.walking.work_tree import WorkTree

Write = Callable[..., Path]
Commit = Callable[..., str]


def files(walk: Walk) -> list[str]:
    return [entry.path for entry in walk.files]


def skips(walk: Walk) -> dict[str, str]:
    return {skip.path: skip.reason.value for skip in walk.skipped}


RICH: dict[str, str | bytes] = {
    "README.md": "x",
    "src/app.py": "x",
    "src/emoji 😀.py": "x",
    "src/.hidden.py": "x",
    ".github/workflows/ci.yml": "x",
    ".github/FUNDING.yml": "x",
    ".github/ISSUE_TEMPLATE/bug.md": "x",
    ".github/linters/a.md": "x",
    ".github/agents/a.md": "x",
    ".gitlab-ci.yml": "x",
    ".circleci/config.yml": "x",
    ".idea/workspace.xml": "x",
    ".idea/deep/x.xml": "x",
    ".env": "x",
    "conf/.env.example": "x",
    "secrets.yaml": "x",
    "secrets.py": "x",
    "node_modules/a/index.js": "x",
    "node_modules/b/index.js": "x",
    "go/vendor/m/m.go": "x",
    "__pycache__/m.py": "x",
    "_ctx/context.db": "x",
    "sub/_ctx/context_pack.json": "x",
    "large.json": "x" * 300,
    "new\nline.py": "x",
    "back\\slash.py": "x",
    b"caf\xe9.py".decode("utf-8", "surrogateescape"): "x",
    ".gitignore": "*.log\n/out/\n",
    ".ignore": "drop.py\n",
    "a/.gitignore": "!keep.log\n",
    "a/keep.log": "x",
    "a/other.log": "x",
    "out/x.py": "x",
    "a/drop.py": "x",
}
KEPT = [
    ".circleci/config.yml", ".github/ISSUE_TEMPLATE/bug.md", ".github/workflows/ci.yml", ".gitlab-ci.yml",
    "README.md", "a/keep.log", "secrets.py", "src/app.py", "src/emoji 😀.py",
]  # fmt: skip
LEFT_OUT = {
    ".env": "sensitive",
    ".github/FUNDING.yml": "hidden",
    ".github/agents": "sensitive",
    ".github/linters": "hidden",
    ".gitignore": "hidden",
    ".idea": "hidden",
    ".ignore": "hidden",
    "__pycache__": "sensitive",
    "a/.gitignore": "hidden",
    "back\\slash.py": "unsupported_name",
    "caf\\xe9.py": "unsupported_name",
    "conf/.env.example": "hidden",
    "file-link": "symlink",
    "folder-link": "symlink",
    "go/vendor": "vendored",
    "large.json": "too_large",
    "loop": "symlink",
    "new\\nline.py": "unsupported_name",
    "node_modules": "vendored",
    "secrets.yaml": "sensitive",
    "src/.hidden.py": "hidden",
}
SMALL_CAP = WalkOptions(max_file_bytes=200)


@pytest.fixture
def rich(write: Write, tmp_path: Path) -> Path:
    root = write(RICH)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.py").write_text("x")
    (root / "file-link").symlink_to(tmp_path / "outside/secret.py")
    (root / "folder-link").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(".")
    return root


@pytest.mark.parametrize("kind", ["plain", "untracked", "committed", "ref"])
def test_every_walk_of_a_rich_tree_gives_the_same_answer(rich: Path, commit: Commit, kind: str) -> None:
    if kind == "untracked":
        subprocess.run(["git", "init", "-q"], cwd=rich, check=True)
    elif kind != "plain":
        commit(rich)
    walk = (GitTree(rich, "HEAD", SMALL_CAP) if kind == "ref" else WorkTree(rich, SMALL_CAP)).entries()
    assert (files(walk), skips(walk), walk.notes) == (KEPT, LEFT_OUT, ())
    assert [skip.path for skip in walk.skipped] == sorted(LEFT_OUT)


def test_details_name_counts_and_limits(rich: Path, commit: Commit) -> None:
    commit(rich)
    details = {skip.path: skip.detail for skip in WorkTree(rich, SMALL_CAP).entries().skipped}
    assert details["node_modules"] == "npm packages, 2 files"
    assert details["large.json"] == "300 bytes, the cap is 200"
    assert details[".env"] == "env-file"


def test_what_is_left_out_can_be_asked_for_but_never_what_is_sensitive(rich: Path) -> None:
    found = files(WorkTree(rich, WalkOptions(include_hidden=True, include_vendored=True)).entries())
    assert {".idea/workspace.xml", "node_modules/a/index.js", "src/.hidden.py"} <= set(found)
    assert not {
        ".env",
        ".github/agents/a.md",
        "_ctx/context.db",
        "sub/_ctx/context_pack.json",
        "__pycache__/m.py",
    } & set(found)


def test_an_entry_has_the_size_and_time_on_disk_and_a_stamp_of_its_blob_in_a_commit(
    write: Write, commit: Commit
) -> None:
    root = write({"a.py": "abc"})
    commit(root)
    (entry,) = WorkTree(root).entries().files
    assert (entry.size, entry.mtime_ns) == (3, (root / "a.py").stat().st_mtime_ns)
    (blob,) = git.list_tree(root, "HEAD").blobs
    assert GitTree(root, "HEAD").entries().files == [FileEntry("a.py", 3, int(blob.sha[:15], 16))]


def test_a_tracked_file_that_was_deleted_is_absent(write: Write, commit: Commit) -> None:
    root = write({"a.py": "", "b/c.py": ""})
    commit(root)
    (root / "a.py").unlink()
    (root / "b/c.py").unlink()
    (root / "b").rmdir()
    assert WorkTree(root).entries() == Walk([], [])


def test_a_tracked_folder_that_became_a_symlink_leads_nowhere(
    write: Write, commit: Commit, tmp_path: Path
) -> None:
    root = write({"a/x.py": ""})
    commit(root)
    write({"x.py": "outside"}, tmp_path / "outside")
    (root / "a/x.py").unlink()
    (root / "a").rmdir()
    (root / "a").symlink_to(tmp_path / "outside")
    walk = WorkTree(root).entries()
    assert (files(walk), skips(walk)) == ([], {"a": "symlink"})
    with pytest.raises(PathNotAllowed):
        WorkTree(root).read("a/x.py")


@pytest.mark.parametrize("outer_is_git", [True, False])
def test_a_repository_inside_the_root_is_not_entered(
    write: Write, commit: Commit, outer_is_git: bool
) -> None:
    root = write({"a.py": ""})
    if outer_is_git:
        commit(root)
    commit(write({"i.py": ""}, root / "inner"))
    walk = WorkTree(root).entries()
    assert (files(walk), skips(walk)) == (["a.py"], {"inner": "vendored"})
    assert walk.skipped[0].detail == "a repository of its own"


def test_an_unmerged_file_is_listed_once(write: Write, commit: Commit, owner_git: Callable[..., str]) -> None:
    root = write({"a.py": "1\n"})
    commit(root)
    owner_git(root, "checkout", "-q", "-b", "other")
    commit(write({"a.py": "2\n"}))
    owner_git(root, "checkout", "-q", "main")
    commit(write({"a.py": "3\n"}))
    with pytest.raises(subprocess.CalledProcessError):
        owner_git(root, "merge", "other")
    assert files(WorkTree(root).entries()) == ["a.py"]


def test_a_fifo_is_reported_and_never_opened(write: Write) -> None:
    root = write({"a.py": ""})
    os.mkfifo(root / "pipe")
    assert skips(WorkTree(root).entries()) == {"pipe": "unreadable"}


_AS_NOBODY = """
import os, sys
from pathlib import Path
from satchel.walking.work_tree import WorkTree
from satchel.walking.source_reader import SourceReader
from satchel.settings import WalkOptions
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
tree = WorkTree(Path(sys.argv[1]))
walk = tree.entries()
print([skip.path + " " + skip.reason for skip in walk.skipped])
print([answer.reason for _, answer in SourceReader(tree, WalkOptions())(walk.files)])
"""


def test_what_may_not_be_read_is_unreadable(tmp_path: Path) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        root = Path(name)
        root.chmod(0o755)
        (root / "closed").mkdir()
        (root / "file.py").write_text("x")
        (root / "file.py").chmod(0)
        (root / "closed").chmod(0)
        done = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY, name], capture_output=True, text=True, check=False
        )
        (root / "closed").chmod(0o755)
    assert done.stdout.splitlines() == ["['closed unreadable']", "[<SkipReason.UNREADABLE: 'unreadable'>]"], (
        done.stderr
    )


def test_reading_from_a_commit_is_by_path_and_pinned(write: Write, commit: Commit) -> None:
    root = write({"a.py": "old", "b/c.py": "c"})
    commit(root)
    tree = GitTree(root, "main")
    commit(write({"a.py": "new"}))
    assert tree.read("a.py") == b"old" and tree.read("./b\\c.py") == b"c"
    with pytest.raises(FileNotFound):
        tree.read("nothing.py")
    with pytest.raises(PathNotAllowed):
        tree.read("../a.py")


def test_the_ignore_files_of_a_commit_hold_for_it(write: Write, commit: Commit) -> None:
    root = write({".satchelignore": "old.py\n", "old.py": "", "new.py": ""})
    commit(root)
    write({".satchelignore": "new.py\n"})
    assert files(GitTree(root, "HEAD").entries()) == ["new.py"]
    assert files(WorkTree(root).entries()) == ["old.py"]


def test_trees_cross_a_process_boundary(write: Write, commit: Commit) -> None:
    root = write({"a.py": "x"})
    commit(root)
    for tree in (WorkTree(root), GitTree(root, "HEAD")):
        tree.entries()
        assert pickle.loads(pickle.dumps(tree)).read("a.py") == b"x"


def test_a_root_that_is_no_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for root in (tmp_path / "none", tmp_path / "file"):
        with pytest.raises(ProjectNotFound):
            WorkTree(root)
